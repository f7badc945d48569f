"""The table of translators: which function reads which operator of TFLite into a RealGraph."""

from __future__ import annotations

from collections.abc import Mapping

from codegen.frontends.tflite import shapes
from codegen.frontends.tflite.real import (
    detections,
    elementwise,
    movement,
    place,
    product,
    recurrent,
    reduce,
    resize,
    signal,
    storage,
    variables,
    window,
)
from codegen.frontends.tflite.real.context import Translator
from codegen.settle.rule import settled_names
from codegen.settle.tflite.rules import RULES

TRANSLATORS: Mapping[str, Translator] = {
    **dict.fromkeys(elementwise.FUNCTIONS, elementwise.function),
    **dict.fromkeys(elementwise.BINARY, elementwise.binary),
    **dict.fromkeys(reduce.REDUCTIONS, reduce.reduce),
    **signal.SIGNALS,
    **detections.DETECTIONS,
    "ADD_N": elementwise.add_n,
    "ARG_MAX": reduce.arg_extremum,
    "ARG_MIN": reduce.arg_extremum,
    "AVERAGE_POOL_2D": window.pool,
    "BATCH_MATMUL": product.batch_matmul,
    "ASSIGN_VARIABLE": variables.assign_variable,
    "BATCH_TO_SPACE_ND": movement.batch_to_space,
    "BROADCAST_TO": movement.broadcast_to,
    "CALL_ONCE": variables.call_once,
    "CAST": storage.cast,
    "CONCATENATION": movement.concatenation,
    "CONV_2D": window.conv_2d,
    "CUMSUM": reduce.cumulative_sum,
    "DEPTHWISE_CONV_2D": window.depthwise_conv_2d,
    "DEPTH_TO_SPACE": movement.depth_to_space,
    "DEQUANTIZE": storage.dequantize,
    "DYNAMIC_UPDATE_SLICE": place.update_slice,
    "EMBEDDING_LOOKUP": movement.embedding_lookup,
    "EXPAND_DIMS": movement.reshape,
    "FILL": movement.fill,
    "FULLY_CONNECTED": product.fully_connected,
    "GATHER": movement.gather,
    "GATHER_ND": movement.gather_nd,
    "GELU": elementwise.gelu,
    "L2_NORMALIZATION": reduce.l2_normalization,
    "L2_POOL_2D": window.pool,
    "LEAKY_RELU": elementwise.leaky_relu,
    "LOGICAL_NOT": elementwise.invert,
    "LOG_SOFTMAX": reduce.log_softmax,
    "MAX_POOL_2D": window.pool,
    "MIRROR_PAD": movement.mirror_pad,
    "ONE_HOT": place.one_hot,
    "PACK": movement.pack,
    "PAD": movement.pad,
    "PADV2": movement.pad,
    "PRELU": elementwise.prelu,
    "QUANTIZE": storage.quantize,
    "RANK": shapes.rank,
    "READ_VARIABLE": variables.read_variable,
    "RESHAPE": movement.reshape,
    "RESIZE_BILINEAR": resize.resize_bilinear,
    "RESIZE_NEAREST_NEIGHBOR": resize.resize_nearest,
    "REVERSE_V2": movement.reverse,
    "SELECT": elementwise.select,
    "SELECT_V2": elementwise.select,
    "SHAPE": shapes.shape_of,
    "SLICE": movement.slice_op,
    "SOFTMAX": reduce.softmax,
    "SPACE_TO_BATCH_ND": movement.space_to_batch,
    "SPACE_TO_DEPTH": movement.space_to_depth,
    "SPLIT": movement.split,
    "SPLIT_V": movement.split,
    "SQUARE": elementwise.square,
    "SQUEEZE": movement.reshape,
    "STRIDED_SLICE": movement.strided_slice,
    "SVDF": recurrent.svdf,
    "TILE": movement.tile,
    "TOPK_V2": place.top_k,
    "TRANSPOSE": movement.transpose,
    "TRANSPOSE_CONV": window.transpose_conv,
    "UNIDIRECTIONAL_SEQUENCE_LSTM": recurrent.lstm,
    "UNPACK": movement.unpack,
    "VAR_HANDLE": variables.var_handle,
    "ZEROS_LIKE": shapes.zeros_like,
}

_NOTHING_LEFT = {
    *("ASSIGN_VARIABLE", "CALL_ONCE", "READ_VARIABLE", "VAR_HANDLE"),
    *("FILL", "RANK", "SHAPE", "ZEROS_LIKE"),
}
"""Operators that are states of the network, or constants, once a model is read."""
SETTLED = TRANSLATORS.keys() & (settled_names(RULES) | _NOTHING_LEFT)
"""Operators that have a form in integers (codegen/settle/tflite)."""
