"""Float networks of one step whose states go in and out, written in plain operators as exporters do."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np

from codegen.build import Net
from codegen.records import record

INPUTS, HIDDEN, FRAMES = 6, 12, 3


@record(eq=False)
class Stepwise:
    """A network of `x` and a state `state`, which becomes `kept`; `y` is what it says."""

    build: Callable[[Net, np.random.Generator], None]
    state_shape: tuple[int, ...]
    x_shape: tuple[int, ...]

    def write(self, path: Path) -> Path:
        """The float model."""
        net = Net("step")
        self.build(net, np.random.default_rng(0))
        path.write_bytes(net.to_onnx())
        return path

    def samples(self, steps: int, seed: int = 1) -> np.ndarray:
        """One sequence of `x`, which changes slowly."""
        noise = np.random.default_rng(seed).normal(0, 1, (steps, *self.x_shape))
        return np.cumsum(noise * 0.6, axis=0).clip(-3, 3).astype(np.float32)


def _gated(net: Net, rng: np.random.Generator) -> None:
    """A GRU cell as torch writes one: two products, their thirds, gates, and h + z * (n - h)."""
    op, x, h = net.onnx, net.input("x", (1, INPUTS)), net.input("state", (1, HIDDEN))

    def product(value: str, size: int) -> list[str]:
        weights = net.const(rng.normal(0, 0.5, (size, 3 * HIDDEN)).astype(np.float32))
        bias = net.const(rng.normal(0, 0.1, 3 * HIDDEN).astype(np.float32))
        gates = op.Gemm(value, weights, bias)
        ends = [net.const(np.array([n * HIDDEN], np.int64)) for n in range(4)]
        axis = net.const(np.array([1], np.int64))
        return [op.Slice(gates, ends[n], ends[n + 1], axis) for n in range(3)]

    outer, inner = product(x, INPUTS), product(h, HIDDEN)
    reset, update = op.Sigmoid(op.Add(outer[0], inner[0])), op.Sigmoid(op.Add(outer[1], inner[1]))
    new = op.Tanh(op.Add(outer[2], op.Mul(reset, inner[2])))
    made = op.Add(new, op.Mul(update, op.Sub(h, new)))
    weights = net.const(rng.normal(0, 0.4, (HIDDEN, 4)).astype(np.float32))
    net.output(op.MatMul(made, weights), "y")
    net.output(made, "kept")


def _streaming(net: Net, rng: np.random.Generator) -> None:
    """A convolution over time that is given the frames that it saw before."""
    op, x, held = net.onnx, net.input("x", (1, INPUTS, 1)), net.input("state", (1, INPUTS, FRAMES))
    frames = op.Concat(held, x, axis=2)
    weights = net.const(rng.normal(0, 0.4, (8, INPUTS, FRAMES + 1)).astype(np.float32))
    net.output(op.Relu(op.Conv(frames, weights)), "y")
    first, last, axis = (net.const(np.array([n], np.int64)) for n in (1, FRAMES + 1, 2))
    net.output(op.Slice(frames, first, last, axis), "kept")


STEPWISE = {
    "gated": Stepwise(_gated, (1, HIDDEN), (1, INPUTS)),
    "streaming": Stepwise(_streaming, (1, INPUTS, FRAMES), (1, INPUTS, 1)),
}
