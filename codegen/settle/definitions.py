"""Whose integers: how a RealGraph's inputs, nodes and outputs are settled, by the definition that it asks for.

Decides: which rules serve which definition, and that TFLite's are loaded when there is such a graph; the walk over a
graph is the same for all.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import cache
from typing import Any

from codegen.ir.graph import Interface
from codegen.ir.quant import Mode
from codegen.ir.real import Definition, RealNode, RealState, RealValue
from codegen.records import record
from codegen.settle import borders, rules
from codegen.settle.borders import Borders
from codegen.settle.context import Context
from codegen.settle.rule import Rules
from codegen.settle.states import State


@record
class Integers:
    """What the walk over a graph asks; every function gets the context that `context` has made."""

    context: Callable[[Mode, Mapping[str, RealValue]], Context]
    declare_input: Callable[[Any, str, Borders], tuple[State, Interface]]
    declare_state: Callable[[Any, RealState], None]
    settled: Callable[[Any, RealNode, Rules], Sequence[State]]
    as_float: Callable[[Any, RealNode, Rules], Sequence[State]]
    renew_state: Callable[[Any, RealState], None]
    write_output: Callable[[Any, str, str, Borders, set[str], set[str]], Interface]


def _no_state(ctx: Context, state: RealState) -> None:
    raise AssertionError(f"{state.value}: ONNX has no states")


def integers_of(definition: Definition) -> Integers:
    """Those that a definition means: TFLite's, or else ONNX's."""
    return _of_tflite() if definition == "tflite" else _ONNX


_ONNX = Integers(
    Context, borders.declare_input, _no_state, rules.settled, rules.as_float, _no_state, borders.write_output
)


@cache
def _of_tflite() -> Integers:
    from codegen.settle.tflite import borders, rules
    from codegen.settle.tflite.context import TfliteContext

    return Integers(
        TfliteContext,
        borders.declare_input,
        borders.declare_state,
        rules.settled,
        rules.as_float,
        borders.renew_state,
        borders.write_output,
    )
