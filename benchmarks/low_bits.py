"""What weights of 4 bits save and cost: flash, and instructions on emulated chips and on this machine.

    python benchmarks/low_bits.py [--chips cortex-m4 rv32imc] [--networks kws resnet8] [--bits 4] [--zeros] [--json]

The networks of MLPerf Tiny, quantized here.  `packed` is the network with weights of few bits; `in bytes` has the same
integers, each in a byte; `8 bits` is quantized anew; `times` is what packed takes over either.  With `--zeros` weights
of 4 bits are numbers without a sign, whose zero points differ from channel to channel.  Counts are exact and repeat
with the same compiler; `host` is this machine (stepped.py).
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
from pathlib import Path
from typing import Any

import numpy as np
import onnx
from onnx import numpy_helper

ROOT = Path(__file__).resolve().parents[1]
SHARED = ROOT.parent / "shared"
sys.path.insert(0, str(ROOT))

import codegen  # noqa: E402
from benchmarks import stepped  # noqa: E402
from codegen.report.table import text_table  # noqa: E402

SAMPLES = {"kws": "kws01.npz", "resnet8": "cifar10_calib200.npz"}
CHIPS = ("cortex-m4", "cortex-m55", "cortex-m3", "rv32imc", "cortex-m0plus", "aarch64-dot", "host")
HEADERS = ["chip", "network", "weights B", "in bytes", "8 bits", "instructions", "in bytes", "8 bits", "times", "times"]
_FEW = (onnx.TensorProto.INT4, onnx.TensorProto.UINT4)


AROUND_ZERO = "\n[quantize.weights]\nsymmetric = true\nnarrow_range = true\n"


def quantized(network: str, bits: int) -> bytes:
    """The network with weights of so many bits, around zero."""
    with tempfile.TemporaryDirectory() as folder:
        config = Path(folder) / "config.toml"
        samples = (Path(__file__).parent / "configs" / f"{network}.toml").read_text(encoding="utf-8")
        config.write_text(samples + AROUND_ZERO, encoding="utf-8")
        return codegen.quantize(
            SHARED / "models" / "mlperf_tiny_onnx" / f"{network}_f32.onnx",
            SHARED / "data" / SAMPLES[network],
            config=config,
            weights=bits,
            recipe="fast",
            samples=64,
        ).model


def in_bytes(data: bytes) -> bytes:
    """The same network, each integer in a byte, and nothing said of its bits."""
    model = onnx.load_from_string(data)
    for tensor in model.graph.initializer:
        if tensor.data_type in _FEW:
            signed = tensor.data_type == onnx.TensorProto.INT4
            array = numpy_helper.to_array(tensor).astype(np.int8 if signed else np.uint8)
            tensor.CopyFrom(numpy_helper.from_array(array, tensor.name))
    del model.metadata_props[:]
    return model.SerializeToString()


def with_zeros(data: bytes) -> bytes:
    """The same network, weights of 4 bits as numbers without a sign, zero points 6, 7, 9 and 10 in turn.

    It is another network: the numbers stay, which are 2 or 1 more or less than those that were chosen for its answers.
    """
    model = onnx.load_from_string(data)
    given = {tensor.name: tensor for tensor in model.graph.initializer}
    for node in model.graph.node:
        weights, zeros = (given.get(name) for name in (node.input[0], node.input[-1]))
        if node.op_type != "DequantizeLinear" or not weights or not zeros or weights.data_type != onnx.TensorProto.INT4:
            continue
        zero = np.resize([6, 7, 9, 10], zeros.dims)
        for tensor, numbers in ((weights, numpy_helper.to_array(weights).astype(np.int8) + 8), (zeros, zero)):
            made = onnx.helper.make_tensor(
                tensor.name, onnx.TensorProto.UINT4, tensor.dims, numbers.reshape(-1).tolist()
            )
            tensor.CopyFrom(made)
    return model.SerializeToString()


def row(chip: str, network: str, models: dict[str, bytes]) -> dict[str, Any]:
    """Counts of one network on one chip."""
    found = {name: _counted(data, chip) for name, data in models.items()}
    return {
        "chip": chip,
        "network": network,
        "weights": {name: weights for name, (weights, _) in found.items()},
        "instructions": {name: instructions for name, (_, instructions) in found.items()},
    }


def _counted(data: bytes, chip: str) -> tuple[int, int | None]:
    """Bytes of weights, and instructions."""
    if chip == "host":
        return stepped.counted(data)
    found = codegen.profile(data, chip)
    return found.weights_bytes, found.instructions


def line(made: dict[str, Any]) -> list[str]:
    """A line of the table."""
    weights, counts = made["weights"], made["instructions"]
    names = ("packed", "in bytes", "8 bits")
    numbers = [str(x[name]) for x in (weights, counts) for name in names]
    times = [f"{counts['packed'] / counts[name]:.2f}" for name in names[1:]]
    return [made["chip"], made["network"], *numbers, *times]


def main() -> None:
    """Prints the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--chips", nargs="+", default=CHIPS)
    parser.add_argument("--networks", nargs="+", default=tuple(SAMPLES), choices=tuple(SAMPLES))
    parser.add_argument("--bits", type=int, default=4, choices=(2, 3, 4))
    parser.add_argument("--zeros", action="store_true", help="zero points of their own, of weights of 4 bits")
    parser.add_argument("--json", action="store_true")
    asked = parser.parse_args()
    rows = []
    for network in asked.networks:
        packed = with_zeros(quantized(network, 4)) if asked.zeros else quantized(network, asked.bits)
        models = {"packed": packed, "in bytes": in_bytes(packed), "8 bits": quantized(network, 8)}
        rows += [row(chip, network, models) for chip in asked.chips]
    print(json.dumps(rows, indent=2) if asked.json else text_table(HEADERS, [line(r) for r in rows], keep=2))


if __name__ == "__main__":
    main()
