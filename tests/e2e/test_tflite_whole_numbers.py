"""Operators of TFLite on int32 without a scale, of which the quantized kinds have another form: LiteRT's numbers."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import codegen
from codegen.frontends.tflite.importer import read_ports
from tests.support.tflite_models import Model, run_litert

AXIS = np.array([1], np.int32)
REDUCED: dict[str, Any] = {"out": (2,), "const": AXIS, "options": "ReducerOptions"}
PAIR: dict[str, Any] = {"out": (2, 3), "pair": True}
CASES: dict[str, dict[str, Any]] = {
    "SUM": REDUCED,
    "MEAN": REDUCED,
    "REDUCE_MAX": REDUCED,
    "REDUCE_MIN": REDUCED,
    "REDUCE_PROD": REDUCED,
    "CUMSUM": {"out": (2, 3), "const": AXIS[0], "options": "CumsumOptions"},
    "SIGN": {"out": (2, 3)},
    "POW": PAIR,
    "BITWISE_XOR": PAIR,
    "RIGHT_SHIFT": PAIR,
}


@pytest.mark.parametrize("engine", ["golden", "c"])
@pytest.mark.parametrize("name", CASES)
def test_whole_numbers_are_computed_exactly(name: str, engine: str, tmp_path: Path) -> None:
    case, m = CASES[name], Model()
    read = [m.input((2, 3), "int32") for _ in range(2 if case.get("pair") else 1)]
    inputs = [np.array([[7, -3, 2], [-9, 4, -6]], np.int32), np.array([[1, 2, 3], [4, 0, 2]], np.int32)][: len(read)]
    known = [m.const(np.asarray(case["const"]))] if "const" in case else []
    m.op(name, [*read, *known], [m.output(case["out"], "int32")], case.get("options", ""))
    path = tmp_path / "m.tflite"
    path.write_bytes(m.bytes())
    (((wanted,)),) = run_litert(m.bytes(), inputs)
    feeds = {port[0]: x for port, x in zip(read_ports(path)[0], inputs, strict=True)}
    (found,) = codegen.run(path, feeds, engine=engine).values()
    assert found.tolist() == wanted.tolist()
