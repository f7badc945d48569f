"""MatMul: products of computed matrices, or of a computed and a constant one; one matrix per call."""

from __future__ import annotations

from typing import Any

import numpy as np

from codegen.ir.form import Field
from codegen.ir.op import NodeOf
from codegen.ir.shape import row_count, row_elements
from codegen.kernels.common import RequantContext, constant_fields, requant_context, requant_fields, requant_takes
from codegen.kernels.kernel import Fit, Kernel
from codegen.ops import MatMul
from codegen.ops.float32 import FloatMatMul
from codegen.records import record

_INT32 = 1 << 31
_TALL, _WIDE = 2, 4
"""Rows and columns of a tile, whose sums a core holds in registers."""


@record
class SideContext:
    """One side: its slot of `rows`, or -1 and the elements between two constant matrices (0: there is one)."""

    t: str
    slot: int
    row: int


@record
class MatMulContext:
    """Literals of one product: a[lines][depth], b[depth][columns]."""

    rq: RequantContext
    acc_t: str
    a: SideContext
    b: SideContext
    lines: int
    depth: int
    columns: int

    @property
    def wide(self) -> int:
        """Columns of a tile."""
        return min(self.columns, _WIDE)

    @property
    def blocked(self) -> int:
        """Columns in whole tiles."""
        return self.columns - self.rest

    @property
    def rest(self) -> int:
        """Columns of the last, partial tile."""
        return self.columns % self.wide

    @property
    def pairs(self) -> int:
        """Pairs of rows."""
        return self.lines // _TALL

    @property
    def odd(self) -> int:
        """Rows without a partner."""
        return self.lines % _TALL

    @property
    def tiles(self) -> tuple[tuple[int, int], ...]:
        """Rows and columns of the tiles that there are."""
        tall = [rows for rows, count in ((_TALL, self.pairs), (1, self.odd)) if count]
        wide = [columns for columns, count in ((self.wide, self.blocked), (self.rest, self.rest)) if count]
        return tuple((rows, columns) for rows in tall for columns in wide)


def _fit(node: NodeOf[MatMul]) -> Fit | None:
    op, reach = node.op, node.op.reach(node.ins)
    x, w = node.ins[0].dtype, node.ins[1].dtype
    partial = node.ins[0].shape[-1] * x.reach(op.a_zero_point) * (w.reach(0) + abs(op.b_zero_point))
    wide = partial >= _INT32
    if (
        not takes_sides(node)
        or (reach >= _INT32 and op.requant is None)
        or not requant_takes(op.requant, -reach, reach, wide=True)
    ):
        return None
    lines, depth = node.ins[0].shape[-2:]
    rq, acc_t = requant_context(op.requant, wide=wide), "int64_t" if wide else "int32_t"
    context = MatMulContext(rq, acc_t, side(node, 0), side(node, 1), lines, depth, node.ins[1].shape[-1])
    zeros = Field("zero", np.array([op.a_zero_point, op.b_zero_point], np.int32))
    params = (*requant_fields(op.requant), zeros, *constant_fields(node, ("a_const", "b_const")))
    return Fit(context, params, headers=rq.headers)


def takes_sides(node: NodeOf[MatMul] | NodeOf[FloatMatMul]) -> bool:
    """Whether a side is computed, and a constant one is a single matrix or has one for each row."""
    rows = row_count(node.outs[0].shape)
    constant = [row_count(node.ins[i].shape) for i in range(2) if i not in node.dynamic]
    return len(constant) < 2 and all(count in (1, rows) for count in constant)


def side(node: NodeOf[MatMul], index: int) -> SideContext:
    """Where a call finds one side of its product."""
    kind = node.ins[index]
    if index in node.dynamic:
        return SideContext(kind.dtype.ctype, node.dynamic.index(index), 0)
    return SideContext(kind.dtype.ctype, -1, row_elements(kind.shape) if row_count(kind.shape) > 1 else 0)


MATMUL = Kernel("matmul", "matmul.c.j2", "row", (MatMul,), _fit)

KERNELS: tuple[Kernel[Any], ...] = (MATMUL,)
