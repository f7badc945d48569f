"""Small graphs by hand, and a few lines that run them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from codegen.ir.graph import Graph, Interface, Node, Value
from codegen.ir.op import Op
from codegen.ir.quant import Array, DType, Quant, Requant, TensorType
from codegen.ir.shape import Window
from codegen.ops import Add, Clamp, Conv2D, Dense, Lut, Mul, Transpose

Q = Quant(0.0625, 3)
NCHW = (0, 3, 1, 2)
NHWC = (0, 2, 3, 1)


@dataclass
class Net:
    """A graph under construction: every method returns the name of the value it made."""

    values: dict[str, Value] = field(default_factory=dict)
    nodes: list[Node] = field(default_factory=list)
    inputs: list[Interface] = field(default_factory=list)
    outputs: list[Interface] = field(default_factory=list)

    def input(self, *shape: int, name: str = "x", dtype: DType = DType.S8, quant: Quant | None = Q) -> str:
        self.values[name] = Value(name, TensorType(shape, dtype, quant), source=name)
        self.inputs.append(Interface(name, name, shape, dtype.numpy.name))
        return name

    def const(self, data: Array, name: str = "", quant: Quant | None = Q) -> str:
        name = name or f"c{len(self.values)}"
        self.values[name] = Value(name, TensorType(data.shape, DType.of(data), quant), data)
        return name

    def op(self, op: Op, *inputs: str, name: str = "", source: bool = True) -> str:
        name = name or f"{type(op).__name__.lower()}{len(self.nodes)}"
        (type_,) = op.infer([self.values[i].type for i in inputs])
        self.values[name] = Value(name, type_, source=name if source else "")
        self.nodes.append(Node(f"n.{name}", op, inputs, (name,), (f"m.{name}",)))
        return name

    def output(self, *names: str) -> Graph:
        for name in names:
            type_ = self.values[name].type
            self.outputs.append(Interface(name, f"out.{name}", type_.shape, type_.dtype.numpy.name))
        return self.graph()

    def graph(self) -> Graph:
        return Graph("net", self.values, tuple(self.nodes), tuple(self.inputs), tuple(self.outputs))

    def type(self, name: str) -> TensorType:
        return self.values[name].type

    def conv(
        self, x: str, channels: int, size: int = 3, stride: int = 1, *, name: str = "", pad: int | None = None
    ) -> str:
        """A convolution on NHWC; its result holds no model tensor by name, as importers leave it."""
        depth = self.type(x).shape[3]
        rng = np.random.default_rng(len(self.nodes))
        w = self.const(rng.integers(-127, 128, (channels, size, size, depth)).astype(np.int8), quant=None)
        b = self.const(rng.integers(-999, 1000, channels).astype(np.int32), quant=None)
        around = size // 2 if pad is None else pad
        window = Window(size, stride, 1, around, around)
        requant = requantized((1 << 30) + 12345, 41, count=channels)
        return self.op(Conv2D(window, window, 1, Q.zero_point, requant, DType.S8, Q), x, w, b, name=name, source=False)

    def conv_nchw(self, x: str, channels: int, size: int = 3, stride: int = 1, name: str = "") -> str:
        """A convolution as an importer writes it: between Transposes."""
        inner = self.op(Transpose(NHWC), x, source=False)
        return self.op(Transpose(NCHW), self.conv(inner, channels, size, stride), name=name)

    def dense(self, x: str, outputs: int, name: str = "") -> str:
        rng = np.random.default_rng(len(self.nodes))
        w = self.const(rng.integers(-127, 128, (outputs, self.type(x).shape[-1])).astype(np.int8), quant=None)
        b = self.const(rng.integers(-999, 1000, outputs).astype(np.int32), quant=None)
        return self.op(Dense(Q.zero_point, requantized(1 << 30, 41), DType.S8, Q), x, w, b, name=name)

    def add(self, a: str, b: str, name: str = "") -> str:
        return self.op(Add(Q, Q, Q, DType.S8, -128, 127, "single"), a, b, name=name)

    def mul(self, a: str, b: str, name: str = "") -> str:
        return self.op(Mul(Q.zero_point, Q.zero_point, requantized(1 << 30, 35), DType.S8, Q), a, b, name=name)

    def relu(self, x: str, name: str = "") -> str:
        return self.op(Clamp(Q.zero_point, 127), x, name=name)

    def lut(self, x: str, seed: int = 0, name: str = "") -> str:
        table = np.random.default_rng(seed).integers(-128, 128, 256).tolist()
        return self.op(Lut(tuple(table), DType.S8, Q, "noise"), x, name=name)

    def nchw(self, x: str, name: str = "") -> str:
        return self.op(Transpose(NCHW), x, name=name)

    def nhwc(self, x: str, name: str = "") -> str:
        return self.op(Transpose(NHWC), x, name=name)


def requantized(multiplier: int, shift: int, count: int = 1) -> Requant:
    return Requant("single", Q.zero_point, -128, 127, (multiplier,) * count, (shift,) * count)


def feeds(graph: Graph, seed: int = 0) -> dict[str, Array]:
    """Random inputs over the whole range of their types."""
    rng = np.random.default_rng(seed)
    found = {}
    for port in graph.inputs:
        type_ = graph.type(port.value)
        found[port.value] = rng.integers(type_.dtype.low, type_.dtype.high + 1, type_.shape).astype(type_.dtype.numpy)
    return found


def run(graph: Graph, given: Mapping[str, Array]) -> dict[str, Array]:
    """Every value of the graph, by name."""
    known = {name: value.data for name, value in graph.values.items() if value.data is not None}
    known.update(given)
    for node in graph.nodes:
        known.update(zip(node.outputs, node.op.golden([known[i] for i in node.inputs]), strict=True))
    return known


def assert_same(before: Graph, after: Graph, seed: int = 0) -> None:
    """Equal at the outputs, and at every tensor of the model that is still there."""
    given = feeds(before, seed)
    old, new = run(before, given), run(after, given)
    for a, b in zip(before.outputs, after.outputs, strict=True):
        assert a.name == b.name
        np.testing.assert_array_equal(old[a.value], new[b.value], strict=True)
    sources = {v.source: old[v.name] for v in before.values.values() if v.source and v.perm is None and not v.is_const}
    for value in after.values.values():
        if value.source and not value.is_const:
            model = sources[value.source]
            stored = model if value.perm is None else model.transpose(value.perm)
            np.testing.assert_array_equal(stored, new[value.name], err_msg=value.name, strict=True)


def kinds(graph: Graph) -> Counter[str]:
    """How many of each operator."""
    return Counter(type(node.op).__name__ for node in graph.nodes)


def names(graph: Graph) -> list[str]:
    """Operators in order."""
    return [type(node.op).__name__ for node in graph.nodes]


def only(graph: Graph, kind: type) -> Sequence[Node]:
    """The nodes of one operator."""
    return [node for node in graph.nodes if isinstance(node.op, kind)]
