"""FloatTrees: the sum of what decision trees say of a row of numbers, for each target.

x: f32[..., F];  thresholds: f32[M];  features: s16[M];  otherwise: s16 or s32[M];  leaves: f32[L, K];  roots: s32[T];
base: f32[K];  codes: s8[M] where relations differ  ->  y: f32[..., K].

    at  = a tree's root; while features[at] >= 0: at + 1 where x[features[at]] relation thresholds[at], else
          otherwise[at];  a tree says leaves[otherwise[at]] at its end
    acc = 0, then acc + what each tree says, in order; of a `mean` divided by T
          infinity of a minimum (maximum: less it), then what each tree says that is less (greater)
    y   = acc + base

A code is the number of a relation in `RELATIONS`, and 8 more where NaN goes the way of what holds.  NaN is in no
relation but !=.  Source: onnx/docs/Operators-ml.md, TreeEnsemble.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, ClassVar, Literal

import numpy as np

from codegen.ir.op import SAME_ROW, WHOLE, Limit, RowRule
from codegen.ir.quant import Array, DType, TensorType
from codegen.ops.answers import Types, last_axis_stays, never_in_place, no_macs
from codegen.ops.limits import require
from codegen.records import record

RELATIONS: Mapping[str, Callable[[Any, Any], Any]] = {
    "<=": np.less_equal,
    "<": np.less,
    ">=": np.greater_equal,
    ">": np.greater,
    "==": np.equal,
    "!=": np.not_equal,
}
Aggregate = Literal["sum", "mean", "minimum", "maximum"]
FIRST: Mapping[str, float] = {"sum": 0.0, "mean": 0.0, "minimum": np.inf, "maximum": -np.inf}
"""What is there before the first tree."""
NAN_HOLDS = 8
"""Added to a relation's number."""
_KINDS = ((DType.F32,), (DType.F32,), (DType.S16,), (DType.S16, DType.S32), (DType.F32,), (DType.S32,), (DType.F32,))


@record
class FloatTrees:
    """Trees whose nodes all ask one relation, or each its own where that is empty."""

    relation: str = "<="
    aggregate: Aggregate = "sum"

    layout_inputs: ClassVar[int] = 1
    limits: ClassVar[tuple[Limit, ...]] = ()

    def infer(self, ins: Types) -> tuple[TensorType, ...]:
        """The output's type."""
        kinds = (*_KINDS, *(() if self.relation else ((DType.S8,),)))
        fits = len(ins) == len(kinds) and all(t.dtype in k for t, k in zip(ins, kinds, strict=True))
        require(fits, self, f"takes {len(kinds)} tables, got {[t.dtype.value for t in ins]}")
        x, thresholds, features, otherwise, leaves, roots, base, *codes = (t.shape for t in ins)
        alike = {thresholds, features, otherwise, *codes}
        fits = len(x) >= 1 and len(alike) == 1 and len(thresholds) == 1 and len(roots) == 1 and len(leaves) == 2
        require(fits and base == leaves[1:], self, f"tables of shapes {[list(t.shape) for t in ins]}")
        return (TensorType((*x[:-1], base[0]), DType.F32),)

    def golden(self, ins: Sequence[Array]) -> tuple[Array, ...]:
        """The output, to the bit."""
        x, _, _, otherwise, leaves, roots, base, *_ = ins
        flat = x.reshape(-1, x.shape[-1])
        acc = np.full((len(flat), len(base)), FIRST[self.aggregate], np.float32)
        with np.errstate(all="ignore"):
            for root in roots:
                acc = self._with(acc, leaves[otherwise[self._ends(flat, int(root), ins)]])
            acc = acc / np.float32(len(roots)) if self.aggregate == "mean" else acc
            return ((acc + base).reshape(*x.shape[:-1], len(base)),)

    def _with(self, acc: Array, said: Array) -> Array:
        """What another tree says added, or taken where it is less or greater."""
        if self.aggregate == "minimum":
            return np.where(said < acc, said, acc)
        return np.where(said > acc, said, acc) if self.aggregate == "maximum" else acc + said

    def _ends(self, x: Array, root: int, ins: Sequence[Array]) -> Array:
        """The node at which each row ends."""
        _, thresholds, features, otherwise, *_ = ins
        at = np.full(len(x), root, np.int64)
        while True:
            inner = features[at] >= 0
            if not inner.any():
                return at
            value = x[np.arange(len(x)), np.maximum(features[at], 0)]
            holds = self._holds(value, thresholds[at], ins[7][at] if not self.relation else None)
            at = np.where(inner, np.where(holds, at + 1, otherwise[at]), at)

    def _holds(self, value: Array, threshold: Array, codes: Array | None) -> Array:
        if codes is None:
            return np.asarray(RELATIONS[self.relation](value, threshold))
        each = np.stack([f(value, threshold) for f in RELATIONS.values()])
        holds = each[codes % NAN_HOLDS, np.arange(len(value))]
        return np.asarray(holds | (np.isnan(value) & (codes >= NAN_HOLDS)))

    def rows(self, index: int, ins: Types, outs: Types) -> RowRule:
        """Row by row."""
        return SAME_ROW if index == 0 else WHOLE

    macs = no_macs
    in_place = never_in_place
    in_layout = last_axis_stays
