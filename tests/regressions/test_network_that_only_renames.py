"""A network whose operators only rename memory has no layer, and C that compiles with the trace as without it."""

from __future__ import annotations

from pathlib import Path

import pytest

from codegen.api import verify
from tests.support.tflite_models import Model


@pytest.mark.parametrize("target", ["host", "gap8-like"])
def test_a_network_that_only_renames_is_verified(target: str, tmp_path: Path) -> None:
    """A function that reports rows would be one that nothing calls, and a scratchpad one that nothing works in."""
    model = Model()
    model.op("RESHAPE", [model.input((1, 3, 4), "int8", 0.5)], [model.output((12,), "int8", 0.5)])
    (tmp_path / "m.tflite").write_bytes(model.bytes())
    assert verify(tmp_path / "m.tflite", target=target, samples=1).equal
