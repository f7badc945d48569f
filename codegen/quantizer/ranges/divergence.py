"""The threshold after which the integers' distribution of |x| says most about the numbers' own.

Source: S. Migacz, 8-bit Inference with TensorRT, GTC 2017.
"""

from __future__ import annotations

import numpy as np

from codegen.ir.quant import Array
from codegen.quantizer.ranges.extent import Range, minmax, within
from codegen.quantizer.spec import Spec
from codegen.quantizer.statistics import Statistics

_STEPS = 128
"""Thresholds that are tried, at most."""


def entropy(statistics: Statistics, spec: Spec) -> Range:
    """The threshold of least Kullback-Leibler divergence among the edges of the histogram of |x|, zeros left out.

    It has half as many levels as there are integers, or all of them where numbers of one sign get them all.
    """
    counts = statistics.histogram.folded().counts.astype(np.float64)
    whole = not spec.signed or (statistics.one_sided and not spec.centred)
    levels = 1 << (spec.bits if whole else spec.bits - 1)
    if not counts.sum() or len(counts) <= levels:
        return minmax(statistics, spec)
    stops = np.arange(len(counts), levels - 1, -max(1, (len(counts) - levels) // _STEPS))
    found = [divergence(counts, int(stop), levels) for stop in stops]
    stop = int(stops[int(np.argmin(found))])
    return within(stop * statistics.histogram.width, statistics, spec)


def divergence(counts: Array, stop: int, levels: int) -> float:
    """KL(P || Q) of the first `stop` bins.

    P has what lies behind them in the last of them; Q is those bins in `levels` levels of whole bins each, spread
    evenly over the bins of P that hold anything.
    """
    kept = counts[:stop]
    p = kept.copy()
    p[-1] += counts[stop:].sum()
    filled = p > 0
    first = np.arange(levels) * stop // levels
    level = np.repeat(np.arange(levels), np.diff([*first, stop]))
    sums = np.add.reduceat(kept, first)
    shares = np.maximum(np.add.reduceat(filled.astype(np.float64), first), 1)
    q = np.where(filled, (sums / shares)[level], 0.0)
    return _kl(p / p.sum(), q / max(q.sum(), 1e-300))


def _kl(p: Array, q: Array) -> float:
    """The divergence; what Q thinks impossible counts as one in a million of its mass."""
    filled = p > 0
    return float(np.sum(p[filled] * np.log(p[filled] / np.maximum(q[filled], 1e-6 / len(q)))))
