"""Matrix products.  Source: onnx/docs/Operators.md, onnxruntime/docs/ContribOperators.md."""

from __future__ import annotations

from collections.abc import Sequence

from codegen.frontends.onnx.nodes import OnnxNode
from codegen.frontends.onnx.real.reading import Reading, Table
from codegen.real.product import Gemm, MatMul


def matmul(r: Reading, node: OnnxNode) -> Sequence[str]:
    """MatMul."""
    return [r.apply(MatMul(), [r.value(node, 0), r.value(node, 1)], node)]


def gemm(r: Reading, node: OnnxNode) -> Sequence[str]:
    """Gemm."""
    op = Gemm(node.real("alpha", 1.0), node.real("beta", 1.0), node.flag("transA"), node.flag("transB"))
    return [r.apply(op, r.given(node, 2), node)]


TRANSLATORS: Table = {
    ("", "Gemm"): gemm,
    ("", "MatMul"): matmul,
}
