"""What the shapes of a model say: SHAPE, RANK and ZEROS_LIKE.

Decides: that every shape is known while the model is read, so that these are constants.
"""

from __future__ import annotations

import numpy as np

from codegen.errors import TypeUnsupported
from codegen.frontends.tflite.nodes import TfliteNode
from codegen.frontends.tflite.records import element_type
from codegen.frontends.tflite.tensors import Tensors


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
