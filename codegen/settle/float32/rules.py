"""The table of rules for real numbers: which function settles which operator of RealGraph, family by family.

Decides nothing else.  An operator that only moves elements is not here: its rule for integers moves real numbers too.
"""

from __future__ import annotations

from codegen.real.movement import Pad
from codegen.settle.float32 import (
    algebra,
    boxes,
    conv,
    conv_transpose,
    detections,
    elementwise,
    matmul,
    moving,
    ngrams,
    normalization,
    picking,
    pool,
    poses,
    recurrent,
    reduction,
    sampling,
    softmax,
    spectrum,
    storage,
    trees,
    unpool,
)
from codegen.settle.rule import Rules, rules_of

FLOAT_RULES: Rules = rules_of(
    algebra.RULES,
    boxes.RULES,
    conv.RULES,
    conv_transpose.RULES,
    detections.RULES,
    elementwise.RULES,
    matmul.RULES,
    moving.RULES,
    ngrams.RULES,
    normalization.RULES,
    picking.RULES,
    pool.RULES,
    poses.RULES,
    recurrent.RULES,
    reduction.RULES,
    sampling.RULES,
    softmax.RULES,
    spectrum.RULES,
    storage.RULES,
    trees.RULES,
    unpool.RULES,
)
QUANTIZED_BEHIND = (Pad,)
"""Operators for which a Quantize behind them quantizes an input of the network before it reaches them."""
