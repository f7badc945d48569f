"""What a rewrite gives back: the network, and what was done to it."""

from __future__ import annotations

from dataclasses import dataclass

from codegen.ir.real import RealGraph


@dataclass(frozen=True, slots=True)
class Record:
    """One rewrite's story: how often it was made, the largest factor it moved, and what it passed over and why."""

    name: str
    pairs: int
    largest: float = 1.0
    passed_over: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, eq=False)
class Rewritten:
    """A network that computes what it did before."""

    graph: RealGraph
    record: Record
