"""Products of bare integers around their zero points, as int32: ConvInteger and MatMulInteger.

Sums are exact modulo 2^32, so that they have no order.  The inputs are both sides, and the zero point of each, which
may be computed by the network.  Source: onnx/docs/Operators.md.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from codegen.errors import ShapeMismatch
from codegen.ir.quant import Array
from codegen.ir.real import RealType
from codegen.ir.shape import Window
from codegen.real.broadcast import broadcast
from codegen.real.images import of_first
from codegen.real.product import MatMul
from codegen.real.window import Conv
from codegen.records import record

_INT32 = np.dtype(np.int32)


@record
class ConvInteger:
    """Convolution of x - x_zero with w - w_zero: x, w, one zero point of x, one of w or one per output."""

    windows: tuple[Window, ...]
    groups: int = 1
    channel_axis: int = 1

    def infer(self, ins: Sequence[RealType]) -> tuple[RealType, ...]:
        """A map of int32."""
        (y,) = self._conv().infer(ins[:2])
        if ins[2].shape not in ((), (1,)) or ins[3].shape not in ((), (1,), ins[1].shape[:1]):
            raise ShapeMismatch(f"zero points {list(ins[2].shape)} and {list(ins[3].shape)} for a convolution")
        return (RealType(y.shape, _INT32),)

    def evaluate(self, ins: Sequence[Array]) -> tuple[Array, ...]:
        """Sums modulo 2^32."""
        return self._conv().evaluate(self._centred(ins, _INT32))

    def quickly(self, ins: Sequence[Array]) -> tuple[Array, ...]:
        """The same sums, exact in float64."""
        return _wrapped(self._conv().quickly(self._centred(ins, np.dtype(np.float64))))

    def _conv(self) -> Conv:
        return Conv(self.windows, self.groups, self.channel_axis)

    def _centred(self, ins: Sequence[Array], dtype: np.dtype[np.generic]) -> list[Array]:
        x, w, x_zero, w_zero = (i.astype(dtype) for i in ins)
        return [x - x_zero, w - w_zero.reshape(-1, *(1,) * (w.ndim - 1))]

    one_image = of_first


@record
class MatMulInteger:
    """(a - a_zero) @ (b - b_zero); a zero point is single, or one per row of a or column of b."""

    def infer(self, ins: Sequence[RealType]) -> tuple[RealType, ...]:
        """A product of int32."""
        (y,) = MatMul().infer(ins[:2])
        zeros = _before(ins[2].shape), ins[3].shape
        if any(broadcast(t.shape, z) != t.shape for t, z in zip(ins[:2], zeros, strict=True)):
            raise ShapeMismatch(f"zero points {list(ins[2].shape)} and {list(ins[3].shape)} for a product")
        return (RealType(y.shape, _INT32),)

    def evaluate(self, ins: Sequence[Array]) -> tuple[Array, ...]:
        """Sums modulo 2^32."""
        return MatMul().evaluate(self._centred(ins, _INT32))

    def quickly(self, ins: Sequence[Array]) -> tuple[Array, ...]:
        """The same sums, exact in float64."""
        return _wrapped(MatMul().quickly(self._centred(ins, np.dtype(np.float64))))

    def _centred(self, ins: Sequence[Array], dtype: np.dtype[np.generic]) -> list[Array]:
        a, b, a_zero, b_zero = (i.astype(dtype) for i in ins)
        return [a - row_zeros(a_zero), b - b_zero]


def row_zeros(zero: Array) -> Array:
    """Zero points of the left side as they broadcast against it."""
    return zero.reshape(_before(zero.shape))


def _before(shape: tuple[int, ...]) -> tuple[int, ...]:
    """One zero point per row stands before the rows' elements."""
    return (*shape, 1) if len(shape) == 1 and shape[0] > 1 else shape


def _wrapped(results: Sequence[Array]) -> tuple[Array, ...]:
    return tuple(y.astype(np.int64).astype(_INT32) for y in results)
