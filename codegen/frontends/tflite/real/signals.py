"""What the translators of signal operators share: options within bounds, inputs as integers, results."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from codegen.errors import AttributeBad, InputsDoNotFit
from codegen.frontends.tflite.nodes import TfliteNode
from codegen.frontends.tflite.real.context import RealContext
from codegen.frontends.tflite.records import stored_of
from codegen.real.signal import Signal
from codegen.real.storage import Dequantize, Quantize


def option(node: TfliteNode, told: Mapping[str, int], name: str, low: int, high: int) -> int:
    """An option within low .. high; LAM-IMPORT-013 otherwise."""
    if name not in told:
        raise AttributeBad(f"option {name} is missing", where=node.where)
    if not low <= told[name] <= high:
        raise AttributeBad(f"option {name} is {told[name]}, allowed is {low} .. {high}", where=node.where)
    return told[name]


def whole(ctx: RealContext, node: TfliteNode, count: int) -> list[str]:
    """The inputs' integers, whatever their scales are; LAM-OPS-001 unless there are so many."""
    if len(node.inputs) != count:
        raise InputsDoNotFit(f"{len(node.inputs)} inputs, it takes {count}", where=node.where)
    found = []
    for index in range(count):
        value = ctx.value(node, index)
        held = ctx.stored(value)
        found.append(value if held is None else ctx.apply(node, Quantize(held), [value], f"integers{index}"))
    return found


def write_all(ctx: RealContext, node: TfliteNode, op: Signal, inputs: Sequence[str]) -> tuple[str, ...]:
    """An operator whose results are the node's outputs, one after the other: their integers, whatever their scales."""
    tensors = [ctx.result(node, i) for i in range(len(op.kinds))]
    held = [stored_of(t, node.where) for t in tensors]
    names = [t.name if h is None else f"{t.name}:integers" for t, h in zip(tensors, held, strict=True)]
    made = ctx.written(node, op, inputs, names, tensors[0].name)
    for index, (value, stored) in enumerate(zip(made, held, strict=True)):
        if stored is not None:
            value = ctx.written(node, Dequantize(stored), [value], [tensors[index].name], tensors[index].name, stored)[
                0
            ]
        ctx.bind(node, value, index)
    return made
