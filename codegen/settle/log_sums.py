"""Logarithms of sums over axes: of the tensor's numbers, and of their exponentials.

Decides: that a sum of steps is exact, and its logarithm one of a whole number to which that of the scale is added; that
a sum of exponentials is the largest number less what LogSoftmax makes of it, which has the 16 bits between 0 and the
logarithm of the count.
"""

from __future__ import annotations

import math

import numpy as np

from codegen.errors import FormUnsupported
from codegen.ir.quant import DType, Quant, TensorType, is_pot
from codegen.ir.real import RealNode
from codegen.ir.shape import Window
from codegen.ops import (
    LogSoftmax,
    MaxPool2D,
    Reshape,
    ScaledSum,
    WholeArithmetic,
    activation_bounds,
    broken_limits,
)
from codegen.ops.float32 import FloatReduce
from codegen.ops.whole import LOG_BITS
from codegen.real.reduce import Reduce
from codegen.settle.context import Context, real_bounds, story
from codegen.settle.float32.writer import Writer
from codegen.settle.states import Pending, Real, Request, Route
from codegen.settle.sums import rescaled, steps_of

_LEAST = 2.0**-16
"""The smallest step that LogSoftmax has for 16 bits."""


def log_of_sum(ctx: Context, node: RealNode, x: Real, op: Reduce) -> Pending:
    """ReduceLogSum; where the sum is not above 0, the lowest number that the result's integers have."""
    shape, kind, axes = ctx.shape(x), ctx.type(x.value).dtype, tuple(sorted(op.axes))
    count, wanted = math.prod(shape[a] for a in axes), ctx.real(node.outputs[0]).shape
    if count * kind.reach(x.quant.zero_point) > DType.S32.high or is_pot(ctx.mode):
        raise FormUnsupported(f"{node.op_type} of {count} numbers of type {kind.value}", where=node.where)

    def emit(request: Request) -> str:
        w = Writer(ctx, node)
        total = w.reshaped(w.apply(FloatReduce("sum", axes), steps_of(w, x)), wanted)
        of_scale = w.whole(round(math.log(x.quant.scale) * 2**LOG_BITS))
        return rescaled(ctx, w.apply(WholeArithmetic("log"), total, of_scale), 2.0**-LOG_BITS, request)

    return Pending(wanted, emit, (node,))


def log_of_exponentials(ctx: Context, node: RealNode, x: Real, op: Reduce) -> Pending:
    """ReduceLogSumExp: LogSoftmax of the largest number is that number less it."""
    shape, axes = ctx.shape(x), tuple(sorted(op.axes))
    kept = tuple(i for i in range(len(shape)) if i not in axes)
    count, wanted = math.prod(shape[a] for a in axes), ctx.real(node.outputs[0]).shape
    least = math.log(count) / (DType.S16.high - DType.S16.low)
    share = Quant(float(np.float32(max(least, _LEAST))), DType.S16.high)
    shares = LogSoftmax(x.quant, share, DType.S16, ctx.mode)
    flat = TensorType((math.prod(shape) // count, count), ctx.type(x.value).dtype, x.quant)
    if is_pot(ctx.mode) or broken_limits(shares, [flat]):
        raise FormUnsupported(f"{node.op_type} of {count} numbers", where=node.where)

    def emit(request: Request) -> str:
        w = Writer(ctx, node)
        rows = w.reshaped(w.transposed(x.value, (*kept, *axes)), flat.shape)
        maps = (w.reshaped(v, (1, *flat.shape, 1)) for v in (rows, w.apply(shares, rows)))
        top, most = (w.apply(MaxPool2D(Window(1), Window(count)), v) for v in maps)
        bounds = activation_bounds(request.quant, request.dtype, *real_bounds(request))
        main = ScaledSum((x.quant, share), (1, -1), request.quant, request.dtype, *bounds)
        if broken_limits(main, [ctx.type(top), ctx.type(most)]):
            raise FormUnsupported(f"{node.op_type} to a scale of {request.quant.scale:.4g}", where=node.where)
        note = f"{story(request.trail)} -> the largest less LogSoftmax of it"
        return ctx.run(top, Route(main, post=(Reshape(wanted),)), request.name, request.trail, note, [most])

    return Pending(wanted, emit, (node,))
