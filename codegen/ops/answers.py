"""Answers that many operators share, and the questions that an operator may leave open, with their defaults.

Assigned in a class body (`rows = same_row`), a function of the first kind is that operator's method.  What an operator
does not say of itself is not so: it has no bounds, no other layout, no turned form, and no channels to share out.
codegen/laws/answers.py holds a law for each.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from codegen.ir.op import SAME_ROW, WHOLE, Op, RowRule
from codegen.ir.permutation import Perm
from codegen.ir.quant import Array, Requant, TensorType
from codegen.ir.shape import Shape, Span, Window, row_count

Types = Sequence[TensorType]
Consts = Sequence[Array | None]


def no_macs(op: object, ins: Types, outs: Types) -> int:
    """Nothing is multiplied and accumulated."""
    return 0


def never_in_place(op: object, index: int, ins: Types, outs: Types) -> bool:
    """The output may not take the input's memory."""
    return False


def in_place_when_equal(op: object, index: int, ins: Types, outs: Types) -> bool:
    """Element i of the output depends on element i of the input alone, and both have one size."""
    x, y = ins[index], outs[0]
    return x.elements == y.elements and x.dtype.bytes == y.dtype.bytes


def same_row(op: object, index: int, ins: Types, outs: Types) -> RowRule:
    """Output row r reads input row r."""
    return SAME_ROW


def whole(op: object, index: int, ins: Types, outs: Types) -> RowRule:
    """Every output row reads the whole input."""
    return WHOLE


def broadcast_rows(op: object, index: int, ins: Types, outs: Types) -> RowRule:
    """Output row r reads the input row that numpy's broadcasting puts there."""
    x, y = ins[index].shape, outs[0].shape
    lead_in, lead_out = x[:-2], y[:-2]
    rows = np.arange(row_count(x)).reshape(lead_in)
    return row_rule(np.broadcast_to(rows, lead_out).ravel().tolist())


def window_rows(window: Window, fill: int | None) -> RowRule:
    """The rows of a sliding window; rows in the padding hold `fill`, or are absent when it is None."""
    return RowRule(window.size, window.stride, 1, window.pad_before, window.dilation, fill)


def row_rule(table: Sequence[int]) -> RowRule:
    """The shortest rule by which output row r reads the one input row `table[r]`."""
    rows = tuple(table)
    runs = next((i for i, row in enumerate(rows) if row != rows[0]), 1)
    step = rows[1] - rows[0] if len(rows) > 1 else 1
    for rule in (SAME_ROW, RowRule(mul=max(step, 1), pad=-rows[0]), RowRule(div=runs)):
        if all(rule.first(r) == row for r, row in enumerate(rows)):
            return rule
    return RowRule(table=rows)


def row_numbers(x: Shape) -> Array:
    """The number of each row, in the shape of the leading axes."""
    return np.arange(row_count(x), dtype=np.int64).reshape(x[:-2])


# Questions with defaults


def clamped(op: Op, low: float, high: float) -> Op | None:
    """The operator with its result held in `low..high`, or None when it has no bounds of its own."""
    return _asked(op, "clamped", low, high)


def in_layout(op: Op, perm: Perm) -> Op | None:
    """The operator on tensors transposed by `perm`, giving its result transposed by `perm`; None if there is none.

    Inputs of lower rank are meant with leading axes of size 1, as numpy broadcasts them.
    """
    return _asked(op, "in_layout", perm)


def layout_inputs(op: Op, count: int) -> range:
    """Indices of the inputs that are stored in the operator's layout; weights and biases are not."""
    return range(min(count, getattr(op, "layout_inputs", count)))


def turned(op: Op) -> Op | None:
    """The operator on an image with rows and columns exchanged, as those of its weights are; None if there is none."""
    return _asked(op, "turned")


def padded(
    op: Op, rows: tuple[int, int], columns: tuple[int, int], value: float, x: TensorType, consts: Consts
) -> Op | None:
    """The operator that pads `x` by so many rows and columns of `value` itself; None when it cannot.

    `consts` are its inputs' numbers, None of those that the network computes, as of `x`.
    """
    return _asked(op, "padded", rows, columns, value, x, consts)


def inner_taps(op: Op, x: TensorType) -> tuple[Op, Span, Span] | None:
    """The operator without weights that only see padding, and which rows and columns of them stay; None if all do."""
    answer: Callable[..., tuple[Op, Span, Span] | None] | None = getattr(op, "inner_taps", None)
    return None if answer is None else answer(x)


def channel_tile(op: Op, start: int, stop: int) -> Op | None:
    """The operator that makes output channels `start..stop` alone, of weights and biases cut likewise; None if none."""
    return _asked(op, "channel_tile", start, stop)


def column_tile(op: Op, start: int, stop: int, x: TensorType) -> tuple[Op, Span] | None:
    """The operator that makes output columns `start..stop` of some columns of `x`, and which; None if there is none.

    A column is an index of the last axis but one; other inputs stay as they are.
    """
    answer: Callable[..., tuple[Op, Span] | None] | None = getattr(op, "column_tile", None)
    return None if answer is None else answer(start, stop, x)


def depthwise_tile(op: Op, start: int, stop: int, ins: Types) -> Op | None:
    """The operator that makes output channels `start..stop` of these channels of the input alone; None if none."""
    return _asked(op, "depthwise_tile", start, stop, ins)


def is_elementwise(op: Op) -> bool:
    """Whether element i of the result is made of elements i of the inputs, whatever their shape."""
    return bool(getattr(op, "elementwise", False))


def is_channelwise(op: Op) -> bool:
    """Whether channel c of the result is made of channel c of the only input, by the same rule for each."""
    return bool(getattr(op, "channelwise", False))


def moves_only(op: Op) -> bool:
    """Whether each element of the result is a copy of one of the only input."""
    return bool(getattr(op, "moves_only", False))


def is_view(op: Op) -> bool:
    """Whether the result is the memory of the only input, under another shape."""
    return bool(getattr(op, "view", False))


def permutation(op: Op, x: TensorType) -> Perm | None:
    """The order of axes in which the result has those of `x`; None where it is more than that."""
    answer: Callable[[TensorType], Perm | None] | None = getattr(op, "permutation", None)
    return None if answer is None else answer(x)


def reorders(op: Op) -> bool:
    """Whether the operator is for the order or the shape of the axes alone."""
    return hasattr(op, "permutation")


def is_weighted_sum(op: Op) -> bool:
    """Whether channel o of the result is `requant(sum of (x - x_zero_point) * w[o] + b[o])`, over some of the taps."""
    return bool(getattr(op, "weighted_sum", False))


def work(op: Op, ins: Types, outs: Types) -> int:
    """Steps that an inference takes: multiplications, or comparisons where nothing is multiplied."""
    answer = getattr(op, "work", op.macs)
    return int(answer(ins, outs))


def _asked(op: Op, question: str, *given: Any) -> Op | None:
    answer: Callable[..., Op | None] | None = getattr(op, question, None)
    return None if answer is None else answer(*given)


# Their answers


def clamped_bounds(op: Any, low: float, high: float) -> Op:
    """Of an operator with fields `low` and `high`: bounds equal to those, then the others."""
    result: Op = replace(op, low=_held(op.low, low, high), high=_held(op.high, low, high))
    return result


def clamped_requant(op: Any, low: float, high: float) -> Op | None:
    """Of an operator with a `requant`; it has no bounds where it gives its sums."""
    requant: Requant | None = op.requant
    if requant is None:
        return None
    bounded = replace(requant, low=_held(requant.low, low, high), high=_held(requant.high, low, high))
    result: Op = replace(op, requant=bounded)
    return result


def _held(bound: Any, low: float, high: float) -> Any:
    return min(max(bound, low), high)


def any_layout(op: Op, perm: Perm) -> Op:
    """Nothing depends on the order of axes."""
    return op


def last_axis_stays(op: Op, perm: Perm) -> Op | None:
    """Something is done along the last axis."""
    return op if perm[-1] == len(perm) - 1 else None


def last_two_stay(op: Op, perm: Perm) -> Op | None:
    """Something is done along the last two axes."""
    return op if perm[-2:] == (len(perm) - 2, len(perm) - 1) else None


def moved_axis(op: Any, perm: Perm) -> Op:
    """Of an operator with a field `axis`."""
    result: Op = replace(op, axis=perm.index(op.axis))
    return result


def itself(op: Op) -> Op:
    """Rows and columns are treated alike."""
    return op


def turned_windows(op: Any) -> Op:
    """Of an operator with windows `h` and `w`."""
    result: Op = replace(op, h=op.w, w=op.h)
    return result


def windowed_columns(op: Any, start: int, stop: int, x: TensorType) -> tuple[Op, Span]:
    """Of an operator with a window `w`, whose padding is what lies outside the input."""
    reach: Span = op.w.in_span(Span(start, stop))
    read = reach.clipped(x.shape[2])
    window = replace(op.w, pad_before=read.start - reach.start, pad_after=reach.stop - read.stop)
    return replace(op, w=window), read


def inner_windows(op: Any, x: TensorType) -> tuple[Op, Span, Span] | None:
    """Of an operator with windows `h` and `w`, to whose sums padding adds nothing."""
    rows, columns = op.h.inner(x.shape[1]), op.w.inner(x.shape[2])
    if (len(rows), len(columns)) == (op.h.size, op.w.size):
        return None
    return replace(op, h=op.h.of_taps(rows), w=op.w.of_taps(columns)), rows, columns


def padded_windows(op: Any, rows: tuple[int, int], columns: tuple[int, int]) -> Op:
    """Of an operator with windows `h` and `w`: both widened."""
    result: Op = replace(op, h=_wider(op.h, rows), w=_wider(op.w, columns))
    return result


def _wider(window: Window, pad: tuple[int, int]) -> Window:
    return replace(window, pad_before=window.pad_before + pad[0], pad_after=window.pad_after + pad[1])


def window_work(op: Any, ins: Types, outs: Types) -> int:
    """A step for each element of each window."""
    return outs[0].elements * int(op.h.size) * int(op.w.size)


def tiled_requant(op: Any, start: int, stop: int) -> Op:
    """Of an operator with a `requant`, whose factors are cut."""
    requant: Requant | None = op.requant
    result: Op = replace(op, requant=requant and requant.channels(start, stop))
    return result
