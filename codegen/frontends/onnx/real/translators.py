"""The table of translators: which function reads which operator of ONNX into a RealGraph, family by family."""

from __future__ import annotations

from collections.abc import Mapping

from codegen.frontends.onnx.real import (
    algebra,
    along,
    attention,
    chosen,
    control,
    elementwise,
    few_bits,
    fused,
    integer,
    learned,
    movement,
    normal,
    product,
    qlinear,
    recurrent,
    reduce,
    resize,
    sampling,
    scatter,
    sequences,
    storage,
    trees,
    unpool,
    vectors,
    window,
)
from codegen.frontends.onnx.real.reading import Table, Translator
from codegen.settle.rule import settled_names
from codegen.settle.rules import RULES

FAMILIES: tuple[Table, ...] = (
    algebra.TRANSLATORS,
    along.TRANSLATORS,
    attention.TRANSLATORS,
    chosen.TRANSLATORS,
    control.TRANSLATORS,
    elementwise.TRANSLATORS,
    few_bits.TRANSLATORS,
    fused.TRANSLATORS,
    integer.TRANSLATORS,
    learned.TRANSLATORS,
    movement.TRANSLATORS,
    normal.TRANSLATORS,
    product.TRANSLATORS,
    qlinear.TRANSLATORS,
    recurrent.TRANSLATORS,
    reduce.TRANSLATORS,
    resize.TRANSLATORS,
    sampling.TRANSLATORS,
    scatter.TRANSLATORS,
    sequences.TRANSLATORS,
    storage.TRANSLATORS,
    trees.TRANSLATORS,
    unpool.TRANSLATORS,
    vectors.TRANSLATORS,
    window.TRANSLATORS,
)
"""What each family reads; no two of them read one operator."""

TRANSLATORS: Mapping[tuple[str, str], Translator] = {name: read for family in FAMILIES for name, read in family.items()}

_NOTHING_LEFT = {"Dropout", "Identity", "Shape", "Size", *(name for _, name in sequences.TRANSLATORS)}
"""Operators that are gone, or constants, once a model is read."""
_SETTLED = settled_names(RULES) | _NOTHING_LEFT
QUANTIZED = frozenset(key for key in TRANSLATORS if key[1] in _SETTLED)
"""Operators that have a form in integers, in the model's own names; the others are read as real numbers only."""
