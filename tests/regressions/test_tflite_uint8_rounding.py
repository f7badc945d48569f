"""FULLY_CONNECTED of uint8: LiteRT rounds its sums once, and twice those of every other product."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.e2e.test_tflite_operators import check_c, check_golden, draw
from tests.support.tools import require_module


@pytest.mark.parametrize("seed", [136, 243])
def test_uint8_fully_connected_rounds_once_as_litert_does(seed: int, tmp_path: Path) -> None:
    require_module("ai_edge_litert")
    case = draw("FULLY_CONNECTED", "uint8", seed)
    check_golden(case, "uint8", seed, tmp_path, "FULLY_CONNECTED")
    check_c(case, seed, tmp_path)
