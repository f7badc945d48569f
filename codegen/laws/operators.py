"""The laws that every operator keeps, on every case: of its types, its rows, its memory, and itself as a record."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator

import numpy as np

from codegen.golden.interpreter import run_graph
from codegen.ir.op import RowRule
from codegen.ir.quant import Array, DType
from codegen.ir.shape import Span, row_count
from codegen.ir.verify import verify_graph
from codegen.laws.graphs import graph_of
from codegen.laws.law import Law, must
from codegen.ops import broken_limits
from codegen.ops.answers import work
from codegen.ops.case import Case, random_array, same

_ENDS = 3
"""The last row and the two spans, which `row_sets` gives last."""


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


def _some(sets: Iterator[tuple[Span, set[int], RowRule]], most: int) -> Iterator[tuple[Span, set[int]]]:
    """About so many of them, spread evenly, the last row's and the spans' among them."""
    known = [(span, read) for span, read, _ in sets]
    step = -(-len(known) // most) if most else 1
    yield from (found for i, found in enumerate(known) if i % step == 0 or i >= len(known) - _ENDS)


def _meets_limits(case: Case) -> None:
    broken = [limit.sentence for limit in broken_limits(case.op, case.types)]
    must(not broken, f"the case breaks a limit of its operator: {'; '.join(broken)}")


def types_are_said(case: Case) -> None:
    """Golden returns the shapes and element types that `infer` names."""
    made = [(y.shape, y.dtype.name) for y in case.op.golden(case.arrays)]
    said = [(kind.shape, kind.dtype.numpy.name) for kind in case.op.infer(case.types)]
    must(made == said, f"`infer` says {said}, `golden` makes {made}")


def _leaves_inputs(case: Case) -> None:
    given = [x.copy() for x in case.arrays]
    first = case.op.golden(given)[0].copy()
    must(all(same(x, y) for x, y in zip(given, case.arrays, strict=True)), "`golden` writes to its inputs")
    must(same(first, case.op.golden(given)[0]), "`golden` gives another result the second time")


def reads_its_rows(case: Case, most: int = 0) -> None:
    """Garbage in all other rows changes nothing; about `most` rows of the output are tried, all when 0."""
    expected = rows_of(case.op.golden(case.arrays)[0])
    rng = np.random.default_rng(1)
    for index in case.dynamic:
        x = case.arrays[index]
        for span, read in _some(row_sets(case, index), most):
            garbled = random_array(rng, x.shape, DType.of(x))
            kept = sorted(read)
            rows_of(garbled)[kept] = rows_of(x)[kept]
            ins = [garbled if i == index else a for i, a in enumerate(case.arrays)]
            actual = rows_of(case.op.golden(ins)[0])
            right = same(actual[span.start : span.stop], expected[span.start : span.stop])
            which = f"rows {span.start} to {span.stop - 1}" if len(span) > 1 else f"row {span.start}"
            must(right, f"{which} of the output: more of input {index} is read than the rows {kept} that `rows` names")


def _spans_hold_rows(case: Case) -> None:
    outs = case.op.infer(case.types)
    for index in case.dynamic:
        n_in = row_count(case.types[index].shape)
        for span, read, rule in row_sets(case, index):
            needed = rule.in_span(span, n_in)
            must(0 <= needed.start <= needed.stop <= n_in, f"span {needed} of {n_in} rows")
            must(read <= set(range(needed.start, needed.stop)), f"{sorted(read)} are not all in {needed}")
        empty = case.op.rows(index, case.types, outs).in_span(Span(2, 2), n_in)
        must(len(empty) == 0, "no output rows need input rows")


def _has_rules(case: Case) -> None:
    outs = case.op.infer(case.types)
    for index in case.dynamic:
        table = case.op.rows(index, case.types, outs).table
        must(table is None or len(table) == row_count(outs[0].shape), f"a table of {len(table or ())} rows")


def _claims_equal_sizes(case: Case) -> None:
    outs = case.op.infer(case.types)
    sizes = {kind.bytes for kind in (outs if len(outs) == 1 else outs[1:])}
    for index in case.dynamic:
        if case.op.in_place(index, case.types, outs) and not case.op.rows(index, case.types, outs).is_same:
            must(case.types[index].bytes in sizes, f"input {index} and the output have different sizes")


def _is_record(case: Case) -> None:
    must(dataclasses.is_dataclass(case.op), "is no dataclass")
    must(not hasattr(case.op, "__dict__"), "has a __dict__: write slots=True")
    twin = dataclasses.replace(case.op)  # type: ignore[type-var]
    must(twin == case.op and hash(twin) == hash(case.op), "a copy of it is not equal to it")


def _is_graph(case: Case) -> None:
    apart = tuple(case.types[i] if isinstance(given, int) else given for i, given in enumerate(case.ins))
    graph = graph_of([dataclasses.replace(case, ins=apart)])
    verify_graph(graph)
    values = run_graph(graph, {i.value: case.arrays[int(i.value.rpartition(".")[2])] for i in graph.inputs})
    must(same(values[graph.outputs[0].value], case.op.golden(case.arrays)[0]), "another result as a node of a graph")


def _counts(case: Case) -> None:
    outs = case.op.infer(case.types)
    macs = case.op.macs(case.types, outs)
    must(isinstance(macs, int) and macs >= 0, f"`macs` says {macs!r}")
    must(work(case.op, case.types, outs) >= macs, "`work` says less than `macs`")


OPERATOR_LAWS = (
    Law("limits", "the cases meet the operator's limits", _meets_limits),
    Law("types", "what `infer` says is what `golden` returns", types_are_said),
    Law("pure", "`golden` leaves its inputs alone, and gives the same again", _leaves_inputs),
    Law("slice", "output rows depend only on the rows that `rows` names", reads_its_rows),
    Law("spans", "a span of rows holds the rows of each one", _spans_hold_rows),
    Law("tables", "rules have a row for every output row", _has_rules),
    Law("in place", "`in_place` is claimed only for equal sizes, or row by row", _claims_equal_sizes),
    Law("record", "the operator is frozen, slotted and hashable", _is_record),
    Law("node", "the operator gives the same as a node of a graph", _is_graph),
    Law("cost", "`work` is at least `macs`", _counts),
)
