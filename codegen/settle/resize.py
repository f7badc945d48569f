"""Resize: every mode, every coordinate transformation but cropping.

Decides: for each output row and column which input rows and columns it reads.  Positions are computed in float32, as
ONNX Runtime does.  Linear is a mean of two by two in units of 2^-11.  Where windows are wider (antialias, cubic) it is
a weighted sum in units of 2^-11, and mostly of 16-bit numbers: in units of 2^-7 or more where their weights are whole
ones of those, else 2^-15, with antialias 2^-22.  Of more than two axes, and of several images, nearest is one choice of
rows; linear is done axis by axis until two are left, with 7 bits more between, of 16-bit numbers with none; so is cubic
of 8-bit numbers, with as many bits fewer as it goes beyond what it lies between, and of 16-bit ones with 32 bits there.
Source: onnx/docs/Operators.md, Resize.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from codegen.errors import FormUnsupported
from codegen.ir.op import Op
from codegen.ir.quant import Array, DType, Mode, TensorType
from codegen.ir.real import RealNode
from codegen.ops import Reshape, ResizeBilinear, ResizeNearest, ResizeWeighted, Transpose
from codegen.ops.resize import Tap, Weights
from codegen.real import taps
from codegen.real.resize import Resize as RealResize
from codegen.real.taps import Stretch
from codegen.records import record
from codegen.settle.context import Context
from codegen.settle.layout import TO_NCHW, TO_NHWC
from codegen.settle.move import move
from codegen.settle.pool import averaging
from codegen.settle.rule import Family, Rule
from codegen.settle.stacked import MORE_BITS, as_image, from_image, held_finer, rows_of
from codegen.settle.states import Real, Request, Route, State
from codegen.settle.tables import exact
from codegen.settle.weighted import FINE_BITS, FINE_SHIFT, sums_of_words, windows_of

_WEIGHT_BITS = 11
_WEIGHT_ONE = 1 << _WEIGHT_BITS
_FEW_BITS = 7
"""Of each of two weights, with which 32 bits hold a sum of 16-bit numbers."""
_WIDE_BITS = 15
"""Of each of two weights, with which 47 bits hold one."""


@record
class Axis:
    """One axis: its length and what becomes of it."""

    n_in: int
    stretch: Stretch

    @property
    def n_out(self) -> int:
        """Its length afterwards."""
        return self.stretch.size

    @property
    def changes(self) -> bool:
        """Whether its elements are not its own ones; of as many elements they may be between them."""
        return self.stretch.scale != 1 or self.n_out != self.n_in


_NO_AXIS = Axis(1, Stretch(1, 1.0))


def resize(ctx: Context, node: RealNode, op: RealResize) -> Sequence[State]:
    """Resize of neighbouring axes."""
    if op.coordinates == "tf_crop_and_resize":
        found = f"{node.op_type} with coordinate_transformation_mode {op.coordinates}"
        raise FormUnsupported(found, where=node.where)
    shape = ctx.shape(ctx.state(node, 0))
    axes = [Axis(n, s or Stretch(n, 1.0)) for n, s in zip(shape, op.stretches, strict=True)]
    changed = [i for i, a in enumerate(axes) if a.changes]
    if not changed:
        return [ctx.state(node, 0)]
    if len(shape) > 4 or (shape[0] > 1 and op.mode != "nearest"):
        return [_stacked(ctx, node, op, axes, changed)]
    pre, post, at = _as_map(node, shape, [a.n_out for a in axes], changed)
    rows, columns = (axes[i] if i is not None else _NO_AXIS for i in at)
    if op.mode == "nearest":
        main = ResizeNearest(_nearest(op, rows), _nearest(op, columns))
        return [move(ctx, node, ctx.state(node, 0), lambda kind: Route(main, pre, post))]
    return [_weighed(ctx, node, exact(ctx, node, 0), _Lines(op, rows, columns), pre, post)]


def _weighed(ctx: Context, node: RealNode, x: Real, lines: _Lines, pre: tuple[Op, ...], post: tuple[Op, ...]) -> State:
    """Rows and columns of a map with the numbers of x, which it may hold otherwise."""
    image = ctx.out_type(ctx.type(x.value), pre)
    held = image if image.quant else replace(image, quant=x.quant)

    def make(request: Request, low: int, high: int) -> Op:
        return lines.of(held, replace(held, dtype=request.dtype, quant=request.quant), (low, high), ctx.mode)

    return averaging(ctx, node, x, make, pre, post)


def _stacked(ctx: Context, node: RealNode, op: RealResize, axes: Sequence[Axis], changed: Sequence[int]) -> State:
    """Of images, and of places along further axes, below each other."""
    shape = [a.n_in for a in axes]
    channel_axis = 1 if 1 not in changed else len(shape) - 1
    if 0 in changed or channel_axis in changed:
        raise _unread(node, shape, [a.n_out for a in axes], changed)
    spatial = [a for i, a in enumerate(axes) if i not in (0, channel_axis)]
    pre, post = as_image(shape, channel_axis), from_image([a.n_out for a in axes], channel_axis)
    if op.mode == "nearest":
        lead, images = [np.array(_nearest(op, a))[:, None] for a in spatial[:-1]], np.arange(shape[0])[:, None]
        rows = rows_of([images, *lead], [shape[0], *(a.n_in for a in spatial[:-1])])
        main = ResizeNearest(tuple(int(i) for i in rows.ravel()), _nearest(op, spatial[-1]))
        return move(ctx, node, ctx.state(node, 0), lambda kind: Route(main, pre, post))
    x = exact(ctx, node, 0)
    image = ctx.out_type(ctx.type(x.value), pre)
    if op.mode == "cubic" and image.dtype is DType.S16 and any(a.changes for a in spatial[:-2]):
        weights = [_matrix(op, axis) for axis in spatial]
        before, sums = sums_of_words(replace(image, quant=x.quant), weights, shape[0], ctx.mode)
        return averaging(ctx, node, x, sums.make(ctx.mode), (*pre, *before), post)
    made, lines = _stages(op, replace(image, quant=x.quant), spatial, shape[0], ctx.mode)
    return _weighed(ctx, node, x, lines, (*pre, *made), post)


def _stages(
    op: RealResize, image: TensorType, spatial: Sequence[Axis], images: int, mode: Mode
) -> tuple[list[Op], _Lines]:
    """What is done axis by axis of rows below each other, and what is done with the last two axes."""
    made, before, channels = list[Op](), images, image.shape[-1]
    *lead, rows, columns = (_NO_AXIS, *spatial)
    more = MORE_BITS - math.ceil(math.log2(math.prod(_gain(op, axis) for axis in lead if axis.changes)))
    for i, axis in enumerate(lead):
        if axis.changes:
            behind = math.prod(a.n_in for a in (*lead[i + 1 :], rows, columns)) * channels
            finer, lines = held_finer(image, more), _Lines(op, axis, _NO_AXIS, before)
            made += [Reshape((1, before * axis.n_in, 1, behind))]
            made += [lines.of(image, finer, (finer.dtype.low, finer.dtype.high), mode)]
            image = finer
        before *= axis.n_out
    made += [Reshape((1, before * rows.n_in, columns.n_in, channels))] if made else []
    return made, _Lines(op, rows, columns, before)


@record
class _Lines:
    """Interpolation along rows, of so many maps below each other, and along columns."""

    op: RealResize
    rows: Axis
    columns: Axis
    images: int = 1

    def of(self, x: TensorType, y: TensorType, ends: tuple[int, int], mode: Mode) -> Op:
        """As an operator between integers of these types."""
        assert x.quant is not None, "it is held in integers with a scale"
        assert y.quant is not None, "so is what comes of it"
        held, axes = (x.quant, y.quant, y.dtype, *ends, mode), (self.rows, self.columns)
        bits = self._bits(x.dtype)
        if bits:
            rows, columns = (_weights(self.op, axis, bits) for axis in axes)
            stacked = tuple((at + i, v) for at in self._starts() for i, v in rows)
            return ResizeWeighted(stacked, columns, bits, *held, FINE_SHIFT if bits == FINE_BITS else 0)
        h, w = (_taps(self.op, axis) for axis in axes)
        return ResizeBilinear(tuple((at + i, at + j, v) for at in self._starts() for i, j, v in h), w, *held)

    def _starts(self) -> range:
        return range(0, self.images * self.rows.n_in, self.rows.n_in)

    def _bits(self, dtype: DType) -> int:
        """Of the weights of a sum; 0 for a mean of two by two.  Of 16-bit numbers few, if those hold the weights."""
        axes, is_wide = (self.rows, self.columns), dtype is DType.S16
        is_smooth = self.op.smooth and any(a.stretch.scale < 1 for a in axes)
        if self.op.mode != "linear" or is_smooth:
            return _WEIGHT_BITS if not is_wide else FINE_BITS if is_smooth else _WIDE_BITS
        places = np.concatenate([_places(self.op, axis).clip(0, axis.n_in - 1) for axis in axes])
        exact = [bits for bits in range(_WEIGHT_BITS + 1) if (places * 2**bits % 1 == 0).all()] if is_wide else []
        if is_wide and (not exact or exact[0] <= _FEW_BITS):
            return max(exact[0], 1) if exact else _WIDE_BITS
        return 0


def _as_map(
    node: RealNode, shape: Sequence[int], result: Sequence[int], changed: Sequence[int]
) -> tuple[tuple[Op, ...], tuple[Op, ...], tuple[int | None, int | None]]:
    """Operators that bring the changed axes to rows and columns and back, and which axes those are."""
    rank = len(shape)
    if rank == 4 and set(changed) <= {2, 3}:
        return (Transpose(TO_NHWC),), (Transpose(TO_NCHW),), (2, 3)
    if rank == 4 and set(changed) <= {1, 2}:
        return (), (), (1, 2)
    if rank == 3 and set(changed) == {2}:
        n, c, length = shape
        pre = (Reshape((n, c, 1, length)), Transpose(TO_NHWC))
        return pre, (Transpose(TO_NCHW), Reshape(tuple(result))), (None, 2)
    raise _unread(node, shape, result, changed)


def _unread(node: RealNode, shape: Sequence[int], result: Sequence[int], changed: Sequence[int]) -> FormUnsupported:
    sizes = f"{list(shape)} to {list(result)}"
    return FormUnsupported(f"{node.op_type} of {sizes}, along axes {list(changed)}", where=node.where)


def _places(op: RealResize, axis: Axis) -> Array:
    return taps.places(axis.stretch, axis.n_in, op.coordinates if axis.changes else "asymmetric")


def _nearest(op: RealResize, axis: Axis) -> tuple[int, ...]:
    return tuple(taps.nearest(_places(op, axis), axis.n_in, op.rounding).tolist())


def _gain(op: RealResize, axis: Axis) -> float:
    """How many times as far as its elements reach what is between them may reach."""
    if op.mode != "cubic":
        return 1.0
    return max(sum(map(abs, weights)) for _, weights in _weights(op, axis, _WEIGHT_BITS)) / _WEIGHT_ONE


def _taps(op: RealResize, axis: Axis) -> tuple[Tap, ...]:
    found: list[Tap] = []
    for position in np.clip(_places(op, axis), 0, axis.n_in - 1):
        first = int(position)
        weight = int(np.rint((position - first) * _WEIGHT_ONE))
        if weight == _WEIGHT_ONE:
            first, weight = first + 1, 0
        found.append((first, min(first + 1, axis.n_in - 1), weight))
    return tuple(found)


def _weights(op: RealResize, axis: Axis, bits: int) -> tuple[Weights, ...]:
    """Windows and their weights."""
    return windows_of(_matrix(op, axis), bits)


def _matrix(op: RealResize, axis: Axis) -> Array:
    """The weight of each element in each output."""
    at, squeeze = _places(op, axis), min(axis.stretch.scale, 1.0) if op.smooth else 1.0
    if op.mode == "linear":
        elements, weights = taps.linear(at, axis.n_in, squeeze, inside=op.inside)
    else:
        elements, weights = taps.cubic(at, axis.n_in, squeeze, op.cubic_a, inside=op.inside)
    rows = np.zeros((axis.n_out, axis.n_in))
    np.add.at(rows, (np.arange(axis.n_out)[:, None], elements), weights)
    return rows


RULES: Family = (Rule(RealResize, resize, ("Resize", "Upsample")),)
