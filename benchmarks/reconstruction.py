"""What reconstruction gains over the nearest integers, for networks that are not trained: weights of 4 and of 2 bits.

    python benchmarks/reconstruction.py --network digits
    python benchmarks/reconstruction.py --network resnet8        needs ../shared

Right answers are those of the exported file in C.  Parts are fitted to 512 images that the digits' network was trained
on, or to the 200 images of CIFAR-10 that no test image is among; no labels are used.
"""

from __future__ import annotations

import argparse
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import torch
from onnx import numpy_helper
from torch import Tensor, nn

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

import codegen  # noqa: E402
from benchmarks.training import AROUND_ZERO, Run  # noqa: E402
from codegen.report.table import text_table  # noqa: E402
from codegen.train import export, prepare, reconstruct  # noqa: E402

SHARED = ROOT.parent / "shared"
METHODS = ("nearest", "adaround", "adaquant", "brecq", "qdrop")
HEADERS = ["weights", "method", "right", "%", "SQNR dB", "as the module", "s"]
BATCH = 32


class Resnet8(nn.Module):
    """The network of MLPerf Tiny, with the numbers of its file; without the Softmax."""

    def __init__(self, file: Path) -> None:
        super().__init__()
        known = {t.name: torch.tensor(numpy_helper.to_array(t)) for t in onnx.load(file).graph.initializer}
        for i in range(1, 10):
            w = known[f"conv_{i}_w"]
            conv = nn.Conv2d(w.shape[1], w.shape[0], w.shape[2], stride=2 if i in (4, 5, 7, 8) else 1)
            conv.weight.data, conv.bias.data = w, known[f"conv_{i}_b"]
            self.add_module(f"conv{i}", conv)
        self.classify = nn.Linear(64, 10)
        self.classify.weight.data, self.classify.bias.data = known["matmul_1_w"].T.contiguous(), known["add_4_b"]

    def _conv(self, i: int, x: Tensor) -> Tensor:
        conv = self.get_submodule(f"conv{i}")
        if conv.kernel_size == (1, 1):
            return conv(x)
        ends = (0, 1, 0, 1) if conv.stride == (2, 2) else (1, 1, 1, 1)
        return conv(nn.functional.pad(x, ends))

    def forward(self, x: Tensor) -> Tensor:
        """The scores of the classes."""
        x = torch.relu(self._conv(1, x))
        x = torch.relu(x + self._conv(3, torch.relu(self._conv(2, x))))
        x = torch.relu(self._conv(4, x) + self._conv(6, torch.relu(self._conv(5, x))))
        x = torch.relu(self._conv(7, x) + self._conv(9, torch.relu(self._conv(8, x))))
        return self.classify(x.mean((2, 3)))


def digits() -> tuple[nn.Module, Tensor, Tensor, Tensor]:
    """The float network, what it is fitted to, and images with labels."""
    run = Run(2024, 0)
    return run.net, run.train[0][:512], *run.held_out


def resnet8() -> tuple[nn.Module, Tensor, Tensor, Tensor]:
    """As `digits`."""
    with (
        np.load(SHARED / "data" / "cifar10_calib200.npz") as calib,
        np.load(SHARED / "data" / "cifar10_test600.npz") as test,
    ):
        fit, x, y = (calib["x"], test["x"], test["y"])
    images = (torch.tensor(a.transpose(0, 3, 1, 2).astype(np.float32)) for a in (fit, x))
    return Resnet8(SHARED / "models" / "mlperf_tiny_onnx" / "resnet8_f32.onnx").eval(), *images, torch.tensor(y)


def row(given: tuple[nn.Module, Tensor, Tensor, Tensor], bits: int, method: str, steps: int) -> list[Any]:
    """One network, quantized and perhaps reconstructed."""
    net, fit, x, y = given
    begun = time.perf_counter()
    prepared = prepare(net, fit[:BATCH], {"quantize": {"weights": {"bits": bits, **AROUND_ZERO}}})
    prepared.observe(list(fit.split(BATCH)))
    if method != "nearest":
        reconstruct(prepared, fit, method, steps=steps, batch=BATCH)
    taken = time.perf_counter() - begun
    made = np.asarray(codegen.run(export(prepared.eval()), x.numpy(), "c"))
    with torch.no_grad():
        real, own = net(x).numpy(), prepared(x).numpy()
    right = int((made.argmax(1) == y.numpy()).sum())
    sqnr = 10 * np.log10(float(np.square(real).sum() / np.square(real - made).sum()))
    same = "yes" if np.array_equal(own, made) else "NO"
    return [f"{bits} bits", method, right, f"{100 * right / len(y):.2f}", f"{sqnr:.1f}", same, f"{taken:.0f}"]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--network", choices=("digits", "resnet8"), default="digits")
    parser.add_argument("--methods", nargs="+", choices=METHODS, default=METHODS)
    parser.add_argument("--bits", nargs="+", type=int, default=[4, 2])
    parser.add_argument("--steps", type=int, default=400)
    asked = parser.parse_args()
    torch.set_num_threads(1)
    torch.use_deterministic_algorithms(True)
    given = {"digits": digits, "resnet8": resnet8}[asked.network]()
    with torch.no_grad():
        right = int((given[0](given[2]).argmax(1) == given[3]).sum())
    found = [["float", "", right, f"{100 * right / len(given[3]):.2f}", "", "", ""]]
    for bits in asked.bits:
        for method in asked.methods:
            found.append(row(given, bits, method, asked.steps))
            print(*found[-1], file=sys.stderr, flush=True)
    print(text_table(HEADERS, found))


if __name__ == "__main__":
    main()
