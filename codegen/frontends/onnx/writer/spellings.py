"""The table of spellings: which function writes which operator of a RealGraph as nodes of ONNX."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from codegen.frontends.onnx.writer import elementwise, movement, others, storage, windows
from codegen.frontends.onnx.writer.writing import Place
from codegen.real import (
    algebra,
    along,
    bits,
    cumulative,
    integer,
    normal,
    product,
    recurrent,
    reduce,
    sampling,
    scatter,
    spectrum,
    unpool,
    window,
)
from codegen.real import elementwise as real_elementwise
from codegen.real import movement as real_movement
from codegen.real import resize as real_resize
from codegen.real import storage as real_storage

Spelling = Callable[[Place, Any], None]
"""Writes the nodes of one operator."""


def _as(op_type: str) -> Spelling:
    """The operator of a name, without attributes."""
    return lambda place, op: place.write(op_type)


SPELLINGS: Mapping[type, Spelling] = {
    algebra.Determinant: _as("Det"),
    algebra.Einsum: others.einsum,
    along.Hardmax: others.hardmax,
    along.OneHot: others.one_hot,
    along.ReverseSequence: others.reverse_sequence,
    along.TopK: others.top_k,
    along.Triangle: others.triangle,
    bits.BitCast: elementwise.bit_cast,
    bits.BitwiseNot: elementwise.bitwise_not,
    bits.CastNarrow: elementwise.cast_narrow,
    bits.IsInf: elementwise.is_inf,
    bits.IsNaN: _as("IsNaN"),
    cumulative.CumulativeProduct: others.running,
    cumulative.CumulativeSum: others.running,
    integer.ConvInteger: windows.conv,
    integer.MatMulInteger: _as("MatMulInteger"),
    normal.BatchNorm: others.batch_norm,
    normal.InstanceNorm: others.instance_norm,
    normal.LocalResponseNorm: others.local_response_norm,
    normal.LpNorm: others.lp_norm,
    product.Gemm: others.gemm,
    product.MatMul: _as("MatMul"),
    real_elementwise.Binary: elementwise.binary,
    real_elementwise.Cast: elementwise.cast,
    real_elementwise.Clip: elementwise.clip,
    real_elementwise.Function: elementwise.function,
    real_elementwise.Not: _as("Not"),
    real_elementwise.PRelu: _as("PRelu"),
    real_elementwise.Where: _as("Where"),
    real_movement.Concat: movement.concat,
    real_movement.DepthToSpace: movement.depth_to_space,
    real_movement.Expand: movement.expand,
    real_movement.Gather: movement.gather,
    real_movement.Pad: movement.pad,
    real_movement.Reshape: movement.reshape,
    real_movement.Slice: movement.slice_of,
    real_movement.SpaceToDepth: movement.space_to_depth,
    real_movement.Tile: movement.tile,
    real_movement.Transpose: movement.transpose,
    real_resize.Resize: movement.resize,
    real_storage.Dequantize: storage.dequantize,
    real_storage.Quantize: storage.quantize,
    real_storage.Restore: _as("Identity"),
    recurrent.GRU: others.gru,
    recurrent.LSTM: others.lstm,
    recurrent.RNN: others.rnn,
    reduce.ArgExtremum: others.arg_extremum,
    reduce.Reduce: others.reduce,
    reduce.Softmax: others.softmax,
    sampling.DeformConv: windows.deform_conv,
    sampling.GridSample: others.grid_sample,
    sampling.RoiAlign: others.roi_align,
    scatter.CacheWrite: others.cache_write,
    scatter.GatherElements: others.gather_elements,
    scatter.GatherND: others.gather_nd,
    scatter.ScatterElements: others.scatter_elements,
    scatter.ScatterND: others.scatter_nd,
    spectrum.DFT: others.dft,
    unpool.ColumnsToImage: windows.columns_to_image,
    unpool.LpPool: windows.lp_pool,
    unpool.MaxPoolPlaces: windows.max_pool_places,
    unpool.MaxUnpool: windows.max_unpool,
    window.AveragePool: windows.average_pool,
    window.Conv: windows.conv,
    window.ConvTranspose: windows.conv_transpose,
    window.MaxPool: windows.max_pool,
}
