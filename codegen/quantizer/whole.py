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

Wanted = Callable[[dict[str, Array]], dict[str, Array]]
"""Makes tensors of samples that lie along an axis of their own out of the network's inputs."""


def wanted_of(graph: RealGraph, scheme: Scheme, names: Sequence[str], run: NodeRun) -> Wanted:
    """What gives these tensors as the scheme's integers hold them."""
    made = applied(replace(graph, outputs=tuple(names), faces=()), scheme).live()
    running = None if graph.states else run.whole(made)
    if running is None:
        return lambda feeds: tensors_held(graph, scheme, feeds, names, run)
    called = dict(zip(names, made.outputs, strict=True))
    return lambda feeds: _together([_one(running, sample, called) for sample in _apart(feeds)])


def _apart(feeds: Mapping[str, Array]) -> list[dict[str, Array]]:
    return [dict(zip(feeds, arrays, strict=True)) for arrays in zip(*feeds.values(), strict=True)]


def _one(running: Running, sample: Mapping[str, Array], called: Mapping[str, str]) -> dict[str, Array]:
    """The tensors of one sample; `called` tells what the network that runs calls them."""
    found = dict(running.tensors(sample))
    return {name: found[other] for name, other in called.items()}


def _together(found: Sequence[Mapping[str, Array]]) -> dict[str, Array]:
    return {name: np.stack([one[name] for one in found]) for name in found[0]}
