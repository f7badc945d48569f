"""The moments of a layer's inputs as far as its activation lets the results through, for each output by itself.

Decides: where ReLU or Clip makes a result its bound, an error of the weights counts less, since the bound stays; a
result near a bound still counts in full.  Every output becomes a group of its own.
"""

from __future__ import annotations

import math

import numpy as np

from codegen.ir.quant import Array
from codegen.quantizer.moments import MOST_TERMS, Moments
from codegen.quantizer.products import Product
from codegen.records import record

_HIDDEN = 0.2
"""What a result beyond a bound counts."""
_NEAR = 0.3
"""Deviations of the results within which they are near a bound."""
_MOST_NUMBERS = 1 << 24
"""Of all outputs' moments together."""
_MOST_WORK = 1 << 34
"""Multiplications for them."""


@record(eq=False)
class Gate:
    """A layer's float weights and its bias, and between which numbers its results get through."""

    weights: Array
    bias: Array
    low: float
    high: float


def results_of(product: Product, samples: int, most: int) -> int:
    """Results of each sample by which every output can have moments of its own; 0 where these are too many."""
    groups, outputs, terms = product.matrix(np.empty(product.shape, np.bool_)).shape
    if math.prod(product.shape[:-2]) > 1 and product.out_axis < 0:
        return 0  # matrices of their own share a bias
    if terms > MOST_TERMS or groups * outputs * terms * terms > _MOST_NUMBERS:
        return 0
    return int(min(most, _MOST_WORK // max(samples * groups * outputs * terms * terms, 1)))


class GatedMoments(Moments):
    """As `Moments`, for each output: [groups * outputs, ...], of one output each."""

    def __init__(self, product: Product, gate: Gate, results: int = 256, seed: int = 0) -> None:
        super().__init__(product, results, seed)
        self._gate = gate
        self._real = product.matrix(gate.weights).astype(np.float64)  # [groups, outputs, terms]
        self._bias = np.broadcast_to(gate.bias.reshape(-1), self._real.shape[0] * self._real.shape[1])
        self._bias = self._bias.reshape(self._real.shape[:2])
        groups, outputs, terms = self._real.shape
        self._sums = np.zeros((groups * outputs, terms))
        self._squares = np.zeros((groups * outputs, terms, terms))
        self._counts: Array = np.zeros((groups * outputs, 1, 1))

    def _add(self, cut: Array) -> None:
        for index, share in enumerate(np.concatenate(self._shares(cut), axis=0)):
            rows = cut[index // self._real.shape[1]]
            shared = rows * share[:, None]
            self._sums[index] += shared.sum(axis=0, dtype=np.float64)
            self._squares[index] += shared.T @ rows
            self._counts[index] += float(share.sum())
        self.count += cut.shape[1]

    def _shares(self, terms: Array) -> list[Array]:
        """How much each result counts: of each group [outputs, samples]."""
        made = np.swapaxes(terms @ np.swapaxes(self._real, 1, 2) + self._bias[:, None], 1, 2)
        near = _NEAR * made.std(axis=-1, keepdims=True)
        inside = (made > self._gate.low - near) & (made < self._gate.high + near)
        return list(np.where(inside, 1.0, _HIDDEN).astype(np.float32))

    @property
    def mean(self) -> Array:
        """The mean of each term, for each output."""
        return np.asarray(self._sums / np.maximum(self._counts[:, :, 0], 1e-30))

    def second(self, centred: float = 0.0) -> Array:
        """Second moments for each output, those that let more through counting more."""
        mean, shares = self.mean, self._counts / max(self.count, 1)
        whole = self._squares / np.maximum(self._counts, 1e-30)
        for one, numbers, share in zip(whole, mean, shares, strict=True):  # all at once would be twice as many again
            one -= centred * numbers[:, None] * numbers
            one *= share
        return np.asarray(whole)

    def rows(self, weights: Array) -> Array:
        """The weights, or what is known of each of them, as [groups * outputs, 1, terms]."""
        matrix = self.product.matrix(weights)
        return matrix.reshape(-1, 1, matrix.shape[-1])

    def weights(self, rows: Array) -> Array:
        """The inverse of `rows`."""
        return self.product.weights(rows.reshape(self._real.shape))
