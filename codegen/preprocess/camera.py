"""A camera's frames: which part of them a network sees, and the picture that becomes of it, in integers.

Decides: where the pixels of a resized picture are taken from, and how two or four are weighted; the C that the firmware
gets has the same positions as tables (firmware.py), and the same sums (`runtime_c/include/lam_pixels.h`).
"""

from __future__ import annotations

from functools import cached_property

import numpy as np

from codegen.errors import SampleDoesNotFit
from codegen.ir.quant import Array
from codegen.preprocess.pixels import FORMATS, Format, frame_bytes, gray_of, pixels
from codegen.records import record

FILTERS = ("bilinear", "nearest")
BITS = 11
"""Of a weight: a position is a whole number of 2^-11 of a pixel."""
_ONE = 1 << BITS


@record(kw_only=True, slots=False)
class Camera:
    """Frames of `size` (height, width) in a pixel format, of which `crop` (top, left, height, width) becomes a picture.

    `color` says which channels it has, in which order. `resize`: its height and width; None for those of the crop.
    `keep_aspect`: what it shows keeps its proportions, amid pixels of `fill` (red, green, blue; or one for all).
    `limited`: Y of YUV is 16 .. 235, Cb and Cr are 16 .. 240.
    """

    format: str
    size: tuple[int, int]
    crop: tuple[int, int, int, int] | None = None
    resize: tuple[int, int] | None = None
    filter: str = "bilinear"
    keep_aspect: bool = False
    fill: tuple[int, ...] = (0,)
    color: str = "rgb"
    limited: bool = True

    @property
    def kind(self) -> Format:
        """The format's facts."""
        return FORMATS[self.format]

    @property
    def frame_bytes(self) -> int:
        """Of one frame."""
        return frame_bytes(self.kind, *self.size)

    @property
    def channels(self) -> int:
        """Of the picture."""
        return 1 if self.color == "gray" else 3

    @property
    def window(self) -> tuple[int, int, int, int]:
        """The part of the frame that is seen: top, left, height, width."""
        return self.crop or (0, 0, *self.size)

    @property
    def made(self) -> tuple[int, int]:
        """Height and width of the picture."""
        return self.resize or self.window[2:]

    @cached_property
    def inner(self) -> tuple[int, int, int, int]:
        """The part of the picture that shows something: top, left, height, width."""
        height, width = self.made
        if not self.keep_aspect:
            return 0, 0, height, width
        _, _, seen_height, seen_width = self.window
        if height * seen_width <= width * seen_height:
            width = max(1, min(width, (2 * seen_width * height + seen_height) // (2 * seen_height)))
        else:
            height = max(1, min(height, (2 * seen_height * width + seen_width) // (2 * seen_width)))
        return (self.made[0] - height) // 2, (self.made[1] - width) // 2, height, width

    @cached_property
    def rows(self) -> Array:
        """Where each row of the inner part is taken from, in 2^-11 of a line of the frame, from its top."""
        return self.window[0] * _ONE + self._positions(self.window[2], self.inner[2])

    @cached_property
    def columns(self) -> Array:
        """Where each column of the inner part is taken from, likewise, from the frame's left edge."""
        return self.window[1] * _ONE + self._positions(self.window[3], self.inner[3])

    @property
    def colors(self) -> tuple[int, ...]:
        """Of what surrounds the inner part: one number per channel."""
        found = self.fill if len(self.fill) == self.channels else self.fill[:1] * self.channels
        return found[::-1] if self.color == "bgr" else found

    def _positions(self, n_in: int, n_out: int) -> Array:
        """Centres of pixels lie at halves: (i + 1/2) n_in / n_out - 1/2, rounded to 2^-11, none beyond the edges."""
        middles = (2 * np.arange(n_out, dtype=np.int64) + 1) * n_in
        if self.filter == "nearest":
            return middles // (2 * n_out) * _ONE
        return np.clip(((middles - n_out) * (2 * _ONE) + 2 * n_out) // (4 * n_out), 0, (n_in - 1) * _ONE)

    @property
    def lines(self) -> tuple[str, ...]:
        """The keys of the table."""
        said: dict[str, object] = {"format": f'"{self.format}"', "size": list(self.size), "crop": list(self.crop or ())}
        said |= {"resize": list(self.resize or ()), "filter": f'"{self.filter}"', "color": f'"{self.color}"'}
        said |= {"range": '"limited"' if self.limited else '"full"'} if self.kind.kind == "yuv" else {}
        said |= (
            {"keep_aspect": "true", "fill": self.fill[0] if len(self.fill) == 1 else list(self.fill)}
            if self.keep_aspect
            else {}
        )
        return tuple(f"{key} = {value}" for key, value in said.items() if value != [])

    def is_frame(self, sample: Array) -> bool:
        """Whether this is a frame's bytes, in any shape."""
        return sample.dtype == np.uint8 and sample.size == self.frame_bytes

    def picture(self, sample: Array) -> Array:
        """u8[H, W, C] of a frame's bytes; of a finished picture of that size, red, green, blue, its channels.

        Raises:
            SampleDoesNotFit: LAM-PREPROCESS-004.
        """
        if self.is_frame(sample):
            return self._seen(np.ascontiguousarray(sample).reshape(-1))
        finished = sample.dtype == np.uint8 and sample.shape[:2] == self.made
        if finished and sample.shape[2:] == (3,):
            return gray_of(sample) if self.color == "gray" else sample[..., :: -1 if self.color == "bgr" else 1]
        if finished and self.color == "gray" and sample.shape[2:] in ((), (1,)):
            return sample.reshape(*self.made, 1)
        height, width = self.size
        frame = f"uint8, {self.frame_bytes} bytes of a frame {self.format} {height} x {width}"
        wanted = f"{frame} (or a picture {self.made[0]} x {self.made[1]})"
        raise SampleDoesNotFit(f"a sample is {sample.dtype}{list(sample.shape)}, not {wanted}")

    def _seen(self, frame: Array) -> Array:
        """The picture of one frame."""
        found = pixels(frame, self.kind, self.size, self.color == "gray", self.limited).astype(np.int64)
        across = _between(found, self.columns, 1, BITS - 8)
        inner = _between(across, self.rows, 0, BITS + 8).astype(np.uint8)
        if self.color == "bgr":
            inner = inner[..., ::-1]
        top, left, height, width = self.inner
        picture = np.empty((*self.made, self.channels), np.uint8)
        picture[...] = np.array(self.colors, np.uint8)
        picture[top : top + height, left : left + width] = inner
        return picture


def _between(x: Array, positions: Array, axis: int, shift: int) -> Array:
    """Two neighbours along an axis, weighted, and rounded half up after a shift."""
    first = positions >> BITS
    weight = (positions & (_ONE - 1)).reshape([-1 if i == axis else 1 for i in range(x.ndim)])
    second = np.minimum(first + 1, x.shape[axis] - 1)
    summed = np.take(x, first, axis) * (_ONE - weight) + np.take(x, second, axis) * weight
    return np.asarray((summed + (1 << shift >> 1)) >> shift)
