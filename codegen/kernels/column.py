"""Maps of one column: where their rows lie one behind the other, some of them are one row of as many pixels."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import cast

from codegen.ir.op import NodeOf, NodeView
from codegen.ir.shape import Window
from codegen.kernels.blocked.conv import Piece
from codegen.kernels.conv2d import is_depthwise
from codegen.kernels.kernel import Fit
from codegen.ops import Conv2D

_MOST_PIXELS = 8
"""Of a block of sums."""


def has_column(node: NodeView) -> bool:
    """Whether a node is a depthwise convolution of a map of one column, whose windows lie inside and without gaps."""
    op = node.op
    if not isinstance(op, Conv2D) or not is_depthwise(cast("NodeOf[Conv2D]", node)):
        return False
    x, y, h, w = node.ins[0].shape, node.outs[0].shape, op.h, op.w
    alone = x[0] == x[2] == y[2] == w.size == 1 and w.pad_before == 0
    return alone and h.dilation == 1 and h.pad_before == 0 and (y[1] - 1) * h.stride + h.size <= x[1]


def as_row(node: NodeOf[Conv2D], rows: int, columns: int) -> NodeOf[Conv2D]:
    """The layer that makes `rows` of its output rows as one, of kernel rows of `columns` taps each.

    Kernel rows read the same pixels, each from `columns` pixels further on.
    """
    h, (x, weights, *others), (y,) = node.op.h, node.ins, node.outs
    high, channels = h.size // columns, y.shape[3]
    taps = (channels, high, columns, 1)
    return NodeOf(
        name=node.name,
        op=replace(node.op, h=Window(high), w=Window(columns, h.stride)),
        ins=(
            replace(x, shape=(1, high, (rows - 1) * h.stride + columns, channels)),
            replace(weights, shape=taps),
            *others,
        ),
        outs=(replace(y, shape=(1, 1, rows, channels)),),
        consts=tuple(c.reshape(taps) if i == 1 and c is not None else c for i, c in enumerate(node.consts)),
    )


def made_as_row(node: NodeView, rows: int) -> NodeView:
    """The layer that makes `rows` output rows as one, of one kernel row."""
    found = cast("NodeOf[Conv2D]", node)
    return as_row(found, rows, found.op.h.size)


def as_rows(node: NodeOf[Conv2D], rows: int) -> Iterator[NodeOf[Conv2D]]:
    """The same of each number of columns that the taps are a multiple of; none where no block holds so many pixels."""
    if rows <= _MOST_PIXELS and has_column(node):
        taps = node.op.h.size
        yield from (as_row(node, rows, columns) for columns in range(1, taps + 1) if taps % columns == 0)


def is_one_block(pieces: Sequence[tuple[Piece, int]]) -> bool:
    """Whether a row is one block: each of its channels is read before any of it is written."""
    return len(pieces) == 1 and pieces[0][0].count == 1


def fastest(found: Sequence[Fit]) -> Fit | None:
    """The one of the fewest instructions."""
    return min(found, key=lambda fit: fit.mix.instructions if fit.mix else 0.0, default=None)
