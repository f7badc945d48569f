"""Weights of convolutions and matrix products: the model's own integers, or integers made of its real numbers.

Decides: that weights which nothing has quantized, or whose scale varies within an output, get one scale per output: of
8 bits where each number stays what it was, as those that another tool has dequantized, else of 16 bits.  Weights with a
scale per block of inputs keep their integers: times a factor of their block they have one scale per output.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from codegen.errors import FormUnsupported, ParameterDynamic, ShapeMismatch, TypeUnsupported
from codegen.ir.quant import Array, DType, is_pot
from codegen.ir.real import RealNode
from codegen.settle.context import Context, array_of, refuse_unquantized
from codegen.settle.grid import common_divisor
from codegen.settle.states import Const, IntConst, Real, State

ByOutput = Callable[[Array], Array]
"""Brings an array of the weights' shape to one with a row per output."""

_MOST = 127
_SAME = 1e-6
_SUM = 2.0**21
"""At most, of an output's weights: times 8-bit numbers and their zero points a sum then stays below 2^30."""
_GROUPS_SUM = 2.0**22 * 0.99
_UNKNOWN = 2.0**-24
"""The scale of weights that are all zero; the bias may raise it."""


def read_weights(ctx: Context, node: RealNode, index: int, by_output: ByOutput = lambda w: w) -> IntConst:
    """Weights that are known now, with one scale per output."""
    return known_weights(ctx, node, index, ctx.state(node, index), by_output)


def known_weights(
    ctx: Context, node: RealNode, index: int, state: State, by_output: ByOutput = lambda w: w, most: float = _SUM
) -> IntConst:
    """A part of an input, as `read_weights`; the sum of an output's weights that become integers here is `most`."""
    if isinstance(state, Real):
        raise ParameterDynamic(f"weights '{node.inputs[index]}' are computed by the network", where=node.where)
    real = array_of(state)
    if real is None:
        raise refuse_unquantized(node, index, state)
    if not real.size:
        raise ShapeMismatch(f"weights of shape {list(real.shape)}", where=node.where)
    if isinstance(state, IntConst) and _is_even(by_output(state.scale)):
        return state
    if isinstance(state, IntConst) and (grouped := _in_groups(state, by_output, is_pot(ctx.mode))) is not None:
        ctx.note(f"{node.where}: each {grouped.block} of its weights share a factor of 16 bits or less")
        return grouped
    if real.dtype.kind != "f":
        hint = "a DequantizeLinear says what they mean"
        raise FormUnsupported(f"weights '{node.inputs[index]}' are bare integers", where=node.where, hint=hint)
    if not np.isfinite(real).all():
        raise TypeUnsupported("weights that are not finite numbers", where=node.where)
    made = _as_integers(real.astype(np.float64), by_output, most, is_pot(ctx.mode))
    why = "nothing has quantized them" if isinstance(state, Const) else "their scale varies within an output"
    ctx.note(f"{node.where}: its weights take {8 * made.ints.itemsize} bits each, for {why}")
    return made


def _is_even(scales: Array) -> bool:
    rows = scales.reshape(len(scales), -1)
    return not (rows != rows[:, :1]).any()


def _in_groups(state: IntConst, by_output: ByOutput, pot: bool) -> IntConst | None:
    """Weights with a scale per block of inputs, as integers times a factor of their block, int16.

    The factor of a block is its scale over the least step of its output, rounded.  The step is such that the largest
    factor keeps weights, of which that rounds off half at most, within 16 bits and 128 times their sum below 2^29.
    With `pot` steps are powers of two, where scales are.  None where blocks lie along another axis.
    """
    if not state.block or state.ints.ndim != 2:
        return None
    ints, scales = by_output(state.ints.astype(np.int64) - state.zero), by_output(state.scale).astype(np.float64)
    starts = scales[:, :: state.block].repeat(state.block, axis=1)[:, : scales.shape[1]]
    largest = scales.max(axis=1, keepdims=True)
    if (starts != scales).any() or not (largest > 0).all():
        return None
    sizes, widest = np.abs(ints) * (scales / largest), 1 << ((state.bits or 8) - 1)
    room = DType.S16.high - np.abs(ints).max(axis=1) / 2
    most = np.minimum(room / np.maximum(sizes.max(axis=1), widest), _GROUPS_SUM / np.maximum(sizes.sum(axis=1), 1))
    shares = np.maximum(np.floor(most), 1)
    steps = (largest / (2.0 ** np.floor(np.log2(shares)) if pot else shares)[:, None]).astype(np.float32)
    products = np.rint(scales / steps).astype(np.int64) * ints
    if not (most >= 1).all() or np.abs(products).max() > DType.S16.high:
        return None
    whole = by_output(products.astype(np.int16)), by_output(np.broadcast_to(steps, scales.shape))
    return IntConst(*whole, np.broadcast_to(np.int64(0), state.ints.shape), state.bits or 8, state.block)


def _as_integers(real: Array, by_output: ByOutput, most: float, pot: bool) -> IntConst:
    """Integers and scales of the weights' own shape; with `pot` scales are powers of two."""
    at = by_output(np.arange(real.size).reshape(real.shape))
    at = at.reshape(len(at), -1)
    rows = real.reshape(-1)[at]
    scales = np.array([_scale_of(row, most) for row in rows])
    known = scales[scales > 0]
    scales = np.where(scales > 0, scales, known.min() if known.size else _UNKNOWN)
    scales = 2.0 ** np.ceil(np.log2(scales)) if pot else scales
    ints = np.rint(rows / scales.astype(np.float32).astype(np.float64)[:, None])
    flat, wide = np.empty(real.size, np.int16), np.empty(real.size, np.float32)
    flat[at], wide[at] = ints, scales[:, None]
    small = DType.S8.low <= ints.min() and ints.max() <= DType.S8.high
    shaped = flat.astype(np.int8 if small else np.int16).reshape(real.shape)
    return IntConst(shaped, wide.reshape(real.shape), np.broadcast_to(np.int64(0), real.shape))


def _scale_of(row: Array, most: float) -> float:
    """What one step of an output's weights is worth, whose sum may be `most`; 0.0 where all are zero."""
    sizes = np.abs(row)
    largest = float(sizes.max())
    if largest == 0:
        return 0.0
    step = common_divisor(row)
    if step > 0 and largest <= _MOST * step and (np.abs(row - step * np.rint(row / step)) <= _SAME * largest).all():
        return step
    return max(largest / DType.S16.high, float(sizes.sum()) / most, float(np.finfo(np.float32).tiny))
