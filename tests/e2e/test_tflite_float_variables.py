"""Variables of real numbers: step by step what LiteRT gives, from zeros or from the constants of CALL_ONCE."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import codegen
from tests.support.tflite_models import Model, run_litert

SHAPE = (1, 3)


def smoothed(start: float) -> bytes:
    """Half of what the variable holds and the input, which is assigned again and given out."""
    m = Model()

    def handle() -> int:
        found = m.tensor((1,), "resource")
        m.op("VAR_HANDLE", [], [found], "VarHandleOptions", SharedName="v")
        return found

    x, y = m.input(SHAPE, "float32"), m.output(SHAPE, "float32")
    m.op("CALL_ONCE", [], [], "CallOnceOptions", InitSubgraphIndex=1)
    variable, held, half = handle(), m.tensor(SHAPE, "float32"), m.tensor(SHAPE, "float32")
    m.op("READ_VARIABLE", [variable], [held])
    m.op("MUL", [held, m.const(np.array(0.5, np.float32))], [half], "MulOptions")
    m.op("ADD", [half, x], [y], "AddOptions")
    m.op("ASSIGN_VARIABLE", [variable, y], [])
    m.subgraph("begin")
    m.op("ASSIGN_VARIABLE", [handle(), m.const(np.full(SHAPE, start, np.float32))], [])
    return m.bytes()


@pytest.mark.parametrize("engine", ["golden", "c"])
@pytest.mark.parametrize("start", [0.0, 1.75])
def test_a_variable_of_real_numbers_is_kept(start: float, engine: str, tmp_path: Path) -> None:
    path, steps = tmp_path / "m.tflite", np.random.default_rng(0).normal(size=(5, *SHAPE)).astype(np.float32)
    path.write_bytes(smoothed(start))
    wanted = np.stack([y for (y,) in run_litert(path.read_bytes(), *([x] for x in steps))])
    found = codegen.run(path, steps, engine=engine)
    assert np.array_equal(found.reshape(wanted.shape), wanted)
