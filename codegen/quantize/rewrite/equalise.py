"""Cross-layer equalisation: channels scaled so that a tensor's and the next weights' ranges are alike.

With r1 the range of the weights that make a channel and r2 of those that read it, the channel is divided by
sqrt(r1 * r2) / r2, after which both ranges are sqrt(r1 * r2).
Source: Nagel et al., "Data-Free Quantization Through Weight Equalization and Bias Correction", arXiv 1906.04721.
"""

from __future__ import annotations

import numpy as np

from codegen.ir.quant import Array
from codegen.ir.real import RealGraph
from codegen.quantize.rewrite.chains import Chain, chains
from codegen.quantize.rewrite.draft import Draft
from codegen.quantize.rewrite.record import Record, Rewritten
from codegen.quantize.rewrite.rescale import Scaling

_STILL = 1e-4
"""Nothing moves any more."""
_FAINT = 2.0**-24


def equalise(graph: RealGraph, *, iterations: int = 20, with_bias: bool = False) -> Rewritten:
    """Equalise every chain, again and again, until nothing moves.

    Args:
        graph: the network, factors and offsets folded.
        iterations: rounds at most.
        with_bias: a channel's range is that of its weights and its bias.
    """
    draft = Draft(graph)
    found, broken = chains(draft)
    scaling = Scaling(found)
    for _ in range(iterations):
        if max((_equalised(scaling, chain, with_bias) for chain in found), default=0.0) < _STILL:
            break
    scaling.write(draft)
    return Rewritten(draft.done(), Record("equalise", scaling.pairs, scaling.largest, tuple(broken)))


def _equalised(scaling: Scaling, chain: Chain, with_bias: bool) -> float:
    """One chain's round; gives how far it moved anything."""
    maker = scaling.maker(chain)
    made, read = maker.by_output(), scaling.read(chain)
    if with_bias:
        made = np.maximum(made, np.abs(maker.bias))
    factor = scaling.move(chain, balance(made, read))
    return float(np.abs(np.log(factor)).max())


def balance(made: Array, read: Array) -> Array:
    """What makes both ranges of each channel the same; 1 for a dead channel.

    One is dead that next to the liveliest contributes less than float32 adds up: its bias alone may matter, and a
    factor would blow that up.
    """
    alive = made * read > _FAINT * (made * read).max()
    return np.sqrt(np.where(alive, made, 1.0) / np.where(alive, read, 1.0))
