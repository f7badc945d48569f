"""What a layer's weights can make up for of the errors that the layers before it pass on.

With x what the layer reads in the float network, y what it reads once they are quantized and W its weights, V with the
least mean of |W x - V y|^2 stands in for W: V = W (1 + D (H + l)^-1), where D = E[(x - y) y'], H = E[y y'] and l keeps
V near W where samples say little.  Rounding V for y then is rounding for what the float network gives.  Where a sum
follows, e is what its other operand lacks, and E[e y'] joins W D: the last layer of a block is decided by its result.
Source: Y. Li and others, GPTAQ (arXiv 2504.02692), which carries that term into the rounding itself.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from codegen.ir.quant import Array
from codegen.quantizer.moments import Moments
from codegen.quantizer.products import Product
from codegen.threads import ahead

_Samples = Sequence[Array] | Array
_LEAST_DAMPING = 0.02
"""Of the mean moment; samples that are few for so many terms add to it."""


class Passed(Moments):
    """As `Moments` of what a layer reads once those before it are quantized, and how far that is from the float one's.

    `take_pairs` takes samples of both; results are chosen alike of each.
    """

    def __init__(self, product: Product, results: int = 256, seed: int = 0) -> None:
        super().__init__(product, results, seed)
        self._away = np.zeros_like(self._squares)  # [groups * parts, terms, terms]
        self._short = np.zeros_like(self._sums)
        self._added: Array | None = None  # [groups, outputs, terms]
        self._lacking: Array | None = None

    def take_pairs(self, real: _Samples, held: _Samples, lacking: _Samples | None = None) -> None:
        """What the layer reads for some more samples, in the float network and in the other one.

        `lacking` is the error that is added to its results; terms in parts do not make up for it.
        """
        places = [self._places(x) for x in held]

        def cut(i: int) -> tuple[Array, Array]:
            wanted, found = (self._cut(self.product.samples(some[i], places[i])) for some in (real, held))
            return wanted, found

        for index, (wanted, found) in enumerate(ahead(cut, len(held))):
            apart = wanted - found
            self._away += np.matmul(apart.swapaxes(1, 2), found)
            self._short += apart.sum(axis=1, dtype=np.float64)
            if lacking is not None and self.parts == 1:
                self._add_lacking(self.product.results(lacking[index], places[index]), found)
            self._add(found)

    def _add_lacking(self, lacking: Array, found: Array) -> None:
        along, alone = np.matmul(lacking.swapaxes(1, 2), found), lacking.sum(axis=1, dtype=np.float64)
        if self._added is None or self._lacking is None:
            self._added, self._lacking = np.zeros(along.shape), np.zeros(alone.shape)
        self._added += along
        self._lacking += alone

    def stood_in(self, weights: Array, centred: float = 0.0) -> Array:
        """The weights that make up for errors; `centred` is the share of the mean that a bias does."""
        mean, count = self.mean, max(self.count, 1)
        second = self.second(centred)
        away = self._away / count - centred * (self._short / count)[:, :, None] * mean[:, None, :]
        terms = second.shape[-1]
        diagonal = np.einsum("gkk->gk", second)
        damping = (_LEAST_DAMPING + terms / count) * diagonal.mean(axis=-1)
        second = second + np.where(damping > 0, damping, 1.0)[:, None, None] * np.eye(terms)
        moved = np.linalg.solve(second, away.swapaxes(1, 2)).swapaxes(1, 2)  # D (H + l)^-1, both H and l symmetric
        rows = self.rows(weights).astype(np.float64)
        found = rows + rows @ moved
        if self._added is not None and self._lacking is not None:
            added = self._added / count - centred * (self._lacking / count)[:, :, None] * mean[:, None, :]
            found = found + np.linalg.solve(second, added.swapaxes(1, 2)).swapaxes(1, 2)
        return np.asarray(self.weights(found).astype(np.float32))
