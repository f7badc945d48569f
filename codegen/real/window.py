"""Convolutions and pools over any number of spatial axes.

A map is [N, C, spatial...] with `channel_axis` 1, or [N, spatial..., C] with -1; weights are
[O, C / groups, spatial...], of a transposed convolution [C, O / groups, spatial...].  Sums start with the bias and run
over kernel row, kernel column and input channel; taps in the padding are left out.  Source: onnx/docs/Operators.md.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from typing import Protocol

import numpy as np

from codegen.errors import ShapeMismatch
from codegen.ir.quant import Array
from codegen.ir.real import RealType
from codegen.ir.shape import Shape, Window
from codegen.ops.float32.sums import Cut, add_products, reaches
from codegen.real.images import of_first
from codegen.records import record

Windows = tuple[Window, ...]


def _spatial(shape: Shape, channel_axis: int) -> Shape:
    return shape[2:] if channel_axis == 1 else shape[1:-1]


def _map(n: int, spatial: Sequence[int], channels: int, channel_axis: int) -> Shape:
    return (n, channels, *spatial) if channel_axis == 1 else (n, *spatial, channels)


def _out_spatial(windows: Windows, spatial: Shape) -> Shape:
    if len(windows) != len(spatial):
        raise ShapeMismatch(f"a window of {len(windows)} axes over a map of {len(spatial)}")
    sizes = tuple(w.out_len(n) for w, n in zip(windows, spatial, strict=True))
    if min(sizes, default=1) < 1:
        raise ShapeMismatch(f"the window does not fit into a map of {list(spatial)}")
    return sizes


def _kernel(windows: Windows) -> Shape:
    return tuple(w.size for w in windows)


def _begun(x: Array, spatial: Sequence[int], outputs: int, bias: Sequence[Array]) -> Array:
    """Sums [N, *spatial, groups, outputs of a group] of x[N, ..., groups, channels]: the bias, or nothing yet."""
    groups = x.shape[-2]
    acc = np.zeros((len(x), *spatial, groups, outputs // groups), x.dtype)
    if bias:
        acc += bias[0].reshape(groups, -1)
    return acc


def _add_taps(acc: Array, x: Array, w: Array, steps: Iterable[tuple[Cut, Cut, Cut]], *, ordered: bool) -> None:
    """The products of every tap: by step its place in the window, the sums that it serves, and what it reads."""
    for tap, served, read in steps:
        kernel = w[(slice(None), *tap)].reshape(x.shape[-2], x.shape[-1], -1)
        add_products(acc[(slice(None), *served)], x[(slice(None), *read)], kernel, ordered=ordered)


def _ungrouped(acc: Array, channel_axis: int) -> Array:
    """The map of those sums."""
    return np.moveaxis(acc.reshape(*acc.shape[:-2], acc.shape[-2] * acc.shape[-1]), -1, channel_axis)


class _Convolution(Protocol):
    def sums(self, ins: Sequence[Array], *, ordered: bool) -> tuple[Array, ...]: ...


def _in_order(op: _Convolution, ins: Sequence[Array]) -> tuple[Array, ...]:
    """Sums in the module's order."""
    return op.sums(ins, ordered=True)


def _in_any_order(op: _Convolution, ins: Sequence[Array]) -> tuple[Array, ...]:
    """Sums over channels in any order."""
    return op.sums(ins, ordered=False)


@record
class Conv:
    """Convolution: x, w, and a bias where there is one."""

    windows: Windows
    groups: int = 1
    channel_axis: int = 1

    def infer(self, ins: Sequence[RealType]) -> tuple[RealType, ...]:
        """A map of as many channels as the weights have outputs."""
        x, w = ins[0].shape, ins[1].shape
        channels = x[self.channel_axis]
        fits = len(w) > 0 and w[1:] == (channels // self.groups, *_kernel(self.windows))
        if not fits or channels % self.groups or w[0] % self.groups:
            raise ShapeMismatch(f"weights {list(w)} for a map {list(x)} in {self.groups} groups")
        if len(ins) > 2 and ins[2].shape != (w[0],):
            raise ShapeMismatch(f"a bias of shape {list(ins[2].shape)} for {w[0]} outputs")
        spatial = _out_spatial(self.windows, _spatial(x, self.channel_axis))
        return (ins[0].shaped(_map(x[0], spatial, w[0], self.channel_axis)),)

    def macs(self, ins: Sequence[RealType]) -> int:
        """One per output, tap and channel of the group."""
        return math.prod(self.infer(ins)[0].shape) * math.prod(ins[1].shape[1:])

    evaluate = _in_order
    quickly = _in_any_order

    def sums(self, ins: Sequence[Array], *, ordered: bool) -> tuple[Array, ...]:
        """The result, sums over channels in the module's order or in any."""
        x, w = np.moveaxis(ins[0], self.channel_axis, -1), ins[1]
        g, outputs = self.groups, len(w)
        x = x.reshape(*x.shape[:-1], g, x.shape[-1] // g)
        w = np.moveaxis(w.reshape(g, outputs // g, *w.shape[1:]), (1, 2), (-1, -2))
        spatial = x.shape[1:-2]
        out = _out_spatial(self.windows, spatial)
        acc = _begun(x, out, outputs, ins[2:])
        _add_taps(acc, x, w, reaches(self.windows, out, spatial), ordered=ordered)
        return (_ungrouped(acc, self.channel_axis),)

    one_image = of_first


@record
class ConvTranspose:
    """Transposed convolution: input position p adds to p * stride + tap * dilation - pad_before of the output."""

    windows: Windows
    out_spatial: Shape
    groups: int = 1
    channel_axis: int = 1

    def infer(self, ins: Sequence[RealType]) -> tuple[RealType, ...]:
        """A map of the stated sizes."""
        x, w = ins[0].shape, ins[1].shape
        channels = x[self.channel_axis]
        fits = len(w) > 1 and w[:1] + w[2:] == (channels, *_kernel(self.windows))
        if len(x) != len(self.windows) + 2 or channels % self.groups or not fits:
            raise ShapeMismatch(f"weights {list(w)} for a map {list(x)} in {self.groups} groups")
        if len(ins) > 2 and ins[2].shape != (w[1] * self.groups,):
            raise ShapeMismatch(f"a bias of shape {list(ins[2].shape)} for {w[1] * self.groups} outputs")
        if min(self.out_spatial) < 1:
            raise ShapeMismatch(f"an output of {list(self.out_spatial)}")
        return (ins[0].shaped(_map(x[0], self.out_spatial, w[1] * self.groups, self.channel_axis)),)

    def macs(self, ins: Sequence[RealType]) -> int:
        """One per input, tap and output channel of the group; taps that the pads cut off are counted too."""
        return math.prod(ins[0].shape) * math.prod(ins[1].shape[1:])

    evaluate = _in_order
    quickly = _in_any_order

    def sums(self, ins: Sequence[Array], *, ordered: bool) -> tuple[Array, ...]:
        """The result, sums over channels in the module's order or in any."""
        x, w, g = np.moveaxis(ins[0], self.channel_axis, -1), ins[1], self.groups
        outputs = w.shape[1] * g
        x = x.reshape(*x.shape[:-1], g, x.shape[-1] // g)
        w = np.moveaxis(w.reshape(g, -1, *w.shape[1:]), (1, 2), (-2, -1))
        spatial = x.shape[1:-2]
        acc = _begun(x, self.out_spatial, outputs, ins[2:])
        steps = ((tap, served, read) for tap, read, served in reaches(self.windows, spatial, self.out_spatial))
        _add_taps(acc, x, w, steps, ordered=ordered)
        return (_ungrouped(acc, self.channel_axis),)

    one_image = of_first


@record
class MaxPool:
    """Maximum over a window; what lies in the padding never wins."""

    windows: Windows
    channel_axis: int = 1

    def infer(self, ins: Sequence[RealType]) -> tuple[RealType, ...]:
        """A smaller map."""
        return (_pooled(ins[0], self.windows, self.channel_axis),)

    def evaluate(self, ins: Sequence[Array]) -> tuple[Array, ...]:
        """The maximum, of integers as well."""
        x, out, steps = _seen(ins[0], self.windows, self.channel_axis)
        least = -np.inf if x.dtype.kind == "f" else np.iinfo(x.dtype).min
        y = np.full((len(x), *out, x.shape[-1]), least, x.dtype)
        for _, served, read in steps:
            part = y[(slice(None), *served)]
            np.maximum(part, x[(slice(None), *read)], out=part)
        return (np.moveaxis(y, -1, self.channel_axis),)

    one_image = of_first


@record
class AveragePool:
    """Mean over a window: the sum in row order, divided by the elements inside the map and its counted padding.

    `counted` is the padding before and after each axis that counts as zeros.
    """

    windows: Windows
    counted: tuple[tuple[int, int], ...] = ()
    channel_axis: int = 1

    def infer(self, ins: Sequence[RealType]) -> tuple[RealType, ...]:
        """A smaller map."""
        return (_pooled(ins[0], self.windows, self.channel_axis),)

    def evaluate(self, ins: Sequence[Array]) -> tuple[Array, ...]:
        """Sum, then one division."""
        x, out, steps = _seen(ins[0], self.windows, self.channel_axis)
        acc = np.zeros((len(x), *out, x.shape[-1]), x.dtype)
        for _, served, read in steps:
            acc[(slice(None), *served)] += x[(slice(None), *read)]
        counts = self.counts(x.shape[1:-1], out).astype(x.dtype)
        return (np.moveaxis(acc / counts[..., None], -1, self.channel_axis),)

    def counts(self, spatial: Shape, out: Shape) -> Array:
        """The elements that each result is divided by, of the shape `out`, over a map of `spatial`."""
        counted = self.counted or ((0, 0),) * len(spatial)
        total: Array = np.ones((1,) * len(spatial), np.int64)
        for axis, (w, n, (before, after)) in enumerate(zip(self.windows, spatial, counted, strict=True)):
            first = np.arange(out[axis])[:, None] * w.stride - w.pad_before
            at = first + np.arange(w.size) * w.dilation
            inside = ((at >= -before) & (at < n + after)).sum(axis=1)
            total = total * inside.reshape([-1 if i == axis else 1 for i in range(len(spatial))])
        return total

    one_image = of_first


def _seen(x: Array, windows: Windows, channel_axis: int) -> tuple[Array, Shape, Iterable[tuple[Cut, Cut, Cut]]]:
    """A map with its channels last, the size of what windows make of it, and which of its pixels each tap meets."""
    x = np.moveaxis(x, channel_axis, -1)
    out = _out_spatial(windows, x.shape[1:-1])
    return x, out, reaches(windows, out, x.shape[1:-1])


def _pooled(x: RealType, windows: Windows, channel_axis: int) -> RealType:
    if len(x.shape) < 3:
        raise ShapeMismatch(f"a tensor of shape {list(x.shape)} has no spatial axes")
    spatial = _out_spatial(windows, _spatial(x.shape, channel_axis))
    return x.shaped(_map(x.shape[0], spatial, x.shape[channel_axis], channel_axis))
