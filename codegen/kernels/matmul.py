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
from codegen.records import record

_BLOCK = 16


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
    def block(self) -> int:
        """Columns summed at a time."""
        return min(self.columns, _BLOCK)

    @property
    def blocked(self) -> int:
        """Columns in whole blocks."""
        return self.columns - self.rest

    @property
    def rest(self) -> int:
        """Columns of the last, partial block."""
        return self.columns % self.block


def _fit(node: NodeOf[MatMul]) -> Fit | None:
    op, reach = node.op, node.op.reach(node.ins)
    wide = reach >= 1 << 31
    if not node.dynamic or (wide and op.requant is None) or not requant_takes(op.requant, -reach, reach, wide=True):
        return None
    lines, depth = node.ins[0].shape[-2:]
    rq, acc_t = requant_context(op.requant, wide=wide), "int64_t" if wide else "int32_t"
    context = MatMulContext(rq, acc_t, _side(node, 0), _side(node, 1), lines, depth, node.ins[1].shape[-1])
    zeros = Field("zero", np.array([op.a_zero_point, op.b_zero_point], np.int32))
    params = (*requant_fields(op.requant), zeros, *constant_fields(node, ("a_const", "b_const")))
    return Fit(context, params, headers=rq.headers)


def _side(node: NodeOf[MatMul], index: int) -> SideContext:
    kind = node.ins[index]
    if index in node.dynamic:
        return SideContext(kind.dtype.ctype, node.dynamic.index(index), 0)
    return SideContext(kind.dtype.ctype, -1, row_elements(kind.shape) if row_count(kind.shape) > 1 else 0)


MATMUL = Kernel("matmul", "matmul.c.j2", "row", (MatMul,), _fit)

KERNELS: tuple[Kernel[Any], ...] = (MATMUL,)
