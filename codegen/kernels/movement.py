"""Which boxes each movement operator copies: Transpose, Slice, Gather, Broadcast, Reshape, blocks, ResizeNearest.

Rows are picked by the operator's row rule, so that a kernel only moves pixels and channels within a row; where the
rule is a barrier the whole tensor is moved at once.  Concat and Pad are in join.py.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from codegen.ir.form import Field
from codegen.ir.op import NodeOf, NodeView
from codegen.kernels.common import channels, row_shape
from codegen.kernels.kernel import Fit, Kernel
from codegen.kernels.move import Loop, MoveContext, box_loops, move, strides
from codegen.ops import Broadcast, DepthToSpace, Gather, Reshape, ResizeNearest, Slice, SpaceToDepth, Transpose

TEMPLATE = "move.c.j2"


def positions(indices: Sequence[int]) -> Field:
    """Params `position`: source positions along one axis."""
    return Field("position", np.array(indices, np.int32))


def one_move(
    node: NodeView, loops: Sequence[Loop], *, src: int = 0, phases: int = 1, phase: int = 0, overlaps: bool = False
) -> MoveContext:
    """The context of a kernel that copies one box from its first row pointer."""
    kind = node.ins[0].dtype
    moves = (move("rows[0]", kind.ctype, loops, src=src, overlaps=overlaps),)
    return MoveContext(kind.bytes, moves, (), phases, phase)


# Transpose


def _fit_transposed(node: NodeOf[Transpose]) -> Fit | None:
    """The whole tensor at once."""
    if not node.op.rows(0, node.ins, node.outs).whole:
        return None
    steps, y = strides(node.ins[0].shape), node.outs[0].shape
    return Fit(one_move(node, box_loops(y, strides(y), [steps[axis] for axis in node.op.perm])))


def _fit_transposed_rows(node: NodeOf[Transpose]) -> Fit:
    perm, (wide, deep) = node.op.perm, row_shape(node.outs[0])
    swapped = len(perm) > 1 and perm[-1] != len(perm) - 1
    src = (1, wide) if swapped else (deep, 1)
    return Fit(one_move(node, box_loops((wide, deep), (deep, 1), src)))


# Slice and Gather


def _fit_slice(node: NodeOf[Slice]) -> Fit:
    op, deep_in = node.op, channels(node.ins[0].shape)
    wide, deep = row_shape(node.outs[0])
    picks = ((0, 1, 1), (0, 1, 1), *zip(op.starts, op.sizes, op.steps, strict=True))[-2:]
    (w_start, _, w_step), (c_start, _, c_step) = picks
    loops = box_loops((wide, deep), (deep, 1), (w_step * deep_in, c_step))
    return Fit(one_move(node, loops, src=w_start * deep_in + c_start, overlaps=op.over))


def _fit_gather(node: NodeOf[Gather]) -> Fit:
    deep_in = channels(node.ins[0].shape)
    wide, deep = row_shape(node.outs[0])
    pixel, channel = Loop(wide, deep, deep_in), Loop(deep, 1, 1)
    # the axis counted from the end: 1 channels, 2 pixels, more: rows, which the row rule picks
    axis = len(node.ins[0].shape) - node.op.axis
    if axis == 1:
        channel = Loop(deep, 1, 1, "position")
    elif axis == 2:
        pixel = Loop(wide, deep, deep_in, "position")
    return Fit(one_move(node, (pixel, channel)), (positions(node.op.indices),) if axis <= 2 else ())


# By pixels: channels picked from each pixel of a run


def _fit_sliced_channels(node: NodeOf[Slice]) -> Fit | None:
    """Where pixel i of the output is made from pixel i of the input, over all rows."""
    op, x = node.op, node.ins[0].shape
    if not x or op.sizes[:-1] != x[:-1] or any(step != 1 for step in op.steps[:-1]):
        return None
    deep = channels(node.outs[0].shape)
    loops = (Loop("n", deep, channels(x)), Loop(deep, 1, op.steps[-1]))
    return Fit(one_move(node, loops, src=op.starts[-1]))


def _fit_gathered_channels(node: NodeOf[Gather]) -> Fit | None:
    x = node.ins[0].shape
    if node.op.axis != len(x) - 1:
        return None
    deep = channels(node.outs[0].shape)
    loops = (Loop("n", deep, channels(x)), Loop(deep, 1, 1, "position"))
    return Fit(one_move(node, loops), (positions(node.op.indices),))


# Broadcast and Reshape


def _fit_broadcast(node: NodeOf[Broadcast]) -> Fit:
    wide_in, deep_in = row_shape(node.ins[0])
    wide, deep = row_shape(node.outs[0])
    src = (deep_in if wide_in == wide else 0, 1 if deep_in == deep else 0)
    return Fit(one_move(node, box_loops((wide, deep), (deep, 1), src)))


def _fit_copy(node: NodeOf[Reshape]) -> Fit:
    return Fit(one_move(node, (Loop(node.outs[0].elements, 1, 1),)))


# Blocks


def _fit_depth_to_space(node: NodeOf[DepthToSpace]) -> Fit:
    op, (_, _, w, c) = node.op, node.ins[0].shape
    b, deep = op.block, node.outs[0].shape[3]
    inner = (deep, 1) if op.mode == "DCR" else (1, b * b)
    loops = box_loops((w, b, deep), (b * deep, deep, 1), (c, *inner))
    return Fit(one_move(node, loops, phases=b, phase=b * deep if op.mode == "DCR" else b))


def _fit_space_to_depth(node: NodeOf[SpaceToDepth]) -> Fit:
    kind, c, b = node.ins[0].dtype, node.ins[0].shape[3], node.op.block
    loops = box_loops((node.outs[0].shape[2], b * c), (b * b * c, 1), (b * c, 1))
    moves = (move(f"rows[{i}]", kind.ctype, loops, dst=i * b * c) for i in range(b))
    return Fit(MoveContext(kind.bytes, tuple(moves)))


# ResizeNearest


def _repeats(indices: Sequence[int], size: int) -> int:
    """How often each of `size` positions is taken, when all are taken equally often in order; else 0."""
    times = len(indices) // size
    return times if list(indices) == [i // times for i in range(size * times)] and times else 0


def _fit_nearest(node: NodeOf[ResizeNearest]) -> Fit:
    op, (_, _, w_in, c) = node.op, node.ins[0].shape
    times = _repeats(op.w_index, w_in)
    if times:
        return Fit(one_move(node, box_loops((w_in, times, c), (times * c, c, 1), (c, 0, 1))))
    loops = (Loop(len(op.w_index), c, c, "position"), Loop(c, 1, 1))
    return Fit(one_move(node, loops), (positions(op.w_index),))


KERNELS: tuple[Kernel[Any], ...] = (
    Kernel("transpose", TEMPLATE, "whole", (Transpose,), _fit_transposed, one_input=True, program_memory=True),
    Kernel("transpose_rows", TEMPLATE, "row", (Transpose,), _fit_transposed_rows, one_input=True, program_memory=True),
    Kernel("slice_channels", TEMPLATE, "pixels", (Slice,), _fit_sliced_channels, one_input=True, program_memory=True),
    Kernel("slice", TEMPLATE, "row", (Slice,), _fit_slice, one_input=True, program_memory=True),
    Kernel("gather_channels", TEMPLATE, "pixels", (Gather,), _fit_gathered_channels, one_input=True),
    Kernel("gather", TEMPLATE, "row", (Gather,), _fit_gather, one_input=True),
    Kernel("broadcast", TEMPLATE, "row", (Broadcast,), _fit_broadcast, one_input=True),
    Kernel("copy", TEMPLATE, "whole", (Reshape,), _fit_copy, one_input=True, program_memory=True),
    Kernel(
        "depth_to_space", TEMPLATE, "row", (DepthToSpace,), _fit_depth_to_space, one_input=True, program_memory=True
    ),
    Kernel(
        "space_to_depth", TEMPLATE, "row", (SpaceToDepth,), _fit_space_to_depth, one_input=True, program_memory=True
    ),
    Kernel("resize_nearest", TEMPLATE, "row", (ResizeNearest,), _fit_nearest, one_input=True, program_memory=True),
)
