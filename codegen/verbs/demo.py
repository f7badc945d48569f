"""demo: the example network from float model to accuracy on this machine, in one go."""

from __future__ import annotations

import re
import tempfile
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from codegen.arguments import takes_declared
from codegen.errors import ToolFailed
from codegen.host import compiler_words, project_sources, run_built
from codegen.options import Options
from codegen.process import check_program, find_program
from codegen.records import record
from codegen.resources import resource_dir
from codegen.verbs.compile import Writing, compile_model, folder_for
from codegen.verbs.evaluate import Judging, evaluate
from codegen.verbs.quantize import quantize
from codegen.verbs.quantizing import Quantizing
from codegen.verbs.verify import Checking, verify

_FLAGS = ("-std=c99", "-Os", "-ffunction-sections")
_TIMEOUT_S = 120.0


@record(kw_only=True)
class DemoResult:
    """What the demo did.

    `sqnr` is that of the quantized network's outputs in dB; `code_bytes` machine code of this computer at -Os, None
    without the program `size`.
    """

    model: str
    sqnr: float
    project: str
    arena_bytes: int
    weights_bytes: int
    code_bytes: int | None
    macs: int
    selftest: str
    equal: bool
    tensors_checked: int
    samples: int
    value: float
    right: int
    count: int
    images_per_s: float


@takes_declared
def demo(out: str | Path = "lamina-demo", *, told: Callable[[str], None] = lambda step: None) -> DemoResult:
    """Quantize the digits example, compile it to `out`, build it, run its self-test, compare it with golden, judge it.

    `told` is called with each step's name before it begins.  Errors are those of the verbs and of the C compiler.
    """
    folder = resource_dir("examples") / "digits"
    source, data = folder / "digits.onnx", folder / "digits_test.npz"
    out = folder_for(out)
    told("quantizing the float model by 256 images")
    made = quantize(source, Options(), Quantizing(calib=folder / "digits_calib.npz", recipe="fast"))
    model, sqnr = made.model, made.report.sqnr
    assert sqnr is not None, made.report.refusal
    told("compiling the model to C")
    project = compile_model(model, Options(name="digits"), Writing(out=out))
    told("building the C and running its self-test")
    with tempfile.TemporaryDirectory(prefix="lamina-") as work:
        said = _selftest(project.path, Path(work))
        code_bytes = _code_bytes(project.path, "digits", Path(work))
    told("comparing every tensor with the numpy model")
    checked = verify(model, Options(), Checking(inputs=data, samples=10))
    told("running the held-out images")
    score = evaluate(model, data, Options(), Judging()).engines[0]
    sizes: Mapping[str, Any] = project.manifest
    return DemoResult(
        model=source.name,
        sqnr=sqnr,
        project=str(project.path),
        arena_bytes=sizes["arena_bytes"],
        weights_bytes=sizes["weights_bytes"],
        code_bytes=code_bytes,
        macs=sizes["macs"],
        selftest=said,
        equal=checked.equal,
        tensors_checked=checked.tensors_checked,
        samples=checked.samples,
        value=score.value,
        right=score.right or 0,
        count=score.count,
        images_per_s=score.images_per_s,
    )


def _selftest(project: Path, work: Path) -> str:
    """What the project's own test program says; LAM-PROCESS-002 when it fails."""
    program = work / "selftest"
    sources = [*project_sources(project, "digits"), project / "test" / "selftest.c", project / "test" / "main.c"]
    argv: list[str | Path] = [*compiler_words(), *_FLAGS, *_includes(project), *sources, "-o", program]
    check_program(argv, timeout_s=_TIMEOUT_S, writes=program)
    done = run_built(program, _TIMEOUT_S)
    if done.returncode != 0:
        raise ToolFailed(program.name, done.returncode, done.stdout + done.stderr)
    return done.stdout.decode("utf-8", errors="replace").strip()


def _code_bytes(project: Path, name: str, work: Path) -> int | None:
    """Machine code and constants of the schedule and the layers, without the weights."""
    size = find_program("size")
    if size is None:
        return None
    total = 0
    for stem in (name, f"{name}_layers"):
        object_file = work / f"{stem}.o"
        source = project / "src" / f"{stem}.c"
        argv: list[str | Path] = [*compiler_words(), *_FLAGS, *_includes(project), "-c", source, "-o", object_file]
        check_program(argv, timeout_s=_TIMEOUT_S, writes=object_file)
        listing = check_program([size, object_file], timeout_s=_TIMEOUT_S).stdout.decode("utf-8", errors="replace")
        found = re.search(r"^\s*(\d+)", (listing.splitlines() or [""])[-1])
        if found is None:
            return None
        total += int(found[1])
    return total


def _includes(project: Path) -> list[str]:
    return [f"-I{project / part}" for part in ("include", "runtime", "src")]
