"""The table of rules for TFLite's integers: which function settles which operator of RealGraph, family by family.

Decides nothing else; an operator that is not here has no form in integers.  Each line, in the file of its function,
names the operators of TFLite that it serves; functions that serve ONNX too have theirs in `TFLITE_RULES`.
"""

from __future__ import annotations

from collections.abc import Sequence

from codegen.ir.real import RealNode
from codegen.settle import extrema
from codegen.settle.float32 import detections, poses
from codegen.settle.float32.rules import FLOAT_RULES
from codegen.settle.rule import Rules, float_rule, rules_of
from codegen.settle.states import State
from codegen.settle.tflite import (
    elementwise,
    linear,
    logic,
    matmul,
    movement,
    pool,
    recurrent,
    resize,
    signal,
    storage,
    unary,
)
from codegen.settle.tflite.context import TfliteContext, held
from codegen.settle.tflite.storage import as_recorded

RULES: Rules = rules_of(
    detections.TFLITE_RULES,
    extrema.TFLITE_RULES,
    poses.TFLITE_RULES,
    elementwise.RULES,
    linear.RULES,
    logic.RULES,
    matmul.RULES,
    movement.RULES,
    pool.RULES,
    recurrent.RULES,
    resize.RULES,
    signal.RULES,
    storage.RULES,
    unary.RULES,
)


def as_float(ctx: TfliteContext, node: RealNode, joined: Rules) -> Sequence[State]:
    """The states of the outputs of a node on real numbers, held as their records say."""
    rule, count = float_rule(joined, FLOAT_RULES, RULES, node), len(ctx.builder.nodes)
    found = rule(ctx, node, node.op)
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
