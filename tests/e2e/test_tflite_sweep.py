"""Random TFLite models at the ends of their numbers: a few here, thousands by `python -m tests.tflite_sweep`."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest

from tests.tflite_sweep import sweep, verdict
from tests.tools import require_module


def test_golden_is_tflites_at_the_ends_of_numbers(tmp_path: Path) -> None:
    require_module("tflite_micro", "ai_edge_litert")
    found = Counter(verdict(seed, tmp_path)[0] for seed in range(1, 121))
    assert found["wrong"] == 0
    assert found["equal"] > 100


@pytest.mark.slow
def test_golden_is_tflites_at_the_ends_of_many_numbers() -> None:
    require_module("tflite_micro", "ai_edge_litert")
    assert not [(seed, why) for seed, what, why in sweep(10_000, 12_000) if what == "wrong"]
