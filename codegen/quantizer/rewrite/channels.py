"""Which channel each element of a tensor comes from, behind operators that keep each channel's positive factor.

Decides: which operators do: f(c * x) = c * f(x) for c > 0, channel by channel, or elements that only move.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from codegen.ir.quant import Array
from codegen.ir.real import RealNode, RealOp
from codegen.quantizer.rewrite.draft import Draft
from codegen.real.elementwise import Clip, Function, PRelu
from codegen.real.movement import MOVING, Concat, Gather, Pad
from codegen.real.reduce import Reduce
from codegen.real.resize import Resize
from codegen.real.storage import Restore
from codegen.real.window import AveragePool, MaxPool

_MOVING = (Concat, *MOVING)
_STAYING = (AveragePool, Clip, Function, MaxPool, PRelu, Pad, Resize, Restore)
_OTHER = -1
"""In place of a channel: an element of another tensor."""


class Broken(Exception):
    """Somebody would see the factor; says who."""


def stays(op: RealOp) -> bool:
    """Whether an operator leaves each channel where it is."""
    return isinstance(op, _STAYING)


def behind(draft: Draft, node: RealNode, name: str, channels: Array) -> Array:
    """The channel of each element of a node's output."""
    op = node.op
    if isinstance(op, _MOVING) and (isinstance(op, Concat) or node.inputs.index(name) == 0):
        return _moved(draft, node, name, channels)
    if node.inputs.index(name) != 0 or node.inputs.count(name) != 1:
        raise Broken(f"read by {node.where}")
    if _is_even(op) or (isinstance(op, PRelu) and draft.constant(node.inputs[1]) is not None):
        return channels
    if isinstance(op, MaxPool | AveragePool):
        return _kept(channels, op.channel_axis % channels.ndim, draft.shape(node.outputs[0]), node)
    if isinstance(op, Resize) and op.outside == 0:
        return _resized(op, channels, node, draft.shape(node.outputs[0]))
    if isinstance(op, Pad) and (op.mode != "constant" or op.value == 0):
        return _padded(op, channels, node, draft.shape(node.outputs[0]))
    if isinstance(op, Reduce) and op.kind in ("L1", "L2", "Max", "Mean", "Min", "Sum"):
        return _reduced(op, channels, node)
    raise Broken(f"read by {node.where}")


def _is_even(op: object) -> bool:
    """Whether an elementwise operator keeps a positive factor."""
    if isinstance(op, Clip):
        return op.low in (0.0, -np.inf) and op.high in (0.0, np.inf)
    return isinstance(op, Restore) or (isinstance(op, Function) and op.name in ("Abs", "Identity", "LeakyRelu", "Relu"))


def _moved(draft: Draft, node: RealNode, name: str, channels: Array) -> Array:
    """Channels moved as the elements are."""
    given = []
    for i in node.inputs:
        data = draft.values[i].data
        if isinstance(node.op, Gather) and i != name and data is None:
            raise Broken(f"read by {node.where}")
        other = data if isinstance(node.op, Gather) else np.broadcast_to(np.int32(_OTHER), draft.shape(i))
        given.append(channels if i == name else other)
    return np.asarray(node.op.evaluate([np.asarray(g) for g in given])[0])


def _padded(op: Pad, channels: Array, node: RealNode, shape: tuple[int, ...]) -> Array:
    """Zeros have every factor; whatever else is added repeats elements."""
    return _stretched([bool(b or a) for b, a in zip(op.before, op.after, strict=True)], channels, node, shape)


def _resized(op: Resize, channels: Array, node: RealNode, shape: tuple[int, ...]) -> Array:
    """Each element is a sum of others of its channel."""
    return _stretched([s is not None for s in op.stretches], channels, node, shape)


def _stretched(axes: Sequence[bool], channels: Array, node: RealNode, shape: tuple[int, ...]) -> Array:
    """Channels where some axes, along which they do not vary, get another size."""
    if any(_varies(channels, i) for i, changes in enumerate(axes) if changes):
        raise Broken(f"read by {node.where}")
    kept = channels[tuple(slice(1) if changes else slice(None) for changes in axes)]
    return np.broadcast_to(kept, shape)


def _reduced(op: Reduce, channels: Array, node: RealNode) -> Array:
    if any(_varies(channels, axis) for axis in op.axes):
        raise Broken(f"read by {node.where}")
    kept = channels[tuple(slice(1) if i in op.axes else slice(None) for i in range(channels.ndim))]
    return kept if op.keep else kept.squeeze(op.axes)


def _kept(channels: Array, axis: int, shape: tuple[int, ...], node: RealNode) -> Array:
    """The same channels along an axis of a tensor of another size."""
    return spread(along(channels, axis, node), axis, shape)


def along(channels: Array, axis: int, node: RealNode) -> Array:
    """The channel of each place along an axis, where it varies along no other one."""
    if any(_varies(channels, i) for i in range(channels.ndim) if i != axis):
        raise Broken(f"its channels are spread in {node.where}")
    return np.asarray(np.moveaxis(channels, axis, 0).reshape(channels.shape[axis], -1)[:, 0])


def only_axis(channels: Array) -> int | None:
    """The axis along which channels vary, the first one where they do not; None where there are several."""
    axes = [i for i in range(channels.ndim) if _varies(channels, i)]
    return None if len(axes) > 1 or not channels.ndim else (axes or [0])[0]


def spread(vector: Array, axis: int, shape: tuple[int, ...]) -> Array:
    """The channels of a tensor that they lie along one axis of."""
    along = [-1 if i == axis else 1 for i in range(len(shape))]
    return np.broadcast_to(vector.astype(np.int32).reshape(along), shape)


def _varies(channels: Array, axis: int) -> bool:
    return (
        channels.shape[axis] > 1 and channels.strides[axis] != 0 and bool((channels != channels.take([0], axis)).any())
    )
