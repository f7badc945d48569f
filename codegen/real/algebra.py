"""Sums of products over named axes, and determinants.  Source: onnx/docs/Operators.md."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from codegen.errors import ShapeMismatch
from codegen.ir.quant import Array
from codegen.ir.real import RealType
from codegen.records import record

Letters = tuple[str, ...]
"""One letter per axis."""


@record
class Einsum:
    """The product of all inputs, summed over the letters that the output lacks.

    Each sum runs from first to last in row order of those letters, as they first occur; factors are multiplied from
    left to right.
    """

    inputs: tuple[Letters, ...]
    output: Letters

    def infer(self, ins: Sequence[RealType]) -> tuple[RealType, ...]:
        """The sizes of the output's letters."""
        sizes = self._sizes([t.shape for t in ins])
        return (ins[0].shaped([sizes[letter] for letter in self.output]),)

    def evaluate(self, ins: Sequence[Array]) -> tuple[Array, ...]:
        """Sums in order."""
        sizes = self._sizes([x.shape for x in ins])
        summed = [s for s in sizes if s not in self.output]
        parts = [self._aligned(x, letters, summed) for x, letters in zip(ins, self.inputs, strict=True)]
        acc = np.zeros([sizes[s] for s in self.output], ins[0].dtype)
        for place in np.ndindex(*(sizes[s] for s in summed)):
            term = np.ones((), acc.dtype)
            for part in parts:
                at = tuple(min(i, n - 1) for i, n in zip(place, part.shape, strict=False))
                term = term * part[at]
            acc += term
        return (acc,)

    def quickly(self, ins: Sequence[Array]) -> tuple[Array, ...]:
        """Sums in any order."""
        codes = {letter: i for i, letter in enumerate(self._sizes([x.shape for x in ins]))}
        terms = [t for x, ls in zip(ins, self.inputs, strict=True) for t in (x, [codes[s] for s in ls])]
        return (np.einsum(*terms, [codes[s] for s in self.output]).astype(ins[0].dtype),)

    def _sizes(self, shapes: Sequence[tuple[int, ...]]) -> dict[str, int]:
        """The size of each letter, in the order of their first occurrence."""
        sizes: dict[str, int] = {}
        for shape, letters in zip(shapes, self.inputs, strict=True):
            if len(shape) != len(letters):
                raise ShapeMismatch(f"a tensor {list(shape)} with axes {','.join(letters)}")
            for n, letter in zip(shape, letters, strict=True):
                if sizes.setdefault(letter, n) not in (n, 1) and n != 1:
                    raise ShapeMismatch(f"axis {letter} is {sizes[letter]} and {n}")
                sizes[letter] = max(sizes[letter], n)
        if not set(self.output) <= set(sizes) or len(set(self.output)) != len(self.output):
            raise ShapeMismatch(f"an output with axes {','.join(self.output)}")
        return sizes

    def _aligned(self, x: Array, letters: Letters, summed: Sequence[str]) -> Array:
        """The input's summed letters, then the output's, each an axis; of size 1 where it has none."""
        for letter in sorted({s for s in letters if letters.count(s) > 1}):
            first, second = (i for i, s in enumerate(letters) if s == letter)
            x = np.moveaxis(np.diagonal(x, 0, first, second), -1, 0)
            letters = (letter, *(s for s in letters if s != letter))
        wanted = [*summed, *self.output]
        order = sorted(range(len(letters)), key=lambda i: wanted.index(letters[i]))
        sizes = dict(zip(letters, x.shape, strict=True))
        return x.transpose(order).reshape([sizes.get(s, 1) for s in wanted])


@record
class Determinant:
    """The determinant of each matrix of the last two axes."""

    def infer(self, ins: Sequence[RealType]) -> tuple[RealType, ...]:
        """Without the last two axes."""
        x = ins[0].shape
        if len(x) < 2 or x[-1] != x[-2]:
            raise ShapeMismatch(f"a determinant of {list(x)}")
        return (ins[0].shaped(x[:-2]),)

    def evaluate(self, ins: Sequence[Array]) -> tuple[Array, ...]:
        """By elimination in float64, rows with the largest pivot first; rounded once."""
        x = ins[0].astype(np.float64)
        flat = x.reshape(math.prod(x.shape[:-2]), *x.shape[-2:])
        return (np.array([_determinant(m) for m in flat]).reshape(x.shape[:-2]).astype(ins[0].dtype),)


def _determinant(m: Array) -> float:
    m, result = m.copy(), 1.0
    for i in range(len(m)):
        pivot = i + int(np.argmax(np.abs(m[i:, i])))
        if m[pivot, i] == 0:
            return 0.0
        if pivot != i:
            m[[i, pivot]], result = m[[pivot, i]], -result
        result *= float(m[i, i])
        m[i + 1 :] -= m[i + 1 :, i : i + 1] / m[i, i] * m[i]
    return result
