"""What the translators of custom operators share: options within bounds; of signal operators inputs, results."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from codegen.errors import AttributeBad, InputsDoNotFit
from codegen.frontends.tflite.flex import Told
from codegen.frontends.tflite.nodes import TfliteNode
from codegen.frontends.tflite.real.context import RealContext
from codegen.frontends.tflite.records import stored_of
from codegen.real.signal import Signal
from codegen.real.storage import Dequantize, Quantize


def option(node: TfliteNode, told: Told, name: str, low: int, high: int) -> int:
    """A whole option within low .. high; LAM-IMPORT-013 otherwise."""
    number = _given(node, told, name)
    if not isinstance(number, int) or not low <= number <= high:
        raise AttributeBad(f"option {name} is {number}, allowed is {low} .. {high}", where=node.where)
    return number


def real_option(node: TfliteNode, told: Told, name: str, within: tuple[float, float] = (-math.inf, math.inf)) -> float:
    """A finite option, as float32 has it, within bounds; LAM-IMPORT-013 otherwise."""
    with np.errstate(over="ignore"):
        number = float(np.float32(_given(node, told, name)))
    if not math.isfinite(number) or not within[0] <= number <= within[1]:
        raise AttributeBad(f"option {name} is {number}, allowed is {within[0]} .. {within[1]}", where=node.where)
    return number


def _given(node: TfliteNode, told: Told, name: str) -> float:
    if name not in told:
        raise AttributeBad(f"option {name} is missing", where=node.where)
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
