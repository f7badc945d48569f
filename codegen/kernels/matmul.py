"""MatMul: products of computed matrices, or of a computed and a constant one; one matrix per call."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from codegen.ir.form import Field
from codegen.ir.op import NodeView
from codegen.ir.shape import row_count, row_elements
from codegen.kernels.common import RequantContext, requant_context, requant_fields, requant_takes
from codegen.kernels.kernel import adapted
from codegen.ops import MatMul

_BLOCK = 16


@dataclass(frozen=True, slots=True)
class SideContext:
    """One side: its slot of `rows`, or -1 and the elements between two constant matrices (0: there is one)."""

    t: str
    slot: int
    row: int


@dataclass(frozen=True, slots=True)
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
    def full_blocks(self) -> int:
        """Whole blocks per line."""
        return self.columns // self.block

    @property
    def rest(self) -> int:
        """Columns of the last, partial block."""
        return self.columns % self.block


def _accepts(node: NodeView, isa: str) -> bool:
    op = node.op
    if not isinstance(op, MatMul) or not node.dynamic:
        return False
    reach = op.reach(node.ins)
    if op.requant is None and _is_wide(node):
        return False
    return requant_takes(op.requant, -reach, reach, wide=True)


def _is_wide(node: NodeView) -> bool:
    assert isinstance(node.op, MatMul)
    return node.op.reach(node.ins) >= 1 << 31


def _side(node: NodeView, index: int) -> SideContext:
    kind = node.ins[index]
    if index in node.dynamic:
        return SideContext(kind.dtype.ctype, node.dynamic.index(index), 0)
    return SideContext(kind.dtype.ctype, -1, row_elements(kind.shape) if row_count(kind.shape) > 1 else 0)


def _context(node: NodeView) -> MatMulContext:
    op = node.op
    assert isinstance(op, MatMul)
    lines, depth = node.ins[0].shape[-2:]
    wide = _is_wide(node)
    rq, acc_t = requant_context(op.requant, wide=wide), "int64_t" if wide else "int32_t"
    return MatMulContext(rq, acc_t, _side(node, 0), _side(node, 1), lines, depth, node.ins[1].shape[-1])


def _params(node: NodeView) -> tuple[Field, ...]:
    op = node.op
    assert isinstance(op, MatMul)
    constants = tuple(
        Field(f"{name}_const", data.reshape(-1))
        for name, data in zip("ab", node.consts, strict=True)
        if data is not None
    )
    zeros = np.array([op.a_zero_point, op.b_zero_point], np.int32)
    return (*requant_fields(op.requant), Field("zero", zeros), *constants)


MATMUL = adapted("matmul", "matmul.c.j2", "row", _accepts, _context, _params)
