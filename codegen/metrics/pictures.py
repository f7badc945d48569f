"""Metrics of networks that make pictures: peak signal to noise, and overlap of regions."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from codegen.ir.quant import Array
from codegen.metrics.metric import Score, Seen, unfit
from codegen.records import record

_BYTE = 255
IGNORED = 255
"""The class of pixels that are not counted."""


@record
class Psnr:
    """Peak signal to noise in dB, the mean over the samples; `y` are the pictures that should come out.

    `y` of bytes: the output, 0 .. 1, is rounded to bytes as a screen shows it, and the peak is 255; real `y`: the peak
    is 1.  Axes of size 1 do not count; a picture with its channels last is compared with one that has them first.
    """

    keys: tuple[str, ...] = ("y",)
    real: bool = True

    def truths(self, arrays: Mapping[str, Array], where: str) -> Sequence[Any]:
        """One picture per sample."""
        y = arrays["y"]
        if y.ndim < 3 or not (y.dtype == np.uint8 or y.dtype.kind == "f"):
            found = f"y is {y.dtype}{list(y.shape)}, not a picture of bytes or reals per sample"
            raise unfit(found, where=where)
        return list(y)

    def judge(self, seen: Seen, truth: Array) -> float:
        """Of one picture; the error of an equal one counts as 1e-10 of the peak's square."""
        made = _like(seen.first.astype(np.float64), truth)
        peak = 1.0
        if truth.dtype == np.uint8:
            made, peak = np.clip(np.rint(made * _BYTE), 0, _BYTE), float(_BYTE)
        error = float(np.mean((made - truth.astype(np.float64)) ** 2)) / peak**2
        return float(-10 * np.log10(max(error, 1e-10)))

    def total(self, verdicts: Sequence[float]) -> Score:
        """The mean."""
        return Score(float(np.mean(verdicts)), unit="dB")


def _like(made: Array, truth: Array) -> Array:
    """The output with the axes of the truth."""
    bare = made.reshape([n for n in made.shape if n != 1])
    wanted = [n for n in truth.shape if n != 1]
    if list(bare.shape) == wanted:
        return bare.reshape(truth.shape)
    if bare.ndim == 3 and [*bare.shape[1:], bare.shape[0]] == wanted:
        return np.moveaxis(bare, 0, -1).reshape(truth.shape)
    raise unfit(f"pictures are {list(truth.shape)}, the model's first output is {list(made.shape)}", where="y")


@record
class MeanIoU:
    """Intersection over union of regions, the mean over classes that occur; `y` has a class per pixel, 255 for none.

    The first output has an axis of classes before or behind the pixels, the largest of which is the answer; without one
    a pixel is of class 1 above a half.
    """

    keys: tuple[str, ...] = ("y",)
    real: bool = True

    def truths(self, arrays: Mapping[str, Array], where: str) -> Sequence[Any]:
        """A map of classes per sample."""
        y = arrays["y"]
        if y.ndim != 3 or y.dtype.kind not in "iu":
            raise unfit(f"y is {y.dtype}{list(y.shape)}, not [samples, height, width] of classes", where=where)
        return list(y)

    def judge(self, seen: Seen, truth: Array) -> Array:
        """i64[classes, 2]: pixels of each class in both maps, and in either."""
        answer, classes = _map(seen.first, truth.shape)
        counted = truth != IGNORED
        truth, answer = truth[counted].astype(np.int64), answer[counted]
        if truth.size and not 0 <= truth.min() <= truth.max() < classes:
            raise unfit(f"y has class {truth.max()}, the model's first output {classes}", where="y")
        both = np.bincount(truth[truth == answer], minlength=classes)
        each = np.bincount(truth, minlength=classes) + np.bincount(answer, minlength=classes)
        return np.stack([both, each - both], axis=1)

    def total(self, verdicts: Sequence[Array]) -> Score:
        """The mean of the classes' overlaps over all pixels."""
        both, either = np.sum(verdicts, axis=0).T
        return Score(float(np.mean(both[either > 0] / either[either > 0])) if either.any() else 0.0)


def _map(output: Array, shape: tuple[int, ...]) -> tuple[Array, int]:
    """The class of each pixel, and how many classes there are."""
    made = output[0] if output.ndim == 4 and output.shape[0] == 1 else output
    if made.ndim == 3 and made.shape[1:] == shape:
        made = np.moveaxis(made, 0, -1)
    if made.ndim == 3 and made.shape[:2] == shape and made.shape[2] > 1:
        return made.argmax(axis=-1), made.shape[2]
    if made.size == int(np.prod(shape)):
        return (made.reshape(shape) > 0.5).astype(np.int64), 2
    raise unfit(f"maps are {list(shape)}, the model's first output is {list(output.shape)}", where="y")
