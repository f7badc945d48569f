"""Generated C is spelled as one would write it: no arithmetic that does nothing, no parameter that nobody reads.

Numbers are settled in Python, so that a factor of 1 or an offset of 0 is known before anything is spelled.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from itertools import product
from pathlib import Path

import pytest

from codegen.emit.functions import function_view
from codegen.emit.render import render_kernel
from codegen.kernels import find_form
from codegen.laws import differences, make_project
from codegen.lower.lower import kernel_function
from codegen.lower.pack import ParamsPool
from codegen.ops import Reshape
from codegen.pipeline import Options, compile_file
from tests.contract.case import PACKED, S8, t, window
from tests.contract.cases import cases
from tests.contract.test_kernels import LEVELS, build_graph
from tests.contract.test_x86_kernels import conv
from tests.support.shared import ROOT
from tests.support.tools import require_tool

IDLE = re.compile(
    r"""[-+*/%]\ 0\b(?![.xX])      # x + 0, x * 0
      | (?<![\w.)\]]\ [-+/*%]\ )(?<![\w.])0\ [-+*/%]\   # 0 + x
      | [*/%]\ 1\b(?![.\w])        # x * 1, x % 1
      | (?<![\w.])1\ \*\           # 1 * x
      | [-+]\ \(?-                 # x + -1, x + (-1)
    """,
    re.VERBOSE,
)
MOST = 12
"""Different functions that are looked at for each kernel."""


def functions(isa: str) -> Iterator[tuple[str, str]]:
    """Kernels' names and texts."""
    seen: Counter[str] = Counter()
    contexts = set()
    graph = build_graph(cases())
    for node in graph.nodes:
        view = graph.view(node)
        form = None if isinstance(node.op, Reshape) else find_form(view, isa, PACKED.table)
        if form is None or seen[form.kernel] == MOST or form.context in contexts:
            continue
        seen[form.kernel] += 1
        contexts.add(form.context)
        made = kernel_function("k", form, view, ParamsPool().place("p", form.params))
        yield form.kernel, render_kernel(function_view(made, "net"))


def idle(text: str) -> list[str]:
    code = re.sub(r"/\*.*?\*/", "", text, flags=re.DOTALL)
    return [line.strip() for line in code.splitlines() if not line.startswith("#") and IDLE.search(line)]


def unread(text: str) -> list[str]:
    """Parameters made local and only declared unused."""
    return re.findall(r"\bLAM_UNUSED\((?!rows|y|params|n|scratch|row|net|again)(\w+)\)", text)


def test_the_pattern_finds_what_it_is_for() -> None:
    wrong = ("x % 1", "at * 1 - 1", "rows[0 + tap]", "y + 0", "done % 1 + 1 < 1", "1 * k", "x + -3", "+ (-128)")
    assert all(idle(text) for text in wrong)
    right = ("x - 1", "y[o + 10]", "a * 16 + 1", "row % 3", "0.5f * x", "x * 0x01010101u", "i + 1 < 12", "-1", "a = 0;")
    assert not any(idle(text) for text in right)


@pytest.mark.one_in(6)
@pytest.mark.parametrize("isa", LEVELS)
def test_kernels_have_no_idle_arithmetic_and_no_unread_parameters(isa: str) -> None:
    found = {name: (idle(text), unread(text)) for name, text in functions(isa) if idle(text) or unread(text)}
    assert not found


@pytest.mark.parametrize("isa", LEVELS)
def test_windows_wider_than_their_rows_are_built_without_a_warning(isa: str, tmp_path: Path) -> None:
    """Clang warns of a place that no column has."""
    require_tool("clang")
    sizes = product((1, 2), (window(3, 1, 1, 1, 1), window(5, 1, 1, 2, 2)), (3, 16))
    graph = build_graph(
        [conv("single", t(S8, 1, 4, width, channels), w, w, outputs=16) for width, w, channels in sizes]
    )
    assert differences(graph, make_project(graph, tmp_path, isa), "clang", "-O0") == []


@pytest.mark.parametrize("target", ["cortex-m4", "cortex-m55", "gap8-cores"])
def test_schedules_have_no_idle_arithmetic(target: str) -> None:
    model = ROOT / "examples" / "digits" / "digits_qdq.onnx"
    files = compile_file(Path(model), Options(target=target, vectors=0)).files
    texts = [data.decode() for path, data in files.items() if path.startswith("src/") and "weights" not in path]
    assert len(texts) >= 3
    assert [line for text in texts for line in idle(text)] == []
