"""The table of rules for real numbers: which function settles which operator of RealGraph.  One line per operator.

Decides nothing else.  An operator that only moves elements is not here: its rule for integers moves real numbers too.
"""

from __future__ import annotations

from typing import Any

from codegen.real import algebra as real_algebra
from codegen.real import (
    along,
    bits,
    chosen,
    cumulative,
    detections,
    ngrams,
    poses,
    product,
    resize,
    sampling,
    scatter,
    trees,
    unpool,
    window,
)
from codegen.real import elementwise as real_elementwise
from codegen.real import movement as real_movement
from codegen.real import normal as real_normal
from codegen.real import recurrent as real_recurrent
from codegen.real import reduce as real_reduce
from codegen.real import spectrum as real_spectrum
from codegen.real import storage as real_storage
from codegen.settle.float32 import (
    algebra,
    boxes,
    conv,
    conv_transpose,
    elementwise,
    matmul,
    moving,
    normalization,
    picking,
    pool,
    recurrent,
    reduction,
    softmax,
    spectrum,
    storage,
)
from codegen.settle.float32 import detections as settle_detections
from codegen.settle.float32 import ngrams as settle_ngrams
from codegen.settle.float32 import poses as settle_poses
from codegen.settle.float32 import sampling as settle_sampling
from codegen.settle.float32 import trees as settle_trees
from codegen.settle.float32 import unpool as settle_unpool
from codegen.settle.rule import Rule, Rules

_RULES: tuple[Rule[Any], ...] = (
    Rule(along.Hardmax, reduction.hardmax),
    Rule(along.OneHot, picking.one_hot),
    Rule(along.ReverseSequence, picking.reverse_sequence),
    Rule(along.TopK, reduction.top_k),
    Rule(along.Triangle, picking.triangle),
    Rule(bits.BitCast, elementwise.bit_cast),
    Rule(bits.BitwiseNot, elementwise.bitwise_not),
    Rule(bits.CastNarrow, elementwise.cast_narrow),
    Rule(bits.IsInf, elementwise.is_inf),
    Rule(bits.IsNaN, elementwise.is_nan),
    Rule(chosen.NonMaxSuppression, boxes.non_max_suppression),
    Rule(cumulative.CumulativeProduct, reduction.running_product),
    Rule(cumulative.CumulativeSum, reduction.running_sum),
    Rule(ngrams.CountNgrams, settle_ngrams.count_ngrams),
    Rule(detections.Detections, settle_detections.detections),
    Rule(poses.Poses, settle_poses.poses),
    Rule(product.Dense, matmul.dense),
    Rule(product.Gemm, matmul.gemm),
    Rule(product.MatMul, matmul.matmul),
    Rule(real_algebra.Determinant, algebra.determinant),
    Rule(real_algebra.Einsum, algebra.einsum),
    Rule(real_elementwise.AddN, elementwise.add_n),
    Rule(real_elementwise.Binary, elementwise.binary),
    Rule(real_elementwise.Cast, elementwise.cast),
    Rule(real_elementwise.Clip, elementwise.clip),
    Rule(real_elementwise.Function, elementwise.function),
    Rule(real_elementwise.Not, elementwise.negated),
    Rule(real_elementwise.PRelu, elementwise.prelu),
    Rule(real_elementwise.Where, elementwise.where),
    Rule(real_movement.Concat, moving.concat),
    Rule(real_movement.Gather, picking.gather),
    Rule(real_movement.Pad, moving.pad),
    Rule(real_movement.Pick, moving.pick),
    Rule(real_movement.SpaceToDepth, moving.space_to_depth),
    Rule(real_movement.Tile, moving.tile),
    Rule(real_normal.BatchNorm, normalization.batch_norm),
    Rule(real_normal.InstanceNorm, normalization.instance_norm),
    Rule(real_normal.LayerNorm, normalization.layer_norm),
    Rule(real_normal.LocalResponseNorm, normalization.local_response),
    Rule(real_normal.LpNorm, normalization.lp_norm),
    Rule(real_recurrent.GRU, recurrent.gru),
    Rule(real_recurrent.LSTM, recurrent.lstm),
    Rule(real_recurrent.RNN, recurrent.rnn),
    Rule(real_reduce.ArgExtremum, reduction.arg_extremum),
    Rule(real_reduce.Reduce, reduction.reduce_of),
    Rule(real_reduce.Softmax, softmax.softmax),
    Rule(resize.Resize, moving.resize),
    Rule(sampling.DeformConv, settle_sampling.deform_conv),
    Rule(sampling.GridSample, settle_sampling.grid_sample),
    Rule(sampling.RoiAlign, settle_sampling.roi_align),
    Rule(scatter.CacheWrite, picking.cache_write),
    Rule(scatter.GatherElements, picking.gather_elements),
    Rule(scatter.GatherND, picking.gather_nd),
    Rule(scatter.ScatterElements, picking.scatter_elements),
    Rule(scatter.ScatterND, picking.scatter_nd),
    Rule(real_spectrum.DFT, spectrum.dft),
    Rule(real_storage.Dequantize, storage.dequantize),
    Rule(real_storage.Quantize, storage.quantize),
    Rule(trees.Trees, settle_trees.trees),
    Rule(unpool.ColumnsToImage, settle_unpool.columns_to_image),
    Rule(unpool.LpPool, pool.lp_pool),
    Rule(unpool.MaxPoolPlaces, settle_unpool.max_pool_places),
    Rule(unpool.MaxUnpool, settle_unpool.max_unpool),
    Rule(window.AveragePool, pool.average_pool),
    Rule(window.Conv, conv.conv),
    Rule(window.ConvTranspose, conv_transpose.conv_transpose),
)
FLOAT_RULES: Rules = {rule.kind: rule for rule in _RULES}
QUANTIZED_BEHIND = (real_movement.Pad,)
"""Operators for which a Quantize behind them quantizes an input of the network before it reaches them."""
