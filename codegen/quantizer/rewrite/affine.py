"""Nodes that are a factor and an offset per channel: BatchNorm, and arithmetic with a constant."""

from __future__ import annotations

import numpy as np

from codegen.ir.quant import Array
from codegen.ir.real import RealNode
from codegen.quantizer.rewrite.draft import Draft
from codegen.real.elementwise import Binary, Function
from codegen.real.normal import BatchNorm
from codegen.records import record


@record(eq=False)
class Affine:
    """y = x * factor + offset; each a number, or one per channel along `axis` where that is known."""

    x: str
    factor: Array
    offset: Array
    axis: int | None

    def is_along(self, axis: int) -> bool:
        """Whether it varies along this axis at most."""
        return self.axis in (None, axis)

    def spread(self, channels: int) -> tuple[Array, Array]:
        """Factor and offset of each channel."""
        return np.broadcast_to(self.factor, (channels,)), np.broadcast_to(self.offset, (channels,))


def affine_of(draft: Draft, node: RealNode) -> Affine | None:
    """What a node does to each channel; None where it does something else."""
    with np.errstate(all="ignore"):
        match node.op:
            case BatchNorm():
                found = _batch_norm(draft, node, node.op)
            case Binary(kind="Add" | "Sub" | "Mul" | "Div"):
                found = _binary(draft, node, node.op.kind)
            case Function(name="Neg"):
                found = Affine(node.inputs[0], np.array(-1.0), np.array(0.0), None)
            case _:
                return None
    return found if found and np.isfinite(found.factor).all() and np.isfinite(found.offset).all() else None


def _batch_norm(draft: Draft, node: RealNode, op: BatchNorm) -> Affine | None:
    known = [draft.constant(i) for i in node.inputs[1:]]
    if any(k is None for k in known):
        return None
    scale, offset, mean, variance = (np.asarray(k) for k in known)
    factor = scale / np.sqrt(variance + op.epsilon)
    rank = len(draft.shape(node.inputs[0]))
    return Affine(node.inputs[0], factor, offset - mean * factor, op.channel_axis % rank if rank > 1 else 0)


def _binary(draft: Draft, node: RealNode, kind: str) -> Affine | None:
    at = 0 if draft.values[node.inputs[1]].data is not None else 1
    constant, x = draft.constant(node.inputs[1 - at]), node.inputs[at]
    if constant is None or draft.shape(node.outputs[0]) != draft.shape(x) or (kind == "Div" and at):
        return None
    full = (*(1,) * (len(draft.shape(x)) - constant.ndim), *constant.shape)
    axes = [i for i, n in enumerate(full) if n != 1]
    if len(axes) > 1 or draft.values[x].data is not None:
        return None
    c = constant.reshape(-1) if axes else constant.reshape(())
    factor, offset = _parts(kind, c, at)
    return Affine(x, factor, offset, axes[0] if axes else None)


def _parts(kind: str, c: Array, at: int) -> tuple[Array, Array]:
    one, zero = np.ones_like(c), np.zeros_like(c)
    match kind:
        case "Add":
            return one, c
        case "Sub":
            return (-one, c) if at else (one, -c)
        case "Mul":
            return c, zero
        case _:
            return 1 / c, zero
