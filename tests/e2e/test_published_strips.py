"""Plans in strips beside the ones that msf-CNN publishes (Huang and Baccelli, NeurIPS 2025), on its own networks."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from pathlib import Path

import numpy as np
import pytest

from benchmarks.recomputed import column_by_column, products
from codegen.golden.interpreter import run_graph
from codegen.host import Network
from codegen.ir.graph import Graph
from codegen.kernels import choose_kernels
from codegen.passes import simplify
from codegen.pipeline import Compiled, Options, compile_file, read_model
from codegen.planning import plan_in_best_order, ways
from codegen.target import load_target
from tests.e2e.projects import random_feeds, written
from tests.support.networks import network_path
from tests.support.tools import require_tool

CHIP = "cortex-m4"
PRODUCTS = {
    "unjoined_mobilenet_144": 18_909_490,
    "unjoined_vww_80": 11_578_496,
    "unjoined_320k_176": 81_625_520,
}
POINTS: Mapping[str, Mapping[float, int]] = {
    "unjoined_mobilenet_144": {
        **{0: 181_440, 2: 83_065, 10: 67_905, 23: 63_741, 25: 25_674, 30: 21_288, 38: 15_340, 56: 13_926, 68: 7_887},
    },
    "unjoined_vww_80": {0: 89_600, 2: 38_576, 4: 32_792, 11: 26_128, 30: 17_760, 35: 13_376, 96: 12_000},
    "unjoined_320k_176": {
        **{0: 247_808, 4: 190_096, 19: 186_736, 37: 156_672, 45: 94_184, 102: 62_880, 169: 42_643},
    },
}
"""Bytes by per cent of products more, as published: without inputs, scratch and code."""
RUNS = (
    *((0, 12), (13, 15), (16, 21), (22, 24), (25, 27), (28, 30), (31, 33), (34, 36), (37, 39), (40, 42), (43, 45)),
    *((46, 48), (49, 52)),
)
"""The layers that run together in the published plan of 7,887 bytes."""


def network(name: str) -> Graph:
    return read_model(network_path(name), Options(target=CHIP), load_target(CHIP))


@cache
def graph_of(name: str) -> Graph:
    return simplify(network(name))


def asked(share: float) -> Options:
    return Options(target=CHIP, goal="memory", input_outside=True, max_recompute=share, vectors=0)


@cache
def compiled(name: str) -> Compiled:
    return compile_file(network_path(name), asked(max(POINTS[name])))


@pytest.mark.parametrize("name", PRODUCTS)
def test_the_networks_are_those_of_the_paper(name: str) -> None:
    """Before weights go that see padding alone: of a 7x7 window on a map of 3x3 the outermost."""
    assert products(network(name)) == PRODUCTS[name]


def test_the_published_plan_adds_more_than_is_said_of_it() -> None:
    """Said is 68 %, for it counts the tiles of each layer by that layer's own padding."""
    assert 0.87 < column_by_column(graph_of("unjoined_mobilenet_144"), RUNS) < 0.88


def test_less_memory_than_the_smallest_published_plan(monkeypatch: pytest.MonkeyPatch) -> None:
    """Scratch and sums of the pool included; fewer products are made again."""
    monkeypatch.setattr(ways, "TRIED", 2)
    name, chip = "unjoined_mobilenet_144", load_target(CHIP)
    kernels = choose_kernels(graph_of(name), chip, goal="memory")
    plan, _ = plan_in_best_order(graph_of(name), kernels, chip, asked(68))
    assert plan.arena_bytes < POINTS[name][68]
    assert plan.recomputed_macs < 0.6 * PRODUCTS[name]


@pytest.mark.slow
@pytest.mark.parametrize("name", POINTS)
def test_less_memory_than_every_published_plan(name: str) -> None:
    front = compiled(name).plan.front
    for share, published in POINTS[name].items():
        within = (p.peak_bytes for p in front if p.recomputed_macs <= share / 100 * PRODUCTS[name])
        assert min(within) < published, share


@pytest.mark.slow
@pytest.mark.parametrize("name", POINTS)
def test_the_smallest_plans_equal_golden(name: str, tmp_path: Path) -> None:
    require_tool("cc")
    made = compiled(name)
    with Network(written(tmp_path / "project", made).folder) as net:
        for feeds in random_feeds(made, 2):
            golden = run_graph(made.imported, feeds)
            for face, found in zip(made.imported.outputs, net.run_raw(feeds).values(), strict=True):
                assert np.array_equal(found, golden[face.value])
