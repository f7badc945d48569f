"""Float networks to schemes without the command: so many bits for everything, ranges by some samples."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from codegen.ir.real import RealGraph
from codegen.quantizer.calibrate import scheme_of, watched
from codegen.quantizer.observe import observe
from codegen.quantizer.places import Places
from codegen.quantizer.scheme import Scheme
from codegen.quantizer.spec import Role, Spec
from codegen.real.engine import RealEngine


@dataclass(frozen=True)
class Plain:
    """The same bits for all weights, and for all tensors."""

    weights: int = 8
    activations: int = 8

    def spec(self, role: Role, *, layer: str = "", op_type: str = "", tensor: str = "") -> Spec:
        if role == "weights":
            return Spec(bits=self.weights, symmetric=True, per_channel=True, narrow_range=True)
        return Spec(bits=self.activations, symmetric=self.activations > 8)


def plain_schemes(
    graph: RealGraph, samples: Sequence[Mapping[str, np.ndarray]], *asked: Plain
) -> tuple[Places, list[Scheme]]:
    """The places, and a scheme for each that was asked for."""
    places = Places(graph)
    seen = watched(places, asked[0])
    observe(graph, samples, RealEngine, seen)
    return places, [scheme_of(places, seen, a) for a in asked]
