"""What a layer's weights can make up for of the errors that the layers before it pass on.

With x what the layer reads in the float network, y what it reads once they are quantized and W its weights, V with the
least mean of |W x - V y|^2 stands in for W: V = W + E[e y'] (H + l)^-1, where e = W (x - y), H = E[y y'] and l keeps V
near W where samples say little.  Rounding V for y then is rounding for what the float network gives.  Where a sum
follows, what its other operand lacks is part of e, so that the last layer of a block is decided by the block's result.
Source: Y. Li and others, GPTAQ (arXiv 2504.02692), which carries that term into the rounding itself.
"""

from __future__ import annotations

import numpy as np

from codegen.ir.quant import Array
from codegen.quantizer.moments import Moments
from codegen.quantizer.products import Product

_LEAST_DAMPING = 0.02
"""Of the mean moment; samples that are few for so many terms add to it."""


class Passed(Moments):
    """As `Moments` of what a layer reads once those before it are quantized, and what its results lack by then.

    `pair` takes a sample of both networks; results are chosen alike of each.
    """

    def __init__(self, product: Product, weights: Array, results: int = 256, seed: int = 0) -> None:
        super().__init__(product, results, seed)
        self._weights = self.rows(weights)  # [groups * parts, outputs, terms]
        self._away: Array = np.zeros(self._weights.shape)
        self._short: Array = np.zeros(self._weights.shape[:2])

    def pair(self, real: Array, held: Array, lacking: Array | None = None) -> None:
        """What the layer reads for one more sample, in the float network and in the other one.

        `lacking` is the error that is added to its results; terms in parts do not make up for it.
        """
        state = self._random.bit_generator.state
        wanted = self._cut(self.product.samples(real, self._results, self._random))
        self._random.bit_generator.state = state
        found = self._cut(self.product.samples(held, self._results, self._random))
        short = np.matmul(wanted - found, self._weights.swapaxes(1, 2))
        if lacking is not None and self.parts == 1:
            self._random.bit_generator.state = state
            short += self.product.results(lacking, self._results, self._random)
        self._away += np.matmul(short.swapaxes(1, 2), found)
        self._short += short.sum(axis=1, dtype=np.float64)
        self._add(found)

    def stood_in(self, centred: float = 0.0) -> Array:
        """The weights that make up for errors; `centred` is the share of the mean that a bias does."""
        mean, count = self.mean, max(self.count, 1)
        second = self.second(centred)
        away = self._away / count - centred * (self._short / count)[:, :, None] * mean[:, None, :]
        terms = second.shape[-1]
        diagonal = np.einsum("gkk->gk", second)
        damping = (_LEAST_DAMPING + terms / count) * diagonal.mean(axis=-1)
        second = second + np.where(damping > 0, damping, 1.0)[:, None, None] * np.eye(terms)
        moved = np.linalg.solve(second, away.swapaxes(1, 2)).swapaxes(1, 2)  # H + l is symmetric
        return np.asarray(self.weights(self._weights + moved).astype(np.float32))
