"""Operators that move numbers and compute nothing: RESHAPE, SQUEEZE, EXPAND_DIMS, TRANSPOSE, PAD and their kin."""

from __future__ import annotations

from codegen.errors import ShapeMismatch
from codegen.frontends.tflite.context import Context
from codegen.frontends.tflite.nodes import TfliteNode
from codegen.ops import Pad, Reshape, Transpose


def reshape(ctx: Context, node: TfliteNode) -> None:
    """RESHAPE, SQUEEZE and EXPAND_DIMS: the output's shape stands in the file."""
    ctx.write(node, Reshape(ctx.result(node).shape), (ctx.value(node, 0),))


def transpose(ctx: Context, node: TfliteNode) -> None:
    """TRANSPOSE."""
    perm, rank = ctx.int_list(node, 1), len(ctx.type(node, 0).shape)
    if any(not -rank <= p < rank for p in perm) or sorted(p % rank for p in perm) != list(range(rank)):
        raise ShapeMismatch(f"axes {list(perm)} of a tensor of {rank} axes", where=node.where)
    ctx.write(node, Transpose(tuple(p % rank for p in perm)), (ctx.value(node, 0),))


def pad(ctx: Context, node: TfliteNode) -> None:
    """PAD with the zero point, PADV2 with a number of the output's own scale."""
    before, after = pads(ctx, node)
    if node.op_type == "PADV2":
        value = ctx.constant(node, 2)
        if value.size != 1:
            raise ShapeMismatch(f"a padding value of shape {list(value.shape)}", where=node.where)
        fill = int(value.reshape(-1)[0])
    else:
        fill = ctx.quantized_result(node)[0].zero_point
    ctx.write(node, Pad(before, after, "constant", fill), (ctx.value(node, 0),))


def pads(ctx: Context, node: TfliteNode) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """Elements before and after each axis."""
    table, rank = ctx.constant(node, 1), len(ctx.type(node, 0).shape)
    if table.dtype.kind != "i" or table.shape != (rank, 2) or table.min() < 0:
        raise ShapeMismatch(f"pads of shape {list(table.shape)} for {rank} axes", where=node.where)
    return tuple(int(p) for p in table[:, 0]), tuple(int(p) for p in table[:, 1])
