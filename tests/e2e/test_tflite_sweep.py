"""Random TFLite models at the ends of their numbers: a few here, thousands by `python -m tests.e2e.tflite_sweep`."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import numpy as np
import pytest

from tests.e2e import tflite_sweep
from tests.e2e.tflite_sweep import sweep, verdict
from tests.support.tflite_cases import Drawn
from tests.support.tflite_models import Model
from tests.support.tools import require_module


def test_golden_is_tflites_at_the_ends_of_numbers() -> None:
    require_module("tflite_micro", "ai_edge_litert")
    found = Counter(what for _, what, _ in sweep(1, 51))
    assert found["wrong"] == 0
    assert found["equal"] > 35


def product(scale: float) -> Drawn:
    """The largest sum of seven products of 16-bit numbers, times `scale`."""
    model = Model()
    inputs = [model.input((1, 1, 7), "int16", scale), model.input((1, 7, 1), "int16", 1.0)]
    model.op("BATCH_MATMUL", inputs, [model.output((1, 1, 1), "int16", 1.0)], "BatchMatMulOptions")
    lowest = np.full(7, -(2**15), np.int16)
    return Drawn(model.bytes(), ((lowest.reshape(1, 1, 7), lowest.reshape(1, 7, 1)),))


@pytest.mark.parametrize(("scale", "what"), [(0.25, "equal"), (8.0, "beyond 32 bits in TFLite")])
def test_a_sum_that_tflite_narrows_is_told_from_a_wrong_one(
    scale: float, what: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    require_module("tflite_micro")
    monkeypatch.setattr(tflite_sweep, "extreme_case", lambda seed: ("BATCH_MATMUL", "int16", product(scale)))
    assert verdict(0, tmp_path)[0] == what


@pytest.mark.slow
def test_golden_is_tflites_at_the_ends_of_many_numbers() -> None:
    require_module("tflite_micro", "ai_edge_litert")
    assert not [(seed, why) for seed, what, why in sweep(10_000, 12_000) if what == "wrong"]
