"""What was asked for, of one network: the configuration, and the layers at its ends.

Decides: the words of a command line as a configuration of its own; that 16 bits have no zero point; and that of weights
with fewer than 8 bits the first and the last layer keep 8, where nothing else is said.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field, replace
from typing import Protocol

from codegen.quantizer.config import QuantConfig, parse_config
from codegen.quantizer.places import Places
from codegen.quantizer.spec import Role, Spec
from codegen.records import record

COMMAND_LINE = "the command line"
_BYTE = 8


class Asking(Protocol):
    """What answers how a tensor is to be quantized: `QuantConfig`, or `Asked`."""

    def spec(self, role: Role, *, layer: str = "", op_type: str = "", tensor: str = "") -> Spec:
        """How one tensor is to be quantized."""
        ...


@record
class Asked:
    """A configuration for one network.

    `ends` are layers whose weights have 8 bits at least unless bits are said by their name, `wide` the bits of tensors
    that ask for them.
    """

    config: QuantConfig
    ends: frozenset[str] = frozenset()
    wide: Mapping[str, int] = field(default_factory=dict)

    def spec(self, role: Role, *, layer: str = "", op_type: str = "", tensor: str = "") -> Spec:
        """How one tensor is to be quantized."""
        spec = self.config.spec(role, layer=layer, op_type=op_type, tensor=tensor)
        if tensor in self.wide and not self.says("bits", role, layer=layer, op_type=op_type, tensor=tensor):
            return replace(spec, bits=self.wide[tensor], symmetric=True)
        narrow = role == "weights" and spec.bits < _BYTE and layer in self.ends
        if narrow and not self.config.names("bits", role, layer=layer, op_type=op_type, tensor=tensor):
            return spec.in_bits(_BYTE)
        return spec

    def says(self, key: str, role: Role, *, layer: str = "", op_type: str = "", tensor: str = "") -> bool:
        """Whether the configuration says this key of a tensor."""
        return self.config.says(key, role, layer=layer, op_type=op_type, tensor=tensor)


def asked_of(config: QuantConfig, places: Places) -> Asked:
    """The configuration for a network."""
    first, last = (1 if n is None else n for n in (config.mixed.first, config.mixed.last))
    layers = list(dict.fromkeys(c.layer for c in places.constants if c.role == "weights"))
    return Asked(config, frozenset((*layers[:first], *layers[len(layers) - last :])), places.wide)


def from_words(words: Mapping[str, object]) -> QuantConfig:
    """What a command line says: `weights` and `activations` in bits, `scale`, `granularity`; None says nothing."""
    said = {key: value for key, value in words.items() if value is not None}
    table: dict[str, object] = {"scale": said["scale"]} if "scale" in said else {}
    if "activations" in said:
        wide = {} if said["activations"] == _BYTE else {"symmetric": True}
        table |= {role: {"bits": said["activations"], **wide} for role in ("input", "activation")}
    weights = {key: said[word] for key, word in (("bits", "weights"), ("granularity", "granularity")) if word in said}
    return parse_config({"quantize": table | ({"weights": weights} if weights else {})}, COMMAND_LINE)
