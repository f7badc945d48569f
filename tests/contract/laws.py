"""A law on cases becomes a test for each operator; what fails names the case."""

from __future__ import annotations

from collections.abc import Callable, Iterable

import pytest

from codegen.ir.op import Op
from codegen.ops import OPS
from tests.contract.case import Case
from tests.contract.cases import cases

Law = Callable[[Case], None]
Test = Callable[[type[Op]], None]


def on_every_case(law: Law) -> Test:
    """A law of all operators."""
    return _tests(law, cases(), OPS)


def on_cases(answered: Callable[[Case], bool]) -> Callable[[Law], Test]:
    """A law of the operators that answer a question, on the cases that do; that there are some is part of it."""
    chosen = [case for case in cases() if answered(case)]
    kinds = {type(case.op) for case in chosen}
    assert kinds
    return lambda law: _tests(law, chosen, [op for op in OPS if op in kinds])


def _tests(law: Law, chosen: Iterable[Case], kinds: Iterable[type[Op]]) -> Test:
    by_kind: dict[type[Op], list[Case]] = {kind: [] for kind in kinds}
    for case in chosen:
        by_kind[type(case.op)].append(case)

    def test(op: type[Op]) -> None:
        assert by_kind[op], "an operator has a case at least"
        for case in by_kind[op]:
            try:
                law(case)
            except Exception as error:
                error.add_note(f"on the case {case.name}")
                raise

    test.__name__, test.__doc__, test.__module__ = law.__name__, law.__doc__, law.__module__
    marked: Test = pytest.mark.parametrize("op", list(by_kind), ids=lambda op: op.__name__)(test)
    return marked
