"""Records as text and as JSON."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from codegen.ir.quant import DType
from codegen.report.table import as_json, shape_text, share_text, text_pairs, text_table


@dataclass(frozen=True)
class Inner:
    shape: tuple[int, ...]


@dataclass(frozen=True)
class Record:
    inner: Inner
    value: float
    dtype: DType
    path: Path


def test_columns_are_aligned_and_numbers_stand_right() -> None:
    lines = text_table(["name", "MACs"], [("a", 5), ("longer", 12345)]).splitlines()
    assert lines == ["name     MACs", "------  -----", "a           5", "longer  12345"]


def test_a_table_without_rows_has_its_head() -> None:
    assert text_table(["a", "bc"], []).splitlines() == ["a  bc", "-  --"]


def test_pairs_are_aligned() -> None:
    assert text_pairs([("a", 1), ("long", None)]) == "  a     1\n  long  -"


def test_json_has_only_what_json_knows() -> None:
    record = Record(Inner((1, 2)), float("inf"), DType.S8, Path("x"))
    assert json.loads(as_json(record)) == {"inner": {"shape": [1, 2]}, "value": None, "dtype": "s8", "path": "x"}
    assert json.loads(as_json({"a": np.float32(1.5), "b": np.arange(2), 3: {4}})) == {"a": 1.5, "b": [0, 1], "3": [4]}


def test_shapes_and_shares_are_short() -> None:
    assert shape_text((1, 8, 8)) == "1x8x8"
    assert shape_text(()) == "scalar"
    assert share_text(50, 200) == "50 B of 200 B (25.0%)"
    assert share_text(50, None) == "50 B"
