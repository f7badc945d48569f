"""How often known sequences of whole numbers occur in a row.  Source: onnx/docs/Operators.md, TfIdfVectorizer."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from codegen.errors import ShapeMismatch
from codegen.ir.quant import Array
from codegen.ir.real import RealType
from codegen.records import record


@record
class CountNgrams:
    """Counts of `known` sequences, each at its place of the output; elements lie up to `skips` + 1 apart.

    `counted` False asks only whether one occurs; `weights`, one per known sequence, are multiplied with that.
    """

    known: tuple[tuple[int, ...], ...]
    places: tuple[int, ...]
    shortest: int
    longest: int
    skips: int
    counted: bool = True
    weights: tuple[float, ...] = ()

    def infer(self, ins: Sequence[RealType]) -> tuple[RealType, ...]:
        """One count per place, for each row."""
        x = ins[0].shape
        if not 1 <= len(x) <= 2:
            raise ShapeMismatch(f"sequences in a tensor {list(x)}")
        return (RealType((*x[:-1], max(self.places) + 1)),)

    def evaluate(self, ins: Sequence[Array]) -> tuple[Array, ...]:
        """Counts are exact; single elements are counted once, whatever the skips."""
        rows = ins[0].reshape(-1, ins[0].shape[-1])
        y = np.array([self._row([int(v) for v in row]) for row in rows], np.float32)
        return (y.reshape(*ins[0].shape[:-1], max(self.places) + 1),)

    def _row(self, row: Sequence[int]) -> Array:
        index = {gram: i for i, gram in enumerate(self.known) if self.shortest <= len(gram) <= self.longest}
        counts = np.zeros(max(self.places) + 1, np.float32)
        factors = np.ones_like(counts)
        for weight, place in zip(self.weights, self.places, strict=False):
            factors[place] = weight
        for step in range(1, self.skips + 2):
            for length in {len(gram) for gram in index if step == 1 or len(gram) > 1}:
                for start in range(len(row) - (length - 1) * step):
                    found = index.get(tuple(row[start : start + length * step : step]))
                    if found is not None:
                        counts[self.places[found]] += 1
        return (counts if self.counted else np.minimum(counts, 1)) * factors
