"""Functions of one tensor, arithmetic, comparisons and logic, and activations that are part of other operators."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import tflite

from codegen.errors import FormUnsupported
from codegen.frontends.tflite.nodes import TfliteNode
from codegen.frontends.tflite.real.context import RealContext, Table, Versions
from codegen.ir.real import RealOp
from codegen.real.elementwise import AddN, Binary, Clip, Function, Not, PRelu, Where

_KIND = tflite.ActivationFunctionType
_ACTIVATIONS: Mapping[int, tuple[RealOp, ...]] = {
    _KIND.NONE: (),
    _KIND.RELU: (Function("Relu"),),
    _KIND.RELU_N1_TO_1: (Clip(-1.0, 1.0),),
    _KIND.RELU6: (Clip(0.0, 6.0),),
}

FUNCTIONS: Mapping[str, tuple[RealOp, ...]] = {
    "ABS": (Function("Abs"),),
    "CEIL": (Function("Ceil"),),
    "COS": (Function("Cos"),),
    "ELU": (Function("Elu"),),
    "EXP": (Function("Exp"),),
    "FLOOR": (Function("Floor"),),
    "HARD_SWISH": (Function("HardSwish"),),
    "LOG": (Function("Log"),),
    "LOGISTIC": (Function("Sigmoid"),),
    "NEG": (Function("Neg"),),
    "RELU": (Function("Relu"),),
    "RELU6": (Clip(0.0, 6.0),),
    "RELU_0_TO_1": (Clip(0.0, 1.0),),
    "RELU_N1_TO_1": (Clip(-1.0, 1.0),),
    "ROUND": (Function("Round"),),
    "RSQRT": (Function("Rsqrt"),),
    "SIGN": (Function("Sign"),),
    "SIN": (Function("Sin"),),
    "SQRT": (Function("Sqrt"),),
    "TANH": (Function("Tanh"),),
}
"""Operators on each element: ours, one behind the other."""
_OF_WHOLE = ("ABS", "NEG", "RELU", "SIGN", "SQUARE")

BINARY: Mapping[str, tuple[str, str]] = {
    "ADD": ("Add", "AddOptions"),
    "BITWISE_XOR": ("BitwiseXor", ""),
    "DIV": ("Div", "DivOptions"),
    "EQUAL": ("Equal", ""),
    "FLOOR_DIV": ("FloorDiv", ""),
    "FLOOR_MOD": ("Mod", ""),
    "GREATER": ("Greater", ""),
    "GREATER_EQUAL": ("GreaterOrEqual", ""),
    "LESS": ("Less", ""),
    "LESS_EQUAL": ("LessOrEqual", ""),
    "LOGICAL_AND": ("And", ""),
    "LOGICAL_OR": ("Or", ""),
    "MAXIMUM": ("Max", ""),
    "MINIMUM": ("Min", ""),
    "MUL": ("Mul", "MulOptions"),
    "NOT_EQUAL": ("NotEqual", ""),
    "POW": ("Pow", ""),
    "RIGHT_SHIFT": ("ShiftRight", ""),
    "SQUARED_DIFFERENCE": ("SquaredDifference", ""),
    "SUB": ("Sub", "SubOptions"),
}
"""Arithmetic by its name in RealGraph, and the options that hold a fused activation."""
_KINDS = {"And": "b", "Or": "b", "Equal": "fiub", "NotEqual": "fiub", "BitwiseXor": "iu", "ShiftRight": "iu"}


def activation(node: TfliteNode, options: Any) -> tuple[RealOp, ...]:
    """What stands behind an operator for its fused activation."""
    return _ACTIVATIONS[node.activation(options)]


def function(ctx: RealContext, node: TfliteNode) -> None:
    """A function without options."""
    ctx.of_one_type(node, "fi" if node.op_type in _OF_WHOLE else "f")
    first, *rest = FUNCTIONS[node.op_type]
    ctx.write(node, first, [ctx.value(node, 0)], post=rest)


def leaky_relu(ctx: RealContext, node: TfliteNode) -> None:
    """LEAKY_RELU."""
    ctx.of_one_type(node, "f")
    alpha = node.real(node.options_of("LeakyReluOptions"), "Alpha")
    ctx.write(node, Function("LeakyRelu", (("alpha", alpha),)), [ctx.value(node, 0)])


def gelu(ctx: RealContext, node: TfliteNode) -> None:
    """GELU, exact or with tanh."""
    ctx.of_one_type(node, "f")
    approximate = node.options_of("GeluOptions").Approximate()
    ctx.write(node, Function("GeluTanh" if approximate else "Gelu"), [ctx.value(node, 0)])


def square(ctx: RealContext, node: TfliteNode) -> None:
    """SQUARE."""
    ctx.of_one_type(node, "fi")
    ctx.write(node, Binary("Mul"), [ctx.value(node, 0)] * 2)


def binary(ctx: RealContext, node: TfliteNode) -> None:
    """Arithmetic, a comparison or logic of two tensors of one type."""
    kind, options = BINARY[node.op_type]
    ctx.of_one_type(node, _KINDS.get(kind, "fiu"))
    post = activation(node, node.options_of(options)) if options else ()
    ctx.write(node, Binary(kind), [ctx.value(node, 0), ctx.value(node, 1)], post=post)


def add_n(ctx: RealContext, node: TfliteNode) -> None:
    """ADD_N: from the first to the last."""
    ctx.of_one_type(node, "fi")
    ctx.write(node, AddN(), ctx.values_of(node))


def invert(ctx: RealContext, node: TfliteNode) -> None:
    """LOGICAL_NOT."""
    ctx.of_one_type(node, "b")
    ctx.write(node, Not(), [ctx.value(node, 0)])


def prelu(ctx: RealContext, node: TfliteNode) -> None:
    """PRELU."""
    ctx.of_one_type(node, "f")
    ctx.write(node, PRelu(), [ctx.value(node, 0), ctx.value(node, 1)])


def select(ctx: RealContext, node: TfliteNode) -> None:
    """SELECT and SELECT_V2; the former's list of flags picks along the first axis."""
    flags, *choices = (ctx.value(node, i) for i in range(3))
    kinds = [ctx.type(node, i) for i in range(3)]
    if kinds[0].dtype.kind != "b" or kinds[1].dtype != kinds[2].dtype:
        raise FormUnsupported(f"a choice of {kinds[1].dtype} and {kinds[2].dtype}", where=node.where)
    rank = len(kinds[1].shape)
    if node.op_type == "SELECT" and len(kinds[0].shape) == 1 < rank:
        flags = ctx.reshaped(node, flags, (*kinds[0].shape, *(1,) * (rank - 1)), "flags")
    ctx.write(node, Where(), [flags, *choices])


TRANSLATORS: Table = {
    **dict.fromkeys(BINARY, binary),
    **dict.fromkeys(FUNCTIONS, function),
    "ADD_N": add_n,
    "GELU": gelu,
    "LEAKY_RELU": leaky_relu,
    "LOGICAL_NOT": invert,
    "PRELU": prelu,
    "SELECT": select,
    "SELECT_V2": select,
    "SQUARE": square,
}
NEWEST: Versions = {
    "ABS": 5,
    "ADD": 5,
    "DIV": 2,
    "EQUAL": 4,
    "EXP": 2,
    "FLOOR_DIV": 3,
    "FLOOR_MOD": 2,
    "GELU": 2,
    "GREATER": 2,
    "GREATER_EQUAL": 3,
    "LEAKY_RELU": 2,
    "LESS": 3,
    "LESS_EQUAL": 3,
    "LOG": 2,
    "LOGISTIC": 3,
    "MAXIMUM": 4,
    "MINIMUM": 4,
    "MUL": 7,
    "NOT_EQUAL": 3,
    "RELU": 3,
    "RELU6": 3,
    "RSQRT": 3,
    "SELECT": 4,
    "SELECT_V2": 2,
    "SIGN": 2,
    "SQRT": 2,
    "SQUARED_DIFFERENCE": 2,
    "SUB": 5,
    "TANH": 3,
}
