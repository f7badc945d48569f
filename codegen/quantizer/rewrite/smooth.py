"""SmoothQuant on chains of products: outliers of a tensor's channels moved into the weights that read them.

A channel is divided by max|X|^a / max|W|^(1 - a), X being what it has been over the samples and W the weights that
read it, next to the mean of that factor over all channels, so that the tensor keeps its size.
Source: Xiao et al., "SmoothQuant", arXiv 2211.10438.
"""

from __future__ import annotations

import numpy as np

from codegen.ir.quant import Array
from codegen.ir.real import RealGraph
from codegen.quantizer.rewrite.chains import Chain, Terms, chains
from codegen.quantizer.rewrite.draft import Draft
from codegen.quantizer.rewrite.extremes import Seen
from codegen.quantizer.rewrite.record import Record, Rewritten
from codegen.quantizer.rewrite.rescale import Scaling


def smooth(graph: RealGraph, seen: Seen, *, strength: float = 0.5) -> Rewritten:
    """Smooth every chain whose tensor has been seen.

    Args:
        graph: the network.
        seen: the extremes of what products read.
        strength: the exponent a: 0 leaves the tensor to the weights, 1 makes all its channels alike.
    """
    draft = Draft(graph)
    found, broken = chains(draft, Terms(joins=True))
    scaling = Scaling(found)
    for chain in found:
        made, read = _sizes(chain, seen), scaling.read(chain)
        alive = (made > 0) & (read > 0)
        if alive.any():
            factor = np.where(alive, made, 1.0) ** strength / np.where(alive, read, 1.0) ** (1 - strength)
            middle = np.exp(np.log(factor[alive]).mean())
            scaling.move(chain, np.where(alive, factor / middle, 1.0))
    scaling.write(draft)
    record = Record("smooth", scaling.pairs, scaling.largest, tuple(broken), scaling.tensors)
    return Rewritten(draft.done(), record)


def _sizes(chain: Chain, seen: Seen) -> Array:
    """The largest number of each channel wherever the chain is read; 0 where it has not been seen."""
    largest = np.zeros(chain.maker.outputs)
    for reader in chain.readers:
        if reader.product.x in seen:
            own = reader.channels >= 0
            np.maximum.at(largest, reader.channels[own], seen[reader.product.x].size[own])
    return largest
