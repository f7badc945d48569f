"""Operators: one file per family, each answering the questions of `ir.op.Op`."""

from codegen.ir.op import Op
from codegen.ops.accumulator import accumulator_bound, needs_int64
from codegen.ops.add import Add
from codegen.ops.add_n import AddN
from codegen.ops.arg_extremum import ArgExtremum
from codegen.ops.average_pool import AveragePool2D, GlobalAveragePool
from codegen.ops.cast import Cast
from codegen.ops.clamp import Clamp
from codegen.ops.compare import Compare
from codegen.ops.concat import Concat
from codegen.ops.conv2d import Conv2D
from codegen.ops.conv_transpose import ConvTranspose2D
from codegen.ops.cumulative_sum import CumulativeSum
from codegen.ops.dense import Dense, MatMul
from codegen.ops.depth_to_space import DepthToSpace, SpaceToDepth
from codegen.ops.div import Div
from codegen.ops.extremum import Extremum
from codegen.ops.float32 import FLOAT_OPS
from codegen.ops.functions import FUNCTIONS
from codegen.ops.global_sum import GlobalSum
from codegen.ops.hardmax import Hardmax
from codegen.ops.inverse_sqrt import InverseSqrt
from codegen.ops.l2_norm import L2Norm
from codegen.ops.layer_norm import LayerNorm, scaled_layer_norm
from codegen.ops.limits import broken_limits, check_limits
from codegen.ops.log_softmax import LogSoftmax
from codegen.ops.lstm import Lstm
from codegen.ops.lut import Lut
from codegen.ops.lut16 import Lut16
from codegen.ops.max_pool import MaxPool2D
from codegen.ops.mul import Mul
from codegen.ops.pad import Pad
from codegen.ops.piecewise_linear import PiecewiseLinear, piecewise_linear
from codegen.ops.prelu import PRelu
from codegen.ops.quantize import Dequantize, Quantize, Rescale
from codegen.ops.recurrent import Recurrent
from codegen.ops.remainder import Remainder, remainder_of
from codegen.ops.requantize import activation_bounds, apply_requant, make_requant
from codegen.ops.reshape import Broadcast, Reshape
from codegen.ops.resize import ResizeBilinear, ResizeNearest, ResizeWeighted
from codegen.ops.response import Response
from codegen.ops.scaled_sum import ScaledSum
from codegen.ops.scatter import Scatter
from codegen.ops.select import Select
from codegen.ops.sigmoid16 import Sigmoid16
from codegen.ops.signal import SIGNAL_OPS
from codegen.ops.slice import Gather, Slice
from codegen.ops.softmax import Softmax
from codegen.ops.softmax16 import Softmax16
from codegen.ops.squared_difference import SquaredDifference
from codegen.ops.svdf import Svdf
from codegen.ops.take import Take
from codegen.ops.top_k import TopK
from codegen.ops.total_pool import TotalPool2D
from codegen.ops.transpose import Transpose
from codegen.ops.triangle import Triangle
from codegen.ops.two_slopes import TwoSlopes
from codegen.ops.unary import requantize_table, unary_table
from codegen.ops.update import Update
from codegen.ops.whole import WholeArithmetic

OPS: tuple[type[Op], ...] = (
    Conv2D,
    ConvTranspose2D,
    Dense,
    MatMul,
    Add,
    AddN,
    ScaledSum,
    Mul,
    Div,
    Extremum,
    Compare,
    WholeArithmetic,
    Remainder,
    Response,
    SquaredDifference,
    PRelu,
    MaxPool2D,
    AveragePool2D,
    GlobalAveragePool,
    GlobalSum,
    TotalPool2D,
    CumulativeSum,
    ArgExtremum,
    Hardmax,
    TopK,
    Lut,
    Lut16,
    InverseSqrt,
    Clamp,
    Softmax,
    Concat,
    Reshape,
    Transpose,
    Slice,
    Gather,
    Take,
    Scatter,
    Update,
    Triangle,
    Select,
    Pad,
    DepthToSpace,
    SpaceToDepth,
    ResizeNearest,
    ResizeBilinear,
    ResizeWeighted,
    Broadcast,
    Quantize,
    Dequantize,
    Rescale,
    Cast,
    TwoSlopes,
    Sigmoid16,
    PiecewiseLinear,
    Softmax16,
    LogSoftmax,
    L2Norm,
    LayerNorm,
    Svdf,
    Lstm,
    Recurrent,
    *SIGNAL_OPS,
    *FLOAT_OPS,
)

__all__ = [
    "FUNCTIONS",
    "OPS",
    "Add",
    "AddN",
    "ArgExtremum",
    "AveragePool2D",
    "Broadcast",
    "Cast",
    "Clamp",
    "Compare",
    "Concat",
    "Conv2D",
    "ConvTranspose2D",
    "CumulativeSum",
    "Dense",
    "DepthToSpace",
    "Dequantize",
    "Div",
    "Extremum",
    "Gather",
    "GlobalAveragePool",
    "GlobalSum",
    "Hardmax",
    "InverseSqrt",
    "L2Norm",
    "LayerNorm",
    "LogSoftmax",
    "Lstm",
    "Lut",
    "Lut16",
    "MatMul",
    "MaxPool2D",
    "Mul",
    "PRelu",
    "Pad",
    "PiecewiseLinear",
    "Quantize",
    "Recurrent",
    "Remainder",
    "Rescale",
    "Reshape",
    "ResizeBilinear",
    "ResizeNearest",
    "ResizeWeighted",
    "Response",
    "ScaledSum",
    "Scatter",
    "Select",
    "Sigmoid16",
    "Slice",
    "Softmax",
    "Softmax16",
    "SpaceToDepth",
    "SquaredDifference",
    "Svdf",
    "Take",
    "TopK",
    "TotalPool2D",
    "Transpose",
    "Triangle",
    "TwoSlopes",
    "Update",
    "WholeArithmetic",
    "accumulator_bound",
    "activation_bounds",
    "apply_requant",
    "broken_limits",
    "check_limits",
    "make_requant",
    "needs_int64",
    "piecewise_linear",
    "remainder_of",
    "requantize_table",
    "scaled_layer_norm",
    "unary_table",
]
