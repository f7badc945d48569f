"""Poses of people, found by one operator whose columns are the results."""

from __future__ import annotations

import itertools
from collections.abc import Sequence

from codegen.ir.real import RealNode
from codegen.ops import Slice
from codegen.ops.float32 import FloatBinary, FloatReduce
from codegen.real.poses import COORDINATES, Poses
from codegen.settle.context import Context
from codegen.settle.float32.writer import Writer
from codegen.settle.rule import Family, Rule
from codegen.settle.states import State


def poses(ctx: Context, node: RealNode, op: Poses) -> Sequence[State]:
    """Offsets in places, then the operator; the last column says where there is a pose."""
    w = Writer(ctx, node)
    maps = [w.input(i) for i in range(3)]
    scaled = [w.apply(FloatBinary("mul"), x, w.real(float(op.share))) for x in maps[1:]]
    rows = w.apply(op.decoder, maps[0], *scaled)
    columns = w.shape(rows)[1]
    ends = (0, COORDINATES, columns - 2, columns - 1, columns)
    parts = [w.apply(Slice((0, a), (op.most, b - a), (1, 1)), rows) for a, b in itertools.pairwise(ends)]
    parts[3] = w.apply(FloatReduce("sum", (0,)), parts[3])
    shapes = [ctx.real(name).shape for name in node.outputs]
    return w.done(*(w.reshaped(part, shape) for part, shape in zip(parts, shapes, strict=True)))


RULES: Family = (Rule(Poses, poses),)


TFLITE_RULES: Family = (Rule(Poses, poses, ("custom operator PosenetDecoderOp",)),)
