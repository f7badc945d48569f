"""Samples of a network of one step whose states go in and out: the steps of a sequence, the float states fed back.

Decides: which output is the next content of which input, by the integers that they share; that samples without an
array for these inputs are steps of one sequence, in order, and that it begins with zeros.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from codegen.ir.quant import Array
from codegen.ir.real import RealGraph
from codegen.quantizer.observe import Sample, Samples
from codegen.quantizer.places import moves_only
from codegen.verbs.ort_runner import best_runner


def states_of(graph: RealGraph, given: Collection[str]) -> dict[str, str]:
    """Inputs that are states and have no array, and the output that each becomes."""
    makers = {o: n for n in graph.nodes for o in n.outputs}

    def root(name: str) -> str:
        while (maker := makers.get(name)) is not None and moves_only(maker.op):
            name = maker.inputs[0]
        return name

    found: dict[str, str] = {}
    for tie in graph.ties:
        for state in (i for i in graph.inputs if i in tie.names and i not in given):
            fits = [o for o in graph.outputs if graph.type(o).shape == graph.type(state).shape and root(o) in tie.names]
            if len(fits) == 1:
                found[state] = fits[0]
    return found


@dataclass(frozen=True, slots=True, eq=False)
class FedBack:
    """Samples, and the states that each of them begins with."""

    source: Samples
    states: Sequence[Mapping[str, Array]]

    def __len__(self) -> int:
        """How many there are."""
        return len(self.source)

    def __getitem__(self, index: int, /) -> Sample:
        """One of them."""
        return {**self.source[index], **self.states[index]}


def fed_back(graph: RealGraph, source: Samples, named: Mapping[str, str]) -> FedBack:
    """The samples as steps of one sequence, by one run of the float network for each."""
    running = best_runner(outputs_only=True)(graph)
    states = {name: np.zeros(graph.type(name).shape, graph.type(name).dtype) for name in named}
    found = []
    for index in range(len(source)):
        found.append(states)
        made = dict(running.tensors({**source[index], **states}))
        states = {state: made[output] for state, output in named.items()}
    return FedBack(source, found)
