"""Dense layers whose weights have a scale per group of inputs: numbers of few bits, times a factor of their group.

The layer's weights are the products of both, which fit 16 bits; what is stored are the numbers and the factors.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from codegen.ir.form import Field
from codegen.ir.op import NodeOf
from codegen.ir.quant import PACKED_BITS, Array, DType, packed_bits, taken_off
from codegen.kernels.common import RequantContext, requant_context, requant_fields
from codegen.kernels.conv2d import is_pointwise
from codegen.kernels.kernel import Fit, Kernel
from codegen.kernels.packed import Fields, filled_to
from codegen.kernels.weighted import OWN_ZEROS, weighted
from codegen.ops import Conv2D, Dense
from codegen.records import record

_BYTE = 8
_GROUP_LESS = "of each group, added to its numbers: they are stored as so much less"


@record
class DenseGroupsContext:
    """Literals of one layer: `n_in` inputs in groups of `block`, of which the last may be smaller.

    `fields`: how numbers of few bits lie in bytes, of which each group has its own; None for bytes.  `apart`: those of
    a group are stored as so much less.
    """

    x_t: str
    y_t: str
    n_in: int
    n_out: int
    block: int
    fields: Fields | None
    apart: bool
    rq: RequantContext

    @property
    def w_t(self) -> str:
        """The C type that numbers are read as."""
        return "int8_t" if self.fields is None else self.fields.ctype

    @property
    def groups(self) -> int:
        """Groups of an output, the last one with them."""
        return -(-self.n_in // self.block)

    @property
    def whole(self) -> int:
        """Groups of `block` inputs."""
        return self.n_in // self.block

    @property
    def rest(self) -> int:
        """Inputs of the last group where it is smaller."""
        return self.n_in % self.block

    @property
    def in_turn(self) -> int:
        """Numbers in an element."""
        return 1 if self.fields is None else self.fields.in_turn(1)

    @property
    def row(self) -> int:
        """Elements of an output's numbers."""
        return self.whole * self.elements_of(self.block) + self.elements_of(self.rest)

    def elements_of(self, inputs: int) -> int:
        """Elements of so many inputs' numbers."""
        return -(-inputs // self.in_turn)

    def turns_of(self, inputs: int) -> int:
        """Elements that all of their numbers are used of."""
        return inputs // self.in_turn

    def left_over(self, inputs: int) -> int:
        """Numbers in the last element where it is not full."""
        return inputs % self.in_turn


def factored(weights: Array, block: int) -> tuple[Array, Array]:
    """Weights [outputs, inputs] as numbers, int64, and the largest factors [outputs, groups] that they share."""
    groups = filled_to(weights.astype(np.int64), block, axis=1).reshape(len(weights), -1, block)
    factors = np.maximum(np.gcd.reduce(groups, axis=2), 1)
    numbers = (groups // factors[:, :, None]).reshape(len(weights), -1)[:, : weights.shape[1]]
    return numbers, factors


def _fit(node: NodeOf[Conv2D | Dense]) -> Fit | None:
    sums, block = weighted(node, apart=True), node.ins[1].block
    if sums is None or not block or sums.wide or not is_pointwise(node.op):
        return None
    numbers, factors = factored(sums.weights.reshape(len(sums.weights), -1), block)
    bits, less = packed_bits(numbers, max(PACKED_BITS)), None
    if not bits and node.ins[1].apart:
        numbers, less = _apart(numbers, block, node.ins[1].bits)
        bits = packed_bits(numbers, max(PACKED_BITS))
    if not bits and (numbers.min() < DType.S8.low or numbers.max() > DType.S8.high):
        return None
    k = _context(node, Fields(bits, _BYTE) if bits else None, apart=less is not None)
    size, kind = len(numbers) * k.row, np.dtype(np.int8) if k.fields is None else k.fields.dtype
    params = (
        sums.bias_field(),
        *requant_fields(node.op.requant),
        Field("factors", factors.astype(np.int16).reshape(-1)),
        *(() if less is None else (Field("w_shift", less.astype(np.int8).reshape(-1), about=_GROUP_LESS),)),
        Field.later("weights", kind, size, lambda: _packed(numbers, k)),
    )
    own = "" if less is None else OWN_ZEROS
    why = f"plain C99, a factor per {block} weights of {bits or _BYTE} bits{own}"
    return Fit(k, params, why=why, headers=k.rq.headers)


def _apart(numbers: Array, block: int, bits: int) -> tuple[Array, Array | None]:
    """Numbers [outputs, inputs] less what is taken off each group, [outputs, groups]; as they are where nothing is."""
    starts = numbers[:, ::block].repeat(block, axis=1)[:, : numbers.shape[1]]
    # a group that is not full is filled with one of its own numbers
    groups = filled_to(numbers - starts, block, axis=1).reshape(len(numbers), -1, block) + numbers[:, ::block, None]
    less = taken_off(groups, bits)
    if less is None:
        return numbers, None
    return numbers - less.repeat(block, axis=1)[:, : numbers.shape[1]], less


def _context(node: NodeOf[Conv2D | Dense], fields: Fields | None, *, apart: bool) -> DenseGroupsContext:
    x, w, _ = node.ins
    return DenseGroupsContext(
        x_t=x.dtype.ctype,
        y_t=node.outs[0].dtype.ctype,
        n_in=x.shape[-1],
        n_out=w.shape[0],
        block=w.block,
        fields=fields,
        apart=apart,
        rq=requant_context(node.op.requant),
    )


def _packed(numbers: Array, k: DenseGroupsContext) -> Array:
    """Group by group; those of few bits in elements of their group's own."""
    fields = k.fields
    if fields is None:
        return numbers.astype(np.int8).reshape(-1)
    split = k.whole * k.block
    parts = (numbers[:, :split].reshape(len(numbers), k.whole, k.block), numbers[:, None, split:])
    rows = [_elements(part, fields) for part in parts if part.size]
    return np.ascontiguousarray(np.concatenate(rows, axis=1)).reshape(-1)


def _elements(groups: Array, fields: Fields) -> Array:
    turn = fields.in_turn(1)
    full = filled_to(groups, turn, axis=2)
    return fields.packed(full.reshape(*full.shape[:2], -1, turn)).reshape(len(groups), -1)


DENSE_GROUPS: Kernel[Conv2D | Dense] = Kernel("dense_groups", "dense_groups.c.j2", "pixels", (Dense, Conv2D), _fit)

KERNELS: tuple[Kernel[Any], ...] = (DENSE_GROUPS,)
