"""Biases that take up the mean error of their channel.

Decides: every product gets a bias of its own that may be changed, of zeros where it had none.  How large the error is
comes from samples, layer by layer, or from the mean of what a layer is given.
Source: M. Nagel and others, Data-Free Quantization Through Weight Equalization and Bias Correction (arXiv 1906.04721).
"""

from __future__ import annotations

import math

import numpy as np

from codegen.ir.quant import Array
from codegen.ir.real import RealGraph
from codegen.quantizer.cached import CACHED
from codegen.quantizer.moments import Moments
from codegen.quantizer.rewrite.draft import Draft
from codegen.quantizer.rewrite.product import product_of, takes_bias, write_product
from codegen.threads import each

_STEPS = 5
_ENOUGH = 1 << 20
"""Numbers of a layer's results by which its errors are known."""


def with_biases(graph: RealGraph) -> tuple[RealGraph, dict[str, str]]:
    """The network with a bias for each product that has a place for one, and their names by the products' labels."""
    draft, names = Draft(graph), {}
    for node in draft.nodes:
        product = product_of(draft, draft.node(node.label)) if draft.has(node) else None
        if product is None or not takes_bias(draft, product):
            continue
        write_product(draft, product, biased=True)
        holder = draft.node((product.adder or product.node).label)
        names[node.label] = holder.inputs[1] if product.adder else holder.inputs[2]
    return draft.done(), names


def passing_error(wanted: Array, made: Array, axis: int, low: float, high: float) -> Array:
    """What each entry along `axis` lacks so that numbers between the bounds are right on average.

    Numbers beyond a bound count as the bound; those that are made so do not change, and take no part.
    """
    real, held = (_by_channel(a, axis) for a in (wanted, made))
    together = max(1, CACHED // (real.shape[0] * real.shape[2]))
    parts = [slice(at, at + together) for at in range(0, real.shape[1], together)]
    return np.concatenate(each(lambda p: _passing_error(real[:, p], held[:, p].copy(), low, high), parts))


def _passing_error(real: Array, held: Array, low: float, high: float) -> Array:
    """Of some entries: [outer, entries, inner]."""
    real, lack = np.clip(real, low, high), np.zeros((1, real.shape[1], 1), np.float32)
    best, least = lack, np.inf * np.ones(lack.shape)
    for left in reversed(range(_STEPS)):
        moved = held + lack
        error = real - np.clip(moved, low, high)
        squares = np.square(error).sum(axis=(0, 2), keepdims=True)
        best, least = np.where(squares < least, lack, best), np.minimum(squares, least)
        if left:
            lack = lack + _still_lacking(moved, error, low, high)
    return np.asarray(best.reshape(-1), np.float64)


def _still_lacking(moved: Array, error: Array, low: float, high: float) -> Array:
    """The mean error of the numbers of each entry that lie between the bounds."""
    there = (moved > low) & (moved < high)
    count = there.sum(axis=(0, 2), keepdims=True)
    return np.asarray((error * there).sum(axis=(0, 2), keepdims=True) / np.maximum(count, 1))


def _by_channel(array: Array, axis: int) -> Array:
    """Some of the numbers, evenly spread: [outer, channels, inner]."""
    axis %= array.ndim
    parted = array.reshape(math.prod(array.shape[:axis]), array.shape[axis], -1)
    return parted[:, :, :: 1 + array.size // _ENOUGH]


def _rows(parted: Array) -> Array:
    """Numbers of each entry, one after the other."""
    return np.ascontiguousarray(np.moveaxis(parted, 1, 0)).reshape(parted.shape[1], -1)


def mean_error(wanted: Array, made: Array, axis: int) -> Array:
    """What each entry along `axis` lacks on average."""
    others = tuple(i for i in range(wanted.ndim) if i != axis % wanted.ndim)
    return np.asarray(wanted.mean(axis=others, dtype=np.float64) - made.mean(axis=others, dtype=np.float64))


def expected_error(moments: Moments, weights: Array, held: Array) -> Array:
    """What each output lacks on average, given the mean of what its layer reads: its weights' errors times that."""
    error = moments.rows(weights.astype(np.float64) - held) * moments.mean[:, None, :]
    by_part = error.sum(axis=-1).reshape(moments.product.groups, moments.parts, -1)
    return np.asarray(by_part.sum(axis=1).reshape(-1))
