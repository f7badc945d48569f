"""Random networks, planned in random ways: golden equals C, nothing outside the arena is touched, its size is real.

`python -m tests.random_networks --count 2000 --seed 1` is the long run; with `--target` the kernels are another chip's.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from itertools import islice
from pathlib import Path

import numpy as np
import pytest

from codegen.golden.interpreter import run_graph
from codegen.ir.quant import Array
from codegen.ops import Conv2D
from tests.random_networks.batch import Batch
from tests.random_networks.cases import Case, draw_case, planned
from tests.random_networks.coverage import SHARES
from tests.random_networks.draw import LEAST_SPAN, SMALL
from tests.random_networks.proof import prove, seeds
from tests.support.graphs import random_array
from tests.support.sanitizers import REPORTS
from tests.support.tools import require_tool

SANITIZE = ("-O1", *REPORTS.split())


def test_random_networks_equal_golden_in_c() -> None:
    require_tool("cc")
    proof = prove(seeds(3, 18), flags=("-O0",))
    assert proof.faults == []


def test_random_networks_are_planned_soundly() -> None:
    proof = prove(seeds(23, 72), plan_only=True)
    assert proof.faults == []
    for what, share in SHARES.items():
        assert proof.coverage.features[what] >= share * 0.8 * proof.coverage.networks, what
    assert len(proof.coverage.missing(each=1)) <= 5, "what is rare is looked for among many, which is slow"


@pytest.mark.slow
@pytest.mark.parametrize("chip", ["cortex-m0plus", "cortex-m3", "cortex-m4", "cortex-m55", "rv32imc", "aarch64-dot"])
def test_kernels_of_other_chips_equal_golden_in_plain_c(chip: str) -> None:
    """The layouts of their weights, and what stands for their instructions elsewhere."""
    require_tool("cc")
    proof = prove(seeds(29, 60), flags=("-O1",), jobs=2, chip=chip)
    assert proof.faults == []


@pytest.mark.usefixtures("fastest")
@pytest.mark.slow
def test_many_random_networks_equal_golden_in_c() -> None:
    require_tool("cc")
    proof = prove(seeds(1, 800), flags=SANITIZE, jobs=2)
    assert proof.faults == []
    assert proof.coverage.missing(each=15) == []


def test_faults_are_found(tmp_path: Path) -> None:
    """An arena that is said to be larger than it is; constants that are others in the C."""
    require_tool("cc")
    drawn_ones = (planned(case) for seed in seeds(8, 40) if _has_weights(case := draw_case(seed)))
    first, second = islice((found for found in drawn_ones if not found.plan.regions), 2)
    size = first.plan.arena_bytes + 64
    large = replace(first, plan=replace(first.plan, arena_bytes=size), program=replace(first.program, arena_bytes=size))
    drawn = second.case.drawn
    other = {n: v if v.data is None else replace(v, data=v.data[::-1]) for n, v in drawn.values.items()}
    wrong = replace(second, case=replace(second.case, drawn=replace(drawn, values=other)))
    with Batch([large, wrong], tmp_path) as batch:
        faults = [fault.what for fault in batch.faults()]
    assert len(faults) == 2, (large.case.text, wrong.case.text)
    assert "of which only" in faults[0]
    assert "differs from golden" in faults[1]


def _has_weights(case: Case) -> bool:
    """Whether constants decide what comes out, not slopes or tables alone."""
    return any(isinstance(node.op, Conv2D) for node in case.drawn.nodes)


@pytest.mark.slow
def test_activations_span_their_type_on_other_inputs_too() -> None:
    """Networks are drawn with one input; on another one nearly all tensors span as much."""
    spans = [span for seed in seeds(4, 30) for span in _spans(draw_case(seed))]
    assert np.mean(np.array(spans) >= LEAST_SPAN) > 0.9


def _spans(case: Case) -> Iterator[int]:
    rng = np.random.default_rng(1)
    types = {i.value: case.drawn.type(i.value) for i in case.drawn.inputs}
    feeds: dict[str, Array] = {name: random_array(rng, kind.shape, kind.dtype) for name, kind in types.items()}
    values = run_graph(case.drawn, feeds)
    for node in case.drawn.nodes:
        y = values[node.outputs[0]]
        if y.size >= SMALL and y.dtype.kind != "f":
            yield int(y.max()) - int(y.min())
