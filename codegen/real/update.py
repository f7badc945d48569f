"""A box of a tensor replaced.  Source: tensorflow/lite/kernels/dynamic_update_slice.cc."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from codegen.errors import ShapeMismatch
from codegen.ir.quant import Array
from codegen.ir.real import RealType
from codegen.records import record


@record
class UpdateSlice:
    """x with a box put into it: x, the box, and where its first element goes, moved to where the box fits."""

    def infer(self, ins: Sequence[RealType]) -> tuple[RealType, ...]:
        """As x."""
        x, box, start = (t.shape for t in ins)
        if start != (len(x),) or len(box) != len(x) or any(b > n for b, n in zip(box, x, strict=True)):
            raise ShapeMismatch(f"a box {list(box)} at {list(start)} numbers in a tensor {list(x)}")
        return (ins[0],)

    def evaluate(self, ins: Sequence[Array]) -> tuple[Array, ...]:
        """Moved."""
        x, box, start = ins
        first = np.clip(start, 0, np.array(x.shape) - box.shape)
        y = x.copy()
        y[tuple(slice(s, s + n) for s, n in zip(first.tolist(), box.shape, strict=True))] = box
        return (y,)
