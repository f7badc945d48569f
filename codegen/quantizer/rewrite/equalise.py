"""Cross-layer equalisation: channels scaled so that a tensor's and the next weights' ranges are alike.

With r1 the range of the weights that make a channel and r2 of those that read it, the channel is divided by
sqrt(r1 * r2) / r2, after which both ranges are sqrt(r1 * r2).
Source: Nagel et al., "Data-Free Quantization Through Weight Equalization and Bias Correction", arXiv 1906.04721.
"""

from __future__ import annotations

from dataclasses import field

import numpy as np

from codegen.ir.quant import Array
from codegen.ir.real import RealGraph
from codegen.quantizer.rewrite.chains import Chain, Terms, chains
from codegen.quantizer.rewrite.draft import Draft
from codegen.quantizer.rewrite.extremes import Seen
from codegen.quantizer.rewrite.record import Record, Rewritten
from codegen.quantizer.rewrite.rescale import Scaling
from codegen.real.elementwise import Clip
from codegen.records import record

_STILL = 1e-4
"""Nothing moves any more."""
_FAINT = 2.0**-24


@record
class Equalising:
    """How.

    `iterations` rounds at most; `with_bias`: a channel's range is that of its weights and its bias; `joins`: tensors
    that are added are scaled together.

    With `seen`, chains through activations with an upper bound take part: a channel that never reached the bound may
    grow as far as `margin` times its largest number stays within; one that did stays as it is.
    """

    iterations: int = 20
    with_bias: bool = False
    joins: bool = True
    seen: Seen = field(default_factory=dict)
    margin: float = 1.0


def equalise(graph: RealGraph, how: Equalising | None = None) -> Rewritten:
    """Equalise every chain of a network, factors and offsets folded, again and again, until nothing moves."""
    how, draft = how or Equalising(), Draft(graph)
    found, broken = chains(draft, Terms(joins=how.joins, capped=how.seen.keys()))
    scaling, least = Scaling(found), [_least(chain, how) for chain in found]
    for _ in range(how.iterations):
        moved = [_equalised(scaling, chain, floor, how) for chain, floor in zip(found, least, strict=True)]
        if max(moved, default=0.0) < _STILL:
            break
    scaling.write(draft)
    record = Record("equalise", scaling.pairs, scaling.largest, tuple(broken), scaling.tensors)
    return Rewritten(draft.done(), record)


def _least(chain: Chain, how: Equalising) -> Array:
    """What each channel may be divided by at least, over all rounds, so that no bound is reached that was not."""
    highs = [n.op.high for n in chain.between if isinstance(n.op, Clip) and 0 < n.op.high < np.inf]
    if not highs:
        return np.zeros(chain.maker.outputs)
    return np.asarray(how.seen[chain.maker.y].high * how.margin / min(highs))


def _equalised(scaling: Scaling, chain: Chain, least: Array, how: Equalising) -> float:
    """One chain's round; gives how far it moved anything."""
    made, read = scaling.made(chain, with_bias=how.with_bias), scaling.read(chain)
    before = scaling.moved(chain)
    wanted = np.where(least >= 1, 1.0, np.maximum(before * balance(made, read), least))
    return float(np.abs(np.log(scaling.move(chain, wanted / before))).max())


def balance(made: Array, read: Array) -> Array:
    """What makes both ranges of each channel the same; 1 for a dead channel.

    One is dead that next to the liveliest contributes less than float32 adds up: its bias alone may matter, and a
    factor would blow that up.
    """
    alive = made * read > _FAINT * (made * read).max()
    return np.sqrt(np.where(alive, made, 1.0) / np.where(alive, read, 1.0))
