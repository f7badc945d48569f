"""The keys of a `[preprocess]` table that describe a camera.

Decides: that they go together, and that every value is usable.
"""

from __future__ import annotations

import difflib
from collections.abc import Callable, Mapping

from codegen.errors import ConfigValueBad
from codegen.preprocess.camera import FILTERS, Camera
from codegen.preprocess.pixels import FORMATS, RANGES

KEYS = ("format", "size", "crop", "filter", "keep_aspect", "fill", "range")
"""Those of a camera alone; `resize` and `color` are of every picture."""
LARGEST = 1 << 14
"""Height and width of a frame."""
Bad = Callable[[str, str], ConfigValueBad]
"""The refusal of a key's value, from what was found."""


def read_camera(table: Mapping[str, object], resize: tuple[int, int] | None, color: str, bad: Bad) -> Camera | None:
    """The camera of a table, or None; LAM-PREPROCESS-003."""
    if "format" not in table:
        for key in KEYS:
            if key in table:
                raise bad(key, "is about a camera's frames, and goes with `format`")
        return None
    if table.get("jpeg"):
        raise bad("jpeg", "goes with no `format`: a camera's frame is no file")
    name = _one_of(table, "format", tuple(FORMATS), "", bad)
    size = _size(table, name, bad)
    return Camera(
        format=name,
        size=size,
        crop=_crop(table, size, bad),
        resize=resize,
        filter=_one_of(table, "filter", FILTERS, FILTERS[0], bad),
        keep_aspect=_aspect(table, resize, bad),
        fill=_fill(table, color, bad),
        color=color,
        limited=_one_of(table, "range", RANGES, RANGES[0], bad) == "limited",
    )


def _one_of(table: Mapping[str, object], key: str, known: tuple[str, ...], default: str, bad: Bad) -> str:
    value = table.get(key, default)
    if isinstance(value, str) and value in known:
        if key == "range" and key in table and FORMATS[str(table["format"])].kind != "yuv":
            raise bad(key, f"is of YUV, not of {table['format']}")
        return value
    close = difflib.get_close_matches(str(value), known, n=1)
    raise bad(key, f"{value!r} is not one of {', '.join(known)}" + (f"; did you mean {close[0]}?" if close else ""))


def _whole(value: object, count: int) -> tuple[int, ...] | None:
    """So many whole numbers; None for anything else."""
    if isinstance(value, list) and len(value) == count and all(type(v) is int for v in value):
        return tuple(value)
    return None


def _size(table: Mapping[str, object], name: str, bad: Bad) -> tuple[int, int]:
    found = _whole(table.get("size"), 2)
    if found is None or not all(0 < n <= LARGEST for n in found):
        raise bad("size", f"{table.get('size')!r} is not the frame's [height, width], each 1 to {LARGEST}")
    kind = FORMATS[name]
    if kind.even_width and found[1] % 2:
        raise bad("size", f"{name} has pixels in pairs, and {found[1]} is no even width")
    if kind.kind == "bayer" and min(found) < 2:
        raise bad("size", f"{name} has pixels in fours, and a frame of {found[0]} x {found[1]} is none")
    return found[0], found[1]


def _crop(table: Mapping[str, object], size: tuple[int, int], bad: Bad) -> tuple[int, int, int, int] | None:
    if "crop" not in table:
        return None
    found = _whole(table["crop"], 4)
    if found is None:
        raise bad("crop", f"{table['crop']!r} is not [top, left, height, width]")
    top, left, height, width = found
    if min(top, left) < 0 or min(height, width) < 1 or top + height > size[0] or left + width > size[1]:
        said = f"rows {top} .. {top + height - 1}, columns {left} .. {left + width - 1}"
        raise bad("crop", f"{said} are not all in a frame of {size[0]} x {size[1]}")
    return top, left, height, width


def _aspect(table: Mapping[str, object], resize: tuple[int, int] | None, bad: Bad) -> bool:
    value = table.get("keep_aspect", False)
    if not isinstance(value, bool):
        raise bad("keep_aspect", f"{value!r} is neither true nor false")
    if value and resize is None:
        raise bad("keep_aspect", "goes with `resize`")
    return value


def _fill(table: Mapping[str, object], color: str, bad: Bad) -> tuple[int, ...]:
    if "fill" not in table:
        return (0,)
    if not table.get("keep_aspect"):
        raise bad("fill", "is what surrounds the picture with `keep_aspect`")
    value = table["fill"]
    found = _whole(value if isinstance(value, list) else [value], 3 if isinstance(value, list) else 1)
    if found is None or not all(0 <= n <= 255 for n in found) or (len(found) == 3 and color == "gray"):
        raise bad("fill", f"{value!r} is not a number of 0 .. 255, or of three colours [red, green, blue]")
    return found
