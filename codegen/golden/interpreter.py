"""Runs a Graph in numpy, node by node: the specification of everything the C computes.

Decides nothing about arithmetic, which is each operator's own; checks that what comes in is what the graph expects.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from codegen.errors import FeedShapeWrong, FeedTypeWrong, FeedUnknown
from codegen.ir.graph import Graph
from codegen.ir.quant import Array, TensorType


class Stepper:
    """The network run again and again: each run begins with what the one before left in its states.

    The first run after `reset`, or after it is made, begins with what the states are initially.
    """

    def __init__(self, graph: Graph) -> None:
        """Reset."""
        self.graph = graph
        self._states: dict[str, Array] = {}
        self.reset()

    def reset(self) -> None:
        """Forget everything."""
        self._states = {state.value: state.initial for state in self.graph.states}

    def run(self, feeds: Mapping[str, Array]) -> dict[str, Array]:
        """One run: all values of the graph by name, states as the run read them; see `run_graph`."""
        values = run_graph(self.graph, feeds, self._states)
        self._states = {state.value: values[state.next] for state in self.graph.states}
        return values


def run_graph(graph: Graph, feeds: Mapping[str, Array], states: Mapping[str, Array] | None = None) -> dict[str, Array]:
    """All values of the graph by name: constants, inputs, states and everything computed.

    Args:
        graph: the network; types and limits have been checked.
        feeds: one array per input, by the name of the graph's value, in its layout and element type.
        states: what each state holds, by the name of its value; as after a reset when None.

    Raises:
        FeedUnknown: LAM-GOLDEN-001, a name that is no input, or an input without data.
        FeedShapeWrong: LAM-GOLDEN-002.
        FeedTypeWrong: LAM-GOLDEN-003.
    """
    values = {name: value.data for name, value in graph.values.items() if value.data is not None}
    values.update(_checked(graph, feeds))
    values.update({s.value: s.initial if states is None else states[s.value] for s in graph.states})
    for node in graph.nodes:
        results = node.op.golden([values[name] for name in node.inputs])
        values.update(zip(node.outputs, results, strict=True))
    return values


def _checked(graph: Graph, feeds: Mapping[str, Array]) -> dict[str, Array]:
    """The feeds, when there is exactly one of the right type for each input."""
    names = [port.value for port in graph.inputs]
    for name in feeds:
        if name not in names:
            raise FeedUnknown(f"is not an input; the inputs are {', '.join(names)}", where=name)
    for name in names:
        if name not in feeds:
            raise FeedUnknown("got no data", where=name)
        _check(name, np.asarray(feeds[name]), graph.type(name))
    return {name: np.asarray(feeds[name], order="C") for name in names}


def _check(name: str, data: Array, expected: TensorType) -> None:
    if data.dtype != expected.dtype.numpy:
        raise FeedTypeWrong(f"is {data.dtype}, the input is {expected.dtype.numpy}", where=name)
    if data.shape != expected.shape:
        raise FeedShapeWrong(f"has shape {list(data.shape)}, the input has {list(expected.shape)}", where=name)
