"""Depthwise convolution (one filter per channel), channels in blocks; weights [KH, KW, C]."""

from __future__ import annotations

import numpy as np

from codegen.ir.form import Field
from codegen.ir.op import NodeView
from codegen.kernels.common import requant_fields
from codegen.kernels.conv2d import bias_fields, conv_constants, conv_context, fits
from codegen.kernels.kernel import adapted
from codegen.ops import Conv2D


def _accepts(node: NodeView, isa: str) -> bool:
    op = node.op
    if not isinstance(op, Conv2D) or not fits(node):
        return False
    return op.groups == node.ins[0].shape[3] == node.outs[0].shape[3] and op.groups > 1


def _params(node: NodeView) -> tuple[Field, ...]:
    op = node.op
    assert isinstance(op, Conv2D)
    weights, bias = conv_constants(node)
    by_tap = np.ascontiguousarray(weights[:, :, :, 0].transpose(1, 2, 0))
    return (
        *bias_fields(weights, bias, op.x_zero_point, node.ins[0].dtype),
        *requant_fields(op.requant),
        Field("weights", by_tap.reshape(-1)),
    )


DEPTHWISE = adapted("depthwise", "depthwise.c.j2", "row", _accepts, conv_context, _params)
