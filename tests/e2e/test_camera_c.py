"""The C of a camera's preprocessing gives the bytes of golden: every pixel format, odd and even sizes, any compiler."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path

import numpy as np
import pytest

from codegen.ir.quant import Array
from codegen.preprocess.pixels import FORMATS
from codegen.process import run_program
from codegen.resources import resource_dir
from tests.e2e.projects import SANITIZE, build, require_build
from tests.support.cameras import Case, random_case, write_cases
from tests.support.tools import require_tool

INCLUDES = [f"-I{resource_dir('runtime_c') / 'include'}"]


def drawn(count: int, seed: int, formats: Iterable[str] = FORMATS) -> list[Case]:
    """So many cameras of each format."""
    rng = np.random.default_rng(seed)
    names = [(f"c{i}{kind.replace('_', '')}", kind) for i in range(count) for kind in formats]
    return [random_case(name, kind, rng) for name, kind in names]


def random_frames(case: Case, count: int, rng: np.random.Generator) -> list[Array]:
    """Random bytes; among the first frames one of extremes, where rounding and saturation are."""
    found = [rng.integers(0, 256, case.frame_bytes, np.uint8) for _ in range(count)]
    found[0] = np.where(found[0] < 128, 0, 255).astype(np.uint8)
    return found


def compare(program: Sequence[str], cases: Sequence[Case], frames: int, order: str = "<") -> None:
    """Every input that the program makes, by lines and of whole frames, is golden's."""
    rng = np.random.default_rng(7)
    given = {case.name: random_frames(case, frames, rng) for case in cases}
    stdin = b"".join(frame.tobytes() for case in cases for frame in given[case.name])
    done = run_program(list(program), timeout_s=100, stdin=stdin)
    assert done.returncode == 0, done.stderr[-2000:].decode()
    out = done.stdout
    for case in cases:
        for number, frame in enumerate(given[case.name]):
            golden = case.golden(frame)
            wanted = golden.astype(golden.dtype.newbyteorder(order)).tobytes()
            for way in ("by lines", "as a whole"):
                assert out[: len(wanted)] == wanted, (case.table, number, way)
                out = out[len(wanted) :]
    assert not out


@pytest.mark.one_in(4)
@pytest.mark.parametrize(
    ("compiler", "flags", "cameras", "frames"),
    [
        ("gcc", ("-O0",), 4, 10),
        ("clang", ("-O1", *SANITIZE), 1, 2),
        ("gcc", ("-m32", "-Os"), 1, 2),
    ],
)
def test_rows_are_those_of_golden(
    compiler: str, flags: tuple[str, ...], cameras: int, frames: int, tmp_path: Path
) -> None:
    """520 random frames by gcc, and some by every other build."""
    require_build(compiler, flags, tmp_path)
    cases = drawn(cameras, seed=len(flags) + cameras)
    sources = write_cases(tmp_path, cases, frames)
    program = build(compiler, flags, sources, tmp_path / "cameras", includes=[*INCLUDES, f"-I{tmp_path}"])
    compare([str(program)], cases, frames)


@pytest.mark.slow
@pytest.mark.parametrize("kind", FORMATS)
def test_rows_of_500_frames_of_each_format_are_those_of_golden(kind: str, tmp_path: Path) -> None:
    """Of 125 random cameras: sizes, crops, sizes of the input and ways to get there."""
    cases = drawn(125, seed=500, formats=[kind])
    assert len({tuple(case.table["size"]) for case in cases}) > 60
    sources = write_cases(tmp_path, cases, 4)
    program = build("gcc", ("-O0",), sources, tmp_path / "cameras", includes=[*INCLUDES, f"-I{tmp_path}"])
    compare([str(program)], cases, 4)


def test_rows_are_those_of_golden_on_a_big_endian_chip(tmp_path: Path) -> None:
    require_tool("powerpc-linux-gnu-gcc", "qemu-ppc")
    cases = drawn(1, seed=11)
    sources = write_cases(tmp_path, cases, 2)
    program = build(
        "powerpc-linux-gnu-gcc",
        ("-O2", "-static"),
        sources,
        tmp_path / "cameras",
        includes=[*INCLUDES, f"-I{tmp_path}"],
    )
    compare(["qemu-ppc", str(program)], cases, 2, ">")
