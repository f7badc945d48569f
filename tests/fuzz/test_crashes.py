"""Files that once were faults are refused or accepted for ever, and drawn ones are."""

from __future__ import annotations

from pathlib import Path

import pytest

from codegen.errors import InternalFault
from tests.fuzz import draw, readers
from tests.fuzz.mutators import MUTATORS
from tests.fuzz.readers import READERS
from tests.fuzz.seeds import seeds
from tests.support.tools import require_module

_CRASHES = sorted(p for p in (Path(__file__).parent / "crashes").glob("*/*") if p.is_file())


@pytest.mark.parametrize("path", _CRASHES, ids=lambda p: f"{p.parent.name}-{p.name}")
def test_a_former_fault_is_answered(path: Path) -> None:
    assert draw.outcome(path.parent.name, path.read_bytes())[1] == ""


@pytest.mark.one_in(3)
@pytest.mark.parametrize("reader", sorted(READERS))
def test_mutated_files_are_refused_or_accepted(reader: str) -> None:
    require_module("ai_edge_litert")
    found = [draw.outcome(reader, data) for data in draw.mutants(reader, 80, seed=11)]
    assert [trace for _, trace in found if trace] == []
    assert len({said for said, _ in found}) > 1


@pytest.mark.one_in(2)
@pytest.mark.parametrize("reader", ["onnx", "tflite"])
def test_mutations_are_structured_and_the_same_each_time(reader: str) -> None:
    require_module("ai_edge_litert")
    drawn = list(draw.mutants(reader, 40, seed=5))
    assert drawn == list(draw.mutants(reader, 40, seed=5))
    unreadable = [data for data in drawn if readers.read(reader, data) == "LAM-IMPORT-003"]
    assert len(unreadable) < len(drawn) / 2


def test_a_fault_of_a_reader_is_one_of_the_campaign(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    for fault in (InternalFault("a fault"), ZeroDivisionError()):

        def read(path: Path, fault: Exception = fault) -> None:
            raise fault

        monkeypatch.setitem(READERS, "config", (".toml", read))
        assert draw.main("config", 3, 1, tmp_path) == 1
    assert list(tmp_path.iterdir())


def test_every_reader_has_seeds_and_a_mutator() -> None:
    assert set(MUTATORS) == set(READERS)
    assert all(seeds(reader) for reader in READERS)
