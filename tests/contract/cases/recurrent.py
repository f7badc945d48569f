"""Operators that give what they keep for the next step as well, as TFLite models draw them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping

import numpy as np

from codegen.ir.op import Op
from codegen.ir.quant import DType, Requant
from codegen.ops import Lstm, Svdf
from tests.contract.case import S8, S16, S32, A, Case, Y, ints, q, t
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
    Lstm: lambda case: case.types[0].shape[0] * case.types[0].shape[1] * _weights(case),
}
"""Each weight meets each step of each of the batch."""
