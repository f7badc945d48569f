"""What a network keeps between runs, or from row to row, as parts of random networks."""

from __future__ import annotations

import numpy as np

from codegen.ir.quant import DType, Quant
from codegen.ir.shape import Window
from codegen.ops import Broadcast, Cast, Clamp, Concat, Conv2D, Lstm, Lut, Recurrent, Reshape, Slice, Svdf
from codegen.ops.lstm import GATE, Gate, squash
from codegen.ops.recurrent import GATE_BITS, GATES, Cell, GateSteps, Squash
from codegen.ops.sigmoid16 import OUTPUT
from codegen.ops.signal import (
    Energy,
    FilterBank,
    FilterBankLog,
    FilterBankRoot,
    Framer,
    Headroom,
    Irfft,
    OverlapAdd,
    Pcan,
    Rfft,
    ShiftLeft,
    SignalWindow,
    SpectralSubtraction,
)
from codegen.settle.tflite.scales import gate_product, product_requant, svdf_requant
from tests.random_networks.draw import Drawing, Unfit
from tests.support.graphs import random_array


def delayed(d: Drawing, x: str) -> str:
    """A tensor beside itself as it was in the run before."""
    kept = d.keep(d.shape(x), d.kind(x).dtype, d.quant(x))
    y = d.pick((d.add, d.add, lambda a, b: d.concat(3, a, b)))(*d.pick(((x, kept), (kept, x))))
    made = {out for node in d.nodes for out in node.outputs} - {state.next for state in d.states}
    d.becomes(kept, x if x in made and d.chance(0.7) else d.apply(Broadcast(d.shape(x)), x))
    return y


def running(d: Drawing, x: str) -> str:
    """A sum that goes on and on, of which a bounded part is kept."""
    kept = d.keep(d.shape(x), d.kind(x).dtype, d.quant(x))
    old = d.apply(Clamp(d.kind(kept).dtype.low + 9, d.kind(kept).dtype.high - 9), kept) if d.chance(0.5) else kept
    y = d.add(old, x)
    if d.kind(y).dtype is not d.kind(kept).dtype:
        raise Unfit("another type than what is kept")
    d.becomes(kept, y)
    return y


def history(d: Drawing, x: str) -> str:
    """A window over the rows of this run and the last ones of the runs before."""
    _, h, w, c = d.shape(x)
    depth, kind = d.int(1, 6), d.kind(x)
    kept = d.keep((1, depth, w, c), kind.dtype, d.quant(x))
    rows = d.apply(Concat(1, (None, None), kind.dtype, kind.quant), kept, x)
    d.becomes(kept, d.apply(Slice((0, h, 0, 0), (1, depth, w, c), (1, 1, 1, 1)), rows))
    return d.conv(rows, Window(d.int(1, depth + 1)), d.window(w, same=True), depthwise=d.chance(0.3))


def filters(d: Drawing, x: str) -> str:
    """Channels weighted by what filters with memory make of the image."""
    g = d.apply(Reshape((1, d.shape(x)[3])), d.global_average(x))
    units, rank, memory, kind = d.int(1, 6), d.int(1, 3), d.int(1, 5), d.pick((DType.S8, DType.S16))
    wf, wt = (random_array(d.rng, (units * rank, n), t) for n, t in ((d.shape(x)[3], DType.S8), (memory, kind)))
    found = (d.data[g].astype(np.int64) - d.quant(g).zero_point) @ wf.T.astype(np.int64)
    scale = d.quant(g).scale / 64 * max(1, int(np.abs(found).max())) / kind.high
    state = Quant(float(np.float32(scale)), 0 if kind is DType.S16 else d.int(-20, 20))
    kept = d.keep((1, units * rank * memory), kind, state)
    sums = ((d.data[kept].reshape(-1, memory).astype(np.int64) - state.zero_point) * wt).sum(axis=1)
    y = d.fit(sums.reshape(units, rank).sum(axis=1) * state.scale / 64, DType.S8)
    feature = svdf_requant(d.quant(g).scale, 1 / 64, Quant(state.scale), kind)
    op = Svdf(d.quant(g).zero_point, state.zero_point, feature, svdf_requant(state.scale, 1 / 64, y, DType.S8), y)
    bias = d.const(d.rng.integers(-500, 500, units).astype(np.int32))
    y_name = d.apply(op, g, d.const(wf), d.const(wt), bias, kept)
    d.becomes(kept, d.nodes[-1].outputs[1])
    weights = d.conv(d.apply(Reshape((1, 1, 1, units)), y_name), Window(1), Window(1), outputs=d.shape(x)[3])
    return d.mul(x, weights)


def recurrent(d: Drawing, x: str) -> str:
    """Rows weighted by what a recurrent layer makes of the first pixel of each, one row after the other."""
    _, h, _, c = d.shape(x)
    first = d.apply(Slice((0, 0, 0, 0), (1, h, 1, c), (1, 1, 1, 1)), x)
    first = d.conv(first, Window(1), Window(1), outputs=c, dtype=DType.S8)
    sequence = d.apply(Reshape((1, h, c)), first)
    units, meaning, cell_scale = d.int(1, 5), Quant(1 / 128, d.int(-9, 9)), 2.0 ** -d.int(9, 13)
    w, r = (random_array(d.rng, (4, units, n), DType.S8) for n in (c, units))
    real = (d.data[sequence].reshape(h, c).astype(np.int64) - d.quant(sequence).zero_point) @ w.reshape(-1, c).T
    scales = [(d.quant(sequence).scale, 3 / (max(1, np.abs(real).max()) * d.quant(sequence).scale)), (1 / 128, 1 / 200)]
    sums = [product_requant("tflite", *s, GATE, DType.S16, (-32768, 32767)) for s in scales]
    products = [gate_product(OUTPUT.scale, s, Quant(cell_scale), DType.S16) for s in (cell_scale, OUTPUT.scale)]
    end = gate_product(OUTPUT.scale, OUTPUT.scale, meaning, DType.S8)
    gate, clip = Gate(*sums), d.pick((None, 9000))
    op = Lstm(False, d.quant(sequence).zero_point, (gate,) * 4, *products, clip, squash(cell_scale), end, meaning)
    hidden, cell = d.keep((1, units), DType.S8, meaning), d.keep((1, units), DType.S16, Quant(cell_scale))
    bias = d.const(d.rng.integers(-500, 500, (4, units)).astype(np.int32))
    y = d.apply(op, sequence, d.const(w), d.const(r), bias, hidden, cell)
    for state, following in zip((hidden, cell), d.nodes[-1].outputs[1:], strict=True):
        d.becomes(state, following)
    return d.mul(x, d.conv(d.apply(Reshape((1, h, 1, units)), y), Window(1), Window(1), outputs=c))


FUNCTIONS: dict[Cell, tuple[Squash, ...]] = {
    "lstm": ("logistic", "tanh", "tanh"),
    "gru": ("logistic", "tanh"),
    "rnn": ("tanh",),
}


def gated(d: Drawing, x: str) -> str:
    """A cell in integers down the rows, for all columns at once, as ONNX's recurrences become it."""
    _, h, w, c = d.shape(x)
    cell, units = d.pick(tuple(FUNCTIONS)), d.int(1, 4)
    rows = GATES[cell] * units
    own, bias = random_array(d.rng, (rows, 1, 1, c), DType.S8), d.rng.integers(-2000, 2000, rows).astype(np.int32)
    plain = Conv2D(Window(1), Window(1), 1, d.quant(x).zero_point, None, DType.S32, None)
    sums = d.apply(Reshape((h, w, rows)), d.apply(plain, x, d.const(own), d.const(bias)))
    inner = random_array(d.rng, (rows, units), DType.S8)
    each = rows if d.chance(0.3) else 1
    reach = max(1, np.abs(d.data[sums].astype(np.int64)).max()), 1 << 22
    ends = 3.0 * 2**GATE_BITS / np.array(reach)[:, None] * d.rng.uniform(0.5, 1, (2, each))
    right = np.minimum(29 - np.frexp(ends.max(axis=0))[1], 40)
    steps = np.rint(ends * 2.0**right).astype(np.int64)
    how = {"reverse": d.chance(0.3), "coupled": d.chance(0.3), "reset_after": d.chance(0.5)}
    op = Recurrent(
        cell,
        FUNCTIONS[cell],
        GateSteps(*(tuple(part.tolist()) for part in (*steps, right))),
        d.int(0, 2),
        finer=cell != "lstm" and d.chance(0.5),
        update=(1 << 30, 33),
        squash=(1500000000, 32),
        cell_scale=2.0**-27,
        **how,
    )
    states = [random_array(d.rng, (w, units), DType.S16), d.rng.integers(-(2**28), 2**28, (w, units)).astype(np.int32)]
    held = [d.const(state) for state in states[: 1 + (cell == "lstm")]]
    shares = d.rng.integers(-(2**20), 2**20, rows).astype(np.int32)
    y = d.apply(Reshape((1, h, w, units)), d.apply(op, sums, d.const(inner), d.const(shares), *held))
    return d.conv(y, Window(1), Window(1), dtype=DType.S8)


def sound(d: Drawing, x: str) -> str:
    """Samples of an image framed, windowed, shifted and transformed, to the logarithms of a few channels, and back."""
    _, h, w, c = d.shape(x)
    length, step = 1 << d.int(2, 5), h * w * c
    samples = d.apply(Reshape((step,)), d.apply(Cast(DType.S16), x))
    past = d.keep((d.int(max(0, length - step) + 1, length + 9),), DType.S16, None)
    frame = d.apply(Reshape((length,)), d.apply(Framer(length, step), samples, past))
    d.becomes(past, d.nodes[-2].outputs[1])
    window = d.const(random_array(d.rng, (length,), DType.S16))
    frame = d.apply(SignalWindow(d.int(8, 15)), frame, window)
    bits = d.apply(Headroom(), frame)
    spectrum = d.apply(Rfft(length), d.apply(ShiftLeft(), frame, bits))
    return _samples(d, x, spectrum) if d.chance(0.5) else _channels(d, x, spectrum, bits)


def _channels(d: Drawing, x: str, spectrum: str, bits: str) -> str:
    """The image weighted by what channels of the spectrum are above their noise."""
    count, channels = d.shape(spectrum)[0] // 2, d.shape(x)[3]
    width = d.rng.integers(0, min(count, 5) + 1, channels + 1)
    first, place = (np.array([d.int(0, count - n) for n in width]) for _ in range(2))
    weights = d.rng.integers(0, 4097, count)
    tables = [d.const(a.astype(np.int16)) for a in (weights, 4095 - weights, first, place, width)]
    energies = d.apply(Energy(d.int(0, 1), count), spectrum)
    roots = d.apply(FilterBankRoot(), d.apply(FilterBank(), energies, *tables), bits)
    noise = d.keep((channels,), DType.S32, None)
    above = d.apply(SpectralSubtraction((409, 983), (15975, 15401), 819, 10, 14, d.chance(0.5)), roots, noise)
    following = d.nodes[-1].outputs[1]
    d.becomes(noise, following)
    gains = d.const(random_array(d.rng, (125,), DType.S16))
    found = d.apply(FilterBankLog(3, 64), d.apply(Pcan(d.int(2, 20)), above, following, gains))
    return _weighted(d, x, d.apply(Reshape((1, 1, 1, channels)), found))


def _samples(d: Drawing, x: str, spectrum: str) -> str:
    """The image weighted by samples of frames that are added up."""
    size, channels = d.shape(spectrum)[0] - 2, d.shape(x)[3]
    frames = d.apply(Reshape((1, size)), d.apply(Irfft(size), spectrum))
    if channels > size:
        raise Unfit("fewer samples than channels")
    sums = d.keep((size,), DType.S16, None)
    found = d.apply(OverlapAdd(channels), frames, sums)
    d.becomes(sums, d.nodes[-1].outputs[1])
    return _weighted(d, x, d.apply(Reshape((1, 1, 1, channels)), found))


def _weighted(d: Drawing, x: str, found: str) -> str:
    """The image by bytes of 16-bit numbers."""
    low = d.apply(Cast(DType.S8), found)
    weights = d.apply(Lut(tuple(range(-128, 128)), DType.S8, Quant(1 / 64), "bytes"), low)
    return d.mul(x, weights)


STATES = (delayed, running, history, *[filters, recurrent] * 2, *[sound] * 5)


def remembered(d: Drawing, x: str) -> str:
    """One of them."""
    return str(d.pick(STATES)(d, x))
