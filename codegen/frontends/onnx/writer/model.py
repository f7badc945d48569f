"""The walk over a RealGraph that makes an ONNX model.

Decides: the operator set (the least that has everything), that constants held as integers are an initializer behind a
DequantizeLinear, and what stands in the metadata: what an ONNX node has no word for.  Same graph, same bytes.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Mapping
from dataclasses import replace

from onnx import ModelProto, OperatorSetIdProto, StringStringEntryProto, TensorProto, helper

from codegen.errors import FormUnsupported, StateNotWritten
from codegen.frontends.onnx.tensors import INT_BITS_KEY
from codegen.frontends.onnx.writer.spellings import SPELLINGS
from codegen.frontends.onnx.writer.storage import write_held, write_stored
from codegen.frontends.onnx.writer.writing import Place, Spelling, Writing
from codegen.ir.real import Joined, RealGraph, RealNode, RealValue, Spelled
from codegen.real.elementwise import Binary
from codegen.real.product import MatMul
from codegen.resources import VERSION

_PLAIN_OPSET = 17
_IR_VERSIONS = {17: 8, 18: 8, 19: 9, 20: 9, 21: 10, 22: 10, 23: 11}
_NEWEST_IR = 12
_MATRIX = 2
_IMAGE = 4
"""Axes of matrices and of images."""


def model_bytes(graph: RealGraph, metadata: Mapping[str, str] | None = None) -> bytes:
    """The graph as a file of ONNX.

    Args:
        graph: float, or quantized by Quantize, Dequantize and stored constants.
        metadata: more entries for the model's own.

    Raises:
        FormUnsupported: LAM-IMPORT-022, an operator that ONNX has no spelling of.
        StateNotWritten: LAM-QUANT-025, a network that keeps something between runs.
    """
    if graph.states:
        raise StateNotWritten(f"{len(graph.states)} tensors are kept between runs", where=graph.name)
    writing = Writing(graph, _PLAIN_OPSET)
    faces = _faced(writing)
    bits = _constants(writing)
    for given in (graph.values[name] for name in graph.inputs):
        if given.stored is not None:
            writing.rename(given.name, writing.fresh(f"{given.name}:held"))
            write_held(writing, given.name, given)
    for node in graph.nodes:
        _write(writing, node)
    for value, name in faces:
        writing.node("Identity", [writing.name(value)], [name])
    entries = dict(metadata or {}) | ({INT_BITS_KEY: json.dumps(bits, sort_keys=True)} if bits else {})
    return bytes(_proto(writing, entries).SerializeToString(deterministic=True))


def _faced(writing: Writing) -> list[tuple[str, str]]:
    """Give outputs their names; those that need a node of their own for it, with the name."""
    graph = writing.graph
    computed = {name for node in graph.nodes for name in node.outputs}
    renamed: set[str] = set()
    apart = []
    for value, name in zip(graph.outputs, graph.faces or graph.outputs, strict=True):
        if value in computed and value not in renamed:
            writing.rename(value, name)
            renamed.add(value)
        else:
            apart.append((value, name))
    return apart


def _constants(writing: Writing) -> dict[str, int]:
    """Write them; the bits of those whose type has more."""
    read = {name for node in writing.graph.nodes for name in node.inputs} | set(writing.graph.outputs)
    ranks = _biases(writing.graph)
    found = {}
    for value in writing.graph.values.values():
        if value.data is None or value.name not in read:
            continue
        if value.stored is None:
            axes = (1,) * (ranks.get(value.name, 0) - value.data.ndim)
            writing.rename(value.name, writing.constant(value.name, value.data.reshape((*axes, *value.data.shape))))
        elif bits := write_stored(writing, value):
            found[writing.name(value.name)] = bits
    return found


def _biases(graph: RealGraph) -> dict[str, int]:
    """Constants that are added to products of three axes and more, and read for nothing else, with the product's axes.

    They are written with as many axes: of a MatMul and an Add of a list ONNX Runtime makes a Gemm between nodes that it
    then refuses itself, in operator set 21.
    """
    readers = Counter((*graph.outputs, *(name for node in graph.nodes for name in node.inputs)))
    products = {node.outputs[0] for node in graph.nodes if isinstance(node.op, MatMul)}
    sums = (node.inputs for node in graph.nodes if isinstance(node.op, Binary) and node.op.kind == "Add")
    pairs = (pair for a, b in sums for pair in ((a, b), (b, a)) if pair[0] in products and readers[pair[1]] == 1)
    return {name: rank for product, name in pairs if (rank := len(graph.type(product).shape)) > _MATRIX}


def _write(writing: Writing, node: RealNode) -> None:
    """One node, and what holds its results."""
    spelled = node.op.spelled if isinstance(node.op, Joined) else None
    spelling = SPELLINGS.get(type(node.op)) if spelled is None else _foreign(spelled)
    if spelling is None:
        hint = "keep this part of the network out of the file"
        raise FormUnsupported(f"ONNX has no operator for {type(node.op).__name__}", where=node.where, hint=hint)
    place = Place(writing, node)
    values = [writing.graph.values[name] for name in node.outputs]
    held = {i: writing.fresh(f"{place.outputs[i]}:real") for i, v in enumerate(values) if v.stored is not None}
    place.outputs = [held.get(i, name) for i, name in enumerate(place.outputs)]
    _spell(place, spelling)
    for i, name in held.items():
        write_held(writing, name, values[i])


def _spell(place: Place, spelling: Spelling) -> None:
    """The node itself, between two Transposes where its channels are last."""
    writing, node = place.writing, place.real
    rank = len(place.shape)
    if getattr(node.op, "channel_axis", 1) in (1, 1 - rank) or rank < 3:
        spelling(place, node.op)
        return
    forward, back = _turns(rank)
    final, place.outputs[0] = place.outputs[0], writing.fresh(f"{place.outputs[0]}:channels_first")
    place.inputs[0] = place.inner("Transpose", [place.inputs[0]], "turned", perm=forward)
    place.shape = tuple(place.shape[i] for i in forward)
    spelling(place, replace(node.op, channel_axis=1))  # type: ignore[type-var]
    writing.node("Transpose", [place.outputs[0]], [final], f"{node.name}:channels_last", perm=back)


def _foreign(spelled: Spelled) -> Spelling:
    """The node of an operator of another domain; one on images between Transposes where its channels are last."""

    def write(place: Place, op: object) -> None:
        writing, names, outputs = place.writing, list(place.inputs), list(place.outputs)
        for i, value in enumerate(place.real.inputs):
            if spelled.channels_last and len(writing.type(value).shape) == _IMAGE:
                names[i] = place.inner("Transpose", [names[i]], f"turned{i}", perm=_turns(_IMAGE)[0])
        turned = [spelled.channels_last and len(writing.type(o).shape) == _IMAGE for o in place.real.outputs]
        made = [writing.fresh(f"{o}:channels_first") if t else o for o, t in zip(outputs, turned, strict=True)]
        writing.foreign(spelled, names, made, place.real.name)
        for name, final in zip(made, outputs, strict=True):
            if name != final:
                writing.node("Transpose", [name], [final], f"{final}:channels_last", perm=_turns(_IMAGE)[1])

    return write


def _turns(rank: int) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """The orders of axes that bring the channels to the front, and back."""
    return (0, rank - 1, *range(1, rank - 1)), (0, *range(2, rank), 1)


def _proto(writing: Writing, entries: Mapping[str, str]) -> ModelProto:
    graph = writing.graph
    inputs = [_info(graph.values[name], name) for name in graph.inputs]
    names = graph.faces or graph.outputs
    outputs = [_info(graph.values[value], name) for value, name in zip(graph.outputs, names, strict=True)]
    made = helper.make_graph(writing.nodes, graph.name or "network", inputs, outputs, writing.initializers)
    return ModelProto(
        ir_version=_IR_VERSIONS.get(writing.opset, _NEWEST_IR),
        producer_name="lamina",
        producer_version=VERSION,
        opset_import=[
            OperatorSetIdProto(version=writing.opset),
            *(OperatorSetIdProto(domain=domain, version=1) for domain in sorted(writing.domains)),
        ],
        graph=made,
        metadata_props=[StringStringEntryProto(key=k, value=v) for k, v in sorted(entries.items())],
    )


def _info(value: RealValue, name: str) -> object:
    kind = value.type
    element = TensorProto.FLOAT if kind.is_real and kind.dtype.itemsize == 4 else _element(value)
    return helper.make_tensor_value_info(name, element, list(kind.shape))


def _element(value: RealValue) -> int:
    return int(helper.np_dtype_to_tensor_dtype(value.type.dtype))
