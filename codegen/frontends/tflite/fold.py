"""Constant expressions of plain numbers: sizes, positions and reals that the file computes from what is known.

Decides: what each operator gives on arrays without a scale.  Operators that move numbers, and all that work on
quantized ones, are computed by our own operators' golden models instead (`Builder.fold_since`).
Source: tensorflow/lite/kernels, the operators' float32, int32 and bool forms.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any

import numpy as np
import tflite

from codegen.errors import FoldFailed
from codegen.frontends.folding import broadcast_elements, evaluated, range_elements
from codegen.frontends.tflite.nodes import TfliteNode
from codegen.frontends.tflite.reader import Tensor
from codegen.frontends.tflite.records import element_type
from codegen.ir.quant import Array

Fold = Callable[[TfliteNode, Sequence[Array]], Array]
_KIND = tflite.ActivationFunctionType
_BOUNDS: Mapping[int, tuple[float | None, float | None]] = {
    _KIND.NONE: (None, None),
    _KIND.RELU: (0.0, None),
    _KIND.RELU_N1_TO_1: (-1.0, 1.0),
    _KIND.RELU6: (0.0, 6.0),
}
"""Of fused activations."""


def _unary(f: Callable[[Array], Any]) -> Fold:
    return lambda node, arrays: np.asarray(f(arrays[0]))


def _binary(f: Callable[[Array, Array], Any], options: str = "") -> Fold:
    """A function of two arrays, broadcast, with the fused activation that `options` may hold."""

    def fold_pair(node: TfliteNode, arrays: Sequence[Array]) -> Array:
        a, b = arrays
        low, high = _BOUNDS[node.activation(node.options_of(options)) if options else 0]
        found = np.asarray(f(a, b))
        return found if low is high is None else np.clip(found, low, high).astype(found.dtype)

    return fold_pair


def _nonzero(f: Callable[[Array, Array], Any]) -> Callable[[Array, Array], Any]:
    """A division, which integers refuse by zero."""

    def divided(a: Array, b: Array) -> Any:
        if b.dtype.kind in "iu" and not b.all():
            raise ZeroDivisionError("a division by zero")
        return f(a, b)

    return divided


def _quotient(a: Array, b: Array) -> Any:
    """A real quotient; of integers the one towards zero."""
    return a / b if a.dtype.kind == "f" else np.sign(a) * np.sign(b) * (np.abs(a) // np.abs(b))


def _reals(x: Array) -> Array:
    """Half-precision numbers; integers need a scale."""
    if x.dtype.kind != "f":
        raise TypeError("integers without a scale")
    return x


def _wholes(x: Array) -> Array:
    """Axes or sizes, in a row."""
    if x.dtype.kind not in "iu":
        raise TypeError(f"{x.dtype} where whole numbers are expected")
    return x.reshape(-1)


def _reduction(f: Callable[..., Any]) -> Fold:
    def reduced(node: TfliteNode, arrays: Sequence[Array]) -> Array:
        keep = bool(node.options_of("ReducerOptions").KeepDims())
        return np.asarray(f(arrays[0], axis=tuple(_wholes(arrays[1]).tolist()), keepdims=keep))

    return reduced


def _range(node: TfliteNode, arrays: Sequence[Array]) -> Array:
    start, _, delta = (a.reshape(-1)[0] for a in arrays)
    return np.asarray(start + delta * np.arange(range_elements(arrays)).astype(arrays[0].dtype))


def _cumulated(node: TfliteNode, arrays: Sequence[Array]) -> Array:
    options, axis = node.options_of("CumsumOptions"), _wholes(arrays[1])[0]
    x = np.flip(arrays[0], axis) if options.Reverse() else arrays[0]
    total = np.cumsum(x, axis) - (x if options.Exclusive() else 0)
    return np.flip(total, axis) if options.Reverse() else np.asarray(total)


def _chosen(node: TfliteNode, arrays: Sequence[Array]) -> Array:
    """SELECT and SELECT_V2; the former's list of flags picks along the first axis."""
    return np.where(_flags(node.op_type, arrays), *arrays[1:])


def _flags(op_type: str, arrays: Sequence[Array]) -> Array:
    """The flags as they are broadcast to the choices."""
    flags, a, b = arrays
    if op_type == "SELECT" and a.shape != b.shape:
        raise ValueError("choices of two shapes")
    return flags.reshape(-1, *(1,) * (a.ndim - 1)) if op_type == "SELECT" and flags.ndim == 1 else flags


_FOLDS: Mapping[str, Fold] = {
    "ABS": _unary(np.abs),
    "CAST": _unary(np.asarray),
    "CEIL": _unary(np.ceil),
    "COS": _unary(np.cos),
    "CUMSUM": _cumulated,
    "DEQUANTIZE": _unary(_reals),
    "EXP": _unary(np.exp),
    "FLOOR": _unary(np.floor),
    "LOG": _unary(np.log),
    "LOGICAL_NOT": _unary(np.logical_not),
    "NEG": _unary(np.negative),
    "RANGE": _range,
    "REDUCE_ALL": _reduction(np.all),
    "REDUCE_ANY": _reduction(np.any),
    "REDUCE_MAX": _reduction(np.max),
    "REDUCE_MIN": _reduction(np.min),
    "REDUCE_PROD": _reduction(np.prod),
    "ROUND": _unary(np.rint),
    "RSQRT": _unary(lambda x: 1 / np.sqrt(x)),
    "SELECT": _chosen,
    "SELECT_V2": _chosen,
    "SIGN": _unary(np.sign),
    "SIN": _unary(np.sin),
    "SQRT": _unary(np.sqrt),
    "SQUARE": _unary(np.square),
    "SUM": _reduction(np.sum),
    "WHERE": _unary(np.argwhere),
}

_PAIRS: Mapping[str, Fold] = {
    "ADD": _binary(np.add, "AddOptions"),
    "BROADCAST_ARGS": lambda node, arrays: np.array(np.broadcast_shapes(*(tuple(_wholes(a).tolist()) for a in arrays))),
    "DIV": _binary(_nonzero(_quotient), "DivOptions"),
    "EQUAL": _binary(np.equal),
    "FLOOR_DIV": _binary(_nonzero(np.floor_divide)),
    "FLOOR_MOD": _binary(_nonzero(np.mod)),
    "GREATER": _binary(np.greater),
    "GREATER_EQUAL": _binary(np.greater_equal),
    "LESS": _binary(np.less),
    "LESS_EQUAL": _binary(np.less_equal),
    "LOGICAL_AND": _binary(np.logical_and),
    "LOGICAL_OR": _binary(np.logical_or),
    "MAXIMUM": _binary(np.maximum),
    "MINIMUM": _binary(np.minimum),
    "MUL": _binary(np.multiply, "MulOptions"),
    "NOT_EQUAL": _binary(np.not_equal),
    "POW": _binary(np.power),
    "SQUARED_DIFFERENCE": _binary(lambda a, b: np.square(a - b)),
    "SUB": _binary(np.subtract, "SubOptions"),
}

FOLDS: Mapping[str, Fold] = {**_FOLDS, **_PAIRS}
NEWEST: Mapping[str, int] = {"RANGE": 2, "WHERE": 2}
"""Operators that are computed while the model is read when all their inputs are constants without a scale."""


def fold(node: TfliteNode, arrays: Sequence[Array], result: Tensor) -> Array:
    """The result of an operator of one output, in the type that the file gives it.

    Raises:
        FoldFailed: LAM-IMPORT-024.
        ModelTooLarge: LAM-IMPORT-004.
        TypeUnsupported: LAM-IMPORT-019.
    """
    kind = element_type(result, node.where)
    compute = partial(FOLDS[node.op_type], node, arrays)
    (array,) = evaluated(lambda: [compute()], partial(_size, node.op_type, arrays), node.where)
    if node.op_type not in ("CAST", "DEQUANTIZE") and not np.can_cast(array.dtype, kind, "same_kind"):
        raise FoldFailed(f"numbers of type {array.dtype}, in the file {result.kind}", where=node.where)
    with np.errstate(all="ignore"):
        return array.astype(kind)


def _size(op_type: str, arrays: Sequence[Array]) -> int:
    """An upper bound of the elements of the result."""
    if op_type == "RANGE":
        return range_elements(arrays)
    if op_type in ("SELECT", "SELECT_V2"):
        return broadcast_elements([_flags(op_type, arrays), *arrays[1:]])
    if op_type in _PAIRS and op_type != "BROADCAST_ARGS":
        return broadcast_elements(arrays)
    return sum(a.size * max(a.ndim, 1) for a in arrays)
