"""What is asked of each tensor when training begins.

Decides: that below 8 bits, and with powers of two, the range of least squared error is where training begins, unless
the configuration names a method: the extremes leave almost nothing of two or three bits, and the next power of two may
be twice what is needed.  Everything else is said and resolved as `quantize` does it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from codegen.ir.real import RealGraph
from codegen.quantizer.asked import Asked, asked_of
from codegen.quantizer.config import QuantConfig, parse_config
from codegen.quantizer.foreign.load import load_config
from codegen.quantizer.foreign.naming import in_terms_of, name_unknown
from codegen.quantizer.places import Places
from codegen.quantizer.spec import Role, Spec
from codegen.records import record

OBSERVED = 8
"""Batches that are seen as real numbers, where nobody says another number."""
_BYTE = 8
GIVEN = "config"

Configuration = QuantConfig | Mapping[str, Any] | str | Path | None
"""A configuration, its tables, or the file that has them."""


def config_of(given: Configuration) -> QuantConfig:
    """The configuration; LAM-QUANT-001 to -010 where it cannot be read."""
    if given is None or isinstance(given, QuantConfig):
        return given or QuantConfig()
    if isinstance(given, Mapping):
        return parse_config(given, GIVEN)
    return load_config(Path(given))


def in_names_of(config: QuantConfig, graph: RealGraph) -> QuantConfig:
    """The configuration in the network's names.

    Raises:
        TensorUnknown: LAM-QUANT-024, a name that the network does not have.
    """
    named = in_terms_of(config, graph)
    if named.lost:
        raise name_unknown(named.lost[0], graph)
    return named.config


@record
class Training:
    """A configuration for one network, with what training adds where nothing is said."""

    asked: Asked

    @property
    def config(self) -> QuantConfig:
        """What was said."""
        return self.asked.config

    def spec(self, role: Role, *, layer: str = "", op_type: str = "", tensor: str = "") -> Spec:
        """How one tensor is to be quantized."""
        spec = self.asked.spec(role, layer=layer, op_type=op_type, tensor=tensor)
        said = self.asked.says("method", role, layer=layer, op_type=op_type, tensor=tensor)
        if said or spec.method != "minmax" or role == "bias" or not (spec.pot or spec.bits < _BYTE):
            return spec
        return replace(spec, method="diffs" if spec.pot else "mse")


def places_of(graph: RealGraph, config: QuantConfig) -> Places:
    """What is given integers, but for outputs that the configuration keeps real."""
    return Places(graph, graph.outputs if config.io.outputs == "float" else ())


def training_of(config: QuantConfig, places: Places) -> Training:
    """The configuration for a network."""
    return Training(asked_of(config, places))
