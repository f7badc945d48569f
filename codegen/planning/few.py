"""Weights of few bits that are few numbers themselves: as bytes they take hardly more flash, and are read faster.

Decides: which layers' weights become bytes, and what a user is told of them.  All together may add as much to the
network's parameters as packing may (`growth_share`); those of most products for a byte come first.  Goal `size` packs
all; a chip that says `weights.expand` has no such limit.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from fractions import Fraction

from codegen.ir.graph import Graph, Node
from codegen.ir.quant import TensorType
from codegen.kernels import KernelTable, expected_cycles, fastest_first, growth_share
from codegen.options import Options
from codegen.planning.asked import choose_goal
from codegen.target import FEATURES, Target

_MOST = 512
"""Weights of such a layer: those of more are taken apart for many products, or pixels, at a time."""
_BYTE = 8


def few_in_bytes(graph: Graph, options: Options, target: Target, table: KernelTable) -> Graph:
    """The graph whose weights of few bits are bytes where they are few and faster so, and its note of them."""
    goal = choose_goal(options, target)
    packed = {n: v.type for n, v in graph.values.items() if v.data is not None and _is_packed(v.type)}
    constants = (v.type for v in graph.values.values() if v.data is not None)
    left = growth_share(goal) * sum(kind.bytes for kind in constants)
    taken: dict[str, TensorType] = {}
    layers: list[str] = []
    for node in _by_products(graph, packed) if goal != "size" else ():
        found = {name: _in_bytes(packed[name]) for name in node.inputs if name in packed}
        added = sum((_bytes(kind) - _bytes(packed[name]) for name, kind in found.items()), Fraction(0))
        if (added <= left or target.weights.expand) and _is_faster(graph, node, target, table):
            left -= added
            taken |= found
            layers.append(node.name)
    if not taken:
        return graph
    note = (
        f"weights of few bits are bytes in {', '.join(layers)}: they are {_MOST} or fewer, and read faster so; "
        "--goal size packs them"
    )
    values = {name: replace(graph.values[name], type=kind) for name, kind in taken.items()}
    return replace(graph, values={**graph.values, **values}, notes=(*graph.notes, note))


def _by_products(graph: Graph, packed: Mapping[str, TensorType]) -> Sequence[Node]:
    """Layers that read such weights, those of most products for each weight first."""
    sizes = {node: sum(packed[name].elements for name in node.inputs if name in packed) for node in graph.nodes}
    readers = [node for node in graph.nodes if sizes[node]]
    return sorted(readers, key=lambda node: -Fraction(graph.view(node).macs, sizes[node]))


def _is_packed(kind: TensorType) -> bool:
    """Whether numbers are stored in less than a byte, each by itself, and are few."""
    return kind.bits > 0 and not kind.block and kind.elements <= _MOST


def _in_bytes(kind: TensorType) -> TensorType:
    return replace(kind, bits=0, apart=False)


def _bytes(kind: TensorType) -> Fraction:
    """What a constant takes, about."""
    return Fraction(kind.elements * (kind.bits or _BYTE), _BYTE)


def _is_faster(graph: Graph, node: Node, target: Target, table: KernelTable) -> bool:
    """Whether bytes take fewer cycles; where kernels do not say what they take, whether the layer's data are bytes."""
    packed = graph.view(node)
    views = packed, replace(packed, ins=tuple(map(_in_bytes, packed.ins)))
    fitting = ([*table.fitting(view, FEATURES[target.isa])] for view in views)
    few, whole = (next(iter(fastest_first(forms, target.cycles)), None) for forms in fitting)
    if few is None or whole is None or few.mix is None or whole.mix is None:
        return all(kind.dtype.bytes == 1 for kind in (packed.ins[0], *packed.outs))
    return expected_cycles(whole, target.cycles) < expected_cycles(few, target.cycles)
