"""Small graphs for tests, built without files: `Sketch` infers every type, the functions below are whole networks."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from codegen.ir.graph import Graph, Interface, Node, State, Value
from codegen.ir.op import Op
from codegen.ir.plan import Group, Plan, Storage
from codegen.ir.quant import Array, DType, Mode, Quant, Requant, TensorType, is_pot
from codegen.ir.shape import Window, row_count
from codegen.ops import (
    Add,
    Clamp,
    Concat,
    Conv2D,
    Dense,
    GlobalAveragePool,
    MaxPool2D,
    Reshape,
    Slice,
    Svdf,
    make_requant,
)
from codegen.ops.case import random_array as random_array

HALF = Quant(0.5, 0)


class Sketch:
    """Collects values and nodes, then becomes a Graph."""

    def __init__(self, name: str = "sketch", seed: int = 0) -> None:
        """Start empty; constants are drawn from `seed`."""
        self.name = name
        self.rng = np.random.default_rng(seed)
        self.values: dict[str, Value] = {}
        self.nodes: list[Node] = []
        self.inputs: list[Interface] = []
        self.states: list[State] = []

    def input(self, shape: Sequence[int], dtype: DType = DType.S8, quant: Quant | None = HALF, name: str = "x") -> str:
        """An input of the network."""
        self.values[name] = Value(name, TensorType(tuple(shape), dtype, quant), source=name)
        self.inputs.append(Interface(name, name, tuple(shape), dtype.numpy.name))
        return name

    def state(self, initial: Array, quant: Quant | None = HALF, name: str = "s") -> str:
        """What the network keeps; nothing changes it until `becomes`."""
        self.values[name] = Value(name, TensorType(initial.shape, DType.of(initial), quant), source=name)
        self.states.append(State(name, name, name, initial))
        return name

    def becomes(self, state: str, value: str) -> None:
        """Say what a state is after the run."""
        self.states = [replace(s, next=value) if s.value == state else s for s in self.states]

    def const(self, data: Array, quant: Quant | None = None) -> str:
        """A constant."""
        name = f"c{len(self.values)}"
        self.values[name] = Value(name, TensorType(data.shape, DType.of(data), quant), data)
        return name

    def apply(self, op: Op, *inputs: str) -> str:
        """The first output of a node."""
        kind = type(op).__name__.lower()
        types = op.infer([self.values[i].type for i in inputs])
        names = [f"{kind}{len(self.nodes)}" + (f"_{i}" if i else "") for i in range(len(types))]
        for name, made in zip(names, types, strict=True):
            self.values[name] = Value(name, made, source=name)
        self.nodes.append(Node(f"n{len(self.nodes)}_{kind}", op, inputs, tuple(names)))
        return names[0]

    def graph(self, *outputs: str) -> Graph:
        """The finished graph."""
        faces = [Interface(o, o, self.values[o].type.shape, self.values[o].type.dtype.numpy.name) for o in outputs]
        return Graph(
            self.name, self.values, tuple(self.nodes), tuple(self.inputs), tuple(faces), states=tuple(self.states)
        )

    def conv(
        self, x: str, outputs: int, size: int = 3, *, stride: int = 1, groups: int = 1, mode: Mode = "single"
    ) -> str:
        """A convolution that keeps its input's scale, padded to the same size at stride 1."""
        channels, quant = self.values[x].type.shape[3], self.values[x].type.quant
        assert quant is not None
        w = random_array(self.rng, (outputs, size, size, channels // groups), DType.S8)
        b = self.rng.integers(-500, 500, outputs).astype(np.int32)
        window = Window(size, stride, 1, (size - 1) // 2, size // 2)
        requant = spread_requant(mode, w, DType.S8, quant.zero_point)
        op = Conv2D(window, window, groups, quant.zero_point, requant, DType.S8, quant)
        return self.apply(op, x, self.const(w), self.const(b))

    def dense(self, x: str, outputs: int, mode: Mode = "single") -> str:
        """A fully connected layer that keeps its input's scale."""
        kind = self.values[x].type
        assert kind.quant is not None
        w = random_array(self.rng, (outputs, kind.shape[-1]), DType.S8)
        b = self.rng.integers(-500, 500, outputs).astype(np.int32)
        requant = spread_requant(mode, w, DType.S8, kind.quant.zero_point)
        op = Dense(kind.quant.zero_point, requant, DType.S8, kind.quant)
        return self.apply(op, x, self.const(w), self.const(b))


def step_of(
    mode: Mode, x_scale: float, w_scales: Sequence[float], y: Quant, dtype: DType, *bounds: int | None, **more: Any
) -> Requant:
    """`make_requant` of these scales, or where the mode only shifts of powers of two below."""
    if is_pot(mode):
        x_scale, y = power_below(x_scale), Quant(power_below(y.scale), y.zero_point)
        w_scales = [power_below(s) for s in w_scales]
    return make_requant(mode, x_scale, w_scales, y, dtype, *bounds, **more)


def power_below(scale: float) -> float:
    """The largest power of two that a scale reaches."""
    return float(2.0 ** np.floor(np.log2(scale)))


def spread_requant(mode: Mode, w: Array, dtype: DType, zero_point: int = 0, channels: bool = True) -> Requant:
    """A Requant under which sums over random inputs and these weights fill the output's range."""
    taps = max(1, w[0].size)
    scale = 1.0 / (120.0 * np.sqrt(taps))
    factors = np.linspace(0.5, 1.5, len(w)) if channels else np.ones(1)
    return step_of(mode, float(np.float32(scale)), factors.tolist(), Quant(1.0, zero_point), dtype)


def one_op(op: Op, ins: Sequence[Array], quants: Sequence[Quant | None] = (), consts: Sequence[int] = ()) -> Graph:
    """A graph of one node; inputs whose index is in `consts` are constants."""
    sketch = Sketch(type(op).__name__.lower())
    quants = tuple(quants) or (None,) * len(ins)
    names = [
        sketch.const(a, quants[i]) if i in consts else sketch.input(a.shape, DType.of(a), quants[i], f"x{i}")
        for i, a in enumerate(ins)
    ]
    return sketch.graph(sketch.apply(op, *names))


def conv_chain(mode: Mode = "single", seed: int = 0) -> Graph:
    """Three convolutions, the middle one depthwise, a pooling, a global pooling and a dense layer."""
    s = Sketch("conv_chain", seed)
    x = s.input((1, 12, 10, 3), quant=Quant(0.5, -3))
    x = s.conv(x, 8, mode=mode)
    x = s.conv(x, 8, stride=2, groups=8, mode=mode)
    x = s.conv(x, 6, 1, mode=mode)
    x = s.apply(MaxPool2D(Window(2, 2), Window(2, 2)), x)
    quant = s.values[x].type.quant
    assert quant is not None
    x = s.apply(GlobalAveragePool(quant, quant, DType.S8, -128, 127, mode), x)
    x = s.apply(Reshape((1, 6)), x)
    return s.graph(s.dense(x, 4, mode))


def separable(mode: Mode = "single", seed: int = 0) -> Graph:
    """Depthwise and pointwise convolutions in turn, of as many channels; then twice as many."""
    s = Sketch("separable", seed)
    x = s.conv(s.input((1, 12, 9, 8)), 8, mode=mode)
    for outputs in (8, 8, 16):
        x = s.conv(s.conv(x, 8, groups=8, mode=mode), outputs, 1, mode=mode)
    return s.graph(s.conv(x, 4, mode=mode))


def residual(mode: Mode = "single", seed: int = 0) -> Graph:
    """Two convolutions with a skip connection around them, added and clamped."""
    s = Sketch("residual", seed)
    first = s.conv(s.input((1, 9, 7, 4)), 4, mode=mode)
    second = s.conv(first, 4, mode=mode)
    quant = s.values[second].type.quant
    assert quant is not None
    total = s.apply(Add(quant, quant, quant, DType.S8, -128, 127, mode), first, second)
    return s.graph(s.apply(Clamp(0, 127), total))


def keeping(mode: Mode = "single", seed: int = 0) -> Graph:
    """Three states: the last rows of the input, an image of the run before, and the memory of a layer's filters.

    The first and the last are renewed in place; the image is still read when its new content is there.
    """
    s = Sketch("keeping", seed)
    quant = Quant(0.5, -3)
    x, rows = s.input((1, 4, 5, 2), quant=quant), s.state(random_array(s.rng, (1, 2, 5, 2), DType.S8), quant, "rows")
    joined = s.apply(Concat(1, (None, None), DType.S8, quant), rows, x)
    s.becomes(rows, s.apply(Slice((0, 4, 0, 0), (1, 2, 5, 2), (1, 1, 1, 1)), joined))
    image = s.state(random_array(s.rng, (1, 6, 5, 4), DType.S8), quant, "image")
    y = s.conv(joined, 4, groups=2, mode=mode)
    s.becomes(image, y)
    y = s.apply(Add(quant, quant, quant, DType.S8, -128, 127, mode), image, y)
    y = s.apply(Reshape((1, 4)), s.apply(GlobalAveragePool(quant, quant, DType.S8, -128, 127, mode), y))
    kept = s.state(np.zeros((1, 4 * 5), np.int16), None, "filters")
    feature = Requant("tflite", 0, -32768, 32767, (1 << 30,), (0,))
    op = Svdf(-3, 0, feature, Requant("tflite", 7, -128, 127, (1 << 30,), (-20,)), quant)
    weights = [random_array(s.rng, shape, kind) for shape, kind in (((4, 4), DType.S8), ((4, 5), DType.S16))]
    y = s.apply(op, y, *map(s.const, weights), s.const(np.arange(2, dtype=np.int32)), kept)
    s.becomes(kept, s.nodes[-1].outputs[1])
    return s.graph(y)


def apart(graph: Graph) -> Plan:
    """The simplest plan: one group per node, every tensor whole and in bytes of its own."""
    storage: dict[str, Storage] = {}
    end = 0
    for name, value in graph.values.items():
        if value.is_const:
            continue
        rows = row_count(value.type.shape)
        storage[name] = Storage(end, rows, rows, value.type.bytes // rows)
        end += -(-value.type.bytes // 8) * 8
    groups = tuple(Group((i,)) for i in range(len(graph.nodes)))
    return Plan(graph, groups, storage, {}, {}, frozenset(), end, 8, end)
