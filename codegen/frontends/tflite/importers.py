"""The importer table: one line per operator of TFLite."""

from __future__ import annotations

from collections.abc import Mapping

from codegen.frontends.tflite import elementwise, linear, move, pool
from codegen.frontends.tflite.context import ImportFn

IMPORTERS: Mapping[str, ImportFn] = {
    "ADD": elementwise.add,
    "AVERAGE_POOL_2D": pool.average_pool_2d,
    "CONV_2D": linear.conv_2d,
    "DEPTHWISE_CONV_2D": linear.depthwise_conv_2d,
    "EXPAND_DIMS": move.reshape,
    "FULLY_CONNECTED": linear.fully_connected,
    "MAX_POOL_2D": pool.max_pool_2d,
    "MEAN": pool.mean,
    "PAD": move.pad,
    "PADV2": move.pad,
    "RESHAPE": move.reshape,
    "SOFTMAX": elementwise.softmax,
    "SQUEEZE": move.reshape,
    "SUB": elementwise.add,
    "TRANSPOSE": move.transpose,
}
