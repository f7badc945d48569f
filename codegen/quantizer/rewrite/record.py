"""What a rewrite gives back: the network, and what was done to it."""

from __future__ import annotations

from dataclasses import field

from codegen.ir.real import RealGraph
from codegen.quantizer.rewrite.moved import AllMoved
from codegen.records import record


@record
class Record:
    """One rewrite's story: how often it was made, the largest factor it moved, and what it passed over and why.

    `moved` is what became of tensors whose channels it changed.
    """

    name: str
    pairs: int
    largest: float = 1.0
    passed_over: tuple[str, ...] = ()
    moved: AllMoved = field(default_factory=dict)


@record(eq=False)
class Rewritten:
    """A network that computes what it did before."""

    graph: RealGraph
    record: Record
