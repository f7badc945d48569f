"""Arithmetic of plain numbers, int32 without a scale, that the network computes: positions and counts.

Decides: which operators have a form for them, and that numbers of 64 bits, which are held in 32, are only compared.
Source: tensorflow/lite/kernels/{add,sub,mul,div,floor_div,floor_mod,maximum_minimum,squared_difference,neg}.cc.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from codegen.errors import FormUnsupported
from codegen.ir.quant import Array
from codegen.ir.real import RealNode
from codegen.ops import Extremum, WholeArithmetic
from codegen.settle.states import Int
from codegen.settle.tflite.context import TfliteContext

_OPERATIONS: Mapping[str, str] = {"Add": "+", "Div": "/", "FloorDiv": "//", "Mod": "%", "Mul": "*", "Sub": "-"}


def is_plain(ctx: TfliteContext, node: RealNode) -> bool:
    """Whether no input has a scale, and all are whole numbers of one wide type; LAM-IMPORT-022 for those of 64 bits."""
    records = [ctx.record(name) for name in node.inputs]
    kinds = {r.type.dtype.name for r in records}
    if any(r.stored is not None for r in records) or not kinds <= {"int32", "int64"}:
        return False
    if kinds != {"int32"}:
        hint = "have positions and counts made as int32, ARG_MAX with output_type int32"
        raise FormUnsupported(f"{node.op_type} of {' and '.join(sorted(kinds))}", where=node.where, hint=hint)
    return True


def arithmetic(ctx: TfliteContext, node: RealNode, kind: str) -> Int:
    """A function of two tensors."""
    pair = (ctx.value(node, 0), ctx.value(node, 1))
    if kind in ("Max", "Min"):
        return Int(ctx.made(node, Extremum(kind == "Max", None), pair))
    if kind == "SquaredDifference":
        difference = ctx.apply(node, WholeArithmetic("-"), pair)
        return Int(ctx.made(node, WholeArithmetic("*"), (difference, difference)))
    if kind not in _OPERATIONS:
        raise ctx.real_only(node)
    return Int(ctx.made(node, WholeArithmetic(_OPERATIONS[kind]), pair))


def negative(ctx: TfliteContext, node: RealNode) -> Int:
    """0 - x."""
    return Int(ctx.made(node, WholeArithmetic("-"), (_zero(ctx, node), ctx.value(node, 0))))


def absolute(ctx: TfliteContext, node: RealNode) -> Int:
    """The larger one of x and 0 - x."""
    x = ctx.value(node, 0)
    turned = ctx.apply(node, WholeArithmetic("-"), (_zero(ctx, node), x))
    return Int(ctx.made(node, Extremum(True, None), (x, turned)))


def _zero(ctx: TfliteContext, node: RealNode) -> str:
    zero: Array = np.zeros((1,) * len(ctx.real(node.inputs[0]).shape), np.int32)
    return ctx.constant_value(node, "zero", zero)
