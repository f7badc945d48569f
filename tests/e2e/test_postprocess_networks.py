"""Networks with a `[postprocess]` table: the project that is written, what `verify` finds in it, real detectors."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import codegen
import codegen.verbs.verify
from codegen.cli import main
from codegen.errors import CompileError
from codegen.options import Options
from codegen.pipeline import Compiled, compile_file
from codegen.verbs.engines import Opening, open_engine
from codegen.verbs.postprocess import decoder_of, with_postprocess
from codegen.verbs.samples import open_samples
from tests.e2e.projects import DIGITS
from tests.support.shared import ROOT, shared_dir
from tests.support.tools import require_board, require_module

TABLES = {
    "labels": 'decode = "labels"\nactivation = "softmax"\nmost = 3\nleast = 0.05',
    "sigmoid": 'decode = "labels"\nactivation = "sigmoid"\nleast = 0.5',
    "wake words": 'decode = "wake_words"\nactivation = "softmax"\nwindow = 3\nhold = 1\nwatch = [1, 7]\nleast = 0.05',
}


@pytest.mark.one_in(3)
@pytest.mark.parametrize(
    ("name", "options"),
    [
        ("labels", {}),
        ("sigmoid", {"stream_input": True, "io_type": "model"}),
        ("wake words", {"target": "gap8-cores", "weights": "blob"}),
    ],
)
def test_verify_compares_what_is_found(name: str, options: dict[str, Any], tmp_path: Path) -> None:
    table = tmp_path / "digits.toml"
    table.write_text(f"[postprocess]\n{TABLES[name]}\n")
    result = codegen.verify(DIGITS, config=table, samples=4, flags=("-O0",), **options)
    assert result.equal
    assert result.postprocess is not None
    assert (result.postprocess.equal, result.postprocess.outputs) == (True, 8)
    assert result.postprocess.found > 0


@pytest.mark.parametrize(
    ("target", "name", "options"),
    [
        ("cortex-m4", "wake words", {}),
        pytest.param("cortex-m4", "labels", {"weights": "blob", "stream_input": True}, marks=pytest.mark.slow),
        pytest.param("cortex-m0plus", "sigmoid", {}, marks=pytest.mark.slow),
        pytest.param("rv32imc", "labels", {}, marks=pytest.mark.slow),
        pytest.param("ingenic-t40", "labels", {}, marks=pytest.mark.slow),
        pytest.param("ppc32", "labels", {}, marks=pytest.mark.slow),
    ],
)
def test_verify_compares_what_is_found_on_the_board(
    target: str, name: str, options: dict[str, Any], tmp_path: Path
) -> None:
    require_board(target)
    table = tmp_path / "digits.toml"
    table.write_text(f"[postprocess]\n{TABLES[name]}\n")
    result = codegen.verify(DIGITS, config=table, samples=4, target=target, **options)
    assert result.equal
    assert result.postprocess is not None
    assert (result.postprocess.equal, result.postprocess.where, result.postprocess.outputs) == (True, target, 8)
    assert result.postprocess.found > 0


@pytest.mark.parametrize("target", ["host", "cortex-m4"])
def test_verify_names_what_a_changed_postprocessing_finds(
    target: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    if target != "host":
        require_board(target)
    table = tmp_path / "m.toml"
    table.write_text(f"[postprocess]\n{TABLES['labels']}\n")

    def changed(compiled: Compiled, table: Path, options: Options) -> Compiled:
        made = with_postprocess(compiled, table, options)
        path = "src/digits_qdq_postprocess.c"
        after = made.files[path].replace(b".label = label;", b".label = label + 1;")
        assert after != made.files[path]
        return replace(made, files={**made.files, path: after})

    monkeypatch.setattr(codegen.verbs.verify, "with_postprocess", changed)
    result = codegen.verify(DIGITS, config=table, samples=2, target=target)
    assert not result.equal
    assert result.first_difference is None
    assert result.postprocess is not None
    assert result.postprocess.first_difference is not None
    assert result.postprocess.first_difference.tensor == "label, of what was found"


def test_without_a_table_a_project_has_the_bytes_that_it_had(tmp_path: Path) -> None:
    """Whatever else the file says."""
    config = tmp_path / "m.toml"
    config.write_text("[preprocess]\ndivide = 255\n[weights]\npin = []\n")
    said = Options(name="digits")
    plain = compile_file(DIGITS, said)
    assert with_postprocess(plain, config, said).files == plain.files
    assert not [path for path in plain.files if "postprocess" in path or "detect" in path]


def test_with_a_table_only_its_own_files_and_the_lists_of_files_differ(tmp_path: Path) -> None:
    config = tmp_path / "m.toml"
    config.write_text(f"[postprocess]\n{TABLES['labels']}\n")
    said = Options(name="digits")
    plain = compile_file(DIGITS, said)
    made = with_postprocess(plain, config, said)
    own = {"include/digits_postprocess.h", "src/digits_postprocess.c"}
    added = {path for path in made.files if path not in plain.files}
    assert own <= added
    assert {path for path in added - own if not path.startswith("runtime/")} == set()
    changed = {path for path in plain.files if made.files[path] != plain.files[path]}
    assert changed == {"CMakeLists.txt", "README.md", "manifest.json"}


def test_the_command_says_what_is_found(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    config = tmp_path / "m.toml"
    config.write_text(f"[postprocess]\n{TABLES['labels']}\n")
    assert main(["compile", str(DIGITS), "--config", str(config), "-o", str(tmp_path / "out")]) == 0
    assert "by labels, 3 at most" in capsys.readouterr().out
    record = json.loads((tmp_path / "out" / "manifest.json").read_text())["postprocess"]
    assert [m["name"] for m in record["members"]] == ["score", "label"]
    assert "digits_qdq_postprocess(&post, &net)" in (tmp_path / "out" / "README.md").read_text()
    assert main(["verify", str(DIGITS), "--config", str(config), "--samples", "1"]) == 0
    assert "found in 2 outputs by labels" in capsys.readouterr().out


def test_run_prints_and_writes_what_was_found(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """By every engine; the same by those that give the same outputs."""
    config, out = tmp_path / "m.toml", tmp_path / "y.npz"
    config.write_text(f"[preprocess]\ndivide = 1\n[postprocess]\n{TABLES['labels']}\n")
    said = [
        "--config",
        str(config),
        "--input",
        str(DIGITS.with_name("digits_test.npz")),
        "--limit",
        "3",
        "-o",
        str(out),
    ]
    assert main(["run", str(DIGITS), *said, "--json"]) == 0
    record = json.loads(capsys.readouterr().out)
    assert len(record["found"]) == 3
    with np.load(out) as arrays:
        wanted = [label for one in record["found"] for label in one["label"]]
        assert arrays["postprocess.label"].tolist() == wanted
        assert arrays["postprocess.sample"].tolist() == sorted(arrays["postprocess.sample"].tolist())
        assert arrays["postprocess.score"].dtype == np.float32
    assert main(["run", str(DIGITS), *said, "--engine", "c"]) == 0
    text = capsys.readouterr().out
    assert f"found: {len(wanted)} in 3 samples" in text
    config.write_text("[preprocess]\ndivide = 1\n")
    assert main(["run", str(DIGITS), *said, "--json"]) == 0
    assert "found" not in json.loads(capsys.readouterr().out)


def test_a_configuration_that_nothing_is_done_with_is_a_usage_error(tmp_path: Path) -> None:
    (tmp_path / "m.toml").write_text("[preprocess]\ndivide = 255\n")
    assert main(["verify", str(DIGITS), "--config", str(tmp_path / "m.toml")]) == 2


def test_a_table_of_another_network_writes_nothing(tmp_path: Path) -> None:
    (tmp_path / "m.toml").write_text('[postprocess]\ndecode = "yunet"\nsize = [32, 32]\n')
    with pytest.raises(CompileError) as caught:
        codegen.compile_model(DIGITS, out=tmp_path / "out", config=tmp_path / "m.toml")
    assert caught.value.code == "LAM-POSTPROCESS-002"
    assert not (tmp_path / "out").exists()


def found_in_photos(model: str, config: Path) -> list[Mapping[str, Any]]:
    """What the generated C's outputs mean for 48 photos."""
    path, options = shared_dir() / "models" / "onnx" / model, Options(vectors=0)
    decoder = decoder_of(config, compile_file(path, options).graph)
    assert decoder is not None
    with open_engine("c", path, options, Opening()) as engine:
        samples = open_samples(shared_dir() / "data" / "coco_detect48.npz", engine.inputs, config)
        return [decoder.run(engine.run(samples[i])) for i in range(samples.count)]


@pytest.mark.slow
def test_yunet_finds_41_faces() -> None:
    found = found_in_photos("yunet_n_320_qdq.onnx", ROOT / "benchmarks" / "configs" / "yunet.toml")
    assert sum(len(photo["score"]) for photo in found) == 41


@pytest.mark.slow
def test_fastestdet_has_the_average_precision_of_its_own_runtime() -> None:
    """0.246 with ONNX Runtime, all boxes pooled (benchmarks/quantizing/measures.py)."""
    model = shared_dir() / "models" / "onnx" / "fastestdet_352_qdq.onnx"
    data, config = shared_dir() / "data" / "coco_detect48.npz", ROOT / "benchmarks" / "configs" / "fastestdet.toml"
    assert codegen.evaluate(model, data, "pooled_ap50", config=config).value == pytest.approx(0.246, abs=0.001)


@pytest.mark.slow
def test_cocos_evaluator_reads_the_same_curve_at_101_places() -> None:
    require_module("pycocotools")
    with np.load(shared_dir() / "data" / "coco_detect48.npz") as arrays:
        alone = arrays["box_iscrowd"] == 0
        truth = {key: arrays[key][alone] for key in ("box", "box_class", "box_image")}
        pictures = {"jpeg": arrays["jpeg"], "offset": arrays["offset"]}
    config = ROOT / "benchmarks" / "configs" / "fastestdet.toml"
    model = shared_dir() / "models" / "onnx" / "fastestdet_352_qdq.onnx"
    found = codegen.evaluate(model, {**pictures, **truth}, "ap50", config=config)
    assert found.value == pytest.approx(0.249, abs=0.001)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("model", "decode", "boxes"),
    [("yolo8__ort_qdq17_s8sym_pc", "yolov8", "last"), ("yolo__ort_dyn18_qop_s8_pc", "yolov5", "first")],
)
def test_networks_that_make_boxes_themselves(model: str, decode: str, boxes: str, tmp_path: Path) -> None:
    """Of the shape of YOLO's: boxes and labels are joined in the network."""
    (tmp_path / "m.toml").write_text(f'[postprocess]\ndecode = "{decode}"\nboxes = "{boxes}"\nleast = 0\n')
    path = shared_dir() / "models" / "dialects" / f"{model}.onnx"
    result = codegen.verify(path, config=tmp_path / "m.toml", samples=3, flags=("-O0",))
    assert result.equal
    assert result.postprocess is not None
    assert (result.postprocess.outputs, result.postprocess.decode) == (6, decode)
    assert result.postprocess.found > 6


@pytest.mark.slow
@pytest.mark.parametrize("name", ["fastestdet_352_qdq", "yunet_n_320_qdq"])
def test_real_detectors_find_in_c_what_golden_does(name: str) -> None:
    config = ROOT / "benchmarks" / "configs" / f"{name.partition('_')[0]}.toml"
    result = codegen.verify(shared_dir() / "models" / "onnx" / f"{name}.onnx", config=config, samples=2)
    assert result.equal
    assert result.postprocess is not None
    assert result.postprocess.found > 100
