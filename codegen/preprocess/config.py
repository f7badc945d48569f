"""Reads a model's configuration file (TOML): settings that belong to a model and not to a command.

Decides: which tables and keys there are, and that every value is usable.  What the keys do is said in steps.py.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TypeGuard

from codegen.configuration import config_table, known_keys
from codegen.errors import ConfigValueBad
from codegen.preprocess import camera_keys
from codegen.preprocess.camera_keys import read_camera
from codegen.preprocess.steps import COLORS, Preprocess

KEYS = ("layout", "dequantize", "quantize", "divide", "mean", "std", "resize", "color", "jpeg", *camera_keys.KEYS)
_NCHW = "NCHW"
_LARGEST, _SMALLEST = 3.4e38, 1.2e-38
"""Of float32, but for its last steps and its subnormal numbers."""


def load_preprocess(config: Path | None) -> Preprocess:
    """The `[preprocess]` table of a file; samples are taken as they are without a file, or without the table.

    Raises:
        ConfigUnreadable: LAM-PREPROCESS-001; the ids of `read_toml`.
        ConfigKeyUnknown: LAM-PREPROCESS-002.
        ConfigValueBad: LAM-PREPROCESS-003.
    """
    if config is None:
        return Preprocess()
    table = config_table(config, "preprocess")
    return Preprocess() if table is None else parse_preprocess(table, str(config))


def parse_preprocess(table: Mapping[str, object], file: str) -> Preprocess:
    """The table's keys, checked."""
    known_keys(table, KEYS, file, "preprocess.")
    reader = _Reader(table, file)
    axes, model_axes = reader.layout()
    scale, zero_point = reader.meaning("dequantize")
    resize, color = reader.resize(), reader.color()
    camera = read_camera(table, resize, color, reader.bad)
    return Preprocess(
        axes=axes,
        model_axes=model_axes,
        scale=scale,
        zero_point=zero_point,
        divide=reader.divisor("divide")[0] if "divide" in table else 1.0,
        mean=reader.numbers("mean") if "mean" in table else (),
        std=reader.divisor("std") if "std" in table else (),
        resize=None if camera else resize,
        color="rgb" if camera else color,
        jpeg=reader.jpeg(),
        quantize=reader.meaning("quantize"),
        camera=camera,
    )


class _Reader:
    """The values of one table, by key."""

    def __init__(self, table: Mapping[str, object], file: str) -> None:
        self._table, self._file = table, file

    def bad(self, key: str, found: str) -> ConfigValueBad:
        return ConfigValueBad(found, where=f"{self._file}, preprocess.{key}")

    def layout(self) -> tuple[str, str]:
        """Axes of the data and of the model; ONNX's own NCHW for pictures when only the data's are given."""
        value = self._table.get("layout", "")
        if not isinstance(value, str):
            raise self.bad("layout", f"{value!r} is not a text")
        if not value:
            return "", ""
        data, arrow, model = (part.strip().upper() for part in value.partition("->"))
        if not arrow:
            model = _NCHW if set(data) <= set(_NCHW) and {"H", "W"} <= set(data) else data
        for axes in (data, model):
            if not axes.startswith("N") or not axes.isalpha() or len(set(axes)) != len(axes):
                raise self.bad("layout", f"{value!r} is not like 'NHWC' or 'NHWC->NCHW': letters, N first, none twice")
        return data, model

    def meaning(self, key: str) -> tuple[float | None, int]:
        """Scale and zero point of data that is stored quantized, or of a model's integer input."""
        value = self._table.get(key)
        if value is None:
            return None, 0
        if not isinstance(value, dict) or not {"scale"} <= set(value) <= {"scale", "zero_point"}:
            raise self.bad(key, f"{value!r} is not like {{ scale = 0.5, zero_point = 3 }}")
        scale, zero = value["scale"], value.get("zero_point", 0)
        if not _is_number(scale) or scale < _SMALLEST:
            raise self.bad(f"{key}.scale", f"{scale!r} is not a float32 number above zero")
        if not isinstance(zero, int) or isinstance(zero, bool):
            raise self.bad(f"{key}.zero_point", f"{zero!r} is not a whole number")
        return float(scale), zero

    def numbers(self, key: str) -> tuple[float, ...]:
        """One number, or one per channel."""
        value = self._table[key]
        values = value if isinstance(value, list) else [value]
        found = tuple(float(v) for v in values if _is_number(v))
        if not values or len(found) < len(values):
            raise self.bad(key, f"{value!r} is not a number or a list of numbers")
        return found

    def divisor(self, key: str) -> tuple[float, ...]:
        """Numbers to divide by; `divide` is one number."""
        values = self.numbers(key)
        if any(v < _SMALLEST for v in values) or (key == "divide" and len(values) > 1):
            raise self.bad(key, f"{self._table[key]!r}: it divides, so it must be above zero, and `divide` one number")
        return values

    def resize(self) -> tuple[int, int] | None:
        """Height and width."""
        value = self._table.get("resize")
        if value is None:
            return None
        fine = isinstance(value, list) and len(value) == 2 and all(type(v) is int and 0 < v <= 1 << 14 for v in value)
        if not isinstance(value, list) or not fine:
            raise self.bad("resize", f"{value!r} is not [height, width]")
        return value[0], value[1]

    def color(self) -> str:
        """What becomes of the channels."""
        value = self._table.get("color", "rgb")
        if not isinstance(value, str) or value not in COLORS:
            raise self.bad("color", f"{value!r} is not one of {', '.join(COLORS)}")
        return value

    def jpeg(self) -> bool:
        """Whether samples are JPEG files, under the keys jpeg and offset."""
        value = self._table.get("jpeg", False)
        if not isinstance(value, bool):
            raise self.bad("jpeg", f"{value!r} is neither true nor false")
        if (value or "format" in self._table) and self.layout()[0] not in ("", "NHWC"):
            raise self.bad("layout", "decoded pictures are NHWC")
        return value


def _is_number(value: object) -> TypeGuard[int | float]:
    """Whether it is a number that float32, in which samples are computed, can hold."""
    return isinstance(value, int | float) and not isinstance(value, bool) and abs(value) <= _LARGEST
