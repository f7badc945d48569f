"""Operators that make or change some places of a tensor: ONE_HOT, DYNAMIC_UPDATE_SLICE, TOPK_V2.

Decides: that a result of DYNAMIC_UPDATE_SLICE whose place is known is joined of parts.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from codegen.errors import FormUnsupported, ShapeMismatch
from codegen.frontends.tflite.axes import read_axis
from codegen.frontends.tflite.context import Context, dtype_of
from codegen.frontends.tflite.nodes import TfliteNode
from codegen.ir.op import Op
from codegen.ir.quant import DType
from codegen.ops import Compare, Concat, Lut, Reshape, Slice, TopK, Update

_MADE = (DType.S8, DType.U8, DType.S32)


def one_hot(ctx: Context, node: TfliteNode) -> None:
    """ONE_HOT: the number for set places where a position is its own, the other one elsewhere."""
    shape, tensor = ctx.result(node).shape, ctx.result(node)
    dtype = dtype_of(tensor, node.where)
    depth, on, off = (ctx.whole_number(node, i) for i in (1, 2, 3))
    if dtype not in _MADE or tensor.kind == "int64" or ctx.type(node, 0).dtype is not DType.S32:
        raise FormUnsupported(f"{tensor.kind} from {ctx.tensor(node, 0).kind} positions", where=node.where)
    axis = read_axis(node, int(node.options_of("OneHotOptions").Axis()), len(shape))
    if shape[axis] != depth:
        raise ShapeMismatch(f"a depth of {depth} for a result of {list(shape)}", where=node.where)
    places = ctx.reshaped(node, ctx.value(node, 0), tuple(1 if a == axis else n for a, n in enumerate(shape)))
    row = np.arange(depth, dtype=np.int32).reshape(tuple(depth if a == axis else 1 for a in range(len(shape))))
    flags = ctx.apply(node, Compare("==", None, None), (places, ctx.constant_value(node, "places", row)))
    quant = ctx.quantized_result(node)[0] if tensor.scale.size else None
    ctx.write(node, Lut((off, on, *(off,) * 254), dtype, quant, node.op_type), (flags,))


def top_k(ctx: Context, node: TfliteNode) -> None:
    """TOPK_V2: the largest numbers of the last axis, and where they are."""
    count = ctx.whole_number(node, 1)
    for index, positions in enumerate((False, True)):
        ctx.write(node, TopK(count, positions), (ctx.value(node, 0),), index)


def update_slice(ctx: Context, node: TfliteNode) -> None:
    """DYNAMIC_UPDATE_SLICE, at a place that is moved to where the update fits."""
    shape, box = ctx.type(node, 0).shape, ctx.type(node, 1).shape
    if ctx.tensor(node, 2).data is None:
        ctx.write(node, Update(), [ctx.value(node, i) for i in range(3)])
        return
    asked = ctx.int_list(node, 2)
    if len(asked) != len(shape) or len(box) != len(shape) or any(u > n for u, n in zip(box, shape, strict=False)):
        raise ShapeMismatch(f"an update of {list(box)} at {list(asked)} of {list(shape)}", where=node.where)
    starts = tuple(min(max(s, 0), n - u) for s, n, u in zip(asked, shape, box, strict=True))
    axes = [a for a in reversed(range(len(shape))) if box[a] < shape[a]]
    parts: tuple[str, ...] = (ctx.value(node, 1),)
    made: Op = Reshape(shape)
    for axis in axes:
        if isinstance(made, Concat):
            parts = (ctx.apply(node, made, parts),)
        parts = _around(ctx, node, parts[0], axis, starts, box)
        made = Concat(axis, (None,) * len(parts), ctx.type(node, 0).dtype, ctx.type(node, 0).quant)
    ctx.write(node, made, parts)


def _around(
    ctx: Context, node: TfliteNode, middle: str, axis: int, starts: Sequence[int], box: Sequence[int]
) -> tuple[str, ...]:
    """The part of the tensor before the changed one along an axis, that one, and the part behind it."""
    shape = ctx.type(node, 0).shape
    stop = starts[axis] + box[axis]

    def part(first: int, length: int) -> tuple[str, ...]:
        if not length:
            return ()
        begin = (*starts[:axis], first, *(0,) * (len(shape) - axis - 1))
        op = Slice(begin, (*box[:axis], length, *shape[axis + 1 :]), (1,) * len(shape))
        return (ctx.apply(node, op, (ctx.value(node, 0),)),)

    return (*part(0, starts[axis]), middle, *part(stop, shape[axis] - stop))
