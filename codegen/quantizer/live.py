"""Values of all samples on their way through a network, as real numbers or as a scheme's integers hold them.

Decides: what is known without samples is computed once; a value goes when nobody needs it any more.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence

import numpy as np

from codegen.ir.quant import Array
from codegen.ir.real import RealGraph, RealNode
from codegen.quantizer.batched import NodeRun, hold, in_numpy, run_node
from codegen.quantizer.observe import Samples
from codegen.quantizer.scheme import Scheme, Weight
from codegen.real.engine import numbers_of
from codegen.real.storage import Dequantize

Held = tuple[bool, Array]
"""Whether a value is the same for all samples, and its numbers."""
Live = dict[str, Held]
"""Values that are still needed."""


def stacked(graph: RealGraph, samples: Samples, chosen: Sequence[int]) -> dict[str, Array]:
    """Some samples of each input, along an axis of their own."""
    taken = [samples[i] for i in chosen]
    return {name: np.stack([sample[name] for sample in taken]) for name in graph.inputs}


def tensors_held(
    graph: RealGraph, scheme: Scheme, feeds: dict[str, Array], names: Collection[str], run: NodeRun = in_numpy
) -> dict[str, Array]:
    """Some tensors of all samples, as the scheme holds the network; an empty one leaves it as it is."""
    live: dict[str, Held] = {v.name: (True, numbers_of(v)) for v in graph.values.values() if v.data is not None}
    given = feeds | first_states(graph, feeds)
    live |= {name: (False, as_held(scheme, name, array)) for name, array in given.items()}
    for node, forgotten in in_order(graph, names):
        for name, (known, array) in zip(
            node.outputs, ran(graph, node, inputs_held(scheme, node, live), run), strict=True
        ):
            live[name] = (known, array if known else as_held(scheme, name, array))
        for name in forgotten:
            del live[name]
    return {name: live[name][1] for name in names}


def first_states(graph: RealGraph, feeds: Mapping[str, Array]) -> dict[str, Array]:
    """What the network keeps between runs as it is before the first one, for each sample."""
    count = len(next(iter(feeds.values())))
    return {s.value: np.broadcast_to(s.initial, (count, *s.initial.shape)) for s in graph.states}


def as_held(scheme: Scheme, name: str, array: Array) -> Array:
    """A tensor as the scheme's integers hold it, if they do."""
    stored = scheme.tensors.get(name)
    return array if stored is None else hold(array, stored)


def inputs_held(scheme: Scheme, node: RealNode, live: Mapping[str, Held]) -> list[Held]:
    """What a node reads: the scheme's integers of constants, as real numbers again."""
    weights = [scheme.weights.get((node.label, place)) for place in range(len(node.inputs))]
    return [live[n] if w is None else (True, weight_numbers(w)) for n, w in zip(node.inputs, weights, strict=True)]


def in_order(graph: RealGraph, wanted: Collection[str] = ()) -> Iterator[tuple[RealNode, list[str]]]:
    """The nodes, each with the values that are not needed any more once it has run."""
    left = Counter(i for node in graph.nodes for i in {*node.inputs, *node.outputs})
    kept = {*graph.outputs, *wanted, *(s.next for s in graph.states)}
    for node in graph.nodes:
        names = {*node.inputs, *node.outputs}
        left.subtract(names)
        yield node, sorted(n for n in names if left[n] == 0 and n not in kept)


def ran(graph: RealGraph, node: RealNode, ins: Sequence[Held], run: NodeRun = in_numpy) -> list[Held]:
    """A node's results."""
    known = [k for k, _ in ins]
    return [(all(known), array) for array in run_node(graph, node, [a for _, a in ins], known, run)]


def weight_numbers(weight: Weight) -> Array:
    """The real numbers that a constant's integers mean."""
    return Dequantize(weight.stored).evaluate([weight.data])[0]
