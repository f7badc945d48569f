"""TFLite models of one float operator each: what a RealGraph makes of them is compared with LiteRT's kernels."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from codegen.ir.quant import Array
from tests.support.tflite_models import Model


@dataclass(frozen=True, eq=False)
class Const:
    """An input whose numbers stand in the file."""

    data: Array


@dataclass(frozen=True, eq=False)
class RealCase:
    """A model, and numbers for its inputs."""

    data: bytes
    inputs: tuple[Array, ...]


Shape = Sequence[int]
_SHAPE = (1, 4, 5, 6)


def reals(*shape: int, seed: int = 1, low: float = -3.0, high: float = 3.0) -> Array:
    """Real numbers, the same ones each time."""
    return np.random.default_rng(seed).uniform(low, high, shape).astype(np.float32)


def whole(*shape: int, seed: int = 1, low: int = -9, high: int = 9) -> Array:
    """int32 numbers."""
    return np.random.default_rng(seed).integers(low, high, shape).astype(np.int32)


def ints(*numbers: Any) -> Const:
    """A constant list of int32."""
    return Const(np.array(numbers, np.int32))


def one(
    op: str,
    ins: Sequence[Array | Const],
    *outs: Shape,
    kind: str = "float32",
    options: str = "",
    version: int = 1,
    **fields: Any,
) -> RealCase:
    """A model of one operator."""
    model = Model()
    places = [model.const(x.data) if isinstance(x, Const) else model.input(x.shape, str(x.dtype)) for x in ins]
    results = [model.output(tuple(shape), kind) for shape in outs]
    model.op(op, places, results, options, version=version, **fields)
    return RealCase(model.bytes(), tuple(x for x in ins if not isinstance(x, Const)))


def _unary(op: str, low: float = -3.0, high: float = 3.0, **told: Any) -> RealCase:
    return one(op, [reals(*_SHAPE, low=low, high=high)], _SHAPE, **told)


def _binary(op: str, low: float = -3.0, options: str = "", **told: Any) -> RealCase:
    return one(op, [reals(*_SHAPE, low=low), reals(5, 1, seed=2, low=0.5)], _SHAPE, options=options, **told)


def _compared(op: str) -> RealCase:
    a, b = np.round(reals(*_SHAPE)), np.round(reals(5, 6, seed=2))
    return one(op, [a, b], _SHAPE, kind="bool")


def _flags(*shape: int, seed: int = 1) -> Array:
    return reals(*shape, seed=seed) > 0


def _reduced(op: str, axes: Sequence[int], out: Shape, keep: bool, x: Array, kind: str = "float32") -> RealCase:
    return one(op, [x, ints(*axes)], out, kind=kind, options="ReducerOptions", KeepDims=keep)


def _conv(out: Shape, **fields: Any) -> RealCase:
    ins = [reals(1, 7, 8, 4), Const(reals(6, 3, 2, 4, seed=2)), Const(reals(6, seed=3))]
    return one("CONV_2D", ins, out, options="Conv2DOptions", **fields)


def _depthwise(out: Shape, **fields: Any) -> RealCase:
    ins = [reals(1, 7, 8, 4), Const(reals(1, 3, 2, 8, seed=2)), Const(reals(8, seed=3))]
    return one("DEPTHWISE_CONV_2D", ins, out, options="DepthwiseConv2DOptions", DepthMultiplier=2, **fields)


def _conv3d(out: Shape, **fields: Any) -> RealCase:
    ins = [reals(1, 4, 6, 5, 3), Const(reals(2, 3, 2, 3, 4, seed=2)), Const(reals(4, seed=3))]
    return one("CONV_3D", ins, out, options="Conv3DOptions", **fields)


def _conv3d_transposed(out: Shape, padding: int, step: int = 2, **holes: int) -> RealCase:
    ins = [ints(*out), Const(reals(2, 3, 2, 4, 3, seed=2)), reals(1, 2, 3, 4, 3), Const(reals(4, seed=3))]
    fields = {"Padding": padding, "StrideD": 1, "StrideH": step, "StrideW": step, **holes}
    return one("CONV_3D_TRANSPOSE", ins, out, options="Conv3DOptions", **fields)


def _gathered(shape: Shape, places: Shape, out: Shape, axis: int, batch: int) -> RealCase:
    ins = [reals(*shape), whole(*places, low=0, high=shape[axis])]
    return one("GATHER", ins, out, options="GatherOptions", Axis=axis, BatchDims=batch)


def _reversed(shape: Shape, time: int, batch: int) -> RealCase:
    ins = [reals(*shape), whole(shape[batch], low=0, high=shape[time] + 1)]
    return one("REVERSE_SEQUENCE", ins, shape, options="ReverseSequenceOptions", SeqDim=time, BatchDim=batch)


def _scattered() -> RealCase:
    """Two of the four rows at one place: their sum."""
    return one("SCATTER_ND", [ints([2], [0], [2], [4]), reals(4, 3), ints(6, 3)], (6, 3))


def _pool(op: str, out: Shape, **fields: Any) -> RealCase:
    return one(op, [reals(1, 7, 8, 4)], out, options="Pool2DOptions", **fields)


def _transposed(out: Shape, padding: int) -> RealCase:
    ins = [ints(*out), Const(reals(3, 3, 2, 4, seed=2)), reals(1, 4, 5, 4)]
    fields = {"Padding": padding, "StrideH": 2, "StrideW": 2}
    return one("TRANSPOSE_CONV", ins, out, options="TransposeConvOptions", **fields)


def _dense(shape: Shape, out: Shape, **fields: Any) -> RealCase:
    ins = [reals(*shape), Const(reals(3, 6, seed=2)), Const(reals(3, seed=3))]
    return one("FULLY_CONNECTED", ins, out, options="FullyConnectedOptions", **fields)


def _half_weights() -> RealCase:
    """A weight of 16 bits behind a DEQUANTIZE, as the converter writes them."""
    model, x = Model(), reals(2, 6)
    place = model.input(x.shape, "float32")
    half = model.const(reals(3, 6, seed=2).astype(np.float16))
    weights, y = model.tensor((3, 6), "float32"), model.output((2, 3), "float32")
    model.op("DEQUANTIZE", [half], [weights])
    model.op("FULLY_CONNECTED", [place, weights, -1], [y], "FullyConnectedOptions")
    return RealCase(model.bytes(), (x,))


def _there_and_back() -> RealCase:
    """Real numbers to integers and back."""
    model, x = Model(), reals(*_SHAPE)
    place, held = model.input(x.shape, "float32"), model.tensor(x.shape, "int8", 0.02, 5)
    model.op("QUANTIZE", [place], [held])
    model.op("DEQUANTIZE", [held], [model.output(x.shape, "float32")])
    return RealCase(model.bytes(), (x,))


def _resized(op: str, size: tuple[int, int], **fields: Any) -> RealCase:
    options = "ResizeBilinearOptions" if op == "RESIZE_BILINEAR" else "ResizeNearestNeighborOptions"
    return one(op, [reals(1, 4, 6, 3), ints(*size)], (1, *size, 3), options=options, version=3, **fields)


def _best() -> RealCase:
    """The three largest of each row, and where they are."""
    model, x = Model(), np.round(reals(4, 6))
    ins = [model.input(x.shape, "float32"), model.const(np.array([3], np.int32))]
    model.op("TOPK_V2", ins, [model.output((4, 3), "float32"), model.output((4, 3), "int32")], "TopKV2Options")
    return RealCase(model.bytes(), (x,))


def _one_hot(axis: int, out: Shape) -> RealCase:
    ins = [whole(2, 3, low=-1, high=5), Const(np.array(4, np.int32)), Const(reals()), Const(reals(seed=2))]
    return one("ONE_HOT", ins, out, options="OneHotOptions", Axis=axis)


_RESIZES = {
    f"{op} {way} {size[0]}x{size[1]}": partial(_resized, op, size, **{way: True} if way != "plain" else {})
    for op in ("RESIZE_BILINEAR", "RESIZE_NEAREST_NEIGHBOR")
    for way in ("plain", "AlignCorners", "HalfPixelCenters")
    for size in ((8, 12), (7, 10), (3, 1))
}
_STEP2 = {"StrideH": 2, "StrideW": 2}
_HOLES = {"DilationDFactor": 2, "DilationHFactor": 2, "DilationWFactor": 3}
_STEP1 = {"StrideH": 1, "StrideW": 1}
_WINDOW = {"FilterHeight": 3, "FilterWidth": 2}
_SLICED = {"BeginMask": 2, "EndMask": 4, "ShrinkAxisMask": 1}
_SAME, _VALID = 0, 1

CASES: Mapping[str, Callable[[], RealCase]] = {
    **{op: partial(_unary, op) for op in ("ABS", "CEIL", "COS", "ELU", "EXP", "FLOOR", "HARD_SWISH", "LOGISTIC")},
    **{op: partial(_unary, op) for op in ("NEG", "RELU", "RELU_N1_TO_1", "RELU_0_TO_1", "ROUND", "SIGN", "SIN")},
    **{op: partial(_unary, op) for op in ("SQUARE", "TANH", "LOG_SOFTMAX", "L2_NORMALIZATION", "ZEROS_LIKE")},
    **{op: partial(_unary, op, 0.1) for op in ("LOG", "SQRT", "RSQRT")},
    "RELU6": partial(_unary, "RELU6", -9, 9),
    "GELU": partial(_unary, "GELU", options="GeluOptions", Approximate=False),
    "GELU tanh": partial(_unary, "GELU", options="GeluOptions", Approximate=True),
    "LEAKY_RELU": partial(_unary, "LEAKY_RELU", options="LeakyReluOptions", Alpha=0.3),
    "LOCAL_RESPONSE_NORMALIZATION": partial(
        *(_unary, "LOCAL_RESPONSE_NORMALIZATION"),
        options="LocalResponseNormalizationOptions",
        Radius=1,
        Bias=1.5,
        Alpha=0.3,
        Beta=0.7,
    ),
    "SOFTMAX": partial(_unary, "SOFTMAX", options="SoftmaxOptions", Beta=1.0),
    "SOFTMAX beta": partial(_unary, "SOFTMAX", options="SoftmaxOptions", Beta=0.7),
    **{op: partial(_binary, op, options=f"{op.title()}Options") for op in ("ADD", "SUB", "MUL", "DIV")},
    "ADD relu": partial(_binary, "ADD", options="AddOptions", FusedActivationFunction=1),
    "SUB relu6": partial(_binary, "SUB", options="SubOptions", FusedActivationFunction=3),
    "MUL bounded": partial(_binary, "MUL", options="MulOptions", FusedActivationFunction=2),
    **{op: partial(_binary, op) for op in ("MAXIMUM", "MINIMUM", "SQUARED_DIFFERENCE", "FLOOR_MOD")},
    "FLOOR_DIV": lambda: one("FLOOR_DIV", [reals(*_SHAPE), reals(*_SHAPE, seed=2, low=0.5)], _SHAPE, version=2),
    "POW": partial(_binary, "POW", 0.1),
    **{op: partial(_compared, op) for op in ("EQUAL", "NOT_EQUAL", "LESS", "LESS_EQUAL", "GREATER", "GREATER_EQUAL")},
    "ADD whole": lambda: one("ADD", [whole(4, 5), whole(4, 1, seed=2)], (4, 5), kind="int32", options="AddOptions"),
    "BITWISE_XOR": lambda: one("BITWISE_XOR", [whole(4, 5), whole(4, 5, seed=2)], (4, 5), kind="int32"),
    "RIGHT_SHIFT": lambda: one("RIGHT_SHIFT", [whole(4, 5), whole(4, 5, seed=2, low=0)], (4, 5), kind="int32"),
    "QUANTIZE": _there_and_back,
    "SHAPE": lambda: one("SHAPE", [reals(4, 5)], (2,), kind="int32", options="ShapeOptions", OutType=2),
    "RANK": lambda: one("RANK", [reals(4, 5)], (), kind="int32"),
    "LOGICAL_AND": lambda: one("LOGICAL_AND", [_flags(4, 5), _flags(4, 5, seed=2)], (4, 5), kind="bool"),
    "LOGICAL_OR": lambda: one("LOGICAL_OR", [_flags(4, 5), _flags(5, seed=2)], (4, 5), kind="bool"),
    "LOGICAL_NOT": lambda: one("LOGICAL_NOT", [_flags(4, 5)], (4, 5), kind="bool"),
    "SELECT_V2": lambda: one("SELECT_V2", [_flags(4, 1), reals(4, 5), reals(1, 5, seed=2)], (4, 5)),
    "SELECT": lambda: one("SELECT", [_flags(4), reals(4, 5), reals(4, 5, seed=2)], (4, 5)),
    "ADD_N": lambda: one("ADD_N", [reals(4, 5), reals(4, 5, seed=2), reals(4, 5, seed=3)], (4, 5)),
    "PRELU": lambda: one("PRELU", [reals(*_SHAPE), Const(reals(1, 1, 6, seed=2))], _SHAPE),
    "CAST": lambda: one("CAST", [reals(4, 5)], (4, 5), kind="int32", options="CastOptions", InDataType=0),
    "CONV_2D same": partial(_conv, (1, 4, 4, 6), Padding=_SAME, FusedActivationFunction=1, **_STEP2),
    "CONV_2D valid": partial(_conv, (1, 5, 7, 6), Padding=_VALID, FusedActivationFunction=3, **_STEP1),
    "CONV_2D dilated": partial(_conv, (1, 3, 7, 6), Padding=_VALID, DilationHFactor=2, **_STEP1),
    "DEPTHWISE_CONV_2D same": partial(_depthwise, (1, 4, 4, 8), Padding=_SAME, **_STEP2),
    "DEPTHWISE_CONV_2D valid": partial(_depthwise, (1, 5, 7, 8), Padding=_VALID, FusedActivationFunction=1, **_STEP1),
    "CONV_3D same": partial(_conv3d, (1, 2, 3, 3, 4), Padding=_SAME, StrideD=2, FusedActivationFunction=1, **_STEP2),
    "CONV_3D dilated": partial(_conv3d, (1, 3, 2, 4, 4), Padding=_VALID, DilationHFactor=2, StrideD=1, **_STEP1),
    "CONV_3D_TRANSPOSE same": partial(_conv3d_transposed, (1, 2, 6, 8, 4), _SAME),
    "CONV_3D_TRANSPOSE valid": partial(_conv3d_transposed, (1, 3, 7, 8, 4), _VALID),
    "CONV_3D_TRANSPOSE same, dilated": partial(_conv3d_transposed, (1, 2, 6, 8, 4), _SAME, **_HOLES),
    "CONV_3D_TRANSPOSE valid, dilated": partial(_conv3d_transposed, (1, 4, 9, 10, 4), _VALID, **_HOLES),
    "CONV_3D_TRANSPOSE dilated, step by step": partial(_conv3d_transposed, (1, 2, 3, 4, 4), _SAME, 1, **_HOLES),
    "TRANSPOSE_CONV same": partial(_transposed, (1, 8, 10, 3), _SAME),
    "TRANSPOSE_CONV computed weights": lambda: one(
        *("TRANSPOSE_CONV", [ints(1, 9, 10, 3), reals(3, 3, 2, 4, seed=2), reals(1, 4, 5, 4)], (1, 9, 10, 3)),
        options="TransposeConvOptions",
        Padding=_VALID,
        **_STEP2,
    ),
    "TRANSPOSE_CONV valid": partial(_transposed, (1, 9, 10, 3), _VALID),
    "AVERAGE_POOL_2D": partial(_pool, "AVERAGE_POOL_2D", (1, 4, 4, 4), Padding=_SAME, **_STEP2, **_WINDOW),
    "MAX_POOL_2D": partial(_pool, "MAX_POOL_2D", (1, 4, 4, 4), Padding=_SAME, **_STEP2, **_WINDOW),
    "MAX_POOL_2D relu": partial(
        *(_pool, "MAX_POOL_2D", (1, 5, 7, 4)), Padding=_VALID, FusedActivationFunction=1, **_STEP1, **_WINDOW
    ),
    "L2_POOL_2D": partial(_pool, "L2_POOL_2D", (1, 5, 7, 4), Padding=_VALID, **_STEP1, **_WINDOW),
    "FULLY_CONNECTED": partial(_dense, (2, 6), (2, 3), FusedActivationFunction=1),
    "FULLY_CONNECTED flat": partial(_dense, (1, 4, 3), (2, 3)),
    "FULLY_CONNECTED kept": partial(_dense, (1, 4, 6), (1, 4, 3), KeepNumDims=True),
    "DEQUANTIZE float16": _half_weights,
    "BATCH_MATMUL": lambda: one(
        "BATCH_MATMUL", [reals(2, 3, 4), reals(2, 4, 5, seed=2)], (2, 3, 5), options="BatchMatMulOptions"
    ),
    "BATCH_MATMUL turned": lambda: one(
        *("BATCH_MATMUL", [reals(2, 4, 3), reals(1, 5, 4, seed=2)], (2, 3, 5)),
        options="BatchMatMulOptions",
        AdjX=True,
        AdjY=True,
    ),
    "MEAN": partial(_reduced, "MEAN", (1, 2), (1, 1, 1, 6), True, reals(*_SHAPE)),
    "MEAN gone": partial(_reduced, "MEAN", (-1,), (1, 4, 5), False, reals(*_SHAPE)),
    "SUM": partial(_reduced, "SUM", (0, 2), (4, 6), False, reals(*_SHAPE)),
    "REDUCE_MAX": partial(_reduced, "REDUCE_MAX", (2,), (1, 4, 6), False, reals(*_SHAPE)),
    "REDUCE_MIN": partial(_reduced, "REDUCE_MIN", (1, 3), (1, 1, 5, 1), True, reals(*_SHAPE)),
    "REDUCE_PROD": partial(_reduced, "REDUCE_PROD", (1,), (1, 5, 6), False, reals(*_SHAPE)),
    "REDUCE_ANY": partial(_reduced, "REDUCE_ANY", (1,), (4,), False, _flags(4, 2), "bool"),
    "REDUCE_ALL": partial(_reduced, "REDUCE_ALL", (1,), (4,), False, _flags(4, 2), "bool"),
    "ARG_MAX": lambda: one(
        "ARG_MAX", [np.round(reals(*_SHAPE)), ints(2)], (1, 4, 6), kind="int32", options="ArgMaxOptions", OutputType=2
    ),
    "ARG_MIN": lambda: one(
        "ARG_MIN", [np.round(reals(*_SHAPE)), ints(-1)], (1, 4, 5), kind="int64", options="ArgMinOptions", OutputType=4
    ),
    "CUMSUM": lambda: one("CUMSUM", [reals(4, 5), ints(1)], (4, 5), options="CumsumOptions"),
    "CUMSUM back": lambda: one(
        "CUMSUM", [reals(4, 5), ints(0)], (4, 5), options="CumsumOptions", Exclusive=True, Reverse=True
    ),
    **_RESIZES,
    "TOPK_V2": _best,
    "ONE_HOT": partial(_one_hot, -1, (2, 3, 4)),
    "ONE_HOT first": partial(_one_hot, 0, (4, 2, 3)),
    "DYNAMIC_UPDATE_SLICE": lambda: one("DYNAMIC_UPDATE_SLICE", [reals(4, 6), reals(2, 3, seed=2), ints(1, 9)], (4, 6)),
    "DYNAMIC_UPDATE_SLICE computed": lambda: one(
        "DYNAMIC_UPDATE_SLICE", [reals(4, 6), reals(2, 3, seed=2), whole(2)], (4, 6)
    ),
    "RESHAPE": lambda: one("RESHAPE", [reals(*_SHAPE), ints(5, -1)], (5, 24)),
    "SQUEEZE": lambda: one("SQUEEZE", [reals(1, 4, 1)], (4, 1), options="SqueezeOptions", SqueezeDims=[0]),
    "EXPAND_DIMS": lambda: one("EXPAND_DIMS", [reals(4, 5), ints(1)], (4, 1, 5)),
    "TRANSPOSE": lambda: one("TRANSPOSE", [reals(*_SHAPE), ints(0, 3, 1, 2)], (1, 6, 4, 5)),
    "CONCATENATION": lambda: one(
        *("CONCATENATION", [reals(4, 5), Const(reals(4, 2, seed=2)), reals(4, 1, seed=3)], (4, 8)),
        options="ConcatenationOptions",
        Axis=-1,
    ),
    "PACK": lambda: one(
        "PACK", [reals(4, 5), reals(4, 5, seed=2)], (4, 2, 5), options="PackOptions", Axis=1, ValuesCount=2
    ),
    "UNPACK": lambda: one("UNPACK", [reals(2, 4, 5)], (4, 5), (4, 5), options="UnpackOptions", Axis=0, Num=2),
    "SPLIT": lambda: one("SPLIT", [ints(1), reals(4, 6)], (4, 3), (4, 3), options="SplitOptions", NumSplits=2),
    "SPLIT_V": lambda: one(
        "SPLIT_V", [reals(4, 6), ints(2, 4), ints(1)], (4, 2), (4, 4), options="SplitVOptions", NumSplits=2
    ),
    "SLICE": lambda: one("SLICE", [reals(4, 6), ints(1, 2), ints(2, -1)], (2, 4)),
    "STRIDED_SLICE": lambda: one(
        *("STRIDED_SLICE", [reals(4, 6, 5), ints(1, 4, 0), ints(2, 0, 3), ints(1, -2, 1)], (3, 5)),
        options="StridedSliceOptions",
        **_SLICED,
    ),
    "PAD": lambda: one("PAD", [reals(4, 6), ints([1, 0], [2, 3])], (5, 11)),
    "PADV2": lambda: one("PADV2", [reals(4, 6), ints([1, 0], [2, 3]), Const(reals(1))], (5, 11), version=2),
    "MIRROR_PAD": lambda: one("MIRROR_PAD", [reals(4, 6), ints([1, 0], [2, 3])], (5, 11), options="MirrorPadOptions"),
    "MIRROR_PAD edge": lambda: one(
        "MIRROR_PAD", [reals(4, 6), ints([1, 0], [2, 3])], (5, 11), options="MirrorPadOptions", Mode=1
    ),
    "GATHER": lambda: one("GATHER", [reals(4, 6), ints([0, 3], [2, 2])], (4, 2, 2), options="GatherOptions", Axis=1),
    "GATHER computed": lambda: one(
        "GATHER", [reals(4, 6), whole(3, low=0, high=4)], (3, 6), options="GatherOptions", Axis=0
    ),
    "GATHER of batches": partial(_gathered, (2, 5, 3), (2, 4), (2, 4, 3), 1, 1),
    "GATHER of batches, an axis between": partial(_gathered, (2, 3, 5, 4), (2, 6), (2, 3, 6, 4), 2, 1),
    "GATHER of two axes of batches": partial(_gathered, (2, 3, 5), (2, 3, 2, 2), (2, 3, 2, 2), -1, 2),
    "SCATTER_ND": _scattered,
    "SCATTER_ND computed": lambda: one(
        "SCATTER_ND", [whole(3, 2, low=0, high=4), reals(3, 5), ints(4, 4, 5)], (4, 4, 5)
    ),
    "GATHER_ND": lambda: one("GATHER_ND", [reals(4, 6, 2), ints([0, 3], [2, 5])], (2, 2)),
    "GATHER_ND computed": lambda: one("GATHER_ND", [reals(4, 6, 2), whole(3, 2, low=0, high=4)], (3, 2)),
    "EMBEDDING_LOOKUP": lambda: one("EMBEDDING_LOOKUP", [whole(3, low=0, high=4), Const(reals(4, 6))], (3, 6)),
    "TILE": lambda: one("TILE", [reals(4, 6), ints(2, 3)], (8, 18)),
    "BROADCAST_TO": lambda: one("BROADCAST_TO", [reals(4, 1), ints(2, 4, 3)], (2, 4, 3), version=2),
    "FILL": lambda: one("FILL", [ints(2, 3), reals()], (2, 3)),
    "REVERSE_SEQUENCE": partial(_reversed, (3, 5, 2), 1, 0),
    "REVERSE_SEQUENCE first": partial(_reversed, (5, 3), 0, 1),
    "REVERSE_SEQUENCE behind": partial(_reversed, (2, 3, 4, 2), 2, 0),
    "REVERSE_V2": lambda: one("REVERSE_V2", [reals(4, 6), ints(1)], (4, 6)),
    "DEPTH_TO_SPACE": lambda: one(
        "DEPTH_TO_SPACE", [reals(1, 2, 3, 8)], (1, 4, 6, 2), options="DepthToSpaceOptions", BlockSize=2
    ),
    "SPACE_TO_DEPTH": lambda: one(
        "SPACE_TO_DEPTH", [reals(1, 4, 6, 2)], (1, 2, 3, 8), options="SpaceToDepthOptions", BlockSize=2
    ),
    "SPACE_TO_BATCH_ND": lambda: one(
        "SPACE_TO_BATCH_ND", [reals(1, 3, 6, 2), ints(2, 3), ints([0, 1], [0, 0])], (6, 2, 2, 2)
    ),
    "BATCH_TO_SPACE_ND": lambda: one(
        "BATCH_TO_SPACE_ND", [reals(6, 2, 2, 2), ints(2, 3), ints([0, 1], [1, 0])], (1, 3, 5, 2)
    ),
}
"""A maker for each; the first word of its name is the operator."""
