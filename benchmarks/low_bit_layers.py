"""What weights of few bits save and cost in single layers: beside words, in groups, transposed, pointwise.

    python benchmarks/low_bit_layers.py [--chips cortex-m4 rv32imc] [--layers grouped transposed] [--acts 8 16] [--json]

Each layer stands between integers of 8 or 16 bits and has weights of 8 bits, of 4 (`s4`), of 4 with zero points of
their own (`u4`) and of 2 (`s2`).  `times` is what each takes over 8 bits.  Counts are exact and repeat with the same
compiler; `host` is this machine, whose instructions are counted one by one (x86-64 and Linux).
"""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path
from typing import Any

import numpy as np
from onnx import TensorProto, helper, numpy_helper

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

from benchmarks.groups import counted  # noqa: E402
from codegen.report.table import text_table  # noqa: E402

CHIPS = ("cortex-m4", "cortex-m55", "rv32imc", "host")
SAME: dict[str, Any] = {"pads": [1] * 4}
LAYERS: dict[str, tuple[str, tuple[int, ...], tuple[int, ...], dict[str, Any]]] = {
    "3x3": ("Conv", (1, 32, 8, 8), (32, 32, 3, 3), SAME),
    "pointwise": ("Conv", (1, 64, 8, 8), (64, 64, 1, 1), {}),
    "depthwise": ("Conv", (1, 32, 8, 8), (32, 1, 3, 3), {**SAME, "group": 32}),
    "in line": ("Conv", (1, 32, 16, 1), (32, 32, 3, 1), {"pads": [1, 0, 1, 0]}),
    "dense": ("MatMul", (1, 64), (64, 64), {}),
    "grouped": ("Conv", (1, 32, 8, 8), (32, 4, 3, 3), {**SAME, "group": 8}),
    "grouped by threes": ("Conv", (1, 12, 8, 8), (12, 3, 3, 3), {**SAME, "group": 4}),
    "transposed": ("ConvTranspose", (1, 16, 8, 8), (16, 16, 3, 3), {**SAME, "strides": [2, 2]}),
    "first": ("Conv", (1, 3, 16, 16), (8, 3, 3, 3), SAME),
    "eight inputs": ("Conv", (1, 8, 8, 8), (16, 8, 1, 1), {}),
    "two outputs": ("MatMul", (1, 256), (256, 2), {}),
    "three outputs": ("MatMul", (1, 64), (64, 3), {}),
    "249 by 1": ("MatMul", (1, 249), (249, 1), {}),
    "59 by 64": ("MatMul", (1, 59), (59, 64), {}),
    "grouped, smallest": ("Conv", (1, 32, 2, 2), (32, 4, 3, 3), {**SAME, "group": 8}),
    "six by four": ("Conv", (1, 6, 7, 14), (4, 6, 3, 3), SAME),
    "depthwise line": ("Conv", (1, 16, 12, 1), (16, 1, 3, 1), {"pads": [1, 0, 1, 0], "group": 16}),
    "190 by 2": ("MatMul", (1, 190), (190, 2), {}),
    "four inputs": ("Conv", (1, 4, 7, 10), (8, 4, 3, 3), SAME),
    "strided 5x5": ("Conv", (1, 12, 16, 7), (6, 12, 5, 5), {"pads": [2] * 4, "strides": [2, 2]}),
    "depthwise by threes": ("Conv", (1, 3, 3, 8), (3, 1, 5, 5), {"pads": [2] * 4, "group": 3}),
    "one output": ("Conv", (1, 20, 7, 16), (1, 20, 3, 3), SAME),
    "24 by 4": ("Conv", (1, 24, 5, 4), (4, 24, 1, 1), {}),
    "16 by 4": ("Conv", (1, 16, 3, 3), (4, 16, 1, 1), {}),
    "line to three": ("Conv", (1, 64, 15, 1), (3, 64, 3, 1), {"pads": [1, 0, 1, 0]}),
    "3x3 to two": ("Conv", (1, 48, 8, 8), (2, 48, 3, 3), SAME),
    "narrow 3x3": ("Conv", (1, 8, 8, 8), (8, 8, 3, 3), SAME),
    "3x3 of 16 by 32": ("Conv", (1, 16, 8, 8), (32, 16, 3, 3), SAME),
    "narrow pointwise": ("Conv", (1, 24, 8, 8), (24, 24, 1, 1), {}),
    "first of 16": ("Conv", (1, 3, 8, 8), (16, 3, 3, 3), SAME),
    "line from three": ("Conv", (1, 3, 16, 1), (64, 3, 3, 1), {"pads": [1, 0, 1, 0]}),
    "line to eight": ("Conv", (1, 64, 16, 1), (8, 64, 5, 1), {"pads": [2, 0, 2, 0]}),
    "depthwise by four": ("Conv", (1, 4, 8, 8), (4, 1, 5, 5), {"pads": [2] * 4, "group": 4}),
    "bounded 3x3": ("Conv", (1, 32, 8, 8), (32, 32, 3, 3), SAME),
    "bounded pointwise": ("Conv", (1, 64, 8, 8), (64, 64, 1, 1), {}),
    "bounded first": ("Conv", (1, 3, 16, 16), (8, 3, 3, 3), SAME),
    "bounded dense": ("MatMul", (1, 64), (64, 64), {}),
}
KINDS = {
    "8 bits": (TensorProto.INT8, -127, 128),
    "s4": (TensorProto.INT4, -8, 8),
    "u4": (TensorProto.UINT4, 0, 16),
    "s2": (TensorProto.INT2, -2, 2),
}
BOUNDS = (-0.4, 0.6)
"""Of the outputs of layers that are bounded: real numbers inside what their integers reach."""
HEADERS = ["chip", "layer", "bits", *(f"{kind} B" for kind in KINDS), *KINDS, *(f"times, {k}" for k in list(KINDS)[1:])]


def layer(name: str, act: int, kind: str) -> bytes:
    """A layer with weights of one of KINDS, with a bias, between integers."""
    operator, x, shape, words = LAYERS[name]
    rng, (dtype, low, high) = np.random.default_rng(0), KINDS[kind]
    axis = 0 if operator == "Conv" else 1
    outputs, unit = shape[axis], 1 if act == 8 else 256
    zero = rng.integers(4, 12, outputs) if kind == "u4" else np.zeros(outputs, int)
    scales = {
        "xs": 0.05 / unit,
        "ws": rng.uniform(0.1, 0.2, outputs) / (high - low),
        "ys": 0.008 * np.sqrt(np.prod(shape) / outputs) / unit,
    }
    of_act = np.int8 if act == 8 else np.int16
    given = [
        *(numpy_helper.from_array(np.asarray(s, np.float32), n) for n, s in scales.items()),
        *(numpy_helper.from_array(np.asarray(z if act == 8 else 0, of_act), n) for n, z in (("xz", 3), ("yz", -2))),
        helper.make_tensor("w", dtype, shape, rng.integers(low, high, shape).reshape(-1).tolist()),
        helper.make_tensor("wz", dtype, (outputs,), zero.tolist()),
        numpy_helper.from_array(rng.standard_normal(outputs).astype(np.float32) / 10, "b"),
    ]
    product = [
        helper.make_node(operator, ["x", "wd", "b"], ["y"], **words)
        if operator != "MatMul"
        else helper.make_node("Gemm", ["x", "wd", "b"], ["y"])
    ]
    bounds = []
    if name.startswith("bounded"):
        product[0].output[0] = "free"
        bounds = [helper.make_node("Clip", ["free", "low", "high"], ["y"])]
        given += [numpy_helper.from_array(np.float32(b), n) for n, b in zip(("low", "high"), BOUNDS, strict=True)]
    nodes = [
        helper.make_node("DequantizeLinear", ["xq", "xs", "xz"], ["x"]),
        helper.make_node("DequantizeLinear", ["w", "ws", "wz"], ["wd"], axis=axis),
        *product,
        *bounds,
        helper.make_node("QuantizeLinear", ["y", "ys", "yz"], ["yq"]),
    ]
    of_tensor = TensorProto.INT8 if act == 8 else TensorProto.INT16
    ends = [[helper.make_tensor_value_info(n, of_tensor, s)] for n, s in (("xq", x), ("yq", None))]
    model = helper.make_model(
        helper.make_graph(nodes, "layer", *ends, given), opset_imports=[helper.make_opsetid("", 25)], ir_version=13
    )
    return bytes(model.SerializeToString())


def row(chip: str, name: str, act: int) -> dict[str, Any]:
    """Counts of one layer on one chip."""
    found = {kind: counted(layer(name, act, kind), chip) for kind in KINDS}
    return {
        "chip": chip,
        "layer": name,
        "bits": act,
        "weights": {kind: weights for kind, (weights, _) in found.items()},
        "instructions": {kind: instructions for kind, (_, instructions) in found.items()},
    }


def line(made: dict[str, Any]) -> list[str]:
    """A line of the table."""
    weights, counts = made["weights"], made["instructions"]
    times = [f"{counts[kind] / counts['8 bits']:.2f}" for kind in list(KINDS)[1:]]
    numbers = [str(x[kind]) for x in (weights, counts) for kind in KINDS]
    return [made["chip"], made["layer"], str(made["bits"]), *numbers, *times]


def main() -> None:
    """Prints the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--chips", nargs="+", default=CHIPS)
    parser.add_argument("--layers", nargs="+", default=tuple(LAYERS), choices=tuple(LAYERS))
    parser.add_argument("--acts", nargs="+", type=int, default=(8, 16), choices=(8, 16))
    parser.add_argument("--json", action="store_true")
    asked = parser.parse_args()
    rows = [row(chip, name, act) for chip in asked.chips for act in asked.acts for name in asked.layers]
    print(json.dumps(rows, indent=2) if asked.json else text_table(HEADERS, [line(r) for r in rows], keep=3))


if __name__ == "__main__":
    main()
