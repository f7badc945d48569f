"""Constant expressions, computed by ONNX's own reference evaluator.

Decides: which operators may be computed at import, and the size of their results.  Bounds, and what becomes of anything
that the evaluator raises on a damaged graph: frontends/folding.py.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any

import onnx
from onnx.reference import ReferenceEvaluator

from codegen.frontends.folding import broadcast_elements, evaluated, range_elements, repeated_elements
from codegen.frontends.onnx.nodes import OnnxNode
from codegen.ir.quant import Array

_MOVING = frozenset(("Concat", "Flatten", "Gather", "Reshape", "Slice", "Split", "Squeeze", "Transpose", "Unsqueeze"))
_ONE = frozenset(
    (
        *("Abs", "Cast", "Ceil", "Clip", "Cos", "Erf", "Exp", "Floor", "Log", "Neg", "Not", "Reciprocal", "Relu"),
        *("Round", "Sigmoid", "Sign", "Sin", "Sqrt", "Tanh"),
        *("ReduceMax", "ReduceMean", "ReduceMin", "ReduceProd", "ReduceSum"),
    )
)
_BROADCASTING = frozenset(
    (
        *("Add", "And", "Div", "Equal", "Greater", "GreaterOrEqual", "Less", "LessOrEqual", "Max", "Min", "Mod"),
        *("Mul", "Or", "Pow", "Sub", "Where", "Xor"),
    )
)
_GROWING = frozenset(("ConstantOfShape", "Expand", "Range", "Tile"))
FOLDABLE = _MOVING | _ONE | _BROADCASTING | _GROWING
MOVES_ELEMENTS = _MOVING


def fold(node: OnnxNode, inputs: Sequence[Array | None], opset: int) -> tuple[Array, ...]:
    """The outputs of a node whose inputs are all constants.

    Raises:
        FoldFailed: LAM-IMPORT-024.
        ModelTooLarge: LAM-IMPORT-004.
    """
    feeds = {name: array for name, array in zip(node.inputs, inputs, strict=True) if name and array is not None}
    evaluator = partial(_evaluator, node, opset, feeds)
    return evaluated(evaluator, partial(_size, node.op_type, [a for a in inputs if a is not None]), node.where)


def _evaluator(node: OnnxNode, opset: int, feeds: Mapping[str, Array]) -> Sequence[Any]:
    results: Sequence[Any] = ReferenceEvaluator(_alone(node, feeds, opset)).run(None, feeds)
    return results


def _alone(node: OnnxNode, feeds: Mapping[str, Array], opset: int) -> onnx.ModelProto:
    """The node as a model: of a bare node the evaluator takes the newest definition, whatever the operator set is."""
    proto = onnx.NodeProto()
    proto.CopyFrom(node.proto)
    proto.domain = node.domain
    inputs, outputs = ([onnx.ValueInfoProto(name=n) for n in names] for names in (feeds, filter(None, proto.output)))
    graph = onnx.GraphProto(node=[proto], name=node.name, input=inputs, output=outputs)
    return onnx.ModelProto(graph=graph, opset_import=[onnx.OperatorSetIdProto(version=opset)])


def _size(op_type: str, arrays: Sequence[Array]) -> int:
    """An upper bound of the elements of one result."""
    if op_type in _BROADCASTING:
        return broadcast_elements(arrays)
    if op_type == "Range":
        return range_elements(arrays)
    if op_type in _GROWING:
        return repeated_elements(arrays[-1]) * (arrays[0].size if op_type in ("Tile", "Expand") else 1)
    return sum(a.size for a in arrays)
