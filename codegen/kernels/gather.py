"""Windows that reach over the left or right edge: their columns are copied to scratch beside the padding.

Row kernels get whole input rows; a block of output columns reads `(pixels - 1) * stride + extent` columns of each.
Where some of them lie outside the row, the block reads a copy in which they hold the input zero point, so that no inner
loop asks about padding.  The template's part is templates/macros/gather.c.j2.
"""

from __future__ import annotations

from codegen.ir.shape import Window
from codegen.records import record


@record
class Columns:
    """The input columns of a block: `before` of padding, `count` from column `first` on, `after` of padding."""

    before: int
    first: int
    count: int
    after: int

    @property
    def total(self) -> int:
        """Columns, padding included."""
        return self.before + self.count + self.after

    @property
    def until(self) -> int:
        """Columns in front of the padding behind."""
        return self.before + self.count

    def in_bytes(self, channels: int) -> Columns:
        """The same in bytes, of pixels of so many."""
        return Columns(self.before * channels, self.first * channels, self.count * channels, self.after * channels)

    @property
    def inside(self) -> bool:
        """Whether none is padding."""
        return self.before == self.after == 0


def block_columns(w: Window, w_in: int, first: int, pixels: int) -> Columns:
    """What output columns [first, first + pixels) read of a row of `w_in` columns."""
    start = first * w.stride - w.pad_before
    stop = start + (pixels - 1) * w.stride + w.extent
    left, right = min(max(start, 0), w_in), min(max(stop, 0), w_in)
    length = stop - start
    return Columns(min(max(-start, 0), length), left, right - left, min(max(stop - w_in, 0), length))


def gathered_bytes(rows: int, pixels: int, w: Window, channels: int, element_bytes: int) -> int:
    """Scratch for the copies of one block."""
    return rows * ((pixels - 1) * w.stride + w.extent) * channels * element_bytes
