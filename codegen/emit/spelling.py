"""Numbers and arrays as C spells them."""

from __future__ import annotations

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
    text, start = _spelled(values.reshape(-1)) + "," * bool(values.size), 0
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


_BYTES = {
    np.dtype(np.uint8): tuple(map(str, range(256))),
    np.dtype(np.int8): tuple(map(str, (*range(128), *range(-128, 0)))),
}
"""What each byte says, of a network's millions of them."""


def _spelled(values: Array) -> str:
    """Numbers with commas between them."""
    if values.dtype.kind == "f":
        return ", ".join(map(spell_float, values.tolist()))
    if values.dtype == np.uint32:
        words = values.astype(">u4").tobytes().hex(" ", 4).replace(" ", "u, 0x")
        return f"0x{words}u" if words else ""
    if values.dtype in _BYTES:
        return ", ".join(map(_BYTES[values.dtype].__getitem__, values.tobytes()))
    text = ", ".join(map(str, values.tolist()))
    return text.replace("-2147483648", "(-2147483647 - 1)") if values.dtype == np.int32 else text


def plus(text: str, number: int) -> str:
    """A sum with a literal, spelled without what does nothing."""
    return text if number == 0 else f"{text} {'+' if number > 0 else '-'} {abs(number)}"
