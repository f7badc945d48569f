"""Some tensors of a network as a scheme holds it: the network whole on a runtime, or node by node.

Decides: that a runtime which takes whole networks is asked first, since it forgets what is inside; one that keeps
something between runs goes node by node, for each sample sees it as it is before the first one.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

import numpy as np

from codegen.ir.quant import Array
from codegen.ir.real import RealGraph
from codegen.quantizer.applied import applied
from codegen.quantizer.batched import NodeRun
from codegen.quantizer.live import tensors_held
from codegen.quantizer.scheme import Running, Scheme

Wanted = Callable[[dict[str, Array], Mapping[str, Array]], None]
"""Makes tensors out of the network's inputs, samples along an axis of their own, and writes them into arrays."""


def wanted_of(graph: RealGraph, scheme: Scheme, names: Sequence[str], run: NodeRun) -> Wanted:
    """What makes these tensors as the scheme's integers hold them."""
    made = applied(replace(graph, outputs=tuple(names), faces=()), scheme).live()
    running = None if graph.states else run.whole(made)
    if running is None:
        return lambda feeds, into: _write(tensors_held(graph, scheme, feeds, names, run), into)
    called = dict(zip(names, made.outputs, strict=True))
    return lambda feeds, into: _run(running, called, feeds, into)


def room_for(graph: RealGraph, names: Sequence[str], count: int) -> dict[str, Array]:
    """Arrays for these tensors of so many samples."""
    return {name: np.empty((count, *graph.type(name).shape), graph.type(name).dtype) for name in names}


def _run(running: Running, called: Mapping[str, str], feeds: Mapping[str, Array], into: Mapping[str, Array]) -> None:
    """The tensors of one sample after the other; `called` tells what the network that runs calls them."""
    for index, arrays in enumerate(zip(*feeds.values(), strict=True)):
        found = dict(running.tensors(dict(zip(feeds, arrays, strict=True))))
        _write(
            {name: found[other] for name, other in called.items()}, {name: a[index, ...] for name, a in into.items()}
        )


def _write(found: Mapping[str, Array], into: Mapping[str, Array]) -> None:
    for name, array in found.items():
        into[name][...] = array
