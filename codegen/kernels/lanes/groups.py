"""Dense layers whose weights have a scale per group of inputs, with AVX-512 or AVX2: one pixel by many outputs.

Numbers without a sign by inputs with one: what vectors multiply needs no other form of either.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from codegen.ir.form import Field, Scratch
from codegen.ir.op import NodeOf
from codegen.ir.quant import Array
from codegen.kernels.groups import Grouped, InGroups, grouped
from codegen.kernels.kernel import Fit, Kernel
from codegen.kernels.lanes.common import (
    LINE,
    X86,
    LanesRequant,
    block_channels,
    lanes_requant,
    packed_weights,
    sum_fields,
    takes_factors,
)
from codegen.kernels.packed import filled_to
from codegen.kernels.weighted import BYTES
from codegen.ops import Conv2D, Dense
from codegen.records import record

_SIGNED = replace(X86, signed=True)
"""The processor, as far as inputs have a sign."""
_STEP, _BITS, _HALF = 8, 4, 8
_STORED_LESS = "of each group, added to its numbers: they are stored as so much less, without a sign"
_MOST_BLOCK = 1 << 15
"""Inputs of a group 16 times whose sum, its zero point's part with it, stays in 32 bits: products of 15 by 128 each."""
_SLACK = 8
"""Bytes behind the inputs that the last ones may be read with."""


@record
class LanesGroupsContext(InGroups):
    """Literals of one layer: `n_in` inputs in groups of `size`, outputs in blocks of `block`; `one`: of one pixel."""

    block: int
    channels: int
    one: bool
    apart: bool
    rq: LanesRequant

    @property
    def steps(self) -> int:
        """Eights of inputs of a whole group."""
        return self.size // _STEP

    @property
    def rest_steps(self) -> int:
        """Eights of inputs of the last one."""
        return -(-self.rest // _STEP)

    @property
    def sums_at(self) -> int:
        """Bytes of scratch before the sums of groups."""
        return -(-(self.n_in + _SLACK) // LINE) * LINE


def _fit(node: NodeOf[Conv2D | Dense]) -> Fit | None:
    made = grouped(node)
    if made is None or not made.bits or made.block % _STEP or made.sums.x not in BYTES or made.block > _MOST_BLOCK:
        return None
    sums, y = made.sums, node.outs[0].dtype
    if not takes_factors(node.op.requant, y, sums.reach):
        return None
    k = LanesGroupsContext(
        block=block_channels(X86, 1),
        n_in=node.ins[0].shape[-1],
        channels=node.outs[0].shape[-1],
        one=node.outs[0].elements == node.outs[0].shape[-1],
        size=made.block,
        apart=made.less is not None,
        rq=lanes_requant(_SIGNED, sums, few=False),
    )
    size = k.channels * (k.whole * k.steps + k.rest_steps) * 4
    params = (
        *sum_fields(_SIGNED, sums),
        Field("factors", _by_blocks(made.factors, k).astype(np.int16)),
        *_less_fields(made, k),
        Field.later("weights", np.uint8, size, lambda: _packed(made, k), _ORDER, alignment=LINE),
    )
    scratch = (Scratch("inputs", k.sums_at), Scratch("sums", 4 * k.groups))
    why = f"{X86.name}: 1 pixel x {-(-min(k.channels, k.block) // 16)} vectors of 16 channels, {made.said}"
    return Fit(k, params, scratch, why)


_ORDER = "in the order of lam_lanes_groups.h"
_HEADERS = ("lam_lanes_groups.h", "lam_lanes_vector.h")


def _less_fields(made: Grouped, k: LanesGroupsContext) -> tuple[Field, ...]:
    if made.less is None:
        return ()
    return (Field("w_shift", _by_blocks(made.less - _HALF, k).astype(np.int8), about=_STORED_LESS),)


def _by_blocks(groups: Array, k: LanesGroupsContext) -> Array:
    """What is said of each group, [channels, groups], of a block's channels group by group; flat."""
    return np.concatenate([groups[at : at + k.block].T.reshape(-1) for at in range(0, k.channels, k.block)])


def _packed(made: Grouped, k: LanesGroupsContext) -> Array:
    fields = made.numbers + _HALF
    whole = fields[:, : k.rest_at].reshape(k.channels, k.whole, k.size)
    rest = filled_to(fields[:, None, k.rest_at :], _STEP, axis=2)
    parts = [part for part in (whole, rest) if part.size]
    blocks = range(0, k.channels, k.block)
    found = [packed_weights(part[at : at + k.block], k.block, few=True) for at in blocks for part in parts]
    return np.concatenate(found).view(np.uint8)


GROUPS: Kernel[Conv2D | Dense] = Kernel(
    "x86_groups", "lanes/groups.c.j2", "pixels", (Dense, Conv2D), _fit, X86.needs, headers=_HEADERS
)
