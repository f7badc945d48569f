"""Matrix products.  Source: onnx/docs/Operators.md, onnxruntime/docs/ContribOperators.md."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from codegen.errors import FormUnsupported, InputMissing, ShapeMismatch
from codegen.frontends.onnx.nodes import OnnxNode
from codegen.frontends.onnx.real.reading import MICROSOFT, Reading, Table
from codegen.ir.quant import Array
from codegen.ir.real import Stored
from codegen.real.elementwise import Binary
from codegen.real.product import Gemm, MatMul

_FEW = (2, 4, 8)


def matmul(r: Reading, node: OnnxNode) -> Sequence[str]:
    """MatMul."""
    return [r.apply(MatMul(), [r.value(node, 0), r.value(node, 1)], node)]


def gemm(r: Reading, node: OnnxNode) -> Sequence[str]:
    """Gemm."""
    op = Gemm(node.real("alpha", 1.0), node.real("beta", 1.0), node.flag("transA"), node.flag("transB"))
    return [r.apply(op, r.given(node, 2), node)]


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


def _unpacked(node: OnnxNode, packed: Array, rows: int, bits: int, count: int) -> Array:
    """The first `count` numbers of each row, of few bits each, the lowest bits first."""
    each = packed.reshape(-1)
    if each.size != rows * -(-count * bits // 8):
        raise ShapeMismatch(f"{each.size} bytes for {rows} x {count} numbers of {bits} bits", where=node.where)
    parts = each[:, None] >> np.arange(0, 8, bits, dtype=np.uint8) & np.uint8((1 << bits) - 1)
    return parts.reshape(rows, -1)[:, :count]


TRANSLATORS: Table = {
    ("", "Gemm"): gemm,
    ("", "MatMul"): matmul,
    (MICROSOFT, "MatMulNBits"): matmul_of_few_bits,
}
