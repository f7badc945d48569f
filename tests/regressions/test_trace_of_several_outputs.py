"""A layer whose outputs differ in rows reports each one's own: an LSTM over several sequences has one row of states."""

from __future__ import annotations

import json
import re
from pathlib import Path

from codegen.api import compile_model
from tests.support.tflite_state_cases import draw_state


def test_the_trace_reports_the_rows_of_each_output(tmp_path: Path) -> None:
    """What is reported from beyond an output's last row would be read from beside the arena."""
    several = 0
    for seed in range(8):
        (tmp_path / "m.tflite").write_bytes(draw_state("UNIDIRECTIONAL_SEQUENCE_LSTM", "int8", seed).data)
        compile_model(tmp_path / "m.tflite", out=str(tmp_path / f"m{seed}"))
        tensors = json.loads((tmp_path / f"m{seed}/manifest.json").read_text())["tensors"]
        source = (tmp_path / f"m{seed}/src/m.c").read_text()
        told = {int(t): int(n) for t, n in re.findall(r"TRACE_ROWS\(net, (\d+), 0, (\d+), ", source)}
        assert told == {i: t["rows_made"] for i, t in enumerate(tensors)}
        several += len(set(told.values())) > 1
    assert several > 1
