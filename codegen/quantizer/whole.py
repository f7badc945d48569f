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
from codegen.quantizer.live import stacked, tensors_held
from codegen.quantizer.observe import Samples
from codegen.quantizer.scheme import Running, Scheme

Whole = Callable[[RealGraph], Running | None]
"""Opens a network of which only outputs are wanted; None where nothing is faster than its nodes one by one."""
Wanted = Callable[[Samples, Sequence[int]], dict[str, Array]]
"""Gives tensors of some samples, along an axis of their own."""


def in_parts(graph: RealGraph) -> None:
    """No runtime for whole networks."""


def wanted_of(graph: RealGraph, scheme: Scheme, names: Sequence[str], run: NodeRun, whole: Whole) -> Wanted:
    """What gives these tensors as the scheme's integers hold them."""
    made = applied(replace(graph, outputs=tuple(names), faces=()), scheme).live()
    running = None if graph.states else whole(made)
    if running is None:
        return lambda samples, chosen: tensors_held(graph, scheme, stacked(graph, samples, chosen), names, run)
    called = dict(zip(names, made.outputs, strict=True))
    return lambda samples, chosen: _together([_run(running, samples[i], called) for i in chosen])


def _run(running: Running, sample: Mapping[str, Array], called: Mapping[str, str]) -> dict[str, Array]:
    """The tensors of one sample; `called` tells what the network that runs calls them."""
    found = dict(running.tensors(sample))
    return {name: found[other] for name, other in called.items()}


def _together(found: Sequence[Mapping[str, Array]]) -> dict[str, Array]:
    return {name: np.stack([one[name] for one in found]) for name in found[0]}
