"""The table of translators: which function reads which operator of ONNX into a RealGraph."""

from __future__ import annotations

from collections.abc import Mapping

from codegen.frontends.onnx.real import (
    elementwise,
    integer,
    movement,
    normal,
    product,
    qlinear,
    reduce,
    storage,
    window,
)
from codegen.frontends.onnx.real.reading import Translator

MICROSOFT = "com.microsoft"

_FUNCTIONS = (
    *("Abs", "Acos", "Acosh", "Asin", "Asinh", "Atan", "Atanh", "Ceil", "Celu", "Cos", "Cosh", "Elu", "Erf", "Exp"),
    *("Floor", "HardSigmoid", "HardSwish", "LeakyRelu", "Log", "Mish", "Neg", "Reciprocal", "Relu", "Round", "Selu"),
    *("Shrink", "Sigmoid", "Sign", "Sin", "Sinh", "Softplus", "Softsign", "Sqrt", "Swish", "Tan", "Tanh"),
    "ThresholdedRelu",
)
_BINARY = (
    *("Add", "And", "BitwiseAnd", "BitwiseOr", "BitwiseXor", "Div", "Equal", "Greater", "GreaterOrEqual", "Less"),
    *("LessOrEqual", "Mul", "Or", "Pow", "Sub", "Xor"),
)
_REDUCTIONS = ("L1", "L2", "LogSum", "LogSumExp", "Max", "Mean", "Min", "Prod", "Sum", "SumSquare")

TRANSLATORS: Mapping[tuple[str, str], Translator] = {
    **{("", name): elementwise.function for name in _FUNCTIONS},
    **{("", name): elementwise.binary for name in _BINARY},
    **{("", name): elementwise.variadic for name in ("Max", "Mean", "Min", "Sum")},
    **{("", f"Reduce{name}"): reduce.reduce for name in _REDUCTIONS},
    ("", "ArgMax"): reduce.arg_extremum,
    ("", "ArgMin"): reduce.arg_extremum,
    ("", "AveragePool"): window.average_pool,
    ("", "BatchNormalization"): normal.batch_normalization,
    ("", "BitShift"): elementwise.bit_shift,
    ("", "Cast"): elementwise.cast,
    ("", "CastLike"): elementwise.cast_like,
    ("", "Clip"): elementwise.clip,
    ("", "Concat"): movement.concat,
    ("", "Constant"): movement.constant,
    ("", "ConstantOfShape"): movement.constant_of_shape,
    ("", "Conv"): window.conv,
    ("", "ConvInteger"): integer.conv_integer,
    ("", "ConvTranspose"): window.conv_transpose,
    ("", "DepthToSpace"): movement.depth_to_space,
    ("", "DequantizeLinear"): storage.dequantize,
    ("", "Dropout"): movement.dropout,
    ("", "Expand"): movement.expand,
    ("", "Flatten"): movement.flatten,
    ("", "Gather"): movement.gather,
    ("", "Gelu"): elementwise.gelu,
    ("", "Gemm"): product.gemm,
    ("", "GlobalAveragePool"): window.global_average_pool,
    ("", "GlobalMaxPool"): window.global_max_pool,
    ("", "Identity"): elementwise.identity,
    ("", "LogSoftmax"): reduce.softmax,
    ("", "MatMul"): product.matmul,
    ("", "MatMulInteger"): integer.matmul_integer,
    ("", "MaxPool"): window.max_pool,
    ("", "Mod"): elementwise.mod,
    ("", "Not"): elementwise.invert,
    ("", "PRelu"): elementwise.prelu,
    ("", "Pad"): movement.pad,
    ("", "QLinearConv"): qlinear.qlinear_conv,
    ("", "QLinearMatMul"): qlinear.qlinear_matmul,
    ("", "QuantizeLinear"): storage.quantize,
    ("", "Range"): movement.range_of,
    ("", "Reshape"): movement.reshape,
    ("", "Shape"): movement.shape_of,
    ("", "Size"): movement.shape_of,
    ("", "Slice"): movement.slice_op,
    ("", "Softmax"): reduce.softmax,
    ("", "SpaceToDepth"): movement.space_to_depth,
    ("", "Split"): movement.split,
    ("", "Squeeze"): movement.squeeze,
    ("", "Tile"): movement.tile,
    ("", "Transpose"): movement.transpose,
    ("", "Unsqueeze"): movement.unsqueeze,
    ("", "Where"): elementwise.where,
    (MICROSOFT, "DequantizeLinear"): storage.dequantize,
    (MICROSOFT, "Gelu"): elementwise.gelu,
    (MICROSOFT, "QGemm"): qlinear.qgemm,
    (MICROSOFT, "QLinearAdd"): qlinear.qlinear_binary,
    (MICROSOFT, "QLinearAveragePool"): qlinear.qlinear_average_pool,
    (MICROSOFT, "QLinearConcat"): qlinear.qlinear_concat,
    (MICROSOFT, "QLinearConv"): qlinear.qlinear_conv,
    (MICROSOFT, "QLinearGlobalAveragePool"): qlinear.qlinear_global_average_pool,
    (MICROSOFT, "QLinearLeakyRelu"): qlinear.qlinear_unary,
    (MICROSOFT, "QLinearMul"): qlinear.qlinear_binary,
    (MICROSOFT, "QLinearSigmoid"): qlinear.qlinear_unary,
    (MICROSOFT, "QLinearSoftmax"): qlinear.qlinear_softmax,
    (MICROSOFT, "QuantizeLinear"): storage.quantize,
}
