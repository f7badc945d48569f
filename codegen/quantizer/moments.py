"""What a layer is given, as far as its weights' errors are concerned: means and second moments of its terms.

Decides: of each sample so many results are taken, at random but the same every time; a term in the padding is zero.
Where there are too many terms for a matrix of them, they are taken in parts as if these were independent, and where
there are few samples for so many terms, terms count as less dependent on each other than they were seen to be.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from codegen.ir.quant import Array
from codegen.quantizer.products import Product
from codegen.threads import ahead

MOST_TERMS = 2048
"""A matrix has so many at most."""


class Moments:
    """The moments of one layer's inputs: `take` the samples', then read them.

    A group of many terms is cut into `parts`, which are groups of their own in all that is read here.
    """

    def __init__(self, product: Product, results: int = 256, seed: int = 0) -> None:
        self.product = product
        self.count = 0
        self._results = results
        self._random = np.random.default_rng(seed)
        terms = product.matrix(np.empty(product.shape, np.bool_)).shape[-1]
        self.parts = parts_of(terms)
        self._sums: Array = np.zeros((product.groups * self.parts, terms // self.parts))
        self._squares: Array = np.zeros((product.groups * self.parts, terms // self.parts, terms // self.parts))

    def take(self, samples: Sequence[Array] | Array) -> None:
        """What the layer reads for some more samples."""
        places = [self._places(x) for x in samples]
        for cut in ahead(lambda i: self._cut(self.product.samples(samples[i], places[i])), len(samples)):
            self._add(cut)

    def _places(self, x: Array) -> Array:
        """Where one more sample is looked at."""
        return self.product.places(x.shape, self._results, self._random)

    def _cut(self, samples: Array) -> Array:
        """Some results' terms, as [groups * parts, samples, terms]."""
        groups, count, terms = samples.shape
        parted = samples.reshape(groups, count, self.parts, terms // self.parts).swapaxes(1, 2)
        return parted.reshape(groups * self.parts, count, -1).astype(np.float32, copy=False)

    def _add(self, cut: Array) -> None:
        self._sums += cut.sum(axis=1, dtype=np.float64)
        self._squares += np.matmul(cut.swapaxes(1, 2), cut)
        self.count += cut.shape[1]

    @property
    def mean(self) -> Array:
        """The mean of each term: [groups * parts, terms]."""
        return np.asarray(self._sums / max(self.count, 1))

    def second(self, centred: float = 0.0) -> Array:
        """Second moments: [groups * parts, terms, terms].

        `centred` is the share of the mean's own that is taken away: 1.0 where a bias makes up for all of it.
        """
        mean = self.mean
        return np.asarray(self._squares / max(self.count, 1) - centred * mean[:, :, None] * mean[:, None, :])

    def likely(self, centred: float = 0.0) -> Array:
        """As `second`, what terms have in common reduced by as much as so few samples leave open."""
        moments, terms = self.second(centred), self._sums.shape[-1]
        diagonal = np.einsum("gkk->gk", moments).copy()
        moments *= self.count / max(self.count + terms, 1)
        np.einsum("gkk->gk", moments)[...] = diagonal
        return moments

    def rows(self, weights: Array) -> Array:
        """The weights, or what is known of each of them, as [groups * parts, outputs, terms]."""
        matrix = self.product.matrix(weights)
        groups, outputs, terms = matrix.shape
        parted = matrix.reshape(groups, outputs, self.parts, terms // self.parts).swapaxes(1, 2)
        return parted.reshape(groups * self.parts, outputs, -1)

    def weights(self, rows: Array) -> Array:
        """The inverse of `rows`."""
        parted = rows.reshape(self.product.groups, self.parts, rows.shape[1], -1).swapaxes(1, 2)
        return self.product.weights(parted.reshape(self.product.groups, rows.shape[1], -1))


def parts_of(terms: int, most: int = MOST_TERMS) -> int:
    """The fewest equal parts of at most so many terms."""
    return next(p for p in range(1, terms + 1) if terms % p == 0 and terms // p <= most) if terms else 1
