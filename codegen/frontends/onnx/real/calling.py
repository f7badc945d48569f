"""ONNX's operators from calls: a node that no file has, read as one of a file is.

Decides: which operator set calls are of.  Everything else is that of the readers.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cache
from typing import Any

import numpy as np
from onnx import defs, helper, numpy_helper

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
    return sorted({*own, *_functions()})


@cache
def _functions() -> frozenset[str]:
    """ONNX's operators that have a body of others."""
    schemas = (s for s in defs.get_all_schemas() if not s.domain)
    return frozenset(s.name for s in schemas if s.has_function or s.has_context_dependent_function)


def attribute_names(name: str) -> tuple[list[str], list[str]] | None:
    """The attributes of an operator of ONNX, and those that it needs; None for one of another domain."""
    schema = _schema(name)
    if schema is None:
        return None
    return list(schema.attributes), [key for key, attribute in schema.attributes.items() if attribute.required]


def input_types(name: str, count: int) -> list[str]:
    """What ONNX calls the types of an operator's first `count` inputs, T and the like; none of other domains."""
    schema = _schema(name)
    if schema is None or not schema.inputs:
        return []
    types = [formal.type_str for formal in schema.inputs]
    if schema.inputs[-1].option == defs.OpSchema.FormalParameterOption.Variadic:
        types += [types[-1]] * (count - len(types))
    return types[:count]


@cache
def _schema(name: str) -> Any:
    """What ONNX says of an operator; None of one of another domain."""
    if "::" in name or not defs.has(name, max_inclusive_version=OPSET):
        return None
    return defs.get_schema(name, max_inclusive_version=OPSET)


def called(
    reading: Reading, name: str, inputs: Sequence[str], outputs: Sequence[str], attributes: Mapping[str, Any]
) -> Sequence[str]:
    """The values of the outputs of one operator; errors as of a node of a file."""
    domain, _, op_type = name.rpartition("::")
    label = outputs[0]
    try:
        told = {key: _attribute(name, key, value) for key, value in attributes.items()}
        proto = helper.make_node(op_type, list(inputs), list(outputs), label, domain=domain, **told)
    except (TypeError, ValueError) as error:
        raise CallWrong(first_line(error), where=name) from error
    node = read_node(proto, len(reading.nodes))
    values = translate(reading, node)
    reading.tensors.update((o, v) for o, v in zip(node.outputs, values, strict=False) if o and v)
    return values


def _attribute(name: str, key: str, value: Any) -> Any:
    """An attribute in the type that ONNX gives it: whole numbers as floats, arrays and numbers as tensors."""
    schema = _schema(name)
    kind = schema.attributes[key].type if schema is not None and key in schema.attributes else None
    if kind == defs.OpSchema.AttrType.FLOAT and isinstance(value, int):
        return float(value)
    if kind == defs.OpSchema.AttrType.FLOATS and isinstance(value, tuple | list | np.ndarray):
        return [float(v) for v in value]
    if kind == defs.OpSchema.AttrType.TENSOR and isinstance(
        value, np.ndarray | np.generic | int | float | list | tuple
    ):
        array = np.asarray(value)
        return numpy_helper.from_array(array.astype(np.float32) if array.dtype == np.float64 else array)
    return value
