"""ConvInteger and MatMulInteger: their zero points may be left out.  Both as products of real numbers, too.

Decides: that of the latter (`frontends/onnx/dynamic.py`) the weights stay the integers of the file, with their scales.
Source: onnx/docs/Operators.md, onnxruntime/docs/ContribOperators.md.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from codegen.errors import ShapeMismatch, TypeUnsupported, ZeroPointBad
from codegen.frontends.onnx.nodes import OnnxNode
from codegen.frontends.onnx.real.reading import MICROSOFT, Reading, Table
from codegen.frontends.onnx.real.window import conv_windows
from codegen.ir.quant import Array
from codegen.ir.real import RealOp, Stored
from codegen.real.elementwise import Binary
from codegen.real.engine import numbers_of
from codegen.real.integer import ConvInteger, MatMulInteger
from codegen.real.product import MatMul
from codegen.real.window import Conv

_INTEGERS = (np.int8, np.uint8)


def conv_integer(r: Reading, node: OnnxNode) -> Sequence[str]:
    """ConvInteger."""
    x, windows = conv_windows(r, node)
    groups = node.integer("group", 1, low=1)
    if _is_dynamic(r, node):
        return [_of_reals(r, node, Conv(windows, groups), x, _scale(r, node), 0)]
    return [r.apply(ConvInteger(windows, groups), [x, *_sides(r, node)[1:]], node)]


def matmul_integer(r: Reading, node: OnnxNode) -> Sequence[str]:
    """MatMulInteger."""
    if _is_dynamic(r, node):
        return [_of_reals(r, node, MatMul(), r.value(node, 0), _scale(r, node), -1)]
    return [r.apply(MatMulInteger(), _sides(r, node), node)]


def dynamic_matmul(r: Reading, node: OnnxNode) -> Sequence[str]:
    """DynamicQuantizeMatMul: real numbers, a matrix of integers, its scales and zero points, a bias."""
    x, bias = r.value(node, 0), r.optional(node, 4)
    if not r.type(x).is_real:
        raise TypeUnsupported(f"a product of {r.type(x).dtype}", where=node.where)
    scale = r.const(node, 2).astype(np.float32)
    product = _of_reals(r, node, MatMul(), x, scale, -1, "" if bias is None else "product")
    return [product if bias is None else r.apply(Binary("Add"), [product, bias], node)]


def _is_dynamic(r: Reading, node: OnnxNode) -> bool:
    """Whether a product of integers is read as one of real numbers."""
    return node.outputs[0] in r.scales


def _scale(r: Reading, node: OnnxNode) -> Array:
    """What constants the product is multiplied by; 1 where there are none."""
    scale = np.ones((), np.float32)
    for name in r.scales[node.outputs[0]]:
        scale = scale * numbers_of(r.values[r.tensors[name]]).astype(np.float32)
    return scale


def _of_reals(r: Reading, node: OnnxNode, op: RealOp, x: str, scale: Array, axis: int, name: str = "") -> str:
    """A product of real numbers x with weights that have a scale, or one for each entry of their `axis`.

    Scales that are none of weights, and those of a product of two computed sides, are multiplied to the result.
    """
    w, shape = r.value(node, 1), r.type(r.value(node, 1)).shape
    if r.type(w).is_real:
        behind = scale.size > 1 or scale != 1
    else:
        behind = not _is_of_weights(scale, shape, axis)
        stored = _stored(r, node, np.ones((), np.float32) if behind else scale, axis)
        w = r.constant(f"{node.inputs[1]}:real", r.const(node, 1), stored)
    if not behind:
        return r.apply(op, [x, w], node, name)
    product = r.apply(op, [x, w], node, "unscaled")
    return r.apply(Binary("Mul"), [product, r.constant(f"{node.outputs[0]}:scale", scale)], node, name)


def _is_of_weights(scale: Array, shape: Sequence[int], axis: int) -> bool:
    """Whether factors of the result are one, or one for each entry of the weights' axis, and none is negative."""
    inner = 0 if axis == -1 else len(shape) - 2
    each = scale.ndim > inner and scale.size == scale.shape[scale.ndim - 1 - inner] == shape[axis]
    return bool((scale.size == 1 or each) and (np.isfinite(scale) & (scale >= 0)).all())


def _stored(r: Reading, node: OnnxNode, scale: Array, axis: int) -> Stored:
    """How the integers hold the weights: one scale and zero point, or one of both for each entry of the axis."""
    w = r.type(r.value(node, 1))
    zero = r.optional_const(node, 3)
    if w.dtype not in _INTEGERS or not w.shape:
        raise TypeUnsupported(f"a product of {w.dtype}", where=node.where)
    if zero is not None and zero.dtype != w.dtype:
        raise _zero_bad(node, zero.dtype, w.dtype)
    zeros = np.zeros(1, np.int64) if zero is None else zero.astype(np.int64).reshape(-1)
    if zeros.size not in (1, w.shape[axis]):
        raise ShapeMismatch(f"weights {list(w.shape)} with {zeros.size} zero points", where=node.where)
    scales, zeros = (np.ascontiguousarray(a) for a in np.broadcast_arrays(scale.reshape(-1), zeros))
    return Stored(w.dtype, scales, zeros, None if scales.size == 1 else axis % len(w.shape))


def _sides(r: Reading, node: OnnxNode) -> list[str]:
    """Both sides and their zero points."""
    sides = [r.value(node, 0), r.value(node, 1)]
    return [*sides, *(_zero(r, node, 2 + i, side) for i, side in enumerate(sides))]


def _zero(r: Reading, node: OnnxNode, index: int, side: str) -> str:
    dtype = r.type(side).dtype
    if dtype not in _INTEGERS:
        raise TypeUnsupported(f"a product of {dtype}", where=node.where)
    zero = r.optional(node, index)
    if zero is None:
        return r.constant(f"{node.outputs[0]}:zero{index - 2}", np.zeros((), dtype))
    if r.type(zero).dtype != dtype:
        raise _zero_bad(node, r.type(zero).dtype, dtype)
    return zero


def _zero_bad(node: OnnxNode, found: np.dtype[np.generic], wanted: np.dtype[np.generic]) -> ZeroPointBad:
    return ZeroPointBad(f"a zero point of type {found} for a tensor of type {wanted}", where=node.where)


TRANSLATORS: Table = {
    ("", "ConvInteger"): conv_integer,
    ("", "MatMulInteger"): matmul_integer,
    (MICROSOFT, "DynamicQuantizeMatMul"): dynamic_matmul,
}
