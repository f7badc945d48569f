"""Two hundred calibrations that cannot be: each is refused with an id that fits, and nothing is written."""

from __future__ import annotations

from pathlib import Path

import pytest

from codegen.api import quantize
from codegen.errors import CompileError
from tests.support.float_models import float_model
from tests.support.wrong_calibration import Wrong, cases, npz

CASES = cases()


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return float_model(tmp_path_factory.mktemp("float") / "small.onnx")


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name.replace("\0", "0"))
def test_a_wrong_calibration_is_refused_and_nothing_is_written(case: Wrong, model: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    out.mkdir()
    words = dict(case.words)
    if case.config:
        words["config"] = tmp_path / "c.toml"
        words["config"].write_text(case.config)
    if case.labelled:
        words |= {"eval_data": npz(tmp_path, **case.labelled), "max_drop": 1.0}
    with pytest.raises(CompileError) as error:
        quantize(model, case.make(tmp_path), out / "q.onnx", **words)
    assert error.value.code in case.codes, error.value.text()
    assert error.value.found
    assert list(out.iterdir()) == []


def test_there_are_two_hundred_of_them() -> None:
    assert len(CASES) >= 200
    assert len({case.name for case in CASES}) == len(CASES)
