"""Whose integers: how a RealGraph's inputs, nodes and outputs are settled, by the definition that it asks for.

Decides: which rules serve which definition; the walk over a graph is the same for all.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from codegen.ir.graph import Interface
from codegen.ir.quant import Mode
from codegen.ir.real import Definition, RealNode, RealState, RealValue
from codegen.settle import borders, rules
from codegen.settle.borders import Borders
from codegen.settle.context import Context
from codegen.settle.rule import Rules
from codegen.settle.states import State
from codegen.settle.tflite import borders as tflite_borders
from codegen.settle.tflite import rules as tflite_rules
from codegen.settle.tflite.context import TfliteContext


@dataclass(frozen=True, slots=True)
class Integers:
    """What the walk over a graph asks; every function gets the context that `context` has made."""

    context: Callable[[Mode, Mapping[str, RealValue]], Context]
    declare_input: Callable[[Any, str, Borders], tuple[State, Interface]]
    declare_state: Callable[[Any, RealState], None]
    settled: Callable[[Any, RealNode, Rules], Sequence[State]]
    as_float: Callable[[Any, RealNode], Sequence[State]]
    renew_state: Callable[[Any, RealState], None]
    write_output: Callable[[Any, str, str, Borders, set[str], set[str]], Interface]


def _no_state(ctx: Context, state: RealState) -> None:
    raise AssertionError(f"{state.value}: ONNX has no states")


_ONNX = Integers(
    Context, borders.declare_input, _no_state, rules.settled, rules.as_float, _no_state, borders.write_output
)
_TFLITE = Integers(
    TfliteContext,
    tflite_borders.declare_input,
    tflite_borders.declare_state,
    tflite_rules.settled,
    tflite_rules.as_float,
    tflite_borders.renew_state,
    tflite_borders.write_output,
)
INTEGERS: Mapping[Definition, Integers] = {"lamina": _ONNX, "onnx": _ONNX, "tflite": _TFLITE}
