"""Frames of cameras as pictures: golden against references that are not ours, and what a table may not say."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import codegen
from codegen.api import read_samples
from codegen.errors import CompileError
from codegen.ir.quant import Array
from codegen.preprocess import parse_preprocess
from codegen.preprocess.camera import Camera
from codegen.preprocess.config import load_preprocess
from codegen.preprocess.pixels import FORMATS
from codegen.verbs.samples import samples_of
from tests.e2e.projects import DIGITS
from tests.support.tools import require_module

RNG = np.random.default_rng(3)
YUV = [name for name, kind in FORMATS.items() if kind.kind == "yuv"]


def camera(**table: Any) -> Camera:
    found = parse_preprocess(table, "m.toml").camera
    assert found is not None
    return found


def frame(of: Camera) -> Array:
    return RNG.integers(0, 256, of.frame_bytes, np.uint8)


def resized_by_onnxruntime(picture: Array, size: tuple[int, int], **how: str) -> Array:
    """Resize-18 by another implementation, on real numbers."""
    require_module("onnxruntime")
    from tests.support.onnx_files import by_onnxruntime

    x = picture.astype(np.float32).transpose(2, 0, 1)[None]
    sizes = np.array([1, x.shape[1], *size])
    y = by_onnxruntime("Resize", x, None, None, sizes, coordinate_transformation_mode="half_pixel", **how)
    return y[0].transpose(1, 2, 0)


@pytest.mark.parametrize("size", [(9, 13), (40, 31), (1, 1), (37, 21), (96, 96)])
def test_bilinear_is_that_of_onnxruntime(size: tuple[int, int]) -> None:
    """Within one step of the number, unrounded: half a step by rounding, an eighth by weights of 11 bits."""
    whole = camera(format="rgb888", size=[37, 21])
    given = frame(whole)
    made = camera(format="rgb888", size=[37, 21], resize=list(size)).picture(given).astype(np.float64)
    reference = resized_by_onnxruntime(whole.picture(given), size, mode="linear")
    assert np.abs(made - reference).max() <= 0.63


@pytest.mark.parametrize("size", [(9, 13), (40, 31), (5, 64)])
def test_nearest_is_that_of_onnxruntime(size: tuple[int, int]) -> None:
    whole = camera(format="rgb888", size=[37, 21])
    given = frame(whole)
    made = camera(format="rgb888", size=[37, 21], resize=list(size), filter="nearest").picture(given)
    reference = resized_by_onnxruntime(whole.picture(given), size, mode="nearest", nearest_mode="round_prefer_ceil")
    assert np.array_equal(made, reference)


@pytest.mark.parametrize("limited", [True, False])
def test_yuv_is_that_of_bt601(limited: bool) -> None:
    """Y, Cb and Cr of every eighth value each, by the definition of luma and two differences in real numbers."""
    values = np.arange(0, 256, 8)
    y, cb, cr = (a.reshape(-1) for a in np.meshgrid(values, values, values))
    pairs = np.stack([y, cb, y, cr], axis=1).astype(np.uint8)
    range_ = "limited" if limited else "full"
    made = camera(format="yuyv", size=[1, 2 * len(pairs) // 4], range=range_)
    pictures = [made.picture(part.reshape(-1)) for part in np.split(pairs, 4)]
    luma = (y - 16) / 219 if limited else y / 255
    blue, red = ((c - 128) / (224 if limited else 255) for c in (cb, cr))
    r, b = luma + 2 * (1 - 0.299) * red, luma + 2 * (1 - 0.114) * blue
    g = (luma - 0.299 * r - 0.114 * b) / 0.587
    reference = np.clip(255 * np.stack([r, g, b], axis=1), 0, 255)
    found = np.concatenate([p[0, ::2] for p in pictures])
    assert np.abs(found - reference).max() <= 0.51
    assert np.array_equal(found, np.concatenate([p[0, 1::2] for p in pictures]))


@pytest.mark.parametrize("name", YUV)
def test_the_formats_of_yuv_hold_the_same_pixels(name: str) -> None:
    """A frame whose colours are those of two by two pixels is the same picture in each order and with planes."""
    y, chroma = RNG.integers(0, 256, (6, 8)), RNG.integers(0, 256, (2, 3, 4))
    cb, cr = (np.repeat(np.repeat(c, 2, axis=0), 2, axis=1) for c in chroma)
    planes = np.stack(chroma[:: 1 if name == "nv12" else -1], axis=-1).reshape(-1)
    orders = {"yuyv": (y, cb, y, cr), "uyvy": (cb, y, cr, y)}
    if name in orders:
        first, second, third, fourth = orders[name]
        even = np.stack([first[:, ::2], second[:, ::2], third[:, (name == "yuyv") :: 2], fourth[:, 1::2]], axis=-1)
        bytes_ = even.reshape(-1)
    else:
        bytes_ = np.concatenate([y.reshape(-1), planes])
    reference = camera(format="yuyv", size=[1, 2])
    made = camera(format=name, size=[6, 8]).picture(bytes_.astype(np.uint8))
    for row, column in np.ndindex(6, 8):
        pixel = np.array([y[row, column], cb[row, column], 0, cr[row, column]], np.uint8)
        assert np.array_equal(made[row, column], reference.picture(pixel)[0, 0])


def test_565_is_the_nearest_of_eight_bits_in_both_orders() -> None:
    """White is white, and every number within half a step of what its bits stand for."""
    words = np.arange(0, 65536, dtype=np.uint16)
    little = camera(format="rgb565_le", size=[256, 256]).picture(words.astype("<u2").view(np.uint8))
    big = camera(format="rgb565_be", size=[256, 256]).picture(words.astype(">u2").view(np.uint8))
    real = np.stack([(words >> 11) / 31, (words >> 5 & 63) / 63, (words & 31) / 31], axis=1) * 255
    assert np.array_equal(little, big)
    assert np.abs(little.reshape(-1, 3) - real).max() <= 0.8
    assert little[-1, -1].tolist() == [255, 255, 255]


@pytest.mark.parametrize("order", ["rggb", "grbg", "gbrg", "bggr"])
def test_a_mosaic_is_filled_up_by_means(order: str) -> None:
    """Colour by colour: the mean of the nearest pixels that have it, in real numbers, from the definition."""
    height, width = 7, 9
    made = camera(format=f"bayer_{order}", size=[height, width])
    raw = frame(made)
    mosaic = raw.reshape(height, width).astype(float)
    wide = np.pad(mosaic, 1, mode="reflect")
    colors = np.array(["rgb".index(c) for c in order]).reshape(2, 2)
    where = np.array([[colors[(y - 1) % 2, (x - 1) % 2] for x in range(width + 2)] for y in range(height + 2)])
    picture = made.picture(raw)
    for y, x, color in np.ndindex(height, width, 3):
        near, same = wide[y : y + 3, x : x + 3], where[y : y + 3, x : x + 3] == color
        if same[1, 1]:
            mean = mosaic[y, x]
        else:
            sides = same & np.array([[0, 1, 0], [1, 0, 1], [0, 1, 0]], bool)
            mean = near[sides if sides.any() else same].mean()
        assert abs(picture[y, x, color] - mean) <= 0.5


def test_what_keeps_its_aspect_lies_in_the_middle() -> None:
    wide = camera(format="gray8", size=[10, 20], resize=[16, 16], keep_aspect=True, fill=9, color="gray")
    made = wide.picture(np.full(200, 77, np.uint8))[..., 0]
    assert wide.inner == (4, 0, 8, 16)
    assert (made[4:12] == 77).all()
    assert (made[:4] == 9).all()
    assert (made[12:] == 9).all()
    tall = camera(format="bgr888", size=[20, 10], resize=[16, 16], keep_aspect=True, fill=[1, 2, 3], color="bgr")
    picture = tall.picture(np.zeros(600, np.uint8))
    assert tall.inner == (0, 4, 16, 8)
    assert picture[0, 0].tolist() == [3, 2, 1]
    assert picture[0, 4].tolist() == [0, 0, 0]


def test_colors_are_those_of_finished_pictures_too() -> None:
    """A data set of pictures serves the table of a camera: what stands behind the picture happens to them as well."""
    rgb = RNG.integers(0, 256, (8, 6, 3), dtype=np.uint8)
    given = {"size": [20, 30], "resize": [8, 6], "layout": "NHWC->NCHW", "divide": 255}
    for color, channels in (("rgb", [0, 1, 2]), ("bgr", [2, 1, 0])):
        how = parse_preprocess({**given, "format": "rgb565_le", "color": color}, "m.toml")
        wanted = rgb[..., channels].transpose(2, 0, 1)[None] / np.float32(255)
        assert np.array_equal(how.apply(rgb, (1, 3, 8, 6), "float32"), wanted)
    gray = parse_preprocess({**given, "format": "yuyv", "color": "gray"}, "m.toml")
    plain = parse_preprocess({"color": "gray", "layout": "NHWC->NCHW", "divide": 255}, "m.toml")
    assert np.array_equal(gray.apply(rgb, (1, 1, 8, 6), "float32"), plain.apply(rgb, (1, 1, 8, 6), "float32"))
    assert np.array_equal(gray.apply(rgb[..., 0], (1, 1, 8, 6), "float32")[0, 0], rgb[..., 0] / np.float32(255))


def test_a_data_file_may_hold_frames(tmp_path: Path) -> None:
    """In any shape; one frame is one sample."""
    table = tmp_path / "camera.toml"
    table.write_text(
        '[preprocess]\nformat = "yuyv"\nsize = [12, 16]\nresize = [8, 8]\ncolor = "gray"\ndivide = 255\n'
        'layout = "NHWC->NCHW"\n'
    )
    how = load_preprocess(table)
    frames = RNG.integers(0, 256, (9, 12, 32), dtype=np.uint8)
    np.savez(tmp_path / "frames.npz", x=frames, y=np.zeros(9, np.int64))
    made = read_samples(DIGITS, tmp_path / "frames.npz", table)
    assert len(made) == 9
    for sample, x in zip(made, frames, strict=True):
        assert np.array_equal(next(iter(sample.values())), how.apply(x, (1, 1, 8, 8), "float32"))
    assert 0 <= codegen.evaluate(DIGITS, tmp_path / "frames.npz", engine="golden", config=table).value <= 1
    one = samples_of({"x": frames[3]}, _ports(), table)
    assert len(one) == 1
    assert np.array_equal(next(iter(one[0].values())), next(iter(made[3].values())))


def _ports() -> Any:
    from codegen.golden.interface import graph_ports
    from codegen.options import Options
    from codegen.pipeline import read_model
    from codegen.target import load_target

    return graph_ports(read_model(DIGITS, Options(), load_target("host")))[0]


GOOD: dict[str, Any] = {"format": "rgb888", "size": [20, 30], "resize": [8, 8]}
WRONG: list[tuple[dict[str, Any], str, str]] = [
    ({"format": "rgb556"}, "format", "did you mean"),
    ({"format": 3}, "format", "not one of"),
    ({"size": [20]}, "size", "[height, width]"),
    ({"size": [0, 30]}, "size", "[height, width]"),
    ({"size": [20, 16385]}, "size", "1 to 16384"),
    ({"size": None}, "size", "[height, width]"),
    ({"format": "yuyv", "size": [20, 31]}, "size", "no even width"),
    ({"format": "nv12", "size": [20, 31]}, "size", "no even width"),
    ({"format": "bayer_rggb", "size": [1, 30]}, "size", "in fours"),
    ({"crop": [0, 0, 20]}, "crop", "[top, left, height, width]"),
    ({"crop": [0, 0, 0, 5]}, "crop", "are not all in a frame"),
    ({"crop": [10, 0, 11, 30]}, "crop", "rows 10 .. 20, columns 0 .. 29 are not all in a frame of 20 x 30"),
    ({"crop": [-1, 0, 5, 5]}, "crop", "are not all in a frame"),
    ({"filter": "bicubic"}, "filter", "bilinear, nearest"),
    ({"keep_aspect": 1}, "keep_aspect", "neither true nor false"),
    ({"keep_aspect": True, "resize": None}, "keep_aspect", "goes with `resize`"),
    ({"fill": 3}, "fill", "with `keep_aspect`"),
    ({"keep_aspect": True, "fill": 256}, "fill", "0 .. 255"),
    ({"keep_aspect": True, "fill": [1, 2]}, "fill", "0 .. 255"),
    ({"keep_aspect": True, "fill": [1, 2, 3], "color": "gray"}, "fill", "0 .. 255"),
    ({"range": "full"}, "range", "is of YUV"),
    ({"format": "yuyv", "range": "wide"}, "range", "limited, full"),
    ({"jpeg": True}, "jpeg", "is no file"),
    ({"layout": "NCHW->NHWC"}, "layout", "NHWC"),
    ({"std": 0}, "std", "above zero"),
    ({"std": [1.0, 0.0, 1.0]}, "std", "above zero"),
    ({"format": None}, "size", "goes with `format`"),
]


@pytest.mark.parametrize(("change", "key", "said"), WRONG, ids=[f"{k}-{i}" for i, (_, k, _) in enumerate(WRONG)])
def test_a_value_that_cannot_be_is_named(change: dict[str, Any], key: str, said: str) -> None:
    table = {k: v for k, v in {**GOOD, **change}.items() if v is not None}
    with pytest.raises(CompileError) as error:
        parse_preprocess(table, "m.toml")
    assert error.value.code == "LAM-PREPROCESS-003"
    assert f"preprocess.{key}" in error.value.text()
    assert said in error.value.text()


def test_a_sample_that_is_no_frame_is_refused() -> None:
    how = parse_preprocess({**GOOD, "layout": "NHWC->NHWC"}, "m.toml")
    for sample in (np.zeros(1799, np.uint8), np.zeros((20, 30, 3), np.int8), np.zeros((8, 8, 4), np.uint8)):
        with pytest.raises(CompileError, match="1800 bytes of a frame rgb888 20 x 30") as error:
            how.apply(sample, (1, 8, 8, 3), "uint8")
        assert error.value.code == "LAM-PREPROCESS-004"
