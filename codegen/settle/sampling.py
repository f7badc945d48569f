"""Maps read at places that are known: GridSample and RoiAlign of quantized tensors.

Decides: that such an operator is a matrix, which it is itself asked for; that a map read at whole places only is moved,
and any other one is a sum of a few elements each, weighted by whole numbers of 15 bits (of 16-bit numbers as large ones
as sums hold) and brought to the result's scale once.  Places that the network computes are left to real numbers.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from codegen.ir.quant import Array, DType, Quant, is_pot
from codegen.ir.real import RealNode
from codegen.ops import Gather, Rescale, activation_bounds, make_requant
from codegen.ops.float32 import FloatTaps
from codegen.real.sampling import GridSample, RoiAlign
from codegen.settle.context import Context, array_of, real_bounds, story
from codegen.settle.float32.writer import Writer
from codegen.settle.rule import Family, Rule
from codegen.settle.states import Pending, Real, Request, Route, State
from codegen.settle.sums import steps_of
from codegen.settle.tables import EIGHT_BIT, exact

_MOST = 1 << 22
"""Entries of a matrix that is asked for."""
_BITS = 15
_SMALL = 2.0**-20


def sampled(ctx: Context, node: RealNode, op: GridSample | RoiAlign) -> Sequence[State]:
    """A map of one image at known places."""
    x = exact(ctx, node, 0)
    n, channels, *spatial = ctx.shape(x)
    shape, pixels = ctx.real(node.outputs[0]).shape, math.prod(spatial)
    known = [array_of(ctx.state(node, i)) for i in range(1, len(node.inputs))]
    cells = math.prod(shape) // channels
    if n != 1 or any(k is None for k in known) or cells * pixels > _MOST or _is_largest(op):
        raise ctx.real_only(node)
    basis = np.eye(pixels, dtype=np.float32).reshape(1, pixels, *spatial)
    (found,) = op.evaluate([basis, *(k for k in known if k is not None)])
    matrix = np.moveaxis(found, 1, -1).reshape(cells, pixels)
    matrix = np.where(np.abs(matrix) < _SMALL, 0, matrix)

    def table(w: Writer, value: str) -> str:
        return w.reshaped(w.moved(value, 1, len(spatial) + 1), (pixels, channels))

    def image(w: Writer, value: str) -> str:
        return w.moved(w.reshaped(value, (shape[0], *shape[2:], channels)), len(shape) - 1, 1)

    if (matrix.max(axis=1) == 1).all() and (matrix.sum(axis=1) == 1).all():
        w = Writer(ctx, node)
        places = tuple(int(i) for i in matrix.argmax(axis=1))
        value = image(w, w.apply(Gather(0, places), table(w, x.value)))
        ctx.builder.rename_source(value, node.outputs[0])
        return [Real(value, x.quant)]
    unit = _unit(matrix, ctx.type(x.value).dtype, x.quant)
    if is_pot(ctx.mode) or not unit:
        raise ctx.real_only(node)
    main = FloatTaps(0, *_taps(matrix, unit))

    def emit(request: Request) -> str:
        w = Writer(ctx, node)
        ends = activation_bounds(request.quant, request.dtype, *real_bounds(request))
        scale = x.quant.scale / unit
        requant = make_requant(ctx.mode, scale, [1.0], request.quant, request.dtype, *ends)
        total = w.apply(main, table(w, steps_of(w, x)))
        note = f"{story(request.trail)} -> weighted sums, requant {ctx.mode}"
        last = Rescale(requant, request.dtype, request.quant)
        return ctx.run(image(w, total), Route(last), request.name, request.trail, note)

    return [Pending(shape, emit, (node,))]


def _unit(matrix: Array, dtype: DType, quant: Quant) -> int:
    """What a weight of 1 is: of 16-bit numbers as much as sums of 32 bits hold; 0 where that is too little."""
    reach, most = dtype.reach(quant.zero_point), float(np.abs(matrix).sum(axis=1).max())
    if dtype in EIGHT_BIT:
        return 1 << _BITS if most * 2**_BITS * reach <= DType.S32.high else 0
    taps = int((matrix != 0).sum(axis=1).max())
    unit = int((DType.S32.high // reach - taps) / most)
    return unit if unit >= 1 << (_BITS - 1) else 0


def _is_largest(op: GridSample | RoiAlign) -> bool:
    """Whether numbers are compared, which no matrix says."""
    return isinstance(op, RoiAlign) and op.largest


def _taps(matrix: Array, unit: int) -> tuple[tuple[tuple[int, ...], ...], tuple[tuple[float, ...], ...]]:
    """Places and whole weights of each row, as many as the row with the most has; those of a row keep their sum."""
    count = max(int((matrix != 0).sum(axis=1).max()), 1)
    order = np.sort(np.argsort(matrix == 0, axis=1, kind="stable")[:, :count], axis=1)
    exact_weights = np.take_along_axis(matrix, order, axis=1).astype(np.float64) * unit
    weights = np.rint(exact_weights)
    largest = np.abs(weights).argmax(axis=1)
    weights[np.arange(len(weights)), largest] += np.rint(exact_weights.sum(axis=1)) - weights.sum(axis=1)
    return tuple(tuple(row) for row in order.tolist()), tuple(tuple(row) for row in weights.astype(int).tolist())


RULES: Family = (
    Rule(GridSample, sampled, ("GridSample",)),
    Rule(RoiAlign, sampled, ("RoiAlign",)),
)
