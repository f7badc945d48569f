"""A network of one or two layers that breaks a chip's rule: a case of the contract tests, or one made for it."""

from __future__ import annotations

from dataclasses import replace
from functools import cache

import numpy as np

from codegen.ir.graph import Graph
from codegen.ir.op import NodeOf, Op
from codegen.ir.quant import Array, DType, Quant, TensorType
from codegen.ir.shape import Window
from codegen.ops import Concat, GlobalAveragePool, SpaceToDepth
from codegen.ops.facts import facts
from codegen.target import Rule
from tests.contract.case import Case
from tests.contract.cases import cases
from tests.support.graphs import Sketch, one_op, spread_requant

AXES = ("height", "width")


def breaking(rule: Rule) -> Graph:
    """A network that breaks the rule at its last layer but one, or its only one."""
    for case in _known():
        kind = type(case.op).__name__
        if (kind in rule.operators or not rule.operators) and _breaks(case, rule):
            return _graph(case)
    return _made(rule)


def breaking_each(rule: Rule) -> list[Graph]:
    """Of a rule that refuses operators altogether a network with each of them."""
    by_name = {type(case.op).__name__: case for case in reversed(_known())}
    return [_graph(by_name[name]) for name in rule.operators]


@cache
def _known() -> tuple[Case, ...]:
    return tuple(c for c in cases() if not any(isinstance(i, int) for i in c.ins))


@cache
def _facts(case: Case) -> dict[str, int]:
    consts = tuple(a if i in case.consts else None for i, a in enumerate(case.arrays))
    return facts(NodeOf(case.name, case.op, case.types, case.op.infer(case.types), consts))


def _breaks(case: Case, rule: Rule) -> bool:
    known = _facts(case)
    return rule.fact in known and not rule.holds(known[rule.fact])


def _graph(case: Case) -> Graph:
    return one_op(case.op, case.arrays, [t.quant for t in case.types], case.consts)


def _made(rule: Rule) -> Graph:
    """Of the first operator that the rule names."""
    name, bad = rule.operators[0], _bad(rule)
    base = next(c for c in _known() if type(c.op).__name__ == name and c.types[0].dtype is DType.S8)
    what, _, axis = rule.fact.partition("_")
    if axis in AXES:
        return _windowed(base, {axis: _window(what, bad)})
    if rule.fact in ("first", "last"):
        return _between(name)
    if name == "Concat":
        parts = [np.zeros((1, 1, 1, 1), np.int8)] * bad
        return one_op(Concat(3, (None,) * bad, DType.S8, None), parts)
    sizes = {"in_channels": 1, "out_channels": 1, rule.fact: bad}
    return _wide(base, sizes["in_channels"], sizes["out_channels"])


def _bad(rule: Rule) -> int:
    return rule.at_most + 1 if rule.at_most is not None else (rule.at_least or 1) - 1


def _window(what: str, bad: int) -> Window:
    made = {
        "kernel": Window(bad, 1, 1, 0, 0),
        "stride": Window(1, bad, 1, 0, 0),
        "dilation": Window(2, 1, bad, 0, 0),
        "pad": Window(2, 1, 1, bad, 0),
    }
    return made[what]


def _windowed(base: Case, said: dict[str, Window]) -> Graph:
    """The case's operator with another window along one axis, on an input that it fits."""
    windows = [said.get(axis, Window(2, 2, 1, 0, 0)) for axis in AXES]
    size = [w.dilation * (w.size - 1) + 1 + w.stride for w in windows]
    x = np.zeros((1, *size, 1), np.int8)
    op = replace(base.op, h=windows[0], w=windows[1])  # type: ignore[call-arg]
    if not hasattr(op, "groups"):
        return one_op(op, [x], [base.types[0].quant])
    weights = np.ones((1, windows[0].size, windows[1].size, 1), np.int8)
    return _weighted(replace(op, groups=1), x, weights, base)


def _wide(base: Case, in_channels: int, out_channels: int) -> Graph:
    """The case's operator with so many channels."""
    if not base.consts:
        x = np.zeros((1, 1, 1, in_channels), np.int8)
        return one_op(base.op, [x] * len(base.ins), [t.quant for t in base.types])
    if not hasattr(base.op, "groups"):
        x, weights = np.zeros((1, in_channels), np.int8), np.ones((out_channels, in_channels), np.int8)
        return _weighted(base.op, x, weights, base)
    window = Window(2, 2, 1, 0, 0)
    x, weights = np.zeros((1, 2, 2, in_channels), np.int8), np.ones((out_channels, 2, 2, in_channels), np.int8)
    return _weighted(replace(base.op, h=window, w=window, groups=1), x, weights, base)  # type: ignore[call-arg]


def _weighted(op: Op, x: Array, weights: Array, base: Case) -> Graph:
    requant = spread_requant("single", weights, DType.S8, channels=False)
    op = replace(op, requant=requant)  # type: ignore[call-arg]
    ins = [x, weights, np.zeros(len(weights), np.int32)]
    return one_op(op, ins, [base.types[0].quant, None, None], (1, 2))


def _between(name: str) -> Graph:
    """The operator behind one convolution and before another one."""
    s = Sketch("between")
    x = s.conv(s.input((1, 4, 4, 4), quant=Quant(0.5, 0)), 4)
    quant = s.values[x].type.quant
    assert quant is not None
    kind = {"SpaceToDepth": SpaceToDepth(2)}.get(name) or GlobalAveragePool(quant, quant, DType.S8, -128, 127, "single")
    y = s.apply(kind, x)
    assert isinstance(s.values[y].type, TensorType)
    return s.graph(s.conv(y, 2, 1))
