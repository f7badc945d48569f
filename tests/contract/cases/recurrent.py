"""Operators that give what they keep for the next step as well, as TFLite models draw them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping

import numpy as np

from codegen.ir.op import Op
from codegen.ir.quant import Array, DType, Requant
from codegen.ops import Lstm, Recurrent, Svdf
from codegen.ops.recurrent import GATES, Cell, GateSteps, Squash
from tests.contract.case import S8, S16, S32, A, Case, Input, Y, ints, q, sums, t
from tests.support.recurrent_cases import lstm
from tests.support.tflite_cases import Draw


def cases() -> Iterator[Case]:
    """All of them."""
    for kind, zero, shift in ((S16, 0, 4), (S8, -128, -4), (S8, 3, -3)):
        for i, sizes in enumerate(((1, 5, 4, 2, 3), (2, 3, 3, 1, 1), (1, 1, 1, 3, 6))):
            yield svdf(f"{kind.value}_{shift}_{i}", kind, zero, shift, sizes)
    for kind in (S8, S16):
        for seed in range(4):
            made = lstm(Draw(np.random.default_rng([seed, 9]), kind.numpy.name), most=7)
            (x,) = made.case.inputs[0]
            states = (t(DType.of(s), *s.shape) for s in made.states)
            yield Case(f"{kind.value}_{seed}", made.op, (t(DType.of(x), *x.shape), *made.constants, *states))

    yield from cells()


def cells() -> Iterator[Case]:
    """Cells in integers: in each form, with factors for each row, and with weights of 16 bits."""
    for cell in ("lstm", "gru", "rnn"):
        for i, kind in enumerate((S8, S16)):
            functions = _FUNCTIONS[cell] if i == 0 else ("logistic",) * 3
            rows, more = 5 * GATES[cell], {"coupled": bool(i), "reset_after": bool(i), "reverse": bool(i)}
            factors = _factors(1 if i == 0 else rows)
            op = Recurrent(cell, functions, factors, 2 * i, (1 << 30) >> i, **more, **_CELL)
            yield Case(f"{cell}{i}", op, _of_cell(cell, kind))
    finer = Recurrent("rnn", ("tanh",), _factors(5), 1, finer=True, reverse=True)
    yield Case("finer", finer, _of_cell("rnn", S16))
    for i, after in enumerate((False, True)):
        finer = Recurrent("gru", _FUNCTIONS["gru"], _factors(1), i, reset_after=after, finer=True, reverse=after)
        yield Case(f"finer_gru{i}", finer, _of_cell("gru", S8))
    known = _of_cell("lstm", S8)
    states = ints(S16, 2, 5), ints(S32, 2, 5)
    yield Case("known", Recurrent("lstm", _FUNCTIONS["lstm"], _factors(1), 0, **_CELL), (*known[:3], *states))
    yield Case(
        "unit", Recurrent("gru", _FUNCTIONS["gru"], _factors(1), 0), (t(S32, 1, 1, 3), *_parts(3, 1, S8), t(S16, 1, 1))
    )


_FUNCTIONS: Mapping[Cell, tuple[Squash, ...]] = {
    "lstm": ("logistic", "tanh", "tanh"),
    "gru": ("logistic", "tanh"),
    "rnn": ("tanh",),
}
_CELL = {"update": (1 << 30, 33), "squash": (1500000000, 32), "cell_scale": 2.0**-27}


def _factors(rows: int) -> GateSteps:
    """Inputs of 32 bits go up to half of what gates reach, states somewhat beyond it."""
    return GateSteps(*(tuple(n - 1000 * i for i in range(rows)) for n in (1 << 29, 1 << 29)), (31,) * rows)


def _of_cell(cell: Cell, kind: DType) -> tuple[Input, ...]:
    rows = 5 * GATES[cell]
    states = (t(S16, 2, 5), t(S32, 2, 5)) if cell == "lstm" else (t(S16, 2, 5),)
    return (t(S32, 4, 2, rows), *_parts(rows, 5, kind), *states)


def _parts(rows: int, units: int, kind: DType) -> tuple[Array, Array]:
    """Weights and biases whose sums fit 32 bits."""
    return (ints(kind, rows, units) // (1 if kind is S8 else 8)).astype(kind.numpy), sums(rows)


def svdf(name: str, kind: DType, zero: int, shift: int, sizes: tuple[int, int, int, int, int]) -> Case:
    """Its state is of type `kind`; the shift is that of the sums, which fit its output then."""
    batch, inputs, units, rank, memory = sizes
    filters, kept = units * rank, q(0.01, zero)
    feature = Requant("tflite", 0, kind.low, kind.high, (1 << 30,), (-2 if kind is S8 else 0,))
    step = Requant("tflite", 5, -100, 127, (1500000000,), (-11 + shift - (kind is S16) * 10,))
    weights = ints(S8, filters, inputs), ints(kind, filters, memory), ints(S32, units)
    x, state = t(S8, batch, inputs, quant=A), t(kind, batch, filters * memory, quant=kept)
    return Case(name, Svdf(A.zero_point, zero, feature, step, Y), (x, *weights, state))


def _weights(case: Case) -> int:
    return sum(case.arrays[i].size for i in case.consts[:2])


PRODUCTS: Mapping[type[Op], Callable[[Case], int]] = {
    Svdf: lambda case: case.types[0].shape[0] * _weights(case),
    Recurrent: lambda case: case.types[0].shape[0] * case.types[0].shape[1] * case.types[1].elements,
    Lstm: lambda case: case.types[0].shape[0] * case.types[0].shape[1] * _weights(case),
}
"""Each weight meets each step of each of the batch."""
