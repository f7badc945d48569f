"""Which boxes each movement operator copies: Transpose, Slice, Gather, Broadcast, Reshape, blocks, ResizeNearest.

Rows are picked by the operator's row rule, so that a kernel only moves pixels and channels within a row; where the
rule is a barrier the whole tensor is moved at once.  Concat and Pad are in join.py.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from codegen.ir.form import Field, Run
from codegen.ir.op import NodeView, Op
from codegen.kernels.common import channels, only_dynamic, row_shape
from codegen.kernels.kernel import Kernel, adapted
from codegen.kernels.move import Loop, MoveContext, box_loops, move, strides
from codegen.ops import (
    Broadcast,
    DepthToSpace,
    Gather,
    Reshape,
    ResizeNearest,
    Slice,
    SpaceToDepth,
    Transpose,
)

TEMPLATE = "move.c.j2"


def positions(indices: Sequence[int]) -> Field:
    """Params `position`: source positions along one axis."""
    return Field("position", np.array(indices, np.int32))


def _accepts(kind: type[Op], when: Callable[[NodeView], bool] = lambda node: True) -> Callable[[NodeView, str], bool]:
    """A node of one operator with one computed input, under a condition."""
    return lambda node, isa: isinstance(node.op, kind) and only_dynamic(node) and when(node)


def one_move(node: NodeView, loops: Sequence[Loop], *, src: int = 0, phases: int = 1, phase: int = 0) -> MoveContext:
    """The context of a kernel that copies one box from its first row pointer."""
    kind = node.ins[0].dtype
    return MoveContext(kind.bytes, (move("rows[0]", kind.ctype, loops, src=src),), (), phases, phase)


# Transpose


def _is_whole(node: NodeView) -> bool:
    return node.op.rows(0, node.ins, node.outs).whole


def _transpose_context(node: NodeView) -> MoveContext:
    op, x = node.op, node.ins[0]
    assert isinstance(op, Transpose)
    steps = strides(x.shape)
    if _is_whole(node):
        y = node.outs[0].shape
        return one_move(node, box_loops(y, strides(y), [steps[axis] for axis in op.perm]))
    wide, deep = row_shape(node.outs[0])
    swapped = len(op.perm) > 1 and op.perm[-1] != len(op.perm) - 1
    src = (1, wide) if swapped else (deep, 1)
    return one_move(node, box_loops((wide, deep), (deep, 1), src))


# Slice and Gather


def _slice_context(node: NodeView) -> MoveContext:
    op = node.op
    assert isinstance(op, Slice)
    deep_in = channels(node.ins[0].shape)
    wide, deep = row_shape(node.outs[0])
    picks = ((0, 1, 1), (0, 1, 1), *zip(op.starts, op.sizes, op.steps, strict=True))[-2:]
    (w_start, _, w_step), (c_start, _, c_step) = picks
    loops = box_loops((wide, deep), (deep, 1), (w_step * deep_in, c_step))
    return one_move(node, loops, src=w_start * deep_in + c_start)


def _gather_axis(node: NodeView) -> int:
    """The axis counted from the end: 1 channels, 2 pixels, more: rows, which the row rule picks."""
    assert isinstance(node.op, Gather)
    return len(node.ins[0].shape) - node.op.axis


def _gather_context(node: NodeView) -> MoveContext:
    deep_in = channels(node.ins[0].shape)
    wide, deep = row_shape(node.outs[0])
    pixel, channel = Loop(wide, deep, deep_in), Loop(deep, 1, 1)
    axis = _gather_axis(node)
    if axis == 1:
        channel = Loop(deep, 1, 1, "position")
    elif axis == 2:
        pixel = Loop(wide, deep, deep_in, "position")
    return one_move(node, (pixel, channel))


def _gather_params(node: NodeView) -> tuple[Field, ...]:
    assert isinstance(node.op, Gather)
    return (positions(node.op.indices),) if _gather_axis(node) <= 2 else ()


# By pixels: channels picked from each pixel of a run


def _keeps_pixels(node: NodeView) -> bool:
    """Whether pixel i of the output is made from pixel i of the input, over all rows."""
    op, x = node.op, node.ins[0].shape
    if isinstance(op, Slice):
        return len(x) > 0 and op.sizes[:-1] == x[:-1] and all(step == 1 for step in op.steps[:-1])
    return isinstance(op, Gather) and op.axis == len(x) - 1


def _pixels_context(node: NodeView) -> MoveContext:
    op = node.op
    deep_in, deep = channels(node.ins[0].shape), channels(node.outs[0].shape)
    pixel = Loop("n", deep, deep_in)
    if isinstance(op, Gather):
        return one_move(node, (pixel, Loop(deep, 1, 1, "position")))
    assert isinstance(op, Slice)
    return one_move(node, (pixel, Loop(deep, 1, op.steps[-1])), src=op.starts[-1])


def _pixels_params(node: NodeView) -> tuple[Field, ...]:
    return (positions(node.op.indices),) if isinstance(node.op, Gather) else ()


# Broadcast and Reshape


def _broadcast_context(node: NodeView) -> MoveContext:
    wide_in, deep_in = row_shape(node.ins[0])
    wide, deep = row_shape(node.outs[0])
    src = (deep_in if wide_in == wide else 0, 1 if deep_in == deep else 0)
    return one_move(node, box_loops((wide, deep), (deep, 1), src))


def _copy_context(node: NodeView) -> MoveContext:
    return one_move(node, (Loop(node.outs[0].elements, 1, 1),))


# Blocks


def _depth_to_space_context(node: NodeView) -> MoveContext:
    op = node.op
    assert isinstance(op, DepthToSpace)
    _, _, w, c = node.ins[0].shape
    b, deep = op.block, node.outs[0].shape[3]
    inner = (deep, 1) if op.mode == "DCR" else (1, b * b)
    loops = box_loops((w, b, deep), (b * deep, deep, 1), (c, *inner))
    phase = b * deep if op.mode == "DCR" else b
    return one_move(node, loops, phases=b, phase=phase)


def _space_to_depth_context(node: NodeView) -> MoveContext:
    op, kind = node.op, node.ins[0].dtype
    assert isinstance(op, SpaceToDepth)
    c, b = node.ins[0].shape[3], op.block
    loops = box_loops((node.outs[0].shape[2], b * c), (b * b * c, 1), (b * c, 1))
    moves = (move(f"rows[{i}]", kind.ctype, loops, dst=i * b * c) for i in range(b))
    return MoveContext(kind.bytes, tuple(moves))


# ResizeNearest


def _repeats(indices: Sequence[int], size: int) -> int:
    """How often each of `size` positions is taken, when all are taken equally often in order; else 0."""
    times = len(indices) // size
    return times if list(indices) == [i // times for i in range(size * times)] and times else 0


def _nearest_context(node: NodeView) -> MoveContext:
    op = node.op
    assert isinstance(op, ResizeNearest)
    _, _, w_in, c = node.ins[0].shape
    times = _repeats(op.w_index, w_in)
    if times and w_in * times == len(op.w_index):
        return one_move(node, box_loops((w_in, times, c), (times * c, c, 1), (c, 0, 1)))
    return one_move(node, (Loop(len(op.w_index), c, c, "position"), Loop(c, 1, 1)))


def _nearest_params(node: NodeView) -> tuple[Field, ...]:
    assert isinstance(node.op, ResizeNearest)
    times = _repeats(node.op.w_index, node.ins[0].shape[2])
    return () if times else (positions(node.op.w_index),)


def _kernel(
    name: str,
    run: Run,
    accepts: Callable[[NodeView, str], bool],
    context: Callable[[NodeView], MoveContext],
    params: Callable[[NodeView], tuple[Field, ...]] = lambda node: (),
) -> Kernel[Any]:
    return adapted(name, TEMPLATE, run, accepts, context, params)


MOVEMENT = (
    _kernel("transpose", "whole", _accepts(Transpose, _is_whole), _transpose_context),
    _kernel("transpose_rows", "row", _accepts(Transpose), _transpose_context),
    _kernel("slice_channels", "pixels", _accepts(Slice, _keeps_pixels), _pixels_context),
    _kernel("slice", "row", _accepts(Slice), _slice_context),
    _kernel("gather_channels", "pixels", _accepts(Gather, _keeps_pixels), _pixels_context, _pixels_params),
    _kernel("gather", "row", _accepts(Gather), _gather_context, _gather_params),
    _kernel("broadcast", "row", _accepts(Broadcast), _broadcast_context),
    _kernel("copy", "whole", _accepts(Reshape), _copy_context),
    _kernel("depth_to_space", "row", _accepts(DepthToSpace), _depth_to_space_context),
    _kernel("space_to_depth", "row", _accepts(SpaceToDepth), _space_to_depth_context),
    _kernel("resize_nearest", "row", _accepts(ResizeNearest), _nearest_context, _nearest_params),
)
