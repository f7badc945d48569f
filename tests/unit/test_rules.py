"""Every rule of every chip is broken by a network, and the refusal, or the note, is its sentence."""

from __future__ import annotations

import pytest

from codegen.errors import ModelRejected
from codegen.kernels import check_target, left_to_core, target_problems
from codegen.ops import OPS
from codegen.ops.facts import FACTS
from codegen.target import Rule, Target
from tests.support.breaking import breaking, breaking_each
from tests.support.chips import CHIPS

WITH_RULES = {name: chip for name, chip in CHIPS.items() if chip.accelerator or chip.rules}


def rules_of(chip: Target) -> tuple[Rule, ...]:
    return (*chip.rules, *(chip.accelerator.rules if chip.accelerator else ()))


RULES = [(name, i) for name, chip in WITH_RULES.items() for i in range(len(rules_of(chip)))]
EXPECTED = {
    "ingenic-t40",
    "ingenic-t41",
    "ingenic-t02",
    "ingenic-txx",
    "ingenic-xs1",
    "ingenic-xs2",
    "bm1684x",
    "bm1688",
}
EXPECTED |= {"cv180x", "cv181x", "cv182x", "cv183x", "cv186x", "rdk-x3", "rdk-ultra", "amd-dpu"}


def test_the_chips_of_the_reference_systems_are_here_with_their_rules() -> None:
    assert set(WITH_RULES) >= EXPECTED
    assert len(RULES) > 100


@pytest.mark.parametrize(("name", "index"), RULES, ids=lambda v: str(v))
def test_a_network_that_breaks_the_rule_is_told_its_sentence(name: str, index: int) -> None:
    chip = CHIPS[name]
    rule = rules_of(chip)[index]
    for graph in breaking_each(rule) if rule.fact == "present" else [breaking(rule)]:
        if chip.accelerator is not None and chip.accelerator.rest == "cpu":
            said = " ".join(text for why in left_to_core(graph, chip).values() for text in why)
            assert not any(problem.code == "LAM-TARGET-020" for problem in target_problems(graph, chip))
        else:
            with pytest.raises(ModelRejected) as caught:
                check_target(graph, chip)
            assert {problem.code for problem in caught.value.problems()} >= {"LAM-TARGET-020"}
            said = caught.value.text()
        assert rule.sentence in said
        assert rule.instead
        assert f"({rule.instead})" in said


@pytest.mark.parametrize("name", WITH_RULES)
def test_rules_name_operators_and_facts_that_there_are(name: str) -> None:
    known = {op.__name__ for op in OPS}
    facts = {fact.removesuffix("_height") for fact in FACTS}
    for rule in rules_of(CHIPS[name]):
        assert set(rule.operators) <= known
        stem = rule.fact.removesuffix("_width").removesuffix("_height")
        assert stem in facts or rule.fact in FACTS or rule.fact.startswith(("in_", "out_")) or rule.fact == "time_major"
        assert len(rule.source) >= 12
