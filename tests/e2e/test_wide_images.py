"""Networks on wide images and signals: where memory is short they work on columns, and give the same bytes."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from codegen.errors import ScratchpadTooSmall
from codegen.golden.interface import made_rows
from codegen.golden.interpreter import run_graph
from codegen.host import Network
from codegen.ir.graph import Graph
from codegen.kernels import select_kernels
from codegen.pipeline import Compiled, Options, compile_graph
from codegen.planning import make_plan
from codegen.target import Target, load_target
from tests.e2e.projects import random_feeds, written
from tests.passes.test_turn_sideways import signal
from tests.support.graphs import Sketch
from tests.support.scratchpad import compile_scratchpad, scratchpad
from tests.support.tools import require_tool


def spectrogram() -> Graph:
    """Many frames of a few bands; the output is an image too."""
    s = Sketch("spectrogram", seed=8)
    x = s.conv(s.conv(s.input((1, 10, 96, 1)), 8), 8, groups=8)
    return s.graph(s.conv(s.conv(x, 16, 1, stride=2), 4))


def compile_for(graph: Graph, ram: int | None = None, **options: object) -> Compiled:
    target: Target = load_target("generic")
    memories = tuple(replace(m, bytes=ram if m.kind == "ram" else m.bytes) for m in target.memories)
    return compile_graph(graph, replace(target, memories=memories), Options(target="generic", **options))  # type: ignore[arg-type]


def is_turned(made: Compiled) -> bool:
    return any("turned" in note for note in made.graph.notes)


def check(made: Compiled, graph: Graph, folder: Path) -> None:
    """Golden of the network as it was, against C."""
    with Network(written(folder / "project", made).folder, trace=True) as net:
        for feeds in random_feeds(made, 2):
            golden = run_graph(graph, feeds)
            outputs, tensors = net.trace_raw(feeds)
            for face, found in zip(graph.outputs, outputs.values(), strict=True):
                assert np.array_equal(found, golden[face.value])
            own = run_graph(made.graph, feeds)
            rows = made.shadow.rows
            assert all(np.array_equal(t, made_rows(own[name], rows[name])) for name, t in tensors.items())


@pytest.mark.one_in(2)
@pytest.mark.parametrize("weights", ["c", "blob"])
@pytest.mark.parametrize(("network", "share"), [(signal, 0.5), (spectrogram, 0.6)])
def test_the_smallest_plan_works_on_columns(network: object, share: float, weights: str, tmp_path: Path) -> None:
    require_tool("cc")
    graph = signal(200) if network is signal else spectrogram()
    fast, small = compile_for(graph), compile_for(graph, goal="memory", weights=weights)
    assert not is_turned(fast)
    assert is_turned(small)
    assert small.plan.arena_bytes < share * fast.plan.arena_bytes
    assert small.manifest["recomputed_macs"] == 0
    check(small, graph, tmp_path)


def test_a_limit_and_the_chips_ram_bring_it_too(tmp_path: Path) -> None:
    require_tool("cc")
    graph = signal(120)
    fast, small = compile_for(graph), compile_for(graph, goal="memory")
    between = (fast.plan.arena_bytes + small.plan.arena_bytes) // 2
    limited, chip = compile_for(graph, arena_limit=between), compile_for(graph, ram=between)
    assert limited.plan.arena_bytes <= between
    assert chip.plan.arena_bytes <= between
    assert is_turned(limited)
    assert is_turned(chip)
    assert not is_turned(compile_for(graph, ram=fast.plan.arena_bytes))
    check(chip, graph, tmp_path)


def test_a_streamed_input_keeps_its_rows() -> None:
    made = compile_for(spectrogram(), goal="memory", stream_input=True)
    assert made.program.streamed
    assert not is_turned(made)


def test_scratchpad_that_no_row_fits(tmp_path: Path) -> None:
    require_tool("cc")
    graph = signal(300, channels=32)
    chip = scratchpad(6000)
    with pytest.raises(ScratchpadTooSmall):
        make_plan(graph, select_kernels(graph, chip.isa), chip, Options(target="gap8-like"))
    made = compile_scratchpad(graph, 6000)
    assert is_turned(made)
    check(made, graph, tmp_path)
