"""Rows of which some may be left over, as NonMaxSuppression of computed boxes has them, and what may be made of them.

Decides: that what takes rows one by one is read, and that what counts, orders or joins them is refused: ONNX has only
the rows that are used, so that its numbers would be others.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from codegen.errors import RowsLeftOver
from codegen.ir.real import RealOp
from codegen.ir.shape import Shape
from codegen.real import bits, elementwise, movement, sampling, scatter, storage
from codegen.real.chosen import UNUSED
from codegen.real.product import MatMul
from codegen.real.reduce import Reduce

Axes = Sequence[int | None]
"""Of each input the axis along which rows may be left over, if there is one."""
Rule = Callable[[Any, Axes, Sequence[Shape], Shape], int | None]
"""That axis of the result; None where it is none that keeps rows apart."""


def axis_behind(op: RealOp, axes: Axes, ins: Sequence[Shape], out: Shape) -> int:
    """Along which axis of a result rows may be left over; LAM-IMPORT-057 where they do not stay apart."""
    found = _RULES[type(op)](op, axes, ins, out) if type(op) in _RULES else None
    if found is None:
        raise RowsLeftOver(f"{type(op).__name__} of rows of which some may be left over")
    return found


def rows_filled(op: RealOp, axis: int) -> int:
    """How many rows there are in any case behind a Pad of selected rows by what those have that are left over."""
    if not isinstance(op, movement.Pad) or op.mode != "constant" or op.value != UNUSED:
        return 0
    return op.after[axis] if not any(op.before) and op.after[axis] == sum(map(abs, op.after)) else 0


def is_whole(op: RealOp, axis: int, known: int) -> bool:
    """Whether a slice takes none but rows that are there in any case."""
    return isinstance(op, movement.Slice) and op.steps[axis] > 0 and op.starts[axis] + op.counts[axis] <= known


def _alike(op: object, axes: Axes, ins: Sequence[Shape], out: Shape) -> int | None:
    """Element by element, stretched against each other."""
    found = {axis + len(out) - len(shape) for axis, shape in zip(axes, ins, strict=True) if axis is not None}
    return found.pop() if len(found) == 1 else None


def _transposed(op: movement.Transpose, axes: Axes, ins: Sequence[Shape], out: Shape) -> int | None:
    return None if axes[0] is None else op.perm.index(axes[0])


def _reshaped(op: object, axes: Axes, ins: Sequence[Shape], out: Shape) -> int | None:
    """Where there is an axis of that length behind as many elements."""
    (axis, *_), x = axes, ins[0]
    if axis is None:
        return None
    return next((i for i, n in enumerate(out) if n == x[axis] and math.prod(out[:i]) == math.prod(x[:axis])), None)


def _sliced(op: movement.Slice, axes: Axes, ins: Sequence[Shape], out: Shape) -> int | None:
    """Of the rows only the first ones."""
    axis = axes[0]
    return axis if axis is not None and (op.starts[axis], op.steps[axis]) == (0, 1) else None


def _joined(op: movement.Concat, axes: Axes, ins: Sequence[Shape], out: Shape) -> int | None:
    axis = _alike(op, axes, ins, out)
    return None if axis == op.axis else axis


def _gathered(op: movement.Gather, axes: Axes, ins: Sequence[Shape], out: Shape) -> int | None:
    """Looked up by rows, or other places of each row."""
    data, at = axes
    if data is None and at is not None:
        return op.axis + at
    if at is not None or data is None or data == op.axis:
        return None
    return data if data < op.axis else data + len(ins[1]) - 1


def _places(op: object, axes: Axes, ins: Sequence[Shape], out: Shape) -> int | None:
    """Looked up by places whose last axis is one place."""
    data, at = axes
    return at if data is None and at is not None and at < len(ins[1]) - 1 else None


def _elements(op: object, axes: Axes, ins: Sequence[Shape], out: Shape) -> int | None:
    return axes[1] if axes[0] is None else None


def _reduced(op: Reduce, axes: Axes, ins: Sequence[Shape], out: Shape) -> int | None:
    axis = axes[0]
    if axis is None or axis in op.axes:
        return None
    return axis if op.keep else axis - sum(a < axis for a in op.axes)


def _product(op: object, axes: Axes, ins: Sequence[Shape], out: Shape) -> int | None:
    """Rows of the left side."""
    left, right = axes
    apart = left is not None and right is None and 2 <= len(ins[0]) == len(out) and left < len(out) - 1
    return left if apart else None


def _regions(op: object, axes: Axes, ins: Sequence[Shape], out: Shape) -> int | None:
    """Each row is a region, and has its image."""
    return 0 if axes[0] is None and set(axes[1:]) <= {0, None} else None


_RULES: Mapping[type, Rule] = {
    **dict.fromkeys((bits.BitwiseNot, bits.CastNarrow, bits.IsInf, bits.IsNaN, elementwise.AddN), _alike),
    **dict.fromkeys((elementwise.Binary, elementwise.Cast, elementwise.Clip, elementwise.Function), _alike),
    **dict.fromkeys((elementwise.Not, elementwise.PRelu, elementwise.Where), _alike),
    **dict.fromkeys((storage.Dequantize, storage.Quantize), _alike),
    MatMul: _product,
    Reduce: _reduced,
    movement.Concat: _joined,
    movement.Expand: _alike,
    movement.Gather: _gathered,
    movement.Reshape: _reshaped,
    movement.Slice: _sliced,
    movement.Transpose: _transposed,
    sampling.RoiAlign: _regions,
    scatter.GatherElements: _elements,
    scatter.GatherND: _places,
}
