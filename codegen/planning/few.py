"""Weights of few bits with zero points of their own, on chips whose own kernels do not pack them.

Decides: that they are packed there for kernels in plain C, which take many times as long, unless the goal is `speed`:
then they are bytes, for the chip's own kernels.
"""

from __future__ import annotations

from dataclasses import replace

from codegen.ir.graph import Graph, Value
from codegen.ops import Conv2D, Dense
from codegen.options import Options
from codegen.planning.asked import choose_goal
from codegen.target import FEATURES, Target

_OWN = frozenset({"mve", "x86", "neon"})
"""Features with kernels of their own that take such weights as bytes only."""


def as_goal_has_them(graph: Graph, options: Options, target: Target) -> Graph:
    """The graph whose weights are stored so, and what a user is told of it."""
    names = _held_apart(graph) if _OWN & FEATURES[target.isa] else ()
    if not names:
        return graph
    if choose_goal(options, target) == "speed":
        return replace(graph, values={n: _in_bytes(v) if n in names else v for n, v in graph.values.items()})
    note = (
        f"weights of few bits with zero points of their own ({len(names)} layers) are packed for kernels in plain C: "
        f"those for {target.isa} take them as bytes, which --goal speed stores"
    )
    return replace(graph, notes=(*graph.notes, note))


def _held_apart(graph: Graph) -> tuple[str, ...]:
    """The weights that other kernels would take as bytes: those with a factor per group have their own kernels."""
    weights = [node.inputs[1] for node in graph.nodes if isinstance(node.op, Conv2D | Dense)]
    return tuple(dict.fromkeys(w for w in weights if graph.type(w).apart and not graph.type(w).block))


def _in_bytes(value: Value) -> Value:
    return replace(value, type=replace(value.type, bits=0, apart=False))
