"""Movement that must know what it moves: joined tensors and padding."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from codegen.ir.op import Op
from codegen.ir.quant import DType
from codegen.ir.real import RealNode
from codegen.ops import Concat, Gather, Pad, Slice
from codegen.real import movement as real
from codegen.settle.context import Context
from codegen.settle.float32.inputs import real_value
from codegen.settle.float32.writing import written
from codegen.settle.states import Float, Route, State


def concat(ctx: Context, node: RealNode, op: real.Concat) -> Sequence[State]:
    """Tensors of real numbers behind each other."""
    values = [real_value(ctx, node, i) for i in range(len(node.inputs))]
    if len(values) == 1:
        return [Float(values[0], made=True)]
    return [written(ctx, node, Route(Concat(op.axis, (None,) * len(values), DType.F32, None)), values)]


def pad(ctx: Context, node: RealNode, op: real.Pad) -> Sequence[State]:
    """Pad by constant amounts; negative ones cut off first."""
    x = real_value(ctx, node, 0)
    cuts = _cuts(op, ctx.type(x).shape)
    before, after = (tuple(max(p, 0) for p in pads) for pads in (op.before, op.after))
    shape = ctx.out_type(ctx.type(x), cuts).shape
    ops = (*cuts, *(_around(op, before, after, shape) if any((*before, *after)) else ()))
    if not ops:
        return [Float(x, made=True)]
    return [written(ctx, node, Route(ops[-1], ops[:-1]), [x])]


def _cuts(op: real.Pad, shape: tuple[int, ...]) -> tuple[Op, ...]:
    if min((*op.before, *op.after), default=0) >= 0:
        return ()
    starts = tuple(max(-b, 0) for b in op.before)
    sizes = tuple(n - s - max(-a, 0) for n, s, a in zip(shape, starts, op.after, strict=True))
    return (Slice(starts, sizes, (1,) * len(starts)),)


def _around(op: real.Pad, before: tuple[int, ...], after: tuple[int, ...], shape: tuple[int, ...]) -> tuple[Op, ...]:
    """One Pad, or picks along each axis for modes that Pad does not have."""
    if op.mode == "constant":
        return (Pad(before, after, "constant", float(np.float32(op.value))),)
    if op.mode in ("edge", "reflect"):
        return (Pad(before, after, "edge" if op.mode == "edge" else "reflect", 0),)
    axes = [a for a in range(len(shape)) if before[a] or after[a]]
    picked = [np.pad(np.arange(shape[a]), (before[a], after[a]), mode=op.mode) for a in axes]
    return tuple(Gather(a, tuple(p.tolist())) for a, p in zip(axes, picked, strict=True))
