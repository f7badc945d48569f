"""What a scale per group of inputs costs: instructions and flash of dense layers, beside weights of 8 bits.

    python benchmarks/groups.py [--chips cortex-m4 rv32imc] [--layers 512x512 256x64] [--block 32] [--rows 16] [--json]

Layers of `--rows` pixels, of int8 activations: `8 bits` has a scale per output; `4 bits` too; `groups` has 4 bits and
a scale for each `--block` inputs, `zeros` a zero point as well; `8-bit groups` and `8-bit zeros` have 8 bits.  `times`
is beside `8 bits`, `times grouped` beside 8 bits in such groups, with zero points where 4 bits have them.  Counts
are exact and repeat with the same compiler; `host` is this machine, whose instructions are counted one by one (x86-64
and Linux).
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

import codegen  # noqa: E402
from benchmarks import stepped  # noqa: E402
from codegen.report.table import text_table  # noqa: E402

CHIPS = ("cortex-m4", "cortex-m55", "cortex-m3", "rv32imc", "cortex-m0plus", "host")
LAYERS = ("512x512", "256x64", "104x64")
KINDS = ("8 bits", "4 bits", "groups", "zeros", "8-bit groups", "8-bit zeros")
PAIRS = (("groups", "8-bit groups"), ("zeros", "8-bit zeros"))
HEADERS = ["chip", "layer", "weights B", "instructions", "times", "times grouped"]


def layer(inputs: int, outputs: int, kind: str, block: int, rows: int = 1) -> bytes:
    """A product of so many rows by weights of one of KINDS, with a bias, between integers."""
    rng, grouped, of_bytes = np.random.default_rng(0), kind.endswith(("groups", "zeros")), kind.startswith("8")
    sizes = (-(-inputs // block), outputs) if grouped else (outputs,)
    dtype, low, high = (TensorProto.INT8, -127, 128) if of_bytes else (TensorProto.UINT4, 0, 16)
    middle = 0 if of_bytes else 8
    zero = middle + (rng.integers(-4, 4, sizes) if kind.endswith("zeros") else np.zeros(sizes, np.int64))
    numbers = rng.integers(low, high, (inputs, outputs))
    scales = {"xs": 0.05, "ws": rng.uniform(0.1, 0.2, sizes) / high, "ys": 0.002 * inputs**0.5}
    given = [
        *(numpy_helper.from_array(np.asarray(s, np.float32), n) for n, s in scales.items()),
        *(numpy_helper.from_array(np.asarray(z, np.int8), n) for n, z in (("xz", 3), ("yz", -2))),
        helper.make_tensor("w", dtype, numbers.shape, numbers.reshape(-1).tolist()),
        helper.make_tensor("wz", dtype, sizes, zero.reshape(-1).tolist()),
        numpy_helper.from_array(rng.standard_normal(outputs).astype(np.float32), "b"),
    ]
    words = {"axis": 0, "block_size": block} if grouped else {"axis": 1}
    nodes = [
        helper.make_node("DequantizeLinear", ["xq", "xs", "xz"], ["x"]),
        helper.make_node("DequantizeLinear", ["w", "ws", "wz"], ["wd"], **words),
        helper.make_node("MatMul", ["x", "wd"], ["m"]),
        helper.make_node("Add", ["m", "b"], ["y"]),
        helper.make_node("QuantizeLinear", ["y", "ys", "yz"], ["yq"]),
    ]
    ends = [
        [helper.make_tensor_value_info(name, TensorProto.INT8, (rows, size))]
        for name, size in (("xq", inputs), ("yq", outputs))
    ]
    graph = helper.make_graph(nodes, "layer", *ends, given)
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 21)], ir_version=10)
    return bytes(model.SerializeToString())


def row(chip: str, size: str, block: int, rows: int) -> dict[str, Any]:
    """Counts of one layer on one chip."""
    inputs, outputs = map(int, size.split("x"))
    found = {kind: counted(layer(inputs, outputs, kind, block, rows), chip) for kind in KINDS}
    return {
        "chip": chip,
        "layer": size,
        "weights": {kind: weights for kind, (weights, _) in found.items()},
        "instructions": {kind: instructions for kind, (_, instructions) in found.items()},
    }


def counted(model: bytes, chip: str) -> tuple[int, int]:
    """Bytes of weights and instructions."""
    if chip == "host":
        return stepped.counted(model)
    found = codegen.profile(model, chip)
    assert found.instructions is not None, "the chip has a board"
    return found.weights_bytes, found.instructions


def lines(made: dict[str, Any]) -> list[list[str]]:
    """Lines of the table, one for each kind."""
    counts, beside = made["instructions"], dict(PAIRS)
    return [
        [
            made["chip"],
            f"{made['layer']} {kind}",
            str(made["weights"][kind]),
            str(counts[kind]),
            f"{counts[kind] / counts['8 bits']:.2f}",
            f"{counts[kind] / counts[beside[kind]]:.2f}" if kind in beside else "",
        ]
        for kind in KINDS
    ]


def main() -> None:
    """Prints the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--chips", nargs="+", default=CHIPS)
    parser.add_argument("--layers", nargs="+", default=LAYERS, help="inputs x outputs")
    parser.add_argument("--block", type=int, default=32)
    parser.add_argument("--rows", type=int, default=1, help="pixels of a layer")
    parser.add_argument("--json", action="store_true")
    asked = parser.parse_args()
    rows = [row(chip, size, asked.block, asked.rows) for chip in asked.chips for size in asked.layers]
    shown = [line for r in rows for line in lines(r)]
    print(json.dumps(rows, indent=2) if asked.json else text_table(HEADERS, shown, keep=2))


if __name__ == "__main__":
    main()
