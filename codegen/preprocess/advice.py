"""The `[preprocess]` table that would make data a model's input, as lines of TOML.

Decides: which table is proposed, from what the data and the input say of themselves: shapes, element types, ranges.
Whether a table is needed at all is decided in plausible.py.
"""

from __future__ import annotations

import numpy as np

from codegen.preprocess.given import Given, Wanted
from codegen.preprocess.ranges import is_sliver, scaling
from codegen.preprocess.steps import Preprocess

_AS_THEY_ARE = ("# the numbers as they are", "dequantize = { scale = 1.0 }")


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


def table_for(given: Given, how: Preprocess, wanted: Wanted) -> str:
    """The table for these samples; pictures stay what the table given so far makes of them."""
    layout = "->".join((how.axes, how.model_axes)) if how.axes else layout_of(given.shape, wanted.shape)
    lines = [*how.before, *["jpeg = true"] * how.jpeg]
    lines += [f'layout = "{layout}"'] * (layout is not None)
    lines += [f"resize = {list(how.resize or ())}"] * (how.resize is not None)
    lines += [f'color = "{how.color}"'] * (how.color != "rgb")
    return "\n".join(["[preprocess]", *lines, *_numbers(given, wanted)])


def _numbers(given: Given, wanted: Wanted) -> list[str]:
    """The keys that make the data's numbers the input's."""
    if _are_the_inputs(given, wanted):
        return []
    to_integers = [f"quantize = {wanted.meaning}"] if wanted.is_integer and wanted.quant is not None else []
    if given.dtype.kind == "f":
        return [*_scaled(given, wanted), *to_integers]
    if given.dtype == np.uint8:
        return [*(_scaled(given, wanted) or _AS_THEY_ARE), *to_integers]
    if wanted.is_integer or wanted.quant is None or wanted.stored is None or given.dtype != wanted.stored.numpy:
        unknown = "# the scale and zero point that the data was quantized with; 1.0 and 0 for none"
        return [unknown, "dequantize = { scale = S, zero_point = Z }", *to_integers]
    return [
        "# the input's own, if the data was quantized for this model; else the data's",
        f"dequantize = {wanted.meaning}",
    ]


def _are_the_inputs(given: Given, wanted: Wanted) -> bool:
    """Whether the data has the integers that the model takes."""
    if not wanted.is_integer or given.dtype != wanted.dtype:
        return False
    return wanted.reals is None or not is_sliver(wanted.real(given.numbers), wanted.reals)


def _scaled(given: Given, wanted: Wanted) -> list[str]:
    """The keys that make pictures or real numbers fill the input's range."""
    pictures = given.dtype == np.uint8
    if wanted.reals is not None:
        return scaling(given.numbers, wanted.reals, pictures=pictures)
    unknown = ["# if the model takes pixels as 0 .. 1; dequantize = { scale = 1.0 } if as 0 .. 255", "divide = 255"]
    return unknown if pictures else []
