"""Caffe networks through every verb: float C and quantized C equal golden, and both are near the network's numbers."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

import codegen
from codegen.cli import main
from codegen.errors import CompileError
from tests.support.caffe import LENET, drawn, lenet_blobs, mobilenet, run_opencv, run_ours, written


@pytest.fixture
def lenet(tmp_path: Path) -> Path:
    return written(tmp_path, LENET, lenet_blobs(), "lenet")


def samples(count: int = 8) -> np.ndarray:
    return drawn(np.random.default_rng(1), (count, 1, 28, 28), 1.0)


def test_lenet_in_float_is_golden_to_the_bit_and_near_the_network(lenet: Path) -> None:
    assert codegen.verify(lenet, samples=2, flags=("-O0",)).equal
    x = samples(1)
    wanted = run_ours(lenet, {"data": x})["prob"]
    for engine in ("golden", "float"):
        np.testing.assert_allclose(codegen.run(lenet, x, engine=engine), wanted, atol=1e-6)


def test_lenet_quantized_is_golden_to_the_bit_and_near_the_network(lenet: Path, tmp_path: Path) -> None:
    made = codegen.quantize(lenet, {"data": samples(16)}, tmp_path / "q.onnx", recipe="fast")
    assert made.path is not None
    assert codegen.verify(made.path, samples=2, flags=("-O0",)).equal
    x = samples(1)
    np.testing.assert_allclose(codegen.run(made.path, x, io_type="model"), codegen.run(lenet, x), atol=0.05)


def test_a_mobilenet_is_as_opencv_computes_it_and_golden_to_the_bit(tmp_path: Path) -> None:
    path = written(tmp_path, *mobilenet())
    x = drawn(np.random.default_rng(1), (16, 3, 32, 32), 1.0)
    wanted = run_opencv(path, {"data": x[:1]}, ["prob"])["prob"]
    np.testing.assert_allclose(codegen.run(path, x[:1]), wanted, rtol=1e-4, atol=1e-5)
    assert codegen.verify(path, samples=1, flags=("-O0",)).equal
    kinds = [row.operator for row in codegen.inspect(path).layers]
    assert not any("Scale" in kind or "Mul" in kind for kind in kinds), "BatchNorm and Scale are in the convolutions"
    made = codegen.quantize(path, {"data": x}, tmp_path / "q.onnx", recipe="fast")
    assert made.path is not None
    assert codegen.verify(made.path, samples=1, flags=("-O0",)).equal
    np.testing.assert_allclose(codegen.run(made.path, x[:1], io_type="model"), wanted, atol=0.05)


def test_the_weights_may_lie_elsewhere(lenet: Path, tmp_path: Path) -> None:
    weights = lenet.with_suffix(".caffemodel").rename(tmp_path / "iteration_100.caffemodel")
    x = samples(1)
    wanted = run_ours(written(tmp_path, LENET, lenet_blobs(), "other"), {"data": x})["prob"]
    for model in ((lenet, weights), f"{lenet},{weights}"):
        np.testing.assert_allclose(codegen.run(model, x), wanted, atol=1e-6)
    with pytest.raises(CompileError, match=r"LAM-IMPORT-061.*iteration_100\.caffemodel"):
        codegen.run(lenet, x)


def test_the_pair_is_named_as_its_network(lenet: Path, tmp_path: Path) -> None:
    weights = lenet.with_suffix(".caffemodel").rename(tmp_path / "w.bin")
    project = codegen.compile_model((lenet, weights), out=tmp_path / "out")
    assert project.manifest["name"] == "lenet"


@pytest.fixture
def command(capsys: pytest.CaptureFixture[str]) -> Callable[..., tuple[int, str]]:
    """Run one command: how it ended, and what it said."""

    def run(*words: object) -> tuple[int, str]:
        code = main([str(word) for word in words])
        said = capsys.readouterr()
        return code, said.out + said.err

    return run


Command = Callable[..., tuple[int, str]]


def test_the_command_line_takes_both_files(command: Command, lenet: Path, tmp_path: Path) -> None:
    weights = lenet.with_suffix(".caffemodel").rename(tmp_path / "w.bin")
    code, said = command("inspect", lenet, "--caffemodel", weights, "--json")
    assert code == 0, said
    assert json.loads(said)["model"] == "lenet"
    code, said = command("compile", f"{lenet},{weights}", "-o", tmp_path / "out", "--quiet")
    assert code == 0, said


WRONG = {
    "weights alone": (["net.caffemodel"], 2, "LAM-IMPORT-065"),
    "weights of an ONNX model": (["model.onnx", "--caffemodel", "net.caffemodel"], 2, "LAM-IMPORT-065"),
    "no weights": (["bare.prototxt"], 1, "LAM-IMPORT-061"),
    "no such weights": (["net.prototxt", "--caffemodel", "none"], 2, "LAM-IMPORT-002 none"),
    "no such network": (["none.prototxt"], 2, "LAM-IMPORT-002"),
    "a folder": (["net.prototxt", "--caffemodel", "."], 2, "LAM-IMPORT-002"),
    "both turned": (["net.caffemodel", "--caffemodel", "net.prototxt"], 2, "LAM-IMPORT-065"),
    "the network twice": (["net.prototxt", "--caffemodel", "net.prototxt"], 1, "LAM-IMPORT-003 net.prototxt"),
    "another network's": (["net.prototxt", "--caffemodel", "other.caffemodel"], 1, "LAM-IMPORT-062"),
    "a shape of nothing": (["net.prototxt", "--shape", "x=1,1,28,28"], 1, "LAM-IMPORT-052"),
    "a shape that does not fit": (["net.prototxt", "--shape", "data=1,3,28,28"], 1, "LAM-IMPORT-063"),
}


@pytest.mark.parametrize("what", WRONG)
def test_a_wrong_command_is_refused(
    what: str, command: Command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    written(tmp_path, LENET, lenet_blobs())
    written(tmp_path, LENET, name="bare")
    written(tmp_path, LENET, {"fc": [np.zeros((2, 2))]}, "other")
    words, code, said = WRONG[what]
    found, text = command("compile", *words, "-o", "out")
    assert (found, said in text) == (code, True), text
    assert not Path("out").exists()
