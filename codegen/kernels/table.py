"""The kernel table, family by family: kernels are tried in order, and the first that accepts a node serves it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import partial
from itertools import islice
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
from codegen.kernels.worth_packing import UNPACKING, Unpacking, in_bytes, is_packed
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

Fitting = Callable[[NodeView, Features], Form | None]


def _of_bytes(form: Form) -> Form:
    """The form, whose tiles have their weights in bytes as well."""

    def again(tile: NodeView) -> Form | None:
        found = form.fit_again(in_bytes(tile))
        return found and _of_bytes(found)

    return replace(form, fit_again=again)


@record(eq=False)
class KernelTable:
    """The operators that there are, and the kernels that serve them, in the order in which they are tried.

    `unpacking`: by which layers' weights of few bits are left in bytes (worth_packing.py).
    """

    operators: tuple[type[Op], ...] = OPS
    kernels: tuple[Kernel[Any], ...] = KERNELS
    unpacking: tuple[Unpacking, ...] = UNPACKING

    def fitting(self, view: NodeView, features: Features) -> Iterator[Form]:
        """The forms of the node, the fastest first."""
        return self._forms(view, features, (kernel.fit for kernel in self.kernels))

    def roomier(self, view: NodeView, form: Form) -> Form | None:
        """The form of the same kernel that takes more scratch and fewer instructions, if there is one."""
        kernels = (kernel for kernel in self.kernels if kernel.name == form.kernel)
        return self._form(view, form.features, (kernel.fit_roomier for kernel in kernels))

    def columns(self, view: NodeView, form: Form, rows: int) -> Iterator[Form]:
        """The forms that make so many rows of a map of one column as one row, of kernels of the same chip."""
        return self._forms(view, form.features, (partial(kernel.fit_column, rows=rows) for kernel in self.kernels))

    def copying(self, view: NodeView, form: Form) -> Form | None:
        """The form of the same kernel whose output may lie over its input, if there is one."""
        kernels = (kernel for kernel in self.kernels if kernel.name == form.kernel and kernel.serves(form.features))
        return self._form(view, form.features, (kernel.fit_copying for kernel in kernels))

    def _form(self, view: NodeView, features: Features, fits: Iterator[Fitting]) -> Form | None:
        """What the first of these says."""
        return next(self._forms(view, features, islice(fits, 1)), None)

    def _forms(self, view: NodeView, features: Features, fits: Iterator[Fitting]) -> Iterator[Form]:
        """Those that there are; where weights of few bits are not packed, of bytes."""
        if is_packed(view, features, self.unpacking):
            return (form for fit in fits if (form := fit(view, features)))
        seen = in_bytes(view)
        return (_of_bytes(form) for fit in fits if (form := fit(seen, features)))

    def has_operator(self, name: str) -> bool:
        """Whether an operator is called that."""
        return any(op.__name__ == name for op in self.operators)


TABLE = KernelTable()
"""The house's own."""
