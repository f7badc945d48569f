"""Runs a RealGraph in numpy.

Decides: that a stored value is rounded to the integers that hold it before anything reads it, and one of bfloat16 to
that, and that a tensor is forgotten when nothing needs it any more.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

import numpy as np

from codegen.ir.quant import Array
from codegen.ir.real import RealGraph, RealNode, RealValue, Summing
from codegen.real.storage import Dequantize, Quantize, as_typed


def numbers_of(value: RealValue) -> Array:
    """The numbers of a constant, dequantized where it is stored."""
    assert value.data is not None, value.name
    if value.stored is None:
        return value.data
    return Dequantize(value.stored).evaluate([value.data])[0]


class RealEngine:
    """One graph, ready to run.  `exact` keeps the order of every sum; otherwise sums are taken as fast as can be."""

    def __init__(self, graph: RealGraph, *, exact: bool = False) -> None:
        self.graph = graph
        self._exact = exact
        self._constants = {v.name: numbers_of(v) for v in graph.values.values() if v.data is not None}
        reads = Counter(i for node in graph.nodes for i in set(node.inputs))
        self._reads = reads + Counter(graph.outputs) + Counter(s.next for s in graph.states)
        self._states = {s.value: numbers_of(replace(graph.values[s.value], data=s.initial)) for s in graph.states}

    def run(self, feeds: Mapping[str, Array]) -> dict[str, Array]:
        """The outputs by their values' names.

        Args:
            feeds: an array per input, in its type and shape.
        """
        kept = {name: self._constants[name] for name in self.graph.outputs if name in self._constants}
        wanted = set(self.graph.outputs)
        kept.update((name, array) for name, array in self.tensors(feeds) if name in wanted)
        return {name: kept[name] for name in self.graph.outputs}

    def tensors(self, feeds: Mapping[str, Array]) -> Iterator[tuple[str, Array]]:
        """Each tensor with its name as soon as it is known: the inputs, then what the nodes write.

        States become what they are for the next run when the last tensor has been taken.
        """
        live = self._constants | self._states
        left = Counter(self._reads)
        for name in self.graph.inputs:
            live[name] = self._held(name, feeds[name])
            yield name, live[name]
        for node in self.graph.nodes:
            for name, array in zip(node.outputs, self._computed(node, [live[i] for i in node.inputs]), strict=True):
                live[name] = self._held(name, array)
                yield name, live[name]
            left.subtract(set(node.inputs))
            for name in {*node.inputs, *node.outputs}:
                if left[name] <= 0:
                    del live[name]
        self._states = {s.value: live[s.next] for s in self.graph.states}

    def _computed(self, node: RealNode, ins: Sequence[Array]) -> tuple[Array, ...]:
        with np.errstate(all="ignore"):
            if isinstance(node.op, Summing) and not self._exact:
                return node.op.quickly(ins)
            return node.op.evaluate(ins)

    def _held(self, name: str, array: Array) -> Array:
        value = self.graph.values[name]
        stored = value.stored
        if stored is None:
            return as_typed(array, value.type.dtype)
        return Dequantize(stored).evaluate(Quantize(stored).evaluate([array]))[0]
