"""Layers that multiply by constants, as one matrix product for each of their groups.

Decides: weights become [groups, outputs, terms] and inputs [groups, samples, terms], whatever the layer's own axes are,
so that rounding and correction are written once.  A depthwise layer has as many groups as channels; padding is a term
of zero.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import cached_property
from itertools import product as pairs
from typing import Any

import numpy as np

from codegen.ir.quant import Array
from codegen.ir.real import RealGraph, RealNode
from codegen.ir.shape import Shape, Window
from codegen.real.product import Gemm, MatMul
from codegen.real.window import Conv, ConvTranspose
from codegen.records import record


@record(slots=False)
class Product:
    """One such layer: its node, which of its inputs holds the weights, and the weights' shape."""

    node: RealNode
    place: int
    shape: Shape

    @property
    def reads(self) -> str:
        """The value that is multiplied."""
        return self.node.inputs[1 - self.place]

    @property
    def bias(self) -> str | None:
        """The value that is added, if there is one."""
        return self.node.inputs[2] if len(self.node.inputs) > 2 else None

    @property
    def groups(self) -> int:
        """Groups of outputs that read terms of their own."""
        op = self.node.op
        if isinstance(op, Conv | ConvTranspose):
            return op.groups
        return math.prod(self.shape[:-2])

    @property
    def axis(self) -> int:
        """The axis of the weights that runs over outputs; of a transposed convolution, over those of a group."""
        op = self.node.op
        if isinstance(op, Conv):
            return 0
        if isinstance(op, ConvTranspose):
            return 1
        turned = isinstance(op, Gemm) and (op.turn_b if self.place else op.turn_a)
        return len(self.shape) - 1 - int(turned == bool(self.place)) if len(self.shape) > 1 else 0

    @property
    def out_axis(self) -> int:
        """The axis of the layer's result that runs over outputs."""
        op = self.node.op
        if isinstance(op, Conv | ConvTranspose):
            return op.channel_axis
        return -1 if self.place else -2

    def matrix(self, weights: Array) -> Array:
        """The weights, or what is known of each of them, as [groups, outputs, terms]."""
        op = self.node.op
        if isinstance(op, ConvTranspose):
            split = weights.reshape(self.groups, -1, *weights.shape[1:])
            return np.moveaxis(split, 2, 1).reshape(self.groups, weights.shape[1], -1)
        if isinstance(op, Conv):
            return weights.reshape(self.groups, weights.shape[0] // self.groups, -1)
        rows = np.moveaxis(weights, self.axis, -2) if weights.ndim > 1 else weights[None]
        return rows.reshape(-1, *rows.shape[-2:])

    def weights(self, matrix: Array) -> Array:
        """The inverse of `matrix`."""
        return matrix.reshape(-1)[self._order].reshape(self.shape)

    @cached_property
    def _order(self) -> Array:
        at = self.matrix(np.arange(math.prod(self.shape)).reshape(self.shape)).reshape(-1)
        order = np.empty_like(at)
        order[at] = np.arange(len(at))
        return order

    def places(self, shape: Shape, count: int, random: np.random.Generator) -> Array:
        """At most `count` results of a run that reads this shape, chosen at random, in order."""
        op = self.node.op
        if isinstance(op, Conv | ConvTranspose):
            spatial = [n for axis, n in enumerate(shape) if axis not in (0, op.channel_axis % len(shape))]
            return chosen(math.prod(_result_spatial(op, spatial)), count, random)
        return chosen(self._rows(np.broadcast_to(np.False_, shape)).shape[1], count, random)

    def samples(self, x: Array, places: Array) -> Array:
        """Terms of some results of a run: [groups, samples, terms]."""
        op = self.node.op
        if isinstance(op, Conv | ConvTranspose):
            return self._windows(op, np.moveaxis(x, op.channel_axis, 1), places)
        return self._rows(x)[:, places]

    def _rows(self, x: Array) -> Array:
        """What each result of a matrix reads: [groups, results, terms]."""
        op = self.node.op
        turned = isinstance(op, Gemm) and (op.turn_a if self.place else op.turn_b)
        rows = x if turned != bool(self.place) or x.ndim < 2 else np.swapaxes(x, -1, -2)
        if self.groups > 1:
            rows = np.broadcast_to(rows, (*self.shape[:-2], *rows.shape[-2:])).reshape(self.groups, *rows.shape[-2:])
        else:
            rows = rows.reshape(1, -1, rows.shape[-1])
        return rows

    def results(self, made: Array, places: Array) -> Array:
        """What a run gave there: [groups, samples, outputs]."""
        op = self.node.op
        if isinstance(op, Conv | ConvTranspose):
            maps: Array = np.moveaxis(made, op.channel_axis, 1)
            maps = maps.reshape(len(made), self.groups, -1, math.prod(maps.shape[2:]))
            picked = maps[..., places]
            return np.moveaxis(picked, (1, 0, 3), (0, 1, 2)).reshape(self.groups, -1, maps.shape[2])
        rows = made if self.place else np.swapaxes(made, -1, -2)
        rows = rows.reshape(self.groups, -1, rows.shape[-1])
        return rows[:, places]

    def _windows(self, op: Conv | ConvTranspose, x: Array, places: Array) -> Array:
        spatial = x.shape[2:]
        results = _result_spatial(op, spatial)
        taps = [
            _taps(w, p, n, isinstance(op, ConvTranspose))
            for w, p, n in zip(op.windows, np.unravel_index(places, results), spatial, strict=True)
        ]
        terms = [_term(x, [(at[:, t], ok[:, t]) for t, (at, ok) in zip(tap, taps, strict=True)]) for tap in _kernel(op)]
        stacked = np.stack(terms, axis=-1)  # [batch, channels, samples, taps]
        grouped = stacked.reshape(len(x), op.groups, -1, *stacked.shape[2:])
        return np.moveaxis(grouped, (1, 0, 3), (0, 1, 2)).reshape(op.groups, len(x) * len(places), -1)


def products(graph: RealGraph) -> tuple[Product, ...]:
    """The layers of a graph that multiply by constants of real numbers."""
    found = (_product(graph, node) for node in graph.nodes)
    return tuple(p for p in found if p is not None)


def chosen(available: int, count: int, random: np.random.Generator) -> Array:
    """At most `count` of the places there are, in order."""
    if available <= count:
        return np.arange(available)
    return np.sort(random.choice(available, count, replace=False))


def _product(graph: RealGraph, node: RealNode) -> Product | None:
    if not isinstance(node.op, Conv | ConvTranspose | Gemm | MatMul):
        return None
    constant = [graph.values[name].data is not None for name in node.inputs[:2]]
    places = (1,) if isinstance(node.op, Conv | ConvTranspose) else (1, 0)
    for place in places:
        if constant[place] and not constant[1 - place] and graph.type(node.inputs[place]).is_real:
            return Product(node, place, graph.type(node.inputs[place]).shape)
    return None


def _result_spatial(op: Conv | ConvTranspose, spatial: Sequence[int]) -> Shape:
    if isinstance(op, ConvTranspose):
        return op.out_spatial
    return tuple(w.out_len(n) for w, n in zip(op.windows, spatial, strict=True))


def _kernel(op: Conv | ConvTranspose) -> list[tuple[int, ...]]:
    return list(pairs(*(range(w.size) for w in op.windows)))


def _taps(window: Window, results: Array, length: int, transposed: bool) -> tuple[Array, Array]:
    """The places [results, taps] that each result reads along one axis, and whether there is anything."""
    tap = np.arange(window.size) * window.dilation
    if not transposed:
        at = results[:, None] * window.stride + tap - window.pad_before
        there = (at >= 0) & (at < length)
    else:
        reached = results[:, None] + window.pad_before - tap
        at = reached // window.stride
        there = (reached % window.stride == 0) & (at >= 0) & (at < length)
    return np.where(there, at, 0), there


def _term(x: Array, axes: Sequence[tuple[Array, Array]]) -> Array:
    """One tap of each window: [batch, channels, samples]."""
    there = np.logical_and.reduce([ok for _, ok in axes])
    places: tuple[Any, ...] = (slice(None), slice(None), *(at for at, _ in axes))
    return np.asarray(x[places] * there.astype(x.dtype))
