"""The table of translators: which function reads which operator of ONNX into a RealGraph, family by family."""

from __future__ import annotations

from collections.abc import Mapping

from codegen.frontends.onnx.real import (
    algebra,
    along,
    chosen,
    control,
    elementwise,
    integer,
    movement,
    normal,
    product,
    qlinear,
    recurrent,
    reduce,
    resize,
    sampling,
    scatter,
    storage,
    unpool,
    window,
)
from codegen.frontends.onnx.real.reading import MICROSOFT, Table, Translator

FAMILIES: tuple[Table, ...] = (
    algebra.TRANSLATORS,
    along.TRANSLATORS,
    chosen.TRANSLATORS,
    control.TRANSLATORS,
    elementwise.TRANSLATORS,
    integer.TRANSLATORS,
    movement.TRANSLATORS,
    normal.TRANSLATORS,
    product.TRANSLATORS,
    qlinear.TRANSLATORS,
    recurrent.TRANSLATORS,
    reduce.TRANSLATORS,
    resize.TRANSLATORS,
    sampling.TRANSLATORS,
    scatter.TRANSLATORS,
    storage.TRANSLATORS,
    unpool.TRANSLATORS,
    window.TRANSLATORS,
)
"""What each family reads; no two of them read one operator."""

TRANSLATORS: Mapping[tuple[str, str], Translator] = {name: read for family in FAMILIES for name, read in family.items()}

_ONNX_INTEGERS = (
    *("Add", "ArgMax", "ArgMin", "AveragePool", "BatchNormalization", "Cast", "Clip", "Concat", "Conv", "ConvInteger"),
    *("ConvTranspose", "DepthToSpace", "DequantizeLinear", "Div", "Dropout", "DynamicQuantizeLinear", "Expand"),
    *("Flatten", "Gather", "Gelu", "Gemm", "GlobalAveragePool", "GlobalMaxPool", "GroupNormalization", "Identity"),
    *("InstanceNormalization", "LayerNormalization", "LogSoftmax", "MatMul"),
    *("MatMulInteger", "Max", "MaxPool", "Min", "Mul", "PRelu", "Pad", "Pow", "QLinearConv", "QLinearMatMul"),
    *("QuantizeLinear", "ReduceMax", "ReduceMean", "ReduceSum", "Relu", "Reshape", "Resize", "Shape", "Size", "Slice"),
    *("Softmax", "SpaceToDepth", "Split", "Squeeze", "Sub", "Sum", "Transpose", "Trilu", "Unsqueeze"),
    "Upsample",
)
_MICROSOFT_INTEGERS = (
    *("DequantizeLinear", "Gelu", "QGemm", "QLinearAdd", "QLinearAveragePool", "QLinearConcat", "QLinearConv"),
    *("QLinearGlobalAveragePool", "QLinearLeakyRelu", "QLinearMul", "QLinearSigmoid", "QLinearSoftmax"),
    "QuantizeLinear",
)
QUANTIZED = frozenset(
    (
        *(("", name) for name in (*elementwise.FUNCTIONS, *_ONNX_INTEGERS)),
        *((MICROSOFT, name) for name in _MICROSOFT_INTEGERS),
    )
)
"""Operators that have a form in integers, in the model's own names; the others are read as real numbers only."""
