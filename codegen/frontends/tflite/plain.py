"""Arithmetic of plain numbers, int32 without a scale, that the network computes: positions and counts.

Decides: which operators have a form for them, and that numbers of 64 bits, which are held in 32, are only compared.
Source: tensorflow/lite/kernels/{add,sub,mul,div,floor_div,floor_mod,maximum_minimum,squared_difference,neg}.cc.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from codegen.errors import FormUnsupported
from codegen.frontends.tflite.context import Context, ImportFn
from codegen.frontends.tflite.nodes import TfliteNode
from codegen.frontends.tflite.scales import REAL_BOUNDS
from codegen.ir.op import Op
from codegen.ir.quant import Array, DType
from codegen.ops import Clamp, Extremum, WholeArithmetic

_OPERATIONS: Mapping[str, tuple[str, str]] = {
    "ADD": ("+", "AddOptions"),
    "DIV": ("/", "DivOptions"),
    "FLOOR_DIV": ("//", ""),
    "FLOOR_MOD": ("%", ""),
    "MUL": ("*", "MulOptions"),
    "SUB": ("-", "SubOptions"),
}
"""The operation, and the options that hold a fused activation."""


def is_plain(ctx: Context, node: TfliteNode) -> bool:
    """Whether no input has a scale, and all are whole numbers of one wide type; LAM-IMPORT-022 for those of 64 bits."""
    kinds = {ctx.tensor(node, i).kind for i in range(len(node.inputs))}
    if any(ctx.tensor(node, i).scale.size for i in range(len(node.inputs))) or not kinds <= {"int32", "int64"}:
        return False
    if kinds != {"int32"}:
        hint = "have positions and counts made as int32, ARG_MAX with output_type int32"
        raise FormUnsupported(f"{node.op_type} of {' and '.join(sorted(kinds))}", where=node.where, hint=hint)
    return True


def or_else(whole: ImportFn, quantized: ImportFn) -> ImportFn:
    """The importer of an operator that has both forms."""
    return lambda ctx, node: (whole if is_plain(ctx, node) else quantized)(ctx, node)


def arithmetic(ctx: Context, node: TfliteNode) -> None:
    """ADD, SUB, MUL, DIV, FLOOR_DIV and FLOOR_MOD."""
    if not is_plain(ctx, node):
        hint = "int32 without a scale is supported"
        raise FormUnsupported(f"{node.op_type} of other numbers", where=node.where, hint=hint)
    operation, options = _OPERATIONS[node.op_type]
    activation = node.activation(node.options_of(options)) if options else 0
    pair = (ctx.value(node, 0), ctx.value(node, 1))
    ctx.write(node, WholeArithmetic(operation), pair, post=_bounds(activation))


def extremum(ctx: Context, node: TfliteNode) -> None:
    """MAXIMUM and MINIMUM."""
    ctx.write(node, Extremum(node.op_type == "MAXIMUM", None), (ctx.value(node, 0), ctx.value(node, 1)))


def squared_difference(ctx: Context, node: TfliteNode) -> None:
    """SQUARED_DIFFERENCE."""
    difference = ctx.apply(node, WholeArithmetic("-"), (ctx.value(node, 0), ctx.value(node, 1)))
    ctx.write(node, WholeArithmetic("*"), (difference, difference))


def negative(ctx: Context, node: TfliteNode) -> None:
    """NEG: 0 - x."""
    ctx.write(node, WholeArithmetic("-"), (_zero(ctx, node), ctx.value(node, 0)))


def absolute(ctx: Context, node: TfliteNode) -> None:
    """ABS: the larger one of x and 0 - x."""
    x = ctx.value(node, 0)
    ctx.write(node, Extremum(True, None), (x, ctx.apply(node, WholeArithmetic("-"), (_zero(ctx, node), x))))


def _zero(ctx: Context, node: TfliteNode) -> str:
    zero: Array = np.zeros((1,) * len(ctx.type(node, 0).shape), np.int32)
    return ctx.constant_value(node, "zero", zero)


def _bounds(activation: int) -> tuple[Op, ...]:
    low, high = REAL_BOUNDS[activation]
    if low is high is None:
        return ()
    kind = DType.S32
    return (Clamp(kind.low if low is None else int(low), kind.high if high is None else int(high)),)
