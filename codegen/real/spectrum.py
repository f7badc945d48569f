"""Discrete Fourier transforms.  Source: onnx/docs/Operators.md, DFT."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from codegen.errors import ShapeMismatch
from codegen.ir.quant import Array
from codegen.ir.real import RealType
from codegen.ops.float32.sums import ordered_product
from codegen.records import record

Product = Callable[[Array, Array], Array]


@record
class DFT:
    """The transform of `length` elements along `axis`; the last axis is the real part, or real and imaginary part.

    `onesided` leaves out the half of the spectrum that mirrors the other; the inverse then gives real numbers.
    Each output is a sum over the elements from first to last, the real parts' before the imaginary parts'; the
    factors are computed in float64 and rounded.
    """

    axis: int
    length: int
    inverse: bool = False
    onesided: bool = False

    def infer(self, ins: Sequence[RealType]) -> tuple[RealType, ...]:
        """As the input, with the transformed axis."""
        x = list(ins[0].shape)
        if len(x) < 2 or not 0 <= self.axis < len(x) - 1 or x[-1] not in (1, 2) or self.length < 1:
            raise ShapeMismatch(f"a transform of {self.length} elements along axis {self.axis} of a tensor {x}")
        x[self.axis] = self.length // 2 + 1 if self.onesided and not self.inverse else self.length
        x[-1] = 1 if self.onesided and self.inverse else 2
        return (ins[0].shaped(x),)

    def evaluate(self, ins: Sequence[Array]) -> tuple[Array, ...]:
        """Sums in order."""
        return self._transformed(ins[0], ordered_product)

    def quickly(self, ins: Sequence[Array]) -> tuple[Array, ...]:
        """Sums in any order."""
        return self._transformed(ins[0], np.matmul)

    def _transformed(self, x: Array, product: Product) -> tuple[Array, ...]:
        # [..., part, element]
        x = np.moveaxis(x, (-1, self.axis), (-2, -1))
        back = self.inverse and self.onesided
        x = _fitted(x, self.length // 2 + 1 if back else self.length)
        real, imaginary = x[..., :1, :], x[..., 1:, :]
        cosine, sine = self._factors(x.dtype, x.shape[-1])
        a, b = product(real, cosine), product(real, -sine)
        if imaginary.shape[-2]:
            a, b = a + product(imaginary, sine), b + product(imaginary, cosine)
        y = a if back else np.concatenate([a, b], -2)
        return (np.moveaxis(y, (-2, -1), (-1, self.axis)),)

    def _factors(self, dtype: np.dtype[np.generic], elements: int) -> tuple[Array, Array]:
        """Cosines and sines [element, output]; of the inverse with its factor and direction."""
        outputs = self.length // 2 + 1 if self.onesided and not self.inverse else self.length
        angle = 2 * np.pi / self.length * (np.outer(np.arange(elements), np.arange(outputs)) % self.length)
        factor = np.full((elements, 1), 1 / self.length if self.inverse else 1.0)
        if self.inverse and self.onesided:
            factor[1 : (self.length + 1) // 2] *= 2
        sign = -1 if self.inverse else 1
        return (np.cos(angle) * factor).astype(dtype), (sign * np.sin(angle) * factor).astype(dtype)


def _fitted(x: Array, length: int) -> Array:
    """Cut, or filled with zeros."""
    x = x[..., :length]
    return np.pad(x, [(0, 0)] * (x.ndim - 1) + [(0, length - x.shape[-1])])
