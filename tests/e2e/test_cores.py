"""Several cores: golden equals C in turn and in threads, and the shadow run refuses whatever makes cores depend."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from itertools import pairwise
from pathlib import Path

import pytest

from codegen.emit import write_project
from codegen.host import Network
from codegen.ir.graph import Graph
from codegen.ir.program import Program, ScratchpadProgram
from codegen.ir.quant import Array
from codegen.ir.verify import IrError
from codegen.pipeline import Compiled, Options, compile_file
from codegen.process import run_program
from codegen.prove.scratchpad import shadow_scratchpad
from tests.e2e.projects import HOST_C, Project, build, check_sources, expected_lines, random_feeds, run
from tests.e2e.test_scratchpad import check
from tests.support.graphs import Sketch, conv_chain, residual
from tests.support.networks import network_path
from tests.support.real import model_path
from tests.support.scratchpad import branches, compile_scratchpad
from tests.support.tools import require_tool


def stack() -> Graph:
    """Five convolutions on images of 40 rows: halos grow through the group."""
    sketch = Sketch("stack", seed=3)
    x = sketch.input((1, 40, 6, 3))
    for outputs, size in ((6, 3), (8, 5), (8, 1), (6, 3), (4, 3)):
        x = sketch.conv(x, outputs, size)
    return sketch.graph(x)


def several_samples() -> Graph:
    """A batch of ten through two dense layers: slices are samples."""
    sketch = Sketch("several_samples", seed=4)
    return sketch.graph(sketch.dense(sketch.dense(sketch.input((10, 12)), 16), 6))


GRAPHS: dict[str, Callable[[], Graph]] = {
    "branches": branches,
    "residual": residual,
    "conv_chain": conv_chain,
    "stack": stack,
    "several_samples": several_samples,
}
CORES = (2, 3, 4, 8)
UBSAN = ("-O0", "-fsanitize=undefined", "-fno-sanitize-recover=all")


def scratchpad_program(compiled: Compiled) -> ScratchpadProgram:
    assert compiled.program.scratchpad is not None
    return compiled.program.scratchpad


def proven(compiled: Compiled, folder: Path, flags: tuple[str, ...] = ("-O1",)) -> None:
    """Every tensor equals golden's, cores in turn and as threads."""
    write_project(folder, compiled.files)
    for threads in (False, True):
        with Network(folder, trace=True, flags=flags, threads=threads) as net:
            for seed in (1, 2):
                assert check(compiled, net, seed) == [], f"threads: {threads}"


# Golden equals C


@pytest.mark.one_in(8)
@pytest.mark.parametrize(
    ("name", "cores"),
    [
        pytest.param(name, cores, marks=() if cores == 3 or (name, cores) == ("stack", 8) else pytest.mark.slow)
        for name in GRAPHS
        for cores in CORES
    ],
)
def test_every_tensor_equals_golden(name: str, cores: int, tmp_path: Path) -> None:
    weights = "blob" if cores == 3 and name != "stack" else "c"
    compiled = compile_scratchpad(GRAPHS[name](), 16384 * cores, weights, cores)
    assert scratchpad_program(compiled).cores == compiled.manifest["cores"] == cores
    proven(compiled, tmp_path / "project", UBSAN)


@pytest.mark.one_in(2)
@pytest.mark.parametrize(
    ("name", "each", "cores"),
    [
        ("resnet8_qdq", 8192, 8),
        ("kws_qdq", 16384, 3),
        pytest.param("vww_qdq", 16384, 2, marks=pytest.mark.slow),
    ],
)
def test_real_networks_equal_golden(name: str, each: int, cores: int, tmp_path: Path) -> None:
    proven(compile_scratchpad(model_path(name), each * cores, cores=cores), tmp_path / "project")


@pytest.mark.slow
@pytest.mark.parametrize("cores", CORES)
@pytest.mark.parametrize("each", [10240, 65536])
@pytest.mark.parametrize("name", ["resnet8_qdq", "kws_qdq", "vww_qdq"])
def test_real_networks_equal_golden_on_any_number_of_cores(name: str, each: int, cores: int, tmp_path: Path) -> None:
    proven(compile_scratchpad(model_path(name), each * cores, cores=cores), tmp_path / "project")


@pytest.mark.slow
def test_mobilenet_v2_equals_golden_on_eight_cores(tmp_path: Path) -> None:
    compiled = compile_scratchpad(network_path("mobilenet_v2_0.35_144"), 8 * 65536, cores=8)
    assert compiled.manifest["recomputed_macs"] > 0
    proven(compiled, tmp_path / "project")


class Turns(Network):
    """Cores in an order of one's own within each stage."""

    order: tuple[int, ...] = ()

    def _run_in_threads(self) -> int:
        turns = [(stage, core) for stage in range(self.manifest["stages"]) for core in self.order]
        return max(self._lib.lam_host_run_core(self._net, *turn) for turn in turns)


def test_the_order_of_cores_within_a_stage_does_not_matter(tmp_path: Path) -> None:
    compiled = compile_scratchpad(stack(), 32768, cores=4)
    write_project(tmp_path / "project", compiled.files)
    with Turns(tmp_path / "project", trace=True, flags=("-O1",), threads=True) as net:
        for seed, order in enumerate(((3, 2, 1, 0), (2, 0, 3, 1))):
            net.order = order
            assert check(compiled, net, seed) == []


def test_a_stage_or_a_core_that_is_not_there_is_refused(tmp_path: Path) -> None:
    compiled = compile_scratchpad(stack(), 32768, cores=4)
    write_project(tmp_path / "project", compiled.files)
    with Network(tmp_path / "project") as net:
        for turn in ((-1, 0), (0, -1), (0, 4), (scratchpad_program(compiled).stages, 0)):
            assert net._lib.lam_host_run_core(net._net, *turn) != 0


@pytest.mark.parametrize("compiler", ["gcc", pytest.param("clang", marks=pytest.mark.slow)])
def test_threads_do_not_race(compiler: str, tmp_path: Path) -> None:
    """ThreadSanitizer sees no two cores touch one byte without a barrier between; without the barrier it does.

    With copies made at once there is no lock that could order the threads by chance.  It remembers so many accesses and
    no more, and may miss a race in one run.
    """
    require_tool(compiler)
    compiled = compile_scratchpad(stack(), 32768, cores=4)
    write_project(tmp_path / "project", compiled.files)
    made = Project(compiled, tmp_path / "project")
    given = random_feeds(compiled, 2)
    lines = [line for line in expected_lines(compiled, given).splitlines() if not line.startswith("t ")]
    for dma in ("-DLAM_DMA_THREADS", "-DLAM_DMA_SYNC"):
        said = run(_in_threads(compiler, made, given, tmp_path / "check", dma))
        assert said.splitlines() == lines
    racing = _in_threads(compiler, made, given, tmp_path / "race", "-DLAM_DMA_SYNC", "-DLAM_BARRIER_WAIT(barrier)=0")
    tries = (run_program(["env", "TSAN_OPTIONS=history_size=7", str(racing)], timeout_s=120.0) for _ in range(5))
    assert any(b"data race" in tried.stderr for tried in tries)


def _in_threads(compiler: str, made: Project, given: list[dict[str, Array]], out: Path, *more: str) -> Path:
    """A program that runs each core as a thread, under ThreadSanitizer, and prints checksums of the outputs."""
    sources, defines = check_sources(made, given, out.parent)
    defines = [d for d in defines if "TRACE" not in d and "TENSORS" not in d]
    defines += ["-DLAM_CHECK_TENSORS=0", "-DLAM_CHECK_STDIO", "-DLAM_CHECK_THREADS", "-DLAM_HOST_SCRATCHPAD"]
    defines += ["-DLAM_HOST_CORES", "-D_POSIX_C_SOURCE=200112L", "-pthread", f"-I{HOST_C}", *more]
    flags = ("-O1", "-g", "-fsanitize=thread", *defines)
    return build(compiler, flags, [*sources, HOST_C / "lam_dma_deferred.c"], out, includes=made.includes)


@pytest.mark.parametrize("compiler", [pytest.param("gcc", marks=pytest.mark.slow), "clang"])
def test_the_project_builds_without_a_word_and_tests_itself(compiler: str, tmp_path: Path) -> None:
    require_tool(compiler)
    compiled = compile_scratchpad(stack(), 32768, cores=4)
    write_project(tmp_path / "project", compiled.files)
    made = Project(compiled, tmp_path / "project")
    sources = [*made.sources, made.folder / "test" / "selftest.c", made.folder / "test" / "main.c"]
    flags = ("-O2", "-DLAM_DMA_SYNC", "-fsanitize=address,undefined", "-fno-sanitize-recover=all")
    program = build(compiler, flags, sources, tmp_path / "selftest", includes=made.includes)
    assert run(program) == "stack: all vectors right\n"


# What is made twice


def test_recomputed_multiply_accumulates_are_counted() -> None:
    """Two 3x3 convolutions in one group on two cores: each makes one row of the first that the other makes too."""
    sketch = Sketch("two", seed=1)
    graph = sketch.graph(sketch.conv(sketch.conv(sketch.input((1, 24, 10, 4)), 8), 8))
    compiled = compile_scratchpad(graph, 65536, cores=2)
    (stage,) = compiled.plan.scratchpad.slices if compiled.plan.scratchpad else ()
    assert stage.rows == ((0, 12), (12, 24))
    one_row = 10 * 8 * 9 * 4
    assert stage.recomputed_macs == 2 * one_row
    assert compiled.manifest["recomputed_macs"] == 2 * one_row
    again = sum(c.count for c in scratchpad_program(compiled).commands if c.act == "again")
    assert again == 2
    assert compile_scratchpad(graph, 65536).manifest["recomputed_macs"] == 0


def test_the_number_of_cores_is_what_the_estimate_likes_best() -> None:
    """Dense layers have one row each, and run faster where one core has all of the memory."""
    used = {
        n: compile_file(model_path(n), Options(target="gap8-cores")).manifest["cores"] for n in ("ad_qdq", "kws_qdq")
    }
    assert used == {"ad_qdq": 1, "kws_qdq": 8}


# The shadow run


@pytest.fixture(scope="module")
def sliced() -> Program:
    return compile_scratchpad(stack(), 24576, cores=4).program


def changed(program: Program, **parts: object) -> Program:
    assert program.scratchpad is not None
    return replace(program, scratchpad=replace(program.scratchpad, **parts))  # type: ignore[arg-type]


def test_no_barrier_can_be_left_out(sliced: Program) -> None:
    scratchpad = sliced.scratchpad
    assert scratchpad is not None
    assert scratchpad.stages > 1
    for gone in range(1, scratchpad.stages):
        bounds = tuple((*core[:gone], *core[gone + 1 :]) for core in scratchpad.bounds)
        with pytest.raises(IrError):
            shadow_scratchpad(changed(sliced, bounds=bounds))


def test_no_command_of_any_core_can_be_left_out(sliced: Program) -> None:
    scratchpad = sliced.scratchpad
    assert scratchpad is not None
    for i, command in enumerate(scratchpad.commands):
        if command.act in ("wait", "load", "store", "params", "fill", "run", "again"):
            idle = replace(command, act="run", index=0, row=0, count=0)
            commands = (*scratchpad.commands[:i], idle, *scratchpad.commands[i + 1 :])
            with pytest.raises(IrError):
                shadow_scratchpad(changed(sliced, commands=commands))


def test_rows_are_accounted_for_once(sliced: Program) -> None:
    scratchpad = sliced.scratchpad
    assert scratchpad is not None
    other = {"run": "again", "again": "run"}
    for i, command in enumerate(scratchpad.commands):
        if command.act in other:
            swapped = replace(command, act=other[command.act])  # type: ignore[arg-type]
            with pytest.raises(IrError, match="accounted for"):
                shadow_scratchpad(
                    changed(sliced, commands=(*scratchpad.commands[:i], swapped, *scratchpad.commands[i + 1 :]))
                )


def test_a_slice_that_stores_a_row_of_the_next_one_is_refused(sliced: Program) -> None:
    """Same rows, same numbers; but two cores would write them at one time."""
    scratchpad = sliced.scratchpad
    assert scratchpad is not None
    tried = 0
    for first, second in pairwise(scratchpad.bounds):
        for stage in range(scratchpad.stages):
            mine, theirs = (
                [i for i in range(b[stage], b[stage + 1]) if scratchpad.commands[i].act == "store"]
                for b in (first, second)
            )
            for i in mine[-1:]:
                other = scratchpad.commands[theirs[0]] if theirs else None
                if other and other.index == scratchpad.commands[i].index:
                    wrong = replace(scratchpad.commands[i], row=other.row)
                    with pytest.raises(IrError):
                        shadow_scratchpad(
                            changed(sliced, commands=(*scratchpad.commands[:i], wrong, *scratchpad.commands[i + 1 :]))
                        )
                    tried += 1
    assert tried > 3
