"""Normalisations, reductions, products, choices by positions, recurrences.  Source: onnx/docs/Operators.md."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

import numpy as np
from onnx import TensorProto, helper

from codegen.frontends.onnx.writer.writing import Place, Table, plainly
from codegen.real.activation import FACTORS, Activation
from codegen.real.algebra import Determinant, Einsum
from codegen.real.along import Hardmax, OneHot, ReverseSequence, TopK, Triangle
from codegen.real.chosen import UNUSED, NonMaxSuppression
from codegen.real.cumulative import CumulativeProduct, CumulativeSum
from codegen.real.normal import BatchNorm, InstanceNorm, LayerNorm, LocalResponseNorm, LpNorm
from codegen.real.product import Dense, Gemm, MatMul
from codegen.real.recurrent import GRU, LSTM, RNN, Sweep
from codegen.real.reduce import ArgExtremum, Reduce, Softmax
from codegen.real.sampling import GridSample, RoiAlign
from codegen.real.scatter import CacheWrite, GatherElements, GatherND, ScatterElements, ScatterND
from codegen.real.spectrum import DFT

_WHOLE_MAP = {"Mean": "GlobalAveragePool", "Max": "GlobalMaxPool"}
_AXES_AS_INPUT = 18
_EPSILON = 1e-5


def _unless(value: float, usual: float) -> float | None:
    """An attribute's value, None where it is what ONNX takes without: that one is a float64."""
    return None if value == usual else float(value)


def gemm(place: Place, op: Gemm) -> None:
    """Gemm."""
    place.write(
        "Gemm",
        alpha=_unless(op.alpha, 1.0),
        beta=_unless(op.beta, 1.0),
        transA=int(op.turn_a) or None,
        transB=int(op.turn_b) or None,
    )


def einsum(place: Place, op: Einsum) -> None:
    """Einsum; axes without a name get letters that are free."""
    named = {s for term in (*op.inputs, op.output) for s in term}
    free = (chr(c) for c in (*range(97, 123), *range(65, 91)) if chr(c) not in named)
    letters = {s: s if len(s) == 1 else next(free) for s in sorted(named)}
    left = ",".join("".join(letters[s] for s in term) for term in op.inputs)
    place.write("Einsum", equation=f"{left}->{''.join(letters[s] for s in op.output)}")


def dft(place: Place, op: DFT) -> None:
    """DFT."""
    place.writing.since(20)
    length, axis = place.const(np.array(op.length), "length"), place.const(np.array(op.axis), "axis")
    place.write("DFT", [place.inputs[0], length, axis], inverse=int(op.inverse), onesided=int(op.onesided))


def batch_norm(place: Place, op: BatchNorm) -> None:
    """BatchNormalization."""
    place.write("BatchNormalization", epsilon=_unless(op.epsilon, _EPSILON))


def instance_norm(place: Place, op: InstanceNorm) -> None:
    """InstanceNormalization."""
    place.write("InstanceNormalization", epsilon=_unless(op.epsilon, _EPSILON))


def layer_norm(place: Place, op: LayerNorm) -> None:
    """LayerNormalization, and RMSNormalization where it is not centred."""
    place.writing.since(17 if op.centred else 23)
    place.write(
        "LayerNormalization" if op.centred else "RMSNormalization", axis=op.axis, epsilon=_unless(op.epsilon, _EPSILON)
    )


def local_response_norm(place: Place, op: LocalResponseNorm) -> None:
    """LRN."""
    alpha, beta, bias = _unless(op.alpha, 1e-4), _unless(op.beta, 0.75), _unless(op.bias, 1.0)
    place.write("LRN", size=op.size, alpha=alpha, beta=beta, bias=bias)


def dense(place: Place, op: Dense) -> None:
    """Gemm of a matrix, MatMul and Add of more axes."""
    if len(place.type(0).shape) == 2:
        place.write("Gemm", transB=1)
        return
    turned = place.inner("Transpose", [place.inputs[1]], "turned", perm=[1, 0])
    if len(place.inputs) == 2:
        place.write("MatMul", [place.inputs[0], turned])
        return
    place.write("Add", [place.inner("MatMul", [place.inputs[0], turned], "product"), place.inputs[2]])


def lp_norm(place: Place, op: LpNorm) -> None:
    """LpNormalization, or the quotient by a norm that has a bound."""
    if not op.least:
        place.write("LpNormalization", axis=op.axis, p=op.p)
        return
    place.writing.since(_AXES_AS_INPUT)
    norm = place.inner(f"ReduceL{op.p}", [place.inputs[0], place.const([op.axis], "axis")], "norm", keepdims=1)
    least = place.const(np.array(op.least, place.type(0).dtype), "least")
    place.write("Div", [place.inputs[0], place.inner("Max", [norm, least], "divisor")])


def reduce(place: Place, op: Reduce) -> None:
    """A reduction; over a whole map the pool of that name."""
    rank = len(place.type(0).shape)
    if op.kind in _WHOLE_MAP and op.keep and rank > 2 and op.axes == tuple(range(2, rank)):
        place.write(_WHOLE_MAP[op.kind])
        return
    place.writing.since(_AXES_AS_INPUT)
    axes = place.const(op.axes, "axes")
    empty = None if op.axes else 1
    place.write(f"Reduce{op.kind}", [place.inputs[0], axes], keepdims=int(op.keep), noop_with_empty_axes=empty)


def arg_extremum(place: Place, op: ArgExtremum) -> None:
    """ArgMax and ArgMin, which count in 64 bits."""
    kind = "ArgMax" if op.largest else "ArgMin"
    said = {"axis": op.axis, "keepdims": int(op.keep), "select_last_index": int(op.last)}
    if op.dtype == "int64":
        place.write(kind, **said)
        return
    place.write("Cast", [place.inner(kind, place.inputs, "places", **said)], to=TensorProto.INT32)


def softmax(place: Place, op: Softmax) -> None:
    """Softmax and LogSoftmax, of the numbers times beta."""
    if op.beta != 1:
        beta = place.const(np.array(op.beta, place.type(0).dtype), "beta")
        place.inputs = [place.inner("Mul", [place.inputs[0], beta], "scaled")]
    _along_the_last(place, "LogSoftmax" if op.log else "Softmax", op.axes)


def hardmax(place: Place, op: Hardmax) -> None:
    """Hardmax."""
    _along_the_last(place, "Hardmax", op.axes)


def _along_the_last(place: Place, kind: str, axes: Sequence[int]) -> None:
    """An operator along one axis; several are made one, and apart again."""
    if len(axes) == 1:
        place.write(kind, axis=axes[0])
        return
    shape = place.type(0).shape
    flat = place.const((*shape[: axes[0]], math.prod(shape[axes[0] :])), "flat")
    rows = place.inner("Reshape", [place.inputs[0], flat], "rows")
    made = place.inner(kind, [rows], "along", axis=axes[0])
    place.write("Reshape", [made, place.const(shape, "shape")])


def top_k(place: Place, op: TopK) -> None:
    """TopK, which counts in 64 bits."""
    count, said = place.const([op.count], "count"), {"axis": op.axis, "largest": int(op.largest)}
    if op.dtype == "int64":
        place.write("TopK", [place.inputs[0], count], **said)
        return
    best, places = place.outputs[0], place.writing.fresh(f"{place.outputs[0]}:places")
    place.writing.node("TopK", [place.inputs[0], count], [best, places], place.real.name, **said)
    kind = int(helper.np_dtype_to_tensor_dtype(np.dtype(op.dtype)))
    place.writing.node("Cast", [places], place.outputs[1:], f"{place.real.name}:places", to=kind)


def non_max_suppression(place: Place, op: NonMaxSuppression) -> None:
    """NonMaxSuppression, which leaves out the rows that are not used; added behind it where they are counted on."""
    known = [place.const(np.array([op.most]), "most"), place.const(np.array([op.limit], np.float32), "limit")]
    known += [] if op.least is None else [place.const(np.array([op.least], np.float32), "least")]
    inputs, centred = [*place.inputs[:2], *known], int(op.centred)
    if not op.filled:
        place.write("NonMaxSuppression", inputs, center_point_box=centred)
        return
    found = place.inner("NonMaxSuppression", inputs, "found", center_point_box=centred)
    (rows, _) = place.writing.type(place.real.outputs[0]).shape
    behind, unused = place.const([0, 0, rows, 0], "behind"), place.const(np.array(UNUSED), "unused")
    filled = place.inner("Pad", [found, behind, unused], "filled")
    place.write("Slice", [filled, *(place.const([n], what) for n, what in ((0, "first"), (rows, "rows"), (0, "axis")))])


def triangle(place: Place, op: Triangle) -> None:
    """Trilu."""
    offset = place.const(np.array(op.offset), "offset")
    place.write("Trilu", [place.inputs[0], offset], upper=int(op.upper))


def one_hot(place: Place, op: OneHot) -> None:
    """OneHot."""
    depth = place.const(np.array(op.depth), "depth")
    place.write("OneHot", [place.inputs[0], depth, place.inputs[1]], axis=op.axis)


def reverse_sequence(place: Place, op: ReverseSequence) -> None:
    """ReverseSequence."""
    place.write("ReverseSequence", time_axis=op.time, batch_axis=op.batch)


def running(place: Place, op: CumulativeSum | CumulativeProduct) -> None:
    """CumSum and CumProd."""
    kind = "CumSum" if isinstance(op, CumulativeSum) else "CumProd"
    place.writing.since(26 if kind == "CumProd" else 0)
    axis = place.const(np.array(op.axis), "axis")
    place.write(kind, [place.inputs[0], axis], exclusive=int(op.exclusive), reverse=int(op.reverse))


def gather_elements(place: Place, op: GatherElements) -> None:
    """GatherElements."""
    place.write("GatherElements", axis=op.axis)


def gather_nd(place: Place, op: GatherND) -> None:
    """GatherND."""
    place.write("GatherND", batch_dims=op.batch)


def scatter_elements(place: Place, op: ScatterElements) -> None:
    """ScatterElements."""
    place.writing.since(_REDUCED_SCATTERS.get(op.reduction, 0))
    place.write("ScatterElements", axis=op.axis, reduction=op.reduction)


def scatter_nd(place: Place, op: ScatterND) -> None:
    """ScatterND."""
    place.writing.since(_REDUCED_SCATTERS.get(op.reduction, 0))
    place.write("ScatterND", reduction=op.reduction)


_REDUCED_SCATTERS: Mapping[str, int] = {"max": 18, "min": 18}


def cache_write(place: Place, op: CacheWrite) -> None:
    """TensorScatter."""
    place.writing.since(24)
    place.write("TensorScatter", axis=op.axis, mode="circular" if op.circular else "linear")


def grid_sample(place: Place, op: GridSample) -> None:
    """GridSample."""
    place.writing.since(20)
    place.write("GridSample", mode=op.mode, padding_mode=op.outside, align_corners=int(op.corners))


def roi_align(place: Place, op: RoiAlign) -> None:
    """RoiAlign."""
    place.write(
        "RoiAlign",
        output_height=op.height,
        output_width=op.width,
        spatial_scale=float(op.scale),
        sampling_ratio=op.samples,
        mode="max" if op.largest else "avg",
        coordinate_transformation_mode="half_pixel" if op.half_pixel else "output_half_pixel",
    )


def lstm(place: Place, op: LSTM) -> None:
    """LSTM."""
    _recurrence(place, "LSTM", op.sweep, input_forget=int(op.coupled) or None)


def gru(place: Place, op: GRU) -> None:
    """GRU."""
    _recurrence(place, "GRU", op.sweep, linear_before_reset=int(op.reset_after))


def rnn(place: Place, op: RNN) -> None:
    """RNN."""
    _recurrence(place, "RNN", op.sweep)


def _recurrence(place: Place, kind: str, sweep: Sweep, **own: int | None) -> None:
    direction = "bidirectional" if len(sweep.reverse) > 1 else "reverse" if sweep.reverse[0] else "forward"
    place.write(
        kind,
        direction=direction,
        hidden_size=sweep.hidden,
        activations=[f.name for f in sweep.functions],
        activation_alpha=_factors(sweep.functions, 0),
        activation_beta=_factors(sweep.functions, 1),
        clip=None if math.isinf(sweep.clip) else float(sweep.clip),
        **own,
    )


def _factors(functions: Sequence[Activation], which: int) -> list[float] | None:
    """The factors of those functions that have one, in order."""
    found = [(f.alpha, f.beta)[which] for f in functions if FACTORS.get(f.name, (None, None))[which] is not None]
    return [float(f) for f in found] or None


SPELLINGS: Table = {
    ArgExtremum: arg_extremum,
    BatchNorm: batch_norm,
    CacheWrite: cache_write,
    CumulativeProduct: running,
    CumulativeSum: running,
    DFT: dft,
    Dense: dense,
    Determinant: plainly("Det"),
    Einsum: einsum,
    GRU: gru,
    GatherElements: gather_elements,
    GatherND: gather_nd,
    Gemm: gemm,
    GridSample: grid_sample,
    Hardmax: hardmax,
    InstanceNorm: instance_norm,
    LayerNorm: layer_norm,
    LSTM: lstm,
    LocalResponseNorm: local_response_norm,
    LpNorm: lp_norm,
    MatMul: plainly("MatMul"),
    NonMaxSuppression: non_max_suppression,
    OneHot: one_hot,
    RNN: rnn,
    Reduce: reduce,
    ReverseSequence: reverse_sequence,
    RoiAlign: roi_align,
    ScatterElements: scatter_elements,
    ScatterND: scatter_nd,
    Softmax: softmax,
    TopK: top_k,
    Triangle: triangle,
}
