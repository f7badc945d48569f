"""From a data file's sample to a model's input: the `[preprocess]` table of a model's configuration file.

Decides: what each key of the table means, and the order of the steps (decode, resize, colour, numbers, layout).  One
object serves every verb that reads data.  No file name is ever tested for.
"""

from __future__ import annotations

import io
from collections.abc import Mapping
from dataclasses import replace
from itertools import pairwise
from typing import Any

import numpy as np

from codegen.errors import ExtraMissing, FeedNotFinite, ImageUnreadable, SampleDoesNotFit
from codegen.ir.quant import Array
from codegen.preprocess.camera import Camera
from codegen.records import record

COLORS = ("rgb", "bgr", "gray")
_LAYOUT_HINT = 'say how its axes become the model\'s: layout = "NHWC->NCHW", for example, in [preprocess] of --config'
_QUANTIZE_HINT = (
    "say in a file for --config how the data becomes the model's integers: [preprocess] with "
    "quantize = { scale = S, zero_point = Z }; docs/preprocess.md shows whole files"
)


@record(kw_only=True)
class Preprocess:
    """What happens to one sample, in this order; every step is optional.

    `camera`: a frame's bytes become a picture, resized and coloured. `jpeg`: decode to u8[H, W, 3] RGB. `resize`: to
    (height, width), bilinear. `color`: `bgr` swaps the channels, `gray` keeps the luma of ITU-R 601. `scale`,
    `zero_point`: real = scale * (x - zero_point). Then (x / divide - mean) / std, in float32, mean and std for all
    channels or one per channel. `quantize`: scale and zero point of an integer input, q = saturate(rint(x / scale) +
    zero_point), half to even. `axes` to `model_axes`: letters of the data's and the model's axes, N first; an axis that
    the data lacks has size 1.
    """

    axes: str = ""
    model_axes: str = ""
    scale: float | None = None
    zero_point: int = 0
    divide: float = 1.0
    mean: tuple[float, ...] = ()
    std: tuple[float, ...] = ()
    resize: tuple[int, int] | None = None
    color: str = "rgb"
    jpeg: bool = False
    quantize: tuple[float | None, int] = (None, 0)
    camera: Camera | None = None
    before: tuple[str, ...] = ()
    """Lines of the table about what pictures were made of, and are not any more."""

    @property
    def behind(self) -> Preprocess:
        """What happens to the picture that a camera's frame has become."""
        return self if self.camera is None else replace(self, camera=None, before=self.camera.lines)

    @property
    def lines(self) -> tuple[str, ...]:
        """The keys about numbers and layout, as a table has them."""
        meant = (("dequantize", (self.scale, self.zero_point)), ("quantize", self.quantize))
        said = [f"{key} = {{ scale = {scale!r}, zero_point = {zero} }}" for key, (scale, zero) in meant if scale]
        said += [f"divide = {self.divide!r}"] if self.divide != 1.0 else []
        said += [f"{key} = {list(values)}" for key, values in (("mean", self.mean), ("std", self.std)) if values]
        return (*said, *([f'layout = "{self.axes}->{self.model_axes}"'] if self.axes else []))

    @property
    def computes(self) -> bool:
        """Whether numbers change, so that the result is real."""
        return self.scale is not None or self.divide != 1.0 or bool(self.mean) or bool(self.std)

    def apply(self, sample: Array, shape: tuple[int, ...], dtype: str) -> Array:
        """One sample (without the axis N) as the model's input of `shape` and `dtype`.

        Raises:
            SampleDoesNotFit: LAM-PREPROCESS-004.
            FeedNotFinite: LAM-GOLDEN-004, NaN or infinity is to become an integer.
        """
        with np.errstate(all="ignore"):  # what overflows is infinite, and refused where that has no meaning
            return self._applied(np.asarray(sample), shape, dtype)

    def _applied(self, x: Array, shape: tuple[int, ...], dtype: str) -> Array:
        if x.dtype.kind not in "biuf":
            raise SampleDoesNotFit(f"samples of type {x.dtype} are not numbers")
        if self.camera is not None:
            x = self.camera.picture(x)
        axes = self._sample_axes(x)
        if self.resize is not None:
            x = _resized(x, axes, self.resize)
        x = _colored(x, axes, self.color)
        if self.computes:
            x = self._real(x, axes)
        if self.quantize[0] is not None:
            x = _quantized(x, self.quantize[0], self.quantize[1], dtype)
        if self.axes:
            x = _arranged(x, axes, self.model_axes)
        return _typed(_fitted(x, shape, exact=bool(self.axes)), dtype)

    def _sample_axes(self, x: Array) -> str:
        """Letters of one sample's axes; without a layout a picture's are known by `jpeg` only."""
        pictures = self.jpeg or self.camera is not None or bool(self.before)
        axes = self.axes.replace("N", "") if self.axes else ("HWC" if pictures else "")
        if (axes or self.axes) and len(axes) != x.ndim:
            raise SampleDoesNotFit(f"a sample of shape {list(x.shape)} does not have the axes {axes} of `layout`")
        return axes

    def _real(self, x: Array, axes: str) -> Array:
        """The numbers, float32."""
        y: Array = x.astype(np.float32)
        if self.scale is not None:
            y = (y - np.float32(self.zero_point)) * np.float32(self.scale)
        if self.divide != 1.0:
            y = y / np.float32(self.divide)
        if self.mean:
            y = y - _per_channel(self.mean, y, axes, "mean")
        if self.std:
            y = y / _per_channel(self.std, y, axes, "std")
        return np.asarray(y, np.float32)


def _quantized(x: Array, scale: float, zero_point: int, dtype: str) -> Array:
    """Real numbers as integers of the model's type."""
    wanted = np.dtype(dtype)
    if wanted.kind not in "iu":
        raise SampleDoesNotFit(f"`quantize` makes integers, the model's input is {dtype}")
    steps = np.rint(x.astype(np.float32) / np.float32(scale)).astype(np.float64) + zero_point
    if not np.isfinite(steps).all():
        raise FeedNotFinite("NaN, or a number that is infinite once it is divided by the scale", where="`quantize`")
    info = np.iinfo(wanted)
    return np.asarray(np.clip(steps, info.min, info.max).astype(wanted))


def decode_jpeg(data: bytes, index: int) -> Array:
    """One picture as u8[H, W, 3], RGB; LAM-API-002 without pillow, LAM-PREPROCESS-005 when it cannot be decoded."""
    image = _pillow()
    try:
        return np.asarray(image.open(io.BytesIO(data)).convert("RGB"))
    except (OSError, ValueError, SyntaxError, image.DecompressionBombError) as error:
        raise ImageUnreadable(str(error)[:160], where=f"picture {index}") from error


def jpeg_size(data: bytes, index: int) -> tuple[int, int]:
    """Height and width of a picture, which is not decoded for it; the ids of `decode_jpeg`."""
    image = _pillow()
    try:
        with image.open(io.BytesIO(data)) as picture:
            return int(picture.height), int(picture.width)
    except (OSError, ValueError, SyntaxError, image.DecompressionBombError) as error:
        raise ImageUnreadable(str(error)[:160], where=f"picture {index}") from error


def jpeg_slices(arrays: Mapping[str, Array]) -> list[bytes]:
    """The files that `jpeg` (all joined) and `offset` (where each begins and ends) hold; LAM-PREPROCESS-005."""
    joined, offset = arrays["jpeg"], arrays["offset"]
    if joined.dtype != np.uint8 or joined.ndim != 1 or offset.dtype.kind not in "iu" or offset.ndim != 1:
        raise ImageUnreadable("`jpeg` must be uint8 [bytes] and `offset` integers [pictures + 1]")
    places = [int(o) for o in offset]
    rising = all(a <= b for a, b in pairwise(places))
    if len(places) < 2 or places[0] < 0 or places[-1] > joined.size or not rising:
        raise ImageUnreadable(f"`offset` does not rise from 0 to at most {joined.size}")
    return [joined[a:b].tobytes() for a, b in pairwise(places)]


def _pillow() -> Any:
    try:
        import PIL.Image
    except ImportError as error:
        raise ExtraMissing("pillow", "images", "pictures are decoded and resized with it") from error
    return PIL.Image


def _resized(x: Array, axes: str, size: tuple[int, int]) -> Array:
    """A u8 picture of another height and width, bilinear with antialiasing when it shrinks."""
    if x.dtype != np.uint8 or axes not in ("HW", "HWC") or (axes == "HWC" and x.shape[2] not in (1, 3)):
        raise SampleDoesNotFit(f"`resize` needs u8 pictures with the axes HWC or HW, not {x.dtype}{list(x.shape)}")
    if x.shape[:2] == size:
        return x
    image = _pillow()
    flat = x[:, :, 0] if x.ndim == 3 and x.shape[2] == 1 else x
    resized = image.fromarray(flat).resize((size[1], size[0]), image.Resampling.BILINEAR)
    return np.asarray(resized).reshape(*size, *x.shape[2:])


def _colored(x: Array, axes: str, color: str) -> Array:
    """The channels that `color` asks for."""
    if color == "rgb":
        return x
    place = axes.find("C")
    if place < 0 or x.shape[place] != 3:
        raise SampleDoesNotFit(f"`color` needs 3 channels on an axis C of `layout`, the sample is {list(x.shape)}")
    if color == "bgr":
        return np.flip(x, place)
    red, green, blue = (np.take(x, i, place) for i in range(3))
    if x.dtype == np.uint8:  # rounds as Pillow does when it converts RGB to L
        wide = (c.astype(np.int64) for c in (red, green, blue))
        luma = (sum(part * c for part, c in zip((19595, 38470, 7471), wide, strict=True)) + 32768) >> 16
    else:
        luma = np.float32(0.299) * red + np.float32(0.587) * green + np.float32(0.114) * blue
    return np.expand_dims(luma.astype(x.dtype), place)


def _per_channel(numbers: tuple[float, ...], x: Array, axes: str, key: str) -> Array:
    """The numbers shaped to broadcast along the channels."""
    values = np.array(numbers, np.float32)
    if values.size == 1:
        return values
    place = axes.find("C")
    if place < 0 or x.shape[place] != values.size:
        named = f"axes {axes}" if axes else "axes that `layout` must name"
        raise SampleDoesNotFit(f"`{key}` has {values.size} entries, the sample {list(x.shape)} has {named}")
    return values.reshape([-1 if i == place else 1 for i in range(x.ndim)])


def _arranged(x: Array, axes: str, model_axes: str) -> Array:
    """The sample with the model's axes, N included; axes that one side lacks have size 1."""
    for place, letter in reversed(list(enumerate(axes))):
        if letter not in model_axes:
            if x.shape[place] != 1:
                raise SampleDoesNotFit(f"axis {letter} of size {x.shape[place]} is not an axis of the model")
            x, axes = x.squeeze(place), axes.replace(letter, "")
    x = x.transpose([axes.index(letter) for letter in model_axes if letter in axes])
    for place, letter in enumerate(model_axes):
        if letter not in axes:
            x = np.expand_dims(x, place)
    return x


def _fitting_hint(sample: tuple[int, ...], model: tuple[int, ...]) -> str:
    """What would make a sample fit."""
    have, want, of_one, without = ([n for n in s if n != 1] for s in (sample, model, sample[1:], model[1:]))
    if of_one == want:
        return f"these are {sample[0]} samples at once: give one at a time, or one array of them all"
    if have == without:
        return f"the model takes {model[0]} at once: --shape may say 1 where the file leaves it open"
    return _LAYOUT_HINT


def _fitted(x: Array, shape: tuple[int, ...], *, exact: bool) -> Array:
    """The sample in the model's shape; without a layout it may only lack or have axes of size 1."""
    same = x.shape == shape if exact else [n for n in x.shape if n != 1] == [n for n in shape if n != 1]
    if not same:
        hint = None if exact else _fitting_hint(x.shape, shape)
        raise SampleDoesNotFit(f"a sample becomes {list(x.shape)}, the model's input is {list(shape)}", hint=hint)
    return x.reshape(shape)


def _typed(x: Array, dtype: str) -> Array:
    """The sample in the model's element type; integers must stay what they are."""
    if str(x.dtype) == dtype:
        return np.ascontiguousarray(x)
    wanted = np.dtype(dtype)
    if wanted.kind == "f":
        return np.ascontiguousarray(x, wanted)
    info = np.iinfo(wanted)
    whole = not x.size or bool(np.isfinite(x).all() and (x == np.rint(x)).all())
    if not whole or (x.size and not info.min <= x.min() <= x.max() <= info.max):
        found = f"samples of type {x.dtype} do not fit the model's {dtype} input without loss"
        raise SampleDoesNotFit(found, hint=_QUANTIZE_HINT)
    return np.ascontiguousarray(x, wanted)
