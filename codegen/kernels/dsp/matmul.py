"""MatMul on the DSP extension: two rows by two columns at a time, both widened to pairs in scratch.

Columns, less their zero point, are widened some at a time, so that they take about a kilobyte; each two rows are
widened for all of these.  A row's own zero point is made up for where sums start.  Cores with Helium have the
extension too, which is why the kernel asks for `pairs` and not for `dsp`.
"""

from __future__ import annotations

import numpy as np

from codegen.ir.form import Field, Scratch
from codegen.ir.op import NodeOf
from codegen.kernels.common import constant_fields
from codegen.kernels.fast import FastRequant, fast_fields, fast_requant
from codegen.kernels.kernel import Fit, Kernel
from codegen.kernels.matmul import SideContext, side, takes_sides
from codegen.ops import MatMul
from codegen.records import record

_PANEL_BYTES = 1024
_REACH = 1 << 31
_LEAST_ROWS = 2
"""Fewer than two rows do not make up for widening the columns."""


@record
class MatMulContext:
    """Literals of one product: a[lines][depth], b[depth][columns], of which `panel` columns are widened at a time."""

    rq: FastRequant
    a: SideContext
    b: SideContext
    y_t: str
    lines: int
    depth: int
    columns: int
    panel: int

    @property
    def odd_lines(self) -> bool:
        """Whether the last row has no partner."""
        return self.lines % 2 == 1

    @property
    def odd_columns(self) -> bool:
        """Whether the last column has no partner."""
        return self.columns % 2 == 1

    @property
    def is_cut(self) -> bool:
        """Whether fewer columns are widened at the end."""
        return self.columns % self.panel > 0

    @property
    def beside(self) -> int:
        """From an output to that of the next row and column."""
        return self.columns + 1

    @property
    def groups(self) -> int:
        """Groups of four values of a row."""
        return -(-self.depth // 4)

    @property
    def pair_words(self) -> int:
        """Words that two rows take."""
        return 4 * self.groups

    @property
    def a_kind(self) -> str:
        """Rows' values, as names of functions end in."""
        return "s8" if self.a.t == "int8_t" else "u8"

    @property
    def b_kind(self) -> str:
        """Columns' values."""
        return "s8" if self.b.t == "int8_t" else "u8"


def _fit(node: NodeOf[MatMul]) -> Fit | None:
    op, (x, w), (y,) = node.op, node.ins, node.outs
    lines, depth = x.shape[-2:]
    columns = w.shape[-1]
    reach = depth * max(abs(x.dtype.low), x.dtype.high) * w.dtype.reach(op.b_zero_point)
    most = reach + depth * abs(op.a_zero_point) * w.dtype.reach(op.b_zero_point)
    bytes_only = all(t.dtype.bytes == 1 for t in (x, w, y))
    if not takes_sides(node) or not bytes_only or op.requant is None or op.requant.per_channel:
        return None
    if most >= _REACH or lines < _LEAST_ROWS:
        return None
    rq = fast_requant(op.requant, op.reach(node.ins))
    panel = max(2, min(columns + columns % 2, _PANEL_BYTES // (2 * 4 * -(-depth // 4)) & ~1))
    context = MatMulContext(rq, side(node, 0), side(node, 1), y.dtype.ctype, lines, depth, columns, panel)
    zeros = Field("zero", np.array([op.a_zero_point, op.b_zero_point], np.int32))
    fields = fast_fields(op.requant, op.reach(node.ins), 1)
    params = (*fields, zeros, *constant_fields(node, ("a_const", "b_const")))
    words = panel + panel * 2 * context.groups
    scratch = (Scratch("rows", 4 * context.pair_words), Scratch("columns", 4 * words))
    # What the requantization reads is kept in memory (templates/macros/fast.c.j2) where it has a form.
    return Fit(
        context,
        params,
        scratch,
        "2 rows x 2 columns, SMLAD on both widened",
        headers=(*rq.headers, *(("lam_order.h",) if rq.form else ())),
    )


MATMUL: Kernel[MatMul] = Kernel(
    "dsp_matmul",
    "dsp/matmul.c.j2",
    "row",
    (MatMul,),
    _fit,
    frozenset({"pairs"}),
    headers=("lam_armv7em.h", "lam_armv7em_matmul.h", "lam_armv7em_wide.h"),
)
