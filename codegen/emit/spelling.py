"""Numbers and arrays as C spells them."""

from __future__ import annotations

from typing import Any

import numpy as np

from codegen.ir.quant import Array
from codegen.records import record


@record
class ArrayView:
    """A constant array, spelled in lines of C; `offset` is its place in its struct, in bytes, `about` what it has."""

    name: str
    ctype: str
    count: int
    lines: tuple[str, ...]
    offset: int = 0
    about: str = ""


def array_lines(values: Array) -> tuple[str, ...]:
    """An array spelled in C, in lines of at most about 110 columns; exact for floats."""
    spell = spell_float if values.dtype.kind == "f" else _spell_int(values.dtype)
    text, start = ", ".join(map(spell, values.reshape(-1).tolist())) + "," * bool(values.size), 0
    lines: list[str] = []
    while len(text) - start > 110:
        end = text.rfind(", ", start, start + 111) + 1
        lines.append(text[start:end])
        start = end + 1
    return (*lines, text[start:])


def spell_float(value: float) -> str:
    """A float32 in C, exact; lam_base.h has names for what is no number."""
    if value != value:
        return "LAM_NAN"
    if value in (float("inf"), float("-inf")):
        return "LAM_INFINITY" if value > 0 else "-LAM_INFINITY"
    text = np.format_float_scientific(np.float32(value), unique=True, trim="0")
    return f"{text}f"


def _spell_int(kind: np.dtype[Any]) -> Any:
    if kind == np.int32:
        return lambda v: "(-2147483647 - 1)" if v == -(2**31) else str(v)
    if kind == np.uint32:
        return lambda v: f"0x{v:08x}u"
    return str


def plus(text: str, number: int) -> str:
    """A sum with a literal, spelled without what does nothing."""
    return text if number == 0 else f"{text} {'+' if number > 0 else '-'} {abs(number)}"
