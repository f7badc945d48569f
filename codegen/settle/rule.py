"""A line of a table of rules: which function settles which operator of RealGraph.  It stands behind its function."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Generic, TypeVar

from codegen.ir.real import RealNode
from codegen.records import record
from codegen.settle.states import State

Kind = TypeVar("Kind")


@record
class Rule(Generic[Kind]):
    """How operators of one class are settled: from a definition's context and a node to the states of its outputs.

    `names` are operators of model files that become integers by it, which docs/operators.md lists; `real` is how one of
    a rule that joins the house's computes with real numbers, where it does.
    """

    kind: type[Kind]
    settle: Callable[[Any, RealNode, Kind], Sequence[State]]
    names: tuple[str, ...] = ()
    real: Callable[[Any, RealNode, Kind], Sequence[State]] | None = None


Family = tuple[Rule[Any], ...]
"""The rules of one file."""
Rules = Mapping[type, Rule[Any]]
"""By class of operator."""
NO_RULES: Rules = {}


def rules_of(*families: Family) -> Rules:
    """The table of these families; no two of them settle one operator."""
    lines = [rule for family in families for rule in family]
    table = {rule.kind: rule for rule in lines}
    assert len(table) == len(lines), "an operator has two rules"
    return table


def float_rule(joined: Rules, plain: Rules, moving: Rules, node: RealNode) -> Callable[..., Sequence[State]]:
    """How a node computes with real numbers, where it does: as what joins says, as numbers, or as what only moves."""
    own = joined.get(type(node.op))
    if own is not None and own.real is not None:
        return own.real
    return (plain.get(type(node.op)) or moving[type(node.op)]).settle


def settled_names(rules: Rules) -> frozenset[str]:
    """Operators of model files that become integers by rules."""
    return frozenset(name for rule in rules.values() for name in rule.names)
