"""Channels that share a tensor's integers made alike in size, by factors that what is around them takes up.

Decides: a channel is divided by its size next to the widest one, in that of its tensors where this is most.  So no
tensor gets larger steps, while its smaller channels get more of the integers, and readers get less wrong of each of
them.  What that costs is in the readers' weights, whose columns may differ more.
"""

from __future__ import annotations

import numpy as np

from codegen.ir.quant import Array
from codegen.ir.real import RealGraph
from codegen.quantizer.places import Places
from codegen.quantizer.rewrite.draft import Draft
from codegen.quantizer.rewrite.extremes import Seen
from codegen.quantizer.rewrite.factors import FIXED, Factors, factors_of
from codegen.quantizer.rewrite.moved import Moved
from codegen.quantizer.rewrite.record import Record, Rewritten

_LEAST = 2.0**-8
"""A channel that is smaller next to the widest one counts as so large."""


def level(graph: RealGraph, seen: Seen) -> Rewritten:
    """Divide each channel that has been seen by its size next to the others, as far as it may be."""
    draft, found = Draft(graph), factors_of(graph)
    factors = _sizes(found, {t.name: seen[t.name] for t in Places(graph).tensors if t.name in seen})
    found.write(draft, factors)
    moved = {n: Moved(c.axis, 1 / factors[c.groups], np.zeros(len(c.groups))) for n, c in found.tensors.items()}
    pairs = sum(bool((factors[t.outputs] != 1).any()) for t in found.takings)
    record = Record("level", pairs, float(1 / factors.min()), (), moved)
    return Rewritten(draft.done(), record)


def _sizes(found: Factors, seen: Seen) -> Array:
    """How far each group's channels come next to the widest of their tensors, at most; 1 for those that stay."""
    sizes = np.zeros(found.count)
    for name, channels in found.tensors.items():
        extent = seen[name].size if name in seen else np.zeros(0)
        if extent.shape == channels.groups.shape and extent.max() > 0:
            np.maximum.at(sizes, channels.groups, np.maximum(extent / extent.max(), _LEAST))
    sizes[FIXED] = 1.0
    return np.where(sizes > 0, sizes, 1.0)
