"""Random float networks: products with everything that rewrites meet between them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np

from codegen.build import Net, Tensor
from codegen.ir.real import RealGraph, RealOp
from codegen.ir.shape import Window
from codegen.real.elementwise import Binary, Clip, Function, PRelu
from codegen.real.engine import RealEngine
from codegen.real.movement import Concat, Pad, Reshape, Transpose
from codegen.real.normal import BatchNorm
from codegen.real.product import Gemm, MatMul
from codegen.real.reduce import Reduce
from codegen.real.window import AveragePool, Conv, ConvTranspose, MaxPool
from tests.support.networks import only


class Maker:
    """Grows a network at its last value."""

    def __init__(self, seed: int, shape: tuple[int, ...] = (1, 3, 6, 6), uneven: float = 3.0) -> None:
        self.uneven = uneven
        self.rng = np.random.default_rng(seed)
        self.net = Net(definition="lamina")
        self.last = self.net.input("x", shape).name
        self.count = 0
        self._shown = set[str]()

    @property
    def shape(self) -> tuple[int, ...]:
        return Tensor(self.net, self.last).shape

    def constant(self, array: np.ndarray, name: str = "c") -> str:
        return self.net.const(np.asarray(array, np.float32), name).name

    def add(self, op: RealOp, *others: str, name: str = "", x: str = "") -> str:
        self.count += 1
        name = name or f"{type(op).__name__.lower()}{self.count}"
        inputs = [Tensor(self.net, value) for value in (x or self.last, *others)]
        self.last = only(self.net.apply(op, *inputs, name=name)).name
        return self.last

    def normal(self, *shape: int) -> str:
        """Numbers whose channels differ in size by up to 2 ** (2 * uneven), as in networks that quantize badly."""
        sizes = (
            np.exp2(self.rng.uniform(-self.uneven, self.uneven, (shape[0], *(1,) * (len(shape) - 1)))) if shape else 1.0
        )
        return self.constant(self.rng.normal(0, 0.5, shape) * sizes)

    def conv(self, outputs: int = 4, size: int = 3, *, groups: int = 1, pad: int = 1, bias: bool = True) -> str:
        window = Window(size, pad_before=pad, pad_after=pad)
        weights = self.normal(outputs, self.shape[1] // groups, size, size)
        return self.add(Conv((window, window), groups), weights, *([self.normal(outputs)] if bias else []))

    def depthwise(self) -> str:
        return self.conv(self.shape[1], groups=self.shape[1])

    def transposed(self) -> str:
        window = Window(2, stride=2)
        _, c, h, w = self.shape
        op = ConvTranspose((window, window), (2 * h, 2 * w))
        return self.add(op, self.normal(c, 4, 2, 2), self.normal(4))

    def batch_norm(self) -> str:
        c = self.shape[1]
        variance = self.constant(self.rng.uniform(0.2, 2.0, c))
        return self.add(BatchNorm(), self.normal(c), self.normal(c), self.normal(c), variance)

    def arithmetic(self) -> str:
        kind = self.rng.choice(["Add", "Sub", "Mul", "Div"])
        shape = (self.shape[1], *(1,) * (len(self.shape) - 2)) if self.rng.random() < 0.7 else ()
        size = self.rng.uniform(0.3, 2.0, shape) * self.rng.choice([-1, 1], shape)
        return self.add(Binary(str(kind)), self.constant(size))

    def activation(self) -> str:
        made: list[Callable[[], str]] = [
            lambda: self.add(Function("Relu")),
            lambda: self.add(Function("LeakyRelu", (("alpha", 0.2),))),
            lambda: self.add(PRelu(), self.normal(self.shape[1], *(1,) * (len(self.shape) - 2))),
            lambda: self.add(Clip(0.0, 6.0)),
            lambda: self.add(Function("Sigmoid")),
        ]
        return made[self.rng.choice(5, p=[0.5, 0.15, 0.15, 0.1, 0.1])]()

    def pool(self) -> str:
        windows = (Window(2, stride=2),) * 2
        if min(self.shape[2:]) < 2:
            return self.last
        return self.add(MaxPool(windows) if self.rng.random() < 0.5 else AveragePool(windows))

    def pad(self) -> str:
        return self.add(Pad((0, 0, 1, 0), (0, 0, 0, 1)))

    def branches(self) -> str:
        """Two convolutions of one tensor, side by side."""
        start = self.last
        left = self.conv(3, 1, pad=0)
        self.last = start
        self.conv(2, 3)
        return self.add(Concat(1), self.last, x=left)

    def residual(self) -> str:
        start = self.last
        self.conv(self.shape[1])
        return self.add(Binary("Add"), start)

    def head(self) -> str:
        """To a vector, and matrix products of it."""
        n = self.shape[0]
        way = self.rng.integers(3)
        if way == 0:
            self.add(Reduce("Mean", (2, 3), keep=False))
        elif way == 1:
            self.add(Reshape((n, int(np.prod(self.shape[1:])))))
        else:
            self.add(Transpose((0, 2, 3, 1)))
            self.add(Reshape((n, int(np.prod(self.shape[1:])))))
        if self.rng.random() < 0.5:
            self.add(MatMul(), self.normal(self.shape[1], 5))
            self.add(Binary("Add"), self.normal(5))
        else:
            self.add(Gemm(alpha=0.5, turn_b=True), self.normal(5, self.shape[1]), self.normal(5))
        self.activation()
        return self.add(Gemm(), self.normal(5, 3))

    def done(self, *outputs: str) -> RealGraph:
        wanted = outputs or (self.last,)
        for name in dict.fromkeys(wanted):
            if name not in self._shown:
                self._shown.add(self.net.output(Tensor(self.net, name)).name)
        return replace(self.net.graph(), outputs=wanted, faces=wanted).live()


def random_network(seed: int, images: int = 1) -> RealGraph:
    """Six to ten pieces and a head; now and then a tensor in the middle leaves the network too."""
    maker = Maker(seed, (images, 3, 6, 6))
    steps = [maker.conv, maker.depthwise, maker.transposed, maker.batch_norm, maker.arithmetic, maker.pool]
    steps += [maker.activation, maker.activation, maker.pad, maker.branches, maker.residual, maker.conv]
    seen = []
    maker.conv()
    for _ in range(maker.rng.integers(5, 10)):
        steps[maker.rng.integers(len(steps))]()
        seen.append(maker.last)
        if min(maker.shape[2:]) > 12:
            maker.pool()
    maker.head()
    extra = (str(maker.rng.choice(seen)),) if maker.rng.random() < 0.2 else ()
    return maker.done(maker.last, *(e for e in extra if e != maker.last))


def results(graph: RealGraph, seed: int = 0, count: int = 3) -> list[np.ndarray]:
    """The outputs for some random inputs."""
    rng, engine = np.random.default_rng(seed), RealEngine(graph)
    feeds = [{n: rng.normal(0, 1, graph.type(n).shape).astype(np.float32) for n in graph.inputs} for _ in range(count)]
    return [np.concatenate([y.ravel() for y in engine.run(feed).values()]) for feed in feeds]


def assert_same(before: RealGraph, after: RealGraph, tolerance: float = 1e-4) -> None:
    """Both networks give the same outputs, within a share of the largest that any of the inputs gives.

    Sums of large numbers may all but vanish for one of them, and round as the others do.
    """
    old, new = results(before), results(after)
    most = tolerance * max(float(np.abs(was).max()) for was in old)
    for was, now in zip(old, new, strict=True):
        assert np.abs(was - now).max() <= max(most, tolerance * 1e-6)
    assert (before.inputs, before.outputs, before.faces) == (after.inputs, after.outputs, after.faces)
