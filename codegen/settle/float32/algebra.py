"""Sums of products over named axes: products of all factors, then a sum."""

from __future__ import annotations

from collections.abc import Sequence

from codegen.ir.quant import DType
from codegen.ir.real import RealNode
from codegen.ops.float32 import FloatBinary, FloatReduce
from codegen.real.algebra import Einsum
from codegen.settle.context import Context
from codegen.settle.float32.writer import Writer
from codegen.settle.states import State


def einsum(ctx: Context, node: RealNode, op: Einsum) -> Sequence[State]:
    """Each factor on the axes of all letters, the output's first."""
    w = Writer(ctx, node)
    letters = list(op.output)
    for names in op.inputs:
        if len(set(names)) < len(names):
            raise ctx.unknown(node)
        letters += [s for s in names if s not in letters]
    total = ""
    for index, names in enumerate(op.inputs):
        factor = _aligned(w, w.cast(w.input(index), DType.F32), names, letters)
        total = w.apply(FloatBinary("mul"), total, factor) if total else factor
    summed = tuple(range(len(op.output), len(letters)))
    if summed:
        total = w.apply(FloatReduce("sum", summed), total)
    return w.done(w.reshaped(total, ctx.real(node.outputs[0]).shape))


def _aligned(w: Writer, x: str, names: Sequence[str], letters: Sequence[str]) -> str:
    order = sorted(range(len(names)), key=lambda i: letters.index(names[i]))
    sizes = dict(zip(names, w.shape(x), strict=True))
    return w.reshaped(w.transposed(x, order), [sizes.get(s, 1) for s in letters])
