"""QuantizeLinear and DequantizeLinear.  Source: onnx/docs/Operators.md."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from onnx import TensorProto

from codegen.errors import ShapeMismatch, TypeUnsupported, ZeroPointBad
from codegen.frontends.onnx.nodes import OnnxNode
from codegen.frontends.onnx.qparams import fitting_axis, read_scale
from codegen.frontends.onnx.real.reading import Reading
from codegen.frontends.onnx.tensors import type_name
from codegen.ir.quant import Array
from codegen.ir.real import RealType, Stored
from codegen.real.storage import Dequantize, Quantize

_TYPES = {
    TensorProto.INT8: "int8",
    TensorProto.UINT8: "uint8",
    TensorProto.INT16: "int16",
    TensorProto.UINT16: "uint16",
}
_HELD = frozenset((*_TYPES.values(), "int32"))


def quantize(r: Reading, node: OnnxNode) -> Sequence[str]:
    """QuantizeLinear."""
    x = r.value(node, 0)
    output = node.integer("output_dtype", 0) or TensorProto.UINT8
    zero = r.optional_const(node, 2)
    kind = _TYPES.get(output, "") if zero is None else zero.dtype.name
    if kind not in _HELD or not r.type(x).is_real:
        raise TypeUnsupported(f"{r.type(x).dtype} quantized to {kind or type_name(output)}", where=node.where)
    return [r.apply(Quantize(read_stored(r, node, r.type(x), np.dtype(kind), 1)), [x], node)]


def dequantize(r: Reading, node: OnnxNode) -> Sequence[str]:
    """DequantizeLinear; of a constant, the constant stored as it is."""
    x = r.value(node, 0)
    kind, value = r.type(x), r.values[x]
    if kind.dtype.name not in _HELD:
        raise TypeUnsupported(f"numbers of type {kind.dtype} dequantized", where=node.where)
    constant = value.data is not None and value.stored is None
    stored = read_stored(r, node, kind, kind.dtype, 1, constant=constant)
    if constant and value.data is not None:
        return [r.constant(node.outputs[0], value.data, stored)]
    return [r.apply(Dequantize(stored), [x], node)]


def read_stored(
    r: Reading, node: OnnxNode, kind: RealType, dtype: np.dtype[np.generic], index: int, *, constant: bool = False
) -> Stored:
    """The scale at input `index` and the zero point behind it, for a tensor of this type.

    Raises:
        ScaleBad: LAM-IMPORT-010.
        ZeroPointBad: LAM-IMPORT-011.
        ShapeMismatch: LAM-IMPORT-014, they do not fit the tensor.
    """
    block = node.integer("block_size", 0, low=0)
    zero = r.optional_const(node, index + 1)
    if zero is not None and zero.dtype != dtype:
        raise ZeroPointBad(f"zero point of type {zero.dtype} for a tensor of type {dtype}", where=node.where)
    if block:
        return _blocks(r, node, kind, dtype, zero, block)
    scale = read_scale(r, node, index, constant=constant)
    zeros = np.zeros(scale.shape, np.int64) if zero is None else zero.astype(np.int64)
    if zeros.size != scale.size:
        raise ZeroPointBad(f"{zeros.size} zero points for {scale.size} scales", where=node.where)
    axis = None
    if scale.size > 1:
        axis = fitting_axis(r, node, kind.shape, scale.size, node.integer("axis", 1))
    return Stored(dtype, scale.reshape(-1), zeros.reshape(-1), axis)


def _blocks(
    r: Reading, node: OnnxNode, kind: RealType, dtype: np.dtype[np.generic], zero: Array | None, block: int
) -> Stored:
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
