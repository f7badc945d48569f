"""Finds what the names of a configuration mean in a network.

Decides: what else a tensor or a layer may be called: TPU-MLIR and MQBench call an operator after the tensor that it
writes and its type (`122_Conv`).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace

from codegen.ir.real import RealGraph
from codegen.quantize.config.config import QuantConfig
from codegen.quantize.config.levels import LAYER_NAME, TENSOR, Level, in_order, literal

_MOST_NAMED = 5


def in_terms_of(config: QuantConfig, graph: RealGraph) -> QuantConfig:
    """The configuration with the network's own names; names that mean nothing in it are noted."""
    layers = {node.name for node in graph.nodes}
    tensors = set(graph.values)
    aliases = _aliases(graph)
    levels: list[Level] = []
    lost: list[str] = []
    for level in config.levels:
        found = list(_meant(level, layers, tensors, aliases))
        levels += found
        lost += [] if found else [level.chosen]
    return replace(config, levels=in_order(levels), notes=(*config.notes, *_said(lost)))


def _aliases(graph: RealGraph) -> Mapping[str, tuple[str, str]]:
    """A node's name and its tensor by what else they are called."""
    return {
        called: (node.name, name)
        for node in graph.nodes
        for name in node.outputs
        for called in (f"{name}_{node.op_type}", name)
    }


def _meant(
    level: Level, layers: set[str], tensors: set[str], aliases: Mapping[str, tuple[str, str]]
) -> Iterator[Level]:
    name = level.name
    known = {LAYER_NAME: layers, TENSOR: tensors}.get(level.rank)
    if name is None or known is None or name in known:
        yield level
    elif name in aliases:
        yield replace(level, chosen=literal(aliases[name][level.rank == TENSOR]))


def _said(lost: list[str]) -> Iterator[str]:
    names = list(dict.fromkeys(lost))
    if names:
        more = f" and {len(names) - _MOST_NAMED} more" if len(names) > _MOST_NAMED else ""
        yield f"names that the network does not have: {', '.join(names[:_MOST_NAMED])}{more}"
