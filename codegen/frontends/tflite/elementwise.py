"""Elementwise operators of two tensors, and SOFTMAX."""

from __future__ import annotations

from codegen.frontends.tflite.context import Context
from codegen.frontends.tflite.nodes import TfliteNode
from codegen.frontends.tflite.scales import activation_range
from codegen.ops import Add, Softmax


def add(ctx: Context, node: TfliteNode) -> None:
    """ADD and SUB."""
    sign, name = (-1, "SubOptions") if node.op_type == "SUB" else (1, "AddOptions")
    (a, _), (b, _) = ctx.quantized(node, 0), ctx.quantized(node, 1)
    y, dtype = ctx.quantized_result(node)
    low, high = activation_range(node.activation(node.options_of(name)), y, dtype)
    ctx.write(node, Add(a, b, y, dtype, low, high, ctx.mode, sign), (ctx.value(node, 0), ctx.value(node, 1)))


def softmax(ctx: Context, node: TfliteNode) -> None:
    """SOFTMAX over the last axis."""
    beta = node.real(node.options_of("SoftmaxOptions"), "Beta")
    x, _ = ctx.quantized(node, 0)
    y, dtype = ctx.quantized_result(node)
    ctx.write(node, Softmax(x, y, dtype, ctx.mode, beta), (ctx.value(node, 0),))
