"""JSON of other tools: ONNX Runtime's overrides, MQBench's tables, Ingenic's configurations."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from codegen.errors import CompileError
from codegen.quantizer.config import QuantConfig
from codegen.quantizer.foreign.load import load_config, parse_document
from codegen.quantizer.ranges import range_of
from codegen.quantizer.ranges.storing import stored_for
from codegen.quantizer.spec import Spec
from codegen.quantizer.statistics import Statistics
from tests.support.tools import require_module


def problems(document: dict[str, Any]) -> list[CompileError]:
    with pytest.raises(CompileError) as error:
        parse_document(document, "d.json")
    return list(error.value.problems())


def scale_of(config: QuantConfig, name: str) -> tuple[float, int]:
    spec = config.spec("activation", tensor=name)
    stored = stored_for(*range_of(Statistics(), spec), spec)
    return float(stored.scale), int(stored.zero_point)


def test_overrides_of_tensors() -> None:
    config = parse_document(
        {
            "a": [{"quant_type": "QuantType.QUInt16"}],
            "b": [{"rmin": -1.0, "rmax": 3.0, "symmetric": False}],
            "c": [{"scale": 0.25, "zero_point": 10, "quant_type": "QUInt8"}],
            "w": [{"quant_type": "QInt4", "axis": 0, "symmetric": True}],
            "r": [{"quant_type": "QInt8", "reduce_range": True}],
        },
        "d.json",
    )
    assert config.spec("activation", tensor="a") == Spec(bits=16, symmetric=True, signed=False)
    assert (config.spec("activation", tensor="b").low, config.spec("activation", tensor="b").high) == (-1.0, 3.0)
    assert scale_of(config, "c") == (0.25, 10)
    assert config.spec("weights", tensor="w") == Spec(bits=4, symmetric=True, per_channel=True, narrow_range=None)
    assert config.spec("weights", tensor="r").bits == 7
    assert any("channels" in note for note in config.notes)


def test_overrides_as_an_option_of_that_quantizer(tmp_path: Path) -> None:
    path = tmp_path / "o.json"
    path.write_text(json.dumps({"TensorQuantOverrides": {"a": [{"quant_type": "QInt16"}]}}))
    assert load_config(path).spec("activation", tensor="a").bits == 16


@pytest.mark.parametrize("zero", [-128, -3, 0, 127])
def test_an_overridden_scale_is_the_one_that_onnx_runtime_computes(zero: int) -> None:
    require_module("onnxruntime")
    from onnxruntime.quantization.quant_utils import compute_scale_zp

    low, high = 0.1 * (-128 - zero), 0.1 * (127 - zero)
    theirs = compute_scale_zp(np.float32(low), np.float32(high), np.array(-128, np.int8), np.array(127, np.int8))
    config = parse_document({"a": [{"scale": float(theirs[1]), "zero_point": int(theirs[0])}]}, "d.json")
    assert scale_of(config, "a") == (float(theirs[1]), zero)


@pytest.mark.parametrize(
    ("tables", "code"),
    [
        ([], "LAM-QUANT-003"),
        ([1], "LAM-QUANT-003"),
        ([{"type": "QInt8"}], "LAM-QUANT-002"),
        ([{"quant_type": "int8"}], "LAM-QUANT-003"),
        ([{"quant_type": 3}], "LAM-QUANT-003"),
        ([{"scale": 0.1}], "LAM-QUANT-005"),
        ([{"zero_point": 1}], "LAM-QUANT-005"),
        ([{"scale": 0.1, "zero_point": 1, "rmin": 0, "rmax": 1}], "LAM-QUANT-005"),
        ([{"scale": 0.1, "zero_point": 1, "symmetric": True}], "LAM-QUANT-005"),
        ([{"scale": 0, "zero_point": 1}], "LAM-QUANT-003"),
        ([{"rmin": 0}], "LAM-QUANT-005"),
        ([{"rmin": 2, "rmax": 1}], "LAM-QUANT-010"),
        ([{"scale": 1.0, "zero_point": 1000}], "LAM-QUANT-010"),
        ([{"convert": {"quant_type": "QInt16"}}], "LAM-QUANT-010"),
        ([{"quant_type": "QInt8"}, {"quant_type": "QInt8"}], "LAM-QUANT-004"),
    ],
)
def test_wrong_overrides_are_refused_with_the_tensor(tables: list[Any], code: str) -> None:
    found = problems({"TensorQuantOverrides": {"a": tables}})
    assert code in [p.code for p in found]
    assert all("TensorQuantOverrides.a" in p.where for p in found)


def test_tables_of_mqbench_for_each_backend() -> None:
    step = {"step": 0.25, "zero_point": 0, "min": -32.0, "max": 31.75, "bit": 8, "type": "biased"}
    found = {
        "tensorrt": {"tensorrt": {"blob_range": {"x": 127.0}}},
        "ppl-cuda": {"ppl-cuda": {"x": 127.0}},
        "vitis": {"vitis": {"x": {"scale": 1.0}}},
        "ppl": {"ppl": {"x": step, "w": {**step, "step": [0.1], "min": [-1], "max": [1]}}},
        "snpe": {"activation_encodings": {"x": [{"bitwidth": 8, "min": -32.0, "max": 31.75}]}, "param_encodings": {}},
        "sophgo": {
            "sophgo_tpu": {
                "x_8": {"threshold": 128.0, "min": -7.0, "max": 9.0},
                "x_weight": {"step": [0.1], "zero_point": [0]},
            },
            "w_qscheme": "",
            "a_qscheme": "",
        },
    }
    scales = {name: scale_of(parse_document(document, "d.json"), "x") for name, document in found.items()}
    one, quarter = (1.0, 0), (0.25, 0)
    assert scales == {
        "tensorrt": one,
        "ppl-cuda": one,
        "vitis": one,
        "ppl": quarter,
        "snpe": quarter,
        "sophgo": one,
    }
    assert any("scales of weights" in note for note in parse_document(found["sophgo"], "d.json").notes)


@pytest.mark.parametrize(
    ("document", "code"),
    [
        ({"tensorrt": {"x": 1.0}}, None),
        ({"tensorrt": {"blob_range": {"x": "1"}}}, "LAM-QUANT-003"),
        ({"tensorrt": 3}, "LAM-QUANT-003"),
        ({"tensorrt": {"blob_range": {"x": -1.0}}}, "LAM-QUANT-003"),
        ({"vitis": {"x": {"scale": None}}}, "LAM-QUANT-003"),
        ({"vitis": {"x": {"scale": 1.0}}, "vitiss": {}}, "LAM-QUANT-002"),
        ({"sophgo_tpu": {"x": {"min": 0, "max": 1}}}, "LAM-QUANT-003"),
        ({"sophgo_tpu": {"x": {"threshold": 1, "min": 2, "max": 1}}}, "LAM-QUANT-003"),
        ({"ppl": {"x": {"min": 0, "max": 1, "bit": 9}}}, "LAM-QUANT-003"),
        ({"activation_encodings": {"x": {"min": 0, "max": 1}}}, "LAM-QUANT-003"),
    ],
)
def test_wrong_tables_of_mqbench_are_refused(document: dict[str, Any], code: str | None) -> None:
    if code is None:
        assert not parse_document(document, "d.json").levels[2:]
    else:
        assert [p.code for p in problems(document)] == [code]


def test_a_converter_s_configuration_is_mostly_notes() -> None:
    config = parse_document(
        {
            "SOC": "T40",
            "INPUT": ["images"],
            "INPUT_SHAPE": [1, 3, 640, 640],
            "MEAN": [0, 0, 0],
            "NORMAL": [255.0, 255.0, 255.0],
            "COLOR": ["RGB"],
            "OUTPUT": ["640", "660"],
            "QUANT_DATASET_PATH": "./images/",
        },
        "magik.cfg",
    )
    assert config.spec("activation") == Spec()
    assert any("std = [255.0, 255.0, 255.0]" in note and 'color = "rgb"' in note for note in config.notes)
    assert all(any(note.startswith(key) for note in config.notes) for key in ("SOC", "OUTPUT", "QUANT_DATASET_PATH"))


def test_a_quantizer_s_configuration() -> None:
    config = parse_document(
        {"used_image_num": 12, "feature_quantize_method": "KL", "weight_quantize_method": "MAX_ABS", "path": "x/"},
        "ptq.json",
    )
    assert config.general.samples == 12
    assert config.spec("activation") == Spec(method="entropy", symmetric=True)
    assert config.spec("weights").method == "minmax"


def test_widths_of_training_operators() -> None:
    config = parse_document(
        {
            "weight_bitwidth": 4,
            "output_bitwidth": 8,
            "input_bitwidth": 32,
            "set_ahead_layers_8bit": 2,
            "set_hinder_layers_8bit": 1,
            "quantize_last_feature": False,
            "weight_quantize_method": "DAQS",
            "weight_calibration_method": "ADMM",
            "clip_max_value": 6.0,
        },
        "q.json",
    )
    assert config.spec("weights").bits == 4
    assert config.spec("input").keep_float
    assert (config.mixed.first, config.mixed.last, config.io.outputs) == (2, 1, "float")
    assert config.correct.weights == "descent"
    assert any(note.startswith("clip_max_value") for note in config.notes)


@pytest.mark.parametrize(
    ("key", "value", "code"),
    [
        ("weight_bitwith", 8, "LAM-QUANT-002"),
        ("weight_bitwidth", 9, "LAM-QUANT-003"),
        ("weight_bitwidth", 16, "LAM-QUANT-005"),
        ("MEAN", "0", "LAM-QUANT-003"),
        ("MEAN", [], "LAM-QUANT-003"),
        ("INPUT_SHAPE", 3, "LAM-QUANT-003"),
        ("INPUT_SHAPE", [0], "LAM-QUANT-003"),
        ("feature_quantize_method", "kl", "LAM-QUANT-003"),
        ("used_image_num", 0, "LAM-QUANT-003"),
        ("fixpoint", 1, "LAM-QUANT-003"),
        ("clip_max_value", 0, "LAM-QUANT-003"),
    ],
)
def test_wrong_keys_of_ingenic_are_refused(key: str, value: object, code: str) -> None:
    assert [p.code for p in problems({"SOC": "T40", key: value})] == [code]
