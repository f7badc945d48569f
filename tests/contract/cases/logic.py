"""Comparisons, and the choice by their results."""

from __future__ import annotations

from collections.abc import Iterator

from codegen.ops import Compare, Select
from tests.contract.case import F32, S8, S16, S32, U8, A, B, Case, ints, q, t


def cases() -> Iterator[Case]:
    """All of them."""
    yield from compare_cases()
    yield from select_cases()
    yield from float_cases()


def compare_cases() -> Iterator[Case]:
    a, b = q(0.03, -128), q(0.2, 127)
    for relation in ("<", "=="):
        yield Case(f"compare{relation}", Compare(relation, a, q(a.scale * 1.1, -3)), (t(S8, 4, 5, 7), t(S8, 4, 5, 7)))
    yield Case("compare_const", Compare(">=", a, b), (ints(U8, 7), t(U8, 4, 5, 7)))
    yield Case("compare32", Compare("!=", None, None), (t(S32, 4, 1), t(S32, 1, 6)))
    yield Case("compare16", Compare(">", None, None), (t(S16, 4, 5), t(S16, 5)))
    for i, (x, y) in enumerate((((1, 4, 3, 2), (1, 4, 3, 2)), ((2, 1, 3, 2), (1, 4, 1, 2)))):
        yield Case(f"scaled_{i}", Compare("<=", A, B), (t(S8, *x, quant=A), t(S8, *y, quant=B)))
        yield Case(f"plain_{i}", Compare("!=", None, None), (t(S32, *x), t(S32, *y)), few=3)
    wide = (1, 4, 3, 2), (2, 1, 3, 2)
    fine, coarse = q(2.0**-10), q(2.0**-9)
    yield Case("wide", Compare("!=", coarse, fine), (t(S16, *wide[0], quant=coarse), t(S16, *wide[1], quant=fine)))
    for relation, (a, b) in (("<", (q(0.02, 5), q(0.06, -3))), ("==", (q(0.1), q(0.3))), (">=", (q(1e-5), q(3.0)))):
        sides = (t(S16, 4, 5, 7, quant=a), t(S16, 4, 5, 7, quant=b))
        yield Case(f"exact{relation}", Compare(relation, a, b, exact=True), sides, few=3)
    yield Case("wide_few", Compare("==", q(0.02), q(0.01)), (t(S16, 40, 5), t(S16, 5)))


def select_cases() -> Iterator[Case]:
    yield Case("select", Select(A), (t(U8, 3, 5, 7), t(S8, 3, 5, 7, quant=A), t(S8, 3, 5, 7, quant=A)))
    yield Case("select_const", Select(None), (t(U8, 9, 4), t(S16, 9, 4), ints(S16, 9, 4)))
    value = t(S8, 5, 3, 4, quant=A)
    yield Case("flags", Select(A), (t(U8, 5, 3, 4), value, value), few=2)


def float_cases() -> Iterator[Case]:
    """Comparisons of real numbers, and the choice between them."""
    for relation in ("==", "!=", "<", ">="):
        yield Case(f"real{relation}", Compare(relation, None, None), (t(F32, 3, 4, 5), t(F32, 4, 1)), few=3)
    yield Case("real", Select(None), (t(U8, 3, 4), t(F32, 3, 4), t(F32, 3, 4)), few=2)
