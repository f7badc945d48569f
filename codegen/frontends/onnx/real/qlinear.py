"""Operators that carry their scales as inputs, as Dequantize, the operator on real numbers, and Quantize.

Decides: where each of them keeps its scales.  A stored bias is a constant in the unit of its sums.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from codegen.errors import ShapeMismatch, TypeUnsupported
from codegen.frontends.onnx.activation import DEFAULTS
from codegen.frontends.onnx.nodes import OnnxNode
from codegen.frontends.onnx.real.movement import concat
from codegen.frontends.onnx.real.product import gemm
from codegen.frontends.onnx.real.reading import MICROSOFT, Reading, Table, Translator
from codegen.frontends.onnx.real.storage import held_as, held_at, quantized_to
from codegen.frontends.onnx.real.unpool import max_pool
from codegen.frontends.onnx.real.window import average_pool, conv
from codegen.ir.quant import Array
from codegen.ir.real import Stored
from codegen.real.elementwise import Binary, Function, Where
from codegen.real.movement import Transpose
from codegen.real.product import MatMul
from codegen.real.reduce import Reduce, Softmax
from codegen.real.storage import Dequantize, Quantize


def qlinear_conv(r: Reading, node: OnnxNode) -> Sequence[str]:
    """QLinearConv: x, w and y with their scales, a bias; channels first or last."""
    weights = [_real(r, node, 3, axis=0), *_bias(r, node, 8, _unit(r, node, 1, 4))]
    return [_quantized(r, node, _on_map(r, node, conv, weights), 6)]


def qlinear_matmul(r: Reading, node: OnnxNode) -> Sequence[str]:
    """QLinearMatMul: a, b and y with their scales."""
    values = [_real(r, node, 0, axis=-2), _real(r, node, 3, axis=-1)]
    return [_quantized(r, node, r.apply(MatMul(), values, node, "real"), 6)]


def qgemm(r: Reading, node: OnnxNode) -> Sequence[str]:
    """QGemm: a and b with their scales, C as int32, y's; without y's the result is real."""
    values = [_real(r, node, 0), _real(r, node, 3, axis=0 if node.flag("transB") else 1)]
    alpha = np.float32(node.real("alpha", 1.0))
    values += _bias(r, node, 6, _unit(r, node, 1, 4) * alpha)
    product = _inside(r, node, gemm, values)
    return [product if r.optional(node, 7) is None else _quantized(r, node, product, 7)]


def qlinear_binary(r: Reading, node: OnnxNode) -> Sequence[str]:
    """QLinearAdd, QLinearMul: a, b and y with their scales."""
    op = Binary(node.op_type.removeprefix("QLinear"))
    return [_quantized(r, node, r.apply(op, [_real(r, node, 0), _real(r, node, 3)], node, "real"), 6)]


def qlinear_unary(r: Reading, node: OnnxNode) -> Sequence[str]:
    """QLinearSigmoid, QLinearLeakyRelu: x and y with their scales."""
    name = node.op_type.removeprefix("QLinear")
    attributes = tuple((key, node.real(key, value)) for key, value in DEFAULTS.get(name, {}).items())
    return [_quantized(r, node, r.apply(Function(name, attributes), [_real(r, node, 0)], node, "real"), 3)]


def qlinear_softmax(r: Reading, node: OnnxNode) -> Sequence[str]:
    """QLinearSoftmax: x and y with their scales; the attribute opset says which Softmax is meant."""
    x = _real(r, node, 0)
    axis = r.axis(node, x, -1)
    axes = (axis,) if node.integer("opset", 13) >= 13 else tuple(range(axis, r.rank(x)))
    return [_quantized(r, node, r.apply(Softmax(axes), [x], node, "real"), 3)]


def qlinear_average_pool(r: Reading, node: OnnxNode) -> Sequence[str]:
    """QLinearAveragePool: x and y with their scales; channels first or last."""
    return [_quantized(r, node, _on_map(r, node, average_pool), 3)]


def nhwc_max_pool(r: Reading, node: OnnxNode) -> Sequence[str]:
    """NhwcMaxPool: MaxPool of integers, channels last."""
    first, back = _turns(r, node, r.value(node, 0))
    x = r.apply(Transpose(first), [r.value(node, 0)], node, "channels first")
    return [r.apply(Transpose(back), [_inside(r, node, max_pool, [x])], node)]


def qlinear_where(r: Reading, node: OnnxNode) -> Sequence[str]:
    """QLinearWhere: a condition, x and y with their scales, that of the result."""
    values = [r.value(node, 0), _real(r, node, 1), _real(r, node, 4)]
    return [_quantized(r, node, r.apply(Where(), values, node, "real"), 7)]


def qlinear_global_average_pool(r: Reading, node: OnnxNode) -> Sequence[str]:
    """QLinearGlobalAveragePool, channels first or last."""
    x = _real(r, node, 0)
    rank = r.rank(x)
    axes = tuple(range(1, rank - 1) if node.flag("channels_last") else range(2, rank))
    if not axes:
        raise ShapeMismatch(f"a tensor of shape {list(r.type(x).shape)} has no spatial axes", where=node.where)
    return [_quantized(r, node, r.apply(Reduce("Mean", axes), [x], node, "real"), 3)]


def qlinear_concat(r: Reading, node: OnnxNode) -> Sequence[str]:
    """QLinearConcat: y's scale and zero point, then each input with its own."""
    if len(node.inputs) < 5 or len(node.inputs) % 3 != 2:
        raise ShapeMismatch(f"{len(node.inputs)} inputs are not a scale, a zero point and triples", where=node.where)
    values = [_real(r, node, i) for i in range(2, len(node.inputs), 3)]
    return [_quantized(r, node, _inside(r, node, concat, values), 0)]


def _real(r: Reading, node: OnnxNode, index: int, axis: int | None = None) -> str:
    """The real numbers of the integers at `index`, whose scale and zero point stand behind them."""
    x = r.value(node, index)
    kind, data = r.type(x), r.values[x].data
    stored = held_as(r, node, kind, index + 1, axis=axis, constant=data is not None)
    if data is not None:
        return r.constant(f"{node.inputs[index]}:real", data, stored)
    return r.apply(Dequantize(stored), [x], node, f"real{index}")


def _inside(r: Reading, node: OnnxNode, translator: Translator, values: Sequence[str]) -> str:
    """The operator on real numbers, as its own translator reads it from the same attributes."""
    outer, r.tensors = r.tensors, {v: v for v in values}
    try:
        return translator(r, replace(node, inputs=tuple(values), outputs=(f"{node.outputs[0]}:real",)))[0]
    finally:
        r.tensors = outer


def _on_map(r: Reading, node: OnnxNode, translator: Translator, others: Sequence[str] = ()) -> str:
    """The same on the real numbers of a map, which is turned where its channels are last."""
    x = _real(r, node, 0)
    if not node.flag("channels_last"):
        return _inside(r, node, translator, [x, *others])
    first, back = _turns(r, node, x)
    y = _inside(r, node, translator, [r.apply(Transpose(first), [x], node, "channels first"), *others])
    return r.apply(Transpose(back), [y], node, "channels last")


def _turns(r: Reading, node: OnnxNode, x: str) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """The orders of axes that bring the channels to the front, and back."""
    rank = r.rank(x)
    if rank < 3:
        raise ShapeMismatch(f"a tensor of shape {list(r.type(x).shape)} has no spatial axes", where=node.where)
    return (0, rank - 1, *range(1, rank - 1)), (0, *range(2, rank), 1)


def _unit(r: Reading, node: OnnxNode, a: int, b: int) -> Array:
    """The product of two scales, in float32."""
    return np.asarray(r.const(node, a).astype(np.float32) * r.const(node, b).astype(np.float32)).reshape(-1)


def _bias(r: Reading, node: OnnxNode, index: int, unit: Array) -> list[str]:
    """A bias in the unit of its sums, if there is one."""
    bias = r.optional_const(node, index)
    if bias is None:
        return []
    if bias.dtype != np.int32 or (unit.size > 1 and bias.shape[-1:] != unit.shape):
        found = f"a bias of type {bias.dtype} and shape {list(bias.shape)} for {unit.size} scales"
        raise TypeUnsupported(found, where=node.where)
    stored = Stored(bias.dtype, unit, np.zeros(unit.shape, np.int64), bias.ndim - 1 if unit.size > 1 else None)
    return [r.constant(f"{node.inputs[index]}:real", bias, stored)]


def _quantized(r: Reading, node: OnnxNode, value: str, index: int) -> str:
    """The value as integers, with the scale and zero point at `index`."""
    dtype = quantized_to(r, node, index + 1)
    return r.apply(Quantize(held_at(r, node, r.type(value), dtype, index, axis=None)), [value], node)


TRANSLATORS: Table = {
    ("", "QLinearConv"): qlinear_conv,
    ("", "QLinearMatMul"): qlinear_matmul,
    (MICROSOFT, "NhwcMaxPool"): nhwc_max_pool,
    (MICROSOFT, "QGemm"): qgemm,
    (MICROSOFT, "QLinearAdd"): qlinear_binary,
    (MICROSOFT, "QLinearAveragePool"): qlinear_average_pool,
    (MICROSOFT, "QLinearConcat"): qlinear_concat,
    (MICROSOFT, "QLinearConv"): qlinear_conv,
    (MICROSOFT, "QLinearGlobalAveragePool"): qlinear_global_average_pool,
    (MICROSOFT, "QLinearLeakyRelu"): qlinear_unary,
    (MICROSOFT, "QLinearMul"): qlinear_binary,
    (MICROSOFT, "QLinearSigmoid"): qlinear_unary,
    (MICROSOFT, "QLinearSoftmax"): qlinear_softmax,
    (MICROSOFT, "QLinearWhere"): qlinear_where,
}
