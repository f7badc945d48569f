"""Networks in several working memories: the same bytes as in one, within each memory's size, each between canaries."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from codegen.api import inspect, verify
from codegen.errors import ArenaLimitUnreachable, ArenaTooSmall
from codegen.golden.interpreter import run_graph
from codegen.host import Network
from codegen.ir.graph import Graph
from codegen.ir.plan import Plan, region_at
from codegen.ir.verify import IrError, verify_plan
from codegen.kernels import kernel_needs
from codegen.lower import lower
from codegen.pipeline import Compiled, Options, compile_graph
from codegen.prove import shadow_run
from codegen.schedule.cost import MOVED_BYTE
from codegen.schedule.planner import view_roots
from codegen.schedule.schedule import Scheduler
from codegen.target import Memory, Target, find_chip, load_target
from tests.e2e.projects import DIGITS, SANITIZE, build, check_sources, expected_lines, random_feeds, run, written
from tests.support.graphs import Sketch, conv_chain, residual
from tests.support.scratchpad import branches
from tests.support.tools import require_tool

SRAM = Memory("sram", "ram", None, "test")
SLOWER = (Memory("axi-sram", "ram", None, "test", cost=2), Memory("psram", "psram", None, "test", cost=8))


def chip(*sizes: int | None) -> Target:
    """Any chip with so many bytes of working memories, the fastest one first; the chip's file names it last."""
    found = [replace(m, bytes=size) for m, size in zip((SRAM, *SLOWER), sizes, strict=False)]
    return replace(load_target("generic"), memories=tuple(reversed(found)))


def two_ends() -> Graph:
    """A large input, and outputs of several sizes."""
    s = Sketch("two_ends", seed=11)
    x = s.conv(s.input((1, 24, 20, 3)), 8, stride=2)
    y = s.conv(s.conv(x, 12), 8)
    return s.graph(s.conv(y, 24, 1), s.conv(y, 4, stride=2), s.conv(x, 6, 1))


NETWORKS = {"residual": residual, "conv_chain": conv_chain, "branches": branches, "two_ends": two_ends}


def compile_for(graph: Graph, target: Target, **options: object) -> Compiled:
    return compile_graph(graph, target, Options(target=target.name, **options))  # type: ignore[arg-type]


def smallest(graph: Graph, **options: object) -> int:
    return compile_for(graph, chip(None), goal="memory", **options).plan.arena_bytes


@pytest.mark.one_in(2)
@pytest.mark.parametrize("network", NETWORKS)
def test_a_network_that_the_fast_memory_cannot_hold_gives_the_same_bytes(network: str, tmp_path: Path) -> None:
    require_tool("cc")
    graph = NETWORKS[network]()
    size = smallest(graph)
    made = compile_for(graph, chip(size * 2 // 3, size // 2, None))
    sizes = [made.plan.arena_bytes, *(r.bytes for r in made.plan.regions)]
    assert sizes[0] <= size * 2 // 3
    assert len(sizes) > 1
    with Network(written(tmp_path / network, made).folder, trace=True) as net:
        for feeds in random_feeds(made, 3):
            golden = run_graph(made.graph, feeds)
            outputs, tensors = net.trace_raw(feeds)
            for name, found in (tensors | outputs).items():
                assert np.array_equal(found, golden[name][: len(found)] if found.ndim == 2 else golden[name]), name


def test_inputs_and_outputs_may_lie_in_any_memory(tmp_path: Path) -> None:
    require_tool("cc")
    made = compile_for(two_ends(), chip(smallest(two_ends()) // 4, 300, None))
    ports = [*made.program.inputs, *made.program.outputs]
    places = {region.memory if (region := region_at(made.plan.regions, p.operand.offset)) else "sram" for p in ports}
    assert len(places) > 1
    _sanitized(made, tmp_path)


@pytest.mark.parametrize("weights", ["c", "blob"])
def test_a_streamed_input_whose_ring_is_in_slow_memory(weights: str, tmp_path: Path) -> None:
    """The rows of a wide image with little arithmetic go out first."""
    require_tool("cc")
    s = Sketch("wide", seed=2)
    graph = s.graph(s.conv(s.conv(s.input((1, 16, 40, 2)), 4, 7, stride=2), 8))
    full = smallest(graph, stream_input=True)
    for percent in (80, 60, 40):
        made = compile_for(graph, chip(full * percent // 100, None), stream_input=True, weights=weights)
        if made.program.inputs[0].operand.offset >= made.plan.arena_bytes:
            break
    else:
        pytest.fail("the ring stays in fast memory")
    with Network(written(tmp_path / "wide", made).folder) as net:
        for feeds in random_feeds(made, 2):
            golden = run_graph(made.graph, feeds)
            for name, found in net.run_raw(feeds).items():
                assert np.array_equal(found, golden[name])


def _sanitized(made: Compiled, folder: Path) -> None:
    """Every tensor, under the sanitizers, with each memory an array of its exact size."""
    project = written(folder / "project", made)
    feeds = random_feeds(made, 2)
    sources, defines = check_sources(project, feeds, folder)
    flags = ("-O0", *SANITIZE, "-DLAM_CHECK_STDIO", *defines)
    program = build("cc", flags, sources, folder / "check", includes=project.includes)
    assert run(program) == expected_lines(made, feeds)


def test_memories_that_are_large_enough_change_nothing() -> None:
    for graph in (residual(), two_ends()):
        for options in ({}, {"goal": "memory"}, {"goal": "speed"}, {"stream_input": graph.name != "two_ends"}):
            one = compile_for(graph, chip(None), **options)
            for sizes in ((one.plan.arena_bytes, None), (1 << 20, 1 << 20, 1 << 20)):
                several = compile_for(graph, chip(*sizes), **options)
                assert several.files == one.files


def test_the_limit_is_that_of_the_fastest_memory() -> None:
    size = smallest(residual())
    made = compile_for(residual(), chip(1 << 20, None), arena_limit=size - 1)
    assert made.plan.regions
    assert made.plan.arena_bytes < size
    assert not compile_for(residual(), chip(1 << 20, None), arena_limit=size).plan.regions


def test_what_all_memories_together_cannot_hold_is_refused() -> None:
    size = smallest(residual())
    with pytest.raises(ArenaTooSmall, match=f"spread it over {size // 3} B of sram, {size // 4} B of axi-sram"):
        compile_for(residual(), chip(size // 3, size // 4))
    with pytest.raises(ArenaLimitUnreachable, match="the limit is 8 B; the smallest arena found is ") as refused:
        compile_for(residual(), chip(size, size // 4), arena_limit=8)
    least = int(str(refused.value).split("found is ")[1].split(" B")[0])
    assert least < size, "with kernels of less scratch"
    assert compile_for(residual(), chip(size, size // 4), arena_limit=least).plan.arena_bytes == least


def spread_plan(graph: Graph, share: float = 0.6) -> tuple[Plan, Compiled]:
    made = compile_for(graph, chip(int(smallest(graph) * share), None))
    assert made.plan.regions
    return made.plan, made


@pytest.mark.parametrize("network", NETWORKS)
def test_traffic_is_what_the_shadow_run_counts(network: str) -> None:
    """What decided (rows that nobody needs included) beside what the proof saw."""
    graph = NETWORKS[network]()
    plan, made = spread_plan(graph)
    needs = kernel_needs(plan.graph, made.kernels)
    (offer, *_) = Scheduler([(plan.graph, needs)], arena_align=16).offers
    roots = view_roots(plan.graph, plan.views)
    border = dict.fromkeys(roots, 0)
    for face in (*plan.graph.inputs, *plan.graph.outputs):
        border[roots[face.value]] += plan.graph.type(face.value).bytes
    for name, moved in offer.placer.grouping.moved.items():
        assert moved == made.shadow.moved.get(name, 0) + border[name], name
    record = made.manifest["plan"]
    assert isinstance(record, Mapping)
    assert sum(m["moved_bytes"] for m in record["memories"]) == record["read_bytes"] + record["written_bytes"]


def test_no_other_group_choice_is_cheaper_than_the_one_taken() -> None:
    plan, made = spread_plan(two_ends())
    scheduler = Scheduler([(plan.graph, kernel_needs(plan.graph, made.kernels))], arena_align=16)
    memories = made.target.working
    limits = [memories[0].bytes or 0, 1 << 40]
    times = {}
    for offer in scheduler.offers:
        placed = offer.placer.spread_out(offer.label, memories, limits, 16)
        if placed is not None:
            times[offer.label.time, offer.label.peak] = offer.label.time + placed.extra * MOVED_BYTE
    (chosen,) = [p for p in plan.front if p.chosen]
    ours = next(
        total for (time, peak), total in times.items() if (round(time, 1), peak) == (chosen.time, chosen.peak_bytes)
    )
    assert ours == min(times.values())


def test_a_tensor_that_reaches_over_a_memorys_end_is_refused() -> None:
    plan, made = spread_plan(two_ends())
    for name, place in plan.storage.items():
        for edge in (plan.arena_bytes, plan.regions[-1].stop):
            over = replace(place, offset=edge - place.row_bytes // 2 // 4 * 4 - 4)
            with pytest.raises(IrError):
                verify_plan(replace(plan, storage={**plan.storage, name: over}))
    with pytest.raises(IrError):
        verify_plan(replace(plan, regions=(replace(plan.regions[0], start=plan.arena_bytes - 16),)))
    shadow_run(lower(plan, made.kernels))


def _call_init(net: Network, sizes: Sequence[int], shift: int = 0, missing: int = -1) -> int:
    """The status of init with regions of these sizes, the last one `shift` bytes beyond its alignment."""
    ffi, lib = net._ffi, net._lib
    align = net.manifest["arena_align"]
    keep = [np.zeros(size + 2 * align, np.uint8) for size in sizes]
    places = [ffi.cast("uint8_t *", -(-a.ctypes.data // align) * align) for a in keep]
    places[-1] += shift
    for index, (place, size) in enumerate(zip(places[1:], sizes[1:], strict=True)):
        lib.lam_host_region(index, ffi.NULL if index == missing else place, size)
    return int(lib.lam_host_init(net._net, places[0], sizes[0], ffi.NULL, 0))


def test_init_refuses_a_region_that_is_missing_small_or_unaligned(tmp_path: Path) -> None:
    require_tool("cc")
    size = smallest(two_ends())
    made = compile_for(two_ends(), chip(size // 3, size // 4, None))
    with Network(written(tmp_path / "init", made).folder) as net:
        sizes = [m["bytes"] for m in net.manifest["plan"]["memories"]]
        assert len(sizes) == 3
        assert _call_init(net, sizes) == 0
        assert _call_init(net, [*sizes[:2], sizes[2] - 1]) == 5
        assert _call_init(net, [sizes[0], sizes[1] - 1, sizes[2]]) == 5
        assert _call_init(net, sizes, shift=4) == 6
        assert _call_init(net, sizes, missing=0) == 1
        assert _call_init(net, sizes, missing=1) == 1


def test_what_is_said_of_memories(tmp_path: Path) -> None:
    made = compile_for(residual(), chip(smallest(residual()) // 2, None))
    record = made.manifest["plan"]
    assert isinstance(record, Mapping)
    fast, slow = record["memories"]
    assert (fast["memory"], fast["bytes"], fast["cost"]) == ("arena", made.plan.arena_bytes, 1)
    assert (slow["memory"], slow["bytes"], slow["cost"]) == ("axi_sram", made.plan.regions[0].bytes, 2)
    ends = {"arena": 0, "axi_sram": 0}
    for tensor in record["tensors"]:
        ends[tensor["memory"]] = max(ends[tensor["memory"]], tensor["offset"] + tensor["bytes"])
    assert all(m["bytes"] - 8 < ends[m["memory"]] <= m["bytes"] for m in record["memories"])
    header = made.files[f"include/{made.program.name}.h"].decode()
    assert f"#define RESIDUAL_ARENA_AXI_SRAM_SIZE {slow['bytes']}\n" in header
    assert "RESIDUAL_MEMORY(arena, axi_sram_arena)" in header
    assert f"| working memory in axi_sram | {slow['bytes']} |" in made.files["README.md"].decode()


def test_the_esp32s3_spreads_what_its_sram_cannot_hold() -> None:
    """Within a limit, as where the firmware needs most of it."""
    require_tool("cc")
    whole = inspect(DIGITS, "esp32s3")
    assert whole.plan is not None
    assert len(whole.plan.memories) == 1
    limit = whole.plan.arena_bytes // 3
    seen = inspect(DIGITS, "esp32s3", arena_limit=limit)
    assert seen.plan is not None
    assert seen.supported
    assert [m.memory for m in seen.plan.memories] == ["arena", "psram"]
    assert verify(DIGITS, target="esp32s3", arena_limit=limit, samples=2).equal


def test_an_emulated_chip_with_two_memories(tmp_path: Path) -> None:
    """The board has one memory for both arrays; the C is that of the chip."""
    require_tool("arm-none-eabi-gcc")
    require_tool("qemu-system-arm")
    text = find_chip("cortex-m7").read_text(encoding="utf-8")
    slow = '\n[[memories]]\nname = "sdram"\nkind = "psram"\nbytes = 33554432\ncost = 8\nsource = "a board\'s"\n'
    path = tmp_path / "m7.toml"
    path.write_text(text.replace('name = "cortex-m7"', 'name = "m7"') + slow, encoding="utf-8")
    seen = inspect(DIGITS, str(path), arena_limit=900)
    assert seen.plan is not None
    assert [m.memory for m in seen.plan.memories] == ["arena", "sdram"]
    assert verify(DIGITS, target=str(path), arena_limit=900, samples=2).equal
