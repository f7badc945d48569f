"""Constant expressions, computed by ONNX's own reference evaluator.

Decides: which operators may be computed at import, and how large their results may be.  The evaluator may raise nearly
anything on a damaged graph; this is the one place where that is turned into a refusal.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
from onnx.reference import ReferenceEvaluator

from codegen.errors import FoldFailed, ModelTooLarge
from codegen.frontends.builder import MAX_ELEMENTS, MAX_RANK
from codegen.frontends.onnx.nodes import OnnxNode
from codegen.ir.quant import Array

MAX_FOLDED = 2**26
"""Elements of all constant expressions of a model together."""

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

# what numpy and the evaluator's own checks raise on arguments that do not fit
_EVALUATOR_ERRORS = (
    ArithmeticError,
    AssertionError,
    AttributeError,
    LookupError,
    NotImplementedError,
    RuntimeError,
    TypeError,
    ValueError,
)


def fold(node: OnnxNode, inputs: Sequence[Array | None], opset: int) -> tuple[Array, ...]:
    """The outputs of a node whose inputs are all constants.

    Raises:
        FoldFailed: LAM-IMPORT-024.
        ModelTooLarge: LAM-IMPORT-004.
    """
    size = _size(node, inputs)
    if size > MAX_ELEMENTS:
        raise ModelTooLarge(f"a constant of {size} elements, at most {MAX_ELEMENTS} are computed", where=node.where)
    feeds = {name: array for name, array in zip(node.inputs, inputs, strict=True) if name and array is not None}
    try:
        with np.errstate(all="ignore"):
            results = ReferenceEvaluator(node.proto, opsets={"": opset}).run(None, feeds)
    except _EVALUATOR_ERRORS as error:
        line = (str(error).splitlines() or [""])[0][:160]
        raise FoldFailed(f"its constant inputs do not fit: {line or type(error).__name__}", where=node.where) from error
    arrays = tuple(np.asarray(r) for r in results)
    if any(a.ndim > MAX_RANK or a.dtype.kind not in "biuf" for a in arrays):
        raise FoldFailed("the result is not a tensor of numbers", where=node.where)
    return arrays


def _size(node: OnnxNode, inputs: Sequence[Array | None]) -> int:
    """An upper bound of the elements of one result."""
    arrays = [a for a in inputs if a is not None]
    total = sum(a.size for a in arrays)
    try:
        if node.op_type in _BROADCASTING:
            return math.prod(np.broadcast_shapes(*(a.shape for a in arrays)))
        if node.op_type in _GROWING:
            return _grown(node.op_type, arrays)
    except (ValueError, TypeError, OverflowError, IndexError, ZeroDivisionError) as error:
        raise FoldFailed("its constant inputs do not fit", where=node.where) from error
    return total


def _grown(op_type: str, arrays: Sequence[Array]) -> int:
    if op_type == "Range":
        start, limit, delta = (float(a.reshape(-1)[0]) for a in arrays)
        return max(math.ceil((limit - start) / delta), 0)
    counts = [max(int(n), 1) for n in arrays[-1].reshape(-1)]
    if len(counts) > MAX_RANK:
        raise ValueError("too many axes")
    return math.prod(counts) * (arrays[0].size if op_type in ("Tile", "Expand") else 1)
