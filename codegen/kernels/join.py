"""Concat and Pad, and results known at compile time: outputs that are put together from parts."""

from __future__ import annotations

import math

import numpy as np

from codegen.ir.form import Field
from codegen.ir.op import NodeView
from codegen.ir.quant import Array
from codegen.ir.shape import row_count, row_elements
from codegen.kernels.common import channels, only_dynamic, row_shape
from codegen.kernels.kernel import adapted
from codegen.kernels.move import Fill, Loop, Move, MoveContext, box_loops, fill, move
from codegen.kernels.movement import TEMPLATE
from codegen.kernels.unary import byte_table
from codegen.ops import Concat, Pad

# Concat


def _source(node: NodeView, index: int, per_row: int) -> str:
    """The pointer of one part: a row pointer, or a constant, `per_row` elements further for each row."""
    if index in node.dynamic:
        return f"LAM_VIEW({node.ins[index].dtype.ctype}, rows[{node.dynamic.index(index)}])"
    return f"part{index}" + (f" + n * {per_row}" if per_row else "")


def _joined(node: NodeView, outer: int | str, lengths: list[int], *, by_rows: bool) -> MoveContext:
    """Parts side by side: `outer` times, a run of `lengths[i]` elements of each."""
    op = node.op
    assert isinstance(op, Concat)
    total, start = sum(lengths), 0
    moves: list[Move] = []
    for index, length in enumerate(lengths):
        kind = node.ins[index]
        x = _source(node, index, row_elements(kind.shape) if by_rows and row_count(kind.shape) > 1 else 0)
        lut = f"table{index}" if op.tables[index] is not None else ""
        loops = (Loop(outer, total, length), Loop(length, 1, 1))
        moves.append(move(x, kind.dtype.ctype, loops, dst=start, lut=lut))
        start += length
    return MoveContext(op.y_dtype.bytes, tuple(moves))


def _concat_pixels(node: NodeView) -> MoveContext:
    return _joined(node, "n", [channels(t.shape) for t in node.ins], by_rows=False)


def _concat_rows(node: NodeView) -> MoveContext:
    op, y = node.op, node.outs[0]
    assert isinstance(op, Concat)
    if op.axis == len(y.shape) - 1:
        return _joined(node, row_shape(y)[0], [channels(t.shape) for t in node.ins], by_rows=True)
    return _joined(node, 1, [row_elements(t.shape) for t in node.ins], by_rows=True)


def _stacked(node: NodeView) -> MoveContext:
    """Rows above each other: each call copies the one row that is there, of the input whose turn it is."""
    op = node.op
    assert isinstance(op, Concat)
    moves: list[Move] = []
    start = 0
    for index, kind in enumerate(node.ins):
        deep, rows = row_elements(kind.shape), row_count(kind.shape)
        if index in node.dynamic:
            x, when = _source(node, index, 0), f"rows[{node.dynamic.index(index)}] != NULL"
        else:
            row = f"(n - {start})" if start else "n"
            x, when = f"part{index} + {row} * {deep}", f"n >= {start} && n < {start + rows}"
        lut = f"table{index}" if op.tables[index] is not None else ""
        moves.append(move(x, kind.dtype.ctype, (Loop(deep, 1, 1),), lut=lut, when=when if len(node.ins) > 1 else ""))
        start += rows
    return MoveContext(op.y_dtype.bytes, tuple(moves))


def _concat_whole(node: NodeView) -> MoveContext:
    op = node.op
    assert isinstance(op, Concat)
    outer = math.prod(node.outs[0].shape[: op.axis])
    return _joined(node, outer, [math.prod(t.shape[op.axis :]) for t in node.ins], by_rows=False)


def _concat_params(node: NodeView) -> tuple[Field, ...]:
    op = node.op
    assert isinstance(op, Concat)
    tables = tuple(
        Field(f"table{i}", byte_table(table, node.ins[i].dtype, op.y_dtype))
        for i, table in enumerate(op.tables)
        if table is not None
    )
    parts = tuple(Field(f"part{i}", data.reshape(-1)) for i, data in enumerate(node.consts) if data is not None)
    return (*tables, *parts)


def _concat_of_pixels(node: NodeView, isa: str) -> bool:
    op = node.op
    return isinstance(op, Concat) and len(node.dynamic) == len(node.ins) and op.axis == len(node.outs[0].shape) - 1


def _concat_of_rows(node: NodeView, isa: str) -> bool:
    op = node.op
    return isinstance(op, Concat) and bool(node.dynamic) and op.axis >= len(node.outs[0].shape) - 2


def _concat_by_rows(node: NodeView, isa: str) -> bool:
    """Constant rows are found by their number when each input's rows lie together."""
    op = node.op
    if not isinstance(op, Concat) or not node.dynamic:
        return False
    return len(node.dynamic) == len(node.ins) or math.prod(node.outs[0].shape[: op.axis]) == 1


def _concat_of_all(node: NodeView, isa: str) -> bool:
    return isinstance(node.op, Concat) and bool(node.dynamic)


# Pad


def _row_pads(node: NodeView) -> tuple[tuple[int, int], tuple[int, int]]:
    """Pads before and after of pixels and channels."""
    op = node.op
    assert isinstance(op, Pad)
    pads = ((0, 0), (0, 0), *zip(op.before, op.after, strict=True))[-2:]
    return pads[0], pads[1]


def _pad_context(node: NodeView) -> MoveContext:
    op, kind = node.op, node.ins[0].dtype
    assert isinstance(op, Pad)
    (wide_in, deep_in), (wide, deep) = row_shape(node.ins[0]), row_shape(node.outs[0])
    (left, right), (front, back) = _row_pads(node)
    if op.mode != "constant":
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


def _pad_params(node: NodeView) -> tuple[Field, ...]:
    op = node.op
    assert isinstance(op, Pad)
    pixels, deep = _row_pads(node)
    if op.mode == "constant":
        padded = any((*pixels, *deep))
        return (Field("value", np.array([op.value], node.ins[0].dtype.numpy)),) if padded else ()
    wide_in, deep_in = row_shape(node.ins[0])
    found = (("pixel", pixels, wide_in), ("position", deep, deep_in))
    return tuple(Field(name, _picked(op, *pads, size)) for name, pads, size in found if any(pads))


def _accepts_pad(node: NodeView, isa: str) -> bool:
    return isinstance(node.op, Pad) and only_dynamic(node)


# Results known at compile time


def _accepts_known(node: NodeView, isa: str) -> bool:
    return not node.dynamic and len(node.outs) == 1


def _known(node: NodeView) -> Array:
    (result,) = node.op.golden([data for data in node.consts if data is not None])
    return np.ascontiguousarray(result).reshape(-1)


def _known_context(node: NodeView) -> MoveContext:
    y = node.outs[0]
    return MoveContext(y.dtype.bytes, (move("known", y.dtype.ctype, (Loop(y.elements, 1, 1),)),))


KNOWN = adapted(
    "known", TEMPLATE, "whole", _accepts_known, _known_context, lambda node: (Field("known", _known(node)),)
)
CONCAT_PIXELS = adapted("concat", TEMPLATE, "pixels", _concat_of_pixels, _concat_pixels, _concat_params)
CONCAT_ROWS = adapted("concat_rows", TEMPLATE, "row", _concat_of_rows, _concat_rows, _concat_params)
CONCAT_STACKED = adapted("concat_stacked", TEMPLATE, "row", _concat_by_rows, _stacked, _concat_params)
CONCAT_WHOLE = adapted("concat_whole", TEMPLATE, "whole", _concat_of_all, _concat_whole, _concat_params)
PAD = adapted("pad", TEMPLATE, "row", _accepts_pad, _pad_context, _pad_params)
