"""The least and greatest number of each channel over some samples: what rewrites that rest on data are handed."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from codegen.ir.quant import Array
from codegen.ir.real import RealGraph
from codegen.quantizer.observe import Samples
from codegen.quantizer.rewrite.draft import Draft
from codegen.quantizer.rewrite.factors import factors_of
from codegen.quantizer.rewrite.product import product_of
from codegen.quantizer.scheme import Runner
from codegen.records import record
from codegen.threads import ahead


@record(eq=False)
class Extremes:
    """Of one tensor, a number per channel each."""

    low: Array
    high: Array

    @property
    def size(self) -> Array:
        """How large each channel becomes, in either direction."""
        return np.maximum(np.abs(self.low), np.abs(self.high))


Seen = Mapping[str, Extremes]
"""By value; the channels are those of the product that writes the value or reads it, or of one further away."""


def channel_axes(graph: RealGraph) -> dict[str, int]:
    """What products read and write, and what lies between with the same channels, and where these lie."""
    draft, axes = Draft(graph), {name: channels.axis for name, channels in factors_of(graph).tensors.items()}
    for product in filter(None, (product_of(draft, node) for node in graph.nodes)):
        axes |= {product.x: product.x_axis, product.y: product.y_axis}
    return axes


def observe_extremes(graph: RealGraph, run: Runner, samples: Samples) -> dict[str, Extremes]:
    """What each channel of what products read and write has been over the samples, in float64."""
    axes, network, seen = channel_axes(graph), run(graph), dict[str, Extremes]()

    def watched(index: int) -> list[tuple[str, Array]]:
        return [(name, array) for name, array in network.tensors(samples[index]) if name in axes]

    for tensors in ahead(watched, len(samples)):
        for name, array in tensors:
            found = _extremes(array, axes[name])
            seen[name] = _joined(seen[name], found) if name in seen else found
    return seen


def _extremes(array: Array, axis: int) -> Extremes:
    others = tuple(i for i in range(array.ndim) if i != axis)
    return Extremes(array.min(axis=others).astype(np.float64), array.max(axis=others).astype(np.float64))


def _joined(a: Extremes, b: Extremes) -> Extremes:
    return Extremes(np.minimum(a.low, b.low), np.maximum(a.high, b.high))
