"""Element types and what integers mean: DType, Quant, Requant.

`real = scale * (q - zero_point)`.  How a Requant is computed from scales, and applied, lives in `fixedpoint`
and `ops/requantize.py`; here are only the facts.
"""

from __future__ import annotations

import enum
import math
from dataclasses import replace
from typing import Any, Literal, get_args

import numpy as np
import numpy.typing as npt

from codegen.records import record

Array = npt.NDArray[Any]
Mode = Literal["single", "tflite", "ort", "mul8", "pot", "pot_half_even", "pot_half_down", "pot_half_away"]
MODES: tuple[Mode, ...] = ("single", "tflite", "ort")
"""The arithmetics whose formulas operators write out."""
DERIVED_MODES: tuple[Mode, ...] = ("mul8", "pot", "pot_half_even", "pot_half_down", "pot_half_away")
"""The formulas of `single` with coarser factors, or with powers of two and one of four roundings."""
ALL_MODES = (*MODES, *DERIVED_MODES)
Rounding = Literal["half_up", "half_even", "half_down", "half_away"]
"""Where halves go: up, to the even number, towards zero, away from zero."""
ROUNDINGS: tuple[Rounding, ...] = ("half_up", "half_even", "half_down", "half_away")
Sums = Literal["separate", "fused", "flushed"]
"""How products of real numbers are added (codegen/ops/float32/sums.py)."""
SUMS: tuple[Sums, ...] = get_args(Sums)
Storage = Literal["", "f16", "bf16", "s8", "u8", "s4", "u4"]
"""What real numbers are stored as: themselves, narrower floats, or integers times a scale of each output; those of `u4`
have a zero point of it, too."""


def formula_of(mode: Mode) -> Mode:
    """The arithmetic whose formulas this one has."""
    return "single" if mode in DERIVED_MODES else mode


def rounding_of(mode: Mode) -> Rounding:
    """Where halves go in a derived mode; half up in all others that round once."""
    return next((r for r in ROUNDINGS if mode == f"pot_{r}"), "half_up")


def is_pot(mode: Mode) -> bool:
    """Whether factors are powers of two."""
    return mode.startswith("pot")


class DType(enum.Enum):
    """Element types, named as CMSIS-NN names them."""

    S8 = "s8"
    U8 = "u8"
    S16 = "s16"
    S32 = "s32"
    F32 = "f32"

    @property
    def numpy(self) -> np.dtype[Any]:
        """The numpy dtype, native byte order."""
        return np.dtype(_NUMPY[self])

    @property
    def ctype(self) -> str:
        """The C99 type."""
        return _CTYPE[self]

    @property
    def bytes(self) -> int:
        """Size of one element."""
        return self.numpy.itemsize

    @property
    def is_float(self) -> bool:
        """Whether elements are real numbers rather than quantized ones."""
        return self is DType.F32

    @property
    def low(self) -> int:
        """Smallest integer value."""
        return int(np.iinfo(self.numpy).min)

    @property
    def high(self) -> int:
        """Largest integer value."""
        return int(np.iinfo(self.numpy).max)

    def reach(self, zero_point: int) -> int:
        """The largest |q - zero_point|."""
        return max(self.high - zero_point, zero_point - self.low)

    @staticmethod
    def of(array: Array) -> DType:
        """The DType of an array; KeyError for a type that networks here do not hold."""
        return {d.numpy: d for d in DType}[array.dtype]


_NUMPY = {DType.S8: "int8", DType.U8: "uint8", DType.S16: "int16", DType.S32: "int32", DType.F32: "float32"}
_CTYPE = {DType.S8: "int8_t", DType.U8: "uint8_t", DType.S16: "int16_t", DType.S32: "int32_t", DType.F32: "float"}


PACKED_BITS = (2, 4)
"""What a constant's elements may be packed in."""


def packed_bits(numbers: Array, most: int) -> int:
    """The fewest bits in which integers can be packed, at most so many; 0 where none are few enough."""
    if not numbers.size:
        return 0
    low, high = int(numbers.min()), int(numbers.max())
    wide = (n for n in PACKED_BITS if n <= most and -(1 << (n - 1)) <= low and high < 1 << (n - 1))
    return next(wide, 0)


def taken_off(numbers: Array, bits: int) -> Array | None:
    """What is taken off each row so that so many bits hold the rest, the least such; None where nothing does."""
    low, high = (np.asarray(end, np.int64) for end in (numbers.min(axis=-1), numbers.max(axis=-1)))
    half = 1 << (bits - 1)
    if (high - low >= 2 * half).any():
        return None
    return np.asarray(np.maximum(high - half + 1, 0) + np.minimum(low + half, 0))


@record
class Quant:
    """Per-tensor meaning of integers.  `scale` is exactly a float32, finite and above zero."""

    scale: float
    zero_point: int = 0

    def __post_init__(self) -> None:
        """Reject what no importer may let through."""
        assert math.isfinite(self.scale), self.scale
        assert self.scale > 0, self.scale
        assert float(np.float32(self.scale)) == self.scale, "scales are float32 values"


@record
class TensorType:
    """Shape, element type and meaning of one tensor.

    `bits` are those that a constant's elements are to take where they are stored, if fewer than the type's: all its
    numbers have so many, with a sign.  With a `block` each so many of them along the last axis share a factor: what is
    left of them, and the factor, are to be stored.  Where they are `apart`, the numbers of each entry of the first
    axis, or of each of its blocks, have so many bits once one number is taken off them all.  `storage` is what a
    constant's real numbers are to be stored as, which holds each of them exactly.  `sent`: a constant comes apart from
    the code, which others of its kind have to fit as well.
    """

    shape: tuple[int, ...]
    dtype: DType
    quant: Quant | None = None
    bits: int = 0
    block: int = 0
    apart: bool = False
    storage: Storage = ""
    sent: bool = False

    @property
    def elements(self) -> int:
        """Number of elements."""
        return math.prod(self.shape)

    @property
    def bytes(self) -> int:
        """Size in memory."""
        return self.elements * self.dtype.bytes


@record
class Requant:
    """One accumulator-to-activation step: `clamp(zero_point + scaled(acc), low, high)`.

    `multiplier` and `shift` (modes single and tflite) or `scale` (mode ort, float32 values) hold one entry
    for all channels or one per output channel.  `low` and `high` carry the fused activation, in quantized units.
    `rounding` is that of mode single; the others have their own.
    """

    mode: Mode
    zero_point: int
    low: int
    high: int
    multiplier: tuple[int, ...] = ()
    shift: tuple[int, ...] = ()
    scale: tuple[float, ...] = ()
    rounding: Rounding = "half_up"

    @property
    def per_channel(self) -> bool:
        """Whether each output channel has its own factor."""
        return max(len(self.multiplier), len(self.scale)) > 1

    def channels(self, start: int, stop: int) -> Requant:
        """The factors of channels `start..stop`; one that serves all channels stays."""
        if not self.per_channel:
            return self
        cut = slice(start, stop)
        return replace(self, multiplier=self.multiplier[cut], shift=self.shift[cut], scale=self.scale[cut])
