"""QuantizeLinear and DequantizeLinear.  Source: onnx/docs/Operators.md."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from onnx import TensorProto

from codegen.errors import QuantAxisBad, ShapeMismatch, TypeUnsupported, ZeroPointBad
from codegen.frontends.onnx.nodes import OnnxNode
from codegen.frontends.onnx.qparams import fitting_axis, read_scale
from codegen.frontends.onnx.real.reading import MICROSOFT, Reading, Table
from codegen.frontends.onnx.tensors import bits_of, type_refused
from codegen.ir.quant import Array
from codegen.ir.real import RealType, Stored
from codegen.real.storage import Dequantize, Quantize

Kind = np.dtype[np.generic]

_TYPES = {
    TensorProto.INT8: "int8",
    TensorProto.UINT8: "uint8",
    TensorProto.INT16: "int16",
    TensorProto.UINT16: "uint16",
    TensorProto.INT4: "int8",
    TensorProto.UINT4: "uint8",
    TensorProto.INT2: "int8",
    TensorProto.UINT2: "uint8",
}
_HELD = frozenset((*_TYPES.values(), "int32"))


def quantize(r: Reading, node: OnnxNode) -> Sequence[str]:
    """QuantizeLinear."""
    x = r.value(node, 0)
    kind = r.type(x)
    if not kind.is_real:
        raise TypeUnsupported(f"{kind.dtype} quantized", where=node.where)
    dtype = quantized_to(r, node, 2)
    stored = replace(_blocks_or_not(r, node, kind, dtype), bits=_bits(r, node))
    return [r.apply(Quantize(stored), [x], node)]


def dequantize(r: Reading, node: OnnxNode) -> Sequence[str]:
    """DequantizeLinear; of a constant, the constant stored as it is."""
    x = r.value(node, 0)
    value = r.values[x]
    kind = value.type
    if kind.dtype.name not in _HELD:
        raise TypeUnsupported(f"numbers of type {kind.dtype} dequantized", where=node.where)
    constant = value.data is not None and value.stored is None
    bits = r.bits.get(x, 0) or _bits(r, node) or (r.said_bits.get(node.outputs[0], 0) if constant else 0)
    stored = replace(_blocks_or_not(r, node, kind, kind.dtype, constant=constant), bits=bits)
    if constant and value.data is not None:
        return [r.constant(node.outputs[0], value.data, stored)]
    return [r.apply(Dequantize(stored), [x], node)]


def _bits(r: Reading, node: OnnxNode) -> int:
    """Bits of the integers where numpy does not know their type: the zero point's, or what the node says."""
    zero = r.optional(node, 2)
    return bits_of(node.integer("output_dtype", 0)) if zero is None else r.bits.get(zero, 0)


def quantized_to(r: Reading, node: OnnxNode, index: int) -> Kind:
    """The type of the integers: that of the zero point at `index`, or what the node says, or uint8."""
    zero = r.optional_const(node, index)
    output = node.integer("output_dtype", 0) or TensorProto.UINT8
    name = _TYPES.get(output, "") if zero is None else zero.dtype.name
    if name in _HELD:
        return np.dtype(name)
    if not name:
        raise type_refused(output, "a result", node.where)
    raise TypeUnsupported(f"numbers quantized to {name}", where=node.where)


def held_as(
    r: Reading, node: OnnxNode, kind: RealType, index: int, *, axis: int | None, constant: bool = False
) -> Stored:
    """How integers of this type hold numbers, with the scale at `index`; LAM-IMPORT-019 when they are none."""
    if kind.dtype.name not in _HELD:
        raise TypeUnsupported(f"numbers of type {kind.dtype} dequantized", where=node.where)
    return held_at(r, node, kind, kind.dtype, index, axis=axis, constant=constant)


def held_at(
    r: Reading, node: OnnxNode, kind: RealType, dtype: Kind, index: int, *, axis: int | None, constant: bool = False
) -> Stored:
    """The scale at input `index` and the zero point behind it, for a tensor of this type.

    Args:
        r: what is read so far.
        node: the operator.
        kind: the tensor's type.
        dtype: that of the integers.
        index: the scale's input.
        axis: along which there may be several scales; None for one scale only.
        constant: whether numbers of scale 0 may occur.

    Raises:
        ScaleBad: LAM-IMPORT-010.
        ZeroPointBad: LAM-IMPORT-011.
        ShapeMismatch: LAM-IMPORT-014, they do not fit the tensor.
    """
    zero = _zero(r, node, index + 1, dtype)
    scale = read_scale(r, node, index, constant=constant)
    zeros = np.zeros(scale.shape, np.int64) if zero is None else zero.astype(np.int64)
    if zeros.size != scale.size:
        raise ZeroPointBad(f"{zeros.size} zero points for {scale.size} scales", where=node.where)
    if scale.size == 1:
        return Stored(dtype, scale.reshape(-1), zeros.reshape(-1))
    if axis is None:
        raise QuantAxisBad(f"{scale.size} scales for a tensor that has one", where=node.where)
    along = fitting_axis(r, node, kind.shape, scale.size, axis)
    return Stored(dtype, scale.reshape(-1), zeros.reshape(-1), along)


def _zero(r: Reading, node: OnnxNode, index: int, dtype: Kind) -> Array | None:
    zero = r.optional_const(node, index)
    if zero is not None and zero.dtype != dtype:
        raise ZeroPointBad(f"zero point of type {zero.dtype} for a tensor of type {dtype}", where=node.where)
    return zero


def _blocks_or_not(r: Reading, node: OnnxNode, kind: RealType, dtype: Kind, *, constant: bool = False) -> Stored:
    """Scales as the attributes of QuantizeLinear and DequantizeLinear have them."""
    block = node.integer("block_size", 0, low=0)
    if block:
        return _blocks(r, node, kind, dtype, _zero(r, node, 2, dtype), block)
    return held_at(r, node, kind, dtype, 1, axis=node.integer("axis", 1), constant=constant)


def _blocks(r: Reading, node: OnnxNode, kind: RealType, dtype: Kind, zero: Array | None, block: int) -> Stored:
    """Scales of blocks along one axis."""
    scale = r.const(node, 1).astype(np.float32)
    rank = len(kind.shape)
    axis = node.integer("axis", 1, low=-rank, high=max(rank - 1, 0)) % max(rank, 1)
    wanted = tuple(-(-n // block) if i == axis else n for i, n in enumerate(kind.shape))
    if scale.shape != wanted or (zero is not None and zero.shape != wanted):
        found = f"scales {list(scale.shape)} for blocks of {block} of a tensor {list(kind.shape)}"
        raise ShapeMismatch(found, where=node.where)
    zeros = np.zeros(wanted, np.int64) if zero is None else zero.astype(np.int64)
    return Stored(dtype, scale, zeros, axis, block)


TRANSLATORS: Table = {
    ("", "DequantizeLinear"): dequantize,
    ("", "QuantizeLinear"): quantize,
    (MICROSOFT, "DequantizeLinear"): dequantize,
    (MICROSOFT, "QuantizeLinear"): quantize,
}
