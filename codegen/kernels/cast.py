"""Cast: each number in another type."""

from __future__ import annotations

from typing import Any

from codegen.ir.op import NodeOf
from codegen.ir.quant import DType
from codegen.kernels.common import channels
from codegen.kernels.kernel import Fit, Kernel
from codegen.ops import Cast
from codegen.records import record

_WRAPS = {DType.S8: "lam_wrap_i8", DType.S16: "lam_wrap_i16"}


@record
class CastContext:
    """Elements per pixel, and what one becomes."""

    channels: int
    value: str


def _fit(node: NodeOf[Cast]) -> Fit:
    x, to = node.ins[0].dtype, node.op.to
    headers = []
    value = "x[i]"
    if node.op.bits and x is not to:
        value = "lam_wrap_i32(lam_f32_bits(x[i]))" if x.is_float else "lam_f32_from_bits((uint32_t)x[i])"
        headers += ["lam_f32.h", *(["lam_wrap.h"] if x.is_float else [])]
    elif x.is_float and not to.is_float:
        value = "lam_f32_whole(x[i])"
        headers.append("lam_f32_elementwise.h")
    if node.op.bits:
        pass
    elif to in _WRAPS and x is not to:
        value = f"{_WRAPS[to]}((uint32_t){value})"
        headers.append("lam_wrap.h")
    elif to is not x:
        value = f"({to.ctype}){value}"
    return Fit(CastContext(channels(node.ins[0].shape), value), headers=tuple(headers))


CAST = Kernel("cast", "cast.c.j2", "pixels", (Cast,), _fit, one_input=True)

KERNELS: tuple[Kernel[Any], ...] = (CAST,)
