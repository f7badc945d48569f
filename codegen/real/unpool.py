"""Pools with places, the way back from them, and pools of powers.

A map is [N, C, spatial...].  Sums run over the window in row order.  Source: onnx/docs/Operators.md.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from codegen.errors import ShapeMismatch
from codegen.ir.quant import Array
from codegen.ir.real import RealType
from codegen.ir.shape import Shape, Window
from codegen.ops.float32.sums import reaches
from codegen.real.images import of_first
from codegen.real.movement import check_places
from codegen.real.window import MaxPool
from codegen.records import record

_INT64 = np.dtype(np.int64)


@record
class MaxPoolPlaces:
    """MaxPool and where each maximum is: its position in the whole tensor; the first of equal ones.

    With `columns` the positions of the last two axes count down the columns first.
    """

    windows: tuple[Window, ...]
    columns: bool = False

    def infer(self, ins: Sequence[RealType]) -> tuple[RealType, ...]:
        """The maxima, their places."""
        (y,) = MaxPool(self.windows).infer(ins)
        return (y, RealType(y.shape, _INT64))

    def evaluate(self, ins: Sequence[Array]) -> tuple[Array, ...]:
        """Taps in row order."""
        (x,) = ins
        (y,) = MaxPool(self.windows).evaluate(ins)
        spatial, out = x.shape[2:], y.shape[2:]
        order = tuple(reversed(range(len(spatial)))) if self.columns else tuple(range(len(spatial)))
        inside = np.arange(math.prod(spatial)).reshape([spatial[i] for i in order]).transpose(np.argsort(order))
        at = np.full(y.shape, -1, np.int64)
        for _, served, read in reaches(self.windows, out, spatial):
            part = at[(slice(None), slice(None), *served)]
            found = (part < 0) & (x[(slice(None), slice(None), *read)] == y[(slice(None), slice(None), *served)])
            part[found] = np.broadcast_to(inside[read], part.shape)[found]
        images = np.arange(math.prod(x.shape[:2])).reshape(*x.shape[:2], *(1,) * len(spatial))
        return (y, np.where(at < 0, 0, at) + images * math.prod(spatial))


@record
class MaxUnpool:
    """Each element at its place in a map of zeros: x, places; `counted` is the shape that places count in."""

    shape: Shape
    counted: Shape

    def infer(self, ins: Sequence[RealType]) -> tuple[RealType, ...]:
        """The stated shape."""
        fits = len(self.shape) == len(self.counted) and all(
            n >= m for n, m in zip(self.shape, self.counted, strict=True)
        )
        if ins[0].shape != ins[1].shape or not fits or min(self.counted, default=0) < 1:
            raise ShapeMismatch(f"a tensor {list(ins[0].shape)} put into {list(self.shape)}")
        check_places(ins[1], self.counted)
        return (ins[0].shaped(self.shape),)

    def evaluate(self, ins: Sequence[Array]) -> tuple[Array, ...]:
        """The last of those that share a place; a place outside is the nearest one inside."""
        flat = np.zeros(math.prod(self.counted), ins[0].dtype)
        flat[np.clip(ins[1].reshape(-1), 0, flat.size - 1)] = ins[0].reshape(-1)
        y = np.zeros(self.shape, flat.dtype)
        y[tuple(slice(n) for n in self.counted)] = flat.reshape(self.counted)
        return (y,)


@record
class LpPool:
    """The p-th root of the sum of the p-th powers over a window."""

    windows: tuple[Window, ...]
    p: int = 2

    def infer(self, ins: Sequence[RealType]) -> tuple[RealType, ...]:
        """A smaller map."""
        return MaxPool(self.windows).infer(ins)

    def evaluate(self, ins: Sequence[Array]) -> tuple[Array, ...]:
        """Powers and root in float64, each rounded; sums in row order."""
        (x,) = ins
        powers = np.power(np.abs(x).astype(np.float64), self.p).astype(x.dtype)
        out = tuple(w.out_len(n) for w, n in zip(self.windows, x.shape[2:], strict=True))
        acc = np.zeros((*x.shape[:2], *out), x.dtype)
        for _, served, read in reaches(self.windows, out, x.shape[2:]):
            acc[(slice(None), slice(None), *served)] += powers[(slice(None), slice(None), *read)]
        return (np.power(acc.astype(np.float64), 1.0 / self.p).astype(x.dtype),)

    one_image = of_first


@record
class ColumnsToImage:
    """Windows [N, C * taps, positions] added up into the image that they were cut from."""

    windows: tuple[Window, ...]
    image: Shape

    def infer(self, ins: Sequence[RealType]) -> tuple[RealType, ...]:
        """[N, C, image...]."""
        x, taps = ins[0].shape, math.prod(w.size for w in self.windows)
        positions = math.prod(max(n, 0) for n in self._positions())
        if len(x) != 3 or len(self.windows) != len(self.image) or x[1] % taps or x[2] != positions:
            raise ShapeMismatch(f"columns {list(x)} of an image {list(self.image)} in {positions} windows of {taps}")
        return (ins[0].shaped((x[0], x[1] // taps, *self.image)),)

    def evaluate(self, ins: Sequence[Array]) -> tuple[Array, ...]:
        """Taps in row order."""
        (x,) = ins
        sizes, positions = tuple(w.size for w in self.windows), self._positions()
        columns = x.reshape(x.shape[0], -1, *sizes, *positions)
        y = np.zeros((*columns.shape[:2], *self.image), x.dtype)
        for tap, read, served in reaches(self.windows, positions, self.image):
            taken = columns[(slice(None), slice(None), *(t.start for t in tap), *read)]
            y[(slice(None), slice(None), *served)] += taken
        return (y,)

    def _positions(self) -> Shape:
        return tuple(w.out_len(n) for w, n in zip(self.windows, self.image, strict=False))
