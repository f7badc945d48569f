"""What a firmware does with a camera's lines, as settled numbers: positions, tables, padding; emit only spells it."""

from __future__ import annotations

from codegen.ir.quant import Array, DType
from codegen.records import record


@record(kw_only=True, eq=False)
class CameraProgram:
    """Lines of a frame to rows of the network's input 0.

    `fetch` names the C that reads a pixel (lam_fetch_FETCH), `convert` what then happens to it, in place. `rows` and
    `columns` say where the inner part of the picture, which lies at `inner` (top, left), is taken from, in 2^-11 of a
    pixel of the frame; all of them whole when `nearest`. Each channel of the network goes through its table of
    `tables`, [tables, 256]; outside of the inner part it is `fill`. Pixel (y, x) of channel c is element
    y * strides[0] + x * strides[1] + offsets[c] of the input. Of a mosaic, `red` is where the red pixel of four is.
    """

    format: str
    height: int
    width: int
    pixel_bytes: int
    planes: int
    fetch: str
    convert: tuple[str, ...]
    red: tuple[int, int] | None
    window: tuple[int, int, int, int]
    made: tuple[int, int]
    inner: tuple[int, int]
    rows: Array
    columns: Array
    nearest: bool
    order: tuple[int, ...]
    tables: Array
    table_of: tuple[int, ...]
    fill: Array
    strides: tuple[int, int]
    offsets: tuple[int, ...]
    dtype: DType
    said: tuple[str, ...]

    @property
    def kept(self) -> tuple[int, int]:
        """Columns of a mosaic that are read: those of the window and one beside it."""
        _, left, _, width = self.window
        return max(0, left - 1), min(self.width, left + width + 1)

    @property
    def state_bytes(self) -> int:
        """Of NAME_preprocess_t: three counters, then lines of the picture and of a mosaic, to a multiple of 4 each."""
        channels, width = len(self.order), self.columns.size
        lines = rounded_up(width * channels) if self.nearest else rounded_up(4 * width * channels)
        first, last = self.kept
        return 12 + lines + (rounded_up(2 * (last - first)) if self.red is not None else 0)


def rounded_up(size: int) -> int:
    """To a multiple of 4."""
    return -(-size // 4) * 4
