"""Products that take in what stands behind them: constant factors and offsets of their outputs.

Decides: that a BatchNormalization, a factor or an offset behind a product which nothing else reads becomes part of its
weights and biases, computed in float64 and rounded once, with movement in between that keeps the outputs together.  The
product so made is the network's definition.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import replace

import numpy as np

from codegen.ir.op import Op
from codegen.ir.quant import Array
from codegen.ir.real import RealNode
from codegen.ops import Reshape, Slice, Transpose
from codegen.settle.context import Context
from codegen.settle.float32.writing import written
from codegen.settle.states import Float, Product, Route, State, Trail


def product(ctx: Context, made: Product) -> Float:
    """The result of a product, which is remembered."""
    found = made.write(made.weights, made.bias, made.trail, made.moved)
    ctx.products[found.value] = made
    return found


def follow(ctx: Context, node: RealNode, moved: State, op: Op) -> None:
    """Remember a product's result that is moved, so that what stands behind the movement goes into the product too."""
    before = ctx.states[node.inputs[0]]
    made = ctx.products.get(before.value) if isinstance(before, Float) else None
    if made is None or not isinstance(moved, Float) or ctx.reads[node.inputs[0]] != 1:
        return
    axis = _moved_axis(made, ctx.shape(before), op)
    if axis is not None:
        ctx.products[moved.value] = replace(made, axis=axis, trail=(*made.trail, node), moved=(*made.moved, op))


def _moved_axis(made: Product, shape: tuple[int, ...], op: Op) -> int | None:
    """Where the axis of outputs is behind a movement of a result of this shape; None where it is no axis any more."""
    axis = made.axis % len(shape)
    if isinstance(op, Transpose):
        return op.perm.index(axis)
    if isinstance(op, Slice):
        return axis if (op.sizes[axis], op.steps[axis]) == (shape[axis], 1) else None
    if not isinstance(op, Reshape):
        return None
    places = [i for i, n in enumerate(op.shape) if n == shape[axis]]
    return next((i for i in places if math.prod(op.shape[:i]) == math.prod(shape[:axis])), None)


def writer(ctx: Context, x: str, route: Route) -> Callable[[Array, Array, Trail, Sequence[Op]], Float]:
    """What makes the product of a value by a route's operators."""

    def write(weights: Array, bias: Array, trail: Trail, moved: Sequence[Op]) -> Float:
        node = trail[-1]
        name = node.outputs[0]
        arrays = (("weights", weights), ("bias", bias))
        constants = [ctx.builder.const(f"{name}:{what}", np.ascontiguousarray(a, np.float32)) for what, a in arrays]
        return written(ctx, node, replace(route, post=(*route.post, *moved)), [x, *constants], trail=trail)

    return write


def scaled(ctx: Context, node: RealNode, index: int, factor: Array, offset: Array) -> Float | None:
    """An input times a factor plus an offset, both in float64, if that can be a product alone.

    The constants broadcast against the tensor as numpy's do; None where they differ along another axis than outputs.
    """
    state = ctx.states[node.inputs[index]]
    made = ctx.products.get(state.value) if isinstance(state, Float) else None
    if made is None or ctx.reads[node.inputs[index]] != 1:
        return None
    shape = ctx.shape(state)
    vectors = [_along(array, shape, made.axis % len(shape), len(made.weights)) for array in (factor, offset)]
    if vectors[0] is None or vectors[1] is None:
        return None
    lead = vectors[0].reshape(-1, *(1,) * (made.weights.ndim - 1))
    with np.errstate(all="ignore"):
        weights = (made.weights.astype(np.float64) * lead).astype(np.float32)
        bias = (made.bias.astype(np.float64) * vectors[0] + vectors[1]).astype(np.float32)
    if not (np.isfinite(weights).all() and np.isfinite(bias).all()):
        return None
    return product(ctx, replace(made, weights=weights, bias=bias, trail=(*made.trail, node)))


def _along(array: Array, shape: tuple[int, ...], axis: int, outputs: int) -> Array | None:
    """One number per output; None where the constant differs otherwise, or the result would have another shape."""
    if array.ndim > len(shape):
        return None
    full = (*(1,) * (len(shape) - array.ndim), *array.shape)
    if any(n != 1 for i, n in enumerate(full) if i != axis) or full[axis] not in (1, outputs):
        return None
    return np.broadcast_to(array.reshape(-1).astype(np.float64), (outputs,))
