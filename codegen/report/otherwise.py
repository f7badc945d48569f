"""A layer as it would be otherwise in one thing that kernels ask about, and that thing in words.

Changed layers are never compiled: they are what kernels are asked about, to find what keeps a layer from a faster one.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any, TypeVar

import numpy as np

from codegen.ir.op import NodeOf, NodeView, Op
from codegen.ir.quant import Array, DType, Requant
from codegen.ir.shape import Window
from codegen.kernels.conv2d import is_depthwise
from codegen.kernels.fast import saturation
from codegen.ops import Conv2D, Dense, GlobalAveragePool

_DEEP, _MANY, _TAPS = 512, 64, 5
"""Products of a sum, and channels, of which there are enough; rows and columns of a window likewise."""
_LONG = 24
"""Outputs of a row, or rows of a map, likewise: a number that blocks of any size divide."""
_FAR = 512
"""Bytes from pixel to pixel, of which loads with an offset reach few at a time."""
_SMALL_EXPONENT, _LARGE_SHIFT = -4, 38
"""Of a factor that is small enough for every form, in the modes `tflite` and `single`."""
Other = tuple[str, NodeView]
_Summed = NodeOf[Conv2D | Dense]
_Mapped = TypeVar("_Mapped", bound=Op)


def otherwise(view: NodeView) -> Iterator[Other]:
    """Each in one thing."""
    if isinstance(view.op, Conv2D | Dense) and view.dynamic == (0,):
        for make in _OF_SUMS:
            yield from make(view)
    if isinstance(view.op, Conv2D):
        for make in _OF_WINDOWS:
            yield from make(view)
    if isinstance(view.op, GlobalAveragePool):
        yield from _larger_map(view)


def _whole_range(view: _Summed) -> Iterator[Other]:
    requant = view.op.requant
    if requant is not None and not saturation(requant.low, requant.high):
        kind = view.op.y_dtype
        words = f"outputs end at {requant.low} and {requant.high}, not at the ends of their type"
        yield words, _with_requant(view, replace(requant, low=kind.low, high=kind.high))


def _bytes(view: _Summed) -> Iterator[Other]:
    weights = view.consts[1]
    if weights is not None and weights.dtype != np.int8:
        low, high = int(weights.min()), int(weights.max())
        said = "have a zero point" if high - low < 256 else "have 16 bits"
        yield f"weights {said}: {low} to {high}", _with_weights(view, np.clip(weights, -128, 127).astype(np.int8))


def _unpacked(view: _Summed) -> Iterator[Other]:
    kind = view.ins[1]
    if kind.bits or kind.block or kind.apart:
        plain = replace(kind, bits=0, block=0, apart=False)
        words = f"weights of {kind.bits} bits are taken apart" if kind.bits else "weights have a factor for each group"
        yield words, replace(view, ins=(view.ins[0], plain, *view.ins[2:]))


def _small_factors(view: _Summed) -> Iterator[Other]:
    requant = view.op.requant
    if requant is None or not requant.shift:
        return
    most = _SMALL_EXPONENT if requant.mode == "tflite" else _LARGE_SHIFT
    small = tuple((min if requant.mode == "tflite" else max)(s, most) for s in requant.shift)
    if small != requant.shift:
        yield "factors of outputs are large", _with_requant(view, replace(requant, shift=small))


def _narrow(view: _Summed) -> Iterator[Other]:
    x, requant = view.ins[0], view.op.requant
    if x.dtype is not DType.S16 or requant is None:
        return
    op: Any = replace(view.op, y_dtype=DType.S8, x_zero_point=0, requant=replace(requant, low=-128, high=127))
    yield "inputs of 16 bits", _inferred(replace(view, op=op, ins=(replace(x, dtype=DType.S8), *view.ins[1:])))


def _long_sums(view: _Summed) -> Iterator[Other]:
    """With more inputs, or more taps where each channel has a window of its own."""
    weights, x = view.consts[1], view.ins[0]
    if weights is None:
        return
    words = f"sums of {weights[0].size} products, beside which outputs count"
    if is_depthwise(view):
        if max(view.op.h.size, view.op.w.size) < _TAPS:
            yield words, _with_weights(_larger_window(view), np.resize(weights, (len(weights), _TAPS, _TAPS, 1)))
    elif _groups(view) == 1 and weights[0].size < _DEEP:
        inputs = max(_MANY, _DEEP // math.prod(weights.shape[1:-1]))
        wider = replace(x, shape=(*x.shape[:-1], inputs))
        more = np.resize(weights, (*weights.shape[:-1], inputs))
        yield words, _with_weights(replace(view, ins=(wider, *view.ins[1:])), more)


def _larger_window(view: NodeOf[Conv2D]) -> NodeOf[Conv2D]:
    """With as many outputs as before."""
    h, w = (replace(window, size=_TAPS) for window in (view.op.h, view.op.w))
    rows, columns = (
        (outputs - 1) * one.stride + one.extent - one.pad_before - one.pad_after
        for outputs, one in zip(view.outs[0].shape[1:3], (h, w), strict=True)
    )
    return _sized(replace(view, op=replace(view.op, h=h, w=w)), rows, columns)


def _more_channels(view: _Summed) -> Iterator[Other]:
    """With more outputs of a pixel."""
    weights = view.consts[1]
    if weights is None or len(weights) >= _MANY or (_groups(view) > 1 and not is_depthwise(view)):
        return
    said = "channel" if len(weights) == 1 else "channels"
    yield f"no more than {len(weights)} {said}", _of_many_channels(view, weights)


def _near_pixels(view: NodeOf[Conv2D]) -> Iterator[Other]:
    """Where each channel has a window of its own, with so few channels that more pixels are near.

    Only then longer rows have larger blocks.
    """
    weights, x = view.consts[1], view.ins[0]
    apart = x.shape[3] * x.dtype.bytes
    if weights is None or not is_depthwise(view) or apart <= _FAR:
        return
    near = _of_many_channels(view, weights)
    yield f"pixels that lie {apart} bytes apart", near
    for words, longer in _long_rows(near):
        yield f"{words} that lie {apart} bytes apart", longer


def _of_many_channels(view: _Summed, weights: Array) -> NodeOf[Any]:
    bias, own = view.consts[2], is_depthwise(view)
    assert bias is not None, "sums have biases"
    op: Any = view.op if view.op.requant is None else replace(view.op, requant=_repeated(view.op.requant, _MANY))
    op = replace(op, groups=_MANY) if own else op
    x = replace(view.ins[0], shape=(*view.ins[0].shape[:-1], _MANY)) if own else view.ins[0]
    other = replace(view, op=op, ins=(x, *view.ins[1:]), consts=(None, weights, np.resize(bias, _MANY)))
    return _with_weights(other, np.resize(weights, (_MANY, *weights.shape[1:])))


def _long_rows(view: NodeOf[Conv2D]) -> Iterator[Other]:
    """As many padded outputs, and more between them."""
    width, w, x = view.outs[0].shape[2], view.op.w, view.ins[0]
    if 1 < width < _LONG:
        longer = x.shape[2] + (_LONG - width) * w.stride
        yield f"rows of {width} outputs", _inferred(_sized(view, x.shape[1], longer))


def _no_edges(view: NodeOf[Conv2D]) -> Iterator[Other]:
    w, x, width = view.op.w, view.ins[0], view.outs[0].shape[2]
    inside = range(width)
    beside = sum(w.first(i) < 0 or w.first(i) + w.extent > x.shape[2] for i in inside)
    if beside:
        bare = Window(w.size, w.stride, w.dilation)
        op = replace(view.op, w=bare)
        wide = (width - 1) * w.stride + w.extent
        words = f"{beside} of {width} windows of a row reach over its ends"
        yield words, _inferred(_sized(replace(view, op=op), x.shape[1], wide))


def _side_by_side(view: NodeOf[Conv2D]) -> Iterator[Other]:
    """As many outputs of windows that share all of their inputs but for a column."""
    w, x, width = view.op.w, view.ins[0], view.outs[0].shape[2]
    if w.stride > 1:
        near = replace(w, stride=1)
        wide = width - 1 + near.extent - w.pad_before - w.pad_after
        if wide > 0:
            words = f"windows of a row lie {w.stride} apart"
            yield words, _inferred(_sized(replace(view, op=replace(view.op, w=near)), x.shape[1], wide))


def _together(view: NodeOf[Conv2D]) -> Iterator[Other]:
    w, x, width = view.op.w, view.ins[0], view.outs[0].shape[2]
    if w.dilation > 1:
        dense = replace(w, dilation=1)
        wide = (width - 1) * w.stride + dense.extent - w.pad_before - w.pad_after
        yield "taps lie apart", _inferred(_sized(replace(view, op=replace(view.op, w=dense)), x.shape[1], wide))


def _one_group(view: NodeOf[Conv2D]) -> Iterator[Other]:
    weights = view.consts[1]
    if weights is not None and view.op.groups > 1 and not is_depthwise(view):
        inputs = view.ins[0].shape[3]
        op = replace(view.op, groups=1)
        whole = np.resize(weights, (*weights.shape[:-1], inputs))
        yield f"{view.op.groups} groups", _with_weights(replace(view, op=op), whole)


def _larger_map(view: NodeView) -> Iterator[Other]:
    x = view.ins[0]
    pixels = x.shape[1] * x.shape[2]
    if pixels < _LONG * _LONG:
        words = f"averages of {pixels} elements, beside which outputs count"
        yield words, _inferred(_sized(view, _LONG, _LONG))


_OF_SUMS: tuple[Callable[[Any], Iterator[Other]], ...] = (
    _whole_range,
    _bytes,
    _unpacked,
    _small_factors,
    _narrow,
    _long_sums,
    _more_channels,
)
_OF_WINDOWS: tuple[Callable[[Any], Iterator[Other]], ...] = (
    _long_rows,
    _near_pixels,
    _no_edges,
    _side_by_side,
    _together,
    _one_group,
)


def _groups(view: _Summed) -> int:
    return view.op.groups if isinstance(view.op, Conv2D) else 1


def _with_requant(view: _Summed, requant: Requant) -> NodeView:
    op: Any = replace(view.op, requant=requant)
    return _inferred(replace(view, op=op))


def _repeated(requant: Requant, channels: int) -> Requant:
    """For so many channels."""
    if not requant.per_channel:
        return requant
    held = {name: getattr(requant, name) for name in ("multiplier", "shift")}
    factors = {name: tuple(np.resize(found, channels).tolist()) if found else () for name, found in held.items()}
    scale = tuple(np.resize(requant.scale, channels).tolist()) if requant.scale else ()
    return replace(requant, multiplier=factors["multiplier"], shift=factors["shift"], scale=scale)


def _with_weights(view: NodeView, weights: Array) -> NodeView:
    """With others, and as many biases as before or as the view has by now."""
    bias = view.consts[2]
    assert bias is not None, "sums have biases"
    kind = replace(view.ins[1], shape=weights.shape, dtype=DType.of(weights))
    ins = (view.ins[0], kind, replace(view.ins[2], shape=bias.shape))
    return _inferred(replace(view, ins=ins, consts=(view.consts[0], weights, bias)))


def _sized(view: NodeOf[_Mapped], rows: int, columns: int) -> NodeOf[_Mapped]:
    """With a map of another size."""
    x = view.ins[0]
    return replace(view, ins=(replace(x, shape=(x.shape[0], rows, columns, x.shape[3])), *view.ins[1:]))


def _inferred(view: NodeView) -> NodeView:
    """With the types of its outputs."""
    return replace(view, outs=view.op.infer(view.ins))
