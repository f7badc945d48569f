"""Random models of TFLite Micro's signal operators: one of them, with CAST and SLICE where its types ask for them.

Numbers of 32 bits without a sign enter and leave as int32 of the same bits.  Inputs are runs, one after the other.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

import numpy as np
from flatbuffers import flexbuffers

from codegen.frontends.tflite.nodes import CUSTOM
from codegen.ir.quant import Array
from tests.support.tflite_cases import Draw, Drawn

RUNS = 5
_T = {"int16": 7, "int32": 2}


def options(**told: float) -> bytes:
    """A flexbuffer."""
    return bytes(flexbuffers.Dumps(told))


def samples(d: Draw, *shape: int, kind: str = "int16") -> Array:
    """Soft, loud, or both ends of the type; -2^15 now and then."""
    info = np.iinfo(kind)
    reach = int(d.pick(1, 50, info.max // 9, info.max))  # type: ignore[call-overload]
    found = d.rng.integers(-reach - (reach == info.max), reach + 1, shape)
    if d.flag():
        found = np.where(d.rng.integers(0, 9, shape) == 0, info.min, found)
    return found.astype(kind)


def words(d: Draw, count: int) -> Array:
    """Numbers of 32 bits without a sign, of every length."""
    wide = d.rng.integers(0, 1 << 32, count, dtype=np.uint64) >> d.rng.integers(0, 33, count).astype(np.uint64)
    return wide.astype(np.uint32).view(np.int32)


def channels_in(d: Draw, count: int) -> int:
    """An input of such numbers."""
    x, made = d.input((count,), "int32"), d.tensor((count,), "uint32")
    d.op("CAST", [x], [made], "CastOptions", InDataType=2, OutDataType=15)
    return made


def channels_out(d: Draw, tensor: int, count: int) -> None:
    """An output of them."""
    d.op("CAST", [tensor], [d.output((count,), "int32")], "CastOptions", InDataType=15, OutDataType=2)


def drawn(d: Draw, make: Callable[[], tuple[Array, ...]]) -> Drawn:
    return Drawn(d.bytes(), tuple(make() for _ in range(RUNS)))


def window(d: Draw) -> Drawn:
    frames, n = d.size(1, 3), d.size(1, 40)
    inputs = [d.input((frames, n), "int16"), d.const(samples(d, n))]
    d.op("SignalWindow", inputs, [d.output((frames, n), "int16")], custom=options(shift=d.size(0, 20)))
    return drawn(d, lambda: (samples(d, frames, n),))


def auto_scale(d: Draw) -> Drawn:
    n = d.size(1, 40)
    outputs = [d.output((n,), "int16"), d.output((), "int32")]
    d.op("SignalFftAutoScale", [d.input((n,), "int16")], outputs, custom=options())
    return drawn(d, lambda: (samples(d, n),))


def rfft(d: Draw) -> Drawn:
    kind, length = str(d.pick("int16", "int32")), 1 << d.size(2, 9)
    shape = (*((2,) if d.flag() else ()), d.size(1, length))
    y = d.output((*shape[:-1], length + 2), kind)
    d.op("SignalRfft", [d.input(shape, kind)], [y], custom=options(T=_T[kind], fft_length=length))
    return drawn(d, lambda: (samples(d, *shape, kind=kind),))


def irfft(d: Draw) -> Drawn:
    kind, length = str(d.pick("int16", "int32")), 1 << d.size(2, 9)
    shape = (*((2,) if d.flag() else ()), length + 2)
    y = d.output((*shape[:-1], length), kind)
    d.op("SignalIrfft", [d.input(shape, kind)], [y], custom=options(T=_T[kind], fft_length=length))
    return drawn(d, lambda: (samples(d, *shape, kind=kind),))


def energy(d: Draw) -> Drawn:
    """What lies outside is left as it was there, and cut off here."""
    n = d.size(2, 40)
    start = d.size(0, n - 1)
    stop = d.size(start + 1, n)
    made, cut = d.tensor((n,), "uint32"), d.tensor((stop - start,), "int32")
    whole = d.tensor((n,), "int32")
    d.op("SignalEnergy", [d.input((2 * n,), "int16")], [made], custom=options(start_index=start, end_index=stop))
    d.op("CAST", [made], [whole], "CastOptions", InDataType=15, OutDataType=2)
    places = [d.const(np.array([i], np.int32)) for i in (start, stop - start)]
    d.op("SLICE", [whole, *places], [cut], "SliceOptions")
    d.graph.outputs.append(cut)
    return drawn(d, lambda: (samples(d, 2 * n),))


def bank_tables(d: Draw, channels: int, energies: int) -> tuple[Array, ...]:
    """Weights and what they leave of 4096, or any two, and where channels lie."""
    count = d.size(8, 40)
    width = d.rng.integers(0, 8, channels + 1)
    starts = [np.array([d.rng.integers(0, n - w + 1) for w in width]) for n in (energies, count)]
    weights = d.rng.integers(0, 4097, count) if d.flag() else d.rng.integers(-(1 << 15), 1 << 15, count)
    others = 4096 - weights if d.flag() and weights.min() >= 0 else d.rng.integers(-(1 << 15), 1 << 15, count)
    return tuple(a.astype(np.int16) for a in (weights, others, *starts, width))


def bank(d: Draw) -> Drawn:
    """FilterBank, of whose numbers of 64 bits FilterBankSquareRoot takes the roots."""
    channels, energies = d.size(1, 8), d.size(8, 30)
    x, sums, roots = channels_in(d, energies), d.tensor((channels,), "uint64"), d.tensor((channels,), "uint32")
    tables = [d.const(a) for a in bank_tables(d, channels, energies)]
    d.op("SignalFilterBank", [x, *tables], [sums], custom=options(num_channels=channels))
    d.op("SignalFilterBankSquareRoot", [sums, d.input((), "int32")], [roots], custom=options())
    channels_out(d, roots, channels)
    return drawn(d, lambda: (words(d, energies), np.array(d.size(0, 15), np.int32)))


def spectral_subtraction(d: Draw) -> Drawn:
    n, reach = d.size(1, 9), 1 << d.size(3, 30)
    factors = ("smoothing", "one_minus_smoothing", "alternate_smoothing", "alternate_one_minus_smoothing")
    told = {name: int(d.rng.integers(0, reach)) for name in (*factors, "min_signal_remaining")}
    x, made, noise = channels_in(d, n), d.tensor((n,), "uint32"), d.tensor((n,), "uint32")
    shifts = {"smoothing_bits": d.size(0, 12), "spectral_subtraction_bits": d.size(0, 16)}
    own = options(**told, **shifts, num_channels=n, clamping=d.flag())
    d.op("SignalFilterBankSpectralSubtraction", [x], [made, noise], custom=own)
    channels_out(d, made, n)
    channels_out(d, noise, n)
    return drawn(d, lambda: (words(d, n),))


def pcan(d: Draw) -> Drawn:
    n = 30
    inputs = [channels_in(d, n), channels_in(d, n), d.const(samples(d, 125))]
    made = d.tensor((n,), "uint32")
    d.op("SignalPCAN", inputs, [made], custom=options(snr_shift=d.size(0, 30)))
    channels_out(d, made, n)
    return drawn(d, lambda: (words(d, n), words(d, n)))


def logarithm(d: Draw) -> Drawn:
    n, scale = 30, int(d.pick(64, 1, 3000, -7))  # type: ignore[call-overload]
    own = options(input_correction_bits=d.size(0, 8), output_scale=scale)
    d.op("SignalFilterBankLog", [channels_in(d, n)], [d.output((n,), "int16")], custom=own)
    return drawn(d, lambda: (words(d, n),))


def framer(d: Draw) -> Drawn:
    step, count = d.size(1, 9), d.size(1, 3)
    size, prefill = step + d.size(0, 20), d.flag()
    shape = (*((2,) if d.flag() else ()), step * count)
    frames = d.output((*shape[:-1], count, size), "int16")
    own = options(frame_size=size, frame_step=step, prefill=prefill)
    d.op("SignalFramer", [d.input(shape, "int16")], [frames, d.output((), "bool")], custom=own)
    return drawn(d, lambda: (samples(d, *shape),))


def delay(d: Draw) -> Drawn:
    shape = (*((2,) if d.flag() else ()), d.size(1, 9))
    own = options(delay_length=d.size(0, 25))
    d.op("SignalDelay", [d.input(shape, "int16")], [d.output(shape, "int16")], custom=own)
    return drawn(d, lambda: (samples(d, *shape),))


def stacker(d: Draw) -> Drawn:
    n, left, right = d.size(1, 5), d.size(0, 3), d.size(0, 3)
    count = left + right + 1
    sides = {"stacker_left_context": left, "stacker_right_context": right}
    own = options(num_channels=n, stacker_step=d.size(1, count), **sides)
    frames, valid = d.output((n * count,), "int16"), d.output((), "bool")
    d.op("SignalStacker", [d.input((n,), "int16")], [frames, valid], custom=own)
    return Drawn(d.bytes(), tuple((samples(d, n),) for _ in range(2 * RUNS)))


def overlap_add(d: Draw) -> Drawn:
    size = d.size(1, 12)
    shape, step = (*((2,) if d.flag() else ()), d.size(1, 3), size), d.size(1, size)
    y = d.output((*shape[:-2], shape[-2] * step), "int16")
    d.op("SignalOverlapAdd", [d.input(shape, "int16")], [y], custom=options(T=7, frame_step=step))
    return drawn(d, lambda: (samples(d, *shape),))


SIGNAL_MAKERS: Mapping[str, Callable[[Draw], Drawn]] = {
    "SignalDelay": delay,
    "SignalEnergy": energy,
    "SignalFftAutoScale": auto_scale,
    "SignalFilterBank": bank,
    "SignalFilterBankLog": logarithm,
    "SignalFilterBankSpectralSubtraction": spectral_subtraction,
    "SignalFramer": framer,
    "SignalIrfft": irfft,
    "SignalOverlapAdd": overlap_add,
    "SignalPCAN": pcan,
    "SignalRfft": rfft,
    "SignalStacker": stacker,
    "SignalWindow": window,
}
SIGNAL_NAMES = {CUSTOM + name for name in (*SIGNAL_MAKERS, "SignalFilterBankSquareRoot")}
"""Types of the operators that these models have."""


def draw_signal(name: str, seed: int) -> Drawn:
    """The same case for the same arguments."""
    return SIGNAL_MAKERS[name](Draw(np.random.default_rng([seed, *name.encode()]), "int16"))
