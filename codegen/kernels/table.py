"""The kernel table, family by family: kernels are tried in order, and the first that accepts a node serves it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from codegen.ir.form import Form
from codegen.ir.op import NodeView, Op
from codegen.kernels import (
    binary,
    cast,
    conv2d,
    conv_transpose,
    dense,
    dense_groups,
    depthwise,
    hardmax,
    join,
    l2_norm,
    layer_norm,
    lstm,
    matmul,
    movement,
    pieces,
    pool,
    recurrent,
    reduce,
    resize,
    response,
    scatter,
    select,
    sigmoid16,
    slopes,
    softmax,
    sums,
    svdf,
    take,
    triangle,
    unary,
    update,
)
from codegen.kernels.blocked import BLOCKED, BLOCKED_FASTER
from codegen.kernels.dsp import DSP, DSP_FASTER
from codegen.kernels.float32 import FLOAT32
from codegen.kernels.kernel import Features, Kernel
from codegen.kernels.lanes import LANES
from codegen.kernels.mve import MVE
from codegen.kernels.rvv import RVV
from codegen.kernels.signal import SIGNAL
from codegen.ops import OPS
from codegen.records import record

KERNELS: tuple[Kernel[Any], ...] = (
    join.KNOWN,
    *DSP,
    *MVE,
    *LANES,
    *RVV,
    *BLOCKED,
    *BLOCKED_FASTER,
    *DSP_FASTER,
    *FLOAT32,
    *depthwise.KERNELS,
    *dense_groups.KERNELS,
    *dense.KERNELS,
    *conv2d.KERNELS,
    *conv_transpose.KERNELS,
    *matmul.KERNELS,
    *binary.KERNELS,
    *pool.KERNELS,
    *reduce.KERNELS,
    *sums.KERNELS,
    *resize.KERNELS,
    *response.KERNELS,
    *softmax.KERNELS,
    *l2_norm.KERNELS,
    *layer_norm.KERNELS,
    *sigmoid16.KERNELS,
    *pieces.KERNELS,
    *svdf.KERNELS,
    *lstm.KERNELS,
    *recurrent.KERNELS,
    *unary.KERNELS,
    *slopes.KERNELS,
    *take.KERNELS,
    *scatter.KERNELS,
    *cast.KERNELS,
    *update.KERNELS,
    *triangle.KERNELS,
    *hardmax.KERNELS,
    *select.KERNELS,
    *SIGNAL,
    *join.KERNELS,
    *movement.KERNELS,
)


@record(eq=False)
class KernelTable:
    """The operators that there are, and the kernels that serve them, in the order in which they are tried."""

    operators: tuple[type[Op], ...] = OPS
    kernels: tuple[Kernel[Any], ...] = KERNELS

    def fitting(self, view: NodeView, features: Features) -> Iterator[Form]:
        """The forms of the node, the fastest first."""
        return (form for kernel in self.kernels if (form := kernel.fit(view, features)))

    def roomier(self, view: NodeView, form: Form) -> Form | None:
        """The form of the same kernel that takes more scratch and fewer instructions, if there is one."""
        kernels = (kernel for kernel in self.kernels if kernel.name == form.kernel)
        return next((kernel.fit_roomier(view, form.features) for kernel in kernels), None)

    def columns(self, view: NodeView, form: Form, rows: int) -> Iterator[Form]:
        """The forms that make so many rows of a map of one column as one row, of kernels of the same chip."""
        return (found for kernel in self.kernels if (found := kernel.fit_column(view, form.features, rows)))

    def copying(self, view: NodeView, form: Form) -> Form | None:
        """The form of the same kernel whose output may lie over its input, if there is one."""
        kernels = (kernel for kernel in self.kernels if kernel.name == form.kernel and kernel.serves(form.features))
        return next((kernel.fit_copying(view, form.features) for kernel in kernels), None)

    def has_operator(self, name: str) -> bool:
        """Whether an operator is called that."""
        return any(op.__name__ == name for op in self.operators)


TABLE = KernelTable()
"""The house's own."""
