"""What ONNX itself says about an operator: how many inputs and outputs it has, and which attributes.

Decides: that a node has nothing that its operator does not know, for what nobody reads would be lost in silence, and
that tensors which ONNX wants of one type are of one.  Values and shapes are the importers' own.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from onnx import AttributeProto, defs

from codegen.errors import AttributeBad, InputMissing, ShapeMismatch
from codegen.frontends.onnx.nodes import OnnxNode


def check_node(node: OnnxNode, opset: int) -> None:
    """Return when the node's inputs, outputs and attributes are those of its operator.

    Operators that ONNX does not define, or not in this operator set, are left to their importers.

    Raises:
        InputMissing: LAM-IMPORT-015, fewer inputs than the operator needs.
        ShapeMismatch: LAM-IMPORT-014, more inputs or outputs than it has.
        AttributeBad: LAM-IMPORT-013, an attribute it does not have, or one of another type.
    """
    if node.domain or not defs.has(node.op_type, max_inclusive_version=opset):
        return
    schema = defs.get_schema(node.op_type, max_inclusive_version=opset)
    if len(node.inputs) < schema.min_input:
        raise InputMissing(f"{len(node.inputs)} input(s), needed are {schema.min_input}", where=node.where)
    if len(node.inputs) > schema.max_input:
        found = f"{len(node.inputs)} inputs, {node.op_type} has {schema.max_input} at most"
        raise ShapeMismatch(found, where=node.where)
    if len(node.outputs) > schema.max_output:
        found = f"{len(node.outputs)} outputs, {node.op_type} has {schema.max_output} at most"
        raise ShapeMismatch(found, where=node.where)
    for name, attribute in node.attributes.items():
        _check_attribute(node, schema, name, attribute, opset)


def check_types(node: OnnxNode, kinds: Sequence[str], opset: int) -> None:
    """Return when the inputs that ONNX wants to be of one type are.  Zero points are the importers' own.

    Args:
        node: the node; `check_node` has passed.
        kinds: the element type of each input as a word, one word for all float types; empty for one left out.
        opset: the model's operator set.

    Raises:
        ShapeMismatch: LAM-IMPORT-014, two of them differ.
    """
    if node.domain or _has_zero_points(node) or not defs.has(node.op_type, max_inclusive_version=opset):
        return
    parameters = defs.get_schema(node.op_type, max_inclusive_version=opset).inputs
    seen: dict[str, tuple[str, str]] = {}
    for i, (name, kind) in enumerate(zip(node.inputs, kinds, strict=True)):
        parameter = parameters[min(i, len(parameters) - 1)]
        if not kind or not parameter.is_homogeneous:
            continue
        other, expected = seen.setdefault(parameter.type_str, (name, kind))
        if kind != expected:
            found = f"input '{name}' is {kind} and input '{other}' {expected}, the operator takes one type"
            raise ShapeMismatch(found, where=node.where)


def _has_zero_points(node: OnnxNode) -> bool:
    name = node.op_type
    return name.startswith(("QuantizeLinear", "DequantizeLinear", "QLinear")) or name.endswith("Integer")


def _check_attribute(node: OnnxNode, schema: Any, name: str, attribute: Any, opset: int) -> None:
    if name not in schema.attributes:
        found = f"{node.op_type} has no attribute {name} in operator set {opset}"
        raise AttributeBad(found, where=node.where)
    # IR versions before 2 leave the type out
    known = schema.attributes[name].type.value
    if attribute.type not in (known, AttributeProto.UNDEFINED):
        wanted = AttributeProto.AttributeType.Name(known).lower()
        raise AttributeBad(f"attribute {name} is not of type {wanted}", where=node.where)
