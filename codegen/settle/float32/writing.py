"""What a rule for real numbers writes."""

from __future__ import annotations

from collections.abc import Sequence

from codegen.ir.op import Op
from codegen.ir.real import RealNode
from codegen.settle.context import Context
from codegen.settle.states import Float, Route, Trail


def written(
    ctx: Context, node: RealNode, route: Route, inputs: Sequence[str], out: int = 0, trail: Trail = ()
) -> Float:
    """An output of a route's operators, which read the first input; the others are the main operator's.

    `trail` are the nodes that they stand for, where those are more than this one.
    """
    note = f"{node.op_type} -> {type(route.main).__name__}: {ctx.why}"
    return Float(ctx.run(inputs[0], route, node.outputs[out], trail or (node,), note, inputs[1:]), made=True)


def applied(ctx: Context, node: RealNode, op: Op, *inputs: str) -> Float:
    """The output of one operator."""
    return written(ctx, node, Route(op), inputs)
