"""A law for each question that an operator may leave open, on every case of `cases/` that answers it."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import permutations

import numpy as np
import pytest

from codegen.emit.about import sentence
from codegen.ir.op import Op
from codegen.ir.quant import Array, TensorType
from codegen.kernels.slices import channel_slice
from codegen.kernels.tiles import channel_tile as tile_of
from codegen.ops import OPS, Pad, answers
from tests.contract.case import Case, same
from tests.contract.cases import cases
from tests.contract.laws import on_cases, on_every_case
from tests.support.graphs import one_op


def result(op: Op, ins: list[Array]) -> Array:
    return op.golden(ins)[0]


def extended(x: Array, rank: int) -> Array:
    return x.reshape((1,) * (rank - x.ndim) + x.shape)


@on_cases(lambda case: answers.clamped(case.op, -1, 1) is not None)
def test_a_clamped_operator_gives_what_a_clamp_behind_it_gives(case: Case) -> None:
    y = result(case.op, list(case.arrays))
    low, high = (int(v) for v in np.quantile(y, (0.2, 0.7), method="nearest"))
    for bounds in ((low, high), (low, low), (int(y.min()), int(y.max()))):
        op = answers.clamped(case.op, *bounds)
        assert op is not None
        assert same(result(op, list(case.arrays)), np.clip(y, *bounds).astype(y.dtype))


def layouts(case: Case) -> Iterator[tuple[tuple[int, ...], Op]]:
    rank = case.op.infer(case.types)[0].shape
    for perm in permutations(range(len(rank))):
        op = answers.in_layout(case.op, perm)
        if op is not None:
            yield perm, op


@on_cases(lambda case: any(True for _ in layouts(case)))
def test_an_operator_in_another_layout_gives_its_result_transposed(case: Case) -> None:
    y = result(case.op, list(case.arrays))
    stored = answers.layout_inputs(case.op, len(case.arrays))
    for perm, op in layouts(case):
        ins = [extended(x, y.ndim).transpose(perm) if i in stored else x for i, x in enumerate(case.arrays)]
        if all(case.arrays[i].ndim <= y.ndim for i in stored):
            assert same(result(op, ins), y.transpose(perm)), perm


@on_cases(lambda case: answers.turned(case.op) is not None)
def test_a_turned_operator_gives_its_result_turned(case: Case) -> None:
    op = answers.turned(case.op)
    assert op is not None
    turn = (0, 2, 1, 3)
    ins = [x.transpose(turn) if x.ndim == len(turn) else x for x in case.arrays]
    assert same(result(op, ins), result(case.op, list(case.arrays)).transpose(turn))


@on_cases(lambda case: answers.padded(case.op, (0, 0), (0, 0), 0, case.types[0]) is not None)
def test_an_operator_that_pads_itself_gives_what_it_gives_behind_a_pad(case: Case) -> None:
    x = case.types[0]
    value = getattr(case.op, "x_zero_point", x.dtype.low)
    op = answers.padded(case.op, (1, 0), (0, 2), value, x)
    assert op is not None
    before = Pad((0, 1, 0, 0), (0, 0, 2, 0), "constant", value)
    assert same(result(op, list(case.arrays)), result(case.op, [result(before, list(case.arrays)), *case.arrays[1:]]))
    assert answers.padded(case.op, (1, 0), (0, 2), value + 1, x) is None


def is_tiled(case: Case) -> bool:
    return answers.channel_tile(case.op, 0, 1) is not None and case.dynamic == (0,)


@on_cases(is_tiled)
def test_tiles_of_channels_are_parts_of_the_result(case: Case) -> None:
    graph = one_op(case.op, case.arrays, [kind.quant for kind in case.types], case.consts)
    view = graph.view(graph.nodes[0])
    y = result(case.op, list(case.arrays))
    for start, stop in ((0, 1), (0, y.shape[-1]), (y.shape[-1] - 1, y.shape[-1])):
        tile = tile_of(view, start, stop)
        ins = [case.arrays[i] if c is None else c for i, c in enumerate(tile.consts)]
        assert same(result(tile.op, ins), y[..., start:stop])
        assert tile.op.infer(tile.ins) == tile.outs


@on_cases(lambda case: answers.depthwise_tile(case.op, 0, 2, case.types) is not None)
def test_slices_of_a_depthwise_operator_are_parts_of_the_result(case: Case) -> None:
    graph = one_op(case.op, case.arrays, [kind.quant for kind in case.types], case.consts)
    y = result(case.op, list(case.arrays))
    assert answers.depthwise_tile(case.op, 0, 1, case.types) is None
    for start, stop in ((0, 2), (0, y.shape[-1]), (y.shape[-1] - 2, y.shape[-1])):
        part = channel_slice(graph.view(graph.nodes[0]), start, stop)
        assert part is not None
        ins = [case.arrays[0][..., start:stop], *(c for c in part.consts[1:] if c is not None)]
        assert same(result(part.op, ins), y[..., start:stop])
        assert part.op.infer(part.ins) == part.outs


@on_cases(lambda case: answers.is_elementwise(case.op))
def test_elementwise_operators_do_not_look_at_the_shape(case: Case) -> None:
    y = result(case.op, list(case.arrays))
    if any(x.shape != y.shape and x.size > 1 for x in case.arrays):
        return
    flat = [x.reshape(-1) for x in case.arrays]
    assert same(result(case.op, flat), y.reshape(-1))


@on_cases(lambda case: answers.moves_only(case.op))
def test_movement_copies_elements(case: Case) -> None:
    (x,) = case.arrays
    source = np.arange(x.size, dtype=np.int64).reshape(x.shape)
    assert same(result(case.op, [x]), x.reshape(-1)[result(case.op, [source])])


@on_cases(lambda case: True)
def test_what_an_operator_says_of_itself_in_c_names_no_field_of_its_own(case: Case) -> None:
    """A reader of the C does not know the record."""
    assert "`" not in sentence(case.op)


@on_cases(lambda case: answers.is_view(case.op))
def test_a_view_has_the_bytes_of_its_input(case: Case) -> None:
    (x,) = case.arrays
    assert result(case.op, [x]).tobytes() == x.tobytes()


@on_cases(lambda case: answers.reorders(case.op) and answers.permutation(case.op, case.types[0]) is not None)
def test_an_operator_that_names_an_order_of_axes_transposes(case: Case) -> None:
    (x,) = case.arrays
    perm = answers.permutation(case.op, case.types[0])
    assert perm is not None
    assert same(result(case.op, [x]), x.transpose(perm))


@on_cases(lambda case: answers.is_weighted_sum(case.op))
def test_weighted_sums_are_those_of_their_weights(case: Case) -> None:
    """An output without weights is its bias; the sum of one tap is a product."""
    x, w, b = case.arrays
    op = case.op
    silent = result(op, [x, np.zeros_like(w), b])
    again = result(op, [np.zeros_like(x), np.zeros_like(w), b])
    assert same(silent, again)
    assert (silent.reshape(-1, len(b)) == silent.reshape(-1, len(b))[0]).all()
    neutral = np.full_like(x, op.x_zero_point)  # type: ignore[attr-defined]
    assert same(result(op, [neutral, w, b]), silent)


@on_every_case
def test_work_is_at_least_the_multiplications(case: Case) -> None:
    outs = case.op.infer(case.types)
    assert answers.work(case.op, case.types, outs) >= case.op.macs(case.types, outs)


def test_a_window_without_products_is_work() -> None:
    pools = [c for c in cases() if type(c.op).__name__ in ("AveragePool2D", "MaxPool2D")]
    assert pools
    for case in pools:
        outs = case.op.infer(case.types)
        assert answers.work(case.op, case.types, outs) == outs[0].elements * case.op.h.size * case.op.w.size  # type: ignore[attr-defined]


@pytest.mark.parametrize("op", OPS, ids=lambda op: op.__name__)
def test_bounds_are_answered_for(op: type[Op]) -> None:
    """An operator with bounds says how they are narrowed, so that a Clamp behind it costs nothing."""
    case = next(case for case in cases() if type(case.op) is op)
    bounded = {"low", "high"} <= {name for name in op.__slots__}  # type: ignore[attr-defined]
    assert not bounded or answers.clamped(case.op, -1, 1) is not None


@pytest.mark.parametrize("op", OPS, ids=lambda op: op.__name__)
def test_elementwise_operators_work_in_every_layout(op: type[Op]) -> None:
    for case in (case for case in cases() if type(case.op) is op and answers.is_elementwise(case.op)):
        rank = len(case.op.infer(case.types)[0].shape)
        assert all(answers.in_layout(case.op, perm) == case.op for perm in permutations(range(rank)))


def test_the_defaults_say_no() -> None:
    class Silent:
        limits = ()

    op = Silent()
    kind = TensorType((1,), cases()[0].types[0].dtype)
    assert answers.clamped(op, 0, 1) is answers.in_layout(op, (0,)) is answers.turned(op) is None  # type: ignore[arg-type]
    assert answers.padded(op, (0, 0), (0, 0), 0, kind) is answers.channel_tile(op, 0, 1) is None  # type: ignore[arg-type]
    assert not answers.is_elementwise(op)  # type: ignore[arg-type]
    assert not answers.moves_only(op)  # type: ignore[arg-type]
    assert not answers.is_weighted_sum(op)  # type: ignore[arg-type]
    assert list(answers.layout_inputs(op, 3)) == [0, 1, 2]  # type: ignore[arg-type]
