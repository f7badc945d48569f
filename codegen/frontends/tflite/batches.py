"""SPACE_TO_BATCH_ND and BATCH_TO_SPACE_ND: blocks of pixels become images, and images blocks again.

Decides: which movements they are: a pad, two changes of shape around a transpose, and a cut.
"""

from __future__ import annotations

import math

import numpy as np

from codegen.errors import ShapeMismatch
from codegen.frontends.tflite.nodes import TfliteNode
from codegen.frontends.tflite.tensors import Tensors
from codegen.ir.quant import Array

Sizes = tuple[int, ...]


def space_steps(ctx: Tensors, node: TfliteNode) -> tuple[Sizes, Sizes, Sizes, Sizes]:
    """Of SPACE_TO_BATCH_ND: pads before and after, the shape with blocks apart, and the order of its axes."""
    shape = ctx.tensor(node, 0).shape
    block, pads = _blocks(ctx, node, len(shape))
    rest = len(shape) - 1 - len(block)
    before, after = ((0, *(int(p) for p in pads[:, side]), *(0,) * rest) for side in (0, 1))
    n, *sizes = (b + s + a for b, s, a in zip(before, shape, after, strict=True))
    if any(s % b for s, b in zip(sizes, block, strict=False)):
        raise ShapeMismatch(f"blocks of {list(block)} do not fill {sizes[: len(block)]}", where=node.where)
    parts = [k for s, b in zip(sizes, block, strict=False) for k in (s // b, b)]
    count, axes = len(block), range(1, 2 * len(block) + 1)
    order = (*axes[1::2], 0, *axes[::2], *range(2 * count + 1, 2 * count + 1 + rest))
    return before, after, (n, *parts, *sizes[count:]), order


def batch_steps(ctx: Tensors, node: TfliteNode) -> tuple[Sizes, Sizes, Sizes, Sizes, Sizes]:
    """Of BATCH_TO_SPACE_ND: the shape with blocks apart, the order of its axes, the map, and what is kept of it."""
    shape = ctx.tensor(node, 0).shape
    block, crops = _blocks(ctx, node, len(shape))
    count, rest, images = len(block), shape[1 + len(block) :], math.prod(block)
    if shape[0] % images:
        raise ShapeMismatch(f"{shape[0]} images in blocks of {list(block)}", where=node.where)
    n = shape[0] // images
    order = (count, *(a for i in range(count) for a in (count + 1 + i, i)), *range(2 * count + 1, len(shape) + count))
    whole = (n, *(s * b for s, b in zip(shape[1:], block, strict=False)), *rest)
    starts = (0, *(int(c) for c in crops[:, 0]), *(0,) * len(rest))
    ends = (0, *(int(c) for c in crops[:, 1]), *(0,) * len(rest))
    sizes = tuple(w - s - e for w, s, e in zip(whole, starts, ends, strict=True))
    return (*block, n, *shape[1:]), order, whole, starts, sizes


def _blocks(ctx: Tensors, node: TfliteNode, rank: int) -> tuple[Sizes, Array]:
    """The sizes of a block, and what is added or cut before and after each of its axes."""
    block, edges = ctx.int_list(node, 1), ctx.constant(node, 2)
    fits = 1 <= len(block) < rank and edges.shape == (len(block), 2) and edges.dtype.kind == "i"
    if not fits or min(block) < 1 or np.min(edges) < 0:
        found = f"blocks {list(block)} with borders of shape {list(edges.shape)} in {rank} axes"
        raise ShapeMismatch(found, where=node.where)
    return block, edges
