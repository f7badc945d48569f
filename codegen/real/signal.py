"""TFLite Micro's signal operators, which are defined on whole numbers: the integer operators themselves.

A tensor of uint32 enters and leaves them in words of s32, one of uint64 in pairs of these (codegen/ops/signal).
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from codegen.errors import FormUnsupported
from codegen.ir.op import Op
from codegen.ir.quant import Array, DType, TensorType
from codegen.ir.real import RealType
from codegen.ops import signal
from codegen.ops.limits import check_limits
from codegen.ops.signal.filter_bank import spans_fit
from codegen.ops.signal.words import joined, split
from codegen.records import record

__all__ = ["Signal", "spans_fit"]

_WORDS = {"int16": DType.S16, "int32": DType.S32, "uint32": DType.S32, "uint64": DType.S32}
_PAIR = (2,)


@record
class Signal:
    """An integer operator, and the element types of its results."""

    op: Op
    kinds: tuple[str, ...]

    def infer(self, ins: Sequence[RealType]) -> tuple[RealType, ...]:
        """What the operator says, of the types that the model has."""
        types = [_held(t) for t in ins]
        found = self.op.infer(types)
        check_limits(self.op, types)
        return tuple(_real(t, kind) for t, kind in zip(found, self.kinds, strict=True))

    def macs(self, ins: Sequence[RealType]) -> int:
        """The operator's own."""
        types = [_held(t) for t in ins]
        return self.op.macs(types, self.op.infer(types))

    def evaluate(self, ins: Sequence[Array]) -> tuple[Array, ...]:
        """To the bit."""
        found = self.op.golden([_as_words(x) for x in ins])
        return tuple(_as_numbers(y, kind) for y, kind in zip(found, self.kinds, strict=True))


def _held(kind: RealType) -> TensorType:
    name = kind.dtype.name
    if name not in _WORDS:
        raise FormUnsupported(f"a signal of {name}", hint="signals of int16 and int32 are known")
    return TensorType(kind.shape + _PAIR * (name == "uint64"), _WORDS[name])


def _real(kind: TensorType, name: str) -> RealType:
    return RealType(kind.shape[:-1] if name == "uint64" else kind.shape, np.dtype(name))


def _as_words(x: Array) -> Array:
    if x.dtype == np.uint64:
        return split(x)
    return np.ascontiguousarray(x).view(np.int32).reshape(x.shape) if x.dtype == np.uint32 else x


def _as_numbers(y: Array, name: str) -> Array:
    return joined(y) if name == "uint64" else np.asarray(y.astype(name))


_SOUND, _CHANNELS = ("int16",), ("uint32",)


def window(shift: int) -> Signal:
    """Frames times a window."""
    return Signal(signal.SignalWindow(shift), _SOUND)


def headroom() -> Signal:
    """By how many bits a frame can be shifted."""
    return Signal(signal.Headroom(), ("int32",))


def shift_left() -> Signal:
    """A frame shifted by computed bits."""
    return Signal(signal.ShiftLeft(), _SOUND)


def rfft(length: int, kind: str) -> Signal:
    """Spectra of frames."""
    return Signal(signal.Rfft(length), (kind,))


def irfft(length: int, kind: str) -> Signal:
    """Frames of spectra."""
    return Signal(signal.Irfft(length), (kind,))


def energy(start: int, stop: int) -> Signal:
    """Energies of a part of a spectrum."""
    return Signal(signal.Energy(start, stop), _CHANNELS)


def filter_bank() -> Signal:
    """Energies of channels."""
    return Signal(signal.FilterBank(), ("uint64",))


def filter_bank_root() -> Signal:
    """Their roots."""
    return Signal(signal.FilterBankRoot(), _CHANNELS)


def spectral_subtraction(
    smooth: tuple[int, int], keep: tuple[int, int], least: int, shifts: tuple[int, int], *, clamping: bool
) -> Signal:
    """Channels less their noise, and the noise; `shifts` are the smoothing bits and those of the factors."""
    return Signal(signal.SpectralSubtraction(smooth, keep, least, *shifts, clamping), _CHANNELS * 2)


def pcan(shift: int) -> Signal:
    """Channels by gains that their noise chooses."""
    return Signal(signal.Pcan(shift), _CHANNELS)


def filter_bank_log(correction: int, scale: int) -> Signal:
    """Logarithms of channels."""
    return Signal(signal.FilterBankLog(correction, scale), _SOUND)


def framer(size: int, step: int) -> Signal:
    """Frames of a sequence that goes on, and what the next run needs of it."""
    return Signal(signal.Framer(size, step), _SOUND * 2)


def overlap_add(step: int) -> Signal:
    """Overlapping frames added up, and what is not complete yet."""
    return Signal(signal.OverlapAdd(step), _SOUND * 2)
