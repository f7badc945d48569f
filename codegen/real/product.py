"""Matrix products.  Sums run over the inner axis from first to last.  Source: onnx/docs/Operators.md."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from codegen.errors import ShapeMismatch
from codegen.ir.quant import Array
from codegen.ir.real import RealOp, RealType
from codegen.ops.float32.sums import ordered_product
from codegen.real.broadcast import broadcast
from codegen.real.images import Apart, of_aligned, of_first, of_maps
from codegen.records import record


@record
class MatMul:
    """a @ b as numpy's: leading axes broadcast, a vector is a row on the left and a column on the right."""

    def infer(self, ins: Sequence[RealType]) -> tuple[RealType, ...]:
        """The product's type."""
        a, b = (t.shape for t in ins)
        if not a or not b:
            raise ShapeMismatch("a matrix product of a single number")
        left, right = (1, *a) if len(a) == 1 else a, (*b, 1) if len(b) == 1 else b
        if left[-1] != right[-2]:
            raise ShapeMismatch(f"a product of {list(a)} and {list(b)}")
        full = (*broadcast(left[:-2], right[:-2]), left[-2], right[-1])
        rows, columns = ((), full[-2:-1])[len(a) > 1], ((), full[-1:])[len(b) > 1]
        return (ins[0].shaped((*full[:-2], *rows, *columns)),)

    def one_image(self, ins: Sequence[RealType], apart: Apart) -> RealOp | None:
        """Rows of a matrix, or matrices: whatever the batch is the first axis of."""
        return of_aligned(self, ins, apart) if len(ins[1].shape) > 2 else of_maps(self, ins, apart)

    def macs(self, ins: Sequence[RealType]) -> int:
        """One per output and inner index."""
        return math.prod(self.infer(ins)[0].shape) * ins[0].shape[-1]

    def evaluate(self, ins: Sequence[Array]) -> tuple[Array, ...]:
        """Sums from first to last."""
        a, b = ins
        left, right = np.atleast_2d(a), b[:, None] if b.ndim == 1 else b
        y = ordered_product(left, right)
        y = y[..., 0] if b.ndim == 1 else y
        return (np.take(y, 0, -1 if b.ndim == 1 else -2) if a.ndim == 1 else y,)

    def quickly(self, ins: Sequence[Array]) -> tuple[Array, ...]:
        """Sums in any order."""
        return (np.asarray(np.matmul(*ins)),)


@record
class Dense:
    """x @ w.T along the last axis, whatever axes come before it, plus a bias where there is one; w is [O, I]."""

    def infer(self, ins: Sequence[RealType]) -> tuple[RealType, ...]:
        """The last axis has as many entries as the weights have outputs."""
        x, w = ins[0].shape, ins[1].shape
        if len(w) != 2 or x[-1:] != w[1:] or (len(ins) > 2 and ins[2].shape != w[:1]):
            raise ShapeMismatch(f"a product of {[list(t.shape) for t in ins]}")
        return (ins[0].shaped((*x[:-1], w[0])),)

    def macs(self, ins: Sequence[RealType]) -> int:
        """One per output and entry."""
        return math.prod(ins[0].shape[:-1]) * math.prod(ins[1].shape)

    def evaluate(self, ins: Sequence[Array]) -> tuple[Array, ...]:
        """The product, sums from first to last, then the bias."""
        return self._biased(ordered_product(_rows(ins[0]), ins[1].T), ins)

    def quickly(self, ins: Sequence[Array]) -> tuple[Array, ...]:
        """As `evaluate`, sums in any order."""
        return self._biased(np.matmul(_rows(ins[0]), ins[1].T), ins)

    def _biased(self, y: Array, ins: Sequence[Array]) -> tuple[Array, ...]:
        y = y if len(ins) == 2 else y + ins[2]
        return (y.reshape(*ins[0].shape[:-1], len(ins[1])),)

    one_image = of_maps


def _rows(x: Array) -> Array:
    """The tensor as a matrix."""
    return x.reshape(-1, x.shape[-1])


@record
class Gemm:
    """alpha * a @ b + beta * c, either side transposed."""

    alpha: float = 1.0
    beta: float = 1.0
    turn_a: bool = False
    turn_b: bool = False

    def infer(self, ins: Sequence[RealType]) -> tuple[RealType, ...]:
        """A matrix."""
        a, b = (t.shape for t in ins[:2])
        if len(a) != 2 or len(b) != 2:
            raise ShapeMismatch(f"Gemm of {list(a)} and {list(b)}")
        (m, k), (inner, n) = a[:: -1 if self.turn_a else 1], b[:: -1 if self.turn_b else 1]
        if k != inner or (len(ins) > 2 and broadcast((m, n), ins[2].shape) != (m, n)):
            raise ShapeMismatch(f"Gemm of {[list(t.shape) for t in ins]}")
        return (ins[0].shaped((m, n)),)

    def one_image(self, ins: Sequence[RealType], apart: Apart) -> RealOp | None:
        """Where images are rows of the left side, and all get the same addend."""
        same = len(ins) == 2 or len(ins[2].shape) < 2 or ins[2].shape[0] == 1
        return of_first(self, ins, apart) if same and not self.turn_a else None

    def macs(self, ins: Sequence[RealType]) -> int:
        """One per output and inner index."""
        return math.prod(self.infer(ins)[0].shape) * ins[0].shape[0 if self.turn_a else 1]

    def evaluate(self, ins: Sequence[Array]) -> tuple[Array, ...]:
        """The product, times alpha, plus beta times c."""
        return self._scaled(ordered_product(*self._sides(ins)), ins)

    def quickly(self, ins: Sequence[Array]) -> tuple[Array, ...]:
        """As `evaluate`, sums in any order."""
        return self._scaled(np.matmul(*self._sides(ins)), ins)

    def _sides(self, ins: Sequence[Array]) -> tuple[Array, Array]:
        return (ins[0].T if self.turn_a else ins[0]), (ins[1].T if self.turn_b else ins[1])

    def _scaled(self, y: Array, ins: Sequence[Array]) -> tuple[Array, ...]:
        y = y if self.alpha == 1 else y * y.dtype.type(self.alpha)
        if len(ins) == 2:
            return (y,)
        return (y + (ins[2] if self.beta == 1 else ins[2] * y.dtype.type(self.beta)),)
