"""Damaged models through the command line: an error with an id or a correct compile, never a traceback or a hang."""

from __future__ import annotations

import onnx
import pytest
from google.protobuf.message import DecodeError

from tests.e2e.fuzz_models import faults, mutants, run, shares, tflite_mutants
from tests.support.tools import require_tool


def test_mutants_are_the_same_each_time() -> None:
    assert [m.data for m in mutants(20, seed=7)] == [m.data for m in mutants(20, seed=7)]
    assert list(mutants(5, seed=7))[3] == next(mutants(1, seed=7, start=3))


def test_a_constant_that_a_mutation_moved_to_a_file_is_left_alone_by_the_next() -> None:
    assert next(mutants(1, seed=4242, start=274)).data


def test_half_of_the_mutants_are_protobuf() -> None:
    found = list(mutants(120, seed=3))
    assert sum(_parses(m.data) for m in found) >= len(found) / 2
    assert len({m.kind for m in found}) > 30


def test_damaged_models_are_refused_or_compiled() -> None:
    outcomes = run(mutants(30, seed=1))
    assert len(outcomes) == 30
    assert not faults(outcomes), f"{faults(outcomes)}\n{shares(outcomes)}"


def test_tflite_mutants_are_the_same_each_time() -> None:
    assert [m.data for m in tflite_mutants(20, seed=7)] == [m.data for m in tflite_mutants(20, seed=7)]


def test_damaged_tflite_models_are_refused_or_compiled() -> None:
    outcomes = run(tflite_mutants(30, seed=1))
    assert len(outcomes) == 30
    assert not faults(outcomes), f"{faults(outcomes)}\n{shares(outcomes)}"


@pytest.mark.slow
def test_5000_damaged_tflite_models(capsys: pytest.CaptureFixture[str]) -> None:
    require_tool("cc")
    outcomes = run(tflite_mutants(5000, seed=2), verify_every=50)
    with capsys.disabled():
        print(f"\n{shares(outcomes)}")
    assert not faults(outcomes), faults(outcomes)
    assert any(o.ids == ("verified",) for o in outcomes)


@pytest.mark.slow
def test_500_damaged_models(capsys: pytest.CaptureFixture[str]) -> None:
    require_tool("cc")
    outcomes = run(mutants(500, seed=2), verify_every=5)
    with capsys.disabled():
        print(f"\n{shares(outcomes)}")
    assert not faults(outcomes), faults(outcomes)
    assert any(o.ids == ("verified",) for o in outcomes)


def _parses(data: bytes) -> bool:
    try:
        onnx.ModelProto.FromString(data)
    except DecodeError:
        return False
    return True
