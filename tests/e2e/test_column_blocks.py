"""Depthwise layers on maps of one column: where a plan lets them, several rows of a call are made as one row."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from codegen.emit import write_project
from codegen.golden.interpreter import run_graph
from codegen.host import Network
from codegen.ir.graph import Graph
from codegen.ir.program import Call, lies_by_channels
from codegen.ir.quant import DType
from codegen.ir.shape import Window
from codegen.ir.verify import IrError
from codegen.kernels import TABLE
from codegen.pipeline import Compiled, Options, compile_graph
from codegen.prove import shadow_run
from codegen.target import load_target
from codegen.toolkit import HOUSE
from tests.contract.test_slides import depthwise
from tests.support.emulated import selftest_on
from tests.support.graphs import Sketch

S8, U8 = DType.S8, DType.U8
CHIPS = ("cortex-m55", "cortex-m4", "cortex-m3", "rv32imc")
WITHOUT = replace(HOUSE, table=replace(TABLE, kernels=tuple(replace(k, column=None) for k in TABLE.kernels)))
"""The toolkit without such forms."""


def layers(s: Sketch) -> Iterator[str]:
    """Windows of one to five words, of several numbers of channels, strides, types and requantizations."""
    for n, taps in enumerate((2, 3, 4, 5, 6, 7, 8, 9, 10, 12, 15, 17)):
        stride, channels = 1 + n % 3 // 2, (20, 7, 33, 16)[n % 4]
        h = Window(taps, min(stride, taps))
        x = s.input((1, 23 * h.stride + taps + n % 2, 1, channels), U8 if n % 5 == 1 else S8, name=f"x{taps}")
        mode = "single" if n % 2 else "tflite"
        y = depthwise(s, x, Window(1), mode, U8 if n % 5 == 3 else S8, n % 3 == 0, h=h, bits=4 if n % 4 == 3 else 0)
        yield depthwise(s, y, Window(1), mode, S8, h=Window(5))


def network() -> Graph:
    sketch = Sketch("kernels", seed=11)
    return sketch.graph(*layers(sketch))


def compiled(chip: str, graph: Graph | None = None, tools: object = HOUSE, **asked: object) -> Compiled:
    options = Options(target=chip, vectors=2, **asked)  # type: ignore[arg-type]
    return compile_graph(graph or network(), load_target(chip), options, tools=tools)  # type: ignore[arg-type]


def by_columns(found: Compiled) -> list[Call]:
    calls = [call for group in found.program.groups for call in group.calls]
    return [call for call in calls if any(item.by_channels for item in call.inputs)]


@pytest.mark.parametrize("chip", CHIPS)
def test_they_equal_golden(chip: str, tmp_path: Path) -> None:
    """In plain C where they are assembly on the chip."""
    found, graph = compiled(chip, goal="speed"), network()
    assert len(by_columns(found)) > 12
    assert all(1 < call.rows_per_call == call.outputs[0].rows // call.steps for call in by_columns(found))
    write_project(tmp_path / "project", found.files)
    rng = np.random.default_rng(5)
    given = {i.name: rng.integers(0, 127, graph.type(i.value).shape).astype(i.model_dtype) for i in graph.inputs}
    with Network(tmp_path / "project", flags=("-O1", "-fsanitize=undefined")) as net:
        made = net.run_raw(given)
    right = run_graph(graph, given)
    assert all(np.array_equal(made[name], right[name]) for name in made)


@pytest.mark.one_in(2)
@pytest.mark.parametrize("chip", CHIPS)
def test_they_equal_golden_on_the_emulated_chip(chip: str, tmp_path: Path) -> None:
    write_project(tmp_path / "project", compiled(chip, goal="speed").files)
    done = selftest_on(chip, tmp_path / "project", opt_level="-O2", timeout_s=240)
    assert done.exit_code == 0, done.console


@pytest.mark.parametrize("goal", ["balanced", "memory", "speed", "size"])
@pytest.mark.parametrize("chip", CHIPS)
def test_none_takes_memory(chip: str, goal: str) -> None:
    plain = compiled(chip, tools=WITHOUT, goal=goal)
    found = compiled(chip, goal=goal)
    assert found.plan.arena_bytes <= plain.plan.arena_bytes
    assert not by_columns(plain)
    assert bool(by_columns(found)) == (goal != "size")


def test_an_output_may_lie_over_its_input_whole_pixels_away() -> None:
    """In the program it does; a few bytes further on, other channels would be lost."""
    found = compiled("cortex-m4", goal="memory")
    over = [call for call in by_columns(found) if shares(call)]
    assert over
    (item,), (out,) = over[0].inputs, over[0].outputs
    assert lies_by_channels(item.operand, out)
    moved = replace(over[0], outputs=(replace(out, offset=out.offset - 1),))
    groups = tuple(replace(g, calls=(moved,)) if g.calls == (over[0],) else g for g in found.program.groups)
    with pytest.raises(IrError, match="channels"):
        shadow_run(replace(found.program, groups=groups))


def shares(call: Call) -> bool:
    (item,), (out,) = call.inputs, call.outputs
    x = item.operand
    return x.offset < out.offset + out.rows * out.row_bytes and out.offset < x.offset + x.rows * x.row_bytes
