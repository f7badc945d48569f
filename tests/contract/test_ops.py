"""The laws every operator obeys, on every case of `cases/`."""

from __future__ import annotations

import dataclasses
import re
from collections import Counter
from collections.abc import Iterator

import numpy as np
import pytest

from codegen.errors.former import FORMER_IDS
from codegen.golden.interpreter import run_graph
from codegen.ir.op import Limit, Op, RowRule
from codegen.ir.quant import Array, DType, TensorType
from codegen.ir.shape import Span, row_count
from codegen.ir.verify import verify_graph
from codegen.ops import OPS, broken_limits
from tests.contract.case import Case, same
from tests.contract.cases import FAMILIES, PRODUCTS, cases
from tests.contract.laws import on_every_case
from tests.support.graphs import one_op, random_array


def rows_of(x: Array) -> Array:
    """The tensor as its rows."""
    return x.reshape(row_count(x.shape), -1)


def row_sets(case: Case, index: int) -> Iterator[tuple[Span, set[int], RowRule]]:
    """Spans of output rows with the input rows that the rule says they read."""
    outs = case.op.infer(case.types)
    rule = case.op.rows(index, case.types, outs)
    n_in, n_out = row_count(case.types[index].shape), row_count(outs[0].shape)
    for row in range(n_out):
        first = rule.first(row) if not rule.whole else 0
        taps = range(n_in) if rule.whole or rule.accumulate else [first + i * rule.dilation for i in range(rule.taps)]
        yield Span(row, row + 1), {r for r in taps if 0 <= r < n_in}, rule
    for span in (Span(0, n_out), Span(n_out // 3, n_out - n_out // 4)):
        needed = rule.in_span(span, n_in)
        yield span, set(range(needed.start, needed.stop)), rule


def test_cases_have_names_of_their_own() -> None:
    assert [name for name, count in Counter(case.name for case in cases()).items() if count > 1] == []


@on_every_case
def test_infer_is_what_golden_returns(case: Case) -> None:
    results = case.op.golden(case.arrays)
    kinds = case.op.infer(case.types)
    assert [(y.shape, DType.of(y)) for y in results] == [(k.shape, k.dtype) for k in kinds]


@on_every_case
def test_golden_leaves_its_inputs_alone(case: Case) -> None:
    before = [x.copy() for x in case.arrays]
    first = case.op.golden(case.arrays)[0].copy()
    assert all(same(x, y) for x, y in zip(before, case.arrays, strict=True))
    assert same(first, case.op.golden(case.arrays)[0])


@on_every_case
def test_output_rows_depend_only_on_the_rows_of_the_rule(case: Case) -> None:
    """The backward-slice law: garbage in all other rows changes nothing."""
    expected = rows_of(case.op.golden(case.arrays)[0])
    rng = np.random.default_rng(1)
    for index in case.dynamic:
        x = case.arrays[index]
        for span, read, _ in row_sets(case, index):
            garbled = random_array(rng, x.shape, DType.of(x))
            kept = sorted(read)
            rows_of(garbled)[kept] = rows_of(x)[kept]
            ins = [garbled if i == index else a for i, a in enumerate(case.arrays)]
            actual = rows_of(case.op.golden(ins)[0])
            assert same(actual[span.start : span.stop], expected[span.start : span.stop])


@on_every_case
def test_spans_hold_the_rows_of_each_output_row(case: Case) -> None:
    outs = case.op.infer(case.types)
    for index in case.dynamic:
        n_in = row_count(case.types[index].shape)
        for span, read, rule in row_sets(case, index):
            needed = rule.in_span(span, n_in)
            assert 0 <= needed.start <= needed.stop <= n_in
            assert read <= set(range(needed.start, needed.stop))
        assert len(case.op.rows(index, case.types, outs).in_span(Span(2, 2), n_in)) == 0


@on_every_case
def test_rules_have_a_row_for_every_output_row(case: Case) -> None:
    outs = case.op.infer(case.types)
    for index in case.dynamic:
        table = case.op.rows(index, case.types, outs).table
        assert table is None or len(table) == row_count(outs[0].shape)


@on_every_case
def test_in_place_is_claimed_only_for_equal_sizes(case: Case) -> None:
    outs = case.op.infer(case.types)
    for index in case.dynamic:
        if case.op.in_place(index, case.types, outs):
            assert case.types[index].bytes in {kind.bytes for kind in (outs if len(outs) == 1 else outs[1:])}


@on_every_case
def test_cost_is_the_number_of_products(case: Case) -> None:
    counted = PRODUCTS.get(type(case.op), lambda _: 0)
    assert case.op.macs(case.types, case.op.infer(case.types)) == counted(case)


@on_every_case
def test_operators_are_frozen_slotted_and_hashable(case: Case) -> None:
    assert dataclasses.is_dataclass(case.op)
    assert not hasattr(case.op, "__dict__")
    twin = dataclasses.replace(case.op)
    assert twin == case.op
    assert hash(twin) == hash(case.op)


@on_every_case
def test_case_is_a_graph(case: Case) -> None:
    graph = one_op(case.op, case.arrays, [kind.quant for kind in case.types], case.consts)
    verify_graph(graph)
    feeds = {f"x{i}": case.arrays[i] for i in case.dynamic}
    values = run_graph(graph, feeds)
    assert same(values[graph.outputs[0].value], case.op.golden(case.arrays)[0])


def test_limits_have_ids_of_their_own() -> None:
    codes = Counter(limit.code for op in OPS for limit in op.limits)
    assert [code for code, count in codes.items() if count > 1] == []
    assert set(FORMER_IDS) <= set(codes)
    assert not {*FORMER_IDS.values()} & {*codes, *FORMER_IDS}


def test_ids_of_limits_name_the_family_in_whose_file_the_cases_are() -> None:
    for family in FAMILIES:
        word = family.__name__.rsplit(".", 1)[1].upper().replace("_", "")
        codes = [limit.code for op in {type(case.op) for case in family.cases()} for limit in op.limits]
        assert [code for code in codes if not re.fullmatch(rf"LAM-OPS-{word}-\d\d", code)] == []


def test_limits_are_sentences_for_users() -> None:
    for op in OPS:
        for limit in op.limits:
            assert " must " in limit.sentence
            assert not limit.sentence.endswith(".")


@on_every_case
def test_cases_meet_the_limits(case: Case) -> None:
    assert broken_limits(case.op, case.types) == ()


_TYPED = re.compile(r"the (input|first input|left side) must be [su]\d+(?!.*f32)")


@pytest.mark.parametrize(
    ("op", "limit"),
    [pytest.param(op, x, id=f"{op.__name__}-{x.code}") for op in OPS for x in op.limits if _TYPED.match(x.sentence)],
)
def test_limited_types_are_refused(op: type[Op], limit: Limit) -> None:
    """Where an operator has a limit on its input's type, a float input breaks it."""
    case = next(case for case in cases() if type(case.op) is op)
    assert limit.holds(case.op, case.types)
    assert not limit.holds(case.op, (TensorType(case.types[0].shape, DType.F32), *case.types[1:]))


def test_most_operators_on_integers_limit_their_types() -> None:
    whole = [op for op in OPS if not op.__name__.startswith("Float")]
    assert sum(any(_TYPED.match(x.sentence) for x in op.limits) for op in whole) > len(whole) / 2
