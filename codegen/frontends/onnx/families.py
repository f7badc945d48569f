"""Families of operators and types that are refused as a whole, by the names that models have for them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from codegen.errors import (
    CompileError,
    ImageFilesUnsupported,
    NotATensor,
    RandomUnsupported,
    StringsUnsupported,
    TrainingUnsupported,
)
from codegen.frontends.onnx.nodes import TRAINING_DOMAIN, OnnxNode
from codegen.frontends.onnx.tensors import type_refused

Family = StringsUnsupported | NotATensor | RandomUnsupported | ImageFilesUnsupported | TrainingUnsupported
_FAMILIES: Mapping[type[Family], frozenset[str]] = {
    StringsUnsupported: frozenset(("RegexFullMatch", "StringConcat", "StringNormalizer", "StringSplit", "Tokenizer")),
    NotATensor: frozenset(
        (
            "CastMap",
            "DictVectorizer",
            "Optional",
            "OptionalGetElement",
            "OptionalHasElement",
        )
    ),
    RandomUnsupported: frozenset(
        ("Bernoulli", "Multinomial", "RandomNormal", "RandomNormalLike", "RandomUniform", "RandomUniformLike")
    ),
    ImageFilesUnsupported: frozenset(("DecodeImage", "EncodeImage", "ImageDecoder")),
    TrainingUnsupported: frozenset(("Adagrad", "Adam", "Gradient", "Momentum")),
}
_SPOKEN = {"sequence_type": "a sequence", "optional_type": "an optional", "map_type": "a map"}


def family_of(node: OnnxNode) -> CompileError | None:
    """The refusal of the family that an operator is of; None where it is of none."""
    found = (family for family, names in _FAMILIES.items() if node.op_type in names)
    family = TrainingUnsupported if node.domain == TRAINING_DOMAIN else next(found, None)
    return None if family is None else family.of(f"operator {node.op_type}", node.where)


def input_refused(kind: Any, where: str) -> CompileError:
    """Why an input of this type is refused, as an error to raise."""
    spoken = _SPOKEN.get(kind.WhichOneof("value") or "")
    if spoken is not None:
        return NotATensor.of(spoken, where)
    return type_refused(kind.tensor_type.elem_type, "an input", where)
