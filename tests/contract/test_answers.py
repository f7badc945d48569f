"""A law for each question that an operator may leave open, on every case of `cases/` that answers it."""

from __future__ import annotations

import pytest

from codegen.ir.op import Op
from codegen.ir.quant import TensorType
from codegen.laws import ANSWER_LAWS, Law
from codegen.ops import OPS, answers
from tests.contract.cases import cases
from tests.contract.laws import cases_of, keeps

ASKED = [(law, op) for law in ANSWER_LAWS for op in OPS if any(law.is_asked(case) for case in cases_of(op))]


@pytest.mark.parametrize(("law", "op"), ASKED, ids=[f"{law.name}-{op.__name__}" for law, op in ASKED])
def test_an_answer_keeps_its_law(law: Law, op: type[Op]) -> None:
    keeps(law, op)


def test_every_question_is_answered_by_some_operator() -> None:
    assert {law.name for law, _ in ASKED} == {law.name for law in ANSWER_LAWS}


def test_a_window_without_products_is_work() -> None:
    pools = [c for c in cases() if type(c.op).__name__ in ("AveragePool2D", "MaxPool2D")]
    assert pools
    for case in pools:
        outs = case.op.infer(case.types)
        assert answers.work(case.op, case.types, outs) == outs[0].elements * case.op.h.size * case.op.w.size  # type: ignore[attr-defined]


def test_the_defaults_say_no() -> None:
    class Silent:
        limits = ()

    op = Silent()
    kind = TensorType((1,), cases()[0].types[0].dtype)
    assert answers.clamped(op, 0, 1) is answers.in_layout(op, (0,)) is answers.turned(op) is None  # type: ignore[arg-type]
    assert answers.padded(op, (0, 0), (0, 0), 0, kind, ()) is answers.channel_tile(op, 0, 1) is None  # type: ignore[arg-type]
    assert not answers.is_elementwise(op)  # type: ignore[arg-type]
    assert not answers.moves_only(op)  # type: ignore[arg-type]
    assert not answers.is_weighted_sum(op)  # type: ignore[arg-type]
    assert list(answers.layout_inputs(op, 3)) == [0, 1, 2]  # type: ignore[arg-type]
