"""What a quantizer has decided about a network: a Stored per tensor, and the integers of each weight.

Decides nothing: it is what the stages hand to each other, and what `applied` writes into a RealGraph.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import field
from typing import Protocol

from codegen.ir.quant import Array
from codegen.ir.real import RealGraph, Stored
from codegen.records import record


@record(eq=False)
class Weight:
    """A constant as integers: real = scale * (data - zero_point)."""

    data: Array
    stored: Stored


@record(eq=False)
class Scheme:
    """Decisions by name.

    `tensors` holds what the network reads or computes, by value; a real value that is not there stays float, or is
    part of the node that reads it.  `weights` holds constants, by the reading node's label and the place among its
    inputs.
    """

    tensors: Mapping[str, Stored] = field(default_factory=dict)
    weights: Mapping[tuple[str, int], Weight] = field(default_factory=dict)


class Running(Protocol):
    """A network that runs: `codegen.real.engine.RealEngine`, or another runtime behind the same call."""

    def tensors(self, feeds: Mapping[str, Array]) -> Iterator[tuple[str, Array]]:
        """Each tensor with its name as soon as it is known: inputs first."""
        ...


class Runner(Protocol):
    """How networks are run: what opens a RealGraph."""

    def __call__(self, graph: RealGraph) -> Running:
        """The graph, ready to run."""
        ...
