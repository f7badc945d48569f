"""A network rebuilt by calls from one that was read: each tensor and each operator by the function of its name."""

from __future__ import annotations

import dataclasses

from codegen.build import Label, Net, Tensor
from codegen.ir.real import RealGraph


def rebuilt(graph: RealGraph) -> Net:
    """The same network, called."""
    net = Net(graph.name, definition=graph.definition)
    for note in graph.notes:
        net.note(note)
    known: dict[str, Tensor] = {}
    for name in graph.inputs:
        value = graph.values[name]
        known[name] = net.input(name, value.type.shape, value.type.dtype, held=value.stored)
    for state in graph.states:
        known[state.value] = net.state(state.initial, state.value, held=graph.values[state.value].stored)
    for value in graph.values.values():
        if value.data is not None:
            known[value.name] = net.const(value.data, value.name, held=value.stored)
    for node in graph.nodes:
        fields = {f.name: getattr(node.op, f.name) for f in dataclasses.fields(node.op) if f.init}  # type: ignore[arg-type]
        made = net.real[type(node.op).__name__](
            *(known[i] if i else None for i in node.inputs),
            **fields,
            outputs=node.outputs,
            label=Label(node.name, node.op_type, node.tensor, node.part),
            held=[graph.values[o].stored for o in node.outputs],
        )
        known.update(zip(node.outputs, made if isinstance(made, tuple) else (made,), strict=True))
    for state in graph.states:
        net.becomes(known[state.value], known[state.next])
    for value, face in zip(graph.outputs, graph.faces or graph.outputs, strict=True):
        net.output(known[value], face)
    return net
