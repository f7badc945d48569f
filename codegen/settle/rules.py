"""The table of rules: which function settles which operator of RealGraph, family by family.

Decides nothing else; an operator that is not here has no form in integers.  Each line, in the file of its function,
names the operators of ONNX, and of Microsoft's domain, that it serves; what is made of several takes its place at the
one that computes.
"""

from __future__ import annotations

from collections.abc import Sequence

from codegen.ir.real import RealNode
from codegen.settle import (
    affine,
    conv,
    conv_transpose,
    elementwise,
    extrema,
    function,
    integer,
    join,
    local_response,
    logic,
    matmul,
    movement,
    normal,
    pad,
    picking,
    pool,
    prelu,
    recurrent,
    resize,
    sampling,
    storage,
    sums,
    triangle,
)
from codegen.settle.context import Context
from codegen.settle.float32.rules import FLOAT_RULES
from codegen.settle.rule import Rules, float_rule, rules_of
from codegen.settle.states import State

RULES: Rules = rules_of(
    affine.RULES,
    conv.RULES,
    conv_transpose.RULES,
    elementwise.RULES,
    extrema.RULES,
    function.RULES,
    integer.RULES,
    join.RULES,
    local_response.RULES,
    logic.RULES,
    matmul.RULES,
    movement.RULES,
    normal.RULES,
    pad.RULES,
    picking.RULES,
    pool.RULES,
    prelu.RULES,
    recurrent.RULES,
    resize.RULES,
    sampling.RULES,
    storage.RULES,
    sums.RULES,
    triangle.RULES,
)


def as_float(ctx: Context, node: RealNode, joined: Rules) -> Sequence[State]:
    """The states of the outputs of a node on real numbers."""
    return float_rule(joined, FLOAT_RULES, RULES, node)(ctx, node, node.op)


def settled(ctx: Context, node: RealNode, joined: Rules) -> Sequence[State]:
    """The states of a node's outputs; `joined` rules go before the house's own."""
    rule = joined.get(type(node.op)) or RULES.get(type(node.op))
    if rule is None or node.part:
        raise ctx.unknown(node)
    return rule.settle(ctx, node, node.op)
