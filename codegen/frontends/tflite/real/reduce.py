"""Reductions over axes, places of extrema, running sums, SOFTMAX and L2_NORMALIZATION."""

from __future__ import annotations

from collections.abc import Mapping

from codegen.errors import FormUnsupported, ShapeMismatch
from codegen.frontends.tflite.axes import read_axes, read_axis
from codegen.frontends.tflite.nodes import TfliteNode
from codegen.frontends.tflite.real.context import RealContext, Table, Versions
from codegen.frontends.tflite.real.elementwise import activation
from codegen.real.cumulative import CumulativeSum
from codegen.real.normal import LocalResponseNorm, LpNorm
from codegen.real.reduce import ArgExtremum, Reduce, Softmax

REDUCTIONS: Mapping[str, tuple[str, str]] = {
    "MEAN": ("Mean", "fi"),
    "REDUCE_ALL": ("Min", "b"),
    "REDUCE_ANY": ("Max", "b"),
    "REDUCE_MAX": ("Max", "fiu"),
    "REDUCE_MIN": ("Min", "fiu"),
    "REDUCE_PROD": ("Prod", "fiu"),
    "SUM": ("Sum", "fiu"),
}
"""The reduction, and the kinds of numbers that it takes."""
_LEAST_NORM = 1e-6


def reduce(ctx: RealContext, node: TfliteNode) -> None:
    """MEAN, SUM and the others; the axis stays with size 1 where the options say so."""
    kind, kinds = REDUCTIONS[node.op_type]
    ctx.of_one_kind(node, 0, kinds)
    keep = bool(node.options_of("ReducerOptions").KeepDims())
    axes = read_axes(node, ctx.int_list(node, 1), len(ctx.shape(node, 0)))
    ctx.write(node, Reduce(kind, axes, keep), [ctx.value(node, 0)])


def arg_extremum(ctx: RealContext, node: TfliteNode) -> None:
    """ARG_MAX and ARG_MIN: the first of equal ones."""
    axis, kind = _single_axis(ctx, node), ctx.whole_result(node)
    ctx.write(node, ArgExtremum(axis, node.op_type == "ARG_MAX", False, dtype=kind), [ctx.value(node, 0)])


def cumulative_sum(ctx: RealContext, node: TfliteNode) -> None:
    """CUMSUM along an axis."""
    options = node.options_of("CumsumOptions")
    op = CumulativeSum(_single_axis(ctx, node), bool(options.Exclusive()), bool(options.Reverse()))
    ctx.write(node, op, [ctx.value(node, 0)])


def _single_axis(ctx: RealContext, node: TfliteNode) -> int:
    axes, rank = ctx.int_list(node, 1), len(ctx.shape(node, 0))
    if len(axes) != 1:
        raise ShapeMismatch(f"axes {list(axes)} of a tensor of {rank} axes", where=node.where)
    return read_axis(node, axes[0], rank)


def softmax(ctx: RealContext, node: TfliteNode) -> None:
    """SOFTMAX over the last axis, of the numbers times beta."""
    beta = node.real(node.options_of("SoftmaxOptions"), "Beta")
    if beta <= 0:
        raise FormUnsupported(f"a factor beta of {beta}", where=node.where)
    last = _last(ctx, node)
    ctx.write(node, Softmax((last,), beta=beta), [ctx.value(node, 0)])


def log_softmax(ctx: RealContext, node: TfliteNode) -> None:
    """LOG_SOFTMAX over the last axis."""
    ctx.write(node, Softmax((_last(ctx, node),), log=True), [ctx.value(node, 0)])


def local_response_normalization(ctx: RealContext, node: TfliteNode) -> None:
    """LOCAL_RESPONSE_NORMALIZATION over `radius` channels on either side; its alpha is that of each square."""
    ctx.of_one_kind(node, 0, "f")
    ctx.not_quantized(node, 0)
    options = node.options_of("LocalResponseNormalizationOptions")
    last = _last(ctx, node)
    radius = min(node.take(options, "Radius", low=0), ctx.shape(node, 0)[last])
    size = 2 * radius + 1  # of which alpha is a share in ONNX
    bias, alpha, beta = (node.real(options, what) for what in ("Bias", "Alpha", "Beta"))
    op = LocalResponseNorm(size, alpha * size, beta, bias, last)
    ctx.write(node, op, [ctx.value(node, 0)])


def l2_normalization(ctx: RealContext, node: TfliteNode) -> None:
    """L2_NORMALIZATION over the last axis; a norm is 10^-6 at least."""
    op, post = LpNorm(_last(ctx, node), 2, _LEAST_NORM), activation(node, node.options_of("L2NormOptions"))
    ctx.write(node, op, [ctx.value(node, 0)], post=post)


def _last(ctx: RealContext, node: TfliteNode) -> int:
    ctx.of_one_kind(node, 0, "f")
    rank = len(ctx.shape(node, 0))
    if not rank:
        raise ShapeMismatch("a single number has no last axis", where=node.where)
    return rank - 1


TRANSLATORS: Table = {
    **dict.fromkeys(REDUCTIONS, reduce),
    "ARG_MAX": arg_extremum,
    "ARG_MIN": arg_extremum,
    "CUMSUM": cumulative_sum,
    "L2_NORMALIZATION": l2_normalization,
    "LOCAL_RESPONSE_NORMALIZATION": local_response_normalization,
    "LOG_SOFTMAX": log_softmax,
    "SOFTMAX": softmax,
}
NEWEST: Versions = {
    "ARG_MAX": 3,
    "ARG_MIN": 3,
    "L2_NORMALIZATION": 2,
    "LOG_SOFTMAX": 2,
    "MEAN": 3,
    "REDUCE_MAX": 3,
    "REDUCE_MIN": 3,
    "REDUCE_PROD": 2,
    "SOFTMAX": 3,
    "SUM": 2,
}
