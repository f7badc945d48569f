"""Functions, arithmetic, comparisons, logic and changes of type.  Source: onnx/docs/Operators.md."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
from onnx import TensorProto

from codegen.errors import ShapeMismatch
from codegen.frontends.onnx.activation import DEFAULTS
from codegen.frontends.onnx.nodes import OnnxNode
from codegen.frontends.onnx.real.reading import MICROSOFT, Reading, Table
from codegen.frontends.onnx.tensors import bits_of, dtype_of, type_refused
from codegen.ir.element import element_name
from codegen.real.bits import BitCast, BitwiseNot, CastNarrow, IsInf, IsNaN
from codegen.real.elementwise import Binary, Cast, Clip, Function, Not, PRelu, Where

_CASTS = frozenset(
    (
        *(TensorProto.FLOAT, TensorProto.DOUBLE, TensorProto.FLOAT16, TensorProto.INT8, TensorProto.UINT8),
        *(TensorProto.INT16, TensorProto.UINT16, TensorProto.INT32, TensorProto.UINT32, TensorProto.INT64),
        *(TensorProto.UINT64, TensorProto.BOOL, TensorProto.BFLOAT16),
    )
)
_SIGNED = (TensorProto.INT4, TensorProto.INT2)


def function(r: Reading, node: OnnxNode) -> Sequence[str]:
    """A function of one variable with the attributes that it has."""
    attributes = tuple((key, node.real(key, value)) for key, value in DEFAULTS.get(node.op_type, {}).items())
    return [r.apply(Function(node.op_type, attributes), [r.value(node, 0)], node)]


def gelu(r: Reading, node: OnnxNode) -> Sequence[str]:
    """Gelu, exact or with tanh."""
    approximate = node.string("approximate", "none", ("none", "tanh"))
    return [r.apply(Function("GeluTanh" if approximate == "tanh" else "Gelu"), [r.value(node, 0)], node)]


def clip(r: Reading, node: OnnxNode) -> Sequence[str]:
    """Clip: its bounds are inputs or, before operator set 11, attributes."""
    x = r.value(node, 0)
    low, high = (_bound(r, node, i, name) for i, name in ((1, "min"), (2, "max")))
    return [r.apply(Clip(-math.inf if low is None else low, math.inf if high is None else high), [x], node)]


def _bound(r: Reading, node: OnnxNode, index: int, name: str) -> float | None:
    if node.has(name):
        return node.real(name)
    array = r.optional_const(node, index)
    if array is not None and array.size != 1:
        raise ShapeMismatch(f"a bound of shape {list(array.shape)}", where=node.where)
    return None if array is None else float(array.reshape(-1)[0])


def binary(r: Reading, node: OnnxNode) -> Sequence[str]:
    """Arithmetic, a comparison or logic of two tensors, of one type where ONNX wants it."""
    return [r.apply(Binary(node.op_type), [r.value(node, 0), r.value(node, 1)], node)]


def mod(r: Reading, node: OnnxNode) -> Sequence[str]:
    """Mod: the sign is the divisor's, with fmod the dividend's."""
    kind = "Fmod" if node.flag("fmod") else "Mod"
    return [r.apply(Binary(kind), [r.value(node, 0), r.value(node, 1)], node)]


def bit_shift(r: Reading, node: OnnxNode) -> Sequence[str]:
    """BitShift."""
    kind = "ShiftLeft" if node.string("direction", "", ("LEFT", "RIGHT")) == "LEFT" else "ShiftRight"
    return [r.apply(Binary(kind), [r.value(node, 0), r.value(node, 1)], node)]


def variadic(r: Reading, node: OnnxNode) -> Sequence[str]:
    """Sum, Mean, Max and Min of any number of tensors: from the first to the last."""
    kind = {"Sum": "Add", "Mean": "Add"}.get(node.op_type, node.op_type)
    inputs = r.given(node)
    total, rest = inputs[0], inputs[1:]
    for i, other in enumerate(rest):
        last = i == len(rest) - 1 and node.op_type != "Mean"
        total = r.apply(Binary(kind), [total, other], node, "" if last else f"{kind.lower()}{i}")
    if node.op_type != "Mean":
        return [total]
    count = r.constant(f"{node.outputs[0]}:count", np.array(len(inputs), r.type(total).dtype))
    return [r.apply(Binary("Div"), [total, count], node)]


def invert(r: Reading, node: OnnxNode) -> Sequence[str]:
    """Not."""
    return [r.apply(Not(), [r.value(node, 0)], node)]


def prelu(r: Reading, node: OnnxNode) -> Sequence[str]:
    """PRelu."""
    return [r.apply(PRelu(), [r.value(node, 0), r.value(node, 1)], node)]


def where(r: Reading, node: OnnxNode) -> Sequence[str]:
    """Where."""
    return [r.apply(Where(), [r.value(node, i) for i in range(3)], node)]


def cast(r: Reading, node: OnnxNode) -> Sequence[str]:
    """Cast."""
    to = node.integer("to")
    if bits_of(to):
        return [_narrow(r, node, "int8" if to in _SIGNED else "uint8", bits_of(to))]
    return [r.apply(Cast(element_name(read_dtype(node, "to"))), [r.value(node, 0)], node)]


def cast_like(r: Reading, node: OnnxNode) -> Sequence[str]:
    """CastLike."""
    like = r.value(node, 1)
    name = element_name(r.type(like).dtype)
    if like in r.bits:
        return [_narrow(r, node, name, r.bits[like])]
    return [r.apply(Cast(name), [r.value(node, 0)], node)]


def _narrow(r: Reading, node: OnnxNode, name: str, bits: int) -> str:
    value = r.apply(CastNarrow(name, bits), [r.value(node, 0)], node)
    r.bits[value] = bits
    return value


def bit_cast(r: Reading, node: OnnxNode) -> Sequence[str]:
    """BitCast."""
    return [r.apply(BitCast(element_name(read_dtype(node, "to"))), [r.value(node, 0)], node)]


def read_dtype(node: OnnxNode, name: str) -> np.dtype[np.generic]:
    """The element type that an attribute names; LAM-IMPORT-019 when there are no such tensors."""
    number = node.integer(name)
    if number not in _CASTS:
        raise type_refused(number, "elements", node.where)
    return dtype_of(number)


def is_nan(r: Reading, node: OnnxNode) -> Sequence[str]:
    """IsNaN."""
    return [r.apply(IsNaN(), [r.value(node, 0)], node)]


def is_inf(r: Reading, node: OnnxNode) -> Sequence[str]:
    """IsInf."""
    op = IsInf(node.flag("detect_negative", True), node.flag("detect_positive", True))
    return [r.apply(op, [r.value(node, 0)], node)]


def bitwise_not(r: Reading, node: OnnxNode) -> Sequence[str]:
    """BitwiseNot."""
    return [r.apply(BitwiseNot(), [r.value(node, 0)], node)]


def identity(r: Reading, node: OnnxNode) -> Sequence[str]:
    """Identity, and Dropout outside training: the tensor itself, or the sequence."""
    return [r.any_value(node, 0)]


FUNCTIONS = (
    *("Abs", "Acos", "Acosh", "Asin", "Asinh", "Atan", "Atanh", "Ceil", "Celu", "Cos", "Cosh", "Elu", "Erf", "Exp"),
    *("Floor", "HardSigmoid", "HardSwish", "LeakyRelu", "Log", "Mish", "Neg", "Reciprocal", "Relu", "Round", "Selu"),
    *("Shrink", "Sigmoid", "Sign", "Sin", "Sinh", "Softplus", "Softsign", "Sqrt", "Swish", "Tan", "Tanh"),
    "ThresholdedRelu",
)
"""Functions of one tensor, which ONNX and `Pointwise` name alike."""
_BINARY = (
    *("Add", "And", "BitwiseAnd", "BitwiseOr", "BitwiseXor", "Div", "Equal", "Greater", "GreaterOrEqual", "Less"),
    *("LessOrEqual", "Mul", "Or", "Pow", "Sub", "Xor"),
)

TRANSLATORS: Table = {
    **{("", name): function for name in FUNCTIONS},
    **{("", name): binary for name in _BINARY},
    **{("", name): variadic for name in ("Max", "Mean", "Min", "Sum")},
    ("", "BitCast"): bit_cast,
    ("", "BitShift"): bit_shift,
    ("", "BitwiseNot"): bitwise_not,
    ("", "Cast"): cast,
    ("", "CastLike"): cast_like,
    ("", "Clip"): clip,
    ("", "Gelu"): gelu,
    ("", "Identity"): identity,
    ("", "IsInf"): is_inf,
    ("", "IsNaN"): is_nan,
    ("", "Mod"): mod,
    ("", "Not"): invert,
    ("", "PRelu"): prelu,
    ("", "Where"): where,
    (MICROSOFT, "Gelu"): gelu,
}
