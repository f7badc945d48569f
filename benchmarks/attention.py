"""What the pieces of attention take on emulated chips: products of computed matrices, and Softmax between them.

    python benchmarks/attention.py --chips cortex-m4 rv32imc

One network of 8-bit tensors: scores = q k', Softmax, times v, for `--heads` heads of `--width` numbers at `--length`
places.  Instructions per product of a matrix, and per element of Softmax.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

import codegen
from codegen.build import Net

CHIPS = ("cortex-m0plus", "cortex-m3", "cortex-m4", "cortex-m55", "rv32imc")


def network(heads: int, length: int, width: int) -> bytes:
    """The ONNX file of attention alone."""
    net = Net("attention")

    def given(name: str, *shape: int) -> Any:
        return net.quantized(net.input(name, (1, heads, *shape)), 0.03)

    q, k, v = given("q", length, width), given("k", width, length), given("v", length, width)
    scores = net.quantized(net.onnx.MatMul(q, k), 0.1)
    shares = net.quantized(net.onnx.Softmax(scores, axis=-1), 1 / 256, -128)
    net.output(net.quantized(net.onnx.MatMul(shares, v), 0.03), "y")
    return net.to_onnx()


def main() -> None:
    """Print a line for each chip."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--chips", nargs="+", default=CHIPS)
    parser.add_argument("--heads", type=int, default=4)
    parser.add_argument("--length", type=int, default=64)
    parser.add_argument("--width", type=int, default=16)
    given = parser.parse_args()
    products = given.heads * given.length**2 * given.width
    elements = given.heads * given.length**2
    print("| chip | q k' per product | Softmax per element | times v per product | all, M |\n|---|---|---|---|---|")
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "attention.onnx"
        path.write_bytes(network(given.heads, given.length, given.width))
        for chip in given.chips:
            found = codegen.profile(path, chip)
            assert found.instructions is not None, "the chip is emulated"
            first, middle, last = (
                layer.instructions for layer in found.layers if layer.macs or "oftmax" in layer.operator
            )
            cells = (first / products, middle / elements, last / products)
            print(f"| {chip} | {' | '.join(f'{c:.2f}' for c in cells)} | {found.instructions / 1e6:.3f} |", flush=True)


if __name__ == "__main__":
    main()
