"""A law on cases becomes a test for each operator; what fails names the case."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import cache

import pytest

from codegen.ir.op import Op
from codegen.laws import Law
from codegen.ops import OPS
from tests.contract.case import Case
from tests.contract.cases import cases

Trial = Callable[[Case], None]
Test = Callable[[type[Op]], None]


def on_every_case(law: Trial) -> Test:
    """A law of all operators."""
    return _tests(law, cases(), OPS)


@cache
def _by_operator() -> dict[type[Op], list[Case]]:
    found: dict[type[Op], list[Case]] = {op: [] for op in OPS}
    for case in cases():
        found[type(case.op)].append(case)
    return found


def cases_of(op: type[Op]) -> list[Case]:
    """The cases of an operator."""
    return _by_operator()[op]


def keeps(law: Law, op: type[Op]) -> None:
    """Try a law of the package on every case of an operator that it is about."""
    assert cases_of(op), "an operator has a case at least"
    for case in cases_of(op):
        try:
            if law.is_asked(case):
                law.holds(case)
        except Exception as error:
            error.add_note(f"on the case {case.name}")
            raise


def _tests(law: Trial, chosen: Iterable[Case], kinds: Iterable[type[Op]]) -> Test:
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
