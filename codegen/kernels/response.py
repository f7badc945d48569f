"""Response: a run of pixels, element by element."""

from __future__ import annotations

from typing import Any

import numpy as np

from codegen.ir.form import Field
from codegen.ir.op import NodeOf
from codegen.kernels.common import channels, range_field
from codegen.kernels.kernel import Fit, Kernel
from codegen.ops import Response
from codegen.records import record


@record
class ResponseContext:
    """How many elements a pixel has."""

    channels: int


def _fit(node: NodeOf[Response]) -> Fit | None:
    if len(node.dynamic) < len(node.ins):
        return None
    op = node.op
    powers, shifts = op.powers()
    params = (
        Field("curve", op.curve().astype(np.int32), about="a power between two powers of two"),
        Field("power", powers.astype(np.int32), about="by bits of the number: what its power of two becomes"),
        Field("numbers", np.array([op.bias, op.x.zero_point], np.int32), about="what is added, zero point"),
        range_field(op.y_quant.zero_point, op.low, op.high),
        Field("shift", shifts.astype(np.int8), about="bits to the right, by bits of the number"),
    )
    return Fit(ResponseContext(channels(node.outs[0].shape)), params)


RESPONSE = Kernel("response", "response.c.j2", "pixels", (Response,), _fit, headers=("lam_response.h", "lam_requant.h"))

KERNELS: tuple[Kernel[Any], ...] = (RESPONSE,)
