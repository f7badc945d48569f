"""Weights without a project: the file that a project in the field takes, or nothing."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import onnx
import pytest
from onnx import numpy_helper

import codegen
from codegen.cli import main
from codegen.errors import WeightsMisfit
from tests.e2e.projects import DIGITS, TINY


def trained_again(folder: Path) -> Path:
    """The example network with other weights."""
    model = onnx.load(DIGITS)
    for tensor in model.graph.initializer:
        values = numpy_helper.to_array(tensor)
        if values.dtype.name == "int8" and values.ndim == 4:
            tensor.CopyFrom(numpy_helper.from_array(values[::-1].copy(), tensor.name))
    onnx.save(model, folder / "again.onnx")
    return folder / "again.onnx"


def project(folder: Path) -> Path:
    codegen.compile_model(DIGITS, out=folder / "field", weights="blob", name="field")
    return folder / "field"


def test_the_file_is_that_of_a_whole_project(tmp_path: Path) -> None:
    again, field = trained_again(tmp_path), project(tmp_path)
    made = codegen.compile_model(again, out=tmp_path / "new.bin", weights_only=True, fits=field)
    whole = codegen.compile_model(again, out=tmp_path / "whole", weights="blob")
    assert made.path == tmp_path / "new.bin"
    assert (tmp_path / "new.bin").read_bytes() == (whole.path / "weights.bin").read_bytes()
    assert (tmp_path / "new.bin").read_bytes() != (field / "weights.bin").read_bytes()
    assert sorted(p.name for p in tmp_path.iterdir()) == ["again.onnx", "field", "new.bin", "whole"]


def test_the_project_in_the_field_runs_with_it_as_a_new_one_would(tmp_path: Path) -> None:
    again, field = trained_again(tmp_path), project(tmp_path)
    codegen.compile_model(again, out=field / "weights.bin", fits=field)
    image = np.random.default_rng(1).random((1, 1, 8, 8), np.float32)
    with codegen.load(field) as net:
        assert (net.run(image) == codegen.run(again, image, engine="golden")).all()


def test_what_the_code_would_refuse_is_not_written(tmp_path: Path) -> None:
    field = project(tmp_path)
    out = tmp_path / "new.bin"
    out.write_bytes(b"old")
    for model, words, found in (
        (TINY, {}, "structure"),
        (DIGITS, {"target": "cortex-m4"}, "structure"),
        (DIGITS, {"io_type": "model"}, "structure"),
    ):
        with pytest.raises(WeightsMisfit, match=found):
            codegen.compile_model(model, out=out, weights_only=True, fits=field, **words)  # type: ignore[arg-type]
    arrays = codegen.compile_model(DIGITS, out=tmp_path / "arrays").path
    with pytest.raises(WeightsMisfit, match="C arrays"):
        codegen.compile_model(DIGITS, out=out, weights_only=True, fits=arrays)
    assert out.read_bytes() == b"old"


def test_the_command_and_its_mistakes(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    field, out = project(tmp_path), tmp_path / "new.bin"
    assert main(["compile", str(DIGITS), "--weights-only", "--fits", str(field), "-o", str(out), "--json"]) == 0
    record = json.loads(capsys.readouterr().out)
    assert record["weights_structure"] == json.loads((field / "manifest.json").read_text())["weights_structure"]
    wrong = (
        (["--fits", str(field), "-o", str(out)], "goes with"),
        (["--weights-only", "-o", str(field)], "LAM-EMIT-001"),
        (["--weights-only", "-o", str(tmp_path / "no" / "x.bin")], "LAM-EMIT-001"),
        (["--weights-only", "-o", ""], "LAM-IMPORT-030"),
        (["--weights-only", "-o", str(DIGITS)], "LAM-API-024"),
        (["--weights-only", "--fits", str(tmp_path), "-o", str(out)], "LAM-HOST-001"),
        (["--weights-only", "-t", "avr", "-o", str(out)], "LAM-IMPORT-030"),
    )
    before = out.read_bytes()
    for said, found in wrong:
        assert main(["compile", str(DIGITS), *said]) != 0, said
        assert found in capsys.readouterr().err, said
    assert out.read_bytes() == before
