"""Functions that an exporter spelled in several operators, made one.

Decides: that nodes between a tensor and another are a function of the table when both give the same numbers on a
dense grid, however they are spelled: x * sigmoid(x), max(x, 0.1 * x), 0.5 * x * (1 + erf(x / sqrt 2)).  A division by a
tensor becomes a product with its reciprocal, which integers have a table for.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace

import numpy as np

from codegen.ir.quant import Array
from codegen.ir.real import RealGraph, RealNode, RealOp
from codegen.ops.functions import FUNCTIONS
from codegen.quantizer.rewrite.draft import Draft
from codegen.quantizer.rewrite.record import Record, Rewritten
from codegen.real.elementwise import ARITHMETIC, Binary, Clip, Function, PRelu

_DEEPEST = 16
"""Nodes of one function at most."""
_SAME = 1e-6
_FINE = np.concatenate([np.linspace(-12, 12, 2401), np.geomspace(12, 1e3, 60), -np.geomspace(12, 1e3, 60)])
_FAR = float(_FINE.max())
_PLAIN = ("Abs", "Gelu", "GeluTanh", "HardSwish", "Mish", "Relu", "Sigmoid", "Softplus", "Softsign", "Swish", "Tanh")
_KINDS = ("Add", "Div", "Max", "Min", "Mul", "Pow", "Sub")


def respell(graph: RealGraph) -> Rewritten:
    """Each function that is spelled in several operators as one, the longest first."""
    draft, count = Draft(graph), 0
    for node in reversed(draft.nodes):
        if draft.has(node) and _is_elementwise(draft, draft.node(node.label)):
            count += _respelled(draft, draft.node(node.label))
    count += sum(_multiplied(draft, node) for node in draft.nodes)
    return Rewritten(draft.done(), Record("respell", count))


def _respelled(draft: Draft, node: RealNode) -> bool:
    """Whether the node ends a function that has another spelling."""
    best: tuple[str, RealOp] | None = None
    for root, between in _cones(draft, node):
        numbers = _evaluated(draft, root, between, _FINE)
        op = None if numbers is None else known_function(_FINE, numbers)
        best = (root, op) if op is not None else best
    if best is None:
        return False
    root, op = best
    draft.put(replace(node, op=op, inputs=(root,)))
    draft.drop_unread(node.inputs)
    return True


def _cones(draft: Draft, node: RealNode) -> Iterator[tuple[str, tuple[RealNode, ...]]]:
    """Tensors of which the node's result is a function, and the nodes of it in order; nearest first."""
    order = {n.label: i for i, n in enumerate(draft.nodes)}
    inside: dict[str, RealNode] = {}
    front = {node.outputs[0]}
    while len(inside) < _DEEPEST:
        makers = {n: draft.maker(n) for n in front}
        last = max(front, key=lambda n: order[m.label] if (m := makers[n]) is not None else -1)
        maker = makers[last]
        if maker is None or not _is_elementwise(draft, maker) or (inside and draft.values[last].stored is not None):
            return
        inside[maker.label] = maker
        front = (front - {last}) | {i for i in maker.inputs if draft.values[i].data is None}
        if len(front) == 1 and len(inside) > 1:
            yield next(iter(front)), tuple(reversed(inside.values()))
        if not front:
            return


def _is_elementwise(draft: Draft, node: RealNode) -> bool:
    """Whether each element of the result depends on that element of the inputs alone; constants are single numbers."""
    op = node.op
    if not (isinstance(op, Function | Clip | PRelu) or (isinstance(op, Binary) and op.kind in _KINDS)):
        return False
    shape = draft.shape(node.outputs[0])
    if not draft.values[node.outputs[0]].type.is_real:
        return False
    if any(draft.values[i].data is not None and draft.constant(i) is None for i in node.inputs):
        return False
    return all(draft.shape(i) == shape if (c := draft.constant(i)) is None else c.size == 1 for i in node.inputs)


def _evaluated(draft: Draft, root: str, nodes: tuple[RealNode, ...], x: Array) -> Array | None:
    """What some nodes make of numbers, in float64; None where that is not finite."""
    known = {root: x}
    with np.errstate(all="ignore"):
        for node in nodes:
            ins = [known[i] if i in known else _number(draft, i) for i in node.inputs]
            known[node.outputs[0]] = np.broadcast_to(_applied(node.op, ins), x.shape)
    result = known[nodes[-1].outputs[0]]
    return result if np.isfinite(result).all() else None


def _number(draft: Draft, name: str) -> Array:
    constant = draft.constant(name)
    assert constant is not None, f"{name} is a constant or inside"
    return constant.reshape(())


def _applied(op: RealOp, ins: list[Array]) -> Array:
    if isinstance(op, Function):
        return FUNCTIONS[op.name](ins[0], **dict(op.attributes))
    if isinstance(op, Binary):
        return np.asarray(ARITHMETIC[op.kind](*(np.asarray(i) for i in ins)))
    return op.evaluate(ins)[0]


def known_function(x: Array, y: Array) -> RealOp | None:
    """The operator that gives y at x, if the table has one."""
    tolerance = _SAME * np.maximum(1.0, np.abs(x))
    for op, f in _candidates(x, y):
        with np.errstate(all="ignore"):
            if (np.abs(f(x) - y) <= tolerance).all():
                return op
    return None


def _candidates(x: Array, y: Array) -> Iterator[tuple[RealOp, Callable[[Array], Array]]]:
    """Functions that might be it; those with a number in them take it from one place."""
    for name in _PLAIN:
        yield Function(name), FUNCTIONS[name]
    at = {place: float(y[np.argmin(np.abs(x - place))]) for place in (-_FAR, -1.0, 0.0, 1.0, _FAR)}
    slope = at[-1.0]
    yield Function("LeakyRelu", (("alpha", _single(-slope)),)), lambda v: np.where(v < 0, -slope * v, v)
    yield Clip(_single(at[-_FAR]), _single(at[_FAR])), lambda v: np.clip(v, at[-_FAR], at[_FAR])
    yield from _with_attributes("Elu", {"alpha": _single(-at[-_FAR])})
    alpha, beta = at[1.0] - at[0.0], at[0.0]
    for steep in (1 / 6, 0.2, alpha):
        yield from _with_attributes("HardSigmoid", {"alpha": _single(steep), "beta": _single(beta)})


def _with_attributes(name: str, given: dict[str, float]) -> Iterator[tuple[RealOp, Callable[[Array], Array]]]:
    yield Function(name, tuple(given.items())), lambda v: FUNCTIONS[name](v, **given)


def _single(number: float) -> float:
    """As a float32 attribute has it."""
    with np.errstate(over="ignore"):
        return float(np.float32(number))


def _multiplied(draft: Draft, node: RealNode) -> bool:
    """A quotient of two computed tensors as a product with a reciprocal; whether it was one."""
    if node.op != Binary("Div") or any(draft.values[i].data is not None for i in node.inputs):
        return False
    above, below = node.inputs
    if not draft.values[below].type.is_real:
        return False
    over = draft.computed(f"{below}:reciprocal", Function("Reciprocal"), node, below)
    draft.put(replace(node, op=Binary("Mul"), inputs=(above, over)))
    return True
