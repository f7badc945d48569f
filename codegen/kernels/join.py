"""Concat and Pad, and results known at compile time: outputs that are put together from parts."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from codegen.ir.form import Field
from codegen.ir.op import NodeOf, NodeView, Op
from codegen.ir.quant import Array
from codegen.ir.shape import row_count, row_elements
from codegen.kernels.common import channels, constant_fields, row_shape
from codegen.kernels.kernel import Fit, Kernel
from codegen.kernels.move import Fill, Loop, Move, MoveContext, box_loops, fill, move
from codegen.kernels.movement import TEMPLATE
from codegen.kernels.unary import byte_table
from codegen.ops import Concat, Pad

# Concat


def _source(node: NodeOf[Concat], index: int, per_row: int) -> str:
    """The pointer of one part: a row pointer, or a constant, `per_row` elements further for each row."""
    if index in node.dynamic:
        return f"LAM_VIEW({node.ins[index].dtype.ctype}, rows[{node.dynamic.index(index)}])"
    return f"part{index}" + (f" + n * {per_row}" if per_row else "")


def _joined(node: NodeOf[Concat], outer: int | str, lengths: list[int], *, by_rows: bool) -> MoveContext:
    """Parts side by side: `outer` times, a run of `lengths[i]` elements of each."""
    total, start = sum(lengths), 0
    moves: list[Move] = []
    for index, length in enumerate(lengths):
        kind = node.ins[index]
        x = _source(node, index, row_elements(kind.shape) if by_rows and row_count(kind.shape) > 1 else 0)
        loops = (Loop(outer, total, length), Loop(length, 1, 1))
        over = node.op.over and index == 0
        moves.append(move(x, kind.dtype.ctype, loops, dst=start, lut=_table(node.op, index), overlaps=over))
        start += length
    return MoveContext(node.op.y_dtype.bytes, tuple(moves))


def _table(op: Concat, index: int) -> str:
    """The params field through which a part goes."""
    return f"table{index}" if op.tables[index] is not None else ""


def _fit_pixels(node: NodeOf[Concat]) -> Fit | None:
    if len(node.dynamic) < len(node.ins) or node.op.axis != len(node.outs[0].shape) - 1:
        return None
    return Fit(_joined(node, "n", [channels(t.shape) for t in node.ins], by_rows=False), _parts(node))


def _fit_rows(node: NodeOf[Concat]) -> Fit | None:
    op, y = node.op, node.outs[0]
    if not node.dynamic or op.axis < len(y.shape) - 2:
        return None
    if op.axis == len(y.shape) - 1:
        context = _joined(node, row_shape(y)[0], [channels(t.shape) for t in node.ins], by_rows=True)
    else:
        context = _joined(node, 1, [row_elements(t.shape) for t in node.ins], by_rows=True)
    return Fit(context, _parts(node))


def _fit_stacked(node: NodeOf[Concat]) -> Fit | None:
    """Rows above each other; constant ones are found by their number when each input's rows lie together."""
    together = len(node.dynamic) == len(node.ins) or math.prod(node.outs[0].shape[: node.op.axis]) == 1
    return Fit(_stacked(node), _parts(node)) if node.dynamic and together else None


def _stacked(node: NodeOf[Concat]) -> MoveContext:
    """Each call copies the one row that is there, of the input whose turn it is."""
    moves: list[Move] = []
    start = 0
    for index, kind in enumerate(node.ins):
        deep, rows = row_elements(kind.shape), row_count(kind.shape)
        if index in node.dynamic:
            x, when = _source(node, index, 0), f"rows[{node.dynamic.index(index)}] != NULL"
        else:
            row = f"(n - {start})" if start else "n"
            x, when = f"part{index} + {row} * {deep}", f"n >= {start} && n < {start + rows}"
        turn = when if len(node.ins) > 1 else ""
        moves.append(move(x, kind.dtype.ctype, (Loop(deep, 1, 1),), lut=_table(node.op, index), when=turn))
        start += rows
    return MoveContext(node.op.y_dtype.bytes, tuple(moves))


def _fit_whole(node: NodeOf[Concat]) -> Fit | None:
    if not node.dynamic:
        return None
    axis = node.op.axis
    lengths = [math.prod(t.shape[axis:]) for t in node.ins]
    return Fit(_joined(node, math.prod(node.outs[0].shape[:axis]), lengths, by_rows=False), _parts(node))


def _parts(node: NodeOf[Concat]) -> tuple[Field, ...]:
    """Params of the tables, and of the constant parts."""
    tables = tuple(
        Field(f"table{i}", byte_table(table, node.ins[i].dtype, node.op.y_dtype))
        for i, table in enumerate(node.op.tables)
        if table is not None
    )
    return (*tables, *constant_fields(node, [f"part{i}" for i in range(len(node.ins))]))


# Pad


def _fit_pad(node: NodeOf[Pad]) -> Fit:
    return Fit(_pad_context(node), _pad_params(node))


def _row_pads(op: Pad) -> tuple[tuple[int, int], tuple[int, int]]:
    """Pads before and after of pixels and channels."""
    pads = ((0, 0), (0, 0), *zip(op.before, op.after, strict=True))[-2:]
    return pads[0], pads[1]


def _pad_context(node: NodeOf[Pad]) -> MoveContext:
    kind = node.ins[0].dtype
    (wide_in, deep_in), (wide, deep) = row_shape(node.ins[0]), row_shape(node.outs[0])
    (left, right), (front, back) = _row_pads(node.op)
    if node.op.mode != "constant":
        picks = (_axis(wide, deep, deep_in, "pixel", wide_in), _axis(deep, 1, 1, "position", deep_in))
        return MoveContext(kind.bytes, (move("rows[0]", kind.ctype, picks),))
    inside = box_loops((wide_in, deep_in), (deep, 1), (deep_in, 1))
    inner = move("rows[0]", kind.ctype, inside, dst=left * deep + front)
    borders = (
        _border(left, deep, 0),
        _border(right, deep, (left + wide_in) * deep),
        _side(wide_in, deep, front, left * deep),
        _side(wide_in, deep, back, left * deep + front + deep_in),
    )
    return MoveContext(kind.bytes, (inner,), tuple(b for b in borders if b is not None))


def _border(pixels: int, deep: int, dst: int) -> Fill | None:
    """Whole pixels of padding."""
    return fill((Loop(pixels * deep, 1),), dst=dst) if pixels else None


def _side(pixels: int, deep: int, count: int, dst: int) -> Fill | None:
    """Channels of padding in each pixel."""
    return fill((Loop(pixels, deep), Loop(count, 1)), dst=dst) if count else None


def _axis(size: int, dst: int, src: int, table: str, size_in: int) -> Loop:
    """One axis of a pad that repeats elements: by a table of positions where it grows."""
    return Loop(size, dst, src, table if size != size_in else "")


def _picked(op: Pad, before: int, after: int, size: int) -> Array:
    return np.pad(np.arange(size, dtype=np.int32), (before, after), mode=op.mode)


def _pad_params(node: NodeOf[Pad]) -> tuple[Field, ...]:
    op = node.op
    pixels, deep = _row_pads(op)
    if op.mode == "constant":
        padded = any((*pixels, *deep))
        return (Field("value", np.array([op.value], node.ins[0].dtype.numpy)),) if padded else ()
    wide_in, deep_in = row_shape(node.ins[0])
    found = (("pixel", pixels, wide_in), ("position", deep, deep_in))
    return tuple(Field(name, _picked(op, *pads, size)) for name, pads, size in found if any(pads))


# Results known at compile time


def _fit_known(node: NodeView) -> Fit | None:
    if node.dynamic or len(node.outs) != 1:
        return None
    y = node.outs[0]
    context = MoveContext(y.dtype.bytes, (move("known", y.dtype.ctype, (Loop(y.elements, 1, 1),)),))
    return Fit(context, (Field.later("known", y.dtype.numpy, y.elements, lambda: _known(node)),))


def _known(node: NodeView) -> Array:
    (result,) = node.op.golden([data for data in node.consts if data is not None])
    return np.ascontiguousarray(result).reshape(-1)


KNOWN: Kernel[Op] = Kernel("known", TEMPLATE, "whole", (), _fit_known)
CONCAT_PIXELS = Kernel("concat", TEMPLATE, "pixels", (Concat,), _fit_pixels)
CONCAT_ROWS = Kernel("concat_rows", TEMPLATE, "row", (Concat,), _fit_rows)
CONCAT_STACKED = Kernel("concat_stacked", TEMPLATE, "row", (Concat,), _fit_stacked)
CONCAT_WHOLE = Kernel("concat_whole", TEMPLATE, "whole", (Concat,), _fit_whole)
PAD = Kernel("pad", TEMPLATE, "row", (Pad,), _fit_pad, one_input=True)

KERNELS: tuple[Kernel[Any], ...] = (CONCAT_PIXELS, CONCAT_ROWS, CONCAT_STACKED, CONCAT_WHOLE, PAD)
