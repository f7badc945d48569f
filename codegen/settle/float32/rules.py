"""The table of rules for real numbers: which function settles which operator of RealGraph.  One line per operator.

Decides nothing else.  An operator that only moves elements is not here: its rule for integers moves real numbers too.
"""

from __future__ import annotations

from typing import Any

from codegen.real import elementwise, movement, normal, product, reduce, window
from codegen.settle.float32 import binary, conv, matmul, pool, softmax, unary
from codegen.settle.float32 import movement as real_movement
from codegen.settle.float32 import normal as real_normal
from codegen.settle.rule import Rule, Rules

_RULES: tuple[Rule[Any], ...] = (
    Rule(elementwise.Binary, binary.binary),
    Rule(elementwise.Clip, unary.clip),
    Rule(elementwise.Function, unary.function),
    Rule(movement.Concat, real_movement.concat),
    Rule(movement.Pad, real_movement.pad),
    Rule(normal.BatchNorm, real_normal.batch_norm),
    Rule(product.Dense, matmul.dense),
    Rule(product.Gemm, matmul.gemm),
    Rule(product.MatMul, matmul.matmul),
    Rule(reduce.Reduce, pool.reduce),
    Rule(reduce.Softmax, softmax.softmax),
    Rule(window.AveragePool, pool.average_pool),
    Rule(window.Conv, conv.conv),
)
FLOAT_RULES: Rules = {rule.kind: rule for rule in _RULES}
QUANTIZED_BEHIND = (movement.Pad,)
"""Operators for which a Quantize behind them quantizes an input of the network before it reaches them."""
