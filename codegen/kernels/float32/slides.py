"""Depthwise convolution of real numbers: some pixels of one vector of channels at a time, in registers.

Which taps of a block are inside the row is known when it is generated, so that no loop asks about columns.  Weights:
[vectors of channels][taps][channels].
"""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from itertools import pairwise
from typing import Any

from codegen.ir.op import NodeOf
from codegen.ir.quant import Array, Sums
from codegen.ir.shape import Window
from codegen.kernels.float32.blocks import adds, in_groups, unit_headers
from codegen.kernels.float32.common import Bounds, bias_field, bound_fields, bounds_of
from codegen.kernels.float32.registers import AVX512, FPU, HELIUM, Unit
from codegen.kernels.float32.stored import Stored, stored_of
from codegen.kernels.kernel import Fit, Kernel
from codegen.ops.float32 import FloatConv2D
from codegen.records import record

_MOST_TAPS = 7
_MOST_KINDS = 8


@record
class Span:
    """`count` blocks of `pixels`, the first from output column `first` on, that read the inputs at `columns`.

    A column is counted from `at`, which moves by `step` from block to block.  `taps` are (column, weight, pixel), in
    the order of the sums.
    """

    first: int
    count: int
    pixels: int
    at: int
    step: int
    columns: tuple[int, ...]
    taps: tuple[tuple[int, int, int], ...]

    @property
    def by_column(self) -> tuple[tuple[int, tuple[tuple[int, int, int], ...]], ...]:
        """Each column with the taps that read it: in this order too a pixel's taps come in the order of its sum."""
        return tuple((column, tuple(tap for tap in self.taps if tap[0] == column)) for column in self.columns)


@record(kw_only=True)
class FloatSlidesContext:
    """Literals of one depthwise convolution; `spans` cover the row from left to right."""

    unit: Unit
    channels: int
    kernel_h: int
    kernel_w: int
    spans: tuple[Span, ...]
    padded_rows: bool
    bounds: Bounds
    sums: Sums
    stored: Stored

    @property
    def lanes(self) -> int:
        """Numbers of a register."""
        return self.unit.lanes

    @property
    def groups(self) -> tuple[tuple[int, int, int], ...]:
        """(first channel, end, channels at a time)."""
        whole = self.channels // self.lanes * self.lanes
        both = ((0, whole, self.lanes), (whole, self.channels, self.channels - whole))
        return tuple(g for g in both if g[0] < g[1])

    def element_of(self, column: int) -> int:
        """Where a column begins in its row, of the input or of the output."""
        return column * self.channels

    def weight_at(self, tap: int, channels: int) -> int:
        """The element of its kernel row in which a tap's weights begin."""
        return self.stored.element(tap * channels)

    def row_weights(self, channels: int) -> int:
        """Elements of the weights of a kernel row, of `channels` channels."""
        return self.stored.elements(self.kernel_w * channels)


def _fit(unit: Unit, node: NodeOf[FloatConv2D]) -> Fit | None:
    _, weights, bias = node.consts
    op, x, y = node.op, node.ins[0].shape, node.outs[0].shape
    one_each = op.groups == x[3] == y[3] and op.w.size <= _MOST_TAPS
    if node.dynamic != (0,) or weights is None or bias is None or not one_each:
        return None
    spans, stored = _spans(op.w, x[2], y[2], unit.pixels), stored_of(node)
    if len(spans) > _MOST_KINDS or unit.reading(stored) is None or not adds(unit, op):
        return None
    k = FloatSlidesContext(
        unit=unit,
        channels=x[3],
        kernel_h=op.h.size,
        kernel_w=op.w.size,
        spans=spans,
        padded_rows=op.rows(0, node.ins, node.outs).leaves(x[1], y[1]),
        bounds=bounds_of(op),
        sums=op.sums,
        stored=stored,
    )
    packed = stored.fields_of(weights, lambda all_of: _by_row(all_of, unit.lanes))
    why = f"{unit.name}: {max(s.pixels for s in spans)} pixels of one channel in registers{stored.said}"
    params = (bias_field(op, bias), *bound_fields(op), *packed)
    return Fit(k, params, why=why, headers=unit_headers(unit, op, stored))


def _by_row(weights: Array, channels: int) -> list[Array]:
    """In the order of reading, in runs of a kernel row each."""
    return [part.reshape(weights.shape[1], -1) for part in in_groups(weights, channels)]


def _spans(w: Window, w_in: int, w_out: int, most: int) -> tuple[Span, ...]:
    """Blocks of nearly equal size, at `most` so many pixels; neighbours that read alike are one span."""
    blocks = -(-w_out // most)
    cuts = [w_out * i // blocks for i in range(blocks + 1)]
    found: list[Span] = []
    for first, end in pairwise(cuts):
        span = _span(w, w_in, first, end - first)
        last = found[-1] if found else None
        if last and replace(last, first=first, count=1, at=last.at + last.count * last.step) == span:
            found[-1] = replace(last, count=last.count + 1)
        else:
            found.append(span)
    return tuple(found)


def _span(w: Window, w_in: int, first: int, pixels: int) -> Span:
    starts = [(first + p) * w.stride - w.pad_before for p in range(pixels)]
    reads = [(s + j * w.dilation, j, p) for j in range(w.size) for p, s in enumerate(starts)]
    inside = [(at, j, p) for at, j, p in reads if 0 <= at < w_in]
    origin = min((at for at, _, _ in inside), default=0)
    taps = tuple((at - origin, j, p) for at, j, p in inside)
    return Span(first, 1, pixels, origin, w.stride * pixels, tuple(sorted({at for at, _, _ in taps})), taps)


def _kernel(unit: Unit, headers: tuple[str, ...]) -> Kernel[FloatConv2D]:
    name, needs = f"{unit.name}_depthwise_f32", frozenset({unit.feature})
    return Kernel(name, "float32/slides.c.j2", "row", (FloatConv2D,), partial(_fit, unit), needs, headers=headers)


_UNITS = ((HELIUM, ("lam_mve_f32.h",)), (FPU, ()), (AVX512, ("lam_x86_f32.h",)))

KERNELS: tuple[Kernel[Any], ...] = tuple(_kernel(*unit) for unit in _UNITS)
