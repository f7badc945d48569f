"""The self-test's vectors: inputs that C can make too, and what the golden model says of them."""

from __future__ import annotations

import numpy as np

from codegen.emit.project import Vector, fill_pattern, selftest_crc
from codegen.golden.interpreter import Stepper
from codegen.ir.graph import Graph

FEWEST_STEPS = 2
"""Self-test vectors of a network with state, where any are asked for."""


def selftest_vectors(graph: Graph, count: int) -> list[Vector]:
    """Self-test vectors: generated inputs, the golden model's outputs; with state, of runs one after the other."""
    stepper = Stepper(graph)
    if graph.states and count:
        count = max(count, FEWEST_STEPS)
    types = [graph.type(i.value) for i in graph.inputs]
    found = []
    for seed in range(1, count + 1):
        feeds = {i.value: x for i, x in zip(graph.inputs, fill_pattern(seed, types), strict=True)}
        values = stepper.run(feeds)
        found.append(Vector(seed, selftest_crc([np.asarray(values[o.value]) for o in graph.outputs])))
    return found
