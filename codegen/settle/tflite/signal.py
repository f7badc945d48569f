"""TFLite Micro's signal operators, which are integer operators already."""

from __future__ import annotations

from collections.abc import Sequence

from codegen.ir.real import RealNode
from codegen.real import signal as real
from codegen.settle.rule import Family, Rule
from codegen.settle.states import Int, State
from codegen.settle.tflite.context import TfliteContext


def signal(ctx: TfliteContext, node: RealNode, op: real.Signal) -> Sequence[State]:
    """The operator itself; pairs of words are no tensor of the model."""
    inputs = [ctx.value(node, i) for i in range(len(node.inputs))]
    shown = [name if kind != "uint64" else "" for name, kind in zip(node.outputs, op.kinds, strict=True)]
    sources = tuple(ctx.source(name, (node,)) if name else "" for name in shown)
    trail = ctx.origin((node,), node.outputs[0])
    note = f"{node.op_type} -> {type(op.op).__name__}"
    values = ctx.builder.apply_all(op.op, inputs, node.outputs, sources=sources, trail=trail, note=note)
    return [Int(value, kind) for value, kind in zip(values, op.kinds, strict=True)]


_SIGNALS = tuple(
    f"custom operator Signal{name}"
    for name in (
        *("Delay", "Energy", "FftAutoScale", "FilterBank", "FilterBankLog", "FilterBankSpectralSubtraction"),
        *("FilterBankSquareRoot", "Framer", "Irfft", "OverlapAdd", "PCAN", "Rfft", "Stacker", "Window"),
    )
)
RULES: Family = (Rule(real.Signal, signal, _SIGNALS),)
