"""ONNX's own tests of its operators through C: what a test says at its tolerance, and golden to the bit.

Many tests become one network, so that one compilation serves them all.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from codegen.golden.interpreter import run_graph
from codegen.host import Network
from codegen.ir.quant import Array
from codegen.passes import simplify
from tests.contract.test_kernels import make_project
from tests.support.node_graphs import Compilable, Refused, compilable, disagreement, fed, prefixed, side_by_side
from tests.support.node_tests import node_tests
from tests.support.sanitizers import REPORTS
from tests.support.tools import require_tool

SAMPLE = 6
"""Of so many tests the quick run takes one."""
TOGETHER = 160
"""Tests in one network."""
QUICK = ("gcc", "-O0")
STRICT = ("gcc", f"-O1 {REPORTS}")


def same_bits(a: Array, b: Array) -> bool:
    """Whether numbers are equal to the bit; NaN equals NaN."""
    both_nan = (a != a) & (b != b)
    return bool((both_nan | (a.view(f"u{a.itemsize}") == b.view(f"u{b.itemsize}"))).all())


def wrong(chosen: list[Compilable], folder: Path, build: tuple[str, str]) -> dict[str, str]:
    """What is wrong with each test, by name."""
    simple = [prefixed(simplify(made.graph), f"{i}/") for i, made in enumerate(chosen)]
    feeds = {f"{i}/{n}": x for i, made in enumerate(chosen) for n, x in fed(made).items()}
    together = side_by_side(simple)
    project = make_project(together, folder, "c99")
    with Network(project, compiler=build[0], flags=build[1].split()) as network:
        actual = network.run_raw({i.value: feeds[i.value] for i in together.inputs})
    found = {}
    for made, graph in zip(chosen, simple, strict=True):
        golden = run_graph(made.graph, fed(made))
        results = {p.value: actual[q.value] for p, q in zip(made.graph.outputs, graph.outputs, strict=True)}
        text = disagreement(made, results)
        for name, y in results.items():
            text = text or ("" if same_bits(np.asarray(golden[name]), y) else f"C is not golden in '{name}'")
        if text:
            found[made.case.name] = text
    return found


def compiled(names: list[str]) -> list[Compilable]:
    """Those of the tests that are read."""
    return [made for name in names if not isinstance(made := compilable(name), Refused)]


def test_a_spread_of_the_tests_is_right_in_c(tmp_path: Path) -> None:
    require_tool("gcc")
    chosen = compiled(sorted(node_tests())[::SAMPLE])
    assert len(chosen) > 200
    for start in range(0, len(chosen), TOGETHER):
        assert wrong(chosen[start : start + TOGETHER], tmp_path / str(start), QUICK) == {}


@pytest.mark.slow
@pytest.mark.parametrize("part", range(12))
def test_every_test_is_right_in_c(part: int, tmp_path: Path) -> None:
    require_tool("gcc")
    chosen = compiled(sorted(node_tests())[part::12])
    assert wrong(chosen, tmp_path, STRICT) == {}
