"""The table of translators: which function reads which operator of TFLite into a RealGraph, family by family."""

from __future__ import annotations

from codegen.frontends.tflite import shapes
from codegen.frontends.tflite.real import (
    detections,
    elementwise,
    movement,
    place,
    product,
    recurrent,
    reduce,
    resize,
    signal,
    storage,
    variables,
    window,
)
from codegen.frontends.tflite.real.context import Table, Versions
from codegen.settle.rule import settled_names
from codegen.settle.tflite.rules import RULES

FAMILIES: tuple[Table, ...] = (
    detections.TRANSLATORS,
    elementwise.TRANSLATORS,
    movement.TRANSLATORS,
    place.TRANSLATORS,
    product.TRANSLATORS,
    recurrent.TRANSLATORS,
    reduce.TRANSLATORS,
    resize.TRANSLATORS,
    signal.TRANSLATORS,
    storage.TRANSLATORS,
    variables.TRANSLATORS,
    window.TRANSLATORS,
    {"RANK": shapes.rank, "SHAPE": shapes.shape_of, "ZEROS_LIKE": shapes.zeros_like},
)
"""What each family reads; no two of them read one operator."""

TRANSLATORS: Table = {name: read for family in FAMILIES for name, read in family.items()}
NEWEST: Versions = {
    **elementwise.NEWEST,
    **movement.NEWEST,
    **place.NEWEST,
    **product.NEWEST,
    **recurrent.NEWEST,
    **reduce.NEWEST,
    **resize.NEWEST,
    **storage.NEWEST,
    **window.NEWEST,
}

_NOTHING_LEFT = {
    *("ASSIGN_VARIABLE", "CALL_ONCE", "READ_VARIABLE", "VAR_HANDLE"),
    *("FILL", "RANK", "SHAPE", "ZEROS_LIKE"),
}
"""Operators that are states of the network, or constants, once a model is read."""
SETTLED = TRANSLATORS.keys() & (settled_names(RULES) | _NOTHING_LEFT)
"""Operators that have a form in integers (codegen/settle/tflite)."""
