"""Add, Sub, Mul, Div, Pow, Min and Max, and BatchNormalization.

Decides: which of these are part of a product (bias, factor), which are a function of one tensor (a scalar constant, or
twice the same tensor), and which are an operator of two tensors.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import replace

import numpy as np

from codegen.errors import FormUnsupported
from codegen.frontends.onnx.context import Context, array_of, is_scalar, real_bounds, story
from codegen.frontends.onnx.linear import add_bias, channel_vector, scaled, with_linear
from codegen.frontends.onnx.matmul import Side, const_side
from codegen.frontends.onnx.nodes import OnnxNode
from codegen.frontends.onnx.states import Function, IntConst, Pending, Real, Request, Route, State
from codegen.frontends.onnx.tables import as_dtype, combined, exact, mapped
from codegen.ir.op import Op
from codegen.ir.quant import Array, DType, Mode, Quant
from codegen.ops import Add, Extremum, Mul, Reshape, activation_bounds, make_requant

_FUNCTIONS: dict[str, Callable[[Array, Array], Array]] = {
    "Add": np.add,
    "Sub": np.subtract,
    "Mul": np.multiply,
    "Div": np.divide,
    "Pow": np.power,
    "Min": np.minimum,
    "Max": np.maximum,
}


def elementwise(ctx: Context, node: OnnxNode) -> Sequence[State]:
    """Any of the operators on two float tensors, one of them perhaps constant."""
    if len(node.inputs) == 1 and node.op_type in ("Min", "Max"):
        return [ctx.state(node, 0)]
    if len(node.inputs) > 2:
        raise FormUnsupported(f"{node.op_type} of {len(node.inputs)} tensors", where=node.where)
    a, b = ctx.state(node, 0), ctx.state(node, 1)
    for found in (_of_product(ctx, node, a, b), _of_one(ctx, node, a, b)):
        if found is not None:
            return [found]
    if node.op_type in ("Add", "Sub", "Mul"):
        dtype = next((ctx.type(s.value).dtype for s in (a, b) if isinstance(s, Real)), DType.S8)
        return [binary(ctx, node, operand(ctx, node, 0, dtype), operand(ctx, node, 1, dtype))]
    if node.op_type in ("Min", "Max"):
        return [_extremum(ctx, node)]
    exact(ctx, node, 0)
    raise FormUnsupported(f"{node.op_type} of two tensors", where=node.where)


def _extremum(ctx: Context, node: OnnxNode) -> State:
    """The larger or smaller of two tensors of one meaning, of which it is a comparison of integers."""
    a, b = exact(ctx, node, 0), exact(ctx, node, 1)
    if a.quant != b.quant or ctx.type(a.value).dtype is not ctx.type(b.value).dtype:
        hint = "quantize both alike"
        raise FormUnsupported(f"{node.op_type} of tensors of different scales", where=node.where, hint=hint)
    rank = max(len(ctx.shape(a)), len(ctx.shape(b)))
    x, y = (with_rank(ctx, s.value, rank) for s in (a, b))
    op = Extremum(node.op_type == "Max", a.quant)
    name = node.outputs[0]
    value = ctx.run(x, Route(op), name, (node,), f"{node.op_type} -> Extremum", [y])
    return Real(value, a.quant, trail=(node,))


def batch_normalization(ctx: Context, node: OnnxNode) -> Sequence[State]:
    """BatchNormalization right behind a product."""
    x = ctx.state(node, 0)
    scale, bias, mean, variance = (ctx.const(node, i).astype(np.float64) for i in range(1, 5))
    if not isinstance(x, Pending) or x.linear is None or x.bounded:
        hint = "fold it into the convolution before quantizing (onnxruntime's quant_pre_process does)"
        raise FormUnsupported("BatchNormalization that does not follow a convolution", where=node.where, hint=hint)
    outputs = len(x.linear.scales)
    if any(v.shape != (outputs,) for v in (scale, bias, mean, variance)):
        raise FormUnsupported(f"parameters for other than {outputs} channels", where=node.where)
    with np.errstate(all="ignore"):
        factor = scale / np.sqrt(variance + node.real("epsilon", 1e-5))
    linear = scaled(x.linear, factor, node)
    return [with_linear(ctx, x, replace(linear, bias_real=linear.bias_real + bias - mean * factor), node)]


def operand(ctx: Context, node: OnnxNode, index: int, dtype: DType) -> Side:
    """One input as integers of `dtype` where that loses nothing."""
    state = ctx.state(node, index)
    if isinstance(state, IntConst):
        return const_side(ctx, node, index, _const_as(state, dtype))
    real = as_dtype(ctx, exact(ctx, node, index), dtype)
    return Side(real.value, ctx.shape(real), real.quant)


def binary(ctx: Context, node: OnnxNode, a: Side, b: Side) -> Pending:
    """The sum, difference or product of two tensors, as a result that waits for its scale."""
    rank = max(len(a.shape), len(b.shape))
    reach = math.prod(ctx.type(s.value).dtype.reach(s.quant.zero_point) for s in (a, b))

    def emit(request: Request) -> str:
        bounds = activation_bounds(request.quant, request.dtype, *real_bounds(request))
        op = _binary_op(ctx.mode, node.op_type, (a.quant, b.quant), reach, request, bounds)
        x, y = (with_rank(ctx, s.value, rank) for s in (a, b))
        note = f"{story(request.trail)} -> {type(op).__name__}, requant {ctx.mode}"
        return ctx.run(x, Route(op), request.name, request.trail, note, [y])

    probe = Add(a.quant, b.quant, a.quant, DType.S8, -128, 127, ctx.mode)
    (kind,) = probe.infer([ctx.type(a.value), ctx.type(b.value)])
    return Pending(kind.shape, emit, (node,))


def _binary_op(
    mode: Mode, op_type: str, quants: tuple[Quant, Quant], reach: int, request: Request, bounds: tuple[int, int]
) -> Op:
    """`reach` is the largest size of the operands' product."""
    a, b = quants
    if op_type == "Mul":
        requant = make_requant(mode, a.scale, [b.scale], request.quant, request.dtype, *bounds, reach=reach)
        return Mul(a.zero_point, b.zero_point, requant, request.dtype, request.quant)
    return Add(a, b, request.quant, request.dtype, *bounds, mode, -1 if op_type == "Sub" else 1)


def with_rank(ctx: Context, value: str, rank: int) -> str:
    """The value with axes of size 1 in front, so that every operand has the rank of the result."""
    shape = ctx.type(value).shape
    if len(shape) == rank:
        return value
    full = (*(1,) * (rank - len(shape)), *shape)
    data = ctx.builder.values[value].data
    if data is not None:
        return ctx.builder.const(value, data.reshape(full), ctx.type(value).quant)
    return ctx.builder.apply(Reshape(full), (value,), f"{value}:full")


def _const_as(constant: IntConst, dtype: DType) -> IntConst:
    """The same constant in another 8-bit type."""
    if constant.ints.dtype not in (np.int8, np.uint8) or dtype not in (DType.S8, DType.U8):
        return constant
    if constant.ints.dtype == dtype.numpy:
        return constant
    shift = -128 if dtype is DType.S8 else 128
    ints = (constant.ints.astype(np.int16) + shift).astype(dtype.numpy)
    return IntConst(ints, constant.scale, constant.zero + shift)


def _of_product(ctx: Context, node: OnnxNode, a: State, b: State) -> State | None:
    """A bias or factor of a convolution or matrix product that still waits for its scale."""
    swapped = isinstance(b, Pending)
    x, other = (b, a) if swapped else (a, b)
    constant = array_of(other)
    if not isinstance(x, Pending) or constant is None:
        return None
    if node.op_type in ("Min", "Max") and is_scalar(constant):
        bound = float(constant.reshape(-1)[0])
        return x.clipped(*((bound, np.inf) if node.op_type == "Max" else (-np.inf, bound)), node)
    if x.linear is None or x.bounded or (swapped and node.op_type == "Div"):
        return None
    vector = channel_vector(constant, x.shape, x.linear.axis, len(x.linear.scales))
    if vector is None:
        return None
    linear = x.linear
    if node.op_type in ("Mul", "Div"):
        with np.errstate(all="ignore"):
            factor = vector.astype(np.float64) if node.op_type == "Mul" else 1 / vector.astype(np.float64)
        linear = scaled(linear, factor, node)
    elif node.op_type in ("Add", "Sub"):
        if swapped and node.op_type == "Sub":
            linear = scaled(linear, np.full(len(linear.scales), -1.0), node)
        sign = -1.0 if node.op_type == "Sub" and not swapped else 1.0
        linear = add_bias(ctx, linear, other, vector, node, sign)
    else:
        return None
    return with_linear(ctx, x, linear, node)


def _of_one(ctx: Context, node: OnnxNode, a: State, b: State) -> State | None:
    """A function of one tensor: the other operand is a scalar constant, or the same tensor."""
    function = _FUNCTIONS[node.op_type]
    if isinstance(a, Real) and isinstance(b, Real):
        return combined(a, b, function, node) if (a.value, a.quant) == (b.value, b.quant) else None
    left, right = array_of(a), array_of(b)
    if isinstance(a, Real) and right is not None and is_scalar(right) and right.ndim <= len(ctx.shape(a)):
        c = right.reshape(-1).astype(np.float64)
        return mapped(a, Function(lambda x: function(x, c)), node)
    if isinstance(b, Real) and left is not None and is_scalar(left) and left.ndim <= len(ctx.shape(b)):
        c = left.reshape(-1).astype(np.float64)
        return mapped(b, Function(lambda x: function(c, x)), node)
    return None
