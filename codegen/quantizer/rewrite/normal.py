"""LayerNormalization that an exporter spelled in several operators, made one.

Decides: that it is x less its mean, over the root of the mean of the squares of that and a constant, both means over
the last axes; a factor and an offset behind it that are constant along all other axes become its own.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from codegen.ir.quant import Array
from codegen.ir.real import RealGraph, RealNode, RealOp
from codegen.quantizer.rewrite.draft import Draft
from codegen.quantizer.rewrite.record import Record, Rewritten
from codegen.real.elementwise import Binary, Function
from codegen.real.normal import LayerNorm
from codegen.real.reduce import Reduce
from codegen.records import record


@record
class _Norm:
    """What is normalized, from which axis on, and what is added to the variance."""

    x: str
    axis: int
    epsilon: float


def join_norms(graph: RealGraph) -> Rewritten:
    """Each normalization over the last axes that is spelled in several operators as one."""
    draft, count = Draft(graph), 0
    for node in draft.nodes:
        norm = _norm_at(draft, node) if draft.has(node) else None
        if norm is not None:
            _write(draft, node, norm)
            count += 1
    return Rewritten(draft.done(), Record("join norms", count))


def _norm_at(draft: Draft, node: RealNode) -> _Norm | None:
    """The normalization whose quotient a node is."""
    if node.op != Binary("Div"):
        return None
    away = _made_by(draft, node.inputs[0], Binary("Sub"))
    root = _made_by(draft, node.inputs[1], Function("Sqrt"))
    moved = _made_by(draft, root.inputs[0], Binary("Add")) if root is not None else None
    if away is None or moved is None:
        return None
    variance, epsilon = _with_number(draft, moved)
    first, second = _mean(draft, away.inputs[1]), _mean(draft, variance)
    if epsilon is None or first is None or second is None or first.op != second.op:
        return None
    rank = len(draft.shape(away.inputs[0]))
    axis = rank - len(_axes(first.op))
    whole = sorted(_axes(first.op)) == list(range(axis, rank))
    if not whole or first.inputs[0] != away.inputs[0] or not _squares(draft, second.inputs[0], away.outputs[0]):
        return None
    return _Norm(away.inputs[0], axis, epsilon)


def _made_by(draft: Draft, name: str, op: RealOp) -> RealNode | None:
    """The node of that operator which makes a value."""
    maker = draft.maker(name)
    return maker if maker is not None and maker.op == op else None


def _with_number(draft: Draft, node: RealNode) -> tuple[str, float | None]:
    """The input of a node that is computed, and the one number that is not."""
    for name, other in (node.inputs, node.inputs[::-1]):
        constant = draft.constant(other)
        if constant is not None and constant.size == 1:
            return name, float(constant.reshape(())[()])
    return node.inputs[0], None


def _mean(draft: Draft, name: str) -> RealNode | None:
    """The node that makes a value as a mean whose axes stay."""
    maker = draft.maker(name)
    known = maker is not None and isinstance(maker.op, Reduce) and maker.op.kind == "Mean" and maker.op.keep
    return maker if known else None


def _axes(op: RealOp) -> tuple[int, ...]:
    return op.axes if isinstance(op, Reduce) else ()


def _squares(draft: Draft, name: str, of: str) -> bool:
    """Whether a value is another one times itself, in either spelling."""
    maker = draft.maker(name)
    if maker is None:
        return False
    if maker.op == Binary("Mul"):
        return maker.inputs == (of, of)
    exponent = draft.constant(maker.inputs[1]) if maker.op == Binary("Pow") and maker.inputs[0] == of else None
    return exponent is not None and exponent.size == 1 and float(exponent.reshape(())) == 2.0


def _write(draft: Draft, node: RealNode, norm: _Norm) -> None:
    """The normalization in the place of its quotient, with the factor and the offset behind it."""
    shape = draft.shape(norm.x)[norm.axis :]
    scale, node = _behind(draft, node, "Mul", np.ones(1), shape)
    offset, node = _behind(draft, node, "Add", np.zeros(1), shape)
    parts = (draft.own(f"{node.outputs[0]}:{word}", part) for word, part in (("scale", scale), ("offset", offset)))
    unread = node.inputs
    draft.put(replace(node, op=LayerNorm(norm.axis, norm.epsilon), inputs=(norm.x, *parts)))
    draft.drop_unread(unread)


def _behind(draft: Draft, node: RealNode, kind: str, none: Array, shape: tuple[int, ...]) -> tuple[Array, RealNode]:
    """The constant that the only reader adds or multiplies by, and the node that now writes its result."""
    reader = draft.only_reader(node.outputs[0])
    if reader is None or reader.op != Binary(kind):
        return none, node

    constant = next(draft.constant(i) for i in reader.inputs if i != node.outputs[0])
    if constant is None or np.broadcast_shapes(constant.shape, shape) != shape:
        return none, node
    draft.take_over(node, reader)
    return constant, draft.node(node.label)
