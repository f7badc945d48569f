"""The figures of docs/architecture.md: measured here, none of them above its limit, and the page says what is measured.

A measure is one line of MEASURES: what is counted, what it may be at most, and the function that counts it.
"""

from __future__ import annotations

import ast
import math
import re
import statistics
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import pytest

from codegen.ir.op import Op
from codegen.ops import OPS, ArgExtremum, L2Norm, TopK
from tests.support.repeats import repeats

ROOT = Path(__file__).resolve().parent.parent
PACKAGE = ROOT / "codegen"
PAGE = ROOT / "docs" / "architecture.md"

Function = ast.FunctionDef | ast.AsyncFunctionDef


@dataclass(frozen=True)
class Measure:
    """What is counted, its limit, and how it is counted."""

    name: str
    limit: int
    count: Callable[[], int]


@cache
def trees() -> dict[Path, ast.Module]:
    return {p: ast.parse(p.read_text(encoding="utf-8")) for p in sorted(PACKAGE.rglob("*.py"))}


def functions(below: str = "") -> Iterator[Function]:
    for path, tree in trees().items():
        if path.relative_to(PACKAGE).as_posix().startswith(below):
            yield from (node for node in ast.walk(tree) if isinstance(node, Function))


@cache
def lengths() -> tuple[int, ...]:
    """Lines of each function, shortest first: from its `def` to its last line."""
    return tuple(sorted((node.end_lineno or 0) - node.lineno + 1 for node in functions()))


def parameters(function: Function) -> int:
    a = function.args
    return len([*a.posonlyargs, *a.args, *a.kwonlyargs, *filter(None, (a.vararg, a.kwarg))])


def isinstance_asserts(below: str) -> int:
    """How often a function is told what it should have been given."""
    asserts = (n for f in functions(below) for n in ast.walk(f) if isinstance(n, ast.Assert))
    return sum(isinstance(n.test, ast.Call) and getattr(n.test.func, "id", "") == "isinstance" for n in asserts)


def said_twice() -> list[tuple[str, str]]:
    """Where the package, its templates or its C repeat themselves."""
    folders = ((PACKAGE, "*.py"), (ROOT / "templates", "*.j2"), (ROOT / "runtime_c", "*.[ch]"))
    return [pair for folder, ending in folders for pair in repeats(sorted(folder.rglob(ending)))]


ROOMS_OF_OPERATORS = ("ops/", "kernels/", "settle/", "frontends/")
"""Where operators are defined, spelled, made of real ones and read: an operator has a file, or some lines, in each."""


def named_elsewhere() -> dict[str, set[Path]]:
    """The files outside those rooms that name an operator of the Graph, by operator."""
    found: dict[str, set[Path]] = {op.__name__: set() for op in OPS}
    for path, tree in trees().items():
        if not path.relative_to(PACKAGE).as_posix().startswith(ROOMS_OF_OPERATORS):
            for name in _imported_operators(tree) & set(found):
                found[name].add(path)
    return found


def _imported_operators(tree: ast.Module) -> set[str]:
    imports = (n for n in ast.walk(tree) if isinstance(n, ast.ImportFrom) and n.module)
    return {a.name for n in imports if f"{n.module}.".startswith("codegen.ops.") for a in n.names}


ONE_KERNEL = (L2Norm, TopK, ArgExtremum)
"""Operators of the plain kind: one kernel, and no pass that is about them."""


def name_of(op: type[Op]) -> re.Pattern[str]:
    """An operator's name as C, Python or a model spells it."""
    return re.compile("_?".join(re.findall(r"[A-Z][a-z0-9]*", op.__name__)), re.IGNORECASE)


def files_of(op: type[Op]) -> set[Path]:
    """All files of the package and its templates that name an operator, in words of C, Python or a model.

    Caffe's reader is left out: fields of its format have such names (`top_k` of Accuracy), and it knows no operator.
    """
    files = (*PACKAGE.rglob("*.py"), *(ROOT / "templates").rglob("*.j2"))
    caffe = PACKAGE / "frontends" / "caffe"
    return {p for p in files if caffe not in p.parents and name_of(op).search(p.read_text(encoding="utf-8"))}


def files_of_others(op: type[Op]) -> set[Path]:
    """Those of them that are not the operator's own."""
    return {p for p in files_of(op) if not name_of(op).fullmatch(p.name.split(".")[0])}


def onnx_by_hand() -> list[Path]:
    """Where the tests spell a graph of ONNX; all other networks are made by calls of `codegen.build`."""
    spelled = "make_" + "graph("
    return [path for path in sorted((ROOT / "tests").rglob("*.py")) if spelled in path.read_text(encoding="utf-8")]


MEASURES = (
    Measure("lines of a function, median", 6, lambda: math.ceil(statistics.median(lengths()))),
    Measure("lines of a function, nine in ten are within", 17, lambda: lengths()[math.ceil(0.9 * len(lengths())) - 1]),
    Measure(
        "parameters of a verb, most",
        4,
        lambda: max(parameters(f) for f in functions("verbs/") if not f.name.startswith("_")),
    ),
    Measure("`assert isinstance` in kernels", 14, lambda: isinstance_asserts("kernels/")),
    Measure("`assert isinstance` in settle", 4, lambda: isinstance_asserts("settle/")),
    Measure(
        "files that name one operator outside ops, kernels, settle and frontends, most",
        8,
        lambda: max(map(len, named_elsewhere().values())),
    ),
    Measure(
        "files that one operator of a single kernel takes, most", 10, lambda: max(map(len, map(files_of, ONE_KERNEL)))
    ),
    Measure("of them not called as the operator, most", 8, lambda: max(map(len, map(files_of_others, ONE_KERNEL)))),
    Measure(
        "pairs of places that say the same six lines or more, in Python, C and templates", 80, lambda: len(said_twice())
    ),
    Measure("files of the tests that put ONNX graphs together by hand", 1, lambda: len(onnx_by_hand())),
    Measure("lines of the pipeline", 149, lambda: len((PACKAGE / "pipeline.py").read_text("utf-8").splitlines())),
)


def page() -> dict[str, tuple[int, int]]:
    """The table of the page: what is measured, and the limit, by name."""
    rows = re.findall(r"^\| ([^|]+) \| ([0-9,]+) \| ([0-9,]+) \|$", PAGE.read_text(encoding="utf-8"), re.MULTILINE)
    return {name: (int(now.replace(",", "")), int(limit.replace(",", ""))) for name, now, limit in rows}


@pytest.mark.parametrize("measure", MEASURES, ids=lambda measure: measure.name)
def test_a_measure_keeps_its_limit_and_the_page_says_what_it_is(measure: Measure) -> None:
    now = measure.count()
    assert now <= measure.limit, f"{measure.name}: {now}, at most {measure.limit}"
    assert page().get(measure.name) == (now, measure.limit), f"| {measure.name} | {now} | {measure.limit} |"


def test_the_page_has_no_other_figures() -> None:
    assert list(page()) == [measure.name for measure in MEASURES]


def test_the_measures_see_the_package() -> None:
    assert len(lengths()) > 2000
    assert {path.name for path in named_elsewhere()["Pad"]} == {"answers.py", "fold_pad.py"}
    assert {"top_k.py", "top_k.c.j2", "reduce.py"} <= {path.name for path in files_of(TopK)}
    assert {path.name for path in files_of(TopK) - files_of_others(TopK)} == {"top_k.py", "top_k.c.j2"}
    assert [path.name for path in onnx_by_hand()] == ["onnx_files.py"]
    assert parameters(ast.parse("def f(a, /, b, *c, d=1, **e): ...").body[0]) == 5  # type: ignore[arg-type]


def test_lines_that_are_said_twice_are_found_and_those_that_say_nothing_are_passed_over(tmp_path: Path) -> None:
    said = [f"name_{i} = {i}" for i in range(9)]
    (tmp_path / "one.py").write_text("\n".join(["import os", *said]))
    (tmp_path / "other.py").write_text("\n".join(["import os", "first = 1", "", "# more", *said[:3], "", *said[3:8]]))
    (tmp_path / "near.py").write_text("\n".join(["import os", *said[:5], "name_5 = 6", *said[6:]]))
    pairs = repeats(sorted(tmp_path.iterdir()))
    assert pairs == [(f"{tmp_path / 'one.py'}:2", f"{tmp_path / 'other.py'}:5")]
