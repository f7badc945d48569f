"""The table of rules: which function settles which operator of RealGraph.  One line per operator.

Decides nothing else; an operator that is not here has no form in integers.  Each line names the operators of ONNX, and
of Microsoft's domain, that it serves; what is made of several takes its place at the one that computes.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from codegen.ir.real import RealNode
from codegen.ops.functions import FUNCTIONS
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
    hardmax,
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
from codegen.settle.rule import Rule, Rules, float_rule
from codegen.settle.states import State

_RULES: tuple[Rule[Any], ...] = (
    Rule(along.Hardmax, hardmax.hardmax, ("Hardmax",)),
    Rule(along.Triangle, triangle.triangle, ("Trilu",)),
    Rule(normal.BatchNorm, affine.batch_norm, ("BatchNormalization",)),
    Rule(normal.InstanceNorm, settle_normal.instance_norm, ("GroupNormalization", "InstanceNormalization")),
    Rule(normal.LayerNorm, settle_normal.layer_norm, ("LayerNormalization",)),
    Rule(product.Gemm, matmul.gemm, ("Gemm", "QGemm")),
    Rule(product.MatMul, matmul.matmul, ("MatMul", "QLinearMatMul")),
    Rule(
        real_elementwise.Binary,
        elementwise.elementwise,
        ("Add", "Div", "Max", "Min", "Mul", "Pow", "QLinearAdd", "QLinearMul", "Sub", "Sum"),
    ),
    Rule(real_elementwise.Cast, storage.cast, ("Cast",)),
    Rule(real_elementwise.Clip, function.clip, ("Clip",)),
    Rule(real_elementwise.Function, function.function, (*FUNCTIONS, "QLinearLeakyRelu", "QLinearSigmoid")),
    Rule(real_elementwise.PRelu, prelu.prelu, ("PRelu",)),
    Rule(real_integer.ConvInteger, integer.conv_integer, ("ConvInteger",)),
    Rule(real_integer.MatMulInteger, integer.matmul_integer, ("MatMulInteger",)),
    Rule(real_movement.Concat, join.concat, ("Concat", "QLinearConcat")),
    Rule(real_movement.DepthToSpace, movement.depth_to_space, ("DepthToSpace",)),
    Rule(real_movement.Expand, movement.expand, ("Expand",)),
    Rule(real_movement.Gather, movement.gather, ("Gather",)),
    Rule(real_movement.Pad, pad.pad, ("Pad",)),
    Rule(real_movement.Reshape, movement.reshape, ("Flatten", "Reshape", "Squeeze", "Unsqueeze")),
    Rule(real_movement.Slice, movement.slice_of, ("Slice", "Split")),
    Rule(real_movement.SpaceToDepth, movement.space_to_depth, ("SpaceToDepth",)),
    Rule(real_movement.Transpose, movement.transpose, ("Transpose",)),
    Rule(real_storage.Dequantize, storage.dequantize, ("DequantizeLinear",)),
    Rule(real_storage.Quantize, storage.quantize, ("QuantizeLinear",)),
    Rule(real_resize.Resize, resize.resize, ("Resize", "Upsample")),
    Rule(reduce.ArgExtremum, arg_extremum.arg_extremum, ("ArgMax", "ArgMin")),
    Rule(reduce.Reduce, pool.reduce, ("ReduceMax", "ReduceMean", "ReduceSum")),
    Rule(reduce.Softmax, join.softmax, ("LogSoftmax", "QLinearSoftmax", "Softmax")),
    Rule(
        window.AveragePool,
        pool.average_pool,
        ("AveragePool", "GlobalAveragePool", "QLinearAveragePool", "QLinearGlobalAveragePool"),
    ),
    Rule(window.Conv, conv.conv, ("Conv", "QLinearConv")),
    Rule(window.ConvTranspose, conv_transpose.conv_transpose, ("ConvTranspose",)),
    Rule(window.MaxPool, pool.max_pool, ("GlobalMaxPool", "MaxPool")),
)
RULES: Rules = {rule.kind: rule for rule in _RULES}


def as_float(ctx: Context, node: RealNode, joined: Rules) -> Sequence[State]:
    """The states of the outputs of a node on real numbers."""
    return float_rule(joined, FLOAT_RULES, RULES, node)(ctx, node, node.op)


def settled(ctx: Context, node: RealNode, joined: Rules) -> Sequence[State]:
    """The states of a node's outputs; `joined` rules go before the house's own."""
    rule = joined.get(type(node.op)) or RULES.get(type(node.op))
    if rule is None or node.part:
        raise ctx.unknown(node)
    return rule.settle(ctx, node, node.op)
