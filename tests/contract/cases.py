"""At least one case per operator, for the laws that every operator obeys.  A new operator adds its cases here."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np

from codegen.ir.op import Op
from codegen.ir.quant import MODES, Array, DType, Mode, Quant, Requant, TensorType
from codegen.ir.shape import Window
from codegen.ops import (
    Add,
    AddN,
    ArgExtremum,
    AveragePool2D,
    Broadcast,
    Clamp,
    Compare,
    Concat,
    Conv2D,
    ConvTranspose2D,
    CumulativeSum,
    Dense,
    DepthToSpace,
    Dequantize,
    Div,
    Extremum,
    Gather,
    GlobalAveragePool,
    GlobalSum,
    L2Norm,
    LogSoftmax,
    Lut,
    MatMul,
    MaxPool2D,
    Mul,
    Pad,
    PRelu,
    Quantize,
    Rescale,
    Reshape,
    ResizeBilinear,
    ResizeNearest,
    Select,
    Sigmoid16,
    Slice,
    Softmax,
    Softmax16,
    SpaceToDepth,
    SquaredDifference,
    Svdf,
    Take,
    Transpose,
    TwoSlopes,
    WholeArithmetic,
    make_requant,
    piecewise_linear,
    requantize_table,
    unary_table,
)
from codegen.ops.log_softmax import OUTPUT as LOG_OUTPUT
from tests.support.graphs import random_array, spread_requant
from tests.support.recurrent_cases import lstm
from tests.support.tflite_cases import Draw

A, B, Y = (Quant(float(np.float32(s)), z) for s, z in ((0.07, -5), (0.11, 12), (0.09, 3)))
BOUNDS = (-120, 125)


@dataclass(frozen=True, eq=False)
class Case:
    """One operator on inputs; `consts` are the indices of those known at compile time."""

    id: str
    op: Op
    ins: tuple[Array, ...]
    quants: tuple[Quant | None, ...]
    consts: tuple[int, ...] = ()

    @property
    def types(self) -> tuple[TensorType, ...]:
        """Types of the inputs."""
        return tuple(TensorType(x.shape, DType.of(x), q) for x, q in zip(self.ins, self.quants, strict=True))

    @property
    def dynamic(self) -> tuple[int, ...]:
        """Inputs that are not constants."""
        return tuple(i for i in range(len(self.ins)) if i not in self.consts)


def cases() -> tuple[Case, ...]:
    """All cases, each with an id of its own."""
    sources = (
        weighted(),
        transposed(),
        elementwise(),
        tflite(),
        keeping(),
        pooling(),
        tables(),
        movement(),
        resizing(),
        borders(),
    )
    found = [case for source in sources for case in source]
    return tuple(replace(case, id=f"{type(case.op).__name__}-{i}-{case.id}") for i, case in enumerate(found))


def data(shape: tuple[int, ...], dtype: DType = DType.S8, seed: int = 0) -> Array:
    """Random integers over the type's whole range."""
    return random_array(np.random.default_rng(seed + sum(shape)), shape, dtype)


def weighted() -> Iterator[Case]:
    """Conv2D, Dense, MatMul."""
    same, wide = Window(3, 1, 1, 1, 1), Window(3, 2, 2, 2, 1)
    geometries = (
        ((1, 6, 5, 3), 4, 1, same, same),
        ((1, 9, 8, 4), 4, 4, wide, same),
        ((1, 7, 6, 4), 6, 2, Window(2, 3, 1, 1, 2), Window(1, 2)),
        ((1, 4, 4, 8), 5, 1, Window(1), Window(1)),
        ((1, 8, 3, 2), 2, 1, Window(5, 1, 1, 4, 4), same),
        ((1, 5, 5, 1), 3, 1, Window(2, 4), Window(2, 3)),
    )
    for mode in MODES:
        for shape, outputs, groups, h, w in geometries:
            weights = data((outputs, h.size, w.size, shape[3] // groups))
            bias = data((outputs,), DType.S16).astype(np.int32)
            op = Conv2D(h, w, groups, A.zero_point, spread_requant(mode, weights, DType.S8, 3), DType.S8, Y)
            yield Case(mode, op, (data(shape), weights, bias), (A, None, None), (1, 2))
        for lead in ((), (1,), (1, 3), (1, 3, 2)):
            weights, bias = data((5, 7)), data((5,), DType.S16).astype(np.int32)
            dense = Dense(A.zero_point, spread_requant(mode, weights, DType.U8, 128), DType.U8, Quant(1.0, 128))
            yield Case(mode, dense, (data((*lead, 7)), weights, bias), (A, None, None), (1, 2))
            if len(lead) == 1:
                continue
            requant = spread_requant(mode, np.ones((1, 7)), DType.S8, 3, channels=False)
            matmul = MatMul(A.zero_point, 130, requant, DType.S8, Y)
            yield Case(mode, matmul, (data((*lead, 4, 7)), data((*lead, 7, 2), DType.U8)), (A, B))
    yield Case("s32", Conv2D(same, same, 1, 0, None, DType.S32, None), (*conv_ins(same),), (A, None, None), (1, 2))


def conv_ins(window: Window) -> tuple[Array, Array, Array]:
    """Inputs of a plain convolution from 2 to 3 channels."""
    weights = data((3, window.size, window.size, 2), DType.S16)
    return data((1, 4, 5, 2), DType.S16), weights, np.arange(3, dtype=np.int32)


def transposed() -> Iterator[Case]:
    """ConvTranspose2D: windows that overlap, touch and leave holes; pads beyond the window; output padding."""
    geometries = (
        ((1, 4, 5, 3), 4, 1, Window(3, 2, 1, 1, 1), Window(3, 2, 1, 1, 1), (1, 1)),
        ((1, 4, 3, 4), 4, 4, Window(4, 2, 1, 1, 1), Window(2, 2), (0, 0)),
        ((1, 3, 4, 4), 6, 2, Window(2, 3, 1, 1, 0), Window(1, 3), (2, 2)),
        ((1, 5, 3, 2), 3, 1, Window(3, 2, 3, 2, 4), Window(3, 4, 2, 2, 1), (2, 3)),
        ((1, 6, 2, 1), 2, 1, Window(5, 1, 1, 2, 6), Window(3, 1, 1, 1, 1), (0, 0)),
        ((1, 1, 1, 5), 1, 1, Window(7, 3, 1, 2, 2), Window(1), (0, 0)),
    )
    for mode in MODES:
        for shape, outputs, groups, h, w, extra in geometries:
            weights = data((outputs, h.size, w.size, shape[3] // groups))
            bias = data((outputs,), DType.S16).astype(np.int32)
            requant = spread_requant(mode, weights, DType.U8, 131)
            op = ConvTranspose2D(h, w, extra, groups, A.zero_point, requant, DType.U8, Quant(1.0, 131))
            yield Case(mode, op, (data(shape), weights, bias), (A, None, None), (1, 2))
    weights, bias = data((3, 2, 2, 2), DType.S16), np.arange(3, dtype=np.int32)
    sums = ConvTranspose2D(Window(2, 2), Window(2, 2), (0, 0), 1, 7, None, DType.S32, None)
    yield Case("sums", sums, (data((1, 3, 2, 2)), weights, bias), (A, None, None), (1, 2))


def elementwise() -> Iterator[Case]:
    """Add and Mul, broadcast or not; Clamp."""
    pairs = (
        ((1, 4, 3, 2), (1, 4, 3, 2)),
        ((1, 4, 3, 2), (1, 1, 1, 2)),
        ((1, 1, 3, 2), (1, 4, 3, 1)),
        ((2, 1, 3, 2), (1, 4, 1, 2)),
        ((6,), (1, 2, 6)),
        ((5, 3), (5, 3)),
    )
    for mode in MODES:
        for a, b in pairs:
            for sign in (1, -1):
                yield Case(mode, Add(A, B, Y, DType.S8, *BOUNDS, mode, sign), (data(a), data(b, seed=1)), (A, B))
            requant = make_requant(mode, A.scale, [B.scale], Y, DType.S8)
            yield Case(mode, Mul(A.zero_point, B.zero_point, requant, DType.S8, Y), (data(a), data(b, seed=2)), (A, B))
    yield Case("s8", Clamp(-100, 50), (data((1, 3, 4, 2)),), (A,))
    yield Case("s32", Clamp(-100, 50), (data((3, 4), DType.S32),), (None,))


def keeping() -> Iterator[Case]:
    """Operators that give what they keep for the next step as well."""
    for kind, zero, shift in ((DType.S16, 0, 4), (DType.S8, -128, -4), (DType.S8, 3, -3)):
        for batch, inputs, units, rank, memory in ((1, 5, 4, 2, 3), (2, 3, 3, 1, 1), (1, 1, 1, 3, 6)):
            filters, kept = units * rank, Quant(float(np.float32(0.01)), zero)
            feature = Requant("tflite", 0, kind.low, kind.high, (1 << 30,), (-2 if kind is DType.S8 else 0,))
            requant = Requant("tflite", 5, -100, 127, (1500000000,), (-11 + shift - (kind is DType.S16) * 10,))
            op = Svdf(A.zero_point, zero, feature, requant, Y)
            weights = data((filters, inputs)), data((filters, memory), kind, 1)
            ins = (data((batch, inputs)), *weights, data((units,), DType.S32), data((batch, filters * memory), kind, 2))
            yield Case(f"svdf_{kind.value}_{zero}", op, ins, (A, None, None, None, kept), (1, 2, 3))
    for kind in (DType.S8, DType.S16):
        for seed in range(4):
            made = lstm(Draw(np.random.default_rng([seed, 9]), kind.numpy.name), most=7)
            states = [data(s.shape, DType.of(s), seed) for s in made.states]
            yield Case(
                f"lstm_{kind.value}", made.op, (*made.case.inputs[0], *made.constants, *states), (None,) * 6, (1, 2, 3)
            )


def sums_and_pairs() -> Iterator[Case]:
    """Sums of many tensors or elements, quotients and comparisons."""
    three = tuple(data((2, 3, 2, 4), seed=i) for i in range(3))
    yield Case("three", AddN(A, Y, *BOUNDS), three, (A, A, A))
    for axis, ways in enumerate(((False, False), (True, False), (False, True), (True, True))):
        yield Case(f"axis{axis}", CumulativeSum(axis, A, Y, *BOUNDS, *ways), (data((2, 3, 40, 4)),), (A,))
    for a, b in (((1, 4, 3, 2), (1, 4, 3, 2)), ((2, 1, 3, 2), (1, 4, 1, 2))):
        yield Case("s8", Div(A, B, Y, *BOUNDS), (data(a), data(b, seed=1)), (A, B))
        yield Case("scaled", Compare("<=", A, B), (data(a), data(b, seed=1)), (A, B))
        for operation in ("+", "*", "//"):
            ins = (data(a, DType.S32), data(b, DType.S32, 1) % 5)
            yield Case("whole", WholeArithmetic(operation), ins, (None, None))
        wide = data(a, DType.S16), data(b, DType.S16, 1)
        yield Case("s16", Compare("!=", Quant(2.0**-9), Quant(2.0**-10)), wide, (Quant(2.0**-9), Quant(2.0**-10)))
        yield Case("plain", Compare("!=", None, None), (data(a, DType.S32) % 3, data(b, DType.S32) % 3), (None, None))


def tflite() -> Iterator[Case]:
    """Operators that have TFLite's definition only."""
    pairs = (((1, 4, 3, 2), (1, 4, 3, 2)), ((1, 4, 3, 2), (1, 1, 1, 2)), ((2, 1, 3, 2), (1, 4, 1, 2)))
    for a, b in pairs:
        yield Case("max", Extremum(True, A), (data(a), data(b, seed=1)), (A, A))
        yield Case("min", Extremum(False, A), (data(a, DType.S16), data(b, DType.S16, 1)), (A, A))
        square = SquaredDifference(A, B, Quant(1.0, -100), DType.S8, *BOUNDS)
        yield Case("s8", square, (data(a), data(b, seed=2)), (A, B))
        yield Case("s8", PRelu(A, B, Y, DType.S8), (data(a), data(b, seed=3)), (A, B))
    wide = Quant(2.0**-11)
    square = SquaredDifference(wide, wide, Quant(2.0**-6), DType.S16, -32768, 32767)
    yield Case("s16", square, (data((3, 4), DType.S16), data((4,), DType.S16)), (wide, wide))
    yield Case("arg", ArgExtremum(True), (data((1, 3, 4, 5)),), (A,))
    yield Case("arg", ArgExtremum(True, last=True), (data((1, 3, 4, 5)),), (A,))
    yield Case("arg", ArgExtremum(False), (data((7,), DType.U8),), (A,))
    yield from sums_and_pairs()
    flags = data((5, 3, 4), DType.U8) % 2
    yield Case("s8", Select(A), (flags, data((5, 3, 4)), data((5, 3, 4), seed=1)), (None, A, A))
    yield Case("one", Take(1), (data((5, 3, 4)), data((2, 6, 1), DType.S32)), (A, None))
    yield Case("two", Take(2), (data((5, 3, 4)), np.arange(14, dtype=np.int32).reshape(7, 2) % 4), (A, None))
    yield Case("s8", L2Norm(-5), (data((1, 3, 4, 9)),), (A,))
    yield Case(
        "s8", GlobalSum(-5, make_requant("tflite", 0.07, [1.0], Y, DType.S8), DType.S8, Y), (data((1, 3, 4, 5)),), (A,)
    )
    slopes = TwoSlopes(0, (1 << 30, -3), (1 << 30, -6), False, -32768, 32767, DType.S16, wide)
    yield Case("s16", slopes, (data((1, 3, 4, 5), DType.S16),), (wide,))
    yield Case("s16", Softmax16(1 << 30, 1), (data((1, 3, 2, 9), DType.S16),), (wide,))
    yield Case("s8", LogSoftmax(A, LOG_OUTPUT, DType.S8, "tflite"), (data((1, 3, 2, 9)),), (A,))
    yield Case("own", LogSoftmax(A, Y, DType.U8, "single"), (data((1, 3, 2, 9)),), (A,))
    pieces = piecewise_linear(np.tanh, "Tanh", wide, Y, DType.S8)
    yield Case("s16", pieces, (data((1, 3, 2, 9), DType.S16),), (wide,))
    yield Case("s16", Sigmoid16("tanh", 3, 0), (data((1, 3, 2, 9), DType.S16),), (wide,))


def pooling() -> Iterator[Case]:
    """MaxPool2D, AveragePool2D, GlobalAveragePool."""
    windows = (
        (Window(2, 2), Window(2, 2)),
        (Window(3, 2, 1, 1, 1), Window(3, 2, 1, 1, 1)),
        (Window(3, 1, 2, 2, 2), Window(2, 1, 1, 0, 1)),
    )
    for h, w in windows:
        for dtype in (DType.S8, DType.U8, DType.S16):
            yield Case(dtype.value, MaxPool2D(h, w), (data((1, 8, 7, 3), dtype),), (A,))
        for mode in MODES:
            for include_pad in (False, True):
                for y in (A, Y):
                    op = AveragePool2D(h, w, include_pad, A, y, DType.S8, *BOUNDS, mode)
                    yield Case(mode, op, (data((1, 8, 7, 3)),), (A,))
    for mode in MODES:
        yield Case(mode, GlobalAveragePool(A, Y, DType.S8, *BOUNDS, mode), (data((1, 5, 6, 4)),), (A,))


def tables() -> Iterator[Case]:
    """Lut, Softmax, Concat."""
    for mode in MODES:
        table = unary_table("Sigmoid", A, DType.S8, Y, DType.U8, mode)
        yield Case(mode, Lut(table, DType.U8, Y, "Sigmoid"), (data((1, 3, 4, 5)),), (A,))
        yield Case(mode, Softmax(A, Quant(1 / 256, -128), DType.S8, mode), (data((1, 3, 2, 10), DType.U8),), (A,))
        change = requantize_table(B, DType.U8, A, DType.S8, mode)
        for axis in range(4):
            shapes = [tuple(n + i * (a == axis) for a, n in enumerate((1, 3, 2, 4))) for i in (0, 1)]
            ins = data(shapes[0]), data(shapes[1], DType.U8)
            yield Case(f"{mode}-axis{axis}", Concat(axis, (None, change), DType.S8, A), ins, (A, B))
    pair = data((3, 2), DType.S32), data((3, 4), DType.S32)
    yield Case("s32", Concat(1, (None, None), DType.S32, None), pair, (None, None))


def movement() -> Iterator[Case]:
    """Everything that moves elements and computes nothing."""
    x = (1, 6, 4, 8)
    ops: tuple[tuple[Op, tuple[int, ...]], ...] = (
        (Reshape((1, 192)), x),
        (Reshape((6, 4, 8)), x),
        (Reshape((1, 4, 6, 8)), x),
        (Transpose((0, 3, 1, 2)), x),
        (Transpose((0, 1, 3, 2)), x),
        (Transpose((1, 0)), (3, 5)),
        (Slice((0, 1, 3, 2), (1, 2, 2, 3), (1, 2, -2, 2)), x),
        (Slice((0, 5, 0, 0), (1, 6, 4, 8), (1, -1, 1, 1)), x),
        (Slice((1, 0, 0), (1, 4, 8), (1, 1, 1)), (3, 4, 8)),
        (Slice((2,), (3,), (1,)), (7,)),
        (Gather(1, (5, 0, 0, 3)), x),
        (Gather(3, (7, 1)), x),
        (Gather(0, (2, 0, 1, 1)), (3, 5)),
        (Pad((0, 1, 2, 0), (0, 2, 0, 1), "constant", -5), x),
        (Pad((1, 1, 0, 0), (0, 2, 0, 0), "constant", 7), x),
        (Pad((0, 2, 1, 0), (0, 3, 3, 1), "edge", 0), x),
        (Pad((0, 2, 1, 3), (0, 5, 3, 1), "reflect", 0), x),
        (Pad((1, 2), (0, 1), "constant", 3), (4, 5)),
        (DepthToSpace(2, "DCR"), x),
        (DepthToSpace(2, "CRD"), (2, 3, 2, 4)),
        (SpaceToDepth(2), x),
        (SpaceToDepth(3), (2, 6, 3, 1)),
        (Broadcast((2, 3, 4, 5)), (3, 1, 5)),
        (Broadcast((1, 5, 2, 8)), (1, 1, 2, 8)),
    )
    for op, shape in ops:
        for dtype in (DType.S8, DType.F32):
            yield Case(dtype.value, op, (data(shape, dtype),), (A,))


def resizing() -> Iterator[Case]:
    """ResizeNearest and ResizeBilinear."""
    for rows in ((0, 0, 1, 1, 2, 2), (0, 2), (2, 0, 1, 1)):
        yield Case("s8", ResizeNearest(rows, (3, 0, 1)), (data((1, 3, 4, 2)),), (A,))
    yield Case("batch", ResizeNearest((0, 0, 1), (3, 0, 1)), (data((2, 3, 4, 2)),), (A,))
    h = ((0, 0, 0), (0, 1, 700), (1, 2, 2048), (2, 2, 900))
    w = ((0, 1, 5), (1, 1, 0), (2, 3, 1024))
    for mode in MODES:
        yield Case(mode, ResizeBilinear(h, w, A, Y, DType.S8, *BOUNDS, mode), (data((1, 3, 4, 2)),), (A,))


def borders() -> Iterator[Case]:
    """Quantize, Dequantize, Rescale."""
    real = data((1, 3, 2, 4), DType.F32)
    yield Case("s8", Quantize(DType.S8, Y), (real,), (None,))
    yield Case("s16", Quantize(DType.S16, Y), (real,), (None,))
    yield Case("u8", Dequantize(A), (data((1, 3, 2, 4), DType.U8),), (A,))
    yield Case("s32", Dequantize(A), (data((1, 3, 2, 4), DType.S32),), (A,))
    mode: Mode
    for mode in MODES:
        requant = make_requant(mode, 1e-8, [0.5, 1.0, 2.0, 3.0], Y, DType.S8)
        yield Case(mode, Rescale(requant, DType.S8, Y), (data((1, 3, 2, 4), DType.S32),), (None,))
