"""ONNX's operators from calls: a node that no file has, read as one of a file is.

Decides: which operator set calls are of.  Everything else is that of the readers.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from onnx import defs, helper

from codegen.errors import CallWrong, first_line
from codegen.frontends.onnx.nodes import read_node
from codegen.frontends.onnx.real.importer import translate
from codegen.frontends.onnx.real.reading import Reading
from codegen.frontends.onnx.real.translators import TRANSLATORS
from codegen.frontends.vocabulary import HOUSE, Vocabulary

OPSET = 21


def new_reading(known: Vocabulary = HOUSE) -> Reading:
    """A graph to which calls add nodes."""
    return Reading(OPSET, translate, {**TRANSLATORS, **known.onnx})


def operator_names(reading: Reading) -> list[str]:
    """What may be called: ONNX's names, and those of other domains behind `domain::`."""
    own = (f"{domain}::{name}" if domain else name for domain, name in reading.translators)
    functions = (
        s.name for s in defs.get_all_schemas() if not s.domain and (s.has_function or s.has_context_dependent_function)
    )
    return sorted({*own, *functions})


def attribute_names(name: str) -> tuple[list[str], list[str]] | None:
    """The attributes of an operator of ONNX, and those that it needs; None for one of another domain."""
    if "::" in name or not defs.has(name, max_inclusive_version=OPSET):
        return None
    attributes = defs.get_schema(name, max_inclusive_version=OPSET).attributes
    return list(attributes), [key for key, attribute in attributes.items() if attribute.required]


def called(
    reading: Reading, name: str, inputs: Sequence[str], outputs: Sequence[str], attributes: Mapping[str, Any]
) -> Sequence[str]:
    """The values of the outputs of one operator; errors as of a node of a file."""
    domain, _, op_type = name.rpartition("::")
    label = outputs[0]
    try:
        proto = helper.make_node(op_type, list(inputs), list(outputs), label, domain=domain, **attributes)
    except (TypeError, ValueError) as error:
        raise CallWrong(first_line(error), where=name) from error
    node = read_node(proto, len(reading.nodes))
    values = translate(reading, node)
    reading.tensors.update((o, v) for o, v in zip(node.outputs, values, strict=False) if o and v)
    return values
