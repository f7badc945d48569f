"""Operators with a state, step by step: equal to TFLite Micro's reference kernels over sequences."""

from __future__ import annotations

import numpy as np
import pytest

from tests.support.recurrent_cases import Recurrent, lstm, svdf
from tests.support.tflite_cases import Draw
from tests.support.tflite_models import run_tflm
from tests.support.tools import require_module


def check(made: Recurrent, seed: int) -> None:
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


def _leaves_32_bits(made: Recurrent) -> bool:
    """Whether a sum over time would need more than 32 bits."""
    states, found = made.states, False
    for inputs in made.case.inputs:
        _, *states = made.op.golden([*inputs, *made.constants, *states])
        _, wt, b = made.constants
        parts = states[0].reshape(len(inputs[0]), *wt.shape).astype(np.int64) * wt
        found |= bool((np.abs(parts.sum(2).reshape(len(inputs[0]), len(b), -1).sum(2) + b) >= 2**31).any())
    return found
