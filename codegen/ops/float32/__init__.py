"""Operators on float32: one file per family, each answering the questions of `ir.op.Op`."""

from codegen.ir.op import Op
from codegen.ops.float32.anchors import FloatAnchorBoxes
from codegen.ops.float32.average_pool import FloatAveragePool2D, FloatGlobalAveragePool
from codegen.ops.float32.binary import FloatBinary
from codegen.ops.float32.boxes import FloatNonMaxSuppression
from codegen.ops.float32.clip import FloatClip
from codegen.ops.float32.conv2d import FloatConv2D
from codegen.ops.float32.dense import FloatDense, FloatMatMul
from codegen.ops.float32.poses import FloatPoses
from codegen.ops.float32.recurrent import FloatRecurrent
from codegen.ops.float32.reduce import FloatCumulative, FloatReduce
from codegen.ops.float32.softmax import FloatNormalize, FloatSoftmax
from codegen.ops.float32.taps import FloatTaps
from codegen.ops.float32.trees import FloatTrees
from codegen.ops.float32.unary import FloatUnary

FLOAT_OPS: tuple[type[Op], ...] = (
    FloatConv2D,
    FloatDense,
    FloatMatMul,
    FloatAveragePool2D,
    FloatGlobalAveragePool,
    FloatUnary,
    FloatBinary,
    FloatClip,
    FloatReduce,
    FloatCumulative,
    FloatSoftmax,
    FloatNormalize,
    FloatTaps,
    FloatRecurrent,
    FloatTrees,
    FloatAnchorBoxes,
    FloatNonMaxSuppression,
    FloatPoses,
)

SUMMING = (FloatConv2D, FloatDense, FloatMatMul, FloatRecurrent)
"""Those that add products, each in one of the ways of `codegen.ir.quant.Sums`."""

__all__ = [
    "FLOAT_OPS",
    "SUMMING",
    "FloatAnchorBoxes",
    "FloatAveragePool2D",
    "FloatBinary",
    "FloatClip",
    "FloatConv2D",
    "FloatCumulative",
    "FloatDense",
    "FloatGlobalAveragePool",
    "FloatMatMul",
    "FloatNonMaxSuppression",
    "FloatNormalize",
    "FloatPoses",
    "FloatRecurrent",
    "FloatReduce",
    "FloatSoftmax",
    "FloatTaps",
    "FloatTrees",
    "FloatUnary",
]
