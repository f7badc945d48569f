"""Which of several methods finds a tensor's range: one for all, or the one that its readers lose least with.

Decides: a tensor is held as integers alone, its readers are given the float network's numbers besides, and what each of
them then lacks, next to the power of its result, is added up.  Functions that become part of a reader belong to it.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Mapping
from dataclasses import replace

import numpy as np

from codegen.ir.quant import Array
from codegen.ir.real import RealNode, Stored
from codegen.quantizer.asked import Asked, Asking
from codegen.quantizer.batched import NodeRun, hold, in_numpy
from codegen.quantizer.live import Held, first_states, in_order, ran
from codegen.quantizer.places import Places
from codegen.quantizer.spec import Method, Role, Spec
from codegen.real.engine import numbers_of
from codegen.records import record


@record
class ByMethod:
    """As asked, with another method for the ranges of activations that leave theirs open: one for all, or by name.

    One for all leaves the tensors `uncut` as asked: what a network gives, of which the largest numbers are the result.
    """

    asking: Asking
    asked: Asked
    method: Method | Mapping[str, Method]
    uncut: Collection[str] = ()

    def spec(self, role: Role, *, layer: str = "", op_type: str = "", tensor: str = "") -> Spec:
        """How one tensor is to be quantized."""
        spec = self.asking.spec(role, layer=layer, op_type=op_type, tensor=tensor)
        if role != "activation" or self.asked.says("method", role, layer=layer, op_type=op_type, tensor=tensor):
            return spec
        if isinstance(self.method, str):
            return spec if spec.method != "minmax" or tensor in self.uncut else _with(spec, self.method)
        return _with(spec, self.method[tensor]) if tensor in self.method else spec


def _with(spec: Spec, method: Method) -> Spec:
    return replace(spec, method="diffs" if spec.pot and method == "mse" else method)


def least_at_readers(
    places: Places,
    tried: Mapping[Method, Mapping[str, Stored]],
    feeds: Mapping[str, Array],
    run: NodeRun = in_numpy,
) -> dict[str, Method]:
    """The best method of each tensor, where they are not all alike; `tried` has the integers by each of them."""
    return _Looking(places, tried, run).run(feeds)


class _Looking:
    def __init__(self, places: Places, tried: Mapping[Method, Mapping[str, Stored]], run: NodeRun) -> None:
        self._places, self._tried, self._run = places, tried, run
        self._leader = {t.name: t.like or t.name for t in places.tensors if t.role == "activation"}
        self._lost: dict[str, dict[Method, float]] = defaultdict(lambda: dict.fromkeys(tried, 0.0))
        self._readers = {name: node for node in places.graph.nodes for name in node.inputs}

    def run(self, feeds: Mapping[str, Array]) -> dict[str, Method]:
        """The float network on these samples, and each tensor's readers beside it."""
        graph = self._places.graph
        live: dict[str, Held] = {v.name: (True, numbers_of(v)) for v in graph.values.values() if v.data is not None}
        live |= {name: (False, array) for name, array in {**feeds, **first_states(graph, feeds)}.items()}
        for node, forgotten in in_order(graph):
            for name in dict.fromkeys(node.inputs):
                self._look(node, name, live)
            for name, held in zip(
                node.outputs, ran(graph, node, [live[i] for i in node.inputs], self._run), strict=True
            ):
                live[name] = held
                if name in graph.outputs and not held[0]:
                    self._add(name, {m: (held[1], made) for m, made in self._held(name, held[1]).items()})
            for name in forgotten:
                del live[name]
        return {name: min(self._tried, key=lambda m: lost[m]) for name, lost in self._lost.items()}

    def _look(self, node: RealNode, name: str, live: Mapping[str, Held]) -> None:
        """One reader of one tensor; nothing where it only moves the numbers, whose readers come later."""
        known, real = live[name]
        if known or self._leader.get(node.outputs[0]) == self._leader.get(name):
            return
        ways = self._held(name, real)
        if ways:
            wanted = self._result(node, live)
            made = {m: self._result(node, {**live, name: (False, x)}) for m, x in ways.items()}
            self._add(name, {m: (wanted, y) for m, y in made.items()})

    def _held(self, name: str, real: Array) -> dict[Method, Array]:
        """The tensor by each method; nothing where all are alike."""
        if name not in self._leader:
            return {}
        ways = {m: tensors[name] for m, tensors in self._tried.items() if name in tensors}
        if len({(s.scale.item(), s.zero_point.item()) for s in ways.values()}) < 2:
            return {}
        return {m: hold(real, stored) for m, stored in ways.items()}

    def _result(self, node: RealNode, live: Mapping[str, Held]) -> Array:
        """A reader's result behind all that becomes part of it."""
        ((_, made),) = ran(self._places.graph, node, [live[i] for i in node.inputs], self._run)[:1]
        name = node.outputs[0]
        while name in self._places.folded:
            node = self._readers[name]
            ins = [(False, made) if i == name else live[i] for i in node.inputs]
            ((_, made),) = ran(self._places.graph, node, ins, self._run)
            name = node.outputs[0]
        return made

    def _add(self, name: str, results: Mapping[Method, tuple[Array, Array]]) -> None:
        for method, (wanted, made) in results.items():
            power = float(np.vdot(wanted, wanted))
            away = (wanted - made).reshape(-1)
            self._lost[self._leader[name]][method] += float(np.vdot(away, away)) / power if power > 0 else 0.0
