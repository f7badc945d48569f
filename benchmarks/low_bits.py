"""What weights of 4 bits save and cost: flash, and instructions on emulated chips.

    python benchmarks/low_bits.py [--chips cortex-m4 rv32imc] [--networks kws resnet8] [--bits 4] [--json]

The networks of MLPerf Tiny, quantized here.  `packed` is the network with weights of few bits; `in bytes` has the same
integers, each in a byte; `8 bits` is quantized anew; `times` is what packed takes over either.  Counts are exact and
repeat with the same compiler.
"""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path
from typing import Any

import numpy as np
import onnx
from onnx import numpy_helper

ROOT = Path(__file__).resolve().parents[1]
SHARED = ROOT.parent / "shared"
sys.path.insert(0, str(ROOT))

import codegen  # noqa: E402
from codegen.report.table import text_table  # noqa: E402

SAMPLES = {"kws": "kws01.npz", "resnet8": "cifar10_calib200.npz"}
CHIPS = ("cortex-m4", "cortex-m55", "cortex-m3", "rv32imc", "cortex-m0plus", "aarch64-dot")
HEADERS = ["chip", "network", "weights B", "in bytes", "8 bits", "instructions", "in bytes", "8 bits", "times", "times"]
_FEW = (onnx.TensorProto.INT4, onnx.TensorProto.UINT4)


def quantized(network: str, bits: int) -> bytes:
    """The network with weights of so many bits."""
    return codegen.quantize(
        SHARED / "models" / "mlperf_tiny_onnx" / f"{network}_f32.onnx",
        SHARED / "data" / SAMPLES[network],
        config=Path(__file__).parent / "configs" / f"{network}.toml",
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


def row(chip: str, network: str, models: dict[str, bytes]) -> dict[str, Any]:
    """Counts of one network on one chip."""
    found = {name: codegen.profile(data, chip) for name, data in models.items()}
    return {
        "chip": chip,
        "network": network,
        "weights": {name: p.weights_bytes for name, p in found.items()},
        "instructions": {name: p.instructions for name, p in found.items()},
    }


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
    parser.add_argument("--json", action="store_true")
    asked = parser.parse_args()
    rows = []
    for network in asked.networks:
        packed = quantized(network, asked.bits)
        models = {"packed": packed, "in bytes": in_bytes(packed), "8 bits": quantized(network, 8)}
        rows += [row(chip, network, models) for chip in asked.chips]
    print(json.dumps(rows, indent=2) if asked.json else text_table(HEADERS, [line(r) for r in rows], keep=2))


if __name__ == "__main__":
    main()
