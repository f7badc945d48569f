"""Samples of ../shared/data as each network wants them, in the model's own axes."""

from __future__ import annotations

import io
import wave
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import numpy as np
from PIL import Image

Array = np.ndarray

IMAGENET_MEAN = np.array([0.485, 0.456, 0.406])
IMAGENET_STD = np.array([0.229, 0.224, 0.225])
KWS_SCALE, KWS_ZERO = np.float32(0.5847029089927673), 83
SINET_MEAN = np.array([102.890434, 111.25247, 126.91212])
SINET_STD = np.array([62.93292, 62.82138, 66.355705])


class Data:
    """The folder of data files."""

    def __init__(self, shared: Path) -> None:
        self.folder = shared / "data"

    def file(self, name: str) -> dict[str, Array]:
        """The arrays of a file."""
        with np.load(self.folder / f"{name}.npz") as file:
            return {key: file[key] for key in file.files}

    def photos(self, name: str) -> Iterator[Array]:
        """Photographs as u8[H, W, 3], RGB."""
        kept = self.file(name)
        for start, stop in zip(kept["offset"], kept["offset"][1:], strict=False):
            yield np.asarray(Image.open(io.BytesIO(kept["jpeg"][start:stop].tobytes())).convert("RGB"))

    def sound(self, name: str) -> Array:
        """Samples of a wave file in -1 .. 1."""
        with wave.open(str(self.folder / name)) as file:
            return np.frombuffer(file.readframes(file.getnframes()), np.int16).astype(np.float32) / 32768


def scaled(photo: Array, size: int) -> Array:
    """A photograph squeezed to a square, bilinear."""
    return np.asarray(Image.fromarray(photo).resize((size, size), Image.Resampling.BILINEAR))


def planes(photo: Array) -> Array:
    """f32[3, H, W] of [H, W, 3]."""
    return np.ascontiguousarray(photo.transpose(2, 0, 1), np.float32)


def standard(photo: Array) -> Array:
    """A photograph less ImageNet's mean, over its deviation."""
    return planes((photo / 255.0 - IMAGENET_MEAN) / IMAGENET_STD)


def bgr(photo: Array, size: int) -> Array:
    """Blue first, 0 .. 255."""
    return planes(scaled(photo, size)[..., ::-1])


def portrait(photo: Array) -> Array:
    """As SINet was trained."""
    return planes((scaled(photo, 320)[..., ::-1].astype(np.float64) - SINET_MEAN) / SINET_STD / 255)


def luma(photo: Array) -> tuple[Array, Array]:
    """The middle of a photograph's luminance: a third of its size as 0 .. 1, and as it is."""
    top, left = (photo.shape[0] - 192) // 2, (photo.shape[1] - 192) // 2
    middle = photo[top : top + 192, left : left + 192]
    y = np.asarray(Image.fromarray(middle).convert("YCbCr"))[..., 0]
    small = np.asarray(Image.fromarray(y).resize((64, 64), Image.Resampling.BICUBIC))
    return (small.astype(np.float32) / 255)[None], y


def mel_windows(sound: Array) -> Array:
    """Five frames of 128 mel bands in dB: what the anomaly detector of MLPerf Tiny is given."""
    window = np.hanning(1025)[:-1]
    padded = np.pad(sound, 512, mode="reflect")
    frames = np.stack([padded[i : i + 1024] * window for i in range(0, len(padded) - 1023, 512)])
    power = np.abs(np.fft.rfft(frames, axis=1)) ** 2
    bands = 10 * np.log10(power @ _mel_filters().T + np.finfo(np.float32).eps)
    return np.concatenate([bands[i : len(bands) - 4 + i] for i in range(5)], axis=1).astype(np.float32)


@cache
def _mel_filters() -> Array:
    """Triangles between 130 points that lie evenly on Slaney's scale from 0 to 8000 Hz, each of unit area."""
    step, knee = np.log(6.4) / 27, 15.0
    mels = np.linspace(0, knee + np.log(8) / step, 130)
    edges = np.where(mels < knee, mels * 200 / 3, 1000 * np.exp(step * (mels - knee)))
    bins = np.linspace(0, 8000, 513)
    low, middle, high = (edges[i : i + 128, None] for i in range(3))
    rising, falling = (bins - low) / (middle - low), (high - bins) / (high - middle)
    return np.maximum(0, np.minimum(rising, falling)) * 2 / (high - low)
