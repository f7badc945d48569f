"""The table of importers: which function reads which operator.  One line per operator.

Decides nothing else; an operator that is not here is refused by name, all of them at once.
"""

from __future__ import annotations

from collections.abc import Mapping

from codegen.frontends.onnx import (
    activation,
    conv,
    conv_transpose,
    elementwise,
    integer,
    join,
    matmul,
    pool,
    qlinear,
    quantize,
    resize,
    shape_ops,
    slicing,
)
from codegen.frontends.onnx.context import ImportFn

MICROSOFT = "com.microsoft"

_FUNCTIONS = (
    *("Abs", "Acos", "Acosh", "Asin", "Asinh", "Atan", "Atanh", "Ceil", "Celu", "Cos", "Cosh", "Elu", "Erf", "Exp"),
    *("Floor", "HardSigmoid", "HardSwish", "LeakyRelu", "Log", "Mish", "Neg", "Reciprocal", "Round", "Selu"),
    *("Shrink", "Sigmoid", "Sign", "Sin", "Sinh", "Softplus", "Softsign", "Sqrt", "Swish", "Tan", "Tanh"),
    "ThresholdedRelu",
)

IMPORTERS: Mapping[tuple[str, str], ImportFn] = {
    **{("", name): activation.function for name in _FUNCTIONS},
    ("", "Add"): elementwise.elementwise,
    ("", "AveragePool"): pool.average_pool,
    ("", "BatchNormalization"): elementwise.batch_normalization,
    ("", "Cast"): quantize.cast,
    ("", "Clip"): activation.clip,
    ("", "Concat"): join.concat,
    ("", "Conv"): conv.conv,
    ("", "ConvInteger"): integer.conv_integer,
    ("", "ConvTranspose"): conv_transpose.conv_transpose,
    ("", "DepthToSpace"): shape_ops.depth_to_space,
    ("", "DequantizeLinear"): quantize.dequantize_linear,
    ("", "Div"): elementwise.elementwise,
    ("", "Dropout"): shape_ops.identity,
    ("", "DynamicQuantizeLinear"): quantize.dynamic_quantize_linear,
    ("", "Expand"): shape_ops.expand,
    ("", "Flatten"): shape_ops.flatten,
    ("", "Gather"): slicing.gather,
    ("", "Gelu"): activation.gelu,
    ("", "Gemm"): matmul.gemm,
    ("", "GlobalAveragePool"): pool.global_average_pool,
    ("", "GlobalMaxPool"): pool.global_max_pool,
    ("", "Identity"): shape_ops.identity,
    ("", "MatMul"): matmul.matmul,
    ("", "MatMulInteger"): integer.matmul_integer,
    ("", "Max"): elementwise.elementwise,
    ("", "MaxPool"): pool.max_pool,
    ("", "Min"): elementwise.elementwise,
    ("", "Mul"): elementwise.elementwise,
    ("", "PRelu"): activation.prelu,
    ("", "Pad"): slicing.pad,
    ("", "Pow"): elementwise.elementwise,
    ("", "QLinearConv"): qlinear.qlinear_conv,
    ("", "QLinearMatMul"): qlinear.qlinear_matmul,
    ("", "QuantizeLinear"): quantize.quantize_linear,
    ("", "ReduceMax"): pool.reduce_max,
    ("", "ReduceMean"): pool.reduce_mean,
    ("", "ReduceSum"): pool.reduce_sum,
    ("", "Relu"): activation.relu,
    ("", "Reshape"): shape_ops.reshape,
    ("", "Resize"): resize.resize,
    ("", "Shape"): shape_ops.shape_of,
    ("", "Size"): shape_ops.shape_of,
    ("", "Slice"): slicing.slice_op,
    ("", "Softmax"): join.softmax,
    ("", "SpaceToDepth"): shape_ops.space_to_depth,
    ("", "Split"): slicing.split,
    ("", "Squeeze"): shape_ops.squeeze,
    ("", "Sub"): elementwise.elementwise,
    ("", "Transpose"): shape_ops.transpose,
    ("", "Unsqueeze"): shape_ops.unsqueeze,
    ("", "Upsample"): resize.resize,
    (MICROSOFT, "DequantizeLinear"): quantize.dequantize_linear,
    (MICROSOFT, "Gelu"): activation.gelu,
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
    (MICROSOFT, "QuantizeLinear"): quantize.quantize_linear,
}
