"""What generated C says of itself: each layer function what it computes, the schedule where each tensor lies."""

from __future__ import annotations

import itertools
import re

import pytest

from codegen.emit.context import EmitOptions, build_view
from codegen.emit.render import source_texts
from codegen.ir.program import Program
from codegen.options import Options
from codegen.pipeline import compile_file
from tests.support.shared import ROOT

MODEL = ROOT / "examples" / "digits" / "digits_qdq.onnx"
LINE = re.compile(r" *(\d+) +(\d+) +(start|\d+) \.\. (end|\d+) +(.+)")


def program(target: str, goal: str = "balanced") -> Program:
    return compile_file(MODEL, Options(target=target, goal=goal, vectors=0)).program  # type: ignore[arg-type]


def texts(made: Program) -> dict[str, str]:
    return source_texts(build_view(made, EmitOptions("1", 2, "", "c99", "little")))


def group_of(made: Program, step: int) -> int:
    """Within one, what is written may take the place of what was read."""
    after = list(itertools.accumulate(len(group.calls) for group in made.groups))
    return sum(end <= step for end in after) if step >= 0 else -1


@pytest.mark.parametrize("target", ["cortex-m4", "gap8-cores"])
def test_every_layer_function_says_what_it_computes(target: str) -> None:
    made = program(target)
    layers = next(text for path, text in texts(made).items() if path.endswith("_layers.c"))
    for fn in made.functions:
        head = layers[: layers.index(f"void {made.name}_{fn.symbol}(")].rstrip()
        assert head.endswith("*/"), fn.symbol
        assert " -> " in head[head.rindex("/*") :], fn.symbol


@pytest.mark.parametrize("target", ["cortex-m4", "host", "cortex-m0plus"])
def test_every_parameter_of_the_example_says_what_it_is(target: str) -> None:
    made = program(target)
    header = next(text for path, text in texts(made).items() if path.endswith("_layers.h"))
    members = re.findall(r"^    .*;.*$", header, re.MULTILINE)
    assert len(members) >= 20
    assert [member for member in members if "; /* " not in member] == []


@pytest.mark.parametrize("goal", ["memory", "balanced"])
def test_what_lies_in_memory_at_the_same_time_lies_apart(goal: str) -> None:
    made = program("cortex-m4", goal)
    found = [LINE.fullmatch(line) for line in build_view(made, EmitOptions("1", 2, "", "c99", "little")).memory_map]
    stays = []
    for line in found:
        assert line
        at, size, first, last = line.group(1, 2, 3, 4)
        span = (-1 if first == "start" else int(first), len(found) if last == "end" else int(last))
        stays.append((int(at), int(at) + int(size), *span))
    assert max(stay[1] for stay in stays) <= made.arena_bytes
    assert len(stays) > len(made.tensors)
    for a, b in itertools.combinations(stays, 2):
        first, last = max(a[2], b[2]), min(a[3], b[3])
        assert last < first or group_of(made, first) == group_of(made, last) or a[1] <= b[0] or b[1] <= a[0]


def test_parameters_have_names_and_words_are_hexadecimal() -> None:
    files = {path.rsplit("_", 1)[-1]: text for path, text in texts(program("cortex-m4")).items()}
    assert not re.search(r"params \+ \d|range\[", files["layers.c"])
    assert re.search(r"0x[0-9a-f]{8}u,", files["weights.c"])
    assert not re.search(r"\b\d+u,", files["weights.c"])
