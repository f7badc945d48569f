"""TFLite Micro's signal operators: custom operators whose options are a flexbuffer.

Decides: that FftAutoScale is two operators, and that what an operator keeps is a state that begins as zeros.
Source: tflite-micro, signal/micro/kernels.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import numpy as np

from codegen.errors import FormUnsupported, ShapeMismatch
from codegen.frontends.tflite.flex import Told, read_options
from codegen.frontends.tflite.nodes import CUSTOM, TfliteNode
from codegen.frontends.tflite.real.context import RealContext, Table
from codegen.frontends.tflite.real.framing import delay, framer, overlap_add, stacker
from codegen.frontends.tflite.real.signals import option, whole, write_all
from codegen.real import signal

_KINDS = {7: "int16", 2: "int32", 0: "float32"}
"""Element types by their number in TFLite's schema, as the option T has it."""
_FACTORS = 1 << 32


def window(ctx: RealContext, node: TfliteNode) -> None:
    """SignalWindow."""
    shift = option(node, read_options(node.custom, node.where), "shift", 0, 31)
    write_all(ctx, node, signal.window(shift), whole(ctx, node, 2))


def auto_scale(ctx: RealContext, node: TfliteNode) -> None:
    """SignalFftAutoScale: the bits first, then the frame shifted by them."""
    (x,) = whole(ctx, node, 1)
    bits = ctx.written(node, signal.headroom(), [x], [ctx.result(node, 1).name], ctx.result(node, 1).name)[0]
    write_all(ctx, node, signal.shift_left(), [x, bits])
    ctx.bind(node, bits, 1)


def _transform(make: Callable[[int, str], signal.Signal]) -> Callable[[RealContext, TfliteNode], None]:
    def translate(ctx: RealContext, node: TfliteNode) -> None:
        told = read_options(node.custom, node.where)
        kind = _KINDS.get(option(node, told, "T", 0, 127), "no known type")
        (x,), found = whole(ctx, node, 1), ctx.type(node, 0).dtype.name
        if kind != found or kind == "float32":
            hint = "scale the samples to int16 or int32 and transform those"
            raise FormUnsupported(f"a transform of {kind} on {found}", where=node.where, hint=hint)
        write_all(ctx, node, make(option(node, told, "fft_length", 1, 1 << 20), kind), [x])

    return translate


def energy(ctx: RealContext, node: TfliteNode) -> None:
    """SignalEnergy."""
    told = read_options(node.custom, node.where)
    start, stop = (option(node, told, name, 0, 1 << 20) for name in ("start_index", "end_index"))
    write_all(ctx, node, signal.energy(start, stop), whole(ctx, node, 1))


def filter_bank(ctx: RealContext, node: TfliteNode) -> None:
    """SignalFilterBank; its tables are constants."""
    channels = option(node, read_options(node.custom, node.where), "num_channels", 1, 1 << 15)
    inputs = whole(ctx, node, 6)
    weights, others, *spans = (ctx.constant(node, i) for i in range(1, 6))
    if any(a.shape != (channels + 1,) for a in spans) or weights.shape != others.shape:
        shapes = [list(a.shape) for a in (weights, others, *spans)]
        raise ShapeMismatch(f"tables of shapes {shapes} for {channels} channels", where=node.where)
    energies = ctx.shape(node, 0)
    if not signal.spans_fit(energies[0] if energies else 0, weights.size, spans):
        raise ShapeMismatch(f"channels outside {list(energies)} energies or {weights.size} weights", where=node.where)
    write_all(ctx, node, signal.filter_bank(), inputs)


def square_root(ctx: RealContext, node: TfliteNode) -> None:
    """SignalFilterBankSquareRoot."""
    write_all(ctx, node, signal.filter_bank_root(), whole(ctx, node, 2))


def spectral_subtraction(ctx: RealContext, node: TfliteNode) -> None:
    """SignalFilterBankSpectralSubtraction, which keeps its estimate of the noise."""
    told = read_options(node.custom, node.where)
    names = ("smoothing", "alternate_smoothing", "one_minus_smoothing", "alternate_one_minus_smoothing")
    smooth, other, keep, other_keep = (_factor(node, told, name) for name in names)
    shifts = tuple(option(node, told, f"{what}_bits", 0, 31) for what in ("smoothing", "spectral_subtraction"))
    op = signal.spectral_subtraction(
        smooth=(smooth, other),
        keep=(keep, other_keep),
        least=_factor(node, told, "min_signal_remaining"),
        shifts=(shifts[0], shifts[1]),
        clamping=bool(option(node, told, "clamping", 0, 1)),
    )
    inputs, shape = whole(ctx, node, 1), ctx.shape(node, 0)
    if shape != (option(node, told, "num_channels", 1, 1 << 15),):
        raise ShapeMismatch(f"{told['num_channels']} channels of {list(shape)}", where=node.where)
    noise = ctx.builder.state(f"{ctx.result(node, 1).name}:before", np.zeros(shape, np.uint32))
    made = write_all(ctx, node, op, [*inputs, noise])
    ctx.builder.becomes(noise, made[1])


def _factor(node: TfliteNode, told: Told, name: str) -> int:
    """A factor as 32 bits without a sign have it."""
    return option(node, told, name, -(_FACTORS >> 1), _FACTORS - 1) % _FACTORS


def pcan(ctx: RealContext, node: TfliteNode) -> None:
    """SignalPCAN."""
    shift = option(node, read_options(node.custom, node.where), "snr_shift", 0, 63)
    write_all(ctx, node, signal.pcan(shift), whole(ctx, node, 3))


def logarithm(ctx: RealContext, node: TfliteNode) -> None:
    """SignalFilterBankLog."""
    told = read_options(node.custom, node.where)
    correction, scale = option(node, told, "input_correction_bits", 0, 31), option(node, told, "output_scale", *_SCALES)
    write_all(ctx, node, signal.filter_bank_log(correction, scale), whole(ctx, node, 1))


_SCALES = (-(1 << 31), (1 << 31) - 1)

_TRANSLATORS: Mapping[str, Callable[[RealContext, TfliteNode], None]] = {
    "SignalDelay": delay,
    "SignalEnergy": energy,
    "SignalFftAutoScale": auto_scale,
    "SignalFilterBank": filter_bank,
    "SignalFilterBankLog": logarithm,
    "SignalFilterBankSpectralSubtraction": spectral_subtraction,
    "SignalFilterBankSquareRoot": square_root,
    "SignalFramer": framer,
    "SignalIrfft": _transform(signal.irfft),
    "SignalOverlapAdd": overlap_add,
    "SignalPCAN": pcan,
    "SignalRfft": _transform(signal.rfft),
    "SignalStacker": stacker,
    "SignalWindow": window,
}
TRANSLATORS: Table = {CUSTOM + n: t for n, t in _TRANSLATORS.items()}
"""By the type of the operator."""

_WHOLE = {"uint32", "int32", "int16", "int8", "uint8"}
_MOVING = ("CONCATENATION", "EXPAND_DIMS", "PACK", "RESHAPE", "SLICE", "SPLIT", "SQUEEZE", "STRIDED_SLICE")
_PAIRED = (CUSTOM + "SignalFilterBank", CUSTOM + "SignalFilterBankSquareRoot")


def check_words(node: TfliteNode, kinds: Sequence[str]) -> None:
    """LAM-IMPORT-022 for an operator on tensors of unsigned words that would take them for signed ones."""
    wide = "uint64" in kinds and node.op_type not in _PAIRED
    known = (
        node.op_type in TRANSLATORS or node.op_type in _MOVING or (node.op_type == "CAST" and _WHOLE.issuperset(kinds))
    )
    if wide or ("uint32" in kinds and not known):
        hint = "signal operators, those that move numbers, and CAST to int32 and smaller ones take uint32"
        spoken = "uint64" if wide else "uint32"
        raise FormUnsupported(f"{node.op_type.removeprefix(CUSTOM)} of {spoken}", where=node.where, hint=hint)
