"""Samples of a network of one step whose states go in and out: the steps of a sequence, the float states fed back.

Decides: which output is the next content of which input, as the configuration says or by the integers that they share;
that samples without an
array for these inputs are steps of one sequence, in order, or of several where an axis of sequences stands before that
of steps; and that each sequence begins with zeros.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from pathlib import Path

import numpy as np

from codegen.datafiles import path_given
from codegen.errors import DataDoesNotFit
from codegen.ir.quant import Array
from codegen.ir.real import RealGraph
from codegen.quantizer.foreign.load import load_config
from codegen.quantizer.observe import Sample, Samples
from codegen.quantizer.places import moved_from
from codegen.quantizer.rewrite.states import checked_states
from codegen.records import record
from codegen.verbs.float_engine import FloatPort
from codegen.verbs.ort_runner import best_runner


def said_states(graph: RealGraph, config: str | Path | None) -> Mapping[str, str]:
    """Inputs that the configuration calls states, and the output that each becomes; LAM-QUANT-030 for others."""
    if config is None:
        return {}
    return checked_states(graph, dict(load_config(path_given(config, "config")).io.states or ()))


def states_of(graph: RealGraph, given: Collection[str]) -> dict[str, str]:
    """Inputs that are states and have no array, and the output that each becomes."""
    root = moved_from(graph)
    found: dict[str, str] = {}
    for tie in graph.ties:
        for state in (i for i in graph.inputs if i in tie.names and i not in given):
            fits = [o for o in graph.outputs if graph.type(o).shape == graph.type(state).shape and root(o) in tie.names]
            if len(fits) == 1:
                found[state] = fits[0]
    return found


@record(eq=False)
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


def one_after_the_other(arrays: Mapping[str, Array], ports: Sequence[FloatPort]) -> tuple[dict[str, Array], int]:
    """Arrays [sequences, steps, ...] as [samples, ...], and how many steps a sequence has; 0 where all are one.

    Raises:
        DataDoesNotFit: LAM-API-005 where arrays have sequences of different numbers or lengths.
    """
    given = {p.name: arrays[p.name] for p in ports if p.name in arrays}
    if len(ports) == 1 and not given and "x" in arrays:
        given = {"x": arrays["x"]}
    shapes = dict(zip(given, (p.model_shape for p in ports if p.name in arrays or len(ports) == 1), strict=True))
    cut = {name: x.shape[:2] for name, x in given.items() if _has_sequences(x.shape, shapes[name])}
    if not cut:
        return dict(arrays), 0
    first = next(iter(cut.values()))
    if len(cut) < len(given) or any(shape != first for shape in cut.values()):
        listed = ", ".join(f"{name} is {list(x.shape)}" for name, x in given.items())
        raise DataDoesNotFit(f"not the same sequences and steps: {listed}", where="the samples")
    flat = {name: x.reshape(-1, *x.shape[2:]) for name, x in given.items()}
    return {**arrays, **flat}, first[1]


def _has_sequences(given: Sequence[int], wanted: Sequence[int]) -> bool:
    """Whether two axes stand before a sample's own, or before these without a batch of one."""
    whole, rest = tuple(wanted), tuple(wanted[1:])
    plain = given[1:] in (whole, rest)
    return not plain and (given[2:] == whole or (wanted[0] == 1 and given[2:] == rest))


def fed_back(graph: RealGraph, source: Samples, named: Mapping[str, str], steps: int = 0) -> FedBack:
    """The samples as steps of one sequence, or of one after another, by one run of the float network for each."""
    running = best_runner(outputs_only=True)(graph)
    zeros = {name: np.zeros(graph.type(name).shape, graph.type(name).dtype) for name in named}
    states, found = zeros, []
    for index in range(len(source)):
        states = zeros if steps and index % steps == 0 else states
        found.append(states)
        made = dict(running.tensors({**source[index], **states}))
        states = {state: made[output] for state, output in named.items()}
    return FedBack(source, found)
