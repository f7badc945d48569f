"""Pixel formats of cameras: the bytes of a frame as pixels of 8 bits, in the integers that the C has too.

Decides: how each format's bytes lie, how YUV becomes RGB, how a colour filter's mosaic is filled up, what gray is.
`runtime_c/include/lam_pixels.h` is the twin, pixel by pixel.
"""

from __future__ import annotations

from typing import Literal

import numpy as np

from codegen.ir.quant import Array
from codegen.records import record

Kind = Literal["rgb", "yuv", "gray", "bayer"]
RANGES = ("limited", "full")
"""What Y, Cb and Cr of YUV fill: 16 .. 235 and 16 .. 240, as ITU-R BT.601 has them, or all of a byte."""
SHIFT = 16
_HALF = 1 << (SHIFT - 1)
LUMA = (19595, 38470, 7471)
"""Of red, green and blue, times 2^16; their sum is 2^16."""
YUV = {"limited": (16, 76309, 104597, 25675, 53279, 132201), "full": (0, 65536, 91881, 22553, 46802, 116130)}
"""What Y counts from; times 2^16: the factors of Y, of Cr for red, of Cb and Cr for green, of Cb for blue."""


@record
class Format:
    """How pixels lie: bytes of a line per pixel, whether a second plane goes with it, what comes in pairs."""

    name: str
    kind: Kind
    pixel_bytes: int
    planes: int = 1
    even_width: bool = False
    red: tuple[int, int] = (0, 0)
    """Of a mosaic: row and column of the red pixel among four."""


FORMATS = {
    f.name: f
    for f in (
        Format("rgb888", "rgb", 3),
        Format("bgr888", "rgb", 3),
        Format("rgb565_le", "rgb", 2),
        Format("rgb565_be", "rgb", 2),
        Format("yuyv", "yuv", 2, even_width=True),
        Format("uyvy", "yuv", 2, even_width=True),
        Format("nv12", "yuv", 1, planes=2, even_width=True),
        Format("nv21", "yuv", 1, planes=2, even_width=True),
        Format("gray8", "gray", 1),
        Format("bayer_rggb", "bayer", 1, red=(0, 0)),
        Format("bayer_grbg", "bayer", 1, red=(0, 1)),
        Format("bayer_gbrg", "bayer", 1, red=(1, 0)),
        Format("bayer_bggr", "bayer", 1, red=(1, 1)),
    )
}


def frame_bytes(kind: Format, height: int, width: int) -> int:
    """Of a frame: its lines, and behind them those of the second plane, one for two lines."""
    return (height + (height + 1) // 2 * (kind.planes - 1)) * width * kind.pixel_bytes


def pixels(frame: Array, kind: Format, size: tuple[int, int], gray: bool, limited: bool) -> Array:
    """u8[H, W, 3] in the order red, green, blue, or u8[H, W, 1] in gray, of the bytes of one frame."""
    lines = frame[: size[0] * size[1] * kind.pixel_bytes].reshape(size[0], size[1], kind.pixel_bytes).astype(np.int64)
    if kind.kind == "yuv":
        y, cb, cr = _interleaved(lines, kind.name) if kind.planes == 1 else _planes(frame, lines, kind, size)
        return _stretched(y, limited)[..., None] if gray else _of_yuv(y, cb, cr, limited)
    if kind.kind == "gray":
        found = lines if gray else np.repeat(lines, 3, axis=2)
        return found.astype(np.uint8)
    rgb = _mosaic(lines[..., 0], kind.red) if kind.kind == "bayer" else _packed(lines, kind.name)
    return (gray_of(rgb) if gray else rgb).astype(np.uint8)


def gray_of(rgb: Array) -> Array:
    """The luma of ITU-R BT.601, u8[H, W, 1]; as Pillow rounds it."""
    wide = rgb.astype(np.int64)
    luma = sum(part * wide[..., c] for c, part in enumerate(LUMA)) + _HALF
    return np.asarray(luma >> SHIFT, np.uint8)[..., None]


def _packed(lines: Array, name: str) -> Array:
    """Red, green and blue of three bytes, or of 5, 6 and 5 bits, whose highest bits are repeated below."""
    if name in ("rgb888", "bgr888"):
        return lines if name == "rgb888" else lines[..., ::-1]
    low, high = (lines[..., 0], lines[..., 1]) if name == "rgb565_le" else (lines[..., 1], lines[..., 0])
    word = low | high << 8
    red, green, blue = word >> 11, word >> 5 & 63, word & 31
    return np.stack([red << 3 | red >> 2, green << 2 | green >> 4, blue << 3 | blue >> 2], axis=-1)


def _interleaved(lines: Array, name: str) -> tuple[Array, Array, Array]:
    """Y of each pixel, Cb and Cr of each two of a line."""
    luma, chroma = (0, 1) if name == "yuyv" else (1, 0)
    pairs = lines[..., chroma]
    return lines[..., luma], np.repeat(pairs[:, 0::2], 2, axis=1), np.repeat(pairs[:, 1::2], 2, axis=1)


def _planes(frame: Array, lines: Array, kind: Format, size: tuple[int, int]) -> tuple[Array, Array, Array]:
    """Y of each pixel, Cb and Cr of each two by two from the second plane."""
    height, width = size
    second = frame[height * width :].reshape((height + 1) // 2, width // 2, 2).astype(np.int64)
    wide = np.repeat(np.repeat(second, 2, axis=0)[:height], 2, axis=1)
    first, other = wide[..., 0], wide[..., 1]
    return (lines[..., 0], first, other) if kind.name == "nv12" else (lines[..., 0], other, first)


def _rounded(sums: Array) -> Array:
    """Sums times 2^16 as bytes."""
    return np.asarray(np.minimum(np.maximum(sums + _HALF, 0) >> SHIFT, 255), np.uint8)


def _stretched(y: Array, limited: bool) -> Array:
    """Gray of Y alone."""
    start, factor, *_ = YUV["limited" if limited else "full"]
    return _rounded((y - start) * factor)


def _of_yuv(y: Array, cb: Array, cr: Array, limited: bool) -> Array:
    start, factor, red, green_b, green_r, blue = YUV["limited" if limited else "full"]
    luma, b, r = (y - start) * factor, cb - 128, cr - 128
    return np.stack([_rounded(s) for s in (luma + red * r, luma - green_b * b - green_r * r, luma + blue * b)], axis=-1)


def _mosaic(raw: Array, red: tuple[int, int]) -> Array:
    """Each colour that a pixel lacks is the mean of the two or four nearest ones; edges are mirrored, as `reflect`."""
    wide = np.pad(raw, 1, mode="reflect")
    height, width = raw.shape
    near = {(y, x): wide[1 + y : 1 + y + height, 1 + x : 1 + x + width] for y in (-1, 0, 1) for x in (-1, 0, 1)}
    sides = (near[0, -1] + near[0, 1] + 1) >> 1
    ends = (near[-1, 0] + near[1, 0] + 1) >> 1
    cross = (near[0, -1] + near[0, 1] + near[-1, 0] + near[1, 0] + 2) >> 2
    corners = (near[-1, -1] + near[-1, 1] + near[1, -1] + near[1, 1] + 2) >> 2
    odd_row = ((np.arange(height) + red[0]) % 2 == 1)[:, None]
    odd_column = ((np.arange(width) + red[1]) % 2 == 1)[None, :]
    reds = np.where(odd_row, np.where(odd_column, corners, ends), np.where(odd_column, sides, raw))
    blues = np.where(odd_row, np.where(odd_column, raw, sides), np.where(odd_column, ends, corners))
    return np.stack([reds, np.where(odd_row ^ odd_column, raw, cross), blues], axis=-1)
