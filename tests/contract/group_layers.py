"""Layers whose weights have a scale per group of inputs, for a kernel of one level, and that its C equals golden."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from codegen.ir.graph import Graph
from codegen.ir.quant import MODES, Array, Mode
from codegen.kernels import find_form
from codegen.laws import differences, graph_of, make_project
from codegen.target import load_target
from codegen.toolkit import HOUSE, Toolkit
from tests.contract.case import S8, U8, Case
from tests.contract.cases.packed import few, in_groups
from tests.support.emulated import selftest_on
from tests.support.sanitizers import GCC_REPORTS
from tests.support.tools import require_tool

Shape = tuple[int, int, int, int]
"""Pixels, inputs, outputs, inputs of a group."""


def ends(n_out: int, n_in: int, block: int, bits: int = 4) -> Array:
    """The least numbers in half of the groups, the greatest in the others, but for one of each, which keeps factors."""
    half = 1 << (bits - 1)
    numbers = np.where(np.arange(n_in) // block % 2, half - 1, -half) * np.ones((n_out, 1), np.int64)
    numbers[:, ::block] = np.where(numbers[:, ::block] < 0, 1 - half, half - 2)
    return numbers


def of_bytes(n_out: int, n_in: int, block: int) -> Array:
    """Such numbers of 8 bits."""
    return ends(n_out, n_in, block, 8)


def layers(
    shapes: Sequence[Shape], extremes: Callable[[int, int, int], Array] = ends, modes: Sequence[Mode] = MODES
) -> list[Case]:
    """In every mode, of any numbers and of such ones, with zero points and without, inputs with a sign and without."""
    bits = 8 if extremes is of_bytes else 4
    return [
        in_groups(
            mode, numbers, block, bits=bits, pixels=pixels, dtype=U8 if i % 3 else S8, apart=apart, factors=factors
        )
        for mode in modes
        for i, (pixels, n_in, n_out, block) in enumerate(shapes)
        for numbers in (few(bits, n_out, n_in), extremes(n_out, n_in, block))
        for apart, factors in ((False, 1), (True, 0))
    ]


def numbered(cases: Iterable[Case]) -> Graph:
    """A graph of all of them, under names of their own."""
    return graph_of([replace(case, name=f"n{i}_{case.name}") for i, case in enumerate(cases)])


def only(kernel: str) -> Toolkit:
    """The house with this kernel alone."""
    table = replace(HOUSE.table, kernels=tuple(found for found in HOUSE.table.kernels if found.name == kernel))
    return replace(HOUSE, table=table)


def contexts_of(graph: Graph, level: str, kernel: str, tools: Toolkit = HOUSE) -> list[Any]:
    """Those of all layers, which have this kernel."""
    forms = [find_form(graph.view(node), level, tools.table) for node in graph.nodes]
    assert all(form and form.kernel == kernel for form in forms)
    return [form.context for form in forms if form]


def check_in_plain_c(graph: Graph, level: str, tmp_path: Path, tools: Toolkit = HOUSE) -> None:
    """The portable twins equal golden."""
    require_tool("gcc")
    assert differences(graph, make_project(graph, tmp_path, level, tools), "gcc", f"-O1 {GCC_REPORTS}") == []


def check_on_the_chip(graph: Graph, chip: str, tmp_path: Path, tools: Toolkit = HOUSE) -> None:
    """What the emulated chip computes equals golden, at both levels of optimization."""
    isa = load_target(chip).isa
    projects = {level: make_project(graph, tmp_path / level, isa, tools) for level in ("-Os", "-O3")}
    ran = [selftest_on(chip, project, opt_level=level) for level, project in projects.items()]
    assert [done.exit_code for done in ran] == [0, 0]
