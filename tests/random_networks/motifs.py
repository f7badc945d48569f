"""What random networks are put together from: single operators, and the shapes that make schedules hard."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from codegen.ir.quant import DType, Quant
from codegen.ir.shape import Window
from codegen.ops import (
    Broadcast,
    Clamp,
    DepthToSpace,
    Dequantize,
    Gather,
    Lut,
    MaxPool2D,
    Pad,
    Quantize,
    Reshape,
    ResizeBilinear,
    ResizeNearest,
    ResizeWeighted,
    Slice,
    Softmax,
    SpaceToDepth,
    Transpose,
    unary_table,
)
from tests.random_networks.draw import BYTES, Drawing, Unfit
from tests.random_networks.state_motifs import gated
from tests.random_networks.tflite_motifs import (
    compared,
    counted,
    curve_16,
    curve_of_samples,
    extremum,
    inverse_root,
    largest,
    log_softmax,
    normalized,
    pieces_16,
    positions,
    prelu,
    quotient,
    remainder,
    response,
    running_sum,
    selected,
    slopes_16,
    squared_difference,
    sum_of_scales,
    sum_of_three,
    sums,
    taken,
    triangle,
    unit_length,
    updated,
    window_totals,
)

Step = Callable[[Drawing, str], str]

# One operator


def convolution(d: Drawing, x: str) -> str:
    return d.conv(x, *d.windows(x), depthwise=d.chance(0.3))


def same_convolution(d: Drawing, x: str) -> str:
    return d.conv(x, *d.windows(x, same=True), depthwise=d.chance(0.3))


def pointwise(d: Drawing, x: str) -> str:
    return d.conv(x, Window(1), Window(1))


def transposed(d: Drawing, x: str) -> str:
    h, w = (Window(*(d.pick(c) for c in ((1, 2, 3, 4, 5), (1, 2, 2, 3), (1, 1, 1, 2)))) for _ in range(2))
    h, w = (Window(v.size, v.stride, v.dilation, d.int(0, v.extent // 2), d.int(0, v.extent // 2)) for v in (h, w))
    extra = d.int(0, h.stride - 1), d.int(0, w.stride - 1)
    return d.conv(x, h, w, transposed=extra, depthwise=d.chance(0.2))


def wide_sums(d: Drawing, x: str) -> str:
    return d.conv(x, *d.windows(x), dtype=DType.S32)


def wide_activations(d: Drawing, x: str) -> str:
    """16 bits, moved or pooled, and back."""
    y = d.conv(x, *d.windows(x, same=True), dtype=DType.S16)
    y = d.pick((crop, gather_rows, padded, max_pool, upsample))(d, y)
    return d.conv(y, Window(d.pick((1, 3))), Window(1), dtype=d.pick(BYTES))


def max_pool(d: Drawing, x: str) -> str:
    return d.max_pool(x, *d.windows(x))


def average_pool(d: Drawing, x: str) -> str:
    return d.average_pool(x, *d.windows(x))


def table(d: Drawing, x: str) -> str:
    name, dtype = d.pick(("Sigmoid", "Tanh", "LeakyRelu", "Abs", "Neg")), d.byte(x)
    scale = float(np.float32(4 / 128))
    quant = {"Sigmoid": Quant(1 / 256, dtype.low), "Tanh": Quant(1 / 128, (dtype.low + dtype.high + 1) // 2)}
    zero = Quant(scale, 0)
    y = quant.get(name) or d.fit(d.real(x), dtype)
    source = zero if name in quant else d.quant(x)
    return d.apply(Lut(unary_table(name, source, d.kind(x).dtype, y, dtype, d.mode), dtype, y, name), x)


def clamp(d: Drawing, x: str) -> str:
    dtype = d.kind(x).dtype
    return d.apply(Clamp(dtype.low + d.int(0, 60), dtype.high - d.int(0, 60)), x)


def softmax(d: Drawing, x: str) -> str:
    return d.apply(Softmax(d.quant(x), Quant(1 / 256, -128), DType.S8, d.mode), x)


def crop(d: Drawing, x: str) -> str:
    """Part of an image, perhaps thinned out or upside down."""
    n, h, w, c = d.shape(x)
    starts, sizes, steps = [0], [n], [1]
    for length in (h, w, c):
        step = d.pick((1, 1, 1, 2, -1)) if length > 4 else 1
        start = d.pick((0, d.int(0, length // 3)))
        start = start if step > 0 else length - 1 - start
        room = (length - 1 - start) // step + 1 if step > 0 else start // -step + 1
        starts, steps = [*starts, start], [*steps, step]
        sizes.append(max(1, room - d.pick((0, 0, d.int(0, room // 3)))))
    return d.apply(Slice(tuple(starts), tuple(sizes), tuple(steps)), x)


def gather_rows(d: Drawing, x: str) -> str:
    axis = d.pick((1, 1, 2, 3))
    length = d.shape(x)[axis]
    found = [d.int(0, length - 1) for _ in range(d.int(max(1, length // 2), length + 2))]
    return d.apply(Gather(axis, tuple(sorted(found) if d.chance(0.5) else found)), x)


def padded(d: Drawing, x: str) -> str:
    mode = d.pick(("constant", "edge", "reflect"))
    most = [0, *(min(3, n - 1) for n in d.shape(x)[1:3]), 1 if mode == "constant" else 0]
    pads = [tuple(d.int(0, m) for m in most) for _ in range(2)]
    return d.apply(Pad(pads[0], pads[1], mode, d.quant(x).zero_point), x)


def blocks(d: Drawing, x: str) -> str:
    """Blocks of pixels from channels (a convolution may make them), or the other way round."""
    _, h, w, c = d.shape(x)
    if d.chance(0.5):
        x = x if c % 4 == 0 else d.conv(x, Window(1), Window(1), outputs=4)
        return d.apply(DepthToSpace(2, d.pick(("DCR", "CRD"))), x)
    if h % 2 or w % 2:
        x = d.apply(Slice((0, 0, 0, 0), (1, h - h % 2, w - w % 2, c), (1, 1, 1, 1)), x)
    return d.apply(SpaceToDepth(2), x)


def upsample(d: Drawing, x: str) -> str:
    """Nearest neighbours, by an integer or not."""
    _, h, w, _ = d.shape(x)
    sizes = [d.pick((n * 2, n * 2, n * 3, n + d.int(1, 4), max(2, n - 2))) for n in (h, w)]
    index = [tuple(int(i * n / size) for i in range(size)) for n, size in zip((h, w), sizes, strict=True)]
    return d.apply(ResizeNearest(*index), x)


def bilinear(d: Drawing, x: str) -> str:
    _, h, w, _ = d.shape(x)
    sizes = [d.pick((n * 2, n + d.int(1, 5), max(2, n * 2 // 3))) for n in (h, w)]
    taps = [_taps(n, size) for n, size in zip((h, w), sizes, strict=True)]
    dtype = d.kind(x).dtype
    return d.apply(ResizeBilinear(*taps, d.quant(x), d.quant(x), dtype, dtype.low, dtype.high, d.mode), x)


def weighted(d: Drawing, x: str) -> str:
    """Each pixel of another size of up to four rows and columns, whose weights may be negative."""
    windows = [_windows(d, n, d.pick((n * 2, n + d.int(1, 5), max(2, n * 2 // 3)))) for n in d.shape(x)[1:3]]
    dtype = d.kind(x).dtype
    held = (d.quant(x), d.quant(x), dtype, dtype.low, dtype.high, d.mode)
    return d.apply(ResizeWeighted(windows[0], windows[1], 11, *held), x)


def _windows(d: Drawing, n: int, size: int) -> tuple[tuple[int, tuple[int, ...]], ...]:
    count, windows = d.int(1, min(4, n)), list[tuple[int, tuple[int, ...]]]()
    for i in range(size):
        others = [d.int(-200, 700) for _ in range(count - 1)]
        windows.append((i * (n - count) // max(size - 1, 1), (2048 - sum(others), *others)))
    return tuple(windows)


def _taps(n: int, size: int) -> tuple[tuple[int, int, int], ...]:
    at = np.clip((np.arange(size) + 0.5) * n / size - 0.5, 0, n - 1)
    return tuple((int(p), min(int(p) + 1, n - 1), round(float(p % 1) * 2048)) for p in at)


def broadcast(d: Drawing, x: str) -> str:
    """One row or one column, repeated."""
    _, h, w, c = d.shape(x)
    if d.chance(0.5):
        return d.apply(Broadcast((1, d.int(2, h + 2), w, c)), d.apply(_row(d, x, 1), x))
    return d.apply(Broadcast((1, h, d.int(2, w + 2), c)), d.apply(_row(d, x, 2), x))


def _row(d: Drawing, x: str, axis: int) -> Slice:
    shape = d.shape(x)
    starts = tuple(d.int(0, n - 1) if a == axis else 0 for a, n in enumerate(shape))
    return Slice(starts, tuple(1 if a == axis else n for a, n in enumerate(shape)), (1,) * 4)


def transposition(d: Drawing, x: str) -> str:
    return d.apply(Transpose(d.pick(((0, 2, 1, 3), (0, 1, 3, 2), (0, 3, 1, 2), (0, 3, 2, 1)))), x)


def reshape(d: Drawing, x: str) -> str:
    _, h, w, c = d.shape(x)
    options = [(1, h * w // k, k, c) for k in (3, 4, 5, 6, 7, 8) if h * w % k == 0]
    return d.apply(Reshape(d.pick(options or [(1, w, h, c)])), x)


def by_floats(d: Drawing, x: str) -> str:
    """Real numbers for a while."""
    y = d.apply(Dequantize(d.quant(x)), x)
    if d.chance(0.5):
        _, h, w, c = d.shape(y)
        y = d.apply(Slice((0, d.int(0, h // 4), 0, 0), (1, h - h // 4, w, c), (1, 1, 1, 1)), y)
    dtype = d.pick(BYTES)
    return d.apply(Quantize(dtype, d.fit(d.real(x), dtype)), y)


SINGLE: Sequence[tuple[Step, int]] = (
    (convolution, 6),
    (same_convolution, 8),
    (pointwise, 4),
    (transposed, 4),
    (wide_sums, 6),
    (wide_activations, 3),
    (max_pool, 3),
    (average_pool, 10),
    (table, 5),
    (clamp, 5),
    (softmax, 3),
    (crop, 3),
    (gather_rows, 5),
    (padded, 6),
    (blocks, 19),
    (upsample, 4),
    (bilinear, 4),
    (weighted, 4),
    (broadcast, 6),
    (transposition, 1),
    (reshape, 1),
    (by_floats, 6),
    (extremum, 6),
    (squared_difference, 6),
    (prelu, 7),
    (sums, 7),
    (positions, 3),
    (slopes_16, 8),
    (curve_16, 17),
    (log_softmax, 9),
    (pieces_16, 8),
    (unit_length, 7),
    (normalized, 9),
    (triangle, 5),
    (updated, 6),
    (taken, 3),
    (counted, 8),
    (largest, 8),
    (curve_of_samples, 8),
    (inverse_root, 10),
    (selected, 3),
    (sum_of_three, 6),
    (sum_of_scales, 6),
    (running_sum, 7),
    (gated, 7),
    (quotient, 4),
    (remainder, 4),
    (response, 4),
    (window_totals, 7),
    (compared, 9),
)

# Several


def one(d: Drawing, x: str) -> str:
    steps, weights = zip(*SINGLE, strict=True)
    chosen: Step = steps[int(d.rng.choice(len(steps), p=np.array(weights) / sum(weights)))]
    return chosen(d, x)


def residual(d: Drawing, x: str) -> str:
    """A skip around one to three operators."""
    c = d.shape(x)[3]
    y = x
    for _ in range(d.int(0, 2)):
        y = d.pick((same_convolution, pointwise, clamp, table))(d, y)
    y = d.conv(y, *d.windows(y, same=True), outputs=c)
    return d.pick((d.add, d.add, d.add, d.mul))(*d.pick(((x, y), (y, x))))


def concat_channels(d: Drawing, x: str) -> str:
    """What a layer made beside its input, as in densely connected networks."""
    y = same_convolution(d, x)
    if d.chance(0.4):
        y = same_convolution(d, y)
    parts = [x, y] if d.chance(0.7) else [x, pointwise(d, x), y]
    joined = d.concat(3, *parts)
    return pointwise(d, joined) if d.shape(joined)[3] > 12 else joined


def concat_rows(d: Drawing, x: str) -> str:
    """Images above each other."""
    c, w = d.shape(x)[3], d.shape(x)[2]
    rows = d.window(d.shape(x)[1], strides=(1, 2))
    y = d.conv(x, rows, d.window(w, same=True), outputs=c)
    parts = [x, y] if d.chance(0.8) else [x, y, d.apply(Gather(1, (0, d.int(0, d.shape(x)[1] - 1))), x)]
    d.rng.shuffle(parts)
    return d.concat(1, *parts)


def diamond(d: Drawing, x: str) -> str:
    """Two ways of unequal lag from one tensor to another."""
    c = d.shape(x)[3]
    short = d.conv(x, Window(1), Window(1), outputs=c)
    size = d.pick((5, 7))
    long = d.conv(x, Window(size, 1, 1, size // 2, size // 2), Window(1), outputs=c, depthwise=d.chance(0.5))
    long = same_convolution(d, long) if d.chance(0.5) else long
    if d.shape(long) == d.shape(short) and d.chance(0.6):
        return d.pick((d.add, d.mul))(short, long)
    return d.concat(3, long, short)


def both_strides(d: Drawing, x: str) -> str:
    """Two ways that both thin out, joined."""
    stride = d.pick((2, 2, 3))
    a, b = d.pick((3, 5)), d.pick((1, 2, 3))
    _, h, w, _ = d.shape(x)
    windows = [(Window(a, stride, 1, a // 2, a // 2), Window(a, stride, 1, a // 2, a // 2))]
    rest = [max(0, (windows[0][0].out_len(n) - 1) * stride + b - n) for n in (h, w)]
    y = d.conv(x, *windows[0])
    z = d.apply(MaxPool2D(Window(b, stride, 1, 0, rest[0]), Window(b, stride, 1, 0, rest[1])), x)
    return d.concat(3, y, z) if d.is_byte(z) else y


def two_sinks(d: Drawing, x: str) -> str:
    """An output at another stride beside what goes on."""
    stride = d.pick((2, 3))
    d.conv(x, Window(3, stride, 1, 1, 1), Window(3, stride, 1, 1, 1))
    return d.pick((same_convolution, pointwise, max_pool))(d, x)


def up_and_down(d: Drawing, x: str) -> str:
    """Down, something, up again, cropped or padded to fit, and joined with what was there before."""
    _, h, w, c = d.shape(x)
    y = d.conv(x, Window(3, 2, 1, 1, 1), Window(3, 2, 1, 1, 1))
    y = d.pick((same_convolution, pointwise))(d, y) if d.chance(0.7) else y
    y = d.conv(y, Window(2, 2), Window(2, 2), transposed=(0, 0), outputs=c) if d.chance(0.6) else upsample_twice(d, y)
    sizes = (1, min(h, d.shape(y)[1]), min(w, d.shape(y)[2]), d.shape(y)[3])
    y = y if d.shape(y) == sizes else d.apply(Slice((0, 0, 0, 0), sizes, (1, 1, 1, 1)), y)
    return d.add(x, y) if d.shape(x) == d.shape(y) and d.chance(0.6) else d.concat(3, x, y)


def upsample_twice(d: Drawing, x: str) -> str:
    _, h, w, _ = d.shape(x)
    if d.chance(0.5):
        return d.apply(ResizeNearest(tuple(i // 2 for i in range(2 * h)), tuple(i // 2 for i in range(2 * w))), x)
    dtype = d.kind(x).dtype
    op = ResizeBilinear(_taps(h, 2 * h), _taps(w, 2 * w), d.quant(x), d.quant(x), dtype, dtype.low, dtype.high, d.mode)
    return d.apply(op, x)


def gate(d: Drawing, x: str) -> str:
    """Channels weighted by what the whole image says."""
    g = d.global_average(x)
    g = d.conv(g, Window(1), Window(1), outputs=d.shape(x)[3])
    return d.mul(x, g)


def attention(d: Drawing, x: str) -> str:
    """Every pixel of a row looked up in all others."""
    keys = d.apply(Transpose((0, 1, 3, 2)), pointwise(d, x))
    queries = d.conv(x, Window(1), Window(1), outputs=d.shape(keys)[2])
    scores = d.matmul(queries, keys)
    return d.matmul(softmax(d, scores), x) if d.chance(0.7) else scores


def late_join(d: Drawing, x: str) -> str:
    """Something made long ago is needed again."""
    older = [v for v in d.data if v != x and d.values[v].data is None and d.is_byte(v) and len(d.shape(v)) == 4]
    for y in reversed(older):
        if d.shape(y) == d.shape(x):
            return d.add(x, y)
        if d.shape(y)[:3] == d.shape(x)[:3] and d.shape(y)[3] + d.shape(x)[3] <= 16:
            return d.concat(3, x, y)
        if d.shape(y)[2:] == d.shape(x)[2:] and d.chance(0.5):
            return d.concat(1, y, x)
    raise Unfit("nothing fits")


SEVERAL: Sequence[tuple[Step, int]] = (
    (one, 46),
    (residual, 36),
    (concat_channels, 6),
    (concat_rows, 5),
    (diamond, 15),
    (both_strides, 2),
    (two_sinks, 4),
    (up_and_down, 6),
    (gate, 2),
    (attention, 4),
    (late_join, 11),
)


def several(d: Drawing, x: str) -> str:
    steps, weights = zip(*SEVERAL, strict=True)
    chosen: Step = steps[int(d.rng.choice(len(steps), p=np.array(weights) / sum(weights)))]
    return chosen(d, x)


def classifier(d: Drawing, x: str) -> str:
    """The usual end of a network."""
    y = d.global_average(x)
    y = d.apply(Reshape((1, d.shape(y)[3])), y)
    y = d.dense(y, d.int(2, 12))
    return softmax(d, y) if d.chance(0.5) else y
