"""Sums of products in float32: in a stated order, or in whichever order is fastest.

Decides: how numpy keeps an order of sums: vectorised over outputs, with a loop over the terms.  A product is rounded
before it is added, or where sums are `fused` each step is one fused multiply-add, which rounds once.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from itertools import product

import numpy as np

from codegen.float32 import fma
from codegen.ir.quant import Array
from codegen.ir.shape import Window

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


def add_products(acc: Array, x: Array, w: Array, *, ordered: bool, fused: bool = False) -> None:
    """acc[..., g, o] += sum over i of x[..., g, i] * w[g, i, o], in place, i ascending where `ordered`."""
    if not ordered and w.shape[1] > 1:
        for g in range(w.shape[0]):
            acc[..., g, :] += x[..., g, :] @ w[g]
        return
    for i in range(w.shape[1]):
        add_product(acc, x[..., i, None], w[:, i, :], fused=fused)


def add_product(acc: Array, a: Array, b: Array, *, fused: bool) -> None:
    """One step of a sum, in place."""
    if fused:
        acc[...] = fma(a, b, acc)
    else:
        acc += a * b


def ordered_product(a: Array, b: Array, *, fused: bool = False) -> Array:
    """A @ b with each sum taken from first to last, from zero."""
    shape = np.broadcast_shapes(a.shape[:-2], b.shape[:-2])
    acc = np.zeros((*shape, a.shape[-2], b.shape[-1]), np.result_type(a, b))
    for i in range(a.shape[-1]):
        add_product(acc, a[..., :, i, None], b[..., None, i, :], fused=fused)
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
