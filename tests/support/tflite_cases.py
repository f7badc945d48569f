"""Random models of one TFLite operator each: odd shapes, broadcasts, zero points at the ends of their type.

Each maker draws one model; `draw(name, kind, seed)` is always the same one.  What interpreters make of them is compared
in tests/e2e/test_tflite_operators.py.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial

import numpy as np

from codegen.ir.quant import Array
from tests.support.tflite_models import TYPES, Model

Rng = np.random.Generator
LIMITS = {"int8": (-128, 127), "uint8": (0, 255), "int16": (-32768, 32767)}


@dataclass(frozen=True)
class Drawn:
    """A drawn model, and inputs for it."""

    data: bytes
    inputs: tuple[tuple[Array, ...], ...]


class Draw(Model):
    """A model under construction with the source of its numbers; `kind` is the type of its activations.

    `widest`: rows and columns of a convolution's window at most.
    """

    widest = 3

    def __init__(self, rng: Rng, kind: str) -> None:
        super().__init__()
        self.rng = rng
        self.kind = kind

    def size(self, low: int = 1, high: int = 7) -> int:
        return int(self.rng.integers(low, high + 1))

    def shape(self, rank: int | None = None, high: int = 6) -> tuple[int, ...]:
        """[1, ...] with sizes up to `high`."""
        rank = int(self.rng.integers(1, 5)) if rank is None else rank
        return (1, *(self.size(1, high) for _ in range(rank - 1)))

    def pick(self, *items: object) -> object:
        return items[int(self.rng.integers(len(items)))]

    def flag(self) -> bool:
        return bool(self.rng.integers(2))

    def zero(self) -> int:
        """A zero point, often at an end of the type."""
        low, high = LIMITS[self.kind]
        if self.kind == "int16":
            return 0
        return int(self.pick(low, high, 0, int(self.rng.integers(low, high + 1))))  # type: ignore[call-overload]

    def scale(self, low: float = 0.003, high: float = 0.3) -> float:
        span = np.exp(self.rng.uniform(np.log(low), np.log(high)))
        return float(np.float32(span if self.kind != "int16" else span / 200))

    def weight_scales(self, count: int) -> Array:
        return np.exp(self.rng.uniform(np.log(0.001), np.log(0.02), count)).astype(np.float32)

    def ints(self, shape: tuple[int, ...], kind: str = "") -> Array:
        low, high = LIMITS[kind or self.kind]
        return self.rng.integers(low, high + 1, shape).astype(kind or self.kind)

    def x(self, shape: tuple[int, ...], scale: float | None = None, zero: int | None = None) -> int:
        """An input with a scale of its own."""
        return self.input(
            shape, self.kind, self.scale() if scale is None else scale, self.zero() if zero is None else zero
        )

    def y(self, shape: tuple[int, ...], scale: float | None = None, zero: int | None = None) -> int:
        """An output with a scale of its own."""
        return self.output(
            shape, self.kind, self.scale() if scale is None else scale, self.zero() if zero is None else zero
        )

    def meaning(self, place: int) -> tuple[float, int]:
        """Scale and zero point of a tensor."""
        spec = self.graph.tensors[place]
        return float(spec.scale[0]), int(spec.zero[0])

    def like(self, place: int, shape: tuple[int, ...]) -> int:
        """An output of the same meaning as a tensor."""
        return self.y(shape, *self.meaning(place))

    def case(self, samples: int = 4) -> Drawn:
        """The model with random inputs, and with all lowest and all highest numbers."""
        specs = [self.graph.tensors[i] for i in self.graph.inputs]
        found = [tuple(_values(self.rng, s.shape, s.kind) for s in specs) for _ in range(samples)]
        for end in (0, 1):
            found.append(tuple(_end(s.shape, s.kind, end) for s in specs))
        return Drawn(self.bytes(), tuple(found))


def _values(rng: Rng, shape: tuple[int, ...], kind: str) -> Array:
    if kind == "int32":
        return (rng.integers(-(2**31), 2**31, shape) >> rng.integers(0, 31)).astype(kind)
    if kind == "float32":
        return (rng.standard_normal(shape) * 3).astype(np.float32)
    low, high = LIMITS[kind]
    return rng.integers(low, high + 1, shape).astype(kind)


def _end(shape: tuple[int, ...], kind: str, end: int) -> Array:
    return np.full(shape, (-9.0, 9.0)[end] if kind == "float32" else LIMITS[kind][end], kind)


ACTIVATIONS = (0, 1, 2, 3)


def same_or_valid(d: Draw, length: int, size: int, stride: int, padding: int) -> int:
    """Output positions of a window."""
    return -(-length // stride) if padding == 0 else (length - size) // stride + 1


def weights(d: Draw, shape: tuple[int, ...], axis: int, per_channel: bool) -> tuple[int, Array]:
    """Constant weights and their scales."""
    count = shape[axis] if per_channel else 1
    scales = d.weight_scales(count)
    if d.kind == "uint8":
        return d.const(d.ints(shape), scales[:1], d.zero(), axis=axis), scales[:1]
    data = d.ints(shape, "int8")
    data[data == -128] = -127
    return d.const(data, scales, 0, axis=axis), scales


def bias(d: Draw, outputs: int, x_scale: float, scales: Array, *, either: bool = False) -> int:
    """Constant biases; for int16 activations sometimes of 32 bits where an operator takes `either` type."""
    kind = "int64" if d.kind == "int16" and not (either and d.flag()) else "int32"
    data = d.rng.integers(-3000, 3000, outputs).astype(kind)
    return d.const(data, np.float32(x_scale) * scales, 0)


def conv_2d(d: Draw) -> Drawn:
    h, w, c, o = d.size(), d.size(), d.size(1, 5), d.size(1, 6)
    groups = 1 if d.flag() or d.kind == "uint8" else c
    o = o * groups if groups > 1 else o
    padding = int(d.rng.integers(2))
    kh, kw = d.size(1, min(d.widest, h)), d.size(1, min(d.widest, w))
    dh, dw = (d.size(1, 2) if (k - 1) * 2 < n else 1 for k, n in ((kh, h), (kw, w)))
    sh, sw = (1 if e > 1 else d.size(1, 2) for e in (dh, dw))
    x = d.x((1, h, w, c))
    place, scales = weights(d, (o, kh, kw, c // groups), 0, d.flag())
    inputs = [x, place] + ([bias(d, o, d.meaning(x)[0], scales, either=True)] if d.flag() or d.kind == "uint8" else [])
    oh, ow = (same_or_valid(d, n, (k - 1) * e + 1, s, padding) for n, k, e, s in ((h, kh, dh, sh), (w, kw, dw, sw)))
    fields = {"Padding": padding, "StrideH": sh, "StrideW": sw, "DilationHFactor": dh, "DilationWFactor": dw}
    d.op(
        "CONV_2D",
        inputs,
        [d.y((1, oh, ow, o), d.scale(0.02, 1.0))],
        "Conv2DOptions",
        FusedActivationFunction=d.pick(*ACTIVATIONS),
        **fields,
    )
    return d.case()


def depthwise_conv_2d(d: Draw) -> Drawn:
    h, w, c, m = d.size(), d.size(), d.size(1, 5), d.size(1, 3)
    padding = int(d.rng.integers(2))
    kh, kw = d.size(1, min(d.widest, h)), d.size(1, min(d.widest, w))
    stride = d.size(1, 2)
    x = d.x((1, h, w, c))
    place, scales = weights(d, (1, kh, kw, c * m), 3, d.flag())
    oh, ow = (same_or_valid(d, n, k, stride, padding) for n, k in ((h, kh), (w, kw)))
    d.op(
        "DEPTHWISE_CONV_2D",
        [x, place, bias(d, c * m, d.meaning(x)[0], scales)],
        [d.y((1, oh, ow, c * m), d.scale(0.02, 1.0))],
        "DepthwiseConv2DOptions",
        Padding=padding,
        StrideH=stride,
        StrideW=stride,
        DepthMultiplier=m,
        DilationHFactor=1,
        DilationWFactor=1,
        FusedActivationFunction=d.pick(*ACTIVATIONS),
    )
    return d.case()


def fully_connected(d: Draw) -> Drawn:
    depth, outputs, batch = d.size(1, 40), d.size(1, 9), d.size(1, 3)
    keep = d.flag()
    x = d.x((batch, depth) if not keep else (1, batch, depth))
    place, scales = weights(d, (outputs, depth), 0, d.kind != "int16" and d.flag())
    inputs = [x, place] + ([bias(d, outputs, d.meaning(x)[0], scales, either=True)] if d.flag() else [])
    d.op(
        "FULLY_CONNECTED",
        inputs,
        [d.y((1, batch, outputs) if keep else (batch, outputs), d.scale(0.02, 1.0))],
        "FullyConnectedOptions",
        KeepNumDims=keep,
        FusedActivationFunction=d.pick(*ACTIVATIONS),
        version=4,
    )
    return d.case()


def pool(name: str) -> Callable[[Draw], Drawn]:
    def make(d: Draw) -> Drawn:
        h, w, c = d.size(), d.size(), d.size(1, 20)
        padding = int(d.rng.integers(2))
        kh, kw, sh, sw = d.size(1, h), d.size(1, w), d.size(1, 3), d.size(1, 3)
        x = d.x((1, h, w, c))
        oh, ow = (same_or_valid(d, n, k, s, padding) for n, k, s in ((h, kh, sh), (w, kw, sw)))
        d.op(
            name,
            [x],
            [d.like(x, (1, oh, ow, c))],
            "Pool2DOptions",
            Padding=padding,
            StrideH=sh,
            StrideW=sw,
            FilterHeight=kh,
            FilterWidth=kw,
            FusedActivationFunction=d.pick(*ACTIVATIONS),
        )
        return d.case()

    return make


def broadcast_pair(d: Draw) -> tuple[tuple[int, ...], tuple[int, ...], tuple[int, ...]]:
    """Two shapes, and the one they broadcast to."""
    full = d.shape(d.size(1, 4))
    if d.flag():
        full = (*full, 300) if d.flag() else full  # many numbers, to meet the rare ones that round otherwise
        return full, full, full
    a, b = (tuple(1 if d.flag() else n for n in full) for _ in range(2))
    if d.flag():
        b = b[d.size(0, len(b) - 1) :]
    padded = (1,) * (len(a) - len(b)) + b
    return a, b, tuple(max(n, m) for n, m in zip(a, padded, strict=True))


def binary(name: str, options: str = "", fields: bool = True, same: bool = False) -> Callable[[Draw], Drawn]:
    def make(d: Draw) -> Drawn:
        a_shape, b_shape, y_shape = broadcast_pair(d)
        a = d.x(a_shape)
        scale, zero = d.meaning(a) if same else (d.scale(), d.zero())
        constant = d.flag()
        b = d.const(d.ints(b_shape), scale, zero) if constant else d.x(b_shape, scale, zero)
        y = d.like(a, y_shape) if same else d.y(y_shape, d.scale(0.005, 0.5))
        operands = [a, b] if d.flag() or not constant else [b, a]
        told = {"FusedActivationFunction": d.pick(*ACTIVATIONS)} if options and fields else {}
        d.op(name, operands, [y], options, **told)
        return d.case()

    return make


def softmax(d: Draw) -> Drawn:
    shape = (d.size(1, 3), d.size(1, 40))
    out = "int16" if d.kind == "int16" else str(d.pick("int8", "int8", "int16") if d.kind == "int8" else d.kind)
    scale, zero = (1 / 65536, -32768) if out == "int16" else (1 / 256, LIMITS[out][0])
    if d.kind == "int16":
        scale, zero = 1 / 32768, 0
    x = d.x(shape, d.scale(0.005, 2.0) * (1 if d.kind != "int16" else 3))
    d.op("SOFTMAX", [x], [d.output(shape, out, scale, zero)], "SoftmaxOptions", Beta=float(d.pick(1.0, 1.0, 0.5, 2.5)))  # type: ignore[arg-type]
    return d.case()


def reduced(d: Draw, shape: tuple[int, ...]) -> tuple[tuple[int, ...], bool, tuple[int, ...]]:
    """Axes, whether they are kept, and the result's shape."""
    axes = tuple(int(a) for a in np.flatnonzero(d.rng.integers(0, 2, len(shape)))) or (len(shape) - 1,)
    keep = d.flag()
    result = tuple(1 if i in axes else n for i, n in enumerate(shape) if keep or i not in axes)
    given = tuple(a - len(shape) if d.flag() else a for a in axes)
    return given, keep, result


def reduction(name: str, same: bool = False) -> Callable[[Draw], Drawn]:
    def make(d: Draw) -> Drawn:
        shape = d.shape(d.size(2, 4))
        shape = (*shape[:-1], 90) if d.flag() else shape
        axes, keep, result = reduced(d, shape)
        x = d.x(shape)
        y = d.like(x, result) if same or d.flag() else d.y(result)
        d.op(name, [x, d.const(np.array(axes, np.int32))], [y], "ReducerOptions", KeepDims=keep)
        return d.case()

    return make


def pad(name: str) -> Callable[[Draw], Drawn]:
    def make(d: Draw) -> Drawn:
        shape = d.shape(d.size(1, 4))
        pads = d.rng.integers(0, 3, (len(shape), 2)).astype(np.int32)
        x = d.x(shape)
        inputs = [x, d.const(pads)]
        if name == "PADV2":
            inputs.append(d.const(d.ints((1,)), *d.meaning(x)))
        y = d.like(x, tuple(int(n + p.sum()) for n, p in zip(shape, pads, strict=True)))
        d.op(name, inputs, [y], "PadOptions" if name == "PAD" else "PadV2Options")
        return d.case()

    return make


def unary(
    name: str, options: str = "", same: bool = False, output: tuple[float, int] | None = None, **fields: float
) -> Callable[[Draw], Drawn]:
    def make(d: Draw) -> Drawn:
        shape = (1, 256 if d.kind != "int16" else 4096)
        x = d.x(shape)
        y = d.like(x, shape) if same or d.rng.integers(4) == 0 else d.y(shape)
        if output is not None:
            d.graph.tensors[y].scale[:] = output[0] if d.kind != "int16" else 2.0**-15
            d.graph.tensors[y].zero = np.array(
                [output[1] + {"int8": 0, "uint8": 128}[d.kind] if d.kind != "int16" else 0]
            )
        told = {key: value if value is True else float(d.rng.uniform(0, value)) for key, value in fields.items()}
        d.op(name, [x], [y], options, **told)
        case, (low, high) = d.case(2), LIMITS[d.kind]
        sweep = np.linspace(low, high, shape[1]).round().astype(d.kind)
        return Drawn(case.data, (*case.inputs, (sweep[None],)))

    return make


def from_zero(name: str) -> Callable[[Draw], Drawn]:
    """A function that has no numbers below zero."""

    def make(d: Draw) -> Drawn:
        shape = d.shape()
        x = d.x(shape, None, 0 if d.kind == "int16" else LIMITS[d.kind][0])
        d.op(name, [x], [d.y(shape)])
        case = d.case()
        if d.kind != "int16":
            return case
        return Drawn(case.data, tuple(tuple(v & LIMITS[d.kind][1] for v in inputs) for inputs in case.inputs))

    return make


def quantize(d: Draw) -> Drawn:
    shape = (1, 1000)
    out = str(d.pick("int8", "int16", "int8"))
    x = d.x(shape)
    zero = 0 if out == "int16" else int(d.rng.integers(-128, 128))
    d.op("QUANTIZE", [x], [d.output(shape, out, d.scale(), zero)])
    return d.case()


def quantize_real(d: Draw) -> Drawn:
    shape = d.shape()
    x = d.input(shape, "float32")
    d.op("QUANTIZE", [x], [d.y(shape, float(d.pick(0.5, 0.25, d.scale())))])  # type: ignore[arg-type]
    case = d.case()
    return Drawn(case.data, (*case.inputs, (np.round(case.inputs[0][0] * 8) / np.float32(8),)))


def dequantize(d: Draw) -> Drawn:
    shape = d.shape()
    x = d.x(shape)
    d.op("DEQUANTIZE", [x], [d.output(shape, "float32")])
    return d.case()


def prelu(d: Draw) -> Drawn:
    shape = (*d.shape(3), 100)
    x = d.x(shape)
    slope_shape = (1, 1, shape[3]) if d.flag() else shape[1:]
    slope = d.const(d.ints(slope_shape), d.scale(0.001, 0.02), d.zero())
    d.op("PRELU", [x, slope], [d.y(shape)])
    return d.case()


def concatenation(d: Draw) -> Drawn:
    shape = list(d.shape(d.size(1, 4)))
    axis = int(d.rng.integers(len(shape)))
    scale, zero = d.scale(), d.zero()
    parts = []
    total = 0
    for _ in range(d.size(1, 4)):
        shape[axis] = d.size(1, 4)
        total += shape[axis]
        constant = len(parts) > 0 and d.flag()
        parts.append(d.const(d.ints(tuple(shape)), scale, zero) if constant else d.x(tuple(shape), scale, zero))
    shape[axis] = total
    y = d.y(tuple(shape), scale, zero)
    told = axis - len(shape) if d.flag() else axis
    d.op("CONCATENATION", parts, [y], "ConcatenationOptions", Axis=told)
    return d.case()


def split(d: Draw) -> Drawn:
    shape = list(d.shape(d.size(1, 4)))
    axis = int(d.rng.integers(len(shape)))
    count = d.size(1, 3)
    shape[axis] = count * d.size(1, 3)
    x = d.x(tuple(shape))
    shape[axis] //= count
    outputs = [d.like(x, tuple(shape)) for _ in range(count)]
    d.op("SPLIT", [d.const(np.array([axis], np.int32)), x], outputs, "SplitOptions", NumSplits=count)
    return d.case()


def split_v(d: Draw) -> Drawn:
    shape = list(d.shape(d.size(1, 4)))
    axis = int(d.rng.integers(len(shape)))
    sizes = [d.size(1, 3) for _ in range(d.size(1, 3))]
    shape[axis] = sum(sizes)
    x = d.x(tuple(shape))
    outputs = []
    for n in sizes:
        shape[axis] = n
        outputs.append(d.like(x, tuple(shape)))
    inputs = [x, d.const(np.array(sizes, np.int32)), d.const(np.array([axis], np.int32))]
    d.op("SPLIT_V", inputs, outputs, "SplitVOptions", NumSplits=len(sizes))
    return d.case()


def slice_op(d: Draw) -> Drawn:
    shape = d.shape(d.size(1, 4))
    starts = [int(d.rng.integers(n)) for n in shape]
    sizes = [int(d.rng.integers(1, n - s + 1)) for n, s in zip(shape, starts, strict=True)]
    given = [-1 if d.flag() and s + z == n else z for n, s, z in zip(shape, starts, sizes, strict=True)]
    x = d.x(shape)
    inputs = [x, d.const(np.array(starts, np.int32)), d.const(np.array(given, np.int32))]
    d.op("SLICE", inputs, [d.like(x, tuple(sizes))], "SliceOptions")
    return d.case()


def strided_slice(d: Draw) -> Drawn:
    shape = d.shape(d.size(1, 4))
    begin, end, step, result = [], [], [], []
    masks = [0, 0, 0]
    for axis, n in enumerate(shape):
        s = int(d.pick(1, 1, 2, -1))  # type: ignore[call-overload]
        first, last = sorted(int(v) for v in d.rng.integers(0, n, 2))
        b, e = (first, last + 1) if s > 0 else (last, first - 1)
        low, high, shrink = (bool(d.rng.integers(4) == 0) for _ in range(3))
        picked = list(range(n))[slice(None if low else b, None if high or e < 0 else e, s)]
        high = high or e < 0
        if shrink and len(shape) > 1 and len(result) + len(shape) - axis > 1 and not low:
            picked, s, masks[2] = [b], 1, masks[2] | 1 << axis
            e = b + 1
        else:
            result.append(len(picked))
        masks[0] |= low << axis
        masks[1] |= high << axis
        begin.append(b - n if d.flag() and s > 0 and not low else b)
        end.append(e)
        step.append(s)
    x = d.x(shape)
    inputs = [x, *(d.const(np.array(v, np.int32)) for v in (begin, end, step))]
    d.op(
        "STRIDED_SLICE",
        inputs,
        [d.like(x, tuple(result))],
        "StridedSliceOptions",
        BeginMask=masks[0],
        EndMask=masks[1],
        ShrinkAxisMask=masks[2],
    )
    return d.case()


def pack(d: Draw) -> Drawn:
    shape = d.shape(d.size(1, 3))
    axis, count = d.size(0, len(shape)), d.size(1, 3)
    scale, zero = d.scale(), d.zero()
    parts = [d.x(shape, scale, zero) for _ in range(count)]
    y = d.y((*shape[:axis], count, *shape[axis:]), scale, zero)
    d.op("PACK", parts, [y], "PackOptions", Axis=axis, ValuesCount=count)
    return d.case()


def unpack(d: Draw) -> Drawn:
    shape = d.shape(d.size(2, 4), 4)
    axis = d.size(0, len(shape) - 1)
    x = d.x(shape)
    outputs = [d.like(x, (*shape[:axis], *shape[axis + 1 :])) for _ in range(shape[axis])]
    d.op("UNPACK", [x], outputs, "UnpackOptions", Axis=axis, Num=shape[axis])
    return d.case()


def gather(d: Draw) -> Drawn:
    shape = d.shape(d.size(1, 4))
    axis = d.size(0, len(shape) - 1)
    positions = d.rng.integers(0, shape[axis], d.size(1, 5)).astype(np.int32)
    x = d.x(shape)
    y = d.like(x, (*shape[:axis], len(positions), *shape[axis + 1 :]))
    d.op("GATHER", [x, d.const(positions)], [y], "GatherOptions", Axis=axis, BatchDims=0)
    return d.case()


def gather_of_batches(d: Draw) -> Drawn:
    """Positions of their own for each entry of the first axes, known or computed."""
    shape = d.shape(d.size(2, 4))
    axis = d.size(1, len(shape) - 1)
    batch = d.size(1, axis)
    places = (*shape[:batch], *(d.size(1, 3) for _ in range(d.size(0, 2))))
    x, y_shape = d.x(shape), (*shape[:axis], *places[batch:], *shape[axis + 1 :])
    picks = [d.rng.integers(0, shape[axis], places).astype(np.int32) for _ in range(4)]
    known = d.flag()
    p = d.const(picks[0]) if known else d.input(places, "int32")
    d.op("GATHER", [x, p], [d.like(x, y_shape)], "GatherOptions", Axis=axis, BatchDims=batch)
    return d.case() if known else Drawn(d.bytes(), tuple((d.ints(shape), pick) for pick in picks))


def reverse_sequence(d: Draw) -> Drawn:
    """Lengths come in, from 0 to all."""
    shape = d.shape(d.size(2, 4))
    time, batch = d.rng.permutation(len(shape))[:2].tolist()
    x, p = d.x(shape), d.input((shape[batch],), "int32")
    told = {"SeqDim": time, "BatchDim": batch}
    d.op("REVERSE_SEQUENCE", [x, p], [d.like(x, shape)], "ReverseSequenceOptions", **told)
    lengths = [d.rng.integers(0, shape[time] + 1, shape[batch]).astype(np.int32) for _ in range(4)]
    return Drawn(d.bytes(), tuple((d.ints(shape), n) for n in lengths))


def gather_nd(d: Draw) -> Drawn:
    shape = d.shape(d.size(2, 4))
    depth, count = d.size(1, len(shape)), d.size(1, 5)
    points = np.stack([d.rng.integers(0, n, count) for n in shape[:depth]], 1).astype(np.int32)
    x = d.x(shape)
    d.op("GATHER_ND", [x, d.const(points)], [d.like(x, (count, *shape[depth:]))], "GatherNdOptions")
    return d.case()


def computed_positions(name: str, kind: str = "int32", cast: str = "") -> Callable[[Draw], Drawn]:
    """Positions come in as an input, all of them inside, and are cast to another type where one is given."""

    def make(d: Draw) -> Drawn:
        shape, count = d.shape(d.size(2, 4)), d.size(1, 5)
        depth, axis = (d.size(1, len(shape)), 0) if name == "GATHER_ND" else (1, d.size(0, len(shape) - 1))
        axis = 0 if name == "EMBEDDING_LOOKUP" else axis
        table = name == "EMBEDDING_LOOKUP" or d.flag()
        x = d.const(d.ints(shape), 0.1, 3) if table else d.x(shape, 0.1, 3)
        p = d.input((count, depth) if name == "GATHER_ND" else (count,), kind)
        y = d.y((*shape[:axis], count, *shape[axis + depth :]), 0.1, 3)
        options = {"GATHER": "GatherOptions", "GATHER_ND": "GatherNdOptions"}.get(name, "")
        told = {"Axis": axis, "BatchDims": 0} if name == "GATHER" else {}
        at = d.tensor(d.graph.tensors[p].shape, cast) if cast else p
        if cast:
            d.op("CAST", [p], [at], "CastOptions", InDataType=TYPES[kind], OutDataType=TYPES[cast])
        d.op(name, [at, x] if name == "EMBEDDING_LOOKUP" else [x, at], [y], options, **told)
        picks = [np.stack([d.rng.integers(0, n, count) for n in shape[axis : axis + depth]], 1) for _ in range(4)]
        places = [v.astype(kind).reshape(d.graph.tensors[p].shape) for v in picks]
        return Drawn(d.bytes(), tuple((v,) if table else (d.ints(shape), v) for v in places))

    return make


def comparison(name: str) -> Callable[[Draw], Drawn]:
    def make(d: Draw) -> Drawn:
        x = d.x((1, 256))
        one = d.const(d.ints((1,)), d.scale(), d.zero())
        y = d.output((1, 256), "bool")
        d.op(name, [x, one] if d.flag() else [one, x], [y], f"{name.title().replace('_', '')}Options")
        case = d.case(2)
        return Drawn(case.data, (*case.inputs, (np.arange(-128, 128).astype(np.int8)[None],)))

    return make


def computed_comparison(name: str) -> Callable[[Draw], Drawn]:
    def make(d: Draw) -> Drawn:
        a_shape, b_shape, shape = broadcast_pair(d)
        a = d.x(a_shape)
        scale, zero = d.meaning(a) if d.flag() else (d.scale(), d.zero())
        many = d.const(d.ints(b_shape), scale, zero) if np.prod(b_shape) > 1 and d.flag() else d.x(b_shape, scale, zero)
        d.op(name, [a, many], [d.output(shape, "bool")], f"{name.title().replace('_', '')}Options")
        return d.case()

    return make


def compared_positions(d: Draw) -> Drawn:
    """Whole numbers without a scale: where two tensors are largest."""
    shape = d.shape(3)
    axis = d.const(np.array([2], np.int32))
    places = []
    for _ in range(2):
        places.append(d.tensor(shape[:2], "int32"))
        d.op("ARG_MAX", [d.x(shape), axis], [places[-1]], "ArgMaxOptions", OutputType=2)
    d.op("GREATER_EQUAL", places, [d.output(shape[:2], "bool")], "GreaterEqualOptions")
    return d.case()


def whole_arithmetic(name: str, options: str = "", fields: bool = False) -> Callable[[Draw], Drawn]:
    """Of plain numbers, large ones too; divisors are never 0."""

    def make(d: Draw) -> Drawn:
        a_shape, b_shape, shape = broadcast_pair(d)
        a = d.input(a_shape, "int32")
        constant = d.flag()
        b = d.const(_divisors(d, b_shape)) if constant else d.input(b_shape, "int32")
        swapped = name not in DIVISIONS and constant and d.flag()
        told = {"FusedActivationFunction": d.pick(*ACTIVATIONS)} if fields else {}
        d.op(name, [b, a] if swapped else [a, b], [d.output(shape, "int32")], options, **told)
        samples = [(_values(d.rng, a_shape, "int32"), _divisors(d, b_shape)) for _ in range(4)]
        return Drawn(d.bytes(), tuple((x,) if constant else (x, y) for x, y in samples))

    return make


DIVISIONS = ("DIV", "FLOOR_DIV", "FLOOR_MOD")


def _divisors(d: Draw, shape: tuple[int, ...]) -> Array:
    """Any number but 0 and -1, by which the lowest one cannot be divided."""
    found = _values(d.rng, shape, "int32")
    return np.where((found == 0) | (found == -1), np.int32(3), found)


def whole_function(name: str, options: str) -> Callable[[Draw], Drawn]:
    def make(d: Draw) -> Drawn:
        shape = d.shape()
        d.op(name, [d.input(shape, "int32")], [d.output(shape, "int32")], options)
        return Drawn(d.bytes(), tuple((_values(d.rng, shape, "int32"),) for _ in range(4)))

    return make


def top_k(d: Draw) -> Drawn:
    shape = d.shape(d.size(1, 3), 20)
    shape = (*shape[:-1], d.size(1, 20))
    count = d.size(1, shape[-1])
    x = d.x(shape)
    outputs = [d.like(x, (*shape[:-1], count)), d.output((*shape[:-1], count), "int32")]
    d.op("TOPK_V2", [x, d.const(np.array(count, np.int32))], outputs, "TopKV2Options", version=2)
    case = d.case()
    few = tuple((x // 40 * 40).astype(x.dtype) for x in case.inputs[0])  # many equal ones
    return Drawn(case.data, (*case.inputs, few))


def one_hot(d: Draw) -> Drawn:
    shape, depth = d.shape(d.size(1, 3)), d.size(1, 9)
    axis, meaning = d.size(0, len(shape)), (d.scale(), d.zero())
    kind = str(d.pick(d.kind, d.kind, "int32", "bool"))
    known = () if kind in ("int32", "bool") else meaning

    def number(low: int, high: int) -> int:
        value = np.array(d.rng.integers(low, high + 1)).astype(kind)
        return d.tensor((), kind, *known, data=value)

    ends = (0, 1) if kind == "bool" else LIMITS.get(kind, (-(2**31), 2**31 - 1))
    inputs = [d.input(shape, "int32"), d.const(np.array(depth, np.int32)), number(*ends), number(*ends)]
    y = d.output((*shape[:axis], depth, *shape[axis:]), kind, *known)
    d.op("ONE_HOT", inputs, [y], "OneHotOptions", Axis=-1 if axis == len(shape) else axis)
    return Drawn(d.bytes(), tuple((d.rng.integers(-1, depth + 1, shape).astype(np.int32),) for _ in range(5)))


def update_slice(d: Draw) -> Drawn:
    """At places before the first and behind the last one, too."""
    shape = d.shape(d.size(1, 4))
    box = tuple(d.size(1, n) for n in shape)
    starts = np.array([int(d.rng.integers(-1, n + 1)) for n in shape], np.int32)
    x = d.x(shape)
    inputs = [x, d.x(box, *d.meaning(x)), d.const(starts)]
    d.op("DYNAMIC_UPDATE_SLICE", inputs, [d.like(x, shape)], "DynamicUpdateSliceOptions", version=2)
    return d.case()


def update_at_computed(kind: str = "") -> Callable[[Draw], Drawn]:
    """The place comes in as an input, also before the first and behind the last one; `kind` has no scale."""

    def make(d: Draw) -> Drawn:
        shape = d.shape(d.size(1, 4)) if d.flag() else tuple(d.size(1, 5) for _ in range(d.size(1, 4)))
        box, held = tuple(d.size(1, n) for n in shape), kind or d.kind
        meaning = () if kind else (d.scale(), d.zero())
        known = d.pick(-1, -1, 0, 1)  # which of both is a constant

        def numbers(index: int) -> Array:
            return _values(d.rng, (shape, box)[index], held)

        def place(index: int) -> int:
            size = (shape, box)[index]
            constant = {"data": numbers(index)} if index == known else {}
            return d.tensor(size, held, *meaning, **constant) if constant else d.input(size, held, *meaning)

        inputs = [place(0), place(1), d.input((len(shape),), "int32")]
        d.op("DYNAMIC_UPDATE_SLICE", inputs, [d.output(shape, held, *meaning)], "DynamicUpdateSliceOptions", version=2)
        starts = [np.array([d.rng.integers(-2, n + 3) for n in shape], np.int32) for _ in range(4)]
        starts += [np.full(len(shape), end, np.int32) for end in (-(2**31), 2**31 - 1)]
        given = tuple((*(numbers(i) for i in (0, 1) if i != known), start) for start in starts)
        return Drawn(d.bytes(), given)

    return make


def strided_slice_offset(d: Draw) -> Drawn:
    """Ends that count from the starts."""
    shape = d.shape(d.size(1, 4))
    starts = [int(d.rng.integers(n)) for n in shape]
    sizes = [int(d.rng.integers(1, n - s + 1)) for n, s in zip(shape, starts, strict=True)]
    given = [s - n if d.flag() else s for n, s in zip(shape, starts, strict=True)]
    x = d.x(shape)
    inputs = [x, *(d.const(np.array(v, np.int32)) for v in (given, sizes, [1] * len(shape)))]
    d.op("STRIDED_SLICE", inputs, [d.like(x, tuple(sizes))], "StridedSliceOptions", version=4, Offset=True)
    return d.case()


def add_n(d: Draw) -> Drawn:
    shape, scale, zero = d.shape(d.size(1, 4)), d.scale(), d.zero()
    terms = [d.x(shape, scale, zero) for _ in range(d.size(2, 5))]
    if d.flag():
        terms[0] = d.const(d.ints(shape), scale, zero)
    d.op("ADD_N", terms, [d.y(shape, d.scale(0.01, 0.6))], "AddNOptions")
    return d.case()


def cumsum(d: Draw) -> Drawn:
    shape = d.shape(d.size(1, 4), 30)
    axis = d.const(np.array([d.size(0, len(shape) - 1)], np.int32))
    ways = {"Exclusive": d.flag(), "Reverse": d.flag()}
    d.op("CUMSUM", [d.x(shape), axis], [d.y(shape, d.scale(0.02, 0.9))], "CumsumOptions", **ways)
    return d.case()


def div(d: Draw) -> Drawn:
    """Where TFLite's shifts stay within 31: no divisor is 0, and no dividend is small."""
    a_shape, b_shape, shape = broadcast_pair(d)
    scale = d.scale(0.05, 0.5)
    a, b = d.x(a_shape, scale, -128), d.x(b_shape, scale, int(d.pick(-128, 127)))  # type: ignore[call-overload]
    activation = d.pick(*ACTIVATIONS)
    d.op("DIV", [a, b], [d.y(shape, d.scale(0.005, 0.5))], "DivOptions", FusedActivationFunction=activation)
    samples = tuple(
        tuple((d.ints(s) // low + high).astype(np.int8) for s, low, high in ((a_shape, 2, 63), (b_shape, 2, 0)))
        for _ in range(3)
    )
    return Drawn(d.case().data, samples)


def logical(name: str) -> Callable[[Draw], Drawn]:
    """Of flags that comparisons make."""

    def make(d: Draw) -> Drawn:
        shape = d.shape(d.size(1, 4))
        places = []
        for _ in range(1 if name == "LOGICAL_NOT" else 2):
            places.append(d.tensor(shape, "bool"))
            d.op("GREATER", [d.x(shape), d.const(d.ints((1,)), d.scale(), d.zero())], [places[-1]], "GreaterOptions")
        d.op(name, places, [d.output(shape, "bool")], f"{name.title().replace('_', '')}Options")
        return d.case()

    return make


def select(d: Draw) -> Drawn:
    a_shape, b_shape, shape = broadcast_pair(d)
    flag = d.tensor(shape, "bool")
    d.op("LESS", [d.x(shape), d.const(d.ints((1,)), d.scale(), d.zero())], [flag], "LessOptions")
    scale, zero = d.scale(), d.zero()
    a = d.const(d.ints(a_shape), scale, zero) if d.flag() else d.x(a_shape, scale, zero)
    d.op("SELECT_V2", [flag, a, d.x(b_shape, scale, zero)], [d.y(shape, scale, zero)], "SelectV2Options")
    return d.case()


def tile(d: Draw) -> Drawn:
    shape = d.shape(d.size(1, 4), 4)
    counts = d.rng.integers(1, 4, len(shape)).astype(np.int32)
    x = d.x(shape)
    y = d.like(x, tuple(int(n * c) for n, c in zip(shape, counts, strict=True)))
    d.op("TILE", [x, d.const(counts)], [y], "TileOptions")
    return d.case()


def broadcast_to(d: Draw) -> Drawn:
    _, part, full = broadcast_pair(d)
    x = d.x(part)
    inputs = [x, d.const(np.array(full, np.int32))]
    d.op("BROADCAST_TO", inputs, [d.like(x, full)], "BroadcastToOptions", version=2)
    return d.case()


def reverse(d: Draw) -> Drawn:
    shape = d.shape(d.size(1, 4))
    first = d.size(0, len(shape) - 1)
    axes = np.arange(first, d.size(first, len(shape) - 1) + 1, dtype=np.int32)
    x = d.x(shape)
    d.op("REVERSE_V2", [x, d.const(axes)], [d.like(x, shape)], "ReverseV2Options", version=3)
    return d.case()


def strided_slice_masks(d: Draw) -> Drawn:
    """x[first, ..., None, a:b]."""
    shape = d.shape(d.size(3, 4))
    x, n = d.x((d.size(1, 3), *shape[1:])), shape[-1]
    start = int(d.rng.integers(n))
    length = int(d.rng.integers(1, n - start + 1))
    first = d.size(0, d.graph.tensors[x].shape[0] - 1)
    lists = [(first, 0, 0, start), (first + 1, 0, 0, start + length)]
    inputs = [x, *(d.const(np.array(v, np.int32)) for v in (*lists, (1, 1, 1, 1)))]
    masks = {"EllipsisMask": 2, "NewAxisMask": 4, "ShrinkAxisMask": 1}
    y = d.like(x, (*shape[1:-1], 1, length))
    d.op("STRIDED_SLICE", inputs, [y], "StridedSliceOptions", version=4, **masks)
    return d.case()


def space_to_batch(d: Draw) -> Drawn:
    rank = d.size(3, 4)
    block = [d.size(1, 3) for _ in range(rank - 2)]
    pads = d.rng.integers(0, 3, (len(block), 2)).astype(np.int32)
    sizes = [d.size(1, 3) * b for b in block]
    shape = [int(max(s - p.sum(), 1)) for s, p in zip(sizes, pads, strict=True)]
    pads[:, 1] += np.array([(-(n + p.sum())) % b for n, p, b in zip(shape, pads, block, strict=True)], np.int32)
    c = d.size(1, 3)
    x = d.x((1, *shape, c))
    made = [int(n + p.sum()) // b for n, p, b in zip(shape, pads, block, strict=True)]
    y = d.like(x, (int(np.prod(block)), *made, c))
    inputs = [x, d.const(np.array(block, np.int32)), d.const(pads)]
    d.op("SPACE_TO_BATCH_ND", inputs, [y], "SpaceToBatchNDOptions")
    return d.case()


def dilated_by_blocks(name: str) -> Callable[[Draw], Drawn]:
    """SPACE_TO_BATCH_ND, a convolution, BATCH_TO_SPACE_ND; in one or in two dimensions."""

    def make(d: Draw) -> Drawn:
        flat, padding = d.flag(), int(d.rng.integers(2))
        block = [d.size(1, 3) for _ in range(1 if flat else 2)]
        sizes = [d.size(2, 9) for _ in block]
        kernel = [d.size(1, 3) for _ in block]
        pads = d.rng.integers(0, 4, (len(block), 2)).astype(np.int32)
        least = [1 if padding == 0 else k for k in kernel]
        for i, (n, b) in enumerate(zip(sizes, block, strict=True)):
            pads[i, 1] += max(0, least[i] * b - n - pads[i].sum())
            pads[i, 1] += -(n + pads[i].sum()) % b
        inner = [int(n + p.sum()) // b for n, p, b in zip(sizes, pads, block, strict=True)]
        made = [n if padding == 0 else n - k + 1 for n, k in zip(inner, kernel, strict=True)]
        crops = np.array([[min(int(p[0]), m * b - 1), 0] for p, m, b in zip(pads, made, block, strict=True)], np.int32)
        crops[:, 0] = [int(d.rng.integers(0, c + 1)) for c in crops[:, 0]]
        room = [min(int(p[1]), m * b - int(c[0]) - 1) for p, m, b, c in zip(pads, made, block, crops, strict=True)]
        crops[:, 1] = [int(d.rng.integers(0, r + 1)) for r in room]
        c, images = d.size(1, 3), int(np.prod(block))
        o = c * d.size(1, 2) if name == "DEPTHWISE_CONV_2D" else d.size(1, 3)
        x = d.x((1, *sizes, c))
        one = (1,) if flat else ()
        rows = d.flag()  # the single axis lies along the rows, or along the columns

        def image(lengths: list[int], depth: int) -> tuple[int, ...]:
            return (images, *lengths, *one, depth) if rows else (images, *one, *lengths, depth)

        blocks, many = d.const(np.array(block, np.int32)), d.tensor((images, *inner, c), d.kind, *d.meaning(x))
        d.op("SPACE_TO_BATCH_ND", [x, blocks, d.const(pads)], [many], "SpaceToBatchNDOptions")
        if flat:
            view = d.tensor(image(inner, c), d.kind, *d.meaning(x))
            d.op("EXPAND_DIMS", [many, d.const(np.array([2 if rows else 1], np.int32))], [view], "ExpandDimsOptions")
            many = view
        window = image(kernel, 1)[1:3]
        shape, axis = ((1, *window, o), 3) if name == "DEPTHWISE_CONV_2D" else ((o, *window, c), 0)
        place, scales = weights(d, shape, axis, d.flag())
        scale, zero = d.scale(0.02, 1.0), d.zero()
        result = d.tensor(image(made, o), d.kind, scale, zero)
        fields = {"Padding": padding, "StrideH": 1, "StrideW": 1, "DilationHFactor": 1, "DilationWFactor": 1}
        fields |= {"DepthMultiplier": o // c} if name == "DEPTHWISE_CONV_2D" else {}
        options = {"CONV_2D": "Conv2DOptions", "DEPTHWISE_CONV_2D": "DepthwiseConv2DOptions"}[name]
        d.op(name, [many, place, bias(d, o, d.meaning(x)[0], scales)], [result], options, **fields)
        if flat:
            view = d.tensor((images, *made, o), d.kind, scale, zero)
            d.op("RESHAPE", [result, d.const(np.array([images, *made, o], np.int32))], [view], "ReshapeOptions")
            result = view
        cut = [int(m * b - k.sum()) for m, b, k in zip(made, block, crops, strict=True)]
        d.op(
            "BATCH_TO_SPACE_ND",
            [result, blocks, d.const(crops)],
            [d.y((1, *cut, o), scale, zero)],
            "BatchToSpaceNDOptions",
        )
        return d.case()

    return make


def batch_to_space(d: Draw) -> Drawn:
    rank = d.size(3, 4)
    block = [d.size(1, 3) for _ in range(rank - 2)]
    shape, c, n = [d.size(1, 3) for _ in block], d.size(1, 3), d.size(1, 2)
    whole = [s * b for s, b in zip(shape, block, strict=True)]
    crops = np.array([(d.size(0, (w - 1) // 2), d.size(0, (w - 1) // 2)) for w in whole], np.int32)
    x = d.x((n * int(np.prod(block)), *shape, c))
    y = d.like(x, (n, *(int(w - k.sum()) for w, k in zip(whole, crops, strict=True)), c))
    inputs = [x, d.const(np.array(block, np.int32)), d.const(crops)]
    d.op("BATCH_TO_SPACE_ND", inputs, [y], "BatchToSpaceNDOptions")
    return d.case()


def batch_matmul(d: Draw, right: str = "") -> Drawn:
    """Its right side has numbers of a type of their own."""
    lines, depth, columns = d.size(), d.size(1, 20), d.size()
    lead, turns = d.shape(d.size(1, 2), 3), (d.flag(), d.flag())
    a_shape, b_shape = (lines, depth), (depth, columns)
    a = d.x((*lead, *(a_shape[::-1] if turns[0] else a_shape)))
    b_full = ((1,) * len(lead) if d.flag() else lead) + (b_shape[::-1] if turns[1] else b_shape)
    kind = right or d.kind
    zero = 0 if "int16" in (d.kind, kind) else d.zero()
    b = d.const(d.ints(b_full, kind), d.scale(), zero) if d.flag() else d.input(b_full, kind, d.scale(), zero)
    y = d.y((*lead, lines, columns), d.scale(0.05, 1.0))
    d.op("BATCH_MATMUL", [a, b], [y], "BatchMatMulOptions", AdjX=turns[0], AdjY=turns[1])
    return d.case()


def mirror_pad(d: Draw) -> Drawn:
    shape = d.shape(d.size(1, 4))
    mode = int(d.rng.integers(2))
    pads = np.array([[int(d.rng.integers(0, n + mode)) for _ in range(2)] for n in shape], np.int32)
    x = d.x(shape)
    y = d.like(x, tuple(int(n + p.sum()) for n, p in zip(shape, pads, strict=True)))
    d.op("MIRROR_PAD", [x, d.const(pads)], [y], "MirrorPadOptions", Mode=mode)
    return d.case()


def depth_to_space(d: Draw) -> Drawn:
    block = d.size(1, 3)
    h, w, c = d.size(1, 4), d.size(1, 4), d.size(1, 3)
    x = d.x((1, h, w, c * block * block))
    y = d.like(x, (1, h * block, w * block, c))
    d.op("DEPTH_TO_SPACE", [x], [y], "DepthToSpaceOptions", BlockSize=block)
    return d.case()


def space_to_depth(d: Draw) -> Drawn:
    block = d.size(1, 3)
    h, w, c = d.size(1, 4), d.size(1, 4), d.size(1, 3)
    x = d.x((1, h * block, w * block, c))
    y = d.like(x, (1, h, w, c * block * block))
    d.op("SPACE_TO_DEPTH", [x], [y], "SpaceToDepthOptions", BlockSize=block)
    return d.case()


def resize(name: str, options: str) -> Callable[[Draw], Drawn]:
    def make(d: Draw) -> Drawn:
        h, w, c, rows, columns = d.size(1, 6), d.size(1, 6), d.size(1, 3), d.size(1, 11), d.size(1, 11)
        x = d.x((1, h, w, c))
        y = d.like(x, (1, rows, columns, c))
        kind = d.size(0, 2)
        size = d.const(np.array([rows, columns], np.int32))
        d.op(name, [x, size], [y], options, AlignCorners=kind == 1, HalfPixelCenters=kind == 2)
        return d.case()

    return make


def transpose(d: Draw) -> Drawn:
    shape = d.shape(d.size(1, 4))
    perm = d.rng.permutation(len(shape)).astype(np.int32)
    x = d.x(shape)
    d.op("TRANSPOSE", [x, d.const(perm)], [d.like(x, tuple(shape[p] for p in perm))], "TransposeOptions")
    return d.case()


def reshaped(name: str, options: str) -> Callable[[Draw], Drawn]:
    def make(d: Draw) -> Drawn:
        shape = d.shape(4)
        x = d.x(shape)
        if name == "RESHAPE":
            result = (shape[1] * shape[2], shape[3])
            d.op(name, [x, d.const(np.array(result, np.int32))], [d.like(x, result)], options)
        elif name == "SQUEEZE":
            d.op(name, [x], [d.like(x, shape[1:])], options, SqueezeDims=[0])
        else:
            d.op(name, [x, d.const(np.array([1], np.int32))], [d.like(x, (1, 1, *shape[1:]))], options)
        return d.case()

    return make


def transpose_conv(d: Draw) -> Drawn:
    h, w, c, o = d.size(1, 5), d.size(1, 5), d.size(1, 4), d.size(1, 4)
    kh, kw, sh, sw = d.size(1, 4), d.size(1, 4), d.size(1, 3), d.size(1, 3)
    padding = int(d.rng.integers(2))
    oh, ow = (n * s if padding == 0 else (n - 1) * s + k for n, s, k in ((h, sh, kh), (w, sw, kw)))
    x = d.x((1, h, w, c))
    place, scales = weights(d, (o, kh, kw, c), 0, d.flag())
    inputs = [d.const(np.array([1, oh, ow, o], np.int32)), place, x]
    if d.flag():
        inputs.append(bias(d, o, d.meaning(x)[0], scales))
    y = d.y((1, oh, ow, o), d.scale(0.02, 1.0))
    d.op("TRANSPOSE_CONV", inputs, [y], "TransposeConvOptions", Padding=padding, StrideH=sh, StrideW=sw)
    return d.case()


def arg_extremum(name: str, options: str, index: str = "int32") -> Callable[[Draw], Drawn]:
    def make(d: Draw) -> Drawn:
        shape = d.shape(d.size(1, 4))
        axis = d.size(0, len(shape) - 1)
        x = d.x(shape)
        y = d.output((*shape[:axis], *shape[axis + 1 :]), index)
        d.op(name, [x, d.const(np.array([axis], np.int32))], [y], options, OutputType={"int32": 2, "int64": 4}[index])
        return d.case()

    return make


def log_softmax(d: Draw) -> Drawn:
    shape = (d.size(1, 3), d.size(1, 40))
    x = d.x(shape, d.scale(0.005, 2.0))
    d.op("LOG_SOFTMAX", [x], [d.output(shape, "int8", 1 / 16, 127)], "LogSoftmaxOptions")
    return d.case()


def l2_normalization(d: Draw) -> Drawn:
    shape = (*d.shape(d.size(1, 3)), d.size(1, 200))
    x = d.x(shape)
    d.op("L2_NORMALIZATION", [x], [d.output(shape, "int8", 1 / 128, 0)], "L2NormOptions")
    case, zero = d.case(), d.meaning(x)[1]
    near = np.clip(zero + d.rng.integers(-1, 2, shape), -128, 127).astype(np.int8)
    return Drawn(case.data, (*case.inputs, (near,), (np.full(shape, zero, np.int8),)))


def cast(d: Draw) -> Drawn:
    shape = d.shape()
    target = str(d.pick("int32", "float32", "int16") if d.kind == "int8" else d.pick("int32", "float32"))
    types = {"int8": 9, "int16": 7, "int32": 2, "float32": 0}
    x = d.x(shape)
    y = d.output(shape, target)
    d.op("CAST", [x], [y], "CastOptions", InDataType=types[d.kind], OutDataType=types[target])
    return d.case()


Maker = Callable[[Draw], Drawn]
S8, S16, U8 = ("int8",), ("int16",), ("uint8",)
BOTH = (*S8, *S16)
EIGHT, EVERY = (*S8, *U8), (*BOTH, *U8)

COMPARISONS = ("EQUAL", "GREATER", "GREATER_EQUAL", "LESS", "LESS_EQUAL", "NOT_EQUAL")

MAKERS: Mapping[str, tuple[Maker, tuple[str, ...]]] = {
    "CONV_2D": (conv_2d, EVERY),
    "DEPTHWISE_CONV_2D": (depthwise_conv_2d, EVERY),
    "FULLY_CONNECTED": (fully_connected, EVERY),
    "AVERAGE_POOL_2D": (pool("AVERAGE_POOL_2D"), EVERY),
    "MAX_POOL_2D": (pool("MAX_POOL_2D"), EVERY),
    "ADD": (binary("ADD", "AddOptions"), EVERY),
    "SUB": (binary("SUB", "SubOptions"), EVERY),
    "SOFTMAX": (softmax, EVERY),
    "MEAN": (reduction("MEAN"), EVERY),
    "SUM": (reduction("SUM"), BOTH),
    "REDUCE_MAX": (reduction("REDUCE_MAX", same=True), S8),
    "ARG_MAX": (arg_extremum("ARG_MAX", "ArgMaxOptions"), S8),
    "ARG_MAX_64": (arg_extremum("ARG_MAX", "ArgMaxOptions", "int64"), S8),
    "ARG_MIN": (arg_extremum("ARG_MIN", "ArgMinOptions"), S8),
    "PAD": (pad("PAD"), EVERY),
    "PADV2": (pad("PADV2"), S8),
    "MIRROR_PAD": (mirror_pad, S8),
    "MUL": (binary("MUL", "MulOptions"), EVERY),
    "SQUARED_DIFFERENCE": (binary("SQUARED_DIFFERENCE", "SquaredDifferenceOptions", fields=False), BOTH),
    "MAXIMUM": (binary("MAXIMUM", same=True), EVERY),
    "MINIMUM": (binary("MINIMUM", same=True), EVERY),
    "PRELU": (prelu, EIGHT),
    "RELU": (unary("RELU"), EVERY),
    "RELU6": (unary("RELU6", same=True), EVERY),
    "LEAKY_RELU": (unary("LEAKY_RELU", "LeakyReluOptions", Alpha=1.5), EVERY),
    "HARD_SWISH": (unary("HARD_SWISH", "HardSwishOptions"), EIGHT),
    "ELU": (unary("ELU"), S8),
    "LOGISTIC": (unary("LOGISTIC", output=(2.0**-8, -128)), EVERY),
    "TANH": (unary("TANH", output=(2.0**-7, 0)), EVERY),
    "ABS": (unary("ABS"), BOTH),
    "RSQRT": (from_zero("RSQRT"), BOTH),
    "LOG_SOFTMAX": (log_softmax, S8),
    "L2_NORMALIZATION": (l2_normalization, S8),
    "CAST": (cast, BOTH),
    "QUANTIZE": (quantize, BOTH),
    "QUANTIZE_REAL": (quantize_real, BOTH),
    "DEQUANTIZE": (dequantize, EVERY),
    "CONCATENATION": (concatenation, EVERY),
    "SPLIT": (split, EVERY),
    "SPLIT_V": (split_v, BOTH),
    "SLICE": (slice_op, BOTH),
    "STRIDED_SLICE": (strided_slice, EVERY),
    "PACK": (pack, S8),
    "UNPACK": (unpack, S8),
    "GATHER": (gather, S8),
    "GATHER_OF_BATCHES": (gather_of_batches, S8),
    "REVERSE_SEQUENCE": (reverse_sequence, ("uint8", "int16")),
    "BATCH_MATMUL": (batch_matmul, BOTH),
    "BATCH_MATMUL_8": (partial(batch_matmul, right="int8"), S16),
    "BATCH_TO_SPACE_ND": (batch_to_space, S8),
    "EXP": (unary("EXP", "ExpOptions"), BOTH),
    "GELU": (unary("GELU", "GeluOptions"), BOTH),
    "GELU_TANH": (unary("GELU", "GeluOptions", Approximate=True), BOTH),
    "LOG": (unary("LOG"), BOTH),
    "RELU_0_TO_1": (unary("RELU_0_TO_1"), S8),
    "RELU_N1_TO_1": (unary("RELU_N1_TO_1"), S8),
    "REDUCE_MIN": (reduction("REDUCE_MIN", same=True), S8),
    "SPACE_TO_BATCH_ND": (space_to_batch, U8),
    "CONV_2D_IN_BLOCKS": (dilated_by_blocks("CONV_2D"), EVERY),
    "DEPTHWISE_CONV_2D_IN_BLOCKS": (dilated_by_blocks("DEPTHWISE_CONV_2D"), EVERY),
    "SQRT": (from_zero("SQRT"), BOTH),
    "STRIDED_SLICE_MASKS": (strided_slice_masks, S8),
    **{name: (comparison(name), S8) for name in COMPARISONS},
    **{f"{name}_COMPUTED": (computed_comparison(name), S8) for name in COMPARISONS},
    **{f"{name}_16": (computed_comparison(name), S16) for name in COMPARISONS},
    "COMPARED_POSITIONS": (compared_positions, S8),
    **{f"{name}_WHOLE": (whole_arithmetic(name, f"{name.title()}Options", True), S8) for name in ("ADD", "MUL", "SUB")},
    **{f"{name}_WHOLE": (whole_arithmetic(name, "MaximumMinimumOptions"), S8) for name in ("MAXIMUM", "MINIMUM")},
    "DIV_WHOLE": (whole_arithmetic("DIV", "DivOptions"), S8),
    "FLOOR_DIV": (whole_arithmetic("FLOOR_DIV", "FloorDivOptions"), S8),
    "FLOOR_MOD": (whole_arithmetic("FLOOR_MOD", "FloorModOptions"), S8),
    "SQUARED_DIFFERENCE_WHOLE": (whole_arithmetic("SQUARED_DIFFERENCE", "SquaredDifferenceOptions"), S8),
    "ABS_WHOLE": (whole_function("ABS", "AbsOptions"), S8),
    "NEG_WHOLE": (whole_function("NEG", "NegOptions"), S8),
    "TOPK_V2": (top_k, EVERY),
    "ONE_HOT": (one_hot, EIGHT),
    "DYNAMIC_UPDATE_SLICE": (update_slice, BOTH),
    "DYNAMIC_UPDATE_SLICE_COMPUTED": (update_at_computed(), EVERY),
    "DYNAMIC_UPDATE_SLICE_WHOLE": (update_at_computed("int32"), S8),
    "STRIDED_SLICE_OFFSET": (strided_slice_offset, BOTH),
    "ADD_N": (add_n, S8),
    "CUMSUM": (cumsum, S8),
    "DIV": (div, S8),
    **{name: (logical(name), S8) for name in ("LOGICAL_AND", "LOGICAL_NOT", "LOGICAL_OR")},
    "SELECT_V2": (select, S8),
    "GATHER_ND": (gather_nd, S8),
    "GATHER_COMPUTED": (computed_positions("GATHER"), S8),
    "GATHER_ND_COMPUTED": (computed_positions("GATHER_ND"), S8),
    "GATHER_INT16": (computed_positions("GATHER", "int16"), S8),
    "GATHER_ND_INT16": (computed_positions("GATHER_ND", "int16"), S8),
    "GATHER_CAST_INT16": (computed_positions("GATHER", cast="int16"), S8),
    "GATHER_CAST_INT64": (computed_positions("GATHER", cast="int64"), S8),
    "GATHER_ND_CAST_INT64": (computed_positions("GATHER_ND", cast="int64"), S8),
    "EMBEDDING_LOOKUP": (computed_positions("EMBEDDING_LOOKUP"), S8),
    "TILE": (tile, EIGHT),
    "BROADCAST_TO": (broadcast_to, EIGHT),
    "REVERSE_V2": (reverse, BOTH),
    "TRANSPOSE": (transpose, BOTH),
    "RESHAPE": (reshaped("RESHAPE", "ReshapeOptions"), EVERY),
    "SQUEEZE": (reshaped("SQUEEZE", "SqueezeOptions"), BOTH),
    "EXPAND_DIMS": (reshaped("EXPAND_DIMS", "ExpandDimsOptions"), BOTH),
    "DEPTH_TO_SPACE": (depth_to_space, S8),
    "SPACE_TO_DEPTH": (space_to_depth, S8),
    "RESIZE_NEAREST_NEIGHBOR": (resize("RESIZE_NEAREST_NEIGHBOR", "ResizeNearestNeighborOptions"), EVERY),
    "RESIZE_BILINEAR": (resize("RESIZE_BILINEAR", "ResizeBilinearOptions"), S8),
    "TRANSPOSE_CONV": (transpose_conv, EVERY),
}
"""Each operator: how a model is drawn, and the types of activations that TFLite Micro takes, or LiteRT for uint8."""


_TABLES = {"EXP", "GELU", "GELU_TANH", "LOG", "RELU_0_TO_1", "RELU_N1_TO_1", "SQRT"}
_WHOLE = {"ABS_WHOLE", "ADD_WHOLE", "FLOOR_DIV", "FLOOR_MOD", "NEG_WHOLE"}
LITERT_ONLY = {
    "TOPK_V2",
    "ONE_HOT",
    "REVERSE_SEQUENCE",
    "STRIDED_SLICE_OFFSET",
    "CONV_2D_IN_BLOCKS",
    "DEPTHWISE_CONV_2D_IN_BLOCKS",
    "ARG_MAX_64",
    *("GATHER_INT16", "GATHER_ND_INT16", "GATHER_CAST_INT16", "GATHER_CAST_INT64", "GATHER_ND_CAST_INT64"),
    "BATCH_MATMUL_8",
    "STRIDED_SLICE_MASKS",
    "TILE",
    *_TABLES,
    *_WHOLE,
    *(f"{name}_16" for name in COMPARISONS),
}
"""Those that TFLite Micro does not have; or, as ADD of plain numbers, without a fused activation."""

BY_ONE = {("GELU", "int16"), ("GELU_TANH", "int16"), ("LOG", "int16"), ("SQRT", "int16")}
"""Samples of float32 functions of the C library, which round the last bit as they like; and pieces for a real root."""


def slack(name: str, kind: str) -> int:
    """Steps by which an interpreter's numbers may differ."""
    return int((name, kind) in BY_ONE)


def draw(name: str, kind: str, seed: int) -> Drawn:
    """The same case for the same arguments."""
    maker, _ = MAKERS[name]
    return maker(Draw(np.random.default_rng([seed, *name.encode(), *kind.encode()]), kind))
