"""No sanitizer, analyzer or memory checker has anything to say of generated C, and they would say it."""

from __future__ import annotations

from pathlib import Path

import pytest

from codegen.ir.quant import DType
from codegen.ops.concat import Concat
from codegen.ops.transpose import Transpose
from codegen.pipeline import Options, compile_graph
from codegen.process import check_program
from codegen.target import load_target
from tests.e2e.analysis import SUBJECTS, TOOLS, Subject, cppcheck, reports, valgrind, with_few_numbers
from tests.e2e.projects import HASH, Project, project, written
from tests.support.graphs import HALF, Sketch
from tests.support.tools import require_tool


@pytest.fixture
def made(tmp_path: Path) -> Project:
    require_tool("gcc", "valgrind")
    return project(tmp_path, "digits", target="generic")


def test_valgrind_has_nothing_to_say_of_a_network_in_an_arena_of_just_its_size(made: Project, tmp_path: Path) -> None:
    assert valgrind(made, tmp_path) == ""


def test_valgrind_sees_an_arena_that_is_too_small(made: Project, tmp_path: Path) -> None:
    assert "Invalid write" in valgrind(made, tmp_path, "-DTOO_FEW=16")


def test_valgrind_sees_outputs_of_an_input_that_nobody_wrote(made: Project, tmp_path: Path) -> None:
    path = made.folder / "test" / "selftest.c"
    text = path.read_text()
    assert text.count("x[i] = ") == 1
    path.write_text(text.replace("x[i] = ", "(void)x, (void)"))
    assert "uninitialised value" in valgrind(made, tmp_path)


def test_cppcheck_has_nothing_to_say_of_copies_in_nested_loops(tmp_path: Path) -> None:
    require_tool("cppcheck")
    sketch = Sketch("joined")
    turned = sketch.apply(Transpose((0, 2, 1, 3)), sketch.input((1, 4, 3, 5), name="z"))
    joined = sketch.apply(Concat(3, (None, None), DType.S8, HALF), sketch.input((1, 3, 4, 5)), turned)
    made = compile_graph(sketch.graph(joined), load_target("generic"), Options(target="generic"), HASH)
    assert cppcheck(written(tmp_path, made)) == ""


PLANTED = """
int planted(void);
int planted(void)
{
    int a[4];
    a[0] = 1;
    return a[7];
}
"""


@pytest.mark.parametrize("path", ["src/NET.c", "src/NET_layers.c", "src/NET_weights.c", "test/selftest.c"])
def test_cppcheck_sees_a_fault_in_every_file(path: str, made: Project) -> None:
    require_tool("cppcheck")
    place = made.folder / path.replace("NET", made.name)
    place.write_text(place.read_text() + PLANTED)
    assert "a[4]" in cppcheck(made)


def test_weights_with_few_numbers_are_arrays_of_the_same_sizes(made: Project, tmp_path: Path) -> None:
    source = made.folder / "src" / f"{made.name}_weights.c"
    (tmp_path / "few").mkdir()
    few = with_few_numbers(source, tmp_path / "few")
    assert few.stat().st_size < source.stat().st_size / 2
    sizes = []
    for path in (source, few):
        check_program(["gcc", "-c", *made.includes, str(path), "-o", str(tmp_path / "w.o")], timeout_s=60)
        sizes.append(check_program(["nm", "-S", str(tmp_path / "w.o")], timeout_s=60).stdout)
    assert sizes[0] == sizes[1]


@pytest.mark.slow
@pytest.mark.parametrize("subject", SUBJECTS, ids=lambda s: s.title)
def test_no_check_has_anything_to_say_of_a_network(subject: Subject) -> None:
    require_tool(*TOOLS)
    assert not {check: said for check, said in reports(subject).items() if said}
