"""Random TFLite models with state, step by step: golden gives TFLite Micro's bytes, and the C gives golden's."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from codegen.pipeline import Options, compile_file
from tests.e2e.test_tflite_operators import check_c, check_golden
from tests.support.tflite_cases import Draw
from tests.support.tflite_state_cases import STATE_MAKERS, cache, draw_state
from tests.support.tools import require_module

PAIRS = [(name, kind) for name, (_, kinds) in STATE_MAKERS.items() for kind in kinds]
ON_PAIRS = pytest.mark.parametrize(("name", "kind"), PAIRS, ids=lambda v: v)


@ON_PAIRS
def test_golden_is_tflite_micro(name: str, kind: str, tmp_path: Path) -> None:
    require_module("tflite_micro")
    for seed in range(12):
        check_golden(draw_state(name, kind, seed), kind, seed, tmp_path)


@pytest.mark.one_in(6)
@ON_PAIRS
def test_c_is_golden(name: str, kind: str, tmp_path: Path) -> None:
    for seed in range(1, 4):
        folder = tmp_path / str(seed)
        folder.mkdir()
        check_c(draw_state(name, kind, seed), seed, folder)


def test_a_cache_is_changed_where_it_lies(tmp_path: Path) -> None:
    (tmp_path / "cache.tflite").write_bytes(cache(Draw(np.random.default_rng(3), "int8"), (1, 64, 32)).data)
    made = compile_file(tmp_path / "cache.tflite", Options(vectors=0))
    assert [s.in_place for s in made.program.states] == [True]
    assert 64 * 32 <= made.program.arena_bytes < 64 * 32 + 2 * 32


@pytest.mark.slow
@ON_PAIRS
def test_golden_is_tflite_micro_on_many(name: str, kind: str, tmp_path: Path) -> None:
    require_module("tflite_micro")
    for seed in range(100, 250):
        check_golden(draw_state(name, kind, seed), kind, seed, tmp_path)


@pytest.mark.slow
@ON_PAIRS
def test_c_is_golden_on_many(name: str, kind: str, tmp_path: Path) -> None:
    for seed in range(10, 30):
        folder = tmp_path / str(seed)
        folder.mkdir()
        check_c(draw_state(name, kind, seed), seed, folder)
