"""Operators of model files that join those which the house reads.

Decides nothing: it is handed to the readers, whose own tables are loaded when there is such a file.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field
from typing import TYPE_CHECKING, Any

from codegen.records import record

if TYPE_CHECKING:
    from codegen.frontends.onnx.real.reading import Translator
    from codegen.frontends.tflite.real.context import Translator as TfliteTranslator
    from codegen.settle.rule import Rule


@record(eq=False)
class Vocabulary:
    """How more operators are read, and how they are settled; each goes before the house's own of the same key.

    Args:
        onnx: by domain and operator, the function that reads a node into the RealGraph.
        rules: by class of operator of the RealGraph, how it becomes integers.
        tflite: by operator, the function that reads a node of TFLite; those that are no part of it begin with `CUSTOM`.
        tflite_rules: as `rules`, how an operator of a TFLite model becomes TFLite's integers.
    """

    onnx: Mapping[tuple[str, str], Translator] = field(default_factory=dict)
    rules: Mapping[type, Rule[Any]] = field(default_factory=dict)
    tflite: Mapping[str, TfliteTranslator] = field(default_factory=dict)
    tflite_rules: Mapping[type, Rule[Any]] = field(default_factory=dict)


HOUSE = Vocabulary()
"""Nothing joins."""
