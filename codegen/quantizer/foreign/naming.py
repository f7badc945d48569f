"""Finds what the names of a configuration mean in a network.

Decides: what else a tensor or a layer may be called: TPU-MLIR and MQBench call an operator after the tensor that it
writes and its type (`122_Conv`).
"""

from __future__ import annotations

import difflib
from collections.abc import Iterator, Mapping
from dataclasses import replace

from codegen.errors import TensorUnknown
from codegen.ir.real import RealGraph
from codegen.quantizer.config.config import QuantConfig
from codegen.quantizer.config.levels import LAYER_NAME, TENSOR, Level, in_order, literal
from codegen.records import record


@record
class Named:
    """A configuration in a network's own names; `lost` are levels whose names mean nothing there."""

    config: QuantConfig
    lost: tuple[Level, ...]

    @property
    def is_of_another(self) -> bool:
        """Whether no name at all was found, of those that there were."""
        return bool(self.lost) and not any(level.rank in (LAYER_NAME, TENSOR) for level in self.config.levels)


def in_terms_of(config: QuantConfig, graph: RealGraph) -> Named:
    """The configuration with the network's own names, and without the others."""
    names = {LAYER_NAME: {node.name for node in graph.nodes}, TENSOR: set(graph.values)}
    aliases = _aliases(graph)
    levels: list[Level] = []
    lost: list[Level] = []
    for level in config.levels:
        found = list(_meant(level, names.get(level.rank), aliases))
        levels += found
        lost += [] if found else [level]
    return Named(replace(config, levels=in_order(levels)), tuple(lost))


def name_unknown(level: Level, graph: RealGraph) -> TensorUnknown:
    """The refusal of a name that a network does not have: LAM-QUANT-024."""
    known = [*dict.fromkeys(node.name for node in graph.nodes), *graph.values]
    close = difflib.get_close_matches(level.chosen, known, n=1)
    hint = f"did you mean {close[0]}?" if close else None
    return TensorUnknown(f"no layer and no tensor is called {level.chosen!r}", where=level.place, hint=hint)


def _aliases(graph: RealGraph) -> Mapping[str, tuple[str, str]]:
    """A node's name and its tensor by what else they are called."""
    return {
        called: (node.name, name)
        for node in graph.nodes
        for name in node.outputs
        for called in (f"{name}_{node.op_type}", name)
    }


def _meant(level: Level, names: set[str] | None, aliases: Mapping[str, tuple[str, str]]) -> Iterator[Level]:
    """The level in the network's names; none where they mean nothing there."""
    name = level.name
    if names is None or name in names or (name is None and any(level.fits(known) for known in names)):
        yield level
    elif name is not None and name in aliases:
        yield replace(level, chosen=literal(aliases[name][level.rank == TENSOR]))
