"""Einsum of two tensors as a matrix product, and of one as a sum.

Decides: that letters which both tensors and the result have are leading axes, those of one tensor and the result rows
or columns, and those of both alone what is summed over; that the right side is the constant one, or else the one whose
letters come last in the result.  Sums keep their order.  Whatever else an Einsum is stays one.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

from codegen.frontends.onnx.nodes import OnnxNode
from codegen.frontends.onnx.real.reading import Reading
from codegen.ir.real import RealOp
from codegen.real.algebra import Einsum, Letters
from codegen.real.movement import Reshape, Transpose
from codegen.real.product import MatMul
from codegen.real.reduce import Reduce
from codegen.records import record


@record
class _Roles:
    """Letters of the leading axes, of rows, of columns, and of what is summed over."""

    shared: Letters
    rows: Letters
    columns: Letters
    summed: Letters

    @property
    def result(self) -> Letters:
        """The axes of the product."""
        return (*self.shared, *self.rows, *self.columns)


def as_product(r: Reading, node: OnnxNode, op: Einsum, inputs: Sequence[str]) -> str | None:
    """The result of an Einsum of real numbers that is a product or a sum; None where it is neither."""
    sizes: dict[str, int] = {}
    for x, letters in zip(inputs, op.inputs, strict=True):
        again = any(sizes.setdefault(s, n) != n for s, n in zip(letters, r.type(x).shape, strict=True))
        if again or len(set(letters)) < len(letters) or not r.type(x).is_real:
            return None
    if len(inputs) == 1:
        return _sum(r, node, op, inputs[0])
    sides = list(zip(inputs, op.inputs, strict=True))
    roles = _roles(sides[0][1], sides[1][1], op.output) if len(sides) == 2 else None
    if roles is None:
        return None
    known = [r.values[x].data is not None for x in inputs]
    if (known[0] and not known[1]) or (known[0] == known[1] and _is_turned(roles, op.output)):
        sides.reverse()
        roles = _Roles(roles.shared, roles.columns, roles.rows, roles.summed)
    return _product(r, node, sides, roles, op.output, sizes)


def _roles(a: Letters, b: Letters, output: Letters) -> _Roles | None:
    """What each letter is; None where one stands in one tensor alone, or nothing is summed over."""
    both = set(a) & set(b)
    summed = tuple(s for s in a if s in both and s not in output)
    if not summed or (set(a) ^ set(b)) - set(output):
        return None
    shared, rows, columns = (
        tuple(s for s in output if s in letters) for letters in (both, set(a) - both, set(b) - both)
    )
    return _Roles(shared, rows, columns, summed)


def _is_turned(roles: _Roles, output: Letters) -> bool:
    """Whether the result has its columns before its rows."""
    return output == (*roles.shared, *roles.columns, *roles.rows) != roles.result


def _product(
    r: Reading,
    node: OnnxNode,
    sides: Sequence[tuple[str, Letters]],
    roles: _Roles,
    output: Letters,
    sizes: dict[str, int],
) -> str:
    (a, a_letters), (b, b_letters) = sides
    lead = [sizes[s] for s in roles.shared]
    rows, columns, summed = (
        math.prod(sizes[s] for s in letters) for letters in (roles.rows, roles.columns, roles.summed)
    )
    # rows stay apart where the right side is one matrix, which they share
    tall = [rows] if lead or not roles.rows else [sizes[s] for s in roles.rows]
    a = _turned(r, node, a, a_letters, (*roles.shared, *roles.rows, *roles.summed), "left")
    b = _turned(r, node, b, b_letters, (*roles.shared, *roles.summed, *roles.columns), "right")
    a = _shaped(r, node, a, (*lead, *tall, summed), "left_matrix")
    b = _shaped(r, node, b, (*lead, summed, columns), "right_matrix")
    moves: list[RealOp] = []
    if (*lead, *tall, columns) != (full := tuple(sizes[s] for s in roles.result)):
        moves.append(Reshape(full))
    if output != roles.result:
        moves.append(Transpose(tuple(roles.result.index(s) for s in output)))
    value = r.apply(MatMul(), [a, b], node, "product" if moves else "")
    for i, move in enumerate(moves, 1):
        value = r.apply(move, [value], node, "apart" if i < len(moves) else "")
    return value


def _sum(r: Reading, node: OnnxNode, op: Einsum, x: str) -> str:
    (letters,) = op.inputs
    axes = tuple(i for i, s in enumerate(letters) if s not in op.output)
    kept = tuple(s for s in letters if s in op.output)
    if axes:
        x = r.apply(Reduce("Sum", axes, keep=False), [x], node, "" if kept == op.output else "sum")
    return x if axes and kept == op.output else r.apply(Transpose(tuple(map(kept.index, op.output))), [x], node)


def _turned(r: Reading, node: OnnxNode, x: str, letters: Letters, wanted: Letters, name: str) -> str:
    perm = tuple(letters.index(s) for s in wanted)
    return x if letters == wanted else r.apply(Transpose(perm), [x], node, name)


def _shaped(r: Reading, node: OnnxNode, x: str, shape: tuple[int, ...], name: str) -> str:
    return x if r.type(x).shape == shape else r.apply(Reshape(shape), [x], node, name)
