"""Operators on real numbers, as parts of random networks: from bytes to float32, several operators, and back.

Decides: values stay finite on every input, for what Quantize makes of NaN is left open.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from typing import get_args

import numpy as np

from codegen.float32.storage import from_bf16, to_bf16
from codegen.float32.weights import MOST, narrowed
from codegen.ir.op import Op
from codegen.ir.quant import Array, DType
from codegen.ir.shape import Window
from codegen.ops import (
    ArgExtremum,
    Cast,
    Conv2D,
    Dense,
    Dequantize,
    Quantize,
    Reshape,
    Scatter,
    Slice,
    Take,
    Transpose,
    WholeArithmetic,
)
from codegen.ops.float32 import (
    FloatAnchorBoxes,
    FloatAveragePool2D,
    FloatBinary,
    FloatClip,
    FloatConv2D,
    FloatCumulative,
    FloatDense,
    FloatGlobalAveragePool,
    FloatMatMul,
    FloatNonMaxSuppression,
    FloatNormalize,
    FloatPoses,
    FloatRecurrent,
    FloatReduce,
    FloatSoftmax,
    FloatTaps,
    FloatTrees,
    FloatUnary,
)
from codegen.ops.float32.poses import CHANNELS, COLUMNS
from codegen.ops.float32.recurrent import GATES
from codegen.ops.float32.trees import Aggregate
from tests.random_networks.draw import BYTES, Drawing, Unfit
from tests.support.trees import random_trees

FUNCTIONS: Sequence[Op] = (
    *(FloatUnary(name) for name in ("abs", "asinh", "atan", "cos", "erf", "gelu", "mish", "neg", "relu", "round")),
    *(FloatUnary(name) for name in ("sigmoid", "sin", "softplus", "softsign", "tanh")),
    FloatUnary("elu", (0.7,)),
    FloatUnary("hard_swish", (0.2, 0.5)),
    FloatUnary("leaky_relu", (0.1,)),
)
"""Defined for every number, and far from any overflow."""
SIGMOID, TANH = ("sigmoid", ()), ("tanh", ())
CELLS = {"lstm": (SIGMOID, TANH, TANH), "gru": (SIGMOID, TANH), "rnn": (TANH,)}
"""Recurrences and their functions."""


def real_layers(d: Drawing, x: str) -> str:
    """A convolution, a function and a pool, gated by the mean of each channel."""
    y = _conv(d, _real(d, x), *d.windows(x, same=True))
    y = d.apply(d.pick(FUNCTIONS), y)
    y = d.apply(FloatAveragePool2D(*d.windows(y)), y)
    gate = d.apply(FloatUnary("sigmoid"), d.apply(FloatGlobalAveragePool(), y))
    return _bytes(d, d.apply(FloatBinary("mul"), *d.pick(((y, gate), (gate, y)))))


def real_attention(d: Drawing, x: str) -> str:
    """Every pixel of a row looked up in all others, and the channels of what is found brought to one size."""
    y, depth = _real(d, x), d.int(1, 5)
    keys = d.apply(Transpose((0, 1, 3, 2)), _dense(d, y, depth))
    scores = d.apply(FloatMatMul(d.sums), _dense(d, y, depth), keys)
    found = d.apply(FloatMatMul(d.sums), d.apply(FloatSoftmax(3, d.chance(0.3)), scores), y)
    return _bytes(d, d.apply(FloatNormalize(1e-3, d.chance(0.5)), found))


def real_sums(d: Drawing, x: str) -> str:
    """How far a running sum is from its mean or its ends, held within bounds, between places of an axis."""
    y = _real(d, x)
    y = d.apply(FloatCumulative("sum", d.int(1, 3), d.chance(0.3), d.chance(0.3)), y)
    axes = d.pick(((1,), (2,), (3,), (1, 2), (2, 3), (1, 2, 3)))
    middle = d.apply(FloatReduce(d.pick(("mean", "maximum", "minimum")), axes), y)
    y = d.apply(FloatBinary(d.pick(("sub", "add"))), y, middle)
    low, high = (float(np.float32(end)) for end in np.quantile(d.data[y], (0.05, 0.95)))
    y = d.apply(FloatClip(d.pick((low, -math.inf)), high), y)
    return _bytes(d, _taps(d, y, d.int(1, 2)))


def real_sequence(d: Drawing, x: str) -> str:
    """A recurrent layer down the rows, for all columns at once."""
    _, h, w, c = d.shape(x)
    cell, units = d.pick(tuple(CELLS)), d.int(1, 4)
    width = units * GATES[cell]
    y = _dense(d, d.apply(Reshape((h, w, c)), _real(d, x)), width)
    initial = [_normal(d, 0.3, w, units) for _ in range(1 + (cell == "lstm"))]
    how = {"reset_after": d.chance(0.5), "sums": d.sums}
    op = FloatRecurrent(cell, CELLS[cell], d.chance(0.3), d.pick((math.inf, 2.0)), **how)
    weights = _normal(d, 0.5, width, units)
    y = d.apply(op, y, _stored(d, weights, *RECURRENT), _normal(d, 0.5, width), *initial)
    return _bytes(d, d.apply(Reshape((1, h, w, d.shape(y)[2])), y))


def real_rows(d: Drawing, x: str) -> str:
    """Rows that join others at places that are known or computed; whole numbers in between."""
    _, h, w, c = d.shape(x)
    lines = d.apply(Reshape((h, w * c)), d.apply(Cast(DType.F32), x))
    places = d.const(d.rng.integers(0, h, d.int(1, h)).astype(np.int32))
    if d.chance(0.5):
        places = d.apply(Reshape((h,)), d.apply(ArgExtremum(d.chance(0.5)), d.apply(Reshape((1, h, 1, w * c)), x)))
    moved = d.apply(Slice((0, 0), (d.shape(places)[0], w * c), (1, 1)), lines)
    lines = d.apply(Scatter(d.pick(("none", "add", "maximum", "minimum"))), lines, places, moved)
    factor = d.const(np.array([d.rng.uniform(1.5, 9.5)], np.float32))
    whole = d.apply(Cast(DType.S32), d.apply(FloatBinary("mul"), lines, factor))
    if d.chance(0.5):
        sums = d.apply(FloatReduce(d.pick(("sum", "l1", "maximum")), (0,)), whole)
        whole = d.apply(WholeArithmetic("-"), d.apply(FloatCumulative("sum", 0, d.chance(0.3)), whole), sums)
    return _bytes(d, d.apply(Reshape((1, h, w, c)), d.apply(Cast(DType.F32), whole)))


def real_trees(d: Drawing, x: str) -> str:
    """What decision trees say of each pixel."""
    y, codes = _real(d, x), d.chance(0.3)
    spread = max(1e-3, float(np.abs(d.data[y]).max()) / 2)
    tables = random_trees(d.rng, d.shape(y)[3], d.int(1, 5), d.int(1, 6), spread=spread, codes=codes)
    relation = "" if codes else d.pick(("<=", "<", ">=", ">"))
    return _bytes(d, d.apply(FloatTrees(relation, d.pick(get_args(Aggregate))), y, *map(d.const, tables)))


def real_boxes(d: Drawing, x: str) -> str:
    """The best of boxes that overlap, looked up by where they are; few, whose numbers need not span anything."""
    _, h, w, c = d.shape(x)
    count = min(h * w * c // 4, 40)
    if count < 1:
        raise Unfit("no box")
    numbers, classes = d.apply(Reshape((h * w * c,)), _real(d, x)), d.int(1, 3)
    boxes = d.apply(Reshape((count, 4)), d.apply(Slice((0,), (count * 4,), (1,)), numbers))
    if d.chance(0.7):
        boxes = d.apply(FloatAnchorBoxes((10.0, 10.0, 100.0, 100.0)), boxes, _normal(d, 5.0, count, 4))
    boxes = d.apply(Reshape((1, count, 4)), boxes)
    scores = d.apply(Slice((h * w * c - classes * count,), (classes * count,), (1,)), numbers)
    op = FloatNonMaxSuppression(d.int(1, 10 // classes), d.pick((0.0, 0.25, 0.5)), d.pick((None, 0.0)), d.chance(0.3))
    chosen = d.apply(op, boxes, d.apply(Reshape((1, classes, count)), scores))
    rows = d.shape(chosen)[0]
    places = d.apply(Slice((0, 2), (rows, 1), (1, 1)), chosen)
    found = d.apply(Take(1), d.apply(Reshape((count, 4)), boxes), places)
    return _bytes(d, d.apply(Reshape((1, rows, 2, 2)), found))


def real_poses(d: Drawing, x: str) -> str:
    """Poses of keypoints, in maps that a product makes of a part."""
    _, h, w, c = d.shape(x)
    part, most = Slice((0, 0, 0, 0), (1, min(h, 6), min(w, 6), c), (1,) * 4), d.int(2, 5)
    y = d.apply(part, _real(d, x))
    maps = [_dense(d, y, channels) for channels in CHANNELS]
    op = FloatPoses(most, d.pick((-1.0, 0.0)), d.pick((0.25, 0.5)), d.pick((0.25, 1.0)), d.int(1, 16))
    return _bytes(d, d.apply(Reshape((1, most, COLUMNS, 1)), d.apply(op, *maps)))


def real_scales(d: Drawing, x: str) -> str:
    """Sums of bytes as real numbers, times a scale and plus a bias of each output, as behind a MatMulInteger."""
    c, zero, outputs = d.shape(x)[3], d.quant(x).zero_point, d.int(1, 8)
    h, w = d.windows(x, same=True)
    if d.chance(0.5):
        op, shape = Dense(zero, None, DType.S32, None), (outputs, c)
    else:
        op, shape = Conv2D(h, w, 1, zero, None, DType.S32, None), (outputs, h.size, w.size, c)
    bias = d.const(np.zeros(outputs, np.int32) if d.chance(0.5) else d.rng.integers(-2000, 2000, outputs, np.int32))
    y = d.apply(Cast(DType.F32), d.apply(op, x, d.packed(d.weights(*shape)), bias))
    most = max(1.0, float(np.abs(d.data[y]).max()))
    scales = (d.rng.uniform(1, 5, (1, 1, 1, d.pick((1, outputs)))) / most).astype(np.float32)
    y = d.apply(FloatBinary("mul"), y, d.const(scales))
    return _bytes(d, d.apply(d.pick(FUNCTIONS), d.apply(FloatBinary("add"), y, _normal(d, 0.5, 1, 1, 1, outputs))))


RECURRENT = ("f16", "bf16", "s8", "s4")
WINDOWED = (*RECURRENT, "u8")
DENSE = (*WINDOWED, "u4")
"""Storages of weights, by the layers whose kernels read them."""

REAL = (
    *(real_scales,) * 2,
    *(real_layers,) * 3,
    *(real_attention,) * 3,
    *(real_sums,) * 4,
    *(real_sequence,) * 2,
    *(real_rows,) * 2,
    *(real_trees,) * 2,
    *(real_boxes,) * 2,
    *(real_poses,) * 2,
)
"""With those more often that are refused most often, for they have the most nodes."""


def real_numbers(d: Drawing, x: str) -> str:
    """One of them."""
    return d.pick(REAL)(d, x)


def _real(d: Drawing, x: str) -> str:
    return d.apply(Dequantize(d.quant(x)), x)


def _bytes(d: Drawing, y: str) -> str:
    """Of a type that these numbers fill."""
    dtype = d.pick(BYTES)
    return d.apply(Quantize(dtype, d.fit(d.data[y], dtype)), y)


def _normal(d: Drawing, deviation: float, *shape: int) -> str:
    return d.const(d.rng.normal(0, deviation, shape).astype(np.float32))


def _weights(d: Drawing, x: str, *shape: int) -> str:
    """Weights by which sums over x become numbers of a usual size."""
    terms = math.prod(shape[1:])
    name = _normal(d, 3 / (max(1e-3, float(np.abs(d.data[x]).max())) * math.sqrt(terms)), *shape)
    return _stored(d, name, *(DENSE if len(shape) == 2 else WINDOWED))


def _stored(d: Drawing, name: str, *served: str) -> str:
    """The weights, as the network stores them where the layer's kernels read that."""
    if d.storage not in served:
        return name
    numbers = d.data[name]
    made = narrowed(_with_zero_points(d, numbers) if d.storage in ("u8", "u4") else numbers, d.storage)
    if made is None:
        raise Unfit("weights that the storage does not hold")
    d.data[name] = made
    d.values[name] = replace(d.values[name], data=made, type=replace(d.kind(name), storage=d.storage))
    return name


def _with_zero_points(d: Drawing, weights: Array) -> Array:
    """Integers of the storage, less a zero point of each output, times a scale of few bits; they span about as much."""
    most = MOST[d.storage]
    ints = d.rng.integers(0, most + 1, weights.shape)
    zero = d.rng.integers(most // 4, most * 3 // 4 + 1, (len(weights), *(1,) * (weights.ndim - 1)))
    scale = from_bf16(to_bf16(np.float32([2 * np.abs(weights).max() / most])))
    return np.asarray((ints - zero).astype(np.float32) * scale)


def _dense(d: Drawing, x: str, outputs: int) -> str:
    return d.apply(FloatDense(sums=d.sums), x, _weights(d, x, outputs, d.shape(x)[-1]), _normal(d, 0.5, outputs))


def _conv(d: Drawing, x: str, h: Window, w: Window) -> str:
    """A convolution, perhaps depthwise, perhaps with bounds."""
    c = d.shape(x)[3]
    groups = d.pick((1, 1, c))
    outputs = c if groups == c else d.int(1, 8)
    op = FloatConv2D(h, w, groups, d.pick((-math.inf, -0.5)), d.pick((math.inf, 2.0)), d.sums)
    return d.apply(op, x, _weights(d, x, outputs, h.size, w.size, c // groups), _normal(d, 0.5, outputs))


def _taps(d: Drawing, x: str, axis: int) -> str:
    """Places of an axis between two others, as in a resize."""
    length = d.shape(x)[axis]
    at = np.linspace(0, length - 1, d.int(max(2, length - 3), length + 4))
    places = tuple((int(p), min(int(p) + 1, length - 1)) for p in at)
    weights = tuple((float(np.float32(1 - p % 1)), float(np.float32(p % 1))) for p in at)
    return d.apply(FloatTaps(axis, places, weights), x)
