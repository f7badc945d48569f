"""Depthwise convolution (one filter per channel), channels in blocks; weights [KH, KW, C]."""

from __future__ import annotations

from typing import Any

import numpy as np

from codegen.ir.form import Field
from codegen.ir.op import NodeOf
from codegen.ir.quant import Array
from codegen.kernels.common import requant_fields
from codegen.kernels.conv2d import conv_context, is_depthwise
from codegen.kernels.kernel import Fit, Kernel
from codegen.kernels.weighted import weighted
from codegen.ops import Conv2D


def _fit(node: NodeOf[Conv2D]) -> Fit | None:
    sums = weighted(node, apart=True)
    if sums is None or not is_depthwise(node):
        return None
    weights = sums.weights
    by_tap = Field.later("weights", weights.dtype, weights.size, lambda: _by_tap(weights), "[rows][columns][channels]")
    context = conv_context(node, sums)
    zero = sums.zero_fields(padded=context.has_edges)
    params = (sums.bias_field(), *zero, *requant_fields(node.op.requant), by_tap)
    return Fit(context, params, headers=context.rq.headers)


def _by_tap(weights: Array) -> Array:
    return np.ascontiguousarray(weights[:, :, :, 0].transpose(1, 2, 0)).reshape(-1)


DEPTHWISE = Kernel("depthwise", "depthwise.c.j2", "row", (Conv2D,), _fit, program_memory=True)

KERNELS: tuple[Kernel[Any], ...] = (DEPTHWISE,)
