"""What NAME_preprocess.h and .c say: a camera's lines to rows of input 0, spelled."""

from __future__ import annotations

import numpy as np

from codegen.emit.spelling import ArrayView, array_lines, plus, spell_float
from codegen.ir.camera import CameraProgram, rounded_up
from codegen.ir.quant import Array
from codegen.records import record

_BITS = 11


@record
class ChannelView:
    """One channel of the network: which number of a pixel it is, its table, where it lies, what surrounds pictures."""

    source: int
    table: int
    place: str
    fill: str


@record(kw_only=True)
class CameraView:
    """All that the templates see; `first` and `end` bound the inner part's rows, `left` and `right` its columns."""

    format: str
    said: tuple[str, ...]
    height: int
    width: int
    line_bytes: int
    chroma: bool
    chroma_bytes: int
    chroma_start: int
    frame_bytes: int
    fetch: str
    convert: tuple[str, ...]
    bayer: bool
    odd_row: str
    odd_column: str
    kept_first: int
    kept: int
    kept_bytes: int
    last_line: int
    nearest: bool
    lines: ArrayView
    columns: ArrayView
    tables: tuple[ArrayView, ...]
    ctype: str
    rows: int
    columns_made: int
    first: int
    end: int
    left: int
    right: int
    row_stride: int
    column_stride: int
    column: str
    pixel_numbers: int
    line_numbers: int
    channels: tuple[ChannelView, ...]
    state_bytes: int

    @property
    def beside(self) -> bool:
        """Whether some rows show nothing of the frame."""
        return self.first > 0 or self.end < self.rows

    @property
    def fills(self) -> bool:
        """Whether some pixels do."""
        return self.beside or self.left > 0 or self.right < self.columns_made


def camera_view(camera: CameraProgram) -> CameraView:
    """The record for the templates."""
    height, width = camera.made
    top, left = camera.inner
    kept_first, kept_end = camera.kept
    pixels = len(camera.order)
    line_bytes = camera.width * camera.pixel_bytes
    red = camera.red or (0, 0)
    return CameraView(
        format=camera.format,
        said=camera.said,
        height=camera.height,
        width=camera.width,
        line_bytes=line_bytes,
        chroma=camera.planes == 2,
        chroma_bytes=camera.width,
        chroma_start=camera.height * line_bytes,
        frame_bytes=(camera.height + (camera.height + 1) // 2 * (camera.planes - 1)) * line_bytes,
        fetch=camera.fetch,
        convert=camera.convert,
        bayer=camera.red is not None,
        odd_row=plus("y", red[0]),
        odd_column=plus("x", kept_first + red[1]),
        kept_first=kept_first,
        kept=kept_end - kept_first,
        kept_bytes=rounded_up(2 * (kept_end - kept_first)) // 2,
        last_line=camera.height - 1,
        nearest=camera.nearest,
        lines=_positions("lines", camera.rows, camera.nearest),
        columns=_positions(
            "columns", camera.columns - (kept_first << _BITS) * (camera.red is not None), camera.nearest
        ),
        tables=tuple(_table(f"table{i}", table) for i, table in enumerate(camera.tables)),
        ctype=camera.dtype.ctype,
        rows=height,
        columns_made=width,
        first=top,
        end=top + camera.rows.size,
        left=left,
        right=left + camera.columns.size,
        row_stride=camera.strides[0],
        column_stride=camera.strides[1],
        column="i" if camera.strides[1] == 1 else f"i * {camera.strides[1]}",
        pixel_numbers=pixels,
        line_numbers=_line_numbers(camera),
        channels=tuple(_channel(camera, c) for c in range(pixels)),
        state_bytes=camera.state_bytes,
    )


def _line_numbers(camera: CameraProgram) -> int:
    """Elements of a line of the picture, with those that fill it up to whole words."""
    numbers = camera.columns.size * len(camera.order)
    return rounded_up(numbers) if camera.nearest else numbers


def _positions(name: str, positions: Array, nearest: bool) -> ArrayView:
    """Whole pixels where all of them are, else in 2^-11 of a pixel."""
    values = (positions >> _BITS).astype(np.uint16) if nearest else positions.astype(np.uint32)
    return ArrayView(name, "uint16_t" if nearest else "uint32_t", values.size, array_lines(values))


def _table(name: str, values: Array) -> ArrayView:
    ctype = {"int8": "int8_t", "uint8": "uint8_t", "int16": "int16_t", "int32": "int32_t"}.get(
        str(values.dtype), "float"
    )
    return ArrayView(name, ctype, values.size, array_lines(values))


def _channel(camera: CameraProgram, c: int) -> ChannelView:
    value = camera.fill[c]
    fill = spell_float(float(value)) if camera.fill.dtype.kind == "f" else str(int(value))
    return ChannelView(camera.order[c], camera.table_of[c], str(camera.offsets[c]), fill)
