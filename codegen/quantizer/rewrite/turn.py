"""Tensors that are turned and turned back, left as they were.

Decides: that a Transpose waits until something reads the turned tensor which cannot be done on it unturned; elementwise
operators, pads, means and sums of tensors turned alike can.  Two that meet become one, or none.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from codegen.ir.names import free_name
from codegen.ir.permutation import Perm
from codegen.ir.real import RealGraph, RealNode, RealOp, RealType, RealValue
from codegen.quantizer.rewrite.record import Record, Rewritten
from codegen.real.elementwise import Binary, Clip, Function, PRelu
from codegen.real.movement import Concat, Pad, Transpose
from codegen.real.reduce import Reduce
from codegen.records import record


@record
class _View:
    """A tensor as another one turned: its axis i is axis perm[i] of the source."""

    source: str
    perm: Perm


@record
class _Unturned:
    """An operator on the tensors as they were, and how its result is turned."""

    op: RealOp
    perm: Perm


def join_turns(graph: RealGraph) -> Rewritten:
    """The network with as few Transposes as that takes."""
    turning = _Turning(graph)
    for node in graph.nodes:
        turning.take(node)
    made = turning.done()
    before, after = (sum(isinstance(n.op, Transpose) for n in g.nodes) for g in (graph, made))
    return Rewritten(made, Record("turn", before - after)) if after < before else Rewritten(graph, Record("turn", 0))


class _Turning:
    """The network so far; `views` are tensors that nothing has needed turned yet."""

    def __init__(self, graph: RealGraph) -> None:
        self._graph = graph
        self._values = dict(graph.values)
        self._nodes: list[RealNode] = []
        self._views: dict[str, _View] = {}
        self._makers: dict[str, RealNode] = {}
        self._written: set[str] = set()
        self._kept = [name for s in graph.states for name in (s.value, s.next)]

    def take(self, node: RealNode) -> None:
        """Put a node into the network: a view, on unturned tensors, or as it is."""
        if isinstance(node.op, Transpose) and self._is_free(node.inputs[0]) and self._is_free(node.outputs[0]):
            source = self._views.get(node.inputs[0])
            perm = node.op.perm if source is None else tuple(source.perm[i] for i in node.op.perm)
            self._views[node.outputs[0]] = _View(node.inputs[0] if source is None else source.source, perm)
            self._makers[node.outputs[0]] = node
        elif not self._unturned(node):
            self._nodes.append(replace(node, inputs=tuple(self._needed(i) for i in node.inputs)))

    def _is_free(self, name: str) -> bool:
        """Whether a tensor is one of real numbers that nothing says yet how it is held."""
        value = self._values[name]
        return value.type.is_real and value.stored is None

    def _unturned(self, node: RealNode) -> bool:
        """Write a node on the tensors that its inputs are views of; whether it can be."""
        rule = _RULES.get(type(node.op))
        views = {i: self._views[i] for i in node.inputs if i in self._views}
        others = [i for i in node.inputs if i not in views]
        alike = len({v.perm for v in views.values()}) == 1
        if rule is None or not alike or len(node.outputs) != 1 or not self._is_free(node.outputs[0]):
            return False
        perm = next(iter(views.values())).perm
        made = rule(node.op, perm) if all(self._is_known(i, len(perm)) for i in others) else None
        if made is None:
            return False
        inputs = [views[i].source if i in views else self._turned_back(i, perm) for i in node.inputs]
        self._write(node, made, inputs)
        return True

    def _is_known(self, name: str, rank: int) -> bool:
        """Whether a tensor is a constant that can be turned with one of that many axes."""
        value = self._values[name]
        return value.data is not None and value.stored is None and value.data.ndim <= rank

    def _turned_back(self, name: str, perm: Perm) -> str:
        """A constant as it broadcasts with the unturned tensor."""
        data = self._values[name].data
        assert data is not None, name
        if data.size == 1:
            return name
        whole = data.reshape((1,) * (len(perm) - data.ndim) + data.shape)
        back = np.ascontiguousarray(whole.transpose(np.argsort(perm)))
        free = free_name(f"{name}:turned", self._values)
        self._values[free] = RealValue(free, RealType(back.shape, back.dtype), back)
        return free

    def _write(self, node: RealNode, made: _Unturned, inputs: Sequence[str]) -> None:
        (kind,) = made.op.infer([self._values[i].type for i in inputs])
        (name,) = node.outputs
        free = free_name(f"{name}:unturned", self._values)
        self._values[free] = RealValue(free, kind)
        self._nodes.append(replace(node, label=free, op=made.op, inputs=tuple(inputs), outputs=(free,)))
        self._views[name] = _View(free, made.perm)
        self._makers[name] = node

    def _needed(self, name: str) -> str:
        """A tensor that is read as it is: a view is written down once, unless it is its source."""
        view = self._views.get(name)
        if view is None or name in self._written:
            return name
        if view.perm == tuple(range(len(view.perm))) and name not in self._kept:
            return view.source
        self._written.add(name)
        node, op = self._makers[name], Transpose(view.perm)
        self._nodes.append(RealNode(name, op, (view.source,), (name,), node.name, node.op_type, node.tensor))
        return name

    def done(self) -> RealGraph:
        """The network, with what is seen from outside called as it was."""
        called = {self._needed(name): name for name in self._graph.outputs}
        made = {name for node in self._nodes for name in node.outputs}
        called = {source: name for source, name in called.items() if source in made and source not in self._kept}
        for name in self._graph.outputs:
            if name not in (*called, *called.values(), *self._graph.inputs):
                self._kept.append(name)
        for name in self._kept:
            self._needed(name)
        nodes = tuple(_renamed(node, called) for node in self._nodes)
        return replace(self._graph, values=self._values, nodes=nodes).live()


def _renamed(node: RealNode, called: Mapping[str, str]) -> RealNode:
    inputs, outputs = (tuple(called.get(n, n) for n in names) for names in (node.inputs, node.outputs))
    return replace(node, label=called.get(node.label, node.label), inputs=inputs, outputs=outputs)


def _as_it_is(op: RealOp, perm: Perm) -> _Unturned:
    return _Unturned(op, perm)


def _pad(op: Pad, perm: Perm) -> _Unturned:
    order = np.argsort(perm)
    before, after = (tuple(part[i] for i in order) for part in (op.before, op.after))
    return _Unturned(replace(op, before=before, after=after), perm)


def _concat(op: Concat, perm: Perm) -> _Unturned:
    return _Unturned(replace(op, axis=perm[op.axis]), perm)


def _reduce(op: Reduce, perm: Perm) -> _Unturned:
    rank = len(perm)
    axes = tuple(sorted(perm[a % rank] for a in op.axes))
    if op.keep:
        return _Unturned(replace(op, axes=axes), perm)
    left = [perm[a] for a in range(rank) if a not in {b % rank for b in op.axes}]
    return _Unturned(replace(op, axes=axes), tuple(sorted(left).index(a) for a in left))


_RULES: Mapping[type, Callable[[Any, Perm], _Unturned]] = {
    Binary: _as_it_is,
    Clip: _as_it_is,
    Concat: _concat,
    Function: _as_it_is,
    PRelu: _as_it_is,
    Pad: _pad,
    Reduce: _reduce,
}
