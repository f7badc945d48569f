"""Scatter: a copy, then one update after the other."""

from __future__ import annotations

from typing import Any

from codegen.ir.op import NodeOf
from codegen.ir.quant import DType
from codegen.kernels.common import constant_fields, sides
from codegen.kernels.kernel import Fit, Kernel
from codegen.ops import Scatter
from codegen.records import record

_NAMES = ("base", "position", "update")
_FLOAT = {"add": "y[i] + from[i]", "mul": "y[i] * from[i]"}
_WHOLE = {
    "add": "lam_wrap_i32((uint32_t)y[i] + (uint32_t)from[i])",
    "mul": "lam_wrap_i32((uint32_t)y[i] * (uint32_t)from[i])",
    "maximum": "y[i] >= from[i] ? y[i] : from[i]",
    "minimum": "y[i] <= from[i] ? y[i] : from[i]",
}


@record
class ScatterContext:
    """C types and expressions of the inputs, elements of x and of an update, and what a place becomes."""

    sides: tuple[tuple[str, str], ...]
    elements: int
    bytes: int
    count: int
    run: int
    last: int
    joined: str


def _fit(node: NodeOf[Scatter]) -> Fit | None:
    if not node.dynamic:
        return None
    x = node.ins[0]
    context = ScatterContext(
        sides=sides(node, _NAMES),
        elements=x.elements,
        bytes=x.elements * x.dtype.bytes,
        count=node.ins[1].elements,
        run=x.shape[1],
        last=x.shape[0] - 1,
        joined=_joined(node.op.joining, x.dtype),
    )
    return Fit(context, constant_fields(node, _NAMES), headers=_headers(node.op.joining, x.dtype))


def _joined(joining: str, dtype: DType) -> str:
    if joining == "none":
        return "from[i]"
    called = f"lam_f32_{joining}(y[i], from[i])"
    return _FLOAT.get(joining, called) if dtype is DType.F32 else _WHOLE[joining]


def _headers(joining: str, dtype: DType) -> tuple[str, ...]:
    found = ["lam_requant.h"]
    if joining in ("maximum", "minimum") and dtype is DType.F32:
        found.append("lam_f32.h")
    if joining in ("add", "mul") and dtype is not DType.F32:
        found.append("lam_wrap.h")
    return tuple(sorted(found))


SCATTER = Kernel("scatter", "scatter.c.j2", "whole", (Scatter,), _fit)

KERNELS: tuple[Kernel[Any], ...] = (SCATTER,)
