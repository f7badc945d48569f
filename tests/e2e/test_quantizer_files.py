"""The quantizer's files around a model: configurations of any tool, tables of ranges in and out."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from codegen.api import Quantized, quantize, sensitivity, verify
from codegen.cli import main
from codegen.errors import CompileError
from codegen.frontends import read_real
from tests.support.float_models import float_model, images
from tests.support.foreign_files import FILES


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return float_model(tmp_path_factory.mktemp("float") / "small.onnx")


def written(folder: Path, name: str, text: str) -> Path:
    path = folder / name
    path.write_text(text)
    return path


def made(model: Path, **words: Any) -> Quantized:
    return quantize(model, images(40), **words)


def test_a_table_that_was_written_gives_the_same_model_from_other_samples(model: Path, tmp_path: Path) -> None:
    table = tmp_path / "t.toml"
    first = made(model, table_out=table, config=written(tmp_path, "q.toml", '[quantize]\nmethod = "percentile"\n'))
    alone = '[quantize.rewrite]\nequalize = "off"\n[quantize.correct]\nbias = "none"\nweights = "nearest"\n'
    ranges_only = written(tmp_path, "alone.toml", alone)
    again = quantize(model, images(30, seed=9) * 3, table_in=table, config=ranges_only)
    assert again.model == quantize(model, images(40), table_in=table, config=ranges_only).model
    assert again.table == first.table


@pytest.mark.one_in(2)
@pytest.mark.parametrize("scales", ["float", "pot"])
def test_a_table_in_text_gives_the_same_scales_but_for_its_digits(model: Path, tmp_path: Path, scales: str) -> None:
    table = tmp_path / "cali_table"
    config = written(
        tmp_path, "q.toml", "[quantize.activation]\nsymmetric = true\n[quantize.input]\nsymmetric = true\n"
    )
    first = made(model, table_out=table, config=config, scales=scales)
    again = quantize(model, images(30, seed=9), table_in=table, scales=scales)
    for name, (scale, zero, bits) in first.table.items():
        assert again.table[name] == (pytest.approx(scale, rel=1e-5), zero, bits), name


def test_a_table_is_written_before_the_model(model: Path, tmp_path: Path) -> None:
    table = tmp_path / "t.toml"
    found = made(model, table_out=table, stop_after="calibrate")
    assert not found.model
    assert table.read_text().count("[[tensor]]") == len(found.table)


def test_a_configuration_of_vitis_gives_powers_of_two(model: Path, tmp_path: Path) -> None:
    config = written(tmp_path, "v.json", '{"overall_quantize_config": {}, "include_cle": false}')
    found = made(model, config=config)
    assert {float(np.log2(scale)) % 1 for scale, _, _ in found.table.values()} == {0.0}
    assert {zero for _, zero, _ in found.table.values()} == {0}
    assert any("biases" in note for note in found.report.notes)
    assert verify(found.model, samples=2).equal


def test_names_of_a_compiler_are_the_network_s(model: Path, tmp_path: Path) -> None:
    table = written(tmp_path, "t", "image 3.0 -3.0 3.0\nrelu1_Relu 5.0 0.0 5.0\nnone_Conv 1.0 -1.0 1.0\n")
    found = made(model, table_in=table)
    assert found.table["relu1"][0] == np.float32(5 / 128)
    assert any("none_Conv" in note for note in found.report.notes)
    wide = written(tmp_path, "q.toml", "[quantize.activation]\nsymmetric = false\n")
    assert made(model, table_in=table, config=wide).table["relu1"][0] == pytest.approx(5 / 255)


def test_a_bounded_result_has_the_range_of_a_table(model: Path, tmp_path: Path) -> None:
    table = written(tmp_path, "t.toml", '[[tensor]]\nname = "classes"\nrange = [0.0, 0.5]\n')
    assert made(model, table_in=table).table["classes"][0] == pytest.approx(0.5 / 255)


def test_overrides_reach_their_tensor(model: Path, tmp_path: Path) -> None:
    text = json.dumps(
        {"add": [{"quant_type": "QInt16"}], "depthwise": [{"quant_type": "QInt8", "rmin": -9.0, "rmax": 9.0}]}
    )
    found = made(model, config=written(tmp_path, "o.json", text))
    assert found.table["add"][2] == 16
    assert found.table["depthwise"][0] == pytest.approx(18 / 255)


def test_layers_of_a_quantize_table_stay_float(model: Path, tmp_path: Path) -> None:
    found = made(model, table_in=written(tmp_path, "qtable", "dense_Gemm F32\n"))
    assert "dense" not in found.table
    assert "add" in found.table


def test_samples_and_seed_of_a_configuration_hold_where_the_call_says_nothing(model: Path, tmp_path: Path) -> None:
    config = written(tmp_path, "q.toml", "[quantize]\nsamples = 20\nseed = 4\n")
    report = made(model, config=config).report
    assert (report.samples + report.judged, report.seed) == (20, 4)
    report = made(model, config=config, samples=10, seed=2).report
    assert (report.samples + report.judged, report.seed) == (10, 2)


def test_the_rounding_of_what_is_computed_is_the_requantization_modes(model: Path, tmp_path: Path) -> None:
    for role, noted in (("activation", True), ("input", True), ("weights", False), ("bias", False)):
        config = written(tmp_path, "q.toml", f"[quantize.{role}]\nrounding = 'half_up'\n")
        notes = made(model, config=config, recipe="fast").report.notes
        assert any("--requant" in note for note in notes) == noted


def test_outputs_stay_real_where_the_configuration_says_so(model: Path, tmp_path: Path) -> None:
    config = written(tmp_path, "q.toml", "[quantize.io]\noutputs = 'float'\n")
    graph = read_real(model)
    held, real = (made(model, config=c, stop_after="calibrate").table for c in (None, config))
    assert set(held) - set(real) == set(graph.outputs)


def test_samples_that_judge_are_as_many_as_are_asked_for(model: Path, tmp_path: Path) -> None:
    config = written(tmp_path, "q.toml", "[quantize.search]\nsamples = 7\n")
    report = made(model, config=config, samples=24, stop_after="inspect").report
    assert (report.samples, report.judged) == (17, 7)
    with pytest.raises(CompileError, match="LAM-API-012"):
        made(model, config=config, samples=7, stop_after="inspect")


def test_points_that_may_be_lost_need_labels_in_a_configuration_too(model: Path, tmp_path: Path) -> None:
    config = written(tmp_path, "q.toml", "[quantize.mixed]\nmax_drop = 2.0\n")
    with pytest.raises(CompileError, match=r"LAM-IMPORT-030.*--eval"):
        made(model, config=config)


WRONG: list[tuple[str, str, str, str]] = [
    ("config", "q.toml", "[quantize.io]\ninputs = 'float'\n", "LAM-QUANT-002"),
    ("config", "q.toml", "[quantize.rewrite]\nsplit = true\n", "LAM-QUANT-002"),
    ("config", "q.toml", "[quantize.correct]\nblocks = true\n", "LAM-QUANT-002"),
    ("config", "q.toml", "[quantize.weights]\nsymmetric = false\n", "LAM-QUANT-005"),
    ("config", "q.toml", "[[layer]]\nname = 'frist'\nbits = 4\n", "LAM-QUANT-024"),
    ("config", "q.toml", "[[layer]]\nname = 'conv*'\nbits = 4\n", "LAM-QUANT-024"),
    ("config", "q.toml", "[[tensor]]\nname = 'r9'\nbits = 4\n", "LAM-QUANT-024"),
    ("config", "q.toml", "[quantize]\nbit = 4\n", "LAM-QUANT-002"),
    ("config", "q.toml", "[quantize]\nbits = 1\n", "LAM-QUANT-003"),
    ("config", "v.json", '{"overall_quantize_config": {"method": "mse"}}', "LAM-QUANT-007"),
    ("config", "x.json", '{"a": 1}', "LAM-QUANT-009"),
    ("config", "x.json", "{", "LAM-QUANT-001"),
    ("table_in", "t", "a 1 2\n", "LAM-QUANT-009"),
    ("table_in", "t", "image 1 nan 2\n", "LAM-QUANT-008"),
    ("table_in", "t", "other 1 0 1\nanother 1 0 1\n", "LAM-QUANT-011"),
    ("table_in", "t.toml", "[[tensor]]\nname = 'image'\nrange = [1, 0]\n", "LAM-QUANT-003"),
]


@pytest.mark.parametrize(("word", "name", "text", "code"), WRONG)
def test_a_wrong_file_is_refused_and_nothing_is_written(
    word: str, name: str, text: str, code: str, model: Path, tmp_path: Path
) -> None:
    out = tmp_path / "out"
    out.mkdir()
    file = written(tmp_path, name, text)
    with pytest.raises(CompileError) as error:
        made(model, out=out / "q.onnx", table_out=out / "t.toml", **{word: file})
    assert error.value.code == code
    assert str(file) in error.value.text()
    assert list(out.iterdir()) == []


def test_a_name_that_nearly_is_one_is_proposed(model: Path, tmp_path: Path) -> None:
    with pytest.raises(CompileError) as error:
        made(model, config=written(tmp_path, "q.toml", "[[layer]]\nname = 'frist'\nbits = 4\n"))
    assert "did you mean first?" in error.value.text()


def test_a_table_that_cannot_be_written_is_refused(model: Path, tmp_path: Path) -> None:
    for path in (tmp_path, tmp_path / "none" / "t.toml"):
        with pytest.raises(CompileError) as error:
            made(model, table_out=path, stop_after="calibrate")
        assert error.value.code == "LAM-QUANT-012"
        with pytest.raises(CompileError):
            made(model, table_out=path, out=tmp_path / "q.onnx")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("name", sorted(FILES))
def test_every_format_is_taken_as_a_configuration(name: str, model: Path, tmp_path: Path) -> None:
    found = made(model, config=written(tmp_path, name, FILES[name]), stop_after="inspect")
    assert not found.model


def test_the_command_takes_configurations_and_tables(
    model: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    np.savez(tmp_path / "d.npz", x=images(40))
    config = written(tmp_path, "q.toml", "[quantize.weights]\nbits = 6\n")
    table, out = tmp_path / "t.toml", tmp_path / "q.onnx"
    line = f"quantize {model} --calib {tmp_path / 'd.npz'} --config {config} --table-out {table} -o {out} --json"
    assert main(line.split()) == 0
    assert json.loads(capsys.readouterr().out)["weights"][2]["bits"] == 6
    assert main(line.replace("--table-out", "--table-in").split()) == 0


@pytest.mark.parametrize(
    ("words", "named"),
    [
        ("-o m.onnx", "m.onnx"),
        ("-o link.onnx", "link.onnx"),
        ("-o d.npz", "d.npz"),
        ("-o q.onnx --config q.json", "q.json"),
        ("-o m.onnx --stop-after rewrite", "m.onnx"),
        ("-o q.onnx --table-out m.onnx", "m.onnx"),
        ("-o q.onnx --table-in t.toml --table-out t.toml", "t.toml"),
        ("-o q.onnx --table-out q.onnx", "q.onnx"),
        ("-o r.json", "r.json"),
    ],
)
def test_nothing_is_written_over_what_is_read(
    words: str,
    named: str,
    model: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("m.onnx").write_bytes(model.read_bytes())
    Path("link.onnx").symlink_to("m.onnx")
    np.savez("d.npz", x=images(20))
    written(tmp_path, "q.json", '{"overall_quantize_config": {}, "include_cle": false}')
    written(tmp_path, "t.toml", '[[tensor]]\nname = "classes"\nrange = [0.0, 0.5]\n')
    before = {path: path.read_bytes() for path in tmp_path.iterdir()}
    assert main(f"quantize m.onnx --calib d.npz {words}".split()) == 2
    assert f"LAM-API-024 {named}:" in capsys.readouterr().err
    assert {path: path.read_bytes() for path in tmp_path.iterdir()} == before


def test_a_path_without_a_name_is_no_place_for_a_model(model: Path) -> None:
    with pytest.raises(CompileError) as error:
        made(model, out=".")
    assert error.value.code == "LAM-QUANT-026"


WORDS: dict[str, tuple[dict[str, Any], str]] = {
    "an unknown target": ({"target": "nosuch"}, "LAM-TARGET"),
    "an empty budget": ({"budget": ""}, "LAM-IMPORT-030"),
    "points that are no number": ({"max_drop": float("nan"), "eval_data": "e.npz"}, "LAM-IMPORT-030"),
    "points below zero": ({"max_drop": -1.0, "eval_data": "e.npz"}, "LAM-IMPORT-030"),
    "a folder for the model": ({"out": "."}, "LAM-QUANT-026"),
    "a folder that is not there": ({"out": "nosuch/q.onnx"}, "LAM-QUANT-026"),
    "a folder for the table": ({"table_out": "."}, "LAM-QUANT-012"),
}


@pytest.mark.parametrize("name", WORDS)
def test_wrong_words_are_refused_before_anything_is_computed(name: str, model: Path, tmp_path: Path) -> None:
    words, code = WORDS[name]
    at = {key: tmp_path / words[key] for key in ("out", "table_out", "eval_data") if key in words}
    runs: list[tuple[int, int]] = []
    with pytest.raises(CompileError) as error:
        made(model, **{**words, **at}, progress=lambda done, of: runs.append((done, of)))
    assert error.value.problems()[0].code.startswith(code)
    assert not runs
    assert list(tmp_path.iterdir()) == []


def test_numbers_below_every_scale_are_refused(model: Path) -> None:
    samples = images(20) * np.float32(1e-42)
    with pytest.raises(CompileError, match=r"LAM-QUANT-023.*no number is larger"):
        quantize(model, samples)


def test_an_unknown_target_is_no_target_of_a_sensitivity_either(model: Path) -> None:
    with pytest.raises(CompileError, match="LAM-TARGET-001"):
        sensitivity(model, images(20), target="nosuch")
