"""Strips and inputs outside the arena: the bytes of the network as it was, in less memory."""

from __future__ import annotations

import ctypes
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from codegen import api
from codegen.errors import ArenaLimitUnreachable, CompileError, InputNotOutside, OptionBad, PackageUnfit
from codegen.golden.interpreter import run_graph
from codegen.host import Network
from codegen.ir.graph import Graph
from codegen.ir.quant import DType, Quant
from codegen.ir.verify import IrError, verify_program
from codegen.ops import Add, Reshape
from codegen.pipeline import Compiled, Options, compile_file, compile_graph
from codegen.target import Memory, load_target
from tests.e2e import libraries
from tests.e2e.libraries import loaded, status
from tests.e2e.projects import DIGITS, random_feeds, written
from tests.passes.test_cut_strips import inverted
from tests.support.graphs import Sketch, keeping
from tests.support.networks import network_path
from tests.support.real import model_path
from tests.support.tools import require_tool

MSF_CNN = {25: 25_674, 30: 21_288, 38: 15_340}
"""Bytes that msf-CNN publishes for MobileNetV2-0.35-144, by per cent of products more; its input is not counted."""


def image(size: int = 48) -> Graph:
    """Blocks as MobileNetV2 has them: wide inside, narrow between, each of half the resolution."""
    s = Sketch("image", seed=5)
    x = s.conv(s.input((1, size, size, 3)), 8, stride=2)
    for _ in range(2):
        x = s.conv(s.conv(s.conv(x, 32, 1), 32, stride=2, groups=32), 8, 1)
    return s.graph(x)


def compile_for(graph: Graph, **options: object) -> Compiled:
    target = load_target("generic")
    memories = tuple(replace(m, bytes=None) for m in target.memories)
    asked = Options(target="generic", **{"goal": "memory", "input_outside": True, **options})  # type: ignore[arg-type]
    return compile_graph(graph, replace(target, memories=memories), asked)


def check(made: Compiled, graph: Graph, folder: Path) -> None:
    """Golden of the network as it was, against C."""
    with Network(written(folder / "project", made).folder) as net:
        for feeds in random_feeds(made, 2):
            golden = run_graph(graph, feeds)
            outputs = net.run_raw(feeds)
            for face, found in zip(graph.outputs, outputs.values(), strict=True):
                assert np.array_equal(found, golden[face.value])


@pytest.mark.parametrize("weights", ["c", "blob"])
def test_strips_take_less_memory_and_give_the_same_bytes(weights: str, tmp_path: Path) -> None:
    require_tool("cc")
    graph = image()
    plain, small = compile_for(graph), compile_for(graph, max_recompute=60.0, weights=weights)
    assert small.plan.arena_bytes < 0.8 * plain.plan.arena_bytes
    assert 0 < small.manifest["recomputed_macs"] <= 0.6 * plain.manifest["macs"]
    assert small.manifest["macs"] == plain.manifest["macs"]
    check(small, graph, tmp_path)


def test_a_limit_takes_the_fewest_products_that_meet_it(tmp_path: Path) -> None:
    require_tool("cc")
    graph = image()
    plain, small = compile_for(graph), compile_for(graph, max_recompute=200.0)
    points = [p for p in small.plan.front if p.recomputed_macs]
    assert [p.recomputed_macs for p in points if p.chosen] == [small.plan.recomputed_macs]
    assert len(points) > 1
    for point in points:
        limit = point.peak_bytes + 16  # of addresses
        limited = compile_for(graph, max_recompute=200.0, arena_limit=limit)
        assert limited.plan.arena_bytes <= limit
        assert limited.plan.recomputed_macs <= point.recomputed_macs
    roomy = compile_for(graph, max_recompute=200.0, arena_limit=plain.plan.arena_bytes)
    assert roomy.plan.recomputed_macs == 0
    with pytest.raises(ArenaLimitUnreachable):
        compile_for(graph, max_recompute=200.0, arena_limit=small.plan.arena_bytes // 2)


def test_the_front_falls_in_memory_as_products_rise() -> None:
    front = [p for p in compile_for(image(), max_recompute=200.0).plan.front if p.recomputed_macs]
    assert front == sorted(front, key=lambda p: p.peak_bytes)
    assert [p.recomputed_macs for p in front] == sorted((p.recomputed_macs for p in front), reverse=True)


@pytest.mark.parametrize("how", ["memory", "speed"])
def test_an_input_outside_is_read_where_it_lies_and_stays_as_it_is(how: str, tmp_path: Path) -> None:
    require_tool("cc")
    for graph in (inverted(), image(), keeping()):
        inside, made = compile_for(graph, goal=how, input_outside=False), compile_for(graph, goal=how)
        (port,) = made.program.inputs
        assert made.plan.arena_bytes <= inside.plan.arena_bytes
        assert port.operand.offset >= made.plan.arena_bytes
        with Network(written(tmp_path / f"{graph.name}", made).folder) as net:
            feeds = random_feeds(made, 1)[0]
            golden = run_graph(graph, feeds)
            outputs = net.run_raw(feeds)
            left = bytes(net.ffi.buffer(net.lib.lam_host_input(net.handle, 0), feeds[port.operand.value].nbytes))
            assert left == feeds[port.operand.value].tobytes()
            for face, found in zip(graph.outputs, outputs.values(), strict=True):
                assert np.array_equal(found, golden[face.value])


def test_a_program_that_writes_into_the_callers_memory_is_not_sound() -> None:
    made = compile_for(image(), goal="speed").program
    (given,) = made.regions
    last = made.groups[-1].calls[-1]
    over = replace(last, outputs=(replace(last.outputs[0], offset=given.start),))
    groups = (*made.groups[:-1], replace(made.groups[-1], calls=(*made.groups[-1].calls[:-1], over)))
    verify_program(made)
    with pytest.raises(IrError, match="memory that is the caller's"):
        verify_program(replace(made, groups=groups))


def test_a_network_that_ends_in_a_map_is_cut_to_its_end(tmp_path: Path) -> None:
    require_tool("cc")
    s = Sketch("restored", seed=2)
    graph = s.graph(s.conv(s.conv(s.conv(s.input((1, 24, 24, 2)), 16), 16), 2))
    plain, small = compile_for(graph), compile_for(graph, max_recompute=200.0)
    assert small.plan.arena_bytes < 0.7 * plain.plan.arena_bytes
    check(small, graph, tmp_path)


def test_an_output_on_the_way_does_not_forbid_strips_behind_it(tmp_path: Path) -> None:
    require_tool("cc")
    s = Sketch("early", seed=2)
    first = s.conv(s.input((1, 24, 24, 3)), 2)
    inner = s.conv(s.conv(first, 24, 1), 24, groups=24)
    last = s.conv(s.conv(inner, 24, groups=24), 2, 1)
    graph = s.graph(first, last)
    plain, small = compile_for(graph), compile_for(graph, max_recompute=200.0)
    assert small.plan.recomputed_macs > 0
    assert small.plan.arena_bytes < plain.plan.arena_bytes
    check(small, graph, tmp_path)


def test_an_image_of_three_axes_is_no_part(tmp_path: Path) -> None:
    s = Sketch("three", seed=2)
    quant = Quant(0.5, 0)
    x = s.input((24, 24, 3), quant=quant)
    one = s.const(np.ones((1, 1, 1, 3), np.int8), quant)
    graph = s.graph(s.conv(s.conv(s.apply(Add(quant, quant, quant, DType.S8, -128, 127, "single"), x, one), 16), 2))
    check(compile_for(graph, max_recompute=200.0), graph, tmp_path)


def test_a_network_without_layers_has_an_arena_all_the_same(tmp_path: Path) -> None:
    require_tool("cc")
    s = Sketch("renamed", seed=2)
    graph = s.graph(s.apply(Reshape((1, 12)), s.input((3, 4))))
    made = compile_for(graph)
    assert made.plan.arena_bytes == 1
    check(made, graph, tmp_path)


def test_a_chips_memory_may_be_called_input() -> None:
    target = load_target("generic")
    first, *rest = target.memories
    least = compile_for(inverted()).plan.arena_bytes
    small, large = replace(first, bytes=2 * least // 3), Memory("input", "psram", None, "test", cost=4)
    chip = replace(target, memories=(small, large, *(m for m in rest if m.kind == "flash")))
    made = compile_graph(inverted(), chip, Options(target="generic"))
    assert [(r.memory, r.given) for r in made.plan.regions] == [("input", False)]
    assert "set_input" not in made.files["include/inverted.h"].decode()
    both = compile_graph(inverted(), chip, Options(target="generic", input_outside=True))
    assert [(r.memory, r.given) for r in both.plan.regions] == [("input", False), ("input_outside", True)]


def test_a_camera_writes_into_an_input_that_is_the_networks_own(tmp_path: Path) -> None:
    table = tmp_path / "camera.toml"
    table.write_text('[preprocess]\nformat = "rgb888"\nheight = 16\nwidth = 16\n')
    with pytest.raises(OptionBad, match="beside preprocess"):
        api.compile_model(DIGITS, out=tmp_path / "out", preprocess=table, input_outside=True)


@pytest.mark.parametrize("package", ["rust", "micropython"])
def test_packages_that_cannot_say_where_an_input_is_say_so(package: str, tmp_path: Path) -> None:
    with pytest.raises(PackageUnfit, match="input-outside"):
        api.compile_model(DIGITS, out=tmp_path / "out", package=(package,), input_outside=True)


def test_another_place_of_the_input_is_taken_from_the_next_run_on(tmp_path: Path) -> None:
    require_tool("cc")
    made = compile_for(image(), max_recompute=100.0)
    name, output = made.program.inputs[0].operand.value, made.program.outputs[0].operand.value
    library = loaded(written(tmp_path / "project", made), tmp_path)
    feeds = [sample[name] for sample in random_feeds(made, 2)[:2]]
    golden = [run_graph(made.imported, {name: x})[output] for x in feeds]
    first, second = (library.aligned(x.tobytes()) for x in feeds)
    arena, size = library.aligned(bytes(made.plan.arena_bytes)), made.plan.arena_bytes

    def set_input(place: int | None) -> str:
        return status(library.call("set_input", library.net, ctypes.c_void_p(place)))

    def run() -> np.ndarray:
        assert status(library.call("run", library.net)) == "LAM_OK"
        return library.output()

    assert set_input(second) == "LAM_ERROR_NOT_READY"
    assert library.init(libraries.Memory(arena, size, first, feeds[0].nbytes - 1)) == "LAM_ERROR_REGION_SIZE"
    assert library.init(libraries.Memory(arena, size, first, feeds[0].nbytes)) == "LAM_OK"  # where others have weights
    assert np.array_equal(run(), golden[0])
    assert np.array_equal(run(), golden[0])
    assert set_input(second) == "LAM_OK"
    assert np.array_equal(run(), golden[1])
    assert set_input(None) == "LAM_ERROR_NULL"
    assert set_input(first + 1) == "LAM_ERROR_REGION_ALIGN"
    assert np.array_equal(run(), golden[1])


def test_an_input_outside_is_refused_where_it_cannot_be() -> None:
    s = Sketch("two", seed=1)
    graph = s.graph(s.conv(s.input((1, 4, 4, 3)), 3), s.conv(s.input((1, 4, 4, 3), name="z"), 3))
    with pytest.raises(InputNotOutside, match="2 inputs"):
        compile_for(graph)
    with pytest.raises(OptionBad, match="beside stream_input"):
        Options(stream_input=True, input_outside=True)
    with pytest.raises(CompileError, match="LAM-SCHEDULE-307"):
        compile_file(model_path("resnet8_qdq"), Options(target="gap8-like", input_outside=True))


def test_strips_are_not_made_of_weights_that_come_through_a_buffer() -> None:
    with pytest.raises(OptionBad, match="beside a weights buffer"):
        compile_for(image(), max_recompute=50.0, weights_buffer=2048)


def test_the_error_of_a_limit_names_the_smallest_plan_of_all() -> None:
    smallest = compile_for(image(), max_recompute=200.0).plan.arena_bytes
    with pytest.raises(ArenaLimitUnreachable) as raised:
        compile_for(image(), max_recompute=200.0, arena_limit=smallest // 2)
    found = int(str(raised.value).partition("smallest arena found is ")[2].partition(" B")[0])
    assert found <= 1.1 * smallest


@pytest.mark.parametrize("share", [-1.0, 500.0, float("nan")])
def test_a_share_that_cannot_be_is_refused(share: float) -> None:
    with pytest.raises(OptionBad, match="0 to 400"):
        Options(max_recompute=share)


def test_streamed_inputs_and_whole_ones_have_strips_behind_them(tmp_path: Path) -> None:
    """The first part cannot be one where rows come once; a later one can, and with the input in the arena any."""
    require_tool("cc")
    graph = image()
    for options in ({"stream_input": True, "input_outside": False}, {"input_outside": False}):
        made = compile_for(graph, max_recompute=200.0, **options)
        assert made.plan.arena_bytes <= compile_for(graph, **options).plan.arena_bytes
        check(made, graph, tmp_path / str(len(options)))


@pytest.mark.slow
@pytest.mark.parametrize("share", MSF_CNN)
def test_less_memory_than_msf_cnn_at_its_own_share_of_products(share: int) -> None:
    found = api.inspect(
        network_path("mobilenet_v2_0.35_144"),
        "cortex-m4",
        goal="memory",
        input_outside=True,
        max_recompute=float(share),
    )
    assert found.arena_bytes is not None
    assert found.plan is not None
    assert found.macs is not None
    assert found.arena_bytes < MSF_CNN[share]
    assert 100 * found.plan.recomputed_macs <= share * found.macs


def test_a_real_network_in_strips_equals_golden() -> None:
    require_tool("cc")
    asked = {"goal": "memory", "input_outside": True, "max_recompute": 10.0}
    made = compile_file(model_path("vww_qdq"), Options(target="cortex-m4", vectors=0, **asked))  # type: ignore[arg-type]
    assert made.plan.arena_bytes <= 10_500
    assert api.verify(model_path("vww_qdq"), target="cortex-m4", samples=2, **asked).equal  # type: ignore[arg-type]
