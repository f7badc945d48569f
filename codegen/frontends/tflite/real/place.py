"""Operators that find, make or change some places of a tensor: TOPK_V2, ONE_HOT, DYNAMIC_UPDATE_SLICE."""

from __future__ import annotations

import numpy as np

from codegen.errors import FormUnsupported
from codegen.frontends.tflite.axes import read_axis
from codegen.frontends.tflite.nodes import TfliteNode
from codegen.frontends.tflite.real.context import RealContext, Table, Versions
from codegen.frontends.tflite.records import stored_of
from codegen.real.along import TopK
from codegen.real.elementwise import Binary, Where
from codegen.real.update import UpdateSlice


def top_k(ctx: RealContext, node: TfliteNode) -> None:
    """TOPK_V2: the largest numbers of the last axis, and where they are."""
    rank, count, result = len(ctx.shape(node, 0)), ctx.whole_number(node, 1), ctx.result(node)
    names, stored = [result.name, ctx.result(node, 1).name], stored_of(result, node.where)
    op = TopK(count, rank - 1, dtype=ctx.whole_result(node, 1))
    found = ctx.written(node, op, [ctx.value(node, 0)], names, result.name, stored)
    for index, value in enumerate(found):
        ctx.bind(node, value, index)


def one_hot(ctx: RealContext, node: TfliteNode) -> None:
    """ONE_HOT: one number where a position is its own, the other elsewhere."""
    depth, rank = ctx.whole_number(node, 1), len(ctx.shape(node, 0)) + 1
    kind = ctx.type(node, 0).dtype
    if kind.name not in ("int32", "int64") or depth < 1:
        raise FormUnsupported(f"positions of type {kind} among {depth}", where=node.where)
    axis, shape = read_axis(node, int(node.options_of("OneHotOptions").Axis()), rank), ctx.shape(node, 0)
    places = ctx.reshaped(node, ctx.value(node, 0), (*shape[:axis], 1, *shape[axis:]), "places")
    row = np.arange(min(depth, 1 << 20), dtype=kind).reshape(tuple(-1 if a == axis else 1 for a in range(rank)))
    flags = ctx.apply(node, Binary("Equal"), [places, ctx.constant_value(node, "row", row)])
    ctx.write(node, Where(), [flags, ctx.value(node, 2), ctx.value(node, 3)])


def update_slice(ctx: RealContext, node: TfliteNode) -> None:
    """DYNAMIC_UPDATE_SLICE, at a place that may be computed."""
    if ctx.type(node, 2).dtype.kind != "i" or ctx.type(node, 0).dtype != ctx.type(node, 1).dtype:
        raise FormUnsupported(f"{ctx.type(node, 1).dtype} in {ctx.type(node, 0).dtype}", where=node.where)
    ctx.write(node, UpdateSlice(), [ctx.value(node, i) for i in range(3)])


TRANSLATORS: Table = {
    "DYNAMIC_UPDATE_SLICE": update_slice,
    "ONE_HOT": one_hot,
    "TOPK_V2": top_k,
}
NEWEST: Versions = {"DYNAMIC_UPDATE_SLICE": 6, "TOPK_V2": 3}
