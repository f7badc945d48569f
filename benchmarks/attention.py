"""What the pieces of attention take on emulated chips: products of computed matrices, and Softmax between them.

    python benchmarks/attention.py --chips cortex-m4 rv32imc

One network of 8-bit tensors, or with `--real` of float32 ones: scores = q k', Softmax, times v, for `--heads` heads of
`--width` numbers at `--length` places.  Instructions per product of a matrix, and per element of Softmax; and for each
goal all instructions and the arena, which for speed holds scores whole.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from itertools import product
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

import codegen
from codegen.build import Net

CHIPS = ("cortex-m0plus", "cortex-m3", "cortex-m4", "cortex-m55", "rv32imc")


GOALS = ("balanced", "speed")


def network(heads: int, length: int, width: int, *, real: bool = False) -> bytes:
    """The ONNX file of attention alone."""
    net = Net("attention")

    def held(x: Any, scale: float, zero: int = 0) -> Any:
        return x if real else net.quantized(x, scale, zero)

    def given(name: str, *shape: int) -> Any:
        return held(net.input(name, (1, heads, *shape)), 0.03)

    q, k, v = given("q", length, width), given("k", width, length), given("v", length, width)
    scores = held(net.onnx.MatMul(q, k), 0.1)
    shares = held(net.onnx.Softmax(scores, axis=-1), 1 / 256, -128)
    net.output(held(net.onnx.MatMul(shares, v), 0.03), "y")
    return net.to_onnx()


def main() -> None:
    """Print a line for each chip."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--chips", nargs="+", default=CHIPS)
    parser.add_argument("--heads", type=int, default=4)
    parser.add_argument("--length", type=int, default=64)
    parser.add_argument("--width", type=int, default=16)
    parser.add_argument("--real", action="store_true", help="float32 tensors")
    given = parser.parse_args()
    macs = given.heads * given.length**2 * given.width
    elements = given.heads * given.length**2
    print("| chip, goal | q k' per product | Softmax per element | times v per product | all, M | arena, B |")
    print("|---|---|---|---|---|---|")
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "attention.onnx"
        path.write_bytes(network(given.heads, given.length, given.width, real=given.real))
        for chip, goal in product(given.chips, GOALS):
            found = codegen.profile(path, chip, goal=goal)
            made = codegen.compile_model(path, chip, Path(folder) / "out", goal=goal)
            assert found.instructions is not None, "the chip is emulated"
            first, softmax, last = (
                layer.instructions for layer in found.layers if layer.macs or "oftmax" in layer.operator
            )
            cells = (first / macs, softmax / elements, last / macs)
            middle = " | ".join(f"{c:.2f}" for c in cells)
            arena = made.manifest["arena_bytes"]
            print(f"| {chip}, {goal} | {middle} | {found.instructions / 1e6:.3f} | {arena} |", flush=True)


if __name__ == "__main__":
    main()
