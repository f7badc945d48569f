"""Random networks, node by node: each tensor is computed at once, and its scale is chosen so that it spans its type.

A node is refused (`Unfit`) when a limit of its operator is broken, no kernel takes it, it gets too large, or its result
spans fewer than `LEAST_SPAN` values; then something else is drawn.  Everything follows from the seed.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from codegen.errors import CompileError
from codegen.ir.graph import Graph
from codegen.ir.op import NodeOf, Op
from codegen.ir.quant import (
    DERIVED_MODES,
    MODES,
    PACKED_BITS,
    Array,
    DType,
    Mode,
    Quant,
    Requant,
    Storage,
    Sums,
    TensorType,
    is_pot,
    packed_bits,
    taken_off,
)
from codegen.ir.shape import Window
from codegen.kernels import find_form
from codegen.ops import (
    Add,
    AveragePool2D,
    Concat,
    Conv2D,
    ConvTranspose2D,
    Dense,
    GlobalAveragePool,
    MatMul,
    MaxPool2D,
    Mul,
    Rescale,
    Reshape,
    broken_limits,
    make_requant,
    requantize_table,
)
from tests.support.graphs import Sketch, power_below, random_array

LEAST_SPAN = 100
"""Values between the least and the greatest of a tensor, at least."""
SMALL = 32
"""Elements below which a tensor need not span that much."""
LARGEST = 7000
"""Elements of a tensor, at most."""
BYTES = (DType.S8, DType.U8)
FEW = ((0, False), (4, False), (0, False), (4, True), (8, True), (2, True))
"""Bits that most weights of a network have, 0 for any, and whether they have zero points of their own."""
STORAGES: Sequence[Storage] = ("", "f16", "", "s8", "u8", "bf16", "", "s4", "u4", "")
"""What weights of real numbers are stored as."""
BITS_OF_BYTES = 8
"""Of weights that have more with a zero point taken off them."""
STRIDES = (1, 1, 1, 1, 1, 1, 2, 3)


class Unfit(Exception):
    """The node that was drawn cannot be used."""


class Drawing(Sketch):
    """A network being drawn.  `data` holds the golden value of every tensor for one random input."""

    def __init__(self, name: str, seed: int) -> None:
        super().__init__(name, seed)
        self.mode: Mode = MODES[self.int(0, 2)]
        if self.mode == "single":
            self.mode = ("single", *DERIVED_MODES)[seed // 3 % 6]
        self.sums: Sums = ("separate", "fused", "separate", "flushed")[seed % 4]
        self.storage: Storage = STORAGES[seed // 2 % len(STORAGES)]
        self.few: tuple[int, bool] = FEW[seed // 5 % len(FEW)]
        self.data: dict[str, Array] = {}

    # Choices

    def int(self, low: int, high: int) -> int:
        """An integer low .. high, both included."""
        return int(self.rng.integers(low, high, endpoint=True))

    def pick(self, choices: Sequence[Any]) -> Any:
        return choices[self.int(0, len(choices) - 1)]

    def chance(self, share: float) -> bool:
        return bool(self.rng.random() < share)

    # Tensors

    def kind(self, name: str) -> TensorType:
        return self.values[name].type

    def shape(self, name: str) -> tuple[int, ...]:
        return self.values[name].type.shape

    def quant(self, name: str) -> Quant:
        quant = self.values[name].type.quant
        assert quant is not None
        return quant

    def real(self, name: str) -> Array:
        """The numbers that a quantized tensor stands for."""
        return np.asarray((self.data[name].astype(np.float64) - self.quant(name).zero_point) * self.quant(name).scale)

    def is_byte(self, name: str) -> bool:
        return self.kind(name).dtype in BYTES

    def input(self, shape: Sequence[int], dtype: DType = DType.S8, quant: Quant | None = None, name: str = "x") -> str:
        scale = self.usable(self.rng.uniform(0.01, 0.1))
        quant = quant or Quant(scale, self.int(dtype.low // 2, dtype.high // 2))
        super().input(shape, dtype, quant, name)
        self.data[name] = random_array(self.rng, shape, dtype)
        return name

    def keep(self, shape: Sequence[int], dtype: DType, quant: Quant | None) -> str:
        """A state that begins at random."""
        initial = random_array(self.rng, shape, dtype)
        name = self.state(initial, quant, f"kept{len(self.values)}")
        self.data[name] = initial
        return name

    def const(self, data: Array, quant: Quant | None = None) -> str:
        name = super().const(data, quant)
        self.data[name] = data
        return name

    def apply(self, op: Op, *inputs: str) -> str:
        """A node, unless it is unfit."""
        types = [self.kind(i) for i in inputs]
        try:
            made = op.infer(types)
        except CompileError as error:
            raise Unfit(str(error)) from error
        if broken_limits(op, types) or any(not 0 < t.elements <= LARGEST for t in made):
            raise Unfit(type(op).__name__)
        consts = tuple(self.values[i].data for i in inputs)
        if not isinstance(op, Reshape) and find_form(NodeOf("new", op, tuple(types), made, consts), "c99") is None:
            raise Unfit("no kernel")
        results = op.golden([self.data[i] for i in inputs])
        flags = [kind.dtype is DType.U8 and kind.quant is None for kind in made]
        if any(not flag and not _spans(y) for flag, y in zip(flags, results, strict=True)):
            raise Unfit("the result is too flat")
        first = super().apply(op, *inputs)
        self.data.update(zip(self.nodes[-1].outputs, results, strict=True))
        return first

    def weights(self, *shape: int) -> Array:
        """Random weights, in some networks mostly of few bits, perhaps with a zero point for each output."""
        bits, apart = self.few
        if not bits or self.chance(0.3):
            return random_array(self.rng, shape, DType.S8)
        half = 1 << (bits - 1)
        found = self.rng.integers(-half, half, shape)
        if apart:
            found += self.rng.integers(1 - half, half + 1, (shape[0], *(1,) * (len(shape) - 1)))
        return found.astype(np.int16 if bits == BITS_OF_BYTES else np.int8)

    def packed(self, weights: Array) -> str:
        """Weights as a constant that is stored in as few bits as they have."""
        name, (bits, apart) = self.const(weights), self.few
        if bits not in PACKED_BITS:
            return name
        own = packed_bits(weights, bits)
        split = bool(not own and apart and taken_off(weights.reshape(len(weights), -1), bits) is not None)
        kind = replace(self.kind(name), bits=own or (bits if split else 0), apart=split)
        self.values[name] = replace(self.values[name], type=kind)
        return name

    def block(self, x: str) -> int:
        """Inputs that share a factor, of a dense layer on x; 0 for none."""
        bits, _ = self.few
        if bits not in PACKED_BITS or not self.is_byte(x) or not self.chance(0.5):
            return 0
        return int(self.pick((8, 16, 32)))

    def factors(self, weights: Array, block: int) -> Array:
        """A factor for each weight [outputs, inputs], the same for those of a group, int16."""
        groups = self.rng.integers(1, 120, (len(weights), -(-weights.shape[1] // block))).astype(np.int16)
        return groups.repeat(block, axis=1)[:, : weights.shape[1]]

    def grouped(self, weights: Array, block: int) -> str:
        """Weights as a constant of few bits times a factor of their group."""
        name, (bits, apart) = self.const(weights), self.few
        kind = replace(self.kind(name), bits=bits, block=block, apart=apart)
        self.values[name] = replace(self.values[name], type=kind)
        return name

    def usable(self, scale: float) -> float:
        """The scale, or the largest power of two that it reaches where the mode only shifts."""
        return power_below(scale) if is_pot(self.mode) else float(np.float32(scale))

    def fit(self, real: Array, dtype: DType) -> Quant:
        """A scale and zero point by which these numbers fill the type, some of them a little over its ends."""
        low, high = float(real.min()), float(real.max())
        if not np.isfinite([low, high]).all():
            raise Unfit("numbers that no scale has")
        scale = max((high - low) / (dtype.high - dtype.low) * self.rng.uniform(0.85, 1.2), 1e-6)
        scale = self.usable(2 * scale) if is_pot(self.mode) else scale
        zero = dtype.low - low / scale + self.int(-5, 5)
        return Quant(float(np.float32(scale)), int(np.clip(round(zero), dtype.low, dtype.high)))

    def scales(self, real: Array, count: int) -> Array:
        """Scales of weights by which such sums become numbers of a usual size."""
        size = max(float(np.abs(real).max()), 1e-6)
        return np.array([self.usable(scale) for scale in self.rng.uniform(4, 8, count) / size], np.float32)

    def requant(self, x: str, scales: Array, y: Quant, dtype: DType, low: int | None = None) -> Requant:
        """From sums over x to y."""
        try:
            return make_requant(self.mode, self.quant(x).scale, scales.tolist(), y, dtype, low)
        except CompileError as error:
            raise Unfit(str(error)) from error

    def byte(self, x: str) -> DType:
        """The element type of a result of x: mostly x's own."""
        return self.kind(x).dtype if self.is_byte(x) and self.chance(0.8) else self.pick(BYTES)

    # Operators that compute

    def window(self, length: int, *, same: bool = False, strides: Sequence[int] = STRIDES) -> Window:
        """A window over an axis; `same` keeps its length."""
        size, dilation = self.pick((1, 2, 3, 3, 3, 4, 5, 7)), self.pick((1, 1, 1, 2, 3))
        reach = (size - 1) * dilation
        if same:
            before = self.pick((reach // 2, reach // 2, self.int(0, reach)))
            return Window(size, 1, dilation, before, reach - before)
        half = self.int(0, reach // 2 + 1)
        window = Window(size, self.pick(strides), dilation, half, self.pick((half, self.int(0, reach // 2 + 1))))
        if window.out_len(length) < 1:
            raise Unfit("the window is too large")
        return window

    def windows(self, x: str, *, same: bool = False, strides: Sequence[int] = STRIDES) -> tuple[Window, Window]:
        _, h, w, _ = self.shape(x)
        rows = self.window(h, same=same, strides=strides)
        return rows, self.pick((rows, self.window(w, same=same, strides=(rows.stride,))))

    def conv(  # type: ignore[override]
        self,
        x: str,
        h: Window,
        w: Window,
        *,
        outputs: int = 0,
        depthwise: bool = False,
        transposed: tuple[int, int] | None = None,
        dtype: DType | None = None,
    ) -> str:
        """A convolution, or a transposed one with this output padding."""
        c = self.shape(x)[3]
        outputs = outputs or (c * self.pick((1, 1, 2)) if depthwise else self.int(1, 10))
        shared = [g for g in (2, 3, 4) if c % g == 0 and outputs % g == 0]
        groups = c if depthwise else self.pick(shared) if shared and self.chance(0.2) else 1
        weights = self.weights(outputs, h.size, w.size, c // groups)
        bias = self.rng.integers(-2000, 2000, outputs).astype(np.int32)
        dtype = dtype or self.byte(x)
        zero = self.quant(x).zero_point

        def op(requant: Any, dtype: DType, quant: Quant | None) -> Op:
            if transposed is None:
                return Conv2D(h, w, groups, zero, requant, dtype, quant)
            return ConvTranspose2D(h, w, transposed, groups, zero, requant, dtype, quant)

        try:
            sums = op(None, DType.S32, None)
            sums.infer([self.kind(x), *(TensorType(a.shape, DType.of(a)) for a in (weights, bias))])
            acc = sums.golden([self.data[x], weights, bias])[0]
        except CompileError as error:
            raise Unfit(str(error)) from error
        scales = self.scales(acc * self.quant(x).scale, outputs if self.chance(0.5) else 1)
        if dtype is DType.S32:
            return self._sums(op(None, dtype, None), x, weights, bias, acc, scales)
        y = self.fit(acc * scales * self.quant(x).scale, dtype)
        low = y.zero_point if self.chance(0.15) else None
        requant = self.requant(x, scales, y, dtype, low)
        return self.apply(op(requant, dtype, y), x, self.packed(weights), self.const(bias))

    def _sums(self, op: Op, x: str, weights: Array, bias: Array, acc: Array, scales: Array) -> str:
        """The sums of a convolution as a tensor, and what brings them to bytes."""
        y = self.fit(acc * scales * self.quant(x).scale, DType.S8)
        requant = self.requant(x, scales, y, DType.S8)
        return self.apply(Rescale(requant, DType.S8, y), self.apply(op, x, self.packed(weights), self.const(bias)))

    def dense(self, x: str, outputs: int, mode: Mode = "single") -> str:
        weights, block = self.weights(outputs, self.shape(x)[-1]), self.block(x)
        weights = weights * self.factors(weights, block) if block else weights
        bias = self.rng.integers(-2000, 2000, outputs).astype(np.int32)
        zero, dtype = self.quant(x).zero_point, self.byte(x)
        acc = Dense(zero, None, DType.S32, None).golden([self.data[x], weights, bias])[0]
        scales = self.scales(acc * self.quant(x).scale, 1)
        y = self.fit(acc * self.quant(x).scale * scales, dtype)
        requant = self.requant(x, scales, y, dtype)
        kept = self.grouped(weights, block) if block else self.packed(weights)
        return self.apply(Dense(zero, requant, dtype, y), x, kept, self.const(bias))

    def matmul(self, a: str, b: str) -> str:
        zeros = self.quant(a).zero_point, self.quant(b).zero_point
        if self.shape(a)[-1] != self.shape(b)[-2] or self.shape(a)[:-2] != self.shape(b)[:-2]:
            raise Unfit("the matrices do not match")
        acc = MatMul(*zeros, None, DType.S32, None).golden([self.data[a], self.data[b]])[0]
        y = self.fit(acc * self.quant(a).scale * self.quant(b).scale, DType.S8)
        requant = self.requant(a, np.float32([self.quant(b).scale]), y, DType.S8)
        return self.apply(MatMul(*zeros, requant, DType.S8, y), a, b)

    def add(self, a: str, b: str) -> str:
        sign, dtype = self.pick((1, 1, -1)), self.byte(a)
        y = self.fit(self._together(a, b, sign), dtype)
        return self.apply(Add(self.quant(a), self.quant(b), y, dtype, dtype.low, dtype.high, self.mode, sign), a, b)

    def mul(self, a: str, b: str) -> str:
        dtype = self.byte(a)
        y = self.fit(self._together(a, b, 0), dtype)
        requant = self.requant(a, np.float32([self.quant(b).scale]), y, dtype)
        return self.apply(Mul(self.quant(a).zero_point, self.quant(b).zero_point, requant, dtype, y), a, b)

    def _together(self, a: str, b: str, sign: int) -> Array:
        try:
            return self.real(a) + sign * self.real(b) if sign else self.real(a) * self.real(b)
        except ValueError as error:
            raise Unfit(str(error)) from error

    def concat(self, axis: int, *parts: str) -> str:
        """Parts joined; those with another scale than the first one's go through a table."""
        first = self.kind(parts[0])
        assert first.quant is not None
        tables = tuple(
            None
            if (t := self.kind(p)).quant == first.quant and t.dtype is first.dtype
            else requantize_table(self.quant(p), t.dtype, first.quant, first.dtype, self.mode)
            for p in parts
            if self.is_byte(p) or self._refuse()
        )
        return self.apply(Concat(axis, tables, first.dtype, first.quant), *parts)

    def _refuse(self) -> bool:
        raise Unfit("not of bytes")

    def max_pool(self, x: str, h: Window, w: Window) -> str:
        return self.apply(MaxPool2D(h, w), x)

    def average_pool(self, x: str, h: Window, w: Window) -> str:
        if h.pad_before >= h.extent or h.pad_after >= h.extent:
            raise Unfit("a window lies outside")
        spread = self.real(x) / np.sqrt(h.size * w.size)
        dtype = self.byte(x)
        y = self.pick((self.quant(x), self.fit(spread * 1.5, dtype)))
        y = y if dtype.low <= y.zero_point <= dtype.high else self.fit(spread, dtype)
        op = AveragePool2D(h, w, self.chance(0.5), self.quant(x), y, dtype, dtype.low, dtype.high, self.mode)
        return self.apply(op, x)

    def global_average(self, x: str) -> str:
        if not self.is_byte(x):
            raise Unfit("not of bytes")
        y = self.fit(self.real(x).mean(axis=(1, 2)), DType.S8)
        return self.apply(GlobalAveragePool(self.quant(x), y, DType.S8, -128, 127, self.mode), x)

    def finished(self, extra: float = 0.15) -> Graph:
        """The network: tensors that nothing reads are its outputs, and some that are read."""
        read = {i for node in self.nodes for i in node.inputs}
        made = [o for node in self.nodes for o in node.outputs]
        kept = {state.next for state in self.states}
        outputs = [o for o in made if o not in read | kept] or [o for o in made if o not in read] or made[-1:]
        if len(made) > 3 and self.chance(extra):
            outputs.insert(0, self.pick([o for o in made if o in read]))
        return self.graph(*outputs)


def _spans(y: Array) -> bool:
    if y.size < SMALL or y.dtype.kind == "f":
        return True
    return int(y.max()) - int(y.min()) >= LEAST_SPAN
