"""How deep the stack gets: the compiler's own call graph has no cycle, no call through a pointer, and a small sum."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from codegen.target import load_target
from tests.e2e.projects import NETWORKS, build, project
from tests.tools import require_tool

DEEPEST = 1024
"""Bytes of stack that `run` may take, all its callees included."""

_NODE = re.compile(r'node: \{ title: "([^"]+)" label: "[^"]*?\\n(\d+) bytes \((\w+)\)')
_EDGE = re.compile(r'edge: \{ sourcename: "([^"]+)" targetname: "([^"]+)"')


def call_graph(listings: list[str]) -> tuple[dict[str, int], dict[str, set[str]]]:
    """Bytes of each function's frame, and whom it calls."""
    frames: dict[str, int] = {}
    calls: dict[str, set[str]] = {}
    for text in listings:
        for function, size, kind in _NODE.findall(text):
            assert kind == "static", f"{function}: a frame whose size is not known"
            frames[function] = int(size)
        for caller, callee in _EDGE.findall(text):
            calls.setdefault(caller, set()).add(callee)
    return frames, calls


def deepest(function: str, frames: dict[str, int], calls: dict[str, set[str]], above: tuple[str, ...] = ()) -> int:
    """Bytes from this function downwards."""
    assert function not in above, f"recursion: {' -> '.join([*above, function])}"
    assert function != "__indirect_call", f"call through a pointer in {above[-1]}"
    below = [deepest(callee, frames, calls, (*above, function)) for callee in sorted(calls.get(function, ()))]
    return frames.get(function, 0) + max(below, default=0)


@pytest.mark.parametrize("chip", ["cortex-m4", "cortex-m0plus"])
@pytest.mark.parametrize("level", ["-O0", "-Os", "-O2"])
@pytest.mark.parametrize("network", NETWORKS)
def test_run_never_recurses_and_takes_little_stack(network: str, level: str, chip: str, tmp_path: Path) -> None:
    target = load_target(chip)
    if network == "digits_as_trained" and not target.has_fpu:
        pytest.skip("this chip takes no float layers")
    assert target.toolchain is not None
    cc = target.toolchain.cc
    require_tool(cc)
    made = project(tmp_path, network, target=chip)
    listings = []
    for source in made.sources:
        flags = (*target.toolchain.cflags, level, "-c", "-fcallgraph-info=su")
        build(cc, flags, [source], tmp_path / f"{source.stem}.o", includes=made.includes)
        listings.append((tmp_path / f"{source.stem}.ci").read_text(encoding="ascii"))
    frames, calls = call_graph(listings)
    assert f"{made.name}_run" in frames
    assert len(frames) > 5
    assert deepest(f"{made.name}_run", frames, calls) <= DEEPEST
