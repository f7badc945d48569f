"""FloatUnary and FloatClip: a function of the runtime for each element."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from codegen.ir.form import Field
from codegen.ir.op import NodeOf
from codegen.kernels.common import channels
from codegen.kernels.float32.functions import function_headers
from codegen.kernels.kernel import Fit, Kernel
from codegen.ops.float32 import FloatClip, FloatUnary
from codegen.records import record


@record
class FunctionContext:
    """Elements per pixel, the C function of each, and places of the numbers that it takes behind the element."""

    channels: int
    function: str
    numbers: tuple[int, ...]


def _fit_unary(node: NodeOf[FloatUnary]) -> Fit:
    return _fitted(channels(node.ins[0].shape), node.op.name, node.op.numbers)


def _fit_clip(node: NodeOf[FloatClip]) -> Fit:
    least, most = node.op.least, node.op.most
    held = (("at_least", least), ("at_most", most))
    finite = [(name, bound) for name, bound in held if np.isfinite(bound)]
    name = finite[0][0] if len(finite) == 1 else "clip"
    return _fitted(channels(node.ins[0].shape), name, [bound for _, bound in finite])


def _fitted(channels: int, name: str, numbers: Sequence[float]) -> Fit:
    context = FunctionContext(channels, f"lam_f32_{name}", tuple(range(len(numbers))))
    params = (Field("number", np.array(numbers, np.float32)),) if numbers else ()
    return Fit(context, params, headers=function_headers(name))


UNARY = Kernel("float_unary", "float32/unary.c.j2", "pixels", (FloatUnary,), _fit_unary, one_input=True)
CLIP = Kernel("float_clip", "float32/unary.c.j2", "pixels", (FloatClip,), _fit_clip, one_input=True)

KERNELS: tuple[Kernel[Any], ...] = (UNARY, CLIP)
