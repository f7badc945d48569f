"""The table of rules: which function settles which operator of RealGraph.  One line per operator.

Decides nothing else; an operator that is not here has no form in integers.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from codegen.ir.real import RealNode
from codegen.real import along, normal, product, reduce, window
from codegen.real import elementwise as real_elementwise
from codegen.real import integer as real_integer
from codegen.real import movement as real_movement
from codegen.real import resize as real_resize
from codegen.real import storage as real_storage
from codegen.settle import (
    affine,
    arg_extremum,
    conv,
    conv_transpose,
    elementwise,
    function,
    integer,
    join,
    matmul,
    movement,
    pad,
    pool,
    prelu,
    resize,
    storage,
    triangle,
)
from codegen.settle import normal as settle_normal
from codegen.settle.context import Context
from codegen.settle.float32.rules import FLOAT_RULES
from codegen.settle.rule import Rule, Rules
from codegen.settle.states import State

_RULES: tuple[Rule[Any], ...] = (
    Rule(along.Triangle, triangle.triangle),
    Rule(normal.BatchNorm, affine.batch_norm),
    Rule(normal.InstanceNorm, settle_normal.instance_norm),
    Rule(normal.LayerNorm, settle_normal.layer_norm),
    Rule(product.Gemm, matmul.gemm),
    Rule(product.MatMul, matmul.matmul),
    Rule(real_elementwise.Binary, elementwise.elementwise),
    Rule(real_elementwise.Cast, storage.cast),
    Rule(real_elementwise.Clip, function.clip),
    Rule(real_elementwise.Function, function.function),
    Rule(real_elementwise.PRelu, prelu.prelu),
    Rule(real_integer.ConvInteger, integer.conv_integer),
    Rule(real_integer.MatMulInteger, integer.matmul_integer),
    Rule(real_movement.Concat, join.concat),
    Rule(real_movement.DepthToSpace, movement.depth_to_space),
    Rule(real_movement.Expand, movement.expand),
    Rule(real_movement.Gather, movement.gather),
    Rule(real_movement.Pad, pad.pad),
    Rule(real_movement.Reshape, movement.reshape),
    Rule(real_movement.Slice, movement.slice_of),
    Rule(real_movement.SpaceToDepth, movement.space_to_depth),
    Rule(real_movement.Transpose, movement.transpose),
    Rule(real_storage.Dequantize, storage.dequantize),
    Rule(real_storage.Quantize, storage.quantize),
    Rule(real_resize.Resize, resize.resize),
    Rule(reduce.ArgExtremum, arg_extremum.arg_extremum),
    Rule(reduce.Reduce, pool.reduce),
    Rule(reduce.Softmax, join.softmax),
    Rule(window.AveragePool, pool.average_pool),
    Rule(window.Conv, conv.conv),
    Rule(window.ConvTranspose, conv_transpose.conv_transpose),
    Rule(window.MaxPool, pool.max_pool),
)
RULES: Rules = {rule.kind: rule for rule in _RULES}


def as_float(ctx: Context, node: RealNode) -> Sequence[State]:
    """The states of the outputs of a node on real numbers."""
    rule = FLOAT_RULES.get(type(node.op)) or RULES[type(node.op)]
    return rule.settle(ctx, node, node.op)


def settled(ctx: Context, node: RealNode, joined: Rules) -> Sequence[State]:
    """The states of a node's outputs; `joined` rules go before the house's own."""
    rule = joined.get(type(node.op)) or RULES.get(type(node.op))
    if rule is None or node.part:
        raise ctx.unknown(node)
    return rule.settle(ctx, node, node.op)
