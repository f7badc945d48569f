"""Operators that ONNX defines as functions of others, as nodes to be read in their place.

Decides: the names of what stands inside, and how the function's attributes reach its nodes.
Source: the function bodies that the onnx package ships with its operators.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import onnx
from onnx import defs, helper, shape_inference

from codegen.errors import AttributeBad
from codegen.frontends.onnx.nodes import OnnxNode, read_node, text_of
from codegen.frontends.onnx.real.reading import Reading
from codegen.frontends.onnx.tensors import data_type_of
from codegen.records import record

_DOMAINS = ("", "ai.onnx.preview")
_NEWEST = 1 << 20


@record
class Body:
    """A function's nodes; `inputs` are the values that its own names stand for."""

    nodes: tuple[OnnxNode, ...]
    inputs: Mapping[str, str]
    outputs: tuple[str, ...]


def body_of(node: OnnxNode, reading: Reading) -> Body | None:
    """The function that ONNX gives for a node in the model's operator set; None when it gives none."""
    newest = reading.opset if not node.domain else _NEWEST
    if node.domain not in _DOMAINS or not defs.has(node.op_type, newest, node.domain):
        return None
    schema = defs.get_schema(node.op_type, newest, node.domain)
    function = _function(schema, node, reading)
    if function is None:
        return None
    given = _attributes(schema, node)
    names = [text_of(n) for n in function.input]
    inputs = {n: reading.tensors[i] for n, i in zip(names, node.inputs, strict=False) if i in reading.tensors}
    nodes = tuple(_inner(proto, i, node, given) for i, proto in enumerate(function.node))
    return Body(nodes, inputs, tuple(text_of(o) for o in function.output)[: len(node.outputs)])


def _function(schema: Any, node: OnnxNode, reading: Reading) -> Any | None:
    if schema.has_context_dependent_function:
        versions = [v for v in schema.context_dependent_function_opset_versions if v <= reading.opset]
        kinds = [_type_proto(reading, name).SerializeToString() for name in node.inputs]
        version = max(versions, default=schema.since_version)
        data = _written_for(schema, version, node, kinds)
    elif schema.has_function:
        versions = [v for v in schema.function_opset_versions if v <= reading.opset]
        data = schema.get_function_with_opset_version(max(versions, default=schema.since_version))
    else:
        return None
    return onnx.FunctionProto.FromString(data) if isinstance(data, bytes) else data


def _written_for(schema: Any, version: int, node: OnnxNode, kinds: list[bytes]) -> bytes:
    """The body that onnx writes for this very node; it tells what an attribute lacks by exceptions of several kinds."""
    try:
        return bytes(
            schema.get_context_dependent_function_with_opset_version(version, node.proto.SerializeToString(), kinds)
        )
    except (ValueError, RuntimeError, TypeError, defs.SchemaError, shape_inference.InferenceError) as error:
        raise AttributeBad(f"{node.op_type}: {str(error).splitlines()[0].rstrip('.')}", where=node.where) from error


def _type_proto(reading: Reading, name: str) -> Any:
    if name not in reading.tensors:  # left out, or missing, which the nodes that read it will say
        return onnx.TypeProto()
    kind = reading.type(reading.tensors[name])
    return helper.make_tensor_type_proto(data_type_of(kind.dtype), kind.shape)


def _attributes(schema: Any, node: OnnxNode) -> dict[str, Any]:
    """The node's attributes, and the defaults of those that it leaves out."""
    defaults = {n: a.default_value for n, a in schema.attributes.items() if a.default_value.name}
    return {**defaults, **node.attributes}


def _inner(proto: Any, index: int, outer: OnnxNode, given: Mapping[str, Any]) -> OnnxNode:
    """One node of the body, called after the node that it stands in, with the function's attributes put in."""
    own = onnx.NodeProto()
    own.CopyFrom(proto)
    own.name = f"{outer.name}/{index}"
    attributes = [_resolved(a, given) for a in proto.attribute]
    del own.attribute[:]
    own.attribute.extend(a for a in attributes if a is not None)
    return read_node(own, index)


def _resolved(attribute: Any, given: Mapping[str, Any]) -> Any | None:
    if not attribute.ref_attr_name:
        return attribute
    found = given.get(text_of(attribute.ref_attr_name))
    if found is None:
        return None
    own = onnx.AttributeProto()
    own.CopyFrom(found)
    own.name = attribute.name
    own.type = attribute.type
    return own
