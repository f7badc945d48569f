"""Sliding windows over numpy feature maps: padding, taps and window views, shared by convolution and pooling."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view

from codegen.ir.quant import Array, DType, TensorType
from codegen.ir.shape import Shape, Window
from codegen.ops.limits import require


def pad_map(x: Array, h: Window, w: Window, value: int) -> Array:
    """X[N, H, W, C] with the windows' padding around it, holding `value`."""
    pads = ((0, 0), (h.pad_before, h.pad_after), (w.pad_before, w.pad_after), (0, 0))
    return np.pad(x, pads, constant_values=value) if any(map(any, pads)) else x


def taps(x: Array, window: Window, axis: int) -> Iterator[Array]:
    """For each tap of the window along `axis` of a padded array, the values it meets at all output positions."""
    n_out = (x.shape[axis] - window.extent) // window.stride + 1
    for tap in range(window.size):
        first = tap * window.dilation
        picked = slice(first, first + (n_out - 1) * window.stride + 1, window.stride)
        yield x[(slice(None),) * axis + (picked,)]


def patches(x: Array, h: Window, w: Window) -> Array:
    """A view [N, H', W', KH, KW, C] of a padded map: all that each output position sees."""
    views = sliding_window_view(x, (h.extent, w.extent), axis=(1, 2))
    picked = views[:, :: h.stride, :: w.stride, :, :: h.dilation, :: w.dilation]
    return picked.transpose(0, 1, 2, 4, 5, 3)


def windows_said(h: Window, w: Window) -> str:
    """Size, stride, dilation and padding in words, as comments of generated C say them."""
    pads = (h.pad_before, w.pad_before, h.pad_after, w.pad_after)
    said = [f"{h.size}x{w.size}", f"stride {_both(h.stride, w.stride)}"]
    if (h.dilation, w.dilation) != (1, 1):
        said.append(f"dilation {_both(h.dilation, w.dilation)}")
    if any(pads):
        top, left, bottom, right = pads
        same = len(set(pads)) == 1
        said.append(f"padding {top}" if same else f"padding {top} above, {bottom} below, {left} left, {right} right")
    return ", ".join(said)


def says_windows(what: str) -> property:
    """The answer `said` of an operator that makes `what` of its windows `h` and `w`."""
    return property(
        lambda op: f"{what} of windows {windows_said(op.h, op.w)}", doc="Its first sentence, with its windows."
    )


def _both(h: int, w: int) -> str:
    return str(h) if h == w else f"{h}x{w}"


def valid_taps(window: Window, length: int) -> Array:
    """How many taps lie inside an input of `length`, for each output position."""
    inside = np.zeros(length + window.pad_before + window.pad_after, dtype=np.int64)
    inside[window.pad_before : window.pad_before + length] = 1
    return np.asarray(sum(taps(inside, window, 0)))


def out_shape(op: object, x: TensorType, h: Window, w: Window, channels: int) -> Shape:
    """The shape [N, H', W', channels] of a window operator's output.

    Raises:
        InputsDoNotFit: LAM-OPS-001, a window is larger than the padded input.
    """
    n, height, width, _ = x.shape
    rows, columns = h.out_len(height), w.out_len(width)
    require(rows > 0 and columns > 0, op, f"the window does not fit into an input of {height} x {width}")
    return (n, rows, columns, channels)


def weighted_map(
    op: object, ins: Sequence[TensorType], h: Window, w: Window, groups: int, sums: DType = DType.S32
) -> tuple[TensorType, int]:
    """The map of x, w and b, and how many channels come of it.  Weights are [Cout, KH, KW, Cin/groups], or refused."""
    require(len(ins) == 3, op, f"takes x, w and b, got {len(ins)} inputs")
    x, weights, bias = ins
    require(len(x.shape) == 4 and len(weights.shape) == 4, op, "x and w must have four axes")
    channels, outputs, given = x.shape[3], weights.shape[0], list(weights.shape)
    fits = channels == weights.shape[3] * groups and outputs % groups == 0
    require(fits, op, f"{channels} channels in {groups} groups do not match weights {given}")
    sized = weights.shape[1:3] == (h.size, w.size)
    require(sized, op, f"weights {given} are not of kernel size {h.size} x {w.size}")
    held = bias.shape == (outputs,) and bias.dtype is sums
    require(held, op, f"the bias must be {sums.value}, one per output channel")
    return x, outputs
