"""Dense layers of one pixel by weights of few bits, inputs widened where they lie (lam_armv7em_few_direct.h).

Channels come in fours, and those left at the end alone, so that a layer of two or three outputs stores no others.
"""

from __future__ import annotations

import numpy as np

from codegen.ir.form import Field, Mix
from codegen.ir.op import NodeOf
from codegen.ir.quant import Array
from codegen.kernels.conv2d import is_pointwise
from codegen.kernels.dsp.columns import (
    ColumnContext,
    column_numbers,
    columns_sums,
    few_bits,
    weight_numbers,
)
from codegen.kernels.dsp.words import pack_few, shift_fields, words_of
from codegen.kernels.fast import fast_fields
from codegen.kernels.kernel import Fit, Kernel
from codegen.kernels.weighted import FOLDED, Weighted
from codegen.ops import Conv2D, Dense
from codegen.records import record

Node = NodeOf[Conv2D | Dense]

_EIGHT = 8
"""Inputs that are widened together."""
_FOUR = 4
"""Channels that are summed together."""


@record
class FewDenseContext(ColumnContext):
    """Literals of one layer."""

    @property
    def steps(self) -> int:
        """Eights of inputs, the last of which may be four."""
        return -(-self.piece // _EIGHT)

    @property
    def each(self) -> int:
        """Words of a channel's weights."""
        return words_of(self.groups, self.bits, wide=False)

    @property
    def fours(self) -> int:
        """Channels that are made four at a time."""
        return self.c_out - self.rest

    @property
    def mix(self) -> Mix:
        """Counted in the disassembly: the sum of the inputs, and what eight inputs of a block take."""
        total = Mix(other=5, load=1, load_next=1, taken=0.5).times(self.steps) + Mix(other=20, moved=6, taken=2)
        blocks = [_FOUR] * (self.fours // _FOUR) + ([self.rest] if self.rest else [])
        return sum(map(self._block, blocks), total)

    def _block(self, channels: int) -> Mix:
        each = Mix(other=4, load=1, multiply_add=4).times(channels) + Mix(other=4, load=1, load_next=1)
        turns = Mix(other=3, taken=1).times(-(-self.each // 4))
        outputs = Mix(other=9, load=3, store=1).times(channels)
        return each.times(self.steps) + turns + outputs + Mix(other=12, load=2, store=4, taken=2)


def _fit(node: Node) -> Fit | None:
    sums = columns_sums(node)
    if sums is None or not is_pointwise(node.op) or node.outs[0].elements != node.outs[0].shape[-1]:
        return None
    if not few_bits(sums):
        return None
    k = FewDenseContext(*column_numbers(node, sums), *weight_numbers(sums, False))
    why = f"1 pixel x {min(k.c_out, _FOUR)} channels, SMLAD on inputs widened where they lie{sums.said}"
    headers = (*k.rq.headers, *(("lam_order.h",) if k.rq.form else ()))
    return Fit(k, _params(node, sums, k), why=why, headers=headers, mix=k.mix)


def _params(node: Node, sums: Weighted, k: FewDenseContext) -> tuple[Field, ...]:
    def words() -> Array:
        rows = sums.shifted_weights().reshape(k.c_out, -1)
        parts = [(rows[: k.fours], _FOUR), (rows[k.fours :], k.rest)]
        return np.concatenate([pack_few(part, 1, together, 1, k.bits) for part, together in parts if len(part)])

    return (
        Field.later("weights", np.uint32, k.c_out * k.each, words, "in the order of lam_armv7em_few_direct.h"),
        Field.later("bias", np.int32, k.c_out, lambda: sums.folded, FOLDED),
        *shift_fields(sums, k.bits, k.c_out, wide=False),
        *fast_fields(node.op.requant, sums.reach, k.c_out),
    )


FEW_DENSE: Kernel[Conv2D | Dense] = Kernel(
    "dsp_few_dense",
    "dsp/few_dense.c.j2",
    "pixels",
    (Conv2D, Dense),
    _fit,
    frozenset({"dsp"}),
    headers=("lam_armv7em_few_direct.h",),
)
