"""Every kernel's C equals golden, bit for bit: each operator, its cases and modes, in several builds.

Cases are nodes of one graph, side by side, so that one compilation serves them all.  An instruction set is tried with
the functions that no level before it has: the rest would be the same C.  Quick tests take each case in one of its
modes, and a part of all in the other builds of plain C99; the slow ones take everything everywhere.
"""

from __future__ import annotations

import os
import platform
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cache, partial
from pathlib import Path
from typing import get_args, get_type_hints

import numpy as np
import pytest
from _pytest.mark import ParameterSet

from codegen.host import WARNINGS
from codegen.ir.graph import Graph
from codegen.ir.op import NodeOf, NodeView, Op
from codegen.ir.quant import MODES, Array, DType, TensorType
from codegen.kernels import KERNELS, TABLE, find_form
from codegen.kernels.kernel import Fit, Kernel
from codegen.laws import LEVELS, differences, make_project, sources_of
from codegen.laws import graph_of as build_graph
from codegen.ops import OPS, Dense, MatMul, make_requant
from codegen.ops.float32 import FloatDense
from codegen.process import check_program, run_program
from codegen.target import load_target
from tests.contract.case import PACKED, S8, S16, Case, q, t
from tests.contract.cases import cases, in_one_mode
from tests.contract.random_cases import random_cases
from tests.support.chips import ONE_OF_EACH_CORE
from tests.support.emulated import selftest_on
from tests.support.sanitizers import GCC_REPORTS, TRAPS
from tests.support.tools import require_tool

X86 = platform.machine() in ("x86_64", "AMD64")
FMA = X86 and "fma" in (Path("/proc/cpuinfo").read_text() if Path("/proc/cpuinfo").exists() else "")

LIBRARIES = {
    "gcc-O0-ubsan": ("gcc", f"-O0 {TRAPS}"),
    "gcc-O2": ("gcc", "-O2"),
    "gcc-O2-ubsan": ("gcc", f"-O2 {GCC_REPORTS}"),
    "clang-O1": ("clang", "-O1"),
    **({"gcc-O3-fma": ("gcc", "-std=gnu11 -O3 -mfma -ffp-contract=fast")} if FMA else {}),
}
PROGRAMS = {
    "gcc-asan": ("gcc", "-O0 -fsanitize=address"),
    **(
        {
            "gcc-m32": ("gcc", "-m32 -msse2 -mfpmath=sse -O1"),
            "gcc-m32-x87": ("gcc", "-std=gnu11 -m32 -mno-sse -O1"),
        }
        if X86
        else {}
    ),
}


ELSEWHERE = {"dsp_small_slides", "dsp_winograd"}
"""Kernels that no level has for itself: goal `size` chooses the first, the second is offered beside others for more
flash.  test_slides.py and test_dsp_winograd.py have their cases.
"""
QUICK = {
    "1/18": {("c99", "clang-O1")},
    "3/18": {("c99", "gcc-m32")},
    "2/9": {("c99", "gcc-asan")},
    "a mode": {
        (level, build)
        for level in LEVELS
        if level not in ("host", "aarch64")
        for build in ("gcc-O0-ubsan", "gcc-O2")
        if build == ("gcc-O2" if level in ("armv7em", "armv81m_mve", "rv64gcv") else "gcc-O0-ubsan")
    },
    "float32 1/9": {("c99", "gcc-O3-fma")},
    "ort 1/3": {("c99", "gcc-m32-x87")},
}
"""Which cases the quick tests build, and for which level and how.

The kernels of `host` and `aarch64` have test_x86_kernels.py and test_neon_kernels.py.
Of clang an eighteenth of all cases is tried, and all of them in ninths: it takes time that grows with the square of a
network's layers.
Undefined behaviour is looked for without optimisation, and what it leads to with: half of what both at once cost; of
a level the quick tests do one of the two.
"""


@pytest.fixture(scope="module")
def graph() -> Graph:
    return build_graph(cases())


def own_cases(level: str) -> list[Case]:
    """Cases that become functions which no level before has."""
    known: set[str] = set()
    for isa in LEVELS:
        functions = _functions(isa)
        if isa == level:
            return [case for case in cases() if functions[case.name] not in known]
        known |= set(functions.values())
    raise AssertionError(level)


@cache
def _functions(isa: str) -> dict[str, str]:
    """What the emitted function of each case depends on."""
    graph = build_graph(cases())
    found = {}
    for node in graph.nodes:
        view = graph.view(node)
        form = find_form(view, isa)
        found[node.name] = f"{form.kernel} {form.template} {form.context} {view.ins}" if form else "a view"
    return found


def is_real(case: Case) -> bool:
    """Whether its C is defined where float is computed as float alone."""
    graph = build_graph([case])
    form = find_form(graph.view(graph.nodes[0]), "c99")
    return form is not None and any(header.startswith("lam_f32") for header in form.headers)


def no_reals(chosen: Iterable[Case]) -> list[Case]:
    """The cases that x87 computes too."""
    return [case for case in chosen if not is_real(case)]


NINTHS = [f"{i + 1}/9" for i in range(9)]
SELECTIONS: dict[str, Callable[[Sequence[Case]], list[Case]]] = {
    "all": list,
    **{f"{i + 1}/{n}": lambda chosen, i=i, n=n: chosen[i::n] for n in (9, 18) for i in range(n)},
    "a mode": in_one_mode,
    "float32 1/9": lambda chosen: [c for c in chosen if "_ort_" in c.name or "f32" in c.name or is_real(c)][::9],
    "ort 1/3": lambda chosen: [c for c in no_reals(chosen) if "_ort_" in c.name or "f32" in c.name][::3],
    "no reals": lambda chosen: no_reals(chosen),
}


def pairs(builds: Iterable[str]) -> list[ParameterSet]:
    """Levels, cases and builds: what the quick tests sample, and all cases, which are slow tests."""
    found = []
    for level in LEVELS:
        for build in builds:
            kinds = [kind for kind, quick in QUICK.items() if (level, build) in quick]
            found += [pytest.param((level, kind), build, id=f"{level}-{build}-{kind}") for kind in kinds]
            slow = NINTHS if "clang" in build else ["no reals" if "x87" in build else "all"]
            found += [
                pytest.param((level, kind), build, marks=pytest.mark.slow, id=f"{level}-{build}-{kind}")
                for kind in slow
            ]
    return found


@dataclass(frozen=True)
class Made:
    """Cases side by side, and their C."""

    graph: Graph
    project: Path


@pytest.fixture(scope="module")
def made(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Made:
    """One project per instruction set: elsewhere its primitives are their portable twins."""
    level, kind = request.param
    graph = build_graph(SELECTIONS[kind](own_cases(level)))
    return Made(graph, make_project(graph, tmp_path_factory.mktemp("kernels"), level, PACKED))


def test_every_operator_has_a_case_in_every_mode_it_knows() -> None:
    for op in OPS:
        known = get_args(get_type_hints(op).get("mode"))
        assert {c.op.mode for c in cases() if type(c.op) is op and known} == set(known), op  # type: ignore[attr-defined]


def test_every_kernel_has_a_case() -> None:
    graph = build_graph(in_one_mode(cases()))
    found = [find_form(graph.view(node), isa, PACKED.table) for node in graph.nodes for isa in LEVELS]
    assert {form.kernel for form in found if form} == {k.name for k in KERNELS} - ELSEWHERE


@pytest.mark.parametrize(("made", "build"), pairs(LIBRARIES), indirect=["made"])
def test_c_equals_golden(made: Made, build: str) -> None:
    compiler, flags = LIBRARIES[build]
    require_tool(compiler)
    assert differences(made.graph, made.project, compiler, flags) == []


@pytest.mark.one_in(6)
@pytest.mark.parametrize("level", ["c99", "armv6m", "armv7m", "rv32", "armv81m_mve", "aarch64"])
def test_inputs_are_copied_where_outputs_lie_over_them(level: str, tmp_path: Path) -> None:
    """Kernels that copy for that alone; of those that read so anyway, outputs lie over inputs in the tests above."""
    require_tool("gcc")
    kernels = tuple(replace(k, make=partial(_copying, k)) if k.copying else k for k in TABLE.kernels)
    tools = replace(PACKED, table=replace(PACKED.table, kernels=kernels))
    every = build_graph(in_one_mode(cases()))
    forms = {node.name: find_form(every.view(node), level, tools.table) for node in every.nodes}
    chosen = [case for case in in_one_mode(cases()) if (form := forms[case.name]) and form.in_place]
    assert True in {form.copies for form in forms.values() if form}
    step = max(1, len(chosen) // 16)
    graph = build_graph([case for i, case in enumerate(chosen) if i % step == 0 or "even" in case.name])
    assert differences(graph, make_project(graph, tmp_path, level, tools), *LIBRARIES["gcc-O0-ubsan"]) == []
    assert {case.op.__class__ for case in chosen} & {Dense, FloatDense}


def _copying(kernel: Kernel[Op], node: NodeOf[Op]) -> Fit | None:
    assert kernel.copying
    return kernel.copying(node) or kernel.make(node)


def test_every_kernel_of_a_level_is_among_its_own_cases() -> None:
    tried = {
        form.kernel
        for level in LEVELS
        for case in in_one_mode(own_cases(level))
        for view in [build_graph([case]).view(build_graph([case]).nodes[0])]
        if (form := find_form(view, level, PACKED.table))
    }
    assert tried == {k.name for k in KERNELS} - ELSEWHERE
    assert all(own_cases(level) for level in LEVELS)


@pytest.mark.slow
@pytest.mark.parametrize("isa", LEVELS)
@pytest.mark.parametrize("seed", range(4))
def test_c_equals_golden_on_random_shapes(seed: int, isa: str, tmp_path: Path) -> None:
    require_tool("gcc")
    graph = build_graph(list(random_cases(seed, 200)))
    assert differences(graph, make_project(graph, tmp_path, isa, PACKED), *LIBRARIES["gcc-O2-ubsan"]) == []


@pytest.mark.parametrize(("made", "build"), pairs(PROGRAMS), indirect=["made"])
def test_self_test_passes(made: Made, build: str, tmp_path: Path) -> None:
    compiler, flags = PROGRAMS[build]
    require_tool(compiler)
    probe = tmp_path / "probe.c"
    probe.write_text("#include <stdio.h>\nint main(void)\n{\n    return 0;\n}\n")
    if run_program([compiler, *flags.split(), probe, "-o", tmp_path / "probe"], timeout_s=60).returncode != 0:
        assert not os.environ.get("CI"), f"{compiler} {flags} does not link a trivial program"
        pytest.skip(f"{compiler} {flags} does not link a trivial program")
    sources, folders = sources_of(made.project)
    program = tmp_path / "selftest"
    argv = [
        compiler,
        *WARNINGS,
        *flags.split(),
        *(f"-I{f}" for f in folders),
        *sources,
        made.project / "test" / "main.c",
    ]
    check_program([*argv, "-o", program], timeout_s=300)
    done = run_program([program], timeout_s=60)
    assert (done.returncode, done.stdout) == (0, b"kernels: all vectors right\n"), done.stderr.decode()


ROOMY = tuple(n for n in ONE_OF_EACH_CORE if load_target(n).core not in ("cortex-m33", "xtensa-lx106"))
"""The Cortex-M33's kernels are the M4's, which has a board with room for all of them; its own has 512 KB for code.
A call of the LX106 reaches 256 KB, and all kernels are more: networks are what is tried there."""


PARTS = 4
"""In which all cases fit the code memory of each board."""


@pytest.mark.slow
@pytest.mark.parametrize("part", range(PARTS))
@pytest.mark.parametrize("name", ROOMY)
def test_self_test_passes_on_the_emulated_chip(name: str, part: int, tmp_path: Path) -> None:
    project = make_project(build_graph(cases()[part::PARTS]), tmp_path, load_target(name).isa, PACKED)
    assert selftest_on(name, project).exit_code == 0


def test_accumulators_that_no_mode_can_requantize_are_refused() -> None:
    weights, bias = np.full((1, 400), 32767, np.int16), np.zeros(1, np.int32)
    found = {}
    for mode in MODES:
        op = Dense(0, make_requant(mode, 1.0, [2.0**-30], q(1.0), S8), S8, None)
        found[mode] = find_form(_view(op, t(S16, 1, 400), weights, bias), "c99")
    assert found["single"] is None
    assert found["tflite"] is None
    assert found["ort"] is not None, "its sums have 64 bits, which one conversion makes a float"
    step = make_requant("ort", 1.0, [2.0**-50], q(1.0), S8)
    most = np.full((1, 1 << 18), 32767, np.int16)
    assert find_form(_view(Dense(0, step, S8, None), t(S16, 1, 1 << 18), most, bias), "c99") is None
    product = MatMul(0, 0, None, DType.S32, None)
    assert find_form(_view(product, t(S8, 1, 1 << 17), t(S8, 1 << 17, 1)), "c99") is None


def _view(op: Dense | MatMul, *ins: TensorType | Array) -> NodeView:
    types = tuple(i if isinstance(i, TensorType) else TensorType(i.shape, DType.of(i)) for i in ins)
    consts = tuple(i if isinstance(i, np.ndarray) else None for i in ins)
    return NodeOf("n", op, types, op.infer(types), consts)
