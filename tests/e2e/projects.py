"""Generated projects for the end-to-end tests, and the compilers that build them."""

from __future__ import annotations

import os
import zlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path

import numpy as np
import pytest

from codegen.emit import array_lines, fill_pattern, render, write_project
from codegen.errors import ToolFailed
from codegen.golden.interface import made_rows
from codegen.golden.interpreter import Stepper
from codegen.host import WARNINGS, host_regions
from codegen.ir.graph import Graph
from codegen.ir.plan import Group, Plan, Storage
from codegen.ir.quant import Array, Mode
from codegen.kernels.conv2d import CONV2D
from codegen.pipeline import Compiled, Options, compile_file, compile_graph, finish
from codegen.process import check_program, run_program
from codegen.resources import resource_dir
from codegen.target import load_target
from tests.support.forms import fitted
from tests.support.graphs import Sketch, conv_chain, keeping, residual
from tests.support.shared import ROOT
from tests.support.tools import require_tool

HOST_C = resource_dir("runtime_c") / "host"
DIGITS = ROOT / "examples" / "digits" / "digits_qdq.onnx"
TINY = ROOT / "examples" / "tiny" / "tiny_qdq.onnx"
HASH = bytes(range(1, 33))
SANITIZE = ("-g", "-fsanitize=address,undefined", "-fno-sanitize-recover=all")
_TIMEOUT_S = 240.0


@dataclass(frozen=True, slots=True, eq=False)
class Project:
    """A compiled network and the folder that it was written to."""

    compiled: Compiled
    folder: Path

    @property
    def name(self) -> str:
        return self.compiled.program.name

    @property
    def upper(self) -> str:
        return self.name.upper()

    @property
    def sources(self) -> list[Path]:
        """The C files that a firmware compiles."""
        return sorted((self.folder / "src").glob("*.c"))

    @property
    def includes(self) -> list[str]:
        return [f"-I{self.folder / part}" for part in ("include", "runtime", "src")]

    @property
    def blob(self) -> bytes | None:
        return self.compiled.files.get("weights.bin")


def pair(name: str = "pair") -> Graph:
    """Two convolutions."""
    sketch = Sketch(name, seed=3)
    return sketch.graph(sketch.conv(sketch.conv(sketch.input((1, 12, 10, 4)), 4), 4))


def pulled_plan(graph: Graph) -> Plan:
    """`pair` in one group: a ring of three rows between the convolutions, the output over the dying input.

    For the plain kernels, which need no scratch.
    """
    rows, row_bytes = 12, 40
    inner, last = (node.outputs[0] for node in graph.nodes)
    whole = Storage(offset=0, rows=rows, ring=rows, row_bytes=row_bytes)
    size = (rows + 3) * row_bytes
    return Plan(
        graph=graph,
        groups=(Group((0, 1), block=1),),
        storage={"x": whole, last: whole, inner: replace(whole, offset=rows * row_bytes, ring=3)},
        scratch={},
        scratch_bytes={},
        views=frozenset(),
        arena_bytes=size,
        arena_align=16,
        lower_bound_bytes=size,
    )


def _pulled(options: Options) -> Compiled:
    target = load_target(options.target)
    plan = pulled_plan(pair("pulled"))
    return finish(plan.graph, plan, fitted(plan.graph, CONV2D), target, options)


def _graph(make: Callable[[Mode], Graph]) -> Callable[[Options], Compiled]:
    def compile_it(options: Options) -> Compiled:
        mode = options.requant or "single"
        assert mode in ("single", "tflite", "ort")
        return compile_graph(make(mode), load_target(options.target), options, HASH)

    return compile_it


NETWORKS: Mapping[str, Callable[[Options], Compiled]] = {
    "residual": _graph(residual),
    "conv_chain": _graph(conv_chain),
    "pulled": _pulled,
    "keeping": _graph(keeping),
    "digits": lambda options: compile_file(DIGITS, options),
    "digits_as_trained": lambda options: compile_file(
        DIGITS, replace(options, io_layout="model", io_type="model", name="digits_as_trained")
    ),
}
"""Small networks that between them have every form of schedule: whole layers, rows, pulled rows, branches, states; the
last one takes and gives floats, channels first."""


@cache
def compiled(network: str, requant: str | None = None, weights: str = "c", target: str = "host") -> Compiled:
    """A network of NETWORKS, compiled once."""
    return NETWORKS[network](Options(target=target, requant=requant, weights=weights))


def project(folder: Path, network: str, **options: str | None) -> Project:
    """A network of NETWORKS in a folder of its own."""
    made = compiled(network, **options)
    return written(folder / network, made)


def written(folder: Path, made: Compiled) -> Project:
    write_project(folder, made.files)
    return Project(made, folder)


@cache
def _links(compiler: str, flags: tuple[str, ...], folder: Path) -> bool:
    probe = folder / "probe.c"
    probe.write_text('#include <stdio.h>\nint main(void)\n{\n    return puts("") == EOF;\n}\n')
    argv = [compiler, *flags, str(probe), "-o", str(folder / "probe")]
    if run_program(argv, timeout_s=60).returncode != 0:
        return False
    return run_program([str(folder / "probe")], timeout_s=60).returncode == 0


def require_build(compiler: str, flags: Sequence[str], folder: Path) -> None:
    """The test goes on only when this compiler makes a program with these flags that runs here; under CI it must."""
    require_tool(compiler)
    if _links(compiler, tuple(flags), folder):
        return
    reason = f"{compiler} {' '.join(flags)} does not make a program that runs here"
    if os.environ.get("CI"):
        pytest.fail(reason, pytrace=False)
    pytest.skip(reason)


def build(
    compiler: str,
    flags: Sequence[str],
    sources: Sequence[Path],
    out: Path,
    *,
    includes: Sequence[str] = (),
    warnings: Sequence[str] = WARNINGS,
) -> Path:
    """`out`, built from the sources; the compiler's messages when it has any."""
    argv = [compiler, *warnings, *flags, *includes, *map(str, sources), "-o", str(out)]
    try:
        check_program(argv, timeout_s=_TIMEOUT_S)
    except ToolFailed as error:
        pytest.fail(f"{error}", pytrace=False)
    return out


def run(program: Path, *arguments: str) -> str:
    """What a program printed; it must end with 0."""
    done = run_program([str(program), *arguments], timeout_s=_TIMEOUT_S)
    said = (done.stdout[-2000:] + done.stderr[-4000:]).decode("utf-8", errors="replace")
    assert done.returncode == 0, said
    return done.stdout.decode("ascii")


def random_feeds(made: Compiled, count: int, seed: int = 5) -> list[dict[str, Array]]:
    """Inputs as the network takes them: generated ones, then the lowest and the highest values."""
    graph = made.graph
    types = [graph.type(i.value) for i in graph.inputs]
    names = [i.value for i in graph.inputs]
    found = [dict(zip(names, fill_pattern(seed + i, types), strict=True)) for i in range(count)]
    for sign in (-1, 1):
        ends = [sign * 1e30 if t.dtype.is_float else t.dtype.low if sign < 0 else t.dtype.high for t in types]
        full = [np.full(t.shape, end, t.dtype.numpy) for t, end in zip(types, ends, strict=True)]
        found.append(dict(zip(names, full, strict=True)))
    return found


def expected_lines(made: Compiled, feeds: Sequence[Mapping[str, Array]]) -> str:
    """What runtime_c/host/lam_check_main.c prints when the C is right, by the golden model; the samples are steps."""
    order = "<" if made.target.byte_order == "little" else ">"
    lines: list[str] = []
    stepper = Stepper(made.graph)
    for sample in feeds:
        values = stepper.run(sample)
        rows = made.shadow.rows
        traced = [("t", t.index, made_rows(values[t.value], rows[t.value])) for t in made.program.tensors]
        outputs = [("o", i, values[p.operand.value]) for i, p in enumerate(made.program.outputs)]
        for letter, index, array in (*traced, *outputs):
            data = array.astype(array.dtype.newbyteorder(order)).tobytes()
            lines.append(f"{letter} {index:04x} {zlib.crc32(data):08x}")
    return "\n".join([*lines, "end", ""])


def check_sources(made: Project, feeds: Sequence[Mapping[str, Array]], folder: Path) -> tuple[list[Path], list[str]]:
    """Sources and macros of a program that runs the network on these inputs and prints checksums of all tensors."""
    program = made.compiled.program
    order = "<" if made.compiled.target.byte_order == "little" else ">"
    arrays = [sample[p.operand.value] for sample in feeds for p in program.inputs]
    raw = b"".join(a.astype(a.dtype.newbyteorder(order)).tobytes() for a in arrays)
    data = folder / "check_data.c"
    text = render(
        "check_data.c.j2",
        samples=len(feeds),
        input_bytes=[p.operand.rows * p.operand.row_bytes for p in program.inputs],
        output_bytes=[p.operand.rows * p.operand.row_bytes for p in program.outputs],
        count=len(raw),
        lines=array_lines(np.frombuffer(raw, np.uint8)),
        weights=array_lines(np.frombuffer(made.blob, np.uint8)) if made.blob else (),
        weights_bytes=len(made.blob or b""),
    )
    data.write_text(text, encoding="ascii")
    sources = [*made.sources, HOST_C / "lam_check_main.c", data]
    defines = [*host_macros(made), f"-D{made.upper}_TRACE", f"-DLAM_CHECK_TENSORS={len(program.tensors)}"]
    if program.states:
        defines.append(f"-DLAM_CHECK_STEPS={len(feeds)}")
    if made.blob is not None:
        defines.append("-DLAM_HOST_BLOB")
    if program.weights is not None:
        defines.append("-DLAM_HOST_READ")
    return sources, defines


def host_macros(made: Project) -> list[str]:
    """Which network the programs of runtime_c/host drive."""
    found = [f"-DLAM_HOST_NAME={made.name}", f"-DLAM_HOST_UPPER={made.upper}", f'-DLAM_HOST_HEADER="{made.name}.h"']
    regions = host_regions(r.memory for r in made.compiled.program.regions)
    return [*found, f"-DLAM_HOST_REGIONS={regions}"] if regions else found
