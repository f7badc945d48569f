"""Cells over sequences of float32 numbers."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace

import numpy as np

from codegen.ir.op import Op
from codegen.ir.quant import Array
from codegen.ops.float32 import FloatRecurrent
from codegen.ops.float32.recurrent import GATES, Cell
from tests.contract.case import F32, OTHER_SUMS, STORAGES, Case, Input, stored, t

_SIGMOID, _TANH = ("sigmoid", ()), ("tanh", ())
_FUNCTIONS = {"lstm": (_SIGMOID, _TANH, _TANH), "gru": (_SIGMOID, _TANH), "rnn": (_TANH,)}
OTHERWISE_TOO = ("lstm0", "gru1", "known")


def cases() -> Iterator[Case]:
    """All of them; some of them with other sums, or with weights stored otherwise, too."""
    for case in _as_they_are():
        yield case
        if case.name in OTHERWISE_TOO:
            for sums in OTHER_SUMS:
                yield replace(case, name=f"{sums}_{case.name}", op=replace(case.op, sums=sums))  # type: ignore[type-var]
            yield from (stored(case, storage) for storage in STORAGES)


def _as_they_are() -> Iterator[Case]:
    for cell in ("lstm", "gru", "rnn"):
        for i, (reverse, bound) in enumerate(((False, np.inf), (True, 0.5))):
            op = FloatRecurrent(cell, _FUNCTIONS[cell], reverse, bound, coupled=bool(i), reset_after=bool(i))
            yield Case(f"{cell}{i}", op, _inputs(cell))
    peeping = FloatRecurrent("lstm", (("hard_sigmoid", (0.2, 0.5)), _TANH, ("leaky_relu", (0.1,))), peepholes=True)
    yield Case("peeping", peeping, (*_inputs("lstm"), _numbers(15)))
    yield Case("known", FloatRecurrent("rnn", (("relu", ()),)), (*_inputs("rnn")[:3], _numbers(2, 5)))
    for cell in ("gru", "rnn"):
        x, r, b, *states = _inputs(cell)
        computed = (x, t(F32, *r.shape), t(F32, *b.shape), *states)
        yield Case(f"computed_{cell}", FloatRecurrent(cell, _FUNCTIONS[cell]), computed)
    x, r, b, *states = _inputs("lstm")
    yield Case("computed_lstm", peeping, (_numbers(*x.shape), t(F32, *r.shape), b, *states, t(F32, 15)))


def _inputs(cell: Cell) -> tuple[Input, ...]:
    width = 5 * GATES[cell]
    states: tuple[Input, ...] = (t(F32, 2, 5), t(F32, 2, 5)) if cell == "lstm" else (t(F32, 2, 5),)
    return (t(F32, 4, 2, width), _numbers(width, 5), _numbers(width), *states)


def _numbers(*shape: int) -> Array:
    return np.random.default_rng([9, *shape]).normal(0, 0.5, shape).astype(np.float32)


PRODUCTS: Mapping[type[Op], Callable[[Case], int]] = {
    FloatRecurrent: lambda case: 4 * 2 * 5 * 5 * GATES[case.op.cell]  # type: ignore[attr-defined]
}
