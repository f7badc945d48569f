"""Matrices of few bits in blocks, as ONNX Runtime holds them.  Source: onnxruntime/docs/ContribOperators.md."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from codegen.errors import AttributeBad, FormUnsupported, InputMissing, ShapeMismatch, TypeUnsupported
from codegen.frontends.onnx.nodes import OnnxNode
from codegen.frontends.onnx.real.reading import MICROSOFT, Reading, Table
from codegen.ir.quant import Array
from codegen.ir.real import Stored
from codegen.real.elementwise import Binary
from codegen.real.movement import Gather
from codegen.real.product import MatMul

_FEW = (2, 4, 8)
_HALF_BYTE = 4


def matmul_of_few_bits(r: Reading, node: OnnxNode) -> Sequence[str]:
    """MatMulNBits: a matrix [N, K] packed in blocks along K, each with a scale and perhaps a zero point; a bias."""
    outputs, inputs, bits = (node.integer(name, low=1) for name in ("N", "K", "bits"))
    block = node.integer("block_size", low=1)
    if bits not in _FEW or r.optional(node, 4) is not None:
        raise FormUnsupported(f"MatMulNBits of {bits} bits, or with a g_idx", where=node.where)
    blocks = -(-inputs // block)
    packed, scale, zero = (r.optional_const(node, i) for i in (1, 2, 3))
    if packed is None or scale is None or packed.dtype != np.uint8:
        raise InputMissing("weights of packed bytes and their scales are required", where=node.where)
    if zero is None:
        zero = np.full((outputs, blocks), 1 << (bits - 1))
    elif zero.dtype == np.uint8:
        zero = _unpacked(node, zero, outputs, bits, blocks)
    whole = np.asarray(zero, np.int64)
    if scale.size != outputs * blocks or zero.size != scale.size or (whole != zero).any():
        raise ShapeMismatch(f"{scale.size} scales, {zero.size} zero points for {outputs} x {blocks}", where=node.where)
    ints = _unpacked(node, packed, outputs, bits, blocks * block)[:, :inputs]
    each, zeros = scale.astype(np.float32).reshape(outputs, blocks).T, whole.reshape(outputs, blocks).T
    stored = Stored(np.dtype(np.uint8), each, zeros, 0, block, bits if bits < 8 else 0)
    weights = r.constant(f"{node.inputs[1]}:real", np.ascontiguousarray(ints.T), stored)
    bias = r.optional(node, 5)
    product = r.apply(MatMul(), [r.value(node, 0), weights], node, "" if bias is None else "product")
    return [product if bias is None else r.apply(Binary("Add"), [product, bias], node)]


def gather_of_few_bits(r: Reading, node: OnnxNode) -> Sequence[str]:
    """GatherBlockQuantized: rows of a matrix of 4 or 8 bits, each block of a row with a scale and a zero point."""
    bits, block = node.integer("bits", 4), node.integer("block_size", 128, low=16)
    data, scale, zero = r.const(node, 0), r.const(node, 2).astype(np.float32), r.optional_const(node, 3)
    axis = node.integer("quantize_axis", 1, low=-data.ndim, high=data.ndim - 1) % data.ndim
    packed = data.dtype == np.uint8 and r.value(node, 0) not in r.bits
    if bits not in (_HALF_BYTE, 8) or data.dtype not in (np.uint8, np.int8):
        raise TypeUnsupported(f"GatherBlockQuantized of {data.dtype} with {bits} bits", where=node.where)
    if packed and bits == _HALF_BYTE:
        data = _unpacked(node, data, math.prod(data.shape[:-1]), bits, 2 * data.shape[-1]).reshape(
            (*data.shape[:-1], -1)
        )
        if zero is not None:
            zero = _unpacked(node, zero, math.prod(scale.shape[:-1]), bits, scale.shape[-1])
    wanted = tuple(-(-n // block) if i == axis else n for i, n in enumerate(data.shape))
    usual = 1 << (bits - 1) if packed else 0
    zeros: Array = np.full(wanted, usual, np.int64) if zero is None else zero.astype(np.int64)
    if scale.shape != wanted or zeros.size != scale.size:
        found = f"scales {list(scale.shape)} for blocks of {block} of a tensor {list(data.shape)}"
        raise ShapeMismatch(found, where=node.where)
    stored = Stored(data.dtype, scale, zeros.reshape(wanted), axis, block, bits if bits == _HALF_BYTE else 0)
    rows = r.constant(f"{node.inputs[0]}:real", np.ascontiguousarray(data), stored)
    along = r.axis(node, rows, 0, "gather_axis")
    if along == axis:
        raise AttributeBad(f"gather_axis and quantize_axis are both {axis}", where=node.where)
    return [r.apply(Gather(along), [rows, r.value(node, 1)], node)]


def _unpacked(node: OnnxNode, packed: Array, rows: int, bits: int, count: int) -> Array:
    """The first `count` numbers of each row, of few bits each, the lowest bits first."""
    each = packed.reshape(-1)
    if each.size != rows * -(-count * bits // 8):
        raise ShapeMismatch(f"{each.size} bytes for {rows} x {count} numbers of {bits} bits", where=node.where)
    parts = each[:, None] >> np.arange(0, 8, bits, dtype=np.uint8) & np.uint8((1 << bits) - 1)
    return parts.reshape(rows, -1)[:, :count]


TRANSLATORS: Table = {
    (MICROSOFT, "GatherBlockQuantized"): gather_of_few_bits,
    (MICROSOFT, "MatMulNBits"): matmul_of_few_bits,
}
