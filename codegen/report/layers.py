"""One record per layer: what it is, what it costs, where it lives."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

from codegen.ir.op import RowRule
from codegen.ir.plan import Plan
from codegen.ir.program import Call, Program
from codegen.records import record


@record(kw_only=True)
class LayerRecord:
    """One layer of the generated network."""

    name: str
    operator: str
    inputs: tuple[str, ...]
    output: str
    shape: tuple[int, ...]
    dtype: str
    kernel: str
    function: str
    macs: int
    parameters: int
    weights_bytes: int
    output_bytes: int
    scratch_bytes: int
    rows: str
    group: int
    source: tuple[str, ...]
    note: str

    def as_dict(self) -> dict[str, Any]:
        """For JSON."""
        return asdict(self)


def layer_records(plan: Plan, program: Program) -> list[LayerRecord]:
    """The layers in the order they run."""
    node_index = {node.name: index for index, node in enumerate(plan.graph.nodes)}
    return [
        _record(plan, node_index[call.node.name], index, call)
        for index, lowered in enumerate(program.groups)
        for call in lowered.calls
    ]


def _record(plan: Plan, node_index: int, group: int, call: Call) -> LayerRecord:
    graph = plan.graph
    node = graph.nodes[node_index]
    view = call.node
    return LayerRecord(
        name=node.name,
        operator=type(node.op).__name__,
        inputs=tuple(i for i in node.inputs if not graph.values[i].is_const),
        output=node.outputs[0],
        shape=view.outs[0].shape,
        dtype=view.outs[0].dtype.value,
        kernel=call.fn.kernel,
        function=f"{graph.name}_{call.fn.code}",
        macs=view.op.macs(view.ins, view.outs),
        parameters=sum(c.size for c in view.consts if c is not None),
        weights_bytes=layer_weights(call),
        output_bytes=sum(o.bytes for o in view.outs),
        scratch_bytes=plan.scratch_bytes.get(node_index, 0),
        rows=describe_rows([i.rule for i in call.inputs]),
        group=group,
        source=node.source,
        note=node.note,
    )


def layer_weights(call: Call) -> int:
    """Bytes of a layer's packed parameters, of all slices where it has several."""
    if call.slices is not None:
        return sum(params.bytes for params in call.slices.params)
    return call.params.bytes if call.params else 0


def shared_function(call: Call, program: Program) -> str:
    """That one function serves the layer's shape and others, and what it is told of them; empty where none does."""
    if call.fn.shape is None:
        return ""
    shapes = sum(fn.code == call.fn.code for fn in program.functions)
    return f"one function for {shapes} shapes, told {', '.join(call.fn.shape.numbers)}"


def weights_way(call: Call, program: Program) -> str:
    """How a layer's weights come to it: read into a buffer, in slices, pinned in the arena, or mapped beside such.

    Empty where all are read in place.
    """
    if program.weights is None or call.params is None:
        return ""
    if call.pinned is not None or call.mapped:
        return "mapped" if call.mapped else "pinned"
    return "read" if call.slices is None else f"read in {len(call.slices.params)} slices"


def describe_rows(rules: list[RowRule]) -> str:
    """The rows rule in a word: `same`, `all`, or `window 3/2 dilation 1 pad 1`; one per input when they differ."""
    words = list(dict.fromkeys(_one_rule(r) for r in rules))
    return ", ".join(words)


def _one_rule(rule: RowRule) -> str:
    if rule.whole:
        return "all"
    if rule.table is not None:
        return "table"
    if rule == RowRule():
        return "same"
    dilation = f" dilation {rule.dilation}" if rule.dilation != 1 else ""
    pad = f" pad {rule.pad}" if rule.pad else ""
    return f"window {rule.taps}/{rule.mul}{dilation}{pad}"
