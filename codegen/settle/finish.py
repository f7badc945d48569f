"""From everything written to the Graph: inputs quantized outside, dead nodes dropped, types made consistent.

Decides: that a float input read by QuantizeLinear of one meaning only becomes an integer input of that meaning.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from codegen.ir.graph import Graph, Interface, Node, Value, live_part
from codegen.ir.quant import DType, TensorType
from codegen.ops import Broadcast, Quantize, Reshape
from codegen.ops.answers import moves_only
from codegen.settle.builder import Builder
from codegen.settle.faces import is_read_as_nhwc


def finish(
    builder: Builder,
    name: str,
    inputs: Sequence[Interface],
    outputs: Sequence[Interface],
    notes: Sequence[str],
    drop_quantize: bool,
) -> Graph:
    """The finished graph."""
    _settle_states(builder)
    live, builder.states = live_part(builder.nodes, [o.value for o in outputs], builder.states)
    builder.nodes = list(live)
    if drop_quantize:
        for item in inputs:
            _drop_input_quantize(builder, item, outputs)
    given = [o.value for o in outputs if o.perm is None]
    inputs = tuple(_own_layout(builder, item, given) for item in inputs)
    _retype(builder)
    unused = [i.name for i in inputs if not any(i.value in n.inputs for n in builder.nodes)]
    notes = [*notes, *(f"input '{n}' is not used" for n in unused)]
    graph = Graph(
        name, builder.values, tuple(builder.nodes), inputs, tuple(outputs), tuple(notes), tuple(builder.states)
    )
    return graph.with_nodes(graph.nodes)


def _settle_states(builder: Builder) -> None:
    """Make a state that nothing changes a constant, and let a node of its own write what each other one becomes."""
    written = {out for node in builder.nodes for out in node.outputs}
    for state in builder.states:
        if state.next == state.value:
            builder.values[state.value] = replace(builder.values[state.value], data=state.initial)
        elif state.next not in written:
            shape = builder.type(state.next).shape
            copy = builder.apply(Broadcast(shape), (state.next,), f"{state.name}:next", note="kept for the next run")
            builder.becomes(state.value, copy)
        written.discard(state.next)
    builder.states = tuple(s for s in builder.states if s.next != s.value)


def _drop_input_quantize(builder: Builder, item: Interface, outputs: Sequence[Interface]) -> None:
    """Make a float input an integer one when all its readers quantize it alike, data movement in between or not."""
    moved, leaves = {item.value}, list[Node]()
    if builder.type(item.value).dtype is not DType.F32:
        return
    for node in builder.nodes:
        if not moved.intersection(node.inputs):
            continue
        if isinstance(node.op, Quantize):
            leaves.append(node)
        elif moves_only(node.op):
            moved.update(node.outputs)
        else:
            return
    meanings = {(n.op.y_dtype, n.op.y_quant) for n in leaves if isinstance(n.op, Quantize)}
    if len(meanings) != 1 or moved.intersection(o.value for o in outputs):
        return
    ((dtype, quant),) = meanings
    _replace_leaves(builder, moved, leaves, TensorType((), dtype, quant), {o.value for o in outputs})


def _replace_leaves(
    builder: Builder, moved: set[str], leaves: Sequence[Node], meaning: TensorType, outputs: set[str]
) -> None:
    for value in moved:
        old = builder.values[value]
        builder.values[value] = replace(old, type=replace(meaning, shape=old.type.shape))
    renamed: dict[str, str] = {}
    kept: dict[str, Node] = {}
    for leaf in leaves:
        ((x,), (y,)) = leaf.inputs, leaf.outputs
        builder.rename_source(x, builder.values[y].source)
        if y in outputs:  # an input is not given out as an output: copied
            kept[leaf.name] = replace(leaf, op=Reshape(builder.type(x).shape), note="QuantizeLinear was dropped")
        else:
            renamed[y] = x
    dropped = {leaf.name for leaf in leaves} - set(kept)
    builder.nodes = [
        replace(kept.get(n.name, n), inputs=tuple(renamed.get(i, i) for i in n.inputs))
        for n in builder.nodes
        if n.name not in dropped
    ]


def _own_layout(builder: Builder, item: Interface, outputs: Sequence[str]) -> Interface:
    """Leave out the layout change of an input that the model itself transposes from NHWC, or gives out as NHWC."""
    readers = [n for n in builder.nodes if item.value in n.inputs]
    if item.perm is None or len(readers) != 1:
        return item
    first = readers[0]
    if not is_read_as_nhwc(builder, first.outputs[0], outputs):
        return item
    kind = replace(builder.type(item.value), shape=item.model_shape)
    source = builder.values[first.outputs[0]].source
    builder.values[item.value] = Value(item.value, kind, source=source)
    own = {first.outputs[0]: item.value}
    builder.nodes = [replace(n, inputs=tuple(own.get(i, i) for i in n.inputs)) for n in builder.nodes if n is not first]
    return replace(item, perm=None)


def _retype(builder: Builder) -> None:
    """Infer every type again: the meaning of integer inputs is known only when their readers were seen."""
    for node in builder.nodes:
        for name, kind in zip(node.outputs, node.op.infer([builder.type(i) for i in node.inputs]), strict=True):
            builder.values[name] = replace(builder.values[name], type=kind)
