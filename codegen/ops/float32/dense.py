"""FloatDense and FloatMatMul: products of real matrices, with constant and with computed right side.

FloatDense   x: f32[..., K];  w: f32[O, K];  b: f32[O]  ->  y: f32[..., O]

    acc = b[o], then acc + x[k] * w[o, k] for k from first to last;  y = acc held within low .. high; NaN stays

FloatMatMul  a: f32[..., M, K];  b: f32[..., K, N], equal leading axes  ->  y: f32[..., M, N]

    y   = 0, then y + a[m, k] * b[k, n] for k from first to last

Each step is as `sums` has it (codegen/ops/float32/sums.py).
Source: onnx/docs/Operators.md, Gemm and MatMul.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import ClassVar

import numpy as np

from codegen.ir.op import SAME_ROW, WHOLE, Limit, Op, RowRule
from codegen.ir.quant import Array, DType, Sums, TensorType
from codegen.ops.answers import Types, broadcast_rows, clamped_bounds, last_axis_stays, last_two_stay, never_in_place
from codegen.ops.float32.functions import clip
from codegen.ops.float32.sums import add_product, begun, ordered_product
from codegen.ops.float32.types import require_real
from codegen.ops.limits import require
from codegen.records import record


@record
class FloatDense:
    """A fully connected layer over the last axis, with bounds."""

    low: float = -math.inf
    high: float = math.inf
    sums: Sums = "separate"

    layout_inputs: ClassVar[int] = 1
    limits: ClassVar[tuple[Limit, ...]] = ()

    def infer(self, ins: Types) -> tuple[TensorType, ...]:
        """The output's type."""
        require(len(ins) == 3, self, f"takes x, w and b, got {len(ins)} inputs")
        require_real(self, ins)
        x, w, b = (t.shape for t in ins)
        fits = len(w) == 2 and len(x) >= 1 and x[-1] == w[1] and b == w[:1]
        require(fits, self, f"input {list(x)} does not match weights {list(w)} and bias {list(b)}")
        return (TensorType((*x[:-1], w[0]), DType.F32),)

    def golden(self, ins: Sequence[Array]) -> tuple[Array, ...]:
        """The output, to the bit."""
        x, w, b = ins
        acc = np.empty((*x.shape[:-1], len(w)), np.float32)
        acc[...] = begun(b, self.sums)
        with np.errstate(all="ignore"):
            for k in range(w.shape[1]):
                add_product(acc, x[..., k, None], w[:, k], sums=self.sums)
            return (clip(acc, np.float32(self.low), np.float32(self.high)),)

    def rows(self, index: int, ins: Types, outs: Types) -> RowRule:
        """Row by row."""
        return SAME_ROW if index == 0 else WHOLE

    def macs(self, ins: Types, outs: Types) -> int:
        """One per output and input of the layer."""
        return outs[0].elements * ins[1].shape[1]

    in_place = never_in_place
    clamped = clamped_bounds
    in_layout = last_axis_stays

    def channel_tile(self, start: int, stop: int) -> Op:
        """Itself: bounds are one for all outputs."""
        return self


@record
class FloatMatMul:
    """The product of two matrices; a right side may be that of several left ones."""

    sums: Sums = "separate"

    limits: ClassVar[tuple[Limit, ...]] = ()

    def infer(self, ins: Types) -> tuple[TensorType, ...]:
        """The output's type."""
        require(len(ins) == 2, self, f"takes a and b, got {len(ins)} inputs")
        require_real(self, ins)
        a, b = (t.shape for t in ins)
        alike = len(a) == len(b) >= 2 and all(n in (1, m) for m, n in zip(a[:-2], b[:-2], strict=True))
        require(alike and a[-1] == b[-2], self, f"{list(a)} cannot be multiplied by {list(b)}")
        return (TensorType((*a[:-1], b[-1]), DType.F32),)

    def golden(self, ins: Sequence[Array]) -> tuple[Array, ...]:
        """The output, to the bit."""
        with np.errstate(all="ignore"):
            return (ordered_product(*ins, sums=self.sums),)

    rows = broadcast_rows

    def macs(self, ins: Types, outs: Types) -> int:
        """One per output and inner index."""
        return outs[0].elements * ins[0].shape[-1]

    in_place = never_in_place
    in_layout = last_two_stay
