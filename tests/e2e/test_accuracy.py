"""Accuracy through the generated C on the shared evaluation sets, in every mode, beside ONNX Runtime."""

from __future__ import annotations

from pathlib import Path

import pytest

import codegen
from tests.real import model_path
from tests.shared import shared_dir

ROOT = Path(__file__).resolve().parents[2]
LEAST = {
    "kws": ("kws_qdq", "kws01", {"single": 0.915, "double": 0.915, "float": 0.915}),
    "resnet8": ("resnet8_qdq", "cifar10_test600", {"single": 0.882, "double": 0.882, "float": 0.882}),
    "mnist_cnn": ("mnist_cnn_qdq", "mnist_test1000", {"single": 0.985, "double": 0.985, "float": 0.985}),
    "vww": ("vww_qdq", "coco_person96", {"single": 80 / 97, "double": 80 / 97, "float": 81 / 97}),
}
"""By configuration: model, data, and the least top-1 share in each mode."""


def top1(name: str, mode: str, engine: str) -> float:
    model, data, _ = LEAST[name]
    result = codegen.evaluate(
        model_path(model),
        shared_dir() / "data" / f"{data}.npz",
        config=ROOT / "benchmarks" / "configs" / f"{name}.toml",
        engine=engine,
        requant=mode,
    )
    return result.engines[0].value


@pytest.mark.slow
@pytest.mark.parametrize("mode", ["single", "double", "float"])
@pytest.mark.parametrize("name", LEAST)
def test_the_c_is_as_accurate_as_it_must_be(name: str, mode: str) -> None:
    assert top1(name, mode, "c") >= LEAST[name][2][mode]


@pytest.mark.slow
@pytest.mark.parametrize("name", LEAST)
def test_onnx_runtime_is_no_better_than_by_one_percent(name: str) -> None:
    assert top1(name, "float", "c") >= top1(name, "float", "float") - 0.01
