"""A law for each question that an operator may leave open, on the cases whose operators answer it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import permutations

import numpy as np

from codegen.emit.about import sentence
from codegen.ir.op import NodeView, Op
from codegen.ir.quant import Array
from codegen.ir.shape import Span
from codegen.kernels.slices import channel_slice
from codegen.kernels.tiles import channel_tile as tile_of
from codegen.laws.graphs import graph_of
from codegen.laws.law import Law, must
from codegen.ops import Pad, answers
from codegen.ops.case import Case, same

_SHARES = (0.2, 0.7)
_TURN = (0, 2, 1, 3)


def result(op: Op, ins: Sequence[Array]) -> Array:
    """The output."""
    return op.golden(ins)[0]


def _of(case: Case) -> Array:
    return result(case.op, list(case.arrays))


def _view(case: Case) -> NodeView:
    graph = graph_of([case])
    return graph.view(graph.nodes[0])


def _clamped(case: Case) -> None:
    y = _of(case)
    low, high = (int(v) for v in np.quantile(y, _SHARES, method="nearest"))
    for bounds in ((low, high), (low, low), (int(y.min()), int(y.max()))):
        op = answers.clamped(case.op, *bounds)
        made = op is not None and same(result(op, list(case.arrays)), np.clip(y, *bounds).astype(y.dtype))
        must(made, f"clamped to {bounds} it gives something else than a clamp behind it")


def _layouts(case: Case) -> Iterator[tuple[tuple[int, ...], Op]]:
    rank = case.op.infer(case.types)[0].shape
    for perm in permutations(range(len(rank))):
        op = answers.in_layout(case.op, perm)
        if op is not None:
            yield perm, op


def _in_layout(case: Case) -> None:
    y = _of(case)
    stored = answers.layout_inputs(case.op, len(case.arrays))
    for perm, op in _layouts(case):
        ins = [_extended(x, y.ndim).transpose(perm) if i in stored else x for i, x in enumerate(case.arrays)]
        if all(case.arrays[i].ndim <= y.ndim for i in stored):
            must(same(result(op, ins), y.transpose(perm)), f"in layout {perm} the result is not transposed")


def _extended(x: Array, rank: int) -> Array:
    return x.reshape((1,) * (rank - x.ndim) + x.shape)


def _turned(case: Case) -> None:
    op = answers.turned(case.op)
    ins = [x.transpose(_TURN) if x.ndim == len(_TURN) else x for x in case.arrays]
    must(op is not None and same(result(op, ins), _of(case).transpose(_TURN)), "turned it gives something else")


def _padded(case: Case) -> None:
    x = case.types[0]
    value, consts = getattr(case.op, "x_zero_point", 0.0 if x.dtype.is_float else x.dtype.low), _view(case).consts
    op = answers.padded(case.op, (1, 0), (0, 2), value, x, consts)
    before = result(Pad((0, 1, 0, 0), (0, 0, 2, 0), "constant", value), [case.arrays[0]])
    behind = result(case.op, [before, *case.arrays[1:]])
    must(op is not None and same(result(op, list(case.arrays)), behind), "padding itself it gives something else")
    must(answers.padded(case.op, (1, 0), (0, 2), value + 1, x, consts) is None, "it pads with another number")


def _is_padded(case: Case) -> bool:
    return answers.padded(case.op, (0, 0), (0, 0), 0, case.types[0], _view(case).consts) is not None


def _of_a_corner(case: Case) -> tuple[Array, tuple[Op, Span, Span]] | None:
    """The first pixel of the input, and what the operator answers of it where it serves so small a map."""
    x = case.arrays[0]
    if x.ndim != len(_TURN) or getattr(case.op, "inner_taps", None) is None:
        return None
    corner = np.ascontiguousarray(x[:, :1, :1])
    served = all(window.out_len(1) > 0 for window in (case.op.h, case.op.w))  # type: ignore[attr-defined]
    found = answers.inner_taps(case.op, replace(case.types[0], shape=corner.shape)) if served else None
    return None if found is None else (corner, found)


def _inner(case: Case) -> None:
    found = _of_a_corner(case)
    assert found is not None, "an operator that answers drops weights"
    x, (op, rows, columns) = found
    weights, *others = case.arrays[1:]
    kept = weights[:, rows.start : rows.stop, columns.start : columns.stop]
    must(same(result(op, [x, kept, *others]), result(case.op, [x, weights, *others])), "weights that go are summed")


def _is_tiled(case: Case) -> bool:
    return answers.channel_tile(case.op, 0, 1) is not None and case.dynamic == (0,)


def _tiled(case: Case) -> None:
    view, y = _view(case), _of(case)
    for start, stop in ((0, 1), (0, y.shape[-1]), (y.shape[-1] - 1, y.shape[-1])):
        tile = tile_of(view, start, stop)
        ins = [case.arrays[i] if c is None else c for i, c in enumerate(tile.consts)]
        must(same(result(tile.op, ins), y[..., start:stop]), f"channels {start} to {stop} are not those of the result")
        must(tile.op.infer(tile.ins) == tile.outs, f"the type of channels {start} to {stop}")


def _column_tiled(case: Case) -> None:
    x, y = case.arrays[0], _of(case)
    width = y.shape[-2]
    for start, stop in ((0, 1), (0, width), (width // 2, width), (width - 1, width)):
        found = answers.column_tile(case.op, start, stop, case.types[0])
        assert found is not None, "an operator that answers has tiles of columns"
        op, read = found
        if not len(read):  # all of them lie in the padding
            continue
        ins = [x[..., read.start : read.stop, :], *case.arrays[1:]]
        must(same(result(op, ins), y[..., start:stop, :]), f"columns {start} to {stop} are not those of the result")


def _channelwise(case: Case) -> None:
    (x,), y = case.arrays, _of(case)
    for start, stop in ((0, 1), (x.shape[-1] - 1, x.shape[-1])):
        part = result(case.op, [np.ascontiguousarray(x[..., start:stop])])
        must(same(part, y[..., start:stop]), f"channels {start} to {stop} depend on others")


def _depthwise(case: Case) -> None:
    view, y = _view(case), _of(case)
    must(answers.depthwise_tile(case.op, 0, 1, case.types) is None, "one channel is no slice")
    for start, stop in ((0, 2), (0, y.shape[-1]), (y.shape[-1] - 2, y.shape[-1])):
        part = channel_slice(view, start, stop)
        assert part is not None, "an operator that answers has slices"
        ins = [case.arrays[0][..., start:stop], *(c for c in part.consts[1:] if c is not None)]
        must(same(result(part.op, ins), y[..., start:stop]), f"channels {start} to {stop} are not those of the result")
        must(part.op.infer(part.ins) == part.outs, f"the type of channels {start} to {stop}")


def _elementwise(case: Case) -> None:
    y = _of(case)
    layouts = permutations(range(y.ndim))
    must(all(answers.in_layout(case.op, perm) == case.op for perm in layouts), "it has no `in_layout` of every layout")
    if any(x.shape != y.shape and x.size > 1 for x in case.arrays):
        return
    flat = [x.reshape(-1) for x in case.arrays]
    must(same(result(case.op, flat), y.reshape(-1)), "elements depend on the shape")


def _moves(case: Case) -> None:
    (x,) = case.arrays
    source = np.arange(x.size, dtype=np.int64).reshape(x.shape)
    must(same(result(case.op, [x]), x.reshape(-1)[result(case.op, [source])]), "not each element is a copy")


def _views(case: Case) -> None:
    (x,) = case.arrays
    must(result(case.op, [x]).tobytes() == x.tobytes(), "the bytes are others")


def _is_ordered(case: Case) -> bool:
    return answers.reorders(case.op) and answers.permutation(case.op, case.types[0]) is not None


def _ordered(case: Case) -> None:
    (x,) = case.arrays
    perm = answers.permutation(case.op, case.types[0])
    must(perm is not None and same(result(case.op, [x]), x.transpose(perm)), f"it is no transposition by {perm}")


def _weighted(case: Case) -> None:
    """An output without weights is its bias; the sum of one tap is a product."""
    x, w, b = case.arrays
    silent = result(case.op, [x, np.zeros_like(w), b])
    again = result(case.op, [np.zeros_like(x), np.zeros_like(w), b])
    must(same(silent, again), "without weights the result depends on the input")
    must((silent.reshape(-1, len(b)) == silent.reshape(-1, len(b))[0]).all(), "without weights outputs differ")
    neutral = np.full_like(x, case.op.x_zero_point)  # type: ignore[attr-defined]
    must(same(result(case.op, [neutral, w, b]), silent), "an input of zero gives more than the bias")


def _is_bounded(case: Case) -> bool:
    return {"low", "high"} <= set(getattr(type(case.op), "__slots__", ()))


def _bounded(case: Case) -> None:
    must(answers.clamped(case.op, -1, 1) is not None, "it has bounds, and no `clamped`")


def _said(case: Case) -> None:
    """A reader of the C does not know the record."""
    must("`" not in sentence(case.op), "its first sentence names a field: say it in `said`")


ANSWER_LAWS = (
    Law(
        "clamped",
        "clamped, it gives what a clamp behind it gives",
        _clamped,
        lambda c: answers.clamped(c.op, -1, 1) is not None,
    ),
    Law(
        "in_layout",
        "in another layout it gives its result transposed",
        _in_layout,
        lambda c: any(True for _ in _layouts(c)),
    ),
    Law("turned", "turned, it gives its result turned", _turned, lambda c: answers.turned(c.op) is not None),
    Law("padded", "padding itself, it gives what it gives behind a Pad", _padded, _is_padded),
    Law(
        "inner_taps",
        "without weights that only see padding its result is the same",
        _inner,
        lambda c: _of_a_corner(c) is not None,
    ),
    Law("channel_tile", "tiles of channels are parts of the result", _tiled, _is_tiled),
    Law(
        "column_tile",
        "tiles of columns are parts of the result",
        _column_tiled,
        lambda c: answers.column_tile(c.op, 0, 1, c.types[0]) is not None,
    ),
    Law("channelwise", "channels depend on nothing else", _channelwise, lambda c: answers.is_channelwise(c.op)),
    Law(
        "depthwise_tile",
        "slices of channels are parts of the result",
        _depthwise,
        lambda c: answers.depthwise_tile(c.op, 0, 2, c.types) is not None,
    ),
    Law("elementwise", "elements do not depend on the shape", _elementwise, lambda c: answers.is_elementwise(c.op)),
    Law("moves_only", "movement copies elements", _moves, lambda c: answers.moves_only(c.op)),
    Law("view", "a view has the bytes of its input", _views, lambda c: answers.is_view(c.op)),
    Law("permutation", "an order of axes transposes", _ordered, _is_ordered),
    Law("weighted_sum", "weighted sums are those of their weights", _weighted, lambda c: answers.is_weighted_sum(c.op)),
    Law("bounds", "an operator with bounds says how they are narrowed", _bounded, _is_bounded),
    Law("said", "what it says of itself in the C names no field", _said),
)
