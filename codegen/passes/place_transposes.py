"""place_transposes: the layout of every tensor is chosen so that the fewest bytes are transposed.

Transposes sink, rise, meet and cancel, and never come to cost more than before.  Among equals the fewest win, then the
latest: what follows a convolution then stands next to it, where it can be fused.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

import numpy as np

from codegen.ir.graph import Graph, Node
from codegen.ir.op import Op
from codegen.ir.permutation import Perm, inverse, moves_nothing, permute, then
from codegen.ir.quant import TensorType
from codegen.ops import Reshape, Transpose
from codegen.ops.answers import in_layout, layout_inputs
from codegen.passes.contract import graph_pass
from codegen.passes.draft import Draft
from codegen.passes.layout_choice import LayoutChoice, extended, operand_names


@graph_pass()
def place_transposes(graph: Graph) -> Graph:
    """Run operators in another layout where that takes bytes of Transposes away, or moves them towards the outputs.

    Leaves pairs of Transposes that cancel for `merge_transposes`.  Of two Transposes with one operator between, the
    first moves next to the second, wherever that is in one go: the choices below move all by one operator at a time.
    """
    between = _between(graph)
    if between:
        # the most at once: a long chain is then short after few rounds
        perm = max(between, key=lambda p: len(between[p]))
        return _flip(graph, perm, between[perm])
    for choice in _choices(graph):
        flipped = choice.best()
        if flipped:
            return _flip(graph, choice.perm, flipped)
    return graph


def _between(graph: Graph) -> Mapping[Perm, Mapping[str, Op]]:
    """Operators that alone read a Transpose and are read by one alone, by the layout in which they do without it.

    Every other one of a chain: the Transpose that another one moves to stays.
    """
    found: dict[Perm, dict[str, Op]] = {}
    stays: set[str] = set()
    for node in graph.nodes:
        computed = [name for name in operand_names(node) if not graph.values[name].is_const]
        before = graph.producers.get(computed[0]) if len(computed) == 1 else None
        after = graph.sole_user(node.outputs[0])
        if before is None or after is None or graph.sole_user(computed[0]) is None or before.name in stays:
            continue
        if isinstance(before.op, Transpose) and isinstance(after.op, Transpose):
            perm = inverse(before.op.perm)
            op = in_layout(node.op, perm) if len(graph.type(node.outputs[0]).shape) == len(perm) else None
            if op is not None and all(_moves(graph, transpose) for transpose in (before, after)):
                found.setdefault(perm, {})[node.name] = op
                stays.add(after.name)
    return found


def _moves(graph: Graph, node: Node) -> bool:
    """Whether a Transpose costs anything."""
    assert isinstance(node.op, Transpose)
    return not moves_nothing(graph.type(node.inputs[0]).shape, node.op.perm)


def _choices(graph: Graph) -> Iterator[LayoutChoice]:
    """The layouts to try: what undoes a Transpose of the graph, and what it does, each once, in order."""
    perms = [n.op.perm for n in graph.nodes if isinstance(n.op, Transpose)]
    for perm in dict.fromkeys(p for seen in perms for p in (inverse(seen), seen)):
        yield LayoutChoice(graph, perm)
        if perm == inverse(perm):
            yield LayoutChoice(graph, perm, for_writers=False)


def _flip(graph: Graph, perm: Perm, flipped: Mapping[str, Op]) -> Graph:
    """Run the `flipped` nodes between Transposes; their results keep the old values for other readers."""
    work = _Flip(Draft(graph), perm)
    for node in graph.nodes:
        if node.name not in flipped:
            work.draft.keep(node)
            continue
        picked = layout_inputs(node.op, len(node.inputs))
        inputs = [work.twin(v) if i in picked else v for i, v in enumerate(node.inputs)]
        outputs = [work.new_twin(v) for v in node.outputs]
        work.draft.rewrite(node, flipped[node.name], inputs, outputs)
        for twin, value in zip(outputs, node.outputs, strict=True):
            work.draft.insert(Transpose(inverse(perm)), [twin], value)
    return work.draft.finish()


@dataclass(slots=True)
class _Flip:
    """The draft, and the transposed twin of each value that has one."""

    draft: Draft
    perm: Perm
    twins: dict[str, str] = field(default_factory=dict)

    def new_twin(self, value: str) -> str:
        """Name of a new value for `value`, transposed."""
        old = self.draft.values[value]
        type_ = TensorType(permute(extended(old.type, len(self.perm)), self.perm), old.type.dtype, old.type.quant)
        source = old.source if len(type_.shape) == len(old.type.shape) else ""
        perm = then(old.perm, self.perm) if source else None
        data = None
        if old.data is not None:
            data = np.ascontiguousarray(old.data.reshape(extended(old.type, len(self.perm))).transpose(self.perm))
        self.twins[value] = self.draft.value(f"{value}.t", type_, data=data, source=source, perm=perm)
        return self.twins[value]

    def twin(self, value: str) -> str:
        """The transposed twin of an operand, made now if there is none."""
        if value in self.twins:
            return self.twins[value]
        old = self.draft.values[value]
        twin = self.new_twin(value)
        if old.data is None:
            shape, whole = extended(old.type, len(self.perm)), value
            if shape != old.type.shape:
                whole = self.draft.value(f"{value}.rank", TensorType(shape, old.type.dtype, old.type.quant))
                self.draft.insert(Reshape(shape), [value], whole)
            self.draft.insert(Transpose(self.perm), [whole], twin)
        return twin
