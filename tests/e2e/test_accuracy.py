"""Accuracy through the generated C on the shared evaluation sets: ONNX in every mode beside ONNX Runtime, TFLite as
measured with TFLite's own runtimes, and sample by sample what TFLite Micro answers.
"""

from __future__ import annotations

import numpy as np
import pytest

import codegen
from codegen.pipeline import Options
from codegen.verbs.engines import open_engine
from codegen.verbs.samples import open_samples
from tests.support import real_tflite
from tests.support.real import model_path
from tests.support.shared import ROOT, shared_dir
from tests.support.tools import require_module

LEAST = {
    "kws": ("kws_qdq", "kws01", {"single": 0.915, "tflite": 0.915, "ort": 0.915}),
    "resnet8": ("resnet8_qdq", "cifar10_test600", {"single": 0.882, "tflite": 0.882, "ort": 0.882}),
    "mnist_cnn": ("mnist_cnn_qdq", "mnist_test1000", {"single": 0.985, "tflite": 0.985, "ort": 0.985}),
    "vww": ("vww_qdq", "coco_person96", {"single": 80 / 97, "tflite": 80 / 97, "ort": 81 / 97}),
}
"""By configuration: model, data, and the least top-1 share in each mode."""
TFLITE = {
    "kws_int8": ("kws01", 0.901, None),
    "resnet8_int8": ("cifar10_test600", 0.8933, None),
    "vww_int8": ("coco_person96", 0.835, None),
    "mobilenet_v2_int8": ("imagenet_eval400", 0.7575, 10),
}
"""By model: data, the top-1 share of other runtimes as the models' README has it (of
reference kernels if of several), and how many samples TFLite Micro answers here: all, or the first ones."""


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
@pytest.mark.parametrize("mode", ["single", "tflite", "ort"])
@pytest.mark.parametrize("name", LEAST)
def test_the_c_is_as_accurate_as_it_must_be(name: str, mode: str) -> None:
    assert top1(name, mode, "c") >= LEAST[name][2][mode]


@pytest.mark.slow
@pytest.mark.parametrize("name", LEAST)
def test_onnx_runtime_is_no_better_than_by_one_percent(name: str) -> None:
    assert top1(name, "ort", "c") >= top1(name, "ort", "float") - 0.01


@pytest.mark.slow
@pytest.mark.parametrize("name", TFLITE)
def test_a_tflite_model_is_as_accurate_as_with_other_runtimes(name: str) -> None:
    data, share, _ = TFLITE[name]
    result = codegen.evaluate(
        real_tflite.model_path(name),
        shared_dir() / "data" / f"{data}.npz",
        config=ROOT / "benchmarks" / "configs" / f"{name}.toml",
    )
    assert result.engine == "c"
    assert abs(result.value - share) <= 0.005, f"{result.engines[0].right} of {result.count}"


@pytest.mark.slow
@pytest.mark.parametrize("name", TFLITE)
def test_every_sample_of_an_evaluation_is_answered_as_by_tflite_micro(name: str) -> None:
    require_module("tflite_micro")
    data, _, limit = TFLITE[name]
    path, config = real_tflite.model_path(name), ROOT / "benchmarks" / "configs" / f"{name}.toml"
    with open_engine("c", path, Options(vectors=0)) as ours, open_engine("tflm", path, Options()) as theirs:
        own, other = (
            open_samples(shared_dir() / "data" / f"{data}.npz", engine.inputs, config, limit)
            for engine in (ours, theirs)
        )
        assert len(own) == len(other)
        wrong = [
            index
            for index in range(len(own))
            if not all(
                np.array_equal(a, b)
                for a, b in zip(ours.run(own[index]).values(), theirs.run(other[index]).values(), strict=True)
            )
        ]
    assert wrong == []
