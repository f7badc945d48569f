"""The law of the C: it equals golden to the bit, and does nothing that C leaves undefined.

Decides: that each instruction set is tried on this machine, where its primitives are their portable twins; and that the
program of the self-test runs under AddressSanitizer, which a library cannot.
"""

from __future__ import annotations

import tempfile
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from codegen.emit import EmitOptions, Vector, fill_pattern, project_files, selftest_crc, write_project
from codegen.emulator import build_and_run
from codegen.errors import BoardMissing, LawBroken
from codegen.golden.compare import first_difference
from codegen.golden.interpreter import run_graph
from codegen.host import WARNINGS, Network, compiler_words, hook_sources
from codegen.ir.graph import Graph
from codegen.ir.plan import Plan
from codegen.kernels import find_form, kernel_needs, select_kernels
from codegen.laws.graphs import feeds, graph_of
from codegen.laws.law import must
from codegen.lower import lower
from codegen.ops.case import Case
from codegen.options import Options
from codegen.process import check_program, run_program
from codegen.prove import shadow_run
from codegen.records import record
from codegen.report.manifest import Asked, build_manifest
from codegen.resources import ABI
from codegen.schedule import schedule
from codegen.target import Target, load_target
from codegen.toolkit import HOUSE, Toolkit

LEVELS = (
    *("c99", "host", "aarch64", "armv7m", "armv6m", "rv64gcv", "armv7em", "armv81m_mve"),
    *("armv7m_wide", "rv32_wide", "armv7em_wide"),
)
"""Instruction sets with kernels of their own.  But for its wide ones, RV32 has the functions of `c99`."""
BUILDS: Mapping[str, str] = {
    "-O0, UBSan": "-O0 -fsanitize=undefined,alignment -fno-sanitize-recover=all",
    "-O2": "-O2",
}
_ASAN = "-O0 -fsanitize=address"
_BUILD_S, _RUN_S = 300, 60
_MAIN = "int kernels_selftest(void);\nint main(void)\n{\n    return kernels_selftest() != 0;\n}\n"


def make_project(graph: Graph, folder: Path, isa: str, tools: Toolkit = HOUSE) -> Path:
    """A project whose self-test has two vectors of golden."""
    kernels = select_kernels(graph, isa, tools.table)
    plan = over_inputs(schedule(graph, kernel_needs(graph, kernels), arena_align=8, goal="speed", tries=0))
    program = lower(plan, kernels)
    asked = Asked(target=load_target("host"), options=Options(), requant="single", goal="speed")
    manifest = build_manifest(plan, program, shadow_run(program), asked)
    options = EmitOptions("0", ABI, "all kernels", isa, "little", roots=tools.roots)
    write_project(folder / "project", project_files(program, options, _vectors(graph), manifest)[0])
    return folder / "project"


def over_inputs(plan: Plan) -> Plan:
    """The plan with outputs over inputs of their nodes where that is claimed to be right, as far over them as may be.

    Those of nodes that are a network by themselves, as cases that stand side by side are.  A plan may have an output
    some way before its input, too: some lie 8 or 16 bytes before it.
    """
    storage, end = dict(plan.storage), plan.arena_bytes
    inputs, outputs = {face.value for face in plan.graph.inputs}, set(plan.graph.output_values)
    reads = Counter(name for node in plan.graph.nodes for name in node.inputs)
    for index, node in enumerate(plan.graph.nodes):
        view = plan.graph.view(node)
        alone = (i for i in view.dynamic if node.inputs[i] in inputs and reads[node.inputs[i]] == 1)
        i = next((i for i in alone if index in plan.in_place or view.op.in_place(i, view.ins, view.outs)), None)
        if index in plan.views or i is None or len(node.outputs) > 1:
            continue
        if node.outputs[0] not in outputs or reads[node.outputs[0]]:
            continue
        x, y = storage[node.inputs[i]], storage[node.outputs[0]]
        end = -(-end // plan.arena_align) * plan.arena_align
        storage[node.outputs[0]] = replace(y, offset=end)
        before = index % 3 * plan.arena_align
        storage[node.inputs[i]] = replace(x, offset=end + max(0, y.bytes - x.bytes) + before)
        end += max(x.bytes, y.bytes) + before
    return replace(plan, storage=storage, arena_bytes=end)


def board_target(name: str) -> Target:
    """The target with that name; LAM-EMULATOR-001 for one without a board."""
    target = load_target(name)
    if target.board is None:
        raise BoardMissing("it has no board", where=target.name)
    return target


def _vectors(graph: Graph) -> list[Vector]:
    types = [graph.type(i.value) for i in graph.inputs]
    vectors = []
    for seed in (1, 2):
        known = run_graph(graph, {i.value: x for i, x in zip(graph.inputs, fill_pattern(seed, types), strict=True)})
        vectors.append(Vector(seed, selftest_crc([known[o.value] for o in graph.outputs])))
    return vectors


def differences(graph: Graph, project: Path, compiler: str | None, flags: str) -> list[str]:
    """The first difference of each output, for each pattern of inputs."""
    texts: list[str] = []
    with Network(project, compiler=compiler, flags=flags.split()) as network:
        for given in feeds(graph):
            expected, actual = run_graph(graph, given), network.run_raw(given)
            found = [first_difference(o.value, expected[o.value], actual[o.value]) for o in graph.outputs]
            texts += [d.text() for d in found if d is not None]
    return texts


def sources_of(project: Path) -> tuple[list[Path], list[Path]]:
    """C files of the self-test without `main`, and folders to include from."""
    parts = (*(project / "src").glob("*.c"), *hook_sources(project))
    sources = [*sorted(parts), project / "test" / "selftest.c"]
    return sources, [project / folder for folder in ("include", "runtime", "src")]


@record
class CompiledLaws:
    """The laws of the C of some cases, made with some tools."""

    cases: Sequence[Case]
    tools: Toolkit

    def levels(self) -> Iterator[tuple[str, Graph]]:
        """Instruction sets, with the cases whose functions no level before has."""
        graph, known = graph_of(self.cases), set[str]()
        views = [graph.view(node) for node in graph.nodes]
        for level in LEVELS:
            forms = [find_form(view, level, self.tools.table) for view in views]
            texts = [
                f"{form.template} {form.context} {v.ins}" if form else "" for form, v in zip(forms, views, strict=True)
            ]
            fresh = [case for case, text in zip(self.cases, texts, strict=True) if text and text not in known]
            known.update(texts)
            if fresh or level == LEVELS[0]:
                yield level, graph_of(fresh or self.cases)

    def equal(self, level: str, graph: Graph, flags: str) -> None:
        """The C equals golden to the bit."""
        with tempfile.TemporaryDirectory(prefix="lamina-laws-") as folder:
            project = make_project(graph, Path(folder), level, self.tools)
            found = differences(graph, project, None, flags)
        must(not found, f"the C differs from `golden`: {found[:1]}")

    def addressed(self, level: str, graph: Graph) -> None:
        """The C touches no memory that is not its own."""
        with tempfile.TemporaryDirectory(prefix="lamina-laws-") as folder:
            project = make_project(graph, Path(folder), level, self.tools)
            sources, folders = sources_of(project)
            program, main = Path(folder) / "selftest", project / "test" / "main.c"
            includes = [f"-I{path}" for path in folders]
            argv = [*compiler_words(), *WARNINGS, *_ASAN.split(), *includes, *sources, main, "-o", program]
            check_program([str(word) for word in argv], timeout_s=_BUILD_S)
            done = run_program([str(program)], timeout_s=_RUN_S)
        said = done.stderr.decode(errors="replace").strip().splitlines()
        found = f": {said[:2]}" if said else " and without a word of ASan: its outputs are not golden's"
        must(done.returncode == 0, f"the self-test ended with {done.returncode}{found}")

    def on_board(self, name: str) -> None:
        """The C equals golden on the target's emulated board."""
        target = board_target(name)
        with tempfile.TemporaryDirectory(prefix="lamina-laws-") as folder:
            project = make_project(graph_of(self.cases), Path(folder), target.isa, self.tools)
            main = Path(folder) / "main.c"
            main.write_text(_MAIN, encoding="utf-8")
            sources, folders = sources_of(project)
            workdir = Path(folder) / "build"
            done = build_and_run(target, [*sources, main], folders, {}, timeout_s=_BUILD_S, workdir=workdir)
        if done.exit_code != 0:
            raise LawBroken(f"the self-test ended with {done.exit_code}", where=target.name)
