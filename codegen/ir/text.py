"""One line per node: stable dumps of Graph, Plan and Program for people, tests and snapshots.

Nothing depends on the order of sets or on addresses; constants are shown by shape and CRC-32.
"""

from __future__ import annotations

import dataclasses
import zlib
from collections.abc import Iterator
from typing import Any

import numpy as np

from codegen.ir.graph import Graph, Node, State, Value
from codegen.ir.op import Op, RowRule
from codegen.ir.plan import Plan, Storage
from codegen.ir.producer import Step
from codegen.ir.program import Call, Operand, Program, RowInput
from codegen.ir.quant import Array, DType, Quant, Requant, TensorType
from codegen.ir.shape import Window

_LONGEST = 8


def graph_text(graph: Graph) -> str:
    """The network: inputs, constants, nodes in order, outputs."""
    lines = [f"graph {graph.name}"]
    lines += [f"  input {i.value}: {type_text(graph.type(i.value))} ({i.name})" for i in graph.inputs]
    lines += [f"  state {_state(graph, s)}" for s in graph.states]
    lines += [f"  const {value_text(v)}" for v in graph.values.values() if v.is_const]
    lines += [f"  {node_text(graph, node)}" for node in graph.nodes]
    lines += [f"  output {o.value} ({o.name})" for o in graph.outputs]
    return "\n".join(lines) + "\n"


def plan_text(plan: Plan) -> str:
    """The schedule: sizes, groups with what each node writes where, views."""
    graph = plan.graph
    lines = [f"plan {graph.name}: arena {plan.arena_bytes} B, lower bound {plan.lower_bound_bytes} B"]
    lines += [f"  input {i.value} {_place(plan.storage[i.value])}" for i in graph.inputs]
    lines += [f"  state {s.value} {_place(plan.storage[s.value])} becomes {s.next}" for s in graph.states]
    for position, group in enumerate(plan.groups):
        lines.append(f"  group {position}: block {group.block or 'all'}")
        for index in group.nodes:
            node = graph.nodes[index]
            places = ", ".join(f"{name} {_place(plan.storage[name])}" for name in node.outputs)
            scratch = f", scratch @{plan.scratch[index]} {plan.scratch_bytes[index]} B" if index in plan.scratch else ""
            lines.append(f"    {node.name}: {type(node.op).__name__} -> {places}{scratch}")
    lines += [f"  view {graph.nodes[i].outputs[0]} = {graph.nodes[i].inputs[0]}" for i in sorted(plan.views)]
    return "\n".join(lines) + "\n"


def program_text(program: Program) -> str:
    """What the C spells: functions, calls with operands and rules, parameters, padding rows."""
    lines = [f"program {program.name}: arena {program.arena_bytes} B, params {program.params_bytes} B"]
    lines += [f"  input {p.name} {_operand(p.operand)}" for p in program.inputs]
    for fn in program.functions:
        told = f" as {fn.shape.code} {dict(fn.shape.numbers)}" if fn.shape else ""
        lines.append(f"  function {fn.symbol}: {fn.template} {fn.in_dtype.value} -> {fn.out_dtype.value}{told}")
    for position, group in enumerate(program.groups):
        lines.append(f"  group {position}")
        lines += [f"    {i}: {_call(call)}" for i, call in enumerate(group.calls)]
    lines += [
        f"  params {p.name} @{p.offset} {p.bytes} B crc {_fields_crc(p.fields)}"
        for p in (*program.params, *program.mapped)
    ]
    lines += [f"  row {r.dtype.value} {r.elements} x {r.value}" for r in program.const_rows]
    lines += [f"  output {p.name} {_operand(p.operand)}" for p in program.outputs]
    return "\n".join(lines) + "\n"


def node_text(graph: Graph, node: Node) -> str:
    """One node: `y: type = Op(attributes) x, w, b`."""
    outs = ", ".join(f"{name}: {type_text(graph.type(name))}" for name in node.outputs)
    return f"{outs} = {op_text(node.op)} {', '.join(node.inputs)}"


def op_text(op: Op) -> str:
    """The operator with its attributes."""
    return f"{type(op).__name__}({', '.join(_attributes(op))})"


def type_text(kind: TensorType) -> str:
    """`s8[1, 8, 8, 3] 0.5 @ -3`: element type, shape, scale and zero point."""
    quant = f" {_quant(kind.quant)}" if kind.quant else ""
    dtype = f"{'u' if kind.apart else 's'}{kind.bits}" if kind.bits else kind.dtype.value
    return f"{dtype}{list(kind.shape)}{quant}"


def value_text(value: Value) -> str:
    """A constant by its type and checksum."""
    assert value.data is not None, value.name
    return f"{value.name}: {type_text(value.type)} crc {_crc(value.data)}"


def _state(graph: Graph, state: State) -> str:
    """What a state is, what it becomes, and its content after a reset."""
    kind = type_text(graph.type(state.value))
    return f"{state.value}: {kind} becomes {state.next}, initial crc {_crc(state.initial)} ({state.name})"


def _attributes(op: Op) -> Iterator[str]:
    if not dataclasses.is_dataclass(op):
        return
    for item in dataclasses.fields(op):
        yield f"{item.name}={_attribute(getattr(op, item.name))}"


def _attribute(value: Any) -> str:
    match value:
        case DType():
            return value.value
        case Quant():
            return _quant(value)
        case Window():
            pads = f"{value.pad_before}+{value.pad_after}"
            return f"{value.size}/{value.stride} pad {pads} dilation {value.dilation}"
        case Requant():
            return _requant(value)
        case tuple() if len(value) > _LONGEST:
            return f"{len(value)} x crc {zlib.crc32(repr(value).encode()):08x}"
        case tuple():
            return f"({', '.join(_attribute(v) for v in value)})"
        case _:
            return str(value)


def _quant(quant: Quant) -> str:
    return f"{np.float32(quant.scale)} @ {quant.zero_point}"


def _requant(requant: Requant) -> str:
    factors = f"{_attribute(requant.multiplier)} >> {_attribute(requant.shift)}"
    if requant.mode == "ort":
        factors = _attribute(tuple(str(np.float32(s)) for s in requant.scale))
    how = "" if requant.rounding == "half_up" else f" {requant.rounding}"
    return f"{requant.mode}{how} {factors} + {requant.zero_point} in {requant.low}..{requant.high}"


def _place(place: Storage) -> str:
    ring = "" if place.ring == place.rows else f" ring {place.ring}"
    return f"@{place.offset} {place.rows} x {place.row_bytes} B{ring}"


def _operand(operand: Operand) -> str:
    ring = "" if operand.ring == operand.rows else f" ring {operand.ring}"
    return f"{operand.value} {operand.dtype.value} @{operand.offset} {operand.rows} x {operand.row_bytes} B{ring}"


def _call(call: Call) -> str:
    outs = ", ".join(_operand(o) for o in call.outputs)
    ins = "; ".join(_row_input(i) for i in call.inputs)
    params = f" params @{call.params.offset}" if call.params else ""
    scratch = f" scratch @{call.scratch_offset}" if call.scratch_offset is not None else ""
    return f"{call.node.name}: {outs} = {call.fn.symbol}({ins}){params}{scratch} by {call.rows_per_call} rows"


def _row_input(item: RowInput) -> str:
    producer = f" from {item.producer.call}" if isinstance(item.producer, Step) else ""
    return f"{_operand(item.operand)} {_rule(item.rule)}{producer}"


def _rule(rule: RowRule) -> str:
    if rule.whole:
        return "whole"
    first = f"table {_attribute(rule.table)}" if rule.table is not None else f"r*{rule.mul}/{rule.div}-{rule.pad}"
    fill = "" if rule.fill is None else f" fill {rule.fill}"
    return f"[{first} +{rule.taps} by {rule.dilation}{fill}]"


def _crc(data: Array) -> str:
    little = np.ascontiguousarray(data.astype(data.dtype.newbyteorder("<"), copy=False))
    return f"{zlib.crc32(little.tobytes()):08x}"


def _fields_crc(fields: tuple[Any, ...]) -> str:
    return "-".join(_crc(item.values) for item in fields)
