"""States that go in and out of a network of one step, as a configuration names them: both have the same integers.

Decides: that a state which is computed has 16 bits where nobody says another number, and so has all of which it is made
anew, since errors there come back in every step; and that a state which only keeps what it was given (the last frames
of a convolution over time) has as many as any other tensor.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace

from codegen.errors import StateUnfit
from codegen.ir.real import RealGraph, Tie
from codegen.quantizer.places import moved_from
from codegen.real.movement import Concat

HEADROOM = 2.0
"""What few samples do not show costs one bit of 16."""


def checked_states(graph: RealGraph, states: Mapping[str, str]) -> Mapping[str, str]:
    """Inputs and the output that each becomes, as they were given.

    Raises:
        StateUnfit: LAM-QUANT-030 for what is no input, no output, not of the same shape and type, or named twice.
    """
    problems = [problem for pair in states.items() if (problem := _problem(graph, *pair))]
    twice = [output for output in states.values() if list(states.values()).count(output) > 1]
    problems += [f"'{output}' becomes several inputs" for output in dict.fromkeys(twice)]
    if problems:
        raise StateUnfit("; ".join(problems), where="quantize.io.states")
    return states


def _problem(graph: RealGraph, state: str, output: str) -> str:
    if state not in graph.inputs:
        return f"'{state}' is no input, these are: {', '.join(graph.inputs)}"
    if output not in graph.outputs:
        return f"'{output}' is no output, these are: {', '.join(graph.outputs)}"
    taken, made = graph.type(state), graph.type(output)
    if taken != made:
        return f"'{state}' is {taken.dtype} of {list(taken.shape)}, '{output}' {made.dtype} of {list(made.shape)}"
    return ""


def tied_states(graph: RealGraph, states: Mapping[str, str]) -> RealGraph:
    """The network, of which each state asks for the integers of the output that it becomes."""
    return replace(graph, ties=(*graph.ties, *_ties(graph, states)))


def _ties(graph: RealGraph, states: Mapping[str, str]) -> Iterator[Tie]:
    root = moved_from(graph)
    makers = {output: node for node in graph.nodes for output in node.outputs}
    for state, output in states.items():
        source = makers.get(root(output))
        names = frozenset((state, root(output)))
        if source is None or isinstance(source.op, Concat):
            yield Tie(names, bits=0)
        else:
            yield Tie(names, headroom=HEADROOM)
            yield from (Tie(frozenset((name,)), headroom=HEADROOM) for name in _between(graph, state, output) - names)


def _between(graph: RealGraph, state: str, output: str) -> frozenset[str]:
    """What is computed of a state and is part of the output that it becomes."""
    behind, before = {state}, {output}
    for node in graph.nodes:
        if behind & set(node.inputs):
            behind |= set(node.outputs)
    for node in reversed(graph.nodes):
        if before & set(node.outputs):
            before |= set(node.inputs)
    return frozenset(behind & before)
