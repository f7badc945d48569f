"""The commands that say where quantizing loses."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from codegen import api
from codegen.build import Net
from codegen.errors import CompileError
from tests.support.float_models import INPUT, float_model, images
from tests.unit.cli.conftest import TINY, Lamina


@pytest.fixture
def model(tmp_path: Path) -> Path:
    np.savez(tmp_path / "x.npz", x=images(20))
    return float_model(tmp_path / "small.onnx")


@pytest.mark.parametrize(("by", "parts"), [("layer", 7), ("type", 7), ("tensor", 16)])
def test_sensitivity_ranks_what_loses_most_first(lamina: Lamina, model: Path, by: str, parts: int) -> None:
    ran = lamina("sensitivity", model, "--calib", model.parent / "x.npz", "--by", by, "--json")
    assert ran.code == 0
    rows = ran.json["parts"]
    assert [r["alone"] for r in rows] == sorted(r["alone"] for r in rows)
    assert rows[0]["alone"] >= ran.json["whole"] - 3
    assert (ran.json["by"], ran.json["samples"], ran.json["judged"]) == (by, 16, 4)
    assert len({r["name"] for r in rows}) == len(rows)
    text = lamina("sensitivity", model, "--calib", model.parent / "x.npz", "--by", by).out
    assert text.splitlines()[2].startswith(rows[0]["name"])
    assert f"everything quantized: {ran.json['whole']:.2f} dB" in text


def test_a_part_that_does_not_exist_is_refused(model: Path) -> None:
    with pytest.raises(CompileError, match="layer, type, tensor"):
        api.sensitivity(model, images(10), "colour")  # type: ignore[arg-type]


def test_compare_shows_each_tensor_of_both_networks(lamina: Lamina, model: Path) -> None:
    made = api.quantize(model, images(20), model.parent / "q.onnx")
    files = ("--float", model, "--quantized", model.parent / "q.onnx", "--input", model.parent / "x.npz")
    ran = lamina("compare", *files, "--json")
    assert ran.code == 0
    rows = {t["tensor"]: t for t in ran.json["tensors"]}
    assert set(rows) == {t.tensor for t in made.report.tensors}
    assert ran.json["unmatched"] == []
    assert rows[INPUT]["own_sqnr"] == pytest.approx(rows[INPUT]["sqnr"], abs=1e-6)
    assert all(0 < t["own_steps"] < 2 for t in rows.values())
    assert min(t["sqnr"] for t in rows.values()) > 15
    text = lamina("compare", *files, "--samples", "2").out
    assert f"{len(rows)} tensors, 2 samples" in text


def test_tensors_that_the_quantizer_would_fold_away_are_found_in_another_tool_s_file(tmp_path: Path) -> None:
    """Of a convolution with a BatchNormalization both results are quantized by whoever does not fold."""
    ones, four = np.ones((2, 1, 1, 1), np.float32), [np.array([0.5, 2.0], np.float32)] * 4
    for name in ("normed", "held"):
        net = Net(name)
        y = net.onnx.Conv(net.input("x", (1, 1, 2, 2)), ones, name="c")
        y = net.quantized(y, 0.05) if name == "held" else y
        net.output(net.onnx.BatchNormalization(y, *four), "y")
        (tmp_path / f"{name}.onnx").write_bytes(net.to_onnx())
    x = np.linspace(-1, 1, 8).reshape(2, 1, 2, 2).astype(np.float32)
    found = api.compare_quantized(tmp_path / "normed.onnx", tmp_path / "held.onnx", x)
    assert [t.tensor for t in found.tensors] == ["c"]
    assert found.unmatched == ()
    assert found.tensors[0].own_most <= 0.5 + 1e-4


def test_two_models_need_all_three_words_and_no_files(lamina: Lamina, model: Path) -> None:
    assert lamina("compare", "--float", model).code == 2
    assert lamina("compare", "a.npz", "b.npz", "--float", model).code == 2
    assert lamina("compare", "a.npz").code == 2


def test_models_without_a_tensor_in_common_are_refused(lamina: Lamina, model: Path) -> None:
    words = ("compare", "--float", model, "--quantized", TINY, "--input", model.parent / "x.npz", "--json")
    assert lamina(*words).json["error"]["id"] == "LAM-QUANT-027"


def test_samples_that_are_no_numbers_compare_nothing(lamina: Lamina, model: Path, tmp_path: Path) -> None:
    api.quantize(model, images(20), model.parent / "q.onnx")
    broken = images(4)
    broken[0, 0, 0, 0] = np.nan
    np.savez(tmp_path / "nan.npz", x=broken)
    words = ("compare", "--float", model, "--quantized", model.parent / "q.onnx", "--input", tmp_path / "nan.npz")
    assert lamina(*words, "--json").json["error"]["id"] == "LAM-QUANT-022"


@pytest.mark.parametrize("word", [("--tolerance", "0.9,0.9"), ("--common",)])
def test_what_is_for_files_of_arrays_is_refused_beside_models(lamina: Lamina, model: Path, word: tuple[str]) -> None:
    words = ("compare", "--float", model, "--quantized", TINY, "--input", model.parent / "x.npz")
    assert lamina(*words, *word).code == 2
