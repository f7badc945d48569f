"""Operators with a state: TFLite's equal to TFLite Micro's reference kernels, cells beside real numbers."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial

import numpy as np
import pytest

from codegen.errors import OperatorLimit
from codegen.ir.quant import Array, DType, TensorType
from codegen.ops import Recurrent, check_limits
from codegen.ops.recurrent import GATES, GateSteps, half_logistic
from tests.support.recurrent_cases import Recurrent as TfliteCase
from tests.support.recurrent_cases import lstm, svdf
from tests.support.tflite_cases import Draw
from tests.support.tflite_models import run_tflm
from tests.support.tools import require_module


def check(made: TfliteCase, seed: int) -> None:
    expected = run_tflm(made.case.data, *made.case.inputs)
    for step, (want, have) in enumerate(zip(expected, made.run(), strict=True)):
        assert want[0].shape == have.shape
        assert np.array_equal(want[0], have), f"seed {seed}, step {step}"


@pytest.mark.parametrize("state_kind", ["int8", "int16"])
def test_svdf_is_tflite_micro(state_kind: str) -> None:
    require_module("tflite_micro")
    for seed in range(30):
        check(svdf(Draw(np.random.default_rng([seed, 4]), "int8"), state_kind), seed)


def test_svdf_sums_wrap_around() -> None:
    require_module("tflite_micro")
    wrapped = 0
    for seed in range(10):
        made = svdf(Draw(np.random.default_rng([seed, 5]), "int8"), "int16", most=40)
        check(made, seed)
        wrapped += _leaves_32_bits(made)
    assert wrapped > 2


@pytest.mark.parametrize("kind", ["int8", "int16"])
def test_lstm_is_tflite_micro(kind: str) -> None:
    require_module("tflite_micro")
    for seed in range(12):
        check(lstm(Draw(np.random.default_rng([seed, 6]), kind)), seed)


def _leaves_32_bits(made: TfliteCase) -> bool:
    """Whether a sum over time would need more than 32 bits."""
    states, found = made.states, False
    for inputs in made.case.inputs:
        _, *states = made.op.golden([*inputs, *made.constants, *states])
        _, wt, b = made.constants
        parts = states[0].reshape(len(inputs[0]), *wt.shape).astype(np.int64) * wt
        found |= bool((np.abs(parts.sum(2).reshape(len(inputs[0]), len(b), -1).sum(2) + b) >= 2**31).any())
    return found


def test_half_the_logistic_function_is_within_a_quarter_of_a_16_bit_step() -> None:
    """Beyond its table too, and odd."""
    v = np.concatenate([np.arange(0, 2**31, 40_009), [2**31 - 1, 12 << 26, (12 << 26) - 1]])
    share = half_logistic(v)
    assert np.abs(share / 2.0**31 - (1 / (1 + np.exp(-v / 2.0**26)) - 0.5)).max() < 2.0**-17
    assert np.array_equal(half_logistic(-v), -share)
    assert (np.diff(share[np.argsort(v)]) >= 0).all()


RIGHT = 20
FORMS: tuple[Recurrent, ...] = (
    Recurrent("rnn", ("tanh",), GateSteps((1 << 30,), (1 << 29,), (RIGHT,)), 0),
    Recurrent("rnn", ("logistic",), GateSteps((1 << 30,), (1 << 29,), (RIGHT,)), 3, reverse=True),
    Recurrent("gru", ("logistic", "tanh"), GateSteps((1 << 30,), (1 << 29,), (RIGHT,)), 0),
    Recurrent("gru", ("logistic", "tanh"), GateSteps((1 << 30,), (1 << 29,), (RIGHT,)), 1, 1 << 25, reset_after=True),
    Recurrent("lstm", ("logistic", "tanh", "tanh"), GateSteps((1 << 30,), (1 << 29,), (RIGHT,)), 0),
    Recurrent("lstm", ("logistic", "tanh", "logistic"), GateSteps((1 << 30,), (1 << 29,), (RIGHT,)), 0, coupled=True),
    Recurrent("gru", ("logistic", "tanh"), GateSteps((1 << 30,), (1 << 29,), (RIGHT,)), 1, finer=True),
    Recurrent("rnn", ("tanh",), GateSteps((1 << 30,), (1 << 29,), (RIGHT,)), 0, finer=True),
)


@pytest.mark.parametrize(
    "form", FORMS, ids=lambda op: f"{op.cell}{op.reach}{op.coupled:d}{op.reset_after:d}{op.finer:d}"
)
def test_a_cell_in_integers_is_the_real_one_rounded_in_each_step(form: Recurrent) -> None:
    """Beside float64, of one step from states of any size: within a step and a half of the hidden state's."""
    rng, units, cell = np.random.default_rng(8), 7, 2.0**-26
    count = units * GATES[form.cell]
    scale = 2.0**-26 * 2.0 ** (30 - RIGHT)  # of the sums of the input; of those of the state half of that
    op = replace(form, update=(1 << 30, 35), squash=(1 << 30, 30), cell_scale=cell)
    for _ in range(200):
        x = rng.normal(0, 2 / scale, (1, 3, count)).astype(np.int32)
        r, b = rng.integers(-1, 2, (count, units)), rng.integers(-90000, 90000, count)
        h = rng.integers(-32768, 32768, (3, units)).astype(np.int16)
        c = rng.normal(0, 1.5 / cell, (3, units)).astype(np.int32)
        ins = (x, r.astype(np.int8), b.astype(np.int32), h, *((c,) if op.cell == "lstm" else ()))
        y, *last = op.golden(ins)
        product = partial(_product, r=r, b=b, scales=(op.quant.scale, scale / 2))
        real = _real_step(op, x[0] * scale, h * op.quant.scale, c * cell, product)
        assert np.abs(y[0] - np.clip(real[0] / op.quant.scale, -32768, 32767)).max() < 1.5
        if last:
            assert np.abs(last[0] * cell - real[1]).max() < 2.0**-16 * 3


def test_gates_that_another_function_opens_are_refused() -> None:
    op = replace(FORMS[2], functions=("tanh", "tanh"))
    kinds = (((2, 1, 6), DType.S32), ((6, 2), DType.S8), ((6,), DType.S32), ((1, 2), DType.S16))
    ins = [TensorType(shape, kind) for shape, kind in kinds]
    check_limits(FORMS[2], ins)
    with pytest.raises(OperatorLimit, match="LAM-OPS-RECURRENT-12"):
        check_limits(op, ins)


def test_no_lstm_is_finer_than_it_shows() -> None:
    op = Recurrent("lstm", ("logistic", "tanh", "tanh"), FORMS[2].gates, 0, finer=True)
    kinds = (
        ((2, 1, 8), DType.S32),
        ((8, 2), DType.S8),
        ((8,), DType.S32),
        *(((1, 2), k) for k in (DType.S16, DType.S32)),
    )
    with pytest.raises(OperatorLimit, match="LAM-OPS-RECURRENT-13"):
        check_limits(op, [TensorType(shape, kind) for shape, kind in kinds])


def test_what_a_finer_state_leaves_is_handed_on() -> None:
    """Of 60 steps that damp nothing: to the real recurrence as near as the table, where a rounded state drifts off."""
    rng, units, steps, scale = np.random.default_rng(3), 24, 60, 2.0**-26 * 2.0 ** (30 - RIGHT)
    factor = 0.3 * 2.0**RIGHT * 2.0**26 / 2.0**15 / 127
    op = replace(FORMS[-1], gates=GateSteps((1 << 30,), (round(factor),), (RIGHT,)))
    r = rng.integers(-127, 128, (units, units))
    x = rng.normal(0, 0.3 / scale, (steps, 1, units)).astype(np.int32)
    ins = (x, r.astype(np.int8), np.zeros(units, np.int32), np.zeros((1, units), np.int16))
    real, h = [], np.zeros((1, units))
    for step in x:
        h = np.tanh(step * scale + h @ r.T * (round(factor) / 2.0**RIGHT / 2.0**26 * 2.0**15))
        real.append(h)
    away = [np.abs(form.golden(ins)[0] - np.stack(real) * 32768).max() for form in (op, replace(op, finer=False))]
    assert away[0] < 3
    assert away[0] < 0.6 * away[1]


def _product(h: Array, r: Array, b: Array, scales: tuple[float, float]) -> Array:
    """Of the hidden state's real numbers with whole weights, at the scale of their sums."""
    return np.asarray((h / scales[0] @ r.T + b) * scales[1])


def _real_step(op: Recurrent, x: Array, h: Array, c: Array, product: Callable[[Array], Array]) -> tuple[Array, Array]:
    """The new h and c in real numbers; `product` has the bias of the hidden side."""
    known = {"logistic": lambda v: 1 / (1 + np.exp(-v)), "tanh": np.tanh}
    f, *more = (known[name] for name in op.functions)
    bound = op.bound / 2.0**26
    a, n = product(h), h.shape[1]
    gates = f(np.clip(x + a, -bound, bound))
    if op.cell == "rnn":
        return gates, c
    if op.cell == "lstm":
        i, o, kept = (gates[:, k * n : (k + 1) * n] for k in range(3))
        c = (1 - i if op.coupled else kept) * c + i * more[0]((x + a)[:, 3 * n :])
        return o * more[1](c), c
    z, s = gates[:, :n], gates[:, n : 2 * n]
    last = s * a[:, 2 * n :] if op.reset_after else product(s * h)[:, 2 * n :]
    new = more[0](np.clip(x[:, 2 * n :] + last, -bound, bound))
    return new + z * (h - new), c
