"""Sums of products over named axes, products of all factors and then a sum; determinants."""

from __future__ import annotations

import math
from collections.abc import Sequence

from codegen.errors import FormUnsupported
from codegen.ir.quant import DType
from codegen.ir.real import RealNode
from codegen.ops.float32 import FloatBinary, FloatReduce
from codegen.real.algebra import Determinant, Einsum
from codegen.settle.context import Context
from codegen.settle.float32.writer import Writer
from codegen.settle.rule import Family, Rule
from codegen.settle.states import State

_LARGEST = 4


def einsum(ctx: Context, node: RealNode, op: Einsum) -> Sequence[State]:
    """Each factor on the axes of all letters, the output's first."""
    w = Writer(ctx, node)
    letters = list(op.output)
    for names in op.inputs:
        letters += [s for s in dict.fromkeys(names) if s not in letters]
    total = ""
    for index, names in enumerate(op.inputs):
        factor, single = _diagonal(w, w.cast(w.input(index), DType.F32), list(names))
        factor = _aligned(w, factor, single, letters)
        total = w.apply(FloatBinary("mul"), total, factor) if total else factor
    summed = tuple(range(len(op.output), len(letters)))
    if summed:
        total = w.apply(FloatReduce("sum", summed), total)
    return w.done(w.reshaped(total, ctx.real(node.outputs[0]).shape))


def _diagonal(w: Writer, x: str, names: list[str]) -> tuple[str, list[str]]:
    """Axes of one letter as one axis."""
    for letter in sorted({s for s in names if names.count(s) > 1}):
        while names.count(letter) > 1:
            first = names.index(letter)
            second = names.index(letter, first + 1)
            x = w.moved(w.moved(x, second, len(names) - 1), first, len(names) - 2)
            names = [s for i, s in enumerate(names) if i not in (first, second)] + [letter]
            *lead, size, _ = w.shape(x)
            x = w.picked(w.reshaped(x, (*lead, size * size)), len(lead), range(0, size * size, size + 1))
    return x, names


def determinant(ctx: Context, node: RealNode, op: Determinant) -> Sequence[State]:
    """Along the first row: each element times the determinant of what is left, up to four rows."""
    w = Writer(ctx, node)
    x = w.input(0)
    *lead, size, _ = w.shape(x)
    if size > _LARGEST:
        hint = f"matrices of up to {_LARGEST} rows are read"
        raise FormUnsupported(f"a determinant of {size} rows", where=node.where, hint=hint)
    x = w.reshaped(x, (math.prod(lead), size * size))
    cells = [[w.picked(x, 1, [i * size + j]) for j in range(size)] for i in range(size)]
    return w.done(w.reshaped(_minor(w, cells), lead))


def _minor(w: Writer, cells: list[list[str]]) -> str:
    total = ""
    for j, cell in enumerate(cells[0]):
        if len(cells) == 1:
            return cell
        rest = _minor(w, [[*row[:j], *row[j + 1 :]] for row in cells[1:]])
        term = w.apply(FloatBinary("mul"), cell, rest)
        total = w.apply(FloatBinary("sub" if j % 2 else "add"), total, term) if total else term
    return total


def _aligned(w: Writer, x: str, names: Sequence[str], letters: Sequence[str]) -> str:
    order = sorted(range(len(names)), key=lambda i: letters.index(names[i]))
    sizes = dict(zip(names, w.shape(x), strict=False))  # a single number, which has no names, is held as one element
    return w.reshaped(w.transposed(x, order), [sizes.get(s, 1) for s in letters])


RULES: Family = (
    Rule(Determinant, determinant),
    Rule(Einsum, einsum),
)
