"""The table of rules for TFLite's integers: which function settles which operator of RealGraph.  One line per operator.

Decides nothing else; an operator that is not here has no form in integers.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from codegen.ir.real import RealNode
from codegen.real import along, cumulative, memory, normal, product, reduce, scatter, update, window
from codegen.real import elementwise as real_elementwise
from codegen.real import movement as real_movement
from codegen.real import resize as real_resize
from codegen.real import storage as real_storage
from codegen.settle.arg_extremum import arg_extremum
from codegen.settle.float32.rules import FLOAT_RULES
from codegen.settle.rule import Rule, Rules
from codegen.settle.states import State
from codegen.settle.tflite import elementwise, linear, logic, matmul, movement, pool, recurrent, resize, storage, unary
from codegen.settle.tflite.context import TfliteContext, held
from codegen.settle.tflite.storage import as_recorded

_RULES: tuple[Rule[Any], ...] = (
    Rule(along.TopK, movement.top_k),
    Rule(cumulative.CumulativeSum, pool.cumulative_sum),
    Rule(memory.SequenceLstm, recurrent.lstm),
    Rule(memory.Svdf, recurrent.svdf),
    Rule(normal.LpNorm, elementwise.unit_length),
    Rule(product.Dense, linear.dense),
    Rule(product.MatMul, matmul.matmul),
    Rule(real_elementwise.AddN, elementwise.add_n),
    Rule(real_elementwise.Binary, elementwise.binary),
    Rule(real_elementwise.Cast, storage.cast),
    Rule(real_elementwise.Clip, unary.clip),
    Rule(real_elementwise.Function, unary.function),
    Rule(real_elementwise.Not, logic.invert),
    Rule(real_elementwise.PRelu, elementwise.prelu),
    Rule(real_elementwise.Where, logic.where),
    Rule(real_movement.Concat, movement.concat),
    Rule(real_movement.DepthToSpace, movement.depth_to_space),
    Rule(real_movement.Expand, movement.expand),
    Rule(real_movement.Gather, movement.gather),
    Rule(real_movement.Pad, movement.pad),
    Rule(real_movement.Pick, resize.pick),
    Rule(real_movement.Reshape, movement.reshape),
    Rule(real_movement.Slice, movement.slice_of),
    Rule(real_movement.SpaceToDepth, movement.space_to_depth),
    Rule(real_movement.Tile, movement.tile),
    Rule(real_movement.Transpose, movement.transpose),
    Rule(real_resize.Resize, resize.resize),
    Rule(real_storage.Dequantize, storage.dequantize),
    Rule(real_storage.Quantize, storage.quantize),
    Rule(real_storage.Restore, storage.restore),
    Rule(reduce.ArgExtremum, arg_extremum),
    Rule(reduce.Reduce, pool.reduction),
    Rule(reduce.Softmax, elementwise.softmax),
    Rule(scatter.GatherND, movement.gather_nd),
    Rule(update.UpdateSlice, movement.update_slice),
    Rule(window.AveragePool, pool.average_pool),
    Rule(window.Conv, linear.conv),
    Rule(window.ConvTranspose, linear.conv_transpose),
    Rule(window.MaxPool, pool.max_pool),
)
RULES: Rules = {rule.kind: rule for rule in _RULES}


def as_float(ctx: TfliteContext, node: RealNode) -> Sequence[State]:
    """The states of the outputs of a node on real numbers, held as their records say."""
    rule, count = FLOAT_RULES.get(type(node.op)) or RULES[type(node.op)], len(ctx.builder.nodes)
    found = rule.settle(ctx, node, node.op)
    states = [held(ctx, node, n, as_recorded(ctx, node, n, s)) for n, s in zip(node.outputs, found, strict=True)]
    ctx.builder.fold_since(count)
    return states


def settled(ctx: TfliteContext, node: RealNode, joined: Rules) -> Sequence[State]:
    """The states of a node's outputs, written where their records say how they are held; of constants, computed."""
    rule, count = joined.get(type(node.op)) or RULES.get(type(node.op)), len(ctx.builder.nodes)
    if rule is None:
        raise ctx.unknown(node)
    found = rule.settle(ctx, node, node.op)
    states = [held(ctx, node, name, state) for name, state in zip(node.outputs, found, strict=True)]
    ctx.builder.fold_since(count)
    return states
