"""Products of two real matrices, computed or constant; one matrix per call."""

from __future__ import annotations

from typing import Any

from codegen.ir.op import NodeOf
from codegen.ir.quant import Sums
from codegen.ir.shape import row_count, row_elements
from codegen.kernels.common import constant_fields
from codegen.kernels.float32.common import sum_header
from codegen.kernels.kernel import Fit, Kernel
from codegen.kernels.matmul import takes_sides
from codegen.ops.float32 import FloatMatMul
from codegen.records import record


@record
class FloatSide:
    """One side: its slot of `rows`, or -1 and the elements between two constant matrices (0: there is one)."""

    slot: int
    row: int


@record
class FloatMatMulContext:
    """Sizes of one product: a[lines][depth], b[depth][columns]."""

    a: FloatSide
    b: FloatSide
    lines: int
    depth: int
    columns: int
    sums: Sums


def _fit(node: NodeOf[FloatMatMul]) -> Fit | None:
    if not takes_sides(node):
        return None
    lines, depth = node.ins[0].shape[-2:]
    context = FloatMatMulContext(_side(node, 0), _side(node, 1), lines, depth, node.ins[1].shape[-1], node.op.sums)
    return Fit(context, constant_fields(node, ("a_const", "b_const")), headers=(sum_header(node.op),))


def _side(node: NodeOf[FloatMatMul], index: int) -> FloatSide:
    shape = node.ins[index].shape
    if index in node.dynamic:
        return FloatSide(node.dynamic.index(index), 0)
    return FloatSide(-1, row_elements(shape) if row_count(shape) > 1 else 0)


MATMUL = Kernel("matmul_f32", "float32/matmul.c.j2", "row", (FloatMatMul,), _fit)

KERNELS: tuple[Kernel[Any], ...] = (MATMUL,)
