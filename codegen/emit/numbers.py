"""Numbers that C is told at a call: integers that spell themselves as a name, or as what follows from such.

A kernel's context with such numbers in the place of its literals is spelled by the same template.  What is computed of
them keeps its value and how C computes it; what is decided by them is decided by the value, so that a text with them is
right for the shape whose numbers they are, and for every other shape that gives the same text.
"""

from __future__ import annotations

import re
from typing import Any

_FUNCTION = re.compile(r"^[^\n]*\*shape\)\n\{\n(?P<body>.*?)^\}$", re.DOTALL | re.MULTILINE)
"""A function that is told of a shape."""
_TOLD = re.compile(r"\btold_(\w+)")


def spelled(name: str) -> str:
    """A member of the struct as a function reads it: by a local (see `with_locals`)."""
    return f"told_{name}"


def with_locals(text: str) -> str:
    """Functions that copy their numbers to locals first: a store through a byte pointer may change what is none."""

    def opened(found: re.Match[str]) -> str:
        head, body = found[0][: found.start("body") - found.start()], found[0][found.start("body") - found.start() :]
        names = sorted(set(_TOLD.findall(body)))
        if not names and "shape" not in body:
            return f"{head}    LAM_UNUSED(shape);\n{body}"
        return head + "".join(f"    const int32_t told_{name} = shape->{name};\n" for name in names) + body

    return _FUNCTION.sub(opened, text)


class Number(int):
    """An integer, with the C that has its value: one name, or an expression of such."""

    text: str
    atom: bool

    def __new__(cls, value: int, text: str, *, atom: bool = True) -> Number:
        """`atom`: the text needs no parentheses."""
        made = super().__new__(cls, value)
        made.text, made.atom = text, atom
        return made

    def __str__(self) -> str:
        """As C spells it beside whatever operators."""
        return self.text if self.atom else f"({self.text})"

    def __add__(self, other: Any) -> Any:
        return self if _is(other, 0) else _of(int(self) + other, self, "+", other)

    def __radd__(self, other: Any) -> Any:
        return self if _is(other, 0) else _of(other + int(self), other, "+", self)

    def __sub__(self, other: Any) -> Any:
        return self if _is(other, 0) else _of(int(self) - other, self, "-", other)

    def __rsub__(self, other: Any) -> Any:
        return _of(other - int(self), other, "-", self)

    def __mul__(self, other: Any) -> Any:
        return self if _is(other, 1) else 0 if _is(other, 0) else _of(int(self) * other, self, "*", other)

    def __rmul__(self, other: Any) -> Any:
        return self if _is(other, 1) else 0 if _is(other, 0) else _of(other * int(self), other, "*", self)

    def __floordiv__(self, other: Any) -> Any:
        """A quotient of numbers that are not negative, which C rounds alike; of others the value alone."""
        if _is(other, 1):
            return self
        quotient = int(self) // int(other)
        return _of(quotient, self, "/", other) if self >= 0 and other > 0 else quotient

    def __neg__(self) -> Any:
        return Number(-int(self), f"-{self}", atom=False)


def _is(other: Any, value: int) -> bool:
    """Whether it is this literal, and no number that happens to have its value."""
    return not isinstance(other, Number) and bool(other == value)


def _of(value: int, left: Any, sign: str, right: Any) -> Number:
    return Number(value, f"{_side(left)} {sign} {_side(right)}", atom=False)


def _side(value: Any) -> str:
    """An operand as C spells it; a literal below zero in parentheses."""
    return str(value) if isinstance(value, Number) or value >= 0 else f"({value})"
