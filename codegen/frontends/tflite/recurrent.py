"""SVDF: layers that keep a variable tensor of their own from run to run."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from codegen.errors import ShapeMismatch, ZeroPointBad
from codegen.frontends.tflite.context import Context
from codegen.frontends.tflite.linear import read_bias
from codegen.frontends.tflite.nodes import TfliteNode
from codegen.frontends.tflite.scales import svdf_requant
from codegen.frontends.tflite.state import held, renew
from codegen.ops import Svdf

_STATE = 4


def svdf(ctx: Context, node: TfliteNode) -> None:
    """SVDF; its fused activation has no effect in TFLite Micro, and none here."""
    options = node.options_of("SVDFOptions")
    rank = node.take(options, "Rank")
    (x, _), (y, y_dtype) = ctx.quantized(node, 0), ctx.quantized_result(node)
    (features, _), (over_time, _), (state, kind) = (ctx.quantized(node, i) for i in (1, 2, _STATE))
    if features.zero_point or over_time.zero_point:
        raise ZeroPointBad("weights have a zero point", where=node.where)
    filters = len(np.atleast_1d(ctx.constant(node, 1)))
    if filters % rank:
        raise ShapeMismatch(f"{filters} filters of rank {rank}", where=node.where)
    op = Svdf(
        x_zero_point=x.zero_point,
        state_zero_point=state.zero_point,
        feature=svdf_requant(x.scale, features.scale, replace(state, zero_point=0), kind),
        requant=svdf_requant(state.scale, over_time.scale, y, y_dtype),
        y_quant=y,
    )
    ctx.constant(node, 2)
    bias = ctx.constant_value(node, "bias", read_bias(ctx, node, filters // rank, place=3).astype(np.int32))
    inputs = (*(ctx.value(node, i) for i in (0, 1, 2)), bias, held(ctx, node, _STATE))
    (memory,) = ctx.write_keeping(node, op, inputs, ("memory",))
    renew(ctx, node, _STATE, memory)
