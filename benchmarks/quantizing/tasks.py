"""The networks: the float model, samples to calibrate by, samples to test on, and a score."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import numpy as np

from . import data as d
from . import measures as m
from .data import Array, Data
from .measures import Outputs
from .networks import dequantized, off_its_grid

NAMES = (
    "resnet8",
    "kws",
    "vww",
    "mnist",
    "espcn",
    "ad",
    "fastestdet",
    "yunet",
    "sinet",
    "resnet20",
    "mobilenet_v2",
    "mobilenet_v1_128",
    "mobilenet_v1_224",
    "efficientnet",
)
Score = Callable[[Outputs, Outputs], float]
"""Of a network's outputs, beside the float network's."""


@dataclass(frozen=True)
class Task:
    """One network and its data; arrays are f32[N, ...] in the model's axes, made when asked for."""

    name: str
    model: Callable[[], Path]
    calibrating: Callable[[], Array]
    testing: Callable[[], Array]
    measure: str
    score: Score
    classes: bool = True

    @cached_property
    def path(self) -> Path:
        """The float model's file."""
        return self.model()

    @cached_property
    def calib(self) -> Array:
        """Samples that a quantizer may see."""
        return self.calibrating()

    @cached_property
    def test(self) -> Array:
        """Samples that it may not."""
        return self.testing()


def _stack(samples: Iterable[Array]) -> Array:
    return np.stack([np.asarray(s, np.float32) for s in samples])


class Tasks:
    """All of them, by name."""

    def __init__(self, shared: Path, cache: Path) -> None:
        self.data, self._models, self._cache = Data(shared), shared / "models", cache

    def names(self) -> tuple[str, ...]:
        """What can be asked for."""
        return NAMES

    def task(self, name: str) -> Task:
        """One of them."""
        made: Task = getattr(self, f"_{name}")()
        return made

    def _at(self, path: str) -> Callable[[], Path]:
        return lambda: self._models / path

    def _photos(self, name: str, prepare: Callable[[Array], Array]) -> Callable[[], Array]:
        return lambda: _stack(prepare(photo) for photo in self.data.photos(name))

    def _top1(self, name: str, model: Callable[[], Path], calib: Callable[[], Array], test: Callable[[], Array],
              labels: Array) -> Task:  # fmt: skip
        return Task(name, model, calib, test, "top-1 %", lambda found, wanted: m.top1(found, labels))

    def _resnet8(self) -> Task:
        kept = self.data.file("cifar10_test600")
        return self._top1(
            "resnet8",
            self._at("mlperf_tiny_onnx/resnet8_f32.onnx"),
            lambda: _stack(map(d.planes, self.data.file("cifar10_calib200")["x"])),
            lambda: _stack(map(d.planes, kept["x"])),
            kept["y"],
        )

    def _kws(self) -> Task:
        kept = self.data.file("kws01")
        real = ((kept["x"].astype(np.float32) - d.KWS_ZERO) * d.KWS_SCALE).transpose(0, 3, 1, 2)
        left = np.arange(len(real)) % 5 != 0
        return self._top1(
            "kws", self._at("mlperf_tiny_onnx/kws_f32.onnx"), lambda: real[::5], lambda: real[left], kept["y"][left]
        )

    def _vww(self) -> Task:
        kept = self.data.file("coco_person96")
        return self._top1(
            "vww",
            self._at("mlperf_tiny_onnx/vww_f32.onnx"),
            self._photos("imagenet_calib100", lambda p: d.planes(d.scaled(p, 96) / 255.0)),
            lambda: _stack(d.planes(x / 255.0) for x in kept["x"]),
            kept["y"],
        )

    def _mnist(self) -> Task:
        kept = self.data.file("mnist_test1000")
        return self._top1(
            "mnist",
            self._at("onnx/mnist_cnn_f32.onnx"),
            lambda: _stack(x[None] for x in self.data.file("mnist_calib200")["x"]),
            lambda: _stack(x[None] for x in kept["x"]),
            kept["y"],
        )

    def _espcn(self) -> Task:
        photos = [d.luma(p) for p in self.data.photos("coco_detect48")]
        return Task(
            "espcn",
            self._at("onnx/espcn_x3_f32.onnx"),
            self._photos("imagenet_calib100", lambda p: d.luma(p)[0]),
            lambda: _stack(small for small, _ in photos),
            "PSNR dB",
            lambda found, wanted: m.psnr(found, [y for _, y in photos]),
            classes=False,
        )

    def _ad(self) -> Task:
        speech = self.data.sound("speech_16k_12s.wav")
        clips = {word: self.data.sound(f"micro_speech/{word}_1000ms.wav") for word in ("noise", "no", "silence", "yes")}
        test = np.concatenate([d.mel_windows(x) for x in (speech[96000:], clips["silence"], clips["yes"])])
        return Task(
            "ad",
            self._at("mlperf_tiny_onnx/ad_f32.onnx"),
            lambda: np.concatenate([d.mel_windows(x) for x in (speech[:96000], clips["noise"], clips["no"])]),
            lambda: test,
            "rank corr.",
            lambda found, wanted: m.rank_correlation(found, (test, wanted)),
            classes=False,
        )

    def _detector(self, name: str, model: str, prepare: Callable[[Array], Array], measure: str, score: Score) -> Task:
        return Task(
            name,
            self._at(model),
            self._photos("imagenet_calib100", prepare),
            self._photos("coco_detect48", prepare),
            measure,
            score,
            classes=False,
        )

    def _fastestdet(self) -> Task:
        return self._detector(
            "fastestdet",
            "onnx/fastestdet_352_f32.onnx",
            lambda p: d.bgr(p, 352) / 255,
            "AP50",
            lambda found, wanted: m.average_precision(found, self.data),
        )

    def _yunet(self) -> Task:
        return self._detector("yunet", "onnx/yunet_n_320_f32.onnx", lambda p: d.bgr(p, 320), "face match", m.face_match)

    def _sinet(self) -> Task:
        return self._detector("sinet", "onnx/sinet_portrait_f32.onnx", d.portrait, "IoU", m.mask_overlap)

    def _resnet20(self) -> Task:
        kept = self.data.file("cifar10_test600")
        return self._top1(
            "resnet20",
            self._at("float/resnet20_cifar10_f32.onnx"),
            lambda: _stack(map(d.standard, self.data.file("cifar10_calib200")["x"])),
            lambda: _stack(map(d.standard, kept["x"])),
            kept["y"],
        )

    def _imagenet(
        self, name: str, model: Callable[[], Path], prepare: Callable[[Array], Array], first: int = 0
    ) -> Task:
        labels = self.data.file("imagenet_eval400")["y"] + first
        calib, test = (self._photos(f"imagenet_{part}", prepare) for part in ("calib100", "eval400"))
        return self._top1(name, model, calib, test, labels)

    def _mobilenet_v2(self) -> Task:
        source, made = self._models / "tflite/mobilenet_v2_int8.tflite", self._cache / "mobilenet_v2.onnx"
        return self._imagenet("mobilenet_v2", lambda: off_its_grid(dequantized(source, made), made), d.standard)

    def _mobilenet_v1_128(self) -> Task:
        source = self._models / "tflite/mobilenet_v1_025_128_uint8.tflite"
        made = self._cache / "mobilenet_v1_128.onnx"
        prepare: Callable[[Array], Array] = lambda p: (d.scaled(p, 128).astype(np.float32) - 128) / 128  # noqa: E731
        return self._imagenet("mobilenet_v1_128", lambda: dequantized(source, made), prepare, first=1)

    def _mobilenet_v1_224(self) -> Task:
        path = self._at("float/mobilenet_v1_025_224_f32.onnx")
        return self._imagenet("mobilenet_v1_224", path, lambda p: d.planes(p / 127.5 - 1))

    def _efficientnet(self) -> Task:
        path = self._at("float/efficientnet_lite0_w16.onnx")
        return self._imagenet("efficientnet", path, lambda p: d.planes((p - 127.0) / 128))
