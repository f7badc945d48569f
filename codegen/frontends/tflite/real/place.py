"""Operators that find, take, make or change some places of a tensor: TOPK_V2, GATHER, ONE_HOT, SCATTER_ND and kin."""

from __future__ import annotations

import numpy as np

from codegen.errors import FormUnsupported, ShapeMismatch
from codegen.frontends.tflite.axes import read_axis
from codegen.frontends.tflite.nodes import TfliteNode
from codegen.frontends.tflite.real.context import RealContext, Table, Versions
from codegen.frontends.tflite.records import stored_of
from codegen.ir.shape import Shape
from codegen.real.along import TopK
from codegen.real.elementwise import Binary, Where
from codegen.real.movement import Gather, Transpose
from codegen.real.scatter import GatherND, ScatterND
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
    x, box, place = (ctx.type(node, i).dtype for i in range(3))
    if place.name not in ("int32", "int64"):
        raise FormUnsupported(f"a place of type {place}", where=node.where)
    if x != box:
        raise FormUnsupported(f"{box} in {x}", where=node.where)
    ctx.write(node, UpdateSlice(), [ctx.value(node, i) for i in range(3)])


def gather(ctx: RealContext, node: TfliteNode) -> None:
    """GATHER along an axis, for each entry of the first axes at positions of its own."""
    options, shape, places = node.options_of("GatherOptions"), ctx.shape(node, 0), ctx.shape(node, 1)
    axis, batch, at = read_axis(node, int(options.Axis()), len(shape)), int(options.BatchDims()), ctx.value(node, 1)
    batch += len(places) if batch < 0 else 0
    if not 0 <= batch <= min(axis, len(places)) or shape[:batch] != places[:batch]:
        raise ShapeMismatch(f"positions {list(places)} in {list(shape)}, {batch} axes in common", where=node.where)
    _check_places(ctx, node, 1, shape[axis : axis + 1])
    if not batch:
        ctx.write(node, Gather(axis, nearest=True), [ctx.value(node, 0), at])
        return
    # the axis comes behind the common ones, and what stood between them behind the positions
    between, rest = range(batch, axis), range(axis + 1, len(shape))
    x = ctx.apply(node, Transpose((*range(batch), axis, *between, *rest)), [ctx.value(node, 0)])
    at = ctx.reshaped(node, at, (*places, 1), "places")
    own, count = range(batch, len(places)), len(places) + len(between) + len(rest)
    moved = range(len(places), len(places) + len(between))
    post = Transpose((*range(batch), *moved, *own, *range(len(places) + len(between), count)))
    ctx.write(node, GatherND(batch, nearest=True), [x, at], post=[post])


def gather_nd(ctx: RealContext, node: TfliteNode) -> None:
    """GATHER_ND."""
    shape, places = ctx.shape(node, 0), ctx.shape(node, 1)
    if not places or places[-1] > len(shape):
        raise ShapeMismatch(f"positions of shape {list(places)} in a tensor of shape {list(shape)}", where=node.where)
    _check_places(ctx, node, 1, shape[: places[-1]])
    ctx.write(node, GatherND(nearest=True), [ctx.value(node, 0), ctx.value(node, 1)])


def scatter_nd(ctx: RealContext, node: TfliteNode) -> None:
    """SCATTER_ND: zeros, and at each position the sum of what is put there."""
    ctx.not_quantized(node, 1)
    shape, places, kind = ctx.int_list(node, 2), ctx.shape(node, 0), ctx.type(node, 1)
    if not places or places[-1] > len(shape):
        raise ShapeMismatch(f"positions of shape {list(places)} in a tensor of shape {list(shape)}", where=node.where)
    if kind.dtype.itemsize > 4:
        raise FormUnsupported(f"{node.op_type} of {kind.dtype}", where=node.where)
    if shape != ctx.result(node).shape:
        told = f"a result of shape {list(shape)}, in the file {list(ctx.result(node).shape)}"
        raise ShapeMismatch(told, where=node.where)
    _check_places(ctx, node, 0, shape[: places[-1]])
    zeros = ctx.constant_value(node, "zeros", np.zeros(shape, kind.dtype))
    ctx.write(node, ScatterND("add", nearest=True), [zeros, ctx.value(node, 0), ctx.value(node, 1)])


def embedding_lookup(ctx: RealContext, node: TfliteNode) -> None:
    """EMBEDDING_LOOKUP: rows of a table."""
    _check_places(ctx, node, 0, ctx.shape(node, 1)[:1])
    ctx.write(node, Gather(0, nearest=True), [ctx.value(node, 1), ctx.value(node, 0)])


def _check_places(ctx: RealContext, node: TfliteNode, index: int, sizes: Shape) -> None:
    """Positions are whole numbers and, where they are known, inside; LAM-IMPORT-022, -014."""
    kind, known = ctx.type(node, index), ctx.tensor(node, index).data
    if kind.dtype.name not in ("int16", "int32", "int64"):
        raise FormUnsupported(f"positions of type {kind.dtype}", where=node.where)
    if not sizes or (known is not None and bool(((known < 0) | (known >= np.array(sizes))).any())):
        raise ShapeMismatch(f"positions outside {list(sizes)}", where=node.where)


TRANSLATORS: Table = {
    "DYNAMIC_UPDATE_SLICE": update_slice,
    "EMBEDDING_LOOKUP": embedding_lookup,
    "GATHER": gather,
    "GATHER_ND": gather_nd,
    "ONE_HOT": one_hot,
    "SCATTER_ND": scatter_nd,
    "TOPK_V2": top_k,
}
NEWEST: Versions = {"DYNAMIC_UPDATE_SLICE": 6, "EMBEDDING_LOOKUP": 4, "GATHER": 7, "GATHER_ND": 5, "TOPK_V2": 3}
