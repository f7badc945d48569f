"""The table of rules for TFLite's integers: which function settles which operator of RealGraph.  One line per operator.

Decides nothing else; an operator that is not here has no form in integers.  Each line names the operators of TFLite
that it serves.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from codegen.ir.real import RealNode
from codegen.real import (
    along,
    cumulative,
    detections,
    memory,
    normal,
    poses,
    product,
    reduce,
    scatter,
    signal,
    update,
    window,
)
from codegen.real import elementwise as real_elementwise
from codegen.real import movement as real_movement
from codegen.real import resize as real_resize
from codegen.real import storage as real_storage
from codegen.settle.arg_extremum import arg_extremum
from codegen.settle.float32 import detections as settle_detections
from codegen.settle.float32 import poses as settle_poses
from codegen.settle.float32.rules import FLOAT_RULES
from codegen.settle.rule import Rule, Rules, float_rule
from codegen.settle.states import State
from codegen.settle.tflite import elementwise, linear, logic, matmul, movement, pool, recurrent, resize, storage, unary
from codegen.settle.tflite import signal as settle_signal
from codegen.settle.tflite.context import TfliteContext, held
from codegen.settle.tflite.storage import as_recorded

_BINARY = (
    *("ADD", "DIV", "EQUAL", "FLOOR_DIV", "FLOOR_MOD", "GREATER", "GREATER_EQUAL", "LESS", "LESS_EQUAL"),
    *("LOGICAL_AND", "LOGICAL_OR", "MAXIMUM", "MINIMUM", "MUL", "NOT_EQUAL", "SQUARED_DIFFERENCE", "SUB"),
)
_FUNCTIONS = (
    *("ABS", "ELU", "EXP", "GELU", "HARD_SWISH", "LEAKY_RELU", "LOG", "LOGISTIC", "NEG", "RELU", "RSQRT"),
    *("SQRT", "TANH"),
)
_SIGNALS = tuple(
    f"custom operator Signal{name}"
    for name in (
        *("Delay", "Energy", "FftAutoScale", "FilterBank", "FilterBankLog", "FilterBankSpectralSubtraction"),
        *("FilterBankSquareRoot", "Framer", "Irfft", "OverlapAdd", "PCAN", "Rfft", "Stacker", "Window"),
    )
)
_RULES: tuple[Rule[Any], ...] = (
    Rule(along.TopK, movement.top_k, ("TOPK_V2",)),
    Rule(cumulative.CumulativeSum, pool.cumulative_sum, ("CUMSUM",)),
    Rule(detections.Detections, settle_detections.detections, ("custom operator TFLite_Detection_PostProcess",)),
    Rule(memory.SequenceLstm, recurrent.lstm, ("UNIDIRECTIONAL_SEQUENCE_LSTM",)),
    Rule(memory.Svdf, recurrent.svdf, ("SVDF",)),
    Rule(normal.LpNorm, elementwise.unit_length, ("L2_NORMALIZATION",)),
    Rule(poses.Poses, settle_poses.poses, ("custom operator PosenetDecoderOp",)),
    Rule(product.Dense, linear.dense, ("FULLY_CONNECTED",)),
    Rule(product.MatMul, matmul.matmul, ("BATCH_MATMUL",)),
    Rule(real_elementwise.AddN, elementwise.add_n, ("ADD_N",)),
    Rule(real_elementwise.Binary, elementwise.binary, _BINARY),
    Rule(real_elementwise.Cast, storage.cast, ("CAST",)),
    Rule(real_elementwise.Clip, unary.clip, ("RELU6", "RELU_0_TO_1", "RELU_N1_TO_1")),
    Rule(real_elementwise.Function, unary.function, _FUNCTIONS),
    Rule(real_elementwise.Not, logic.invert, ("LOGICAL_NOT",)),
    Rule(real_elementwise.PRelu, elementwise.prelu, ("PRELU",)),
    Rule(real_elementwise.Where, logic.where, ("SELECT_V2",)),
    Rule(real_movement.Concat, movement.concat, ("CONCATENATION", "PACK")),
    Rule(real_movement.DepthToSpace, movement.depth_to_space, ("DEPTH_TO_SPACE",)),
    Rule(real_movement.Expand, movement.expand, ("BROADCAST_TO",)),
    Rule(real_movement.Gather, movement.gather, ("EMBEDDING_LOOKUP", "GATHER")),
    Rule(real_movement.Pad, movement.pad, ("MIRROR_PAD", "PAD", "PADV2")),
    Rule(real_movement.Pick, resize.pick, ("ONE_HOT",)),
    Rule(real_movement.Reshape, movement.reshape, ("EXPAND_DIMS", "RESHAPE", "SQUEEZE")),
    Rule(
        real_movement.Slice, movement.slice_of, ("REVERSE_V2", "SLICE", "SPLIT", "SPLIT_V", "STRIDED_SLICE", "UNPACK")
    ),
    Rule(real_movement.SpaceToDepth, movement.space_to_depth, ("SPACE_TO_DEPTH",)),
    Rule(real_movement.Tile, movement.tile, ("TILE",)),
    Rule(real_movement.Transpose, movement.transpose, ("BATCH_TO_SPACE_ND", "SPACE_TO_BATCH_ND", "TRANSPOSE")),
    Rule(real_resize.Resize, resize.resize, ("RESIZE_BILINEAR", "RESIZE_NEAREST_NEIGHBOR")),
    Rule(real_storage.Dequantize, storage.dequantize, ("DEQUANTIZE",)),
    Rule(real_storage.Quantize, storage.quantize),
    Rule(real_storage.Restore, storage.restore, ("QUANTIZE",)),
    Rule(reduce.ArgExtremum, arg_extremum, ("ARG_MAX", "ARG_MIN")),
    Rule(reduce.Reduce, pool.reduction, ("MEAN", "REDUCE_MAX", "REDUCE_MIN", "SUM")),
    Rule(reduce.Softmax, elementwise.softmax, ("LOG_SOFTMAX", "SOFTMAX")),
    Rule(scatter.GatherND, movement.gather_nd, ("GATHER_ND",)),
    Rule(signal.Signal, settle_signal.signal, _SIGNALS),
    Rule(update.UpdateSlice, movement.update_slice, ("DYNAMIC_UPDATE_SLICE",)),
    Rule(window.AveragePool, pool.average_pool, ("AVERAGE_POOL_2D",)),
    Rule(window.Conv, linear.conv, ("CONV_2D", "DEPTHWISE_CONV_2D")),
    Rule(window.ConvTranspose, linear.conv_transpose, ("TRANSPOSE_CONV",)),
    Rule(window.MaxPool, pool.max_pool, ("MAX_POOL_2D",)),
)
RULES: Rules = {rule.kind: rule for rule in _RULES}


def as_float(ctx: TfliteContext, node: RealNode, joined: Rules) -> Sequence[State]:
    """The states of the outputs of a node on real numbers, held as their records say."""
    rule, count = float_rule(joined, FLOAT_RULES, RULES, node), len(ctx.builder.nodes)
    found = rule(ctx, node, node.op)
    states = [held(ctx, node, n, as_recorded(ctx, node, n, s)) for n, s in zip(node.outputs, found, strict=True)]
    ctx.builder.fold_since(count)
    return states


def settled(ctx: TfliteContext, node: RealNode, joined: Rules) -> Sequence[State]:
    """The states of a node's outputs, written where their records say how they are held; of constants, computed."""
    rule, count = joined.get(type(node.op)) or RULES.get(type(node.op)), len(ctx.builder.nodes)
    if rule is None:
        raise ctx.unknown(node)
    found = rule.settle(ctx, node, node.op)
    states = [held(ctx, node, name, state) for name, state in zip(node.outputs, found, strict=True)]
    ctx.builder.fold_since(count)
    return states
