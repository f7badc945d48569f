"""What is asked of each tensor when nothing but widths and the kind of scales is said.

Decides: the defaults: weights symmetric, a scale per output channel; activations with a zero point, but for 16 bits and
for scales that are powers of two; the first and the last layer with 8 bits where the others have fewer.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from typing import Protocol

from codegen.quantize.places import Places
from codegen.quantize.spec import Role, Spec

_BYTE = 8


class Asking(Protocol):
    """A configuration: `codegen.quantize.config.QuantConfig`, or another."""

    def spec(self, role: Role, *, layer: str = "", op_type: str = "", tensor: str = "") -> Spec:
        """How one tensor is to be quantized."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """The same for all: bits, scales, and the names of layers whose weights keep 8 bits whatever `weights` says."""

    weights: int = 8
    activations: int = 8
    pot: bool = False
    per_channel: bool = True
    full: Collection[str] = ()

    def spec(self, role: Role, *, layer: str = "", op_type: str = "", tensor: str = "") -> Spec:
        """How one tensor is to be quantized."""
        if role == "weights":
            bits = max(self.weights, _BYTE) if layer in self.full else self.weights
            return Spec(bits=bits, symmetric=True, per_channel=self.per_channel, pot=self.pot, narrow_range=True)
        return Spec(bits=self.activations, symmetric=self.pot or self.activations > _BYTE, pot=self.pot)


def ends(places: Places) -> frozenset[str]:
    """The first and the last layer with weights, which lose most by fewer bits."""
    layers = [c.layer for c in places.constants if c.role == "weights"]
    return frozenset((*layers[:1], *layers[-1:]))
