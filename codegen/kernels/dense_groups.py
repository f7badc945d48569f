"""Dense layers whose weights have a scale per group of inputs, in plain C, whatever the numbers and the inputs are.

Bytes by bytes go by four outputs, which share inputs.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from codegen.ir.form import Field
from codegen.ir.op import NodeOf
from codegen.ir.quant import Array
from codegen.kernels.common import RequantContext, requant_context, requant_fields
from codegen.kernels.groups import GROUP_LESS, Grouped, InGroups, grouped
from codegen.kernels.kernel import Fit, Kernel
from codegen.kernels.packed import Fields, filled_to
from codegen.kernels.weighted import BYTES
from codegen.ops import Conv2D, Dense
from codegen.records import record

_BYTE = 8
_TOGETHER = 4
"""Outputs at a time."""
_TURNS = (8, 4, 2, 1)
_MOST_BLOCK = 1 << 15
"""Inputs of a group whose sum of bytes by bytes fits 32 bits, times a zero point too."""


@record
class DenseGroupsContext(InGroups):
    """Literals of one layer: `n_in` inputs in groups of `size`, of which the last may be smaller.

    `fields`: how numbers of few bits lie in bytes, of which each group has its own; None for bytes.  `apart`: those of
    a group are stored as so much less.
    """

    x_t: str
    y_t: str
    acc_t: str
    n_out: int
    fields: Fields | None
    apart: bool
    rq: RequantContext

    @property
    def w_t(self) -> str:
        """The C type that numbers are read as."""
        return "int8_t" if self.fields is None else self.fields.ctype

    @property
    def less_t(self) -> str:
        """The C type of what is added to them: of bytes up to 128."""
        return "int16_t" if self.fields is None else "int8_t"

    @property
    def in_turn(self) -> int:
        """Numbers in an element."""
        return 1 if self.fields is None else self.fields.in_turn(1)

    @property
    def row(self) -> int:
        """Elements of an output's numbers."""
        return self.whole * self.elements_of(self.size) + self.elements_of(self.rest)

    def elements_of(self, inputs: int) -> int:
        """Elements of so many inputs' numbers."""
        return -(-inputs // self.in_turn)

    def turns_of(self, inputs: int) -> int:
        """Elements that all of their numbers are used of."""
        return inputs // self.in_turn

    def left_over(self, inputs: int) -> int:
        """Numbers in the last element where it is not full."""
        return inputs % self.in_turn


@record
class GroupBytesContext(InGroups):
    """Literals of one layer of bytes; `apart`: those of a group are stored as so much less."""

    x_t: str
    y_t: str
    n_out: int
    apart: bool
    rq: RequantContext

    @property
    def together(self) -> int:
        """Outputs at a time."""
        return _TOGETHER

    @property
    def full(self) -> int:
        """Those that go together."""
        return self.n_out // _TOGETHER * _TOGETHER

    @property
    def left(self) -> int:
        """Those behind them."""
        return self.n_out - self.full

    def turn_of(self, inputs: int) -> int:
        """Of so many inputs those of a turn of the loop."""
        return next(turn for turn in _TURNS if inputs % turn == 0)

    def weight_at(self, index: int, output: int, count: int) -> int:
        """The place of an output's weight of an input, of `count` outputs' in turn."""
        return index * count + output


def _fit_bytes(node: NodeOf[Conv2D | Dense]) -> Fit | None:
    made = grouped(node)
    if made is None or made.bits or made.sums.x not in BYTES or made.block > _MOST_BLOCK:
        return None
    x, y = node.ins[0], node.outs[0]
    k = GroupBytesContext(
        x_t=x.dtype.ctype,
        y_t=y.dtype.ctype,
        n_in=x.shape[-1],
        n_out=len(made.numbers),
        size=made.block,
        apart=made.less is not None,
        rq=requant_context(node.op.requant),
    )
    less = () if made.less is None else (Field("w_shift", _in_turn(made.less).astype(np.int16), about=GROUP_LESS),)
    params = (
        made.sums.folded_field(),
        *requant_fields(node.op.requant),
        Field("factors", _in_turn(made.factors).astype(np.int16)),
        *less,
        Field.later("weights", np.int8, made.numbers.size, lambda: _in_turn(made.numbers).astype(np.int8), _ORDER),
    )
    return Fit(k, params, why=f"plain C99, {_TOGETHER} outputs, {made.said}", headers=k.rq.headers)


_ORDER = f"input by input of {_TOGETHER} outputs"


def _in_turn(rows: Array) -> Array:
    """Rows of outputs, some at a time: the first elements of these, then the second ones; flat."""
    return np.concatenate([rows[o : o + _TOGETHER].T.reshape(-1) for o in range(0, len(rows), _TOGETHER)])


def _fit(node: NodeOf[Conv2D | Dense]) -> Fit | None:
    made = grouped(node, wide=True)
    if made is None or (made.sums.wide and not made.fits_words):
        return None
    k = _context(node, made)
    size, kind = len(made.numbers) * k.row, np.dtype(np.int8) if k.fields is None else k.fields.dtype
    params = (
        made.sums.bias_field(),
        *made.sums.zero_fields(padded=False),
        *requant_fields(node.op.requant),
        Field("factors", made.factors.astype(np.int16).reshape(-1)),
        *_less_fields(made),
        Field.later("weights", kind, size, lambda: _packed(made.numbers, k)),
    )
    return Fit(k, params, why=f"plain C99, {made.said}", headers=k.rq.headers)


def _less_fields(made: Grouped) -> tuple[Field, ...]:
    """Params `w_shift` where groups have zero points of their own."""
    less = made.less
    if less is None:
        return ()
    return (Field("w_shift", less.astype(np.int8 if made.bits else np.int16).reshape(-1), about=GROUP_LESS),)


def _context(node: NodeOf[Conv2D | Dense], made: Grouped) -> DenseGroupsContext:
    x, w, _ = node.ins
    return DenseGroupsContext(
        x_t=x.dtype.ctype,
        y_t=node.outs[0].dtype.ctype,
        acc_t=made.sums.acc_t,
        n_in=x.shape[-1],
        n_out=w.shape[0],
        size=w.block,
        fields=Fields(made.bits, _BYTE) if made.bits else None,
        apart=made.less is not None,
        rq=requant_context(node.op.requant, wide=made.sums.wide),
    )


def _packed(numbers: Array, k: DenseGroupsContext) -> Array:
    """Group by group; those of few bits in elements of their group's own."""
    fields = k.fields
    if fields is None:
        return numbers.astype(np.int8).reshape(-1)
    split = k.rest_at
    parts = (numbers[:, :split].reshape(len(numbers), k.whole, k.size), numbers[:, None, split:])
    rows = [_elements(part, fields) for part in parts if part.size]
    return np.ascontiguousarray(np.concatenate(rows, axis=1)).reshape(-1)


def _elements(groups: Array, fields: Fields) -> Array:
    turn = fields.in_turn(1)
    full = filled_to(groups, turn, axis=2)
    return fields.packed(full.reshape(*full.shape[:2], -1, turn)).reshape(len(groups), -1)


DENSE_GROUPS: Kernel[Conv2D | Dense] = Kernel("dense_groups", "dense_groups.c.j2", "pixels", (Dense, Conv2D), _fit)

DENSE_GROUP_BYTES: Kernel[Conv2D | Dense] = Kernel(
    "dense_group_bytes",
    "dense_group_bytes.c.j2",
    "pixels",
    (Dense, Conv2D),
    _fit_bytes,
    without=frozenset({"program_memory"}),
    headers=("lam_order.h",),
)

KERNELS: tuple[Kernel[Any], ...] = (DENSE_GROUP_BYTES, DENSE_GROUPS)
