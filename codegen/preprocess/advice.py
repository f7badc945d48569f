"""The `[preprocess]` table that would make data a model's input, as lines of TOML.

Decides: which table is proposed, from what the data and the input say of themselves: shapes, element types, the
range of real numbers that a quantized input holds.  Whether a table is needed at all is decided in plausible.py.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from codegen.ir.quant import DType, Quant
from codegen.preprocess.steps import Preprocess

_CONVENTIONS: Mapping[tuple[str, ...], tuple[float, float]] = {
    ("# the numbers as they are", "dequantize = { scale = 1.0 }"): (0.0, 255.0),
    ("divide = 255",): (0.0, 1.0),
    ("divide = 127.5", "mean = 1"): (-1.0, 1.0),
    ("mean = 128",): (-128.0, 127.0),
    ("divide = 255", "mean = [0.485, 0.456, 0.406]", "std = [0.229, 0.224, 0.225]"): (-2.118, 2.64),
}
"""What networks are fed with for pixels of 0 .. 255, and the range that it makes."""
_ALIKE = 0.15


@dataclass(frozen=True, slots=True)
class Wanted:
    """What an input takes: the model's shape and element type, and what is stored for it where that is quantized."""

    name: str
    shape: tuple[int, ...]
    dtype: str
    stored: DType | None
    quant: Quant | None

    @property
    def reals(self) -> tuple[float, float] | None:
        """The smallest and the largest real number that it holds; None for floats that nothing quantizes."""
        if self.quant is None or self.stored is None or self.stored.is_float:
            return None
        scale, zero = self.quant.scale, self.quant.zero_point
        return scale * (self.stored.low - zero), scale * (self.stored.high - zero)


def layout_of(sample: tuple[int, ...], shape: tuple[int, ...]) -> str | None:
    """The value of `layout` that arranges one sample as the model's input; None when no order of its axes does."""
    if len(sample) > 3 or len(shape) > 4 or shape[:1] != (1,):
        return None
    letters = {1: "C", 2: "HW", 3: "HWC"}.get(len(sample), "")
    if len(sample) == 3 and sample[0] < min(sample[1:]):
        letters = "CHW"
    free = list(range(len(sample)))
    arranged = ""
    spare = iter(letter for letter in "CHWD" if letter not in letters)
    for size in shape[1:]:
        place = next((k for k in free if sample[k] == size), None)
        if place is None and size != 1:
            return None
        if place is None:
            arranged += next(spare)
        else:
            free.remove(place)
            arranged += letters[place]
    return None if any(sample[k] != 1 for k in free) else f"N{letters}->N{arranged}"


def table_for(sample: tuple[int, ...], kind: np.dtype[Any], how: Preprocess, wanted: Wanted) -> str:
    """The table for samples of this shape and element type; pictures stay what the table given so far makes of them."""
    layout = "->".join((how.axes, how.model_axes)) if how.axes else layout_of(sample, wanted.shape)
    lines = ["jpeg = true"] * how.jpeg
    lines += [f'layout = "{layout}"'] * (layout is not None)
    lines += [f"resize = {list(how.resize or ())}"] * (how.resize is not None)
    lines += [f'color = "{how.color}"'] * (how.color != "rgb")
    return "\n".join(["[preprocess]", *lines, *_numbers(kind, wanted)])


def _numbers(kind: np.dtype[Any], wanted: Wanted) -> list[str]:
    """The keys that make the data's numbers the input's."""
    reals = wanted.reals
    integers = np.dtype(wanted.dtype).kind in "iu"
    to_integers = [f"quantize = {_meaning(wanted.quant)}"] if integers and wanted.quant is not None else []
    if kind.kind == "f":
        return to_integers or _scaled(reals)
    if kind == np.uint8:
        return [*_pixels(reals), *to_integers]
    if wanted.quant is None or wanted.stored is None or kind != wanted.stored.numpy:
        unknown = "# the scale and zero point that the data was quantized with; 1.0 and 0 for none"
        return [unknown, "dequantize = { scale = S, zero_point = Z }", *to_integers]
    return [
        "# the input's own, if the data was quantized for this model; else the data's",
        f"dequantize = {_meaning(wanted.quant)}",
    ]


def _pixels(reals: tuple[float, float] | None) -> list[str]:
    """The convention whose range is the input's."""
    if reals is None:
        return [
            "# if the model takes pixels as 0 .. 1; dequantize = { scale = 1.0 } if as 0 .. 255",
            "divide = 255",
        ]
    for lines, made in _CONVENTIONS.items():
        if _is_range(made, reals):
            return list(lines)
    scale = (reals[1] - reals[0]) / 255
    zero = round(-reals[0] / scale)
    return ["# makes 0 .. 255 the input's range", f"dequantize = {{ scale = {scale!r}, zero_point = {zero} }}"]


def _is_range(made: tuple[float, float], reals: tuple[float, float]) -> bool:
    """Whether the input was calibrated on such numbers; a symmetric input has as much room below zero as above."""
    size = max(abs(made[0]), abs(made[1]))
    low, high = reals
    symmetric = math.isclose(-low, high, rel_tol=0.02)
    reach = abs(max(abs(low), abs(high)) - size) <= _ALIKE * size
    return reach and (symmetric or (abs(low - made[0]) <= _ALIKE * size and abs(high - made[1]) <= _ALIKE * size))


def _scaled(reals: tuple[float, float] | None) -> list[str]:
    """Real numbers of another range than the input's."""
    if reals is None:
        return []
    factor = max(abs(reals[0]), abs(reals[1]))
    return ["# for data of -1 .. 1: the input takes this times the data", f"dequantize = {{ scale = {factor:.6g} }}"]


def _meaning(quant: Quant | None) -> str:
    assert quant is not None
    return f"{{ scale = {quant.scale!r}, zero_point = {quant.zero_point} }}"
