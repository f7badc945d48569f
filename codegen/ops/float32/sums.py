"""Sums of products in float32: in a stated order, or in whichever order is fastest.

Decides: how numpy keeps an order of sums: vectorised over outputs, with a loop over the terms.  A product is rounded
before it is added; where sums are `fused` each step is one fused multiply-add, which rounds once; where they are
`flushed`, what is smaller than the least normal number is zero, wherever it is read or made, before it is rounded.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from itertools import product

import numpy as np

from codegen.float32 import fma
from codegen.ir.quant import Array, Sums
from codegen.ir.shape import Window

_LEAST = np.float64(2.0**-126)
Cut = tuple[slice, ...]


def reaches(windows: Sequence[Window], short: Sequence[int], long: Sequence[int]) -> Iterator[tuple[Cut, Cut, Cut]]:
    """For each tap in row order: its place in the kernel, the positions it serves, and what they read there.

    Position p of `short` reads p * stride + tap * dilation - pad_before of `long`; what would lie outside is left out.
    """
    for taps in product(*(range(w.size) for w in windows)):
        cuts = [_reach(w, t, n, m) for w, t, n, m in zip(windows, taps, short, long, strict=True)]
        if all(c[0].stop > c[0].start for c in cuts):
            yield tuple(slice(t, t + 1) for t in taps), tuple(c[0] for c in cuts), tuple(c[1] for c in cuts)


def _reach(window: Window, tap: int, short: int, long: int) -> tuple[slice, slice]:
    offset, stride = tap * window.dilation - window.pad_before, window.stride
    start = max(-(offset // stride), 0)
    stop = max(min((long - 1 - offset) // stride + 1, short), start)
    first = start * stride + offset
    return slice(start, stop), slice(first, first + (stop - start - 1) * stride + 1, stride)


def add_products(acc: Array, x: Array, w: Array, *, ordered: bool, sums: Sums = "separate") -> None:
    """acc[..., g, o] += sum over i of x[..., g, i] * w[g, i, o], in place, i ascending where `ordered`."""
    if not ordered and w.shape[1] > 1:
        for g in range(w.shape[0]):
            acc[..., g, :] += x[..., g, :] @ w[g]
        return
    for i in range(w.shape[1]):
        add_product(acc, x[..., i, None], w[:, i, :], sums=sums)


def add_product(acc: Array, a: Array, b: Array, *, sums: Sums) -> None:
    """One step of a sum, in place."""
    if sums == "fused":
        acc[...] = fma(a, b, acc)
    elif sums == "flushed":
        term = _flushed(_flushed(a) * _flushed(b)).astype(np.float32)
        acc[...] = _flushed(_flushed(acc).astype(np.float32) + term)
    else:
        acc += a * b


def begun(bias: Array, sums: Sums) -> Array:
    """What sums begin with."""
    return _flushed(bias).astype(np.float32) if sums == "flushed" else bias


def _flushed(x: Array) -> Array:
    """f64, with a zero of the same sign for what is less than the least normal float32."""
    wide = x.astype(np.float64)
    return np.where(np.abs(wide) < _LEAST, np.copysign(0.0, wide), wide)


def ordered_product(a: Array, b: Array, *, sums: Sums = "separate") -> Array:
    """A @ b with each sum taken from first to last, from zero."""
    shape = np.broadcast_shapes(a.shape[:-2], b.shape[:-2])
    acc = np.zeros((*shape, a.shape[-2], b.shape[-1]), np.result_type(a, b))
    for i in range(a.shape[-1]):
        add_product(acc, a[..., :, i, None], b[..., None, i, :], sums=sums)
    return acc


def ordered_sum(x: Array, axes: Sequence[int]) -> Array:
    """The sum over some axes, which stay with size 1, from first to last in row order."""
    moved = np.moveaxis(x, axes, range(len(axes)))
    count = math.prod(x.shape[a] for a in axes)
    terms = moved.reshape(count, *moved.shape[len(axes) :])
    acc = np.zeros(terms.shape[1:], x.dtype)
    for term in terms:
        acc += term
    return np.expand_dims(acc, tuple(axes))
