"""Functions of float32 numbers, and operations on pairs of them."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from codegen.ops.float32 import FloatBinary, FloatClip, FloatUnary
from codegen.ops.float32.binary import OPERATIONS
from codegen.ops.float32.unary import FUNCTIONS, NUMBERS
from tests.contract.case import F32, Case, ints, t

_ABOVE_ZERO = ("acosh", "log", "rsqrt", "sqrt")
_WITHIN_ONE = ("acos", "asin", "atanh")


def cases() -> Iterator[Case]:
    """All of them."""
    yield from unary_cases()
    yield from binary_cases()


def unary_cases() -> Iterator[Case]:
    for name in FUNCTIONS:
        op = FloatUnary(name, (0.3, 0.6)[: NUMBERS.get(name, 0)])
        few = 9 if name in _ABOVE_ZERO else 1 if name in _WITHIN_ONE else 0
        yield Case(name, op, (t(F32, 3, 5, 7),), few=few)
    for least, most in ((-3.0, 6.0), (-np.inf, 1.5), (0.0, np.inf)):
        yield Case(f"clip_{least}_{most}", FloatClip(least, most), (t(F32, 1, 3, 2, 4),))


def binary_cases() -> Iterator[Case]:
    for name in OPERATIONS:
        few = 5 if name == "power" else 0  # a base below 0 has no power
        yield Case(name, FloatBinary(name), (t(F32, 4, 5, 7), t(F32, 4, 5, 7)), few=few)
    shapes = (((1, 4, 3, 2), (2,)), ((2, 1, 3, 2), (1, 4, 1, 2)), ((5, 1), (1, 6)), ((3,), ()))
    for i, (a, b) in enumerate(shapes):
        yield Case(f"stretched_{i}", FloatBinary("sub"), (t(F32, *a), t(F32, *b)))
    yield Case("held", FloatBinary("add", 0.0, 20.0), (t(F32, 1, 3, 4, 3), t(F32, 1, 3, 4, 3)))
    yield Case("const", FloatBinary("mul"), (t(F32, 1, 4, 4, 3), ints(F32, 3)))
    yield Case("const_rows", FloatBinary("add"), (ints(F32, 1, 4, 1, 3), t(F32, 1, 4, 4, 3)))
    yield Case("square", FloatBinary("mul"), (t(F32, 2, 3), 0))
