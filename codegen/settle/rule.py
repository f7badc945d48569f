"""A line of a table of rules: which function settles which operator of RealGraph."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

from codegen.ir.real import RealNode
from codegen.settle.states import State

Kind = TypeVar("Kind")


@dataclass(frozen=True, slots=True)
class Rule(Generic[Kind]):
    """How operators of one class are settled: from a definition's context and a node to the states of its outputs."""

    kind: type[Kind]
    settle: Callable[[Any, RealNode, Kind], Sequence[State]]


Rules = Mapping[type, Rule[Any]]
"""By class of operator."""
NO_RULES: Rules = {}
