"""Quantized TFLite models of ../shared, their recorded inputs, and the bytes that other runtimes gave for them."""

from __future__ import annotations

import io
from collections.abc import Mapping
from pathlib import Path

import numpy as np

from codegen.ir.quant import Array
from tests.support.real import load_data, spread
from tests.support.shared import shared_dir

MODELS: Mapping[str, str] = {
    "resnet8_int8": "mlperf_tiny",
    "kws_int8": "mlperf_tiny",
    "vww_int8": "mlperf_tiny",
    "ad_int8": "mlperf_tiny",
    "strww_int8": "mlperf_tiny",
    "micro_speech_int8": "tflite",
    "hello_world_int8": "tflite",
    "mobilenet_v2_int8": "tflite",
    "mobilenet_v1_025_128_uint8": "tflite",
}
"""Every integer model, by its name without ending, with its folder."""

LARGE = ("mobilenet_v2_int8",)
_RECORDED_PICTURES = 40


def model_path(name: str) -> Path:
    """Where a model of MODELS is."""
    return shared_dir() / "models" / MODELS[name] / f"{name}.tflite"


def recorded(name: str, count: int | None = None, runtime: str = "tflm") -> tuple[list[Array], list[Array]]:
    """Inputs in the model's own type, and a runtime's outputs (LiteRT's for uint8), `count` of them or all."""
    outputs = load_data("reference_outputs")
    key = f"{name}.{runtime}"
    expected = outputs[key if key in outputs else f"{name}.litert_ref"]
    inputs = _inputs(name, outputs)
    chosen = spread(len(expected), len(expected) if count is None else count)
    return [inputs[i][None] for i in chosen], [expected[i][None] for i in chosen]


def _inputs(name: str, outputs: Mapping[str, Array]) -> Array:
    if f"{name}.input" in outputs:
        return outputs[f"{name}.input"]
    if name == "kws_int8":
        return load_data("kws01")["x"]
    if name == "resnet8_int8":
        return (load_data("cifar10_test600")["x"].astype(np.int16) - 128).astype(np.int8)
    if name == "vww_int8":
        return (load_data("coco_person96")["x"].astype(np.int16) - 128).astype(np.int8)
    if name == "strww_int8":
        return _quantized(load_data("strww_calib45")["x"], 0.003701042616739869, -128)
    if name == "mobilenet_v2_int8":
        real = _pictures(224).astype(np.float32) / np.float32(255)
        mean, deviation = (np.array(v, np.float32) for v in ((0.485, 0.456, 0.406), (0.229, 0.224, 0.225)))
        return _quantized(((real - mean) / deviation).transpose(0, 3, 1, 2), 0.018631115555763245, -14)
    assert name == "mobilenet_v1_025_128_uint8", name
    return _pictures(128)


def _quantized(real: Array, scale: float, zero_point: int) -> Array:
    return np.clip(np.round(real / np.float32(scale)) + zero_point, -128, 127).astype(np.int8)


def _pictures(size: int) -> Array:
    """The photos that were recorded, u8[n, size, size, 3] RGB."""
    from PIL import Image

    data = load_data("imagenet_eval400")
    jpeg, offset = data["jpeg"], data["offset"]
    files = [jpeg[offset[i] : offset[i + 1]].tobytes() for i in range(_RECORDED_PICTURES)]
    photos = (Image.open(io.BytesIO(f)).convert("RGB") for f in files)
    return np.stack([np.asarray(p.resize((size, size), Image.Resampling.BILINEAR)) for p in photos])
