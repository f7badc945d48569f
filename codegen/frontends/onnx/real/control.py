"""If, Loop and Scan, resolved while the model is read: the branch taken, the steps unrolled.

Decides: that a number of steps is constant, and how many nodes may come of it.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from codegen.errors import (
    ControlUnresolved,
    FormUnsupported,
    InputMissing,
    ModelTooLarge,
    NotATensor,
    ParameterDynamic,
    ShapeMismatch,
)
from codegen.frontends.onnx.nodes import OnnxNode, read_node, text_of
from codegen.frontends.onnx.real.reading import Reading, Table
from codegen.ir.quant import Array
from codegen.real.elementwise import Where
from codegen.real.movement import Concat, Gather, Reshape

_MOST_NODES = 1 << 14
_MOST_STEPS = 1 << 12


def if_op(r: Reading, node: OnnxNode) -> Sequence[str]:
    """If: the branch that a constant condition takes; both of them where it is computed, and a choice."""
    condition = r.value(node, 0)
    if r.values[condition].data is None:
        return _either(r, node, condition)
    taken = bool(r.const(node, 0).reshape(-1)[:1].all())
    return inlined(r, node, node.graph("then_branch" if taken else "else_branch"), {}, "")


def _either(r: Reading, node: OnnxNode, condition: str) -> Sequence[str]:
    """Each result of both branches, which must be of one type, chosen by a truth value."""
    if math.prod(r.type(condition).shape) != 1:
        raise ShapeMismatch(f"a condition of shape {list(r.type(condition).shape)}", where=node.where)
    flag = r.apply(Reshape(()), [condition], node, "condition")
    sides = [inlined(r, node, node.graph(name), {}, f"/{name}") for name in ("then_branch", "else_branch")]
    _check(node, len(node.outputs) <= len(sides[0]) == len(sides[1]))
    for a, b in zip(*sides, strict=True):
        if not r.sequences.keys().isdisjoint((a, b)) or r.type(a) != r.type(b):
            found = f"branches whose results are {_said(r, a)} and {_said(r, b)}, by a computed condition"
            raise ControlUnresolved.of(found, node.where)
    return [r.apply(Where(), [flag, a, b], node, f"choice{i}") for i, (a, b) in enumerate(zip(*sides, strict=True))]


def _said(r: Reading, value: str) -> str:
    if value in r.sequences:
        return f"a sequence of {len(r.sequences[value])}"
    return f"{r.type(value).dtype}{list(r.type(value).shape)}"


def loop(r: Reading, node: OnnxNode) -> Sequence[str]:
    """Loop: its steps, as long as the constant condition holds."""
    body = node.graph("body")
    steps, goes = _begun(r, node)
    states = [r.any_value(node, i) for i in range(2, len(node.inputs))]
    names = [text_of(i.name) for i in body.input]
    _check(node, len(names) == 2 + len(states) <= 1 + len(body.output))
    gathered: list[list[str]] = [[] for _ in body.output[1 + len(states) :]]
    step = 0
    while goes and step < steps:
        _check_steps(node, step + 1)
        counter = r.constant(f"{node.name}:step", np.array(step, np.int64))
        flag = r.constant(f"{node.name}:condition", np.array(True))
        given = dict(zip(names, [counter, flag, *states], strict=True))
        goes_on, *rest = inlined(r, node, body, given, f"/{step}")
        states = rest[: len(states)]
        for parts, value in zip(gathered, rest[len(states) :], strict=True):
            parts.append(value)
        goes = bool(_known(r, node, goes_on).reshape(-1)[0])
        step += 1
    return [*states, *(_stacked(r, node, parts, 0, i) for i, parts in enumerate(gathered))]


def _begun(r: Reading, node: OnnxNode) -> tuple[int, bool]:
    """How many steps a loop has at most, and whether it has any."""
    try:
        steps = _MOST_STEPS + 1 if r.optional(node, 0) is None else r.whole_number(node, 0)
        return steps, r.optional(node, 1) is None or bool(r.number(node, 1))
    except ParameterDynamic as error:
        raise ControlUnresolved.of("how many steps the loop has is not a constant", node.where) from error


def scan(r: Reading, node: OnnxNode) -> Sequence[str]:
    """Scan: a step for each entry of the sequences; before operator set 9 for each image of a batch."""
    body = node.graph("body")
    inputs = [r.value(node, i) for i in range(r.opset < 9, len(node.inputs))]
    count = node.integer("num_scan_inputs", low=1)
    _check(node, count <= len(inputs) == len(body.input) and len(body.output) >= len(inputs) - count)
    if r.opset >= 9:
        return _scanned(r, node, inputs, "")
    if r.optional(node, 0) is not None:
        raise FormUnsupported("Scan of sequences of different lengths", where=node.where)
    batches = {(r.type(i).shape or (0,))[0] for i in inputs}
    _check(node, len(batches) == 1 and 0 not in batches)
    each = [
        _scanned(r, node, [_entry(r, node, i, 0, image) for i in inputs], f"/image{image}")
        for image in range(batches.pop())
    ]
    return [_stacked(r, node, parts, 0, i) for i, parts in enumerate(zip(*each, strict=True))]


def _scanned(r: Reading, node: OnnxNode, inputs: Sequence[str], tag: str) -> list[str]:
    """The last states, and what the steps gave."""
    body, count = node.graph("body"), node.integer("num_scan_inputs", low=1)
    names = [text_of(i.name) for i in body.input]
    states, sequences = list(inputs[: len(inputs) - count]), inputs[len(inputs) - count :]
    axes = [
        r.axes(node, (a,), r.rank(s))[0] for a, s in zip(_list(node, "scan_input_axes", count), sequences, strict=True)
    ]
    turned = _list(node, "scan_input_directions" if r.opset >= 9 else "directions", count)
    steps = r.type(sequences[0]).shape[axes[0]]
    _check(node, all(r.type(s).shape[a] == steps for s, a in zip(sequences, axes, strict=True)))
    _check_steps(node, steps)
    outputs = len(body.output) - len(states)
    gathered: list[list[str]] = [[] for _ in range(outputs)]
    for step in range(steps):
        entries = [
            _entry(r, node, s, a, steps - 1 - step if back else step)
            for s, a, back in zip(sequences, axes, turned, strict=True)
        ]
        made = inlined(r, node, body, dict(zip(names, [*states, *entries], strict=True)), f"{tag}/{step}")
        states = made[: len(states)]
        for parts, value in zip(gathered, made[len(states) :], strict=True):
            parts.append(value)
    backwards, at = _list(node, "scan_output_directions", outputs), _list(node, "scan_output_axes", outputs)
    results = [
        _stacked(r, node, parts[::-1] if back else parts, axis, i)
        for i, (parts, back, axis) in enumerate(zip(gathered, backwards, at, strict=True))
    ]
    return [*states, *results]


def _list(node: OnnxNode, name: str, count: int) -> tuple[int, ...]:
    return node.integers(name, (0,) * count, count=count)


def _check(node: OnnxNode, fits: bool) -> None:
    if not fits:
        raise ShapeMismatch("the inputs and outputs do not fit the body", where=node.where)


def _check_steps(node: OnnxNode, steps: int) -> None:
    if steps > _MOST_STEPS:
        raise ModelTooLarge(f"more than {_MOST_STEPS} steps", where=node.where)


def _known(r: Reading, node: OnnxNode, value: str) -> Array:
    array = r.values[value].data
    if array is None or not array.size:
        raise ControlUnresolved.of("whether the loop goes on is not a constant", node.where)
    return array


def _entry(r: Reading, node: OnnxNode, sequence: str, axis: int, step: int) -> str:
    at = r.constant(f"{node.name}:at", np.array(step, np.int64))
    return r.apply(Gather(axis), [sequence, at], node, f"{sequence}/{step}")


def _stacked(r: Reading, node: OnnxNode, parts: Sequence[str], axis: int, index: int) -> str:
    """What the steps gave, along a new axis."""
    if not parts:
        raise FormUnsupported("a loop without steps that gathers something", where=node.where)
    if not r.sequences.keys().isdisjoint(parts):
        raise NotATensor.of("what the steps give is a sequence each", node.where)
    kind = r.type(parts[0])
    (axis,) = r.axes(node, (axis,), len(kind.shape) + 1)
    shape = (*kind.shape[:axis], 1, *kind.shape[axis:])
    rows = [r.apply(Reshape(shape), [p], node, f"part{index}") for p in parts]
    return r.apply(Concat(axis), rows, node, f"all{index}")


def inlined(r: Reading, node: OnnxNode, graph: Any, given: Mapping[str, str], tag: str) -> list[str]:
    """The values of a body's outputs, its nodes read behind those of the network."""
    outer = r.tensors
    r.tensors = {**outer, **given}
    try:
        for tensor in graph.initializer:
            r.initializer(text_of(tensor.name), tensor)
        for i, proto in enumerate(graph.node):
            r.inlined += 1
            if r.inlined > _MOST_NODES:
                raise ModelTooLarge(f"with its loops the model has more than {_MOST_NODES} nodes", where=node.where)
            inner = read_node(proto, i)
            inner = replace(inner, name=f"{node.name}{tag}/{inner.name}")
            for name in filter(None, inner.inputs):
                _of_body(r, node, name)
            values = r.read(inner)
            r.tensors.update((n, v) for n, v in zip(inner.outputs, values, strict=False) if n and v)
        return [_of_body(r, node, text_of(o.name)) for o in graph.output]
    finally:
        r.tensors = outer


def _of_body(r: Reading, node: OnnxNode, name: str) -> str:
    """What a name within a body stands for."""
    if name not in r.tensors:
        raise InputMissing(f"the body has no tensor '{name}'", where=node.where)
    return r.tensors[name]


TRANSLATORS: Table = {
    ("", "If"): if_op,
    ("", "Loop"): loop,
    ("", "Scan"): scan,
}
