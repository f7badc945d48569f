"""The laws every operator obeys, on every case of `cases/`."""

from __future__ import annotations

import re
from collections import Counter

import pytest

from codegen.errors.former import FORMER_IDS
from codegen.ir.op import Limit, Op
from codegen.ir.quant import DType, TensorType
from codegen.laws import OPERATOR_LAWS, Law
from codegen.ops import OPS
from tests.contract.case import Case
from tests.contract.cases import FAMILIES, PRODUCTS, cases
from tests.contract.laws import keeps, on_every_case


def test_cases_have_names_of_their_own() -> None:
    assert [name for name, count in Counter(case.name for case in cases()).items() if count > 1] == []


@pytest.mark.parametrize("law", OPERATOR_LAWS, ids=lambda law: law.name)
@pytest.mark.parametrize("op", OPS, ids=lambda op: op.__name__)
def test_operators_keep_the_laws(op: type[Op], law: Law) -> None:
    keeps(law, op)


@on_every_case
def test_cost_is_the_number_of_products(case: Case) -> None:
    counted = PRODUCTS.get(type(case.op), lambda _: 0)
    assert case.op.macs(case.types, case.op.infer(case.types)) == counted(case)


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
