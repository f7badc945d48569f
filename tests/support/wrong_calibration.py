"""Calibration data that no network can be quantized by, each with the ids that may refuse it.

A case makes its data in a folder of its own: a path, arrays, or samples one by one.
"""

from __future__ import annotations

import io
import os
import re
import struct
import zipfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from tests.support.float_models import images

FILE, KEY, FITS, COUNT = "LAM-API-003", "LAM-API-004", "LAM-API-005", "LAM-API-012"
KIND, LARGE, RANGE = "LAM-API-020", "LAM-API-021", "LAM-API-030"
SHAPE, FINITE, CONSTANT = "LAM-PREPROCESS-004", "LAM-QUANT-022", "LAM-QUANT-023"


@dataclass(frozen=True)
class Wrong:
    """One case; `config` is the text of a `[preprocess]` table, `labelled` the samples that judge."""

    name: str
    make: Callable[[Path], Any]
    codes: tuple[str, ...]
    words: dict[str, Any]
    config: str = ""
    labelled: dict[str, Any] = field(default_factory=dict)


def _case(name: str, make: Callable[[Path], Any], *codes: str, config: str = "", **words: Any) -> Wrong:
    return Wrong(name, make, codes, words, config)


def cases() -> list[Wrong]:
    """All of them, in a fixed order."""
    return [*_files(), *_damaged(), *_shapes(), *_types(), *_numbers(), *_values(), *_tables(), *_samples(), *_labels()]


def npz(folder: Path, **arrays: Any) -> Path:
    """A file of arrays, pickled ones too."""
    path = folder / "d.npz"
    np.savez(path, **arrays)
    return path


def _bytes(folder: Path, data: bytes, name: str = "d.npz") -> Path:
    path = folder / name
    path.write_bytes(data)
    return path


def _files() -> Iterator[Wrong]:
    def folder(tmp: Path) -> Path:
        (tmp / "sub").mkdir()
        return tmp / "sub"

    def pipe(tmp: Path) -> Path:
        os.mkfifo(tmp / "p.npz")
        return tmp / "p.npz"

    def loop(tmp: Path) -> Path:
        (tmp / "l.npz").symlink_to(tmp / "l.npz")
        return tmp / "l.npz"

    yield _case("no such file", lambda tmp: tmp / "none.npz", FILE)
    yield _case("below a file", lambda tmp: _bytes(tmp, b"x") / "d.npz", FILE)
    yield _case("a folder", folder, FILE)
    yield _case("a pipe", pipe, KIND)
    yield _case("a device", lambda tmp: Path("/dev/zero"), KIND)
    yield _case("a link to itself", loop, FILE)
    yield _case("a name too long", lambda tmp: tmp / ("n" * 5000), FILE)
    yield _case("a name with NUL", lambda tmp: "a\0b.npz", FILE)
    for name, data in {
        "empty": b"",
        "text": b"1,2,3\n4,5,6\n",
        "zeros": bytes(1000),
        "a picture": b"\xff\xd8\xff\xe0" + bytes(100),
        "a pickle": b"\x80\x04K\x01.",
        "half a magic": b"\x93NUM",
        "an end of an archive": b"PK\x05\x06" + bytes(18),
    }.items():
        yield _case(f"a file that is {name}", lambda tmp, data=data: _bytes(tmp, data), FILE, KEY)
    for names in (["y"], ["X"], ["image2", "label"], ["arr_0"], ["x "], ["jpeg", "offset"], ["x/y"], [""]):
        arrays = {name: images(3) for name in names}
        yield _case(f"keys {names}", lambda tmp, arrays=arrays: npz(tmp, **arrays), KEY)
    yield _case("no arrays", lambda tmp: npz(tmp), KEY)


def _packed(**arrays: Any) -> bytes:
    file = io.BytesIO()
    np.savez_compressed(file, **arrays)
    return file.getvalue()


def _npy(header: str, data: bytes = b"") -> bytes:
    text = header.encode() + b"\n"
    return b"\x93NUMPY\x01\x00" + struct.pack("<H", len(text)) + text + data


def _zipped(data: bytes, name: str = "x.npy") -> bytes:
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr(name, data)
    return file.getvalue()


def _damaged() -> Iterator[Wrong]:
    whole = _packed(x=images(4))
    for part in (1, 3, 10, 30, 60, 100, 200, 400, 800, 1600, 2500, len(whole) - 30, len(whole) - 1):
        yield _case(f"cut after {part} bytes", lambda tmp, part=part: _bytes(tmp, whole[:part]), FILE)
    for place in (90, 200, 700, 1500, 2400):
        broken = whole[:place] + bytes(b ^ 0xFF for b in whole[place : place + 8]) + whole[place + 8 :]
        yield _case(f"damaged at {place}", lambda tmp, broken=broken: _bytes(tmp, broken), FILE)
    for name, shape in {"2^40": "(1099511627776,)", "below zero": "(-1, 3, 8, 8)", "2^80": f"({2**80},)"}.items():
        header = f"{{'descr': '<f4', 'fortran_order': False, 'shape': {shape}, }}"
        yield _case(f"a header of {name}", lambda tmp, h=header: _bytes(tmp, _zipped(_npy(h))), FILE)
        yield _case(f"a bare header of {name}", lambda tmp, h=header: _bytes(tmp, _npy(h), "d.npy"), FILE)
    for name, header in {
        "no dictionary": "[1, 2]",
        "code": "__import__('os')",
        "no type": "{'fortran_order': False, 'shape': (1,), }",
        "a type of objects": "{'descr': '|O', 'fortran_order': False, 'shape': (1,), }",
        "nothing": "",
    }.items():
        yield _case(f"a header that is {name}", lambda tmp, h=header: _bytes(tmp, _zipped(_npy(h))), FILE)
    yield _case("a member that is text", lambda tmp: _bytes(tmp, _zipped(b"1 2 3")), FILE, FITS)
    yield _case("a member without an ending", lambda tmp: _bytes(tmp, _zipped(b"1", "x")), FILE, FITS)
    yield _case("a bomb", lambda tmp: _bytes(tmp, _bomb()), LARGE)


def _bomb() -> bytes:
    """An archive that says that it unpacks to twice 4 GiB."""
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
        for name in ("x.npy", "y.npy"):
            archive.writestr(name, _npy("{'descr': '|u1', 'fortran_order': False, 'shape': (4294966000,), }", bytes(9)))
    data = bytearray(file.getvalue())
    for start, size in ((b"PK\x03\x04", 22), (b"PK\x01\x02", 24)):
        for found in re.finditer(start, bytes(data)):
            data[found.start() + size : found.start() + size + 4] = struct.pack("<I", 0xFFFFFFFE)
    return bytes(data)


def _shapes() -> Iterator[Wrong]:
    for shape in [
        (10,),
        (10, 3),
        (10, 192),
        (10, 3, 8),
        (10, 3, 8, 7),
        (10, 3, 7, 8),
        (10, 4, 8, 8),
        (10, 1, 8, 8),
        (10, 3, 16, 16),
        (10, 3, 64),
        (10, 2, 3, 8, 8),
        (3, 8, 7),
        (192,),
        (8, 8, 4),
        (10, 3, 8, 8, 2),
        (2, 2, 2, 2, 2, 2, 2, 2),
    ]:
        rng = np.random.default_rng(len(shape))
        array = rng.normal(0, 1, shape).astype(np.float32)
        yield _case(f"shape {shape}", lambda tmp, a=array: a, SHAPE, FITS, RANGE)
        yield _case(f"a file of shape {shape}", lambda tmp, a=array: npz(tmp, x=a), SHAPE, FITS, RANGE)
    turned = images(10).transpose(0, 2, 3, 1)
    yield _case("channels last", lambda tmp: turned, RANGE)
    yield _case("a file with channels last", lambda tmp: npz(tmp, x=turned), RANGE)
    yield _case("one sample with channels last", lambda tmp: turned[0], RANGE, SHAPE)
    for shape in [(0, 3, 8, 8), (0,), (10, 0, 8, 8), (10, 3, 0, 8), (0, 0)]:
        empty = np.zeros(shape, np.float32)
        yield _case(f"nothing of shape {shape}", lambda tmp, a=empty: a, FITS, SHAPE)
        yield _case(f"a file of nothing of shape {shape}", lambda tmp, a=empty: npz(tmp, x=a), FITS, SHAPE)
    yield _case("a single number", lambda tmp: np.float32(1), FITS)
    yield _case("a file of a single number", lambda tmp: npz(tmp, x=np.float32(1)), FITS)


def _types() -> Iterator[Wrong]:
    whole = images(10)
    for name, array in {
        "texts": np.full((10, 3, 8, 8), "one"),
        "bytes": np.full((10, 3, 8, 8), b"one"),
        "complex numbers": whole.astype(np.complex64),
        "dates": np.full((10, 3, 8, 8), np.datetime64("2020-01-01")),
        "durations": np.full((10, 3, 8, 8), np.timedelta64(1, "s")),
        "records": np.zeros((10, 3, 8, 8), [("a", "f4"), ("b", "i4")]),
        "void": np.zeros((10, 3, 8, 8), "V4"),
    }.items():
        yield _case(name, lambda tmp, a=array: a, FITS, SHAPE, RANGE)
        yield _case(f"a file of {name}", lambda tmp, a=array: npz(tmp, x=a), FITS, SHAPE, RANGE, FILE)
    yield _case("objects", lambda tmp: whole.astype(object), FITS, SHAPE, FILE)
    yield _case("a file of objects", lambda tmp: npz(tmp, x=whole.astype(object)), FILE)
    ragged = np.empty(3, object)
    ragged[:] = [np.zeros((3, 8, 8)), np.zeros((3, 8, 7)), np.zeros((3, 7, 8))]
    yield _case("a ragged array", lambda tmp: ragged, FITS, SHAPE, FILE)
    yield _case("a file of a ragged array", lambda tmp: npz(tmp, x=ragged), FILE)
    for dtype in (np.uint8, np.int8, np.uint16, np.int16, np.int32, np.uint32, np.int64, np.uint64):
        pixels = np.random.default_rng(3).integers(0, 100, (10, 3, 8, 8)).astype(dtype)
        yield _case(f"{np.dtype(dtype)} without a meaning", lambda tmp, a=pixels: a, RANGE)
        yield _case(f"a file of {np.dtype(dtype)} without a meaning", lambda tmp, a=pixels: npz(tmp, x=a), RANGE)


def _numbers() -> Iterator[Wrong]:
    for name, number in {"NaN": np.nan, "infinity": np.inf, "-infinity": -np.inf}.items():
        for place in ((0, 0, 0, 0), (39, 2, 7, 7), (17, 1, 3, 4)):
            spoiled = images(40)
            spoiled[place] = number
            yield _case(f"{name} at {place}", lambda tmp, a=spoiled: a, FINITE, RANGE)
        one, every = images(40), images(40)
        one[5] = number
        every[:] = number
        yield _case(f"a sample of {name}", lambda tmp, a=one: npz(tmp, x=a), FINITE, RANGE)
        yield _case(f"nothing but {name}", lambda tmp, a=every: npz(tmp, x=a), FINITE, RANGE, CONSTANT)
    for number in (1e300, -1e300, 1e39):
        large = images(40).astype(np.float64)
        large[3, 0, 0, 0] = number
        yield _case(f"{number:g}, which float32 does not hold", lambda tmp, a=large: a, FINITE, RANGE, FITS)
    yield _case("what the network makes infinity of", lambda tmp: images(40) * np.float32(1e37), FINITE, RANGE)


def _values() -> Iterator[Wrong]:
    for number in (0.0, 1.0, -3.5, 1e-30, 1e30):
        same = np.full((20, 3, 8, 8), number, np.float32)
        yield _case(f"{number:g} everywhere", lambda tmp, a=same: a, CONSTANT, RANGE)
        yield _case(f"a file of {number:g} everywhere", lambda tmp, a=same: npz(tmp, x=a), CONSTANT, RANGE)


def _tables() -> Iterator[Wrong]:
    pixels = np.random.default_rng(4).integers(0, 256, (10, 8, 8, 3)).astype(np.uint8)
    for config in (
        "mean = [1, 2]",
        "std = [1, 2, 3, 4]",
        "layout = 'NHW'",
        "layout = 'NHWC->NHCW'",
        "layout = 'NCHW->NHWC'",
        "color = 'gray'",
        "resize = [4, 4]",
        "divide = 0",
        "divide = 'x'",
        "scale = 3",
        "jpeg = true",
        "quantize = { scale = 0.5 }",
    ):
        text = f"[preprocess]\n{config}\n"
        ids = (SHAPE, RANGE, KEY, FITS, "LAM-PREPROCESS-002", "LAM-PREPROCESS-003")
        yield _case(f"a table with {config}", lambda tmp: npz(tmp, x=pixels), *ids, config=text)
    ids = ("LAM-PREPROCESS-001", "LAM-PREPROCESS-002", "LAM-QUANT-001", "LAM-QUANT-002")
    for text in ("[preprocess", "[preproces]\nx = 1\n", "\x00", "preprocess = 1\n"):
        more = ("LAM-PREPROCESS-003",)
        yield _case(f"a table that is {text!r}", lambda tmp: npz(tmp, x=pixels), *ids, *more, config=text)


def _samples() -> Iterator[Wrong]:
    good = images(6)
    yield _case("no samples at all", lambda tmp: [], FITS)
    yield _case("an iterator of none", lambda tmp: iter([]), FITS)
    yield _case("a dictionary of nothing", lambda tmp: {}, KEY)
    for name in ("images", "x0", "Image", ""):
        yield _case(f"a dictionary of {name!r}", lambda tmp, n=name: {n: good}, KEY)
        yield _case(f"samples of {name!r}", lambda tmp, n=name: [{n: x} for x in good], FITS, KEY)
    yield _case("a sample without its name", lambda tmp: [{"image": good[0]}, {"y": good[1]}], FITS)
    yield _case("samples of several shapes", lambda tmp: [{"image": good[0]}, {"image": good[1][:, :7]}], FITS)
    yield _case("arrays of several shapes", lambda tmp: [good[0], good[1][:, :7]], FITS)
    yield _case("samples and arrays", lambda tmp: [{"image": good[0]}, good[1]], FITS)
    yield _case("texts for samples", lambda tmp: ["a", "b"], FITS, SHAPE)
    yield _case("nothing for samples", lambda tmp: [None, None], FITS, SHAPE)
    yield _case("a number", lambda tmp: 3, FITS)
    yield _case("lists of several lengths", lambda tmp: {"image": [[1.0], [1.0, 2.0]]}, FITS)
    for samples in (0, -1, -100):
        yield _case(f"{samples} samples", lambda tmp: good, COUNT, samples=samples)


def _labels() -> Iterator[Wrong]:
    """Good samples, and labelled ones for `max_drop` that are not."""

    good, classes = images(6), np.arange(6) % 5
    for name, arrays in {
        "without labels": {"x": good},
        "without samples": {"y": classes},
        "with fewer labels than samples": {"x": good, "y": classes[:4]},
        "with more labels than samples": {"x": good[:4], "y": classes},
        "with labels in two columns": {"x": good, "y": np.stack([classes, classes], 1)},
        "with texts for labels": {"x": good, "y": np.array(list("abcdef"))},
        "with labels that are no classes": {"x": good, "y": classes + 100},
        "with labels below zero": {"x": good, "y": classes - 9},
        "with samples of another shape": {"x": good[:, :, :7], "y": classes},
        "with channels last": {"x": good.transpose(0, 2, 3, 1), "y": classes},
        "with nothing in it": {"x": good[:0], "y": classes[:0]},
    }.items():
        yield Wrong(f"an evaluation {name}", lambda tmp: good, (KEY, FITS, SHAPE, RANGE), {}, labelled=arrays)
