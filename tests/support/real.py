"""Real models of ../shared with real inputs: 13 quantized ONNX files and what was recorded or photographed for them.

Float files of the same networks, and of others, take the same inputs.
"""

from __future__ import annotations

import io
import wave
from collections.abc import Callable, Mapping
from pathlib import Path

import numpy as np

from codegen.ir.quant import Array
from tests.support.shared import shared_dir

TINY = ("kws", "resnet8", "vww", "ad")
"""The networks of MLPerf Tiny."""

MODELS: Mapping[str, str] = {
    **{f"{name}_{kind}": f"mlperf_tiny_onnx/{name}_{kind}.onnx" for name in TINY for kind in ("qdq", "qdq_sym")},
    "resnet8_qop_u8s8": "mlperf_tiny_onnx/resnet8_qop_u8s8.onnx",
    "mnist_cnn_qdq": "onnx/mnist_cnn_qdq.onnx",
    "espcn_x3_qdq": "onnx/espcn_x3_qdq.onnx",
    "yunet_n_320_qdq": "onnx/yunet_n_320_qdq.onnx",
    "fastestdet_352_qdq": "onnx/fastestdet_352_qdq.onnx",
}
"""Every quantized ONNX file, by its name without ending."""

LARGE = ("yunet_n_320_qdq", "fastestdet_352_qdq", "vww_qdq_sym")
"""Those that take longer."""


def model_path(name: str) -> Path:
    """Where a model of MODELS is."""
    return shared_dir() / "models" / MODELS[name]


def real_inputs(name: str, count: int) -> list[Array]:
    """At most `count` first inputs of an ONNX model, in the model's own layout and type, spread over the data."""
    make = next(f for start, f in _INPUTS.items() if name.startswith(start))
    return [np.ascontiguousarray(x, np.float32) for x in make(count)]


def load_data(name: str) -> dict[str, Array]:
    """The arrays of a data file."""
    with np.load(shared_dir() / "data" / f"{name}.npz") as file:
        return {key: file[key] for key in file.files}


def spread(available: int, count: int) -> list[int]:
    """Indices of `count` items out of those available."""
    return sorted({int(i) for i in np.linspace(0, available - 1, min(count, available))})


def _kws(count: int) -> list[Array]:
    x = load_data("kws01")["x"]
    real = [(x[i].astype(np.float32) - np.float32(83)) * np.float32(0.5847029089927673) for i in spread(len(x), count)]
    return [r.transpose(2, 0, 1)[None] for r in real]


def _resnet8(count: int) -> list[Array]:
    x = load_data("cifar10_test600")["x"]
    return [x[i].transpose(2, 0, 1)[None] for i in spread(len(x), count)]


def _vww(count: int) -> list[Array]:
    x = load_data("coco_person96")["x"]
    return [x[i].transpose(2, 0, 1)[None] / np.float32(255) for i in spread(len(x), count)]


def _ad(count: int) -> list[Array]:
    """Random: there are no recordings.  They lie on the grid of the TFLite model that they were drawn for."""
    x = load_data("reference_outputs")["ad_int8.input"]
    return [(x[i : i + 1].astype(np.float32) - np.float32(89)) * np.float32(0.39101523) for i in spread(len(x), count)]


def _mnist(count: int) -> list[Array]:
    x = load_data("mnist_test1000")["x"]
    return [x[i][None, None] for i in spread(len(x), count)]


def _resnet20(count: int) -> list[Array]:
    x = load_data("cifar10_test600")["x"]
    mean, deviation = np.array([0.485, 0.456, 0.406]), np.array([0.229, 0.224, 0.225])
    return [((x[i] / 255 - mean) / deviation).transpose(2, 0, 1)[None] for i in spread(len(x), count)]


def _imagenet(mean: float, deviation: float) -> Callable[[int], list[Array]]:
    """What makes inputs of 224 x 224 pixels of which the same number was taken off, and another divided by."""
    return lambda count: [
        ((x.astype(np.float32) - mean) / deviation).transpose(2, 0, 1)[None] for x in _photos(count, "imagenet_eval400")
    ]


def _sinet(count: int) -> list[Array]:
    mean = np.array([102.890434, 111.25247, 126.91212]).reshape(3, 1, 1)
    deviation = np.array([62.93292, 62.82138, 66.355705]).reshape(3, 1, 1)
    return [(x - mean) / deviation / 255 for x in _bgr(count, 320, 1)]


def _speech(count: int, samples: int) -> list[Array]:
    """Pieces of a recording of 16,000 samples a second, -1 .. 1."""
    with wave.open(str(shared_dir() / "data" / "speech_16k_12s.wav")) as file:
        sound = np.frombuffer(file.readframes(file.getnframes()), "<i2").astype(np.float32) / np.float32(32768)
    starts = np.linspace(len(sound) // 3, len(sound) - samples, count).astype(int)
    return [sound[start : start + samples] for start in starts]


def _photos(count: int, name: str = "coco_detect48") -> list[Array]:
    """Photos as u8[H, W, 3] RGB, of any size."""
    from PIL import Image

    data = load_data(name)
    jpeg, offset = data["jpeg"], data["offset"]
    files = [jpeg[offset[i] : offset[i + 1]].tobytes() for i in spread(len(offset) - 1, count)]
    return [np.asarray(Image.open(io.BytesIO(f)).convert("RGB")) for f in files]


def _espcn(count: int) -> list[Array]:
    """Luma of the middle 64 x 64 pixels."""
    found = []
    for photo in _photos(count):
        top, left = (photo.shape[0] - 64) // 2, (photo.shape[1] - 64) // 2
        crop = photo[top : top + 64, left : left + 64].astype(np.float32)
        found.append((crop @ np.array([0.299, 0.587, 0.114], np.float32))[None, None] / np.float32(255))
    return found


def _bgr(count: int, size: int, divide: int) -> list[Array]:
    from PIL import Image

    found = []
    for photo in _photos(count):
        resized = np.asarray(Image.fromarray(photo).resize((size, size), Image.Resampling.BILINEAR))
        found.append(resized[:, :, ::-1].transpose(2, 0, 1)[None].astype(np.float32) / np.float32(divide))
    return found


_INPUTS: Mapping[str, Callable[[int], list[Array]]] = {
    "kws": _kws,
    "resnet8": _resnet8,
    "vww": _vww,
    "ad": _ad,
    "mnist_cnn": _mnist,
    "espcn": _espcn,
    "yunet": lambda count: _bgr(count, 320, 1),
    "fastestdet": lambda count: _bgr(count, 352, 255),
    "sinet": _sinet,
    "resnet20": _resnet20,
    "mobilenet_v1": _imagenet(127.5, 127.5),
    "efficientnet": _imagenet(127.0, 128.0),
    "silero": lambda count: [x[None] for x in _speech(count, 576)],
    "dtln_1": lambda count: [np.abs(np.fft.rfft(x))[None, None] for x in _speech(count, 512)],
}
