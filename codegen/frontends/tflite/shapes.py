"""What the shapes of a model say: SHAPE, RANK, ZEROS_LIKE and FILL.

Decides: that every shape is known while the model is read, so that these are constants; a computed number that FILL
repeats is repeated when the network runs.
"""

from __future__ import annotations

import math

import numpy as np

from codegen.errors import ShapeMismatch, TypeUnsupported
from codegen.frontends.tflite.context import Context, element_type
from codegen.frontends.tflite.nodes import TfliteNode
from codegen.frontends.tflite.tensors import Tensors
from codegen.ir.quant import DType, TensorType
from codegen.ops import Broadcast
from codegen.settle.builder import check_size


def shape_of(ctx: Tensors, node: TfliteNode) -> None:
    """SHAPE."""
    ctx.know(node, np.array(ctx.tensor(node, 0).shape, _counting_type(ctx, node)))


def rank(ctx: Tensors, node: TfliteNode) -> None:
    """RANK."""
    ctx.know(node, np.array(len(ctx.tensor(node, 0).shape), _counting_type(ctx, node)))


def _counting_type(ctx: Tensors, node: TfliteNode) -> str:
    """The type of the result, which holds any size."""
    tensor = ctx.result(node)
    if tensor.kind not in ("int32", "int64"):
        raise TypeUnsupported(f"{tensor.where} has type {tensor.kind}; sizes are int32 or int64", where=node.where)
    return tensor.kind


def zeros_like(ctx: Tensors, node: TfliteNode) -> None:
    """ZEROS_LIKE: integers 0, whatever the zero point is."""
    ctx.know(node, np.zeros(ctx.tensor(node, 0).shape, element_type(ctx.result(node), node.where)))


def fill(ctx: Context, node: TfliteNode) -> None:
    """FILL."""
    shape, number = ctx.int_list(node, 0), ctx.tensor(node, 1)
    if any(n < 1 for n in shape) or math.prod(number.shape) != 1:
        raise ShapeMismatch(f"a tensor of shape {list(number.shape)} to fill {list(shape)}", where=node.where)
    check_size(TensorType(shape, DType.S32))
    if number.data is not None:
        ctx.know(node, np.full(shape, number.data.reshape(-1)[0], _filled_type(ctx, node, number.kind)))
    else:
        ctx.write(node, Broadcast(shape), (ctx.reshaped(node, ctx.value(node, 1), (1,) * len(shape)),))


def _filled_type(ctx: Context, node: TfliteNode, kind: str) -> str:
    """The type of the result, which is that of the number it is filled with."""
    found = element_type(ctx.result(node), node.where)
    if found != kind:
        raise ShapeMismatch(f"{found} numbers filled with one of type {kind}", where=node.where)
    return found
