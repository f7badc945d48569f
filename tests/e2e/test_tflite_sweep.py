"""Random TFLite models at the ends of their numbers: a few here, thousands by `python -m tests.e2e.tflite_sweep`."""

from __future__ import annotations

from collections import Counter

import pytest

from tests.e2e.tflite_sweep import sweep
from tests.support.tools import require_module


def test_golden_is_tflites_at_the_ends_of_numbers() -> None:
    require_module("tflite_micro", "ai_edge_litert")
    found = Counter(what for _, what, _ in sweep(1, 51))
    assert found["wrong"] == 0
    assert found["equal"] > 35


@pytest.mark.slow
def test_golden_is_tflites_at_the_ends_of_many_numbers() -> None:
    require_module("tflite_micro", "ai_edge_litert")
    assert not [(seed, why) for seed, what, why in sweep(10_000, 12_000) if what == "wrong"]
