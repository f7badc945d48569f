"""What a chip does not run is said at once, each problem by itself."""

from __future__ import annotations

from dataclasses import replace

import pytest

from codegen.errors import ModelRejected, RuleBad
from codegen.ir.graph import Graph
from codegen.kernels import check_target
from codegen.ops.facts import facts
from codegen.target import Rule, Target, load_target
from tests.support.graphs import conv_chain

HOST = load_target("host")


def rule(fact: str, *operators: str, **asked: object) -> Rule:
    none = {"at_least": None, "at_most": None, "multiple_of": None, "one_of": ()}
    said = {"sentence": f"{fact} is what it is", "source": "made up", "instead": ""}
    return Rule(operators=operators, fact=fact, **{**none, **said, **asked})  # type: ignore[arg-type]


def with_rules(*rules: Rule) -> Target:
    return replace(HOST, rules=rules)


@pytest.fixture(name="graph", scope="module")
def _graph() -> Graph:
    return conv_chain(seed=2)


def ids(graph: Graph, target: Target) -> list[str]:
    with pytest.raises(ModelRejected) as caught:
        check_target(graph, target)
    return [problem.code for problem in caught.value.problems()]


def test_a_chip_without_rules_runs_it(graph: Graph) -> None:
    check_target(graph, HOST)


def test_every_operator_that_breaks_a_rule_is_named(graph: Graph) -> None:
    convs = [n for n in graph.nodes if type(n.op).__name__ == "Conv2D"]
    assert ids(graph, with_rules(rule("kernel_height", "Conv2D", at_most=0))) == ["LAM-TARGET-020"] * len(convs)
    check_target(graph, with_rules(rule("kernel_height", "Conv2D", at_most=64)))


def test_rules_types_and_operators_are_said_at_once(graph: Graph) -> None:
    chip = replace(with_rules(rule("out_channels", one_of=(1_000_003,))), unsupported=("Conv2D",), dtypes=("s32",))
    assert set(ids(graph, chip)) == {"LAM-TARGET-007", "LAM-TARGET-008", "LAM-TARGET-020"}


def test_a_broken_rule_says_its_sentence_and_the_rewrite(graph: Graph) -> None:
    chip = with_rules(rule("kernel_width", "Conv2D", at_most=0, sentence="no windows", instead="take a Dense"))
    with pytest.raises(ModelRejected, match=r"kernel_width \d+: no windows \(take a Dense\)"):
        check_target(graph, chip)


def test_a_rule_for_all_operators_passes_over_those_without_the_fact(graph: Graph) -> None:
    check_target(graph, with_rules(rule("block", at_most=0)))


@pytest.mark.parametrize(
    "chip",
    [
        replace(HOST, unsupported=("Conv2d",)),
        with_rules(rule("kernel_height", "Convolution", at_most=3)),
        with_rules(rule("kernel_heigth", "Conv2D", at_most=3)),
    ],
    ids=["unsupported", "operator of a rule", "fact of a rule"],
)
def test_a_misspelt_operator_or_fact_is_refused(chip: Target, graph: Graph) -> None:
    with pytest.raises(RuleBad, match="LAM-TARGET-021"):
        check_target(graph, chip)


def test_the_facts_of_a_convolution(graph: Graph) -> None:
    node = next(n for n in graph.nodes if type(n.op).__name__ == "Conv2D")
    view = graph.view(node)
    known = facts(view)
    height, width, depth = view.ins[0].shape[1:]
    assert (known["in_height"], known["in_width"], known["in_channels"]) == (height, width, depth)
    assert (known["kernel_height"], known["kernel_width"]) == view.ins[1].shape[1:3]
    assert (known["in_bits"], known["out_bits"], known["weight_bits"], known["inputs"]) == (8, 8, 8, 1)
    assert known["groups"] == 1
