"""The C of a `[postprocess]` table finds what golden does, to the bit: every decoder, any type and order of axes."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest

from codegen.golden.compare import first_difference
from codegen.ir.quant import Array
from codegen.process import check_program, run_program
from codegen.resources import resource_dir
from tests.e2e.projects import SANITIZE, build, require_build
from tests.support.heads import HEADS, Head, read_found, write_heads
from tests.support.tools import require_tool

INCLUDES = [f"-I{resource_dir('runtime_c') / 'include'}"]


def drawn(count: int, seed: int) -> list[Head]:
    """So many heads of each decoder."""
    rng = np.random.default_rng(seed)
    return [made(f"h{i}{kind}", rng) for i in range(count) for kind, made in HEADS.items()]


def compare(program: Sequence[str], cases: Sequence[Head], runs: int, order: str = "<") -> int:
    """Everything that the program finds is golden's; how much that was."""
    rng = np.random.default_rng(5)
    given = {case.name: [case.outputs(rng) for _ in range(runs)] for case in cases}
    stdin = b"".join(_spelled(y, order) for case in cases for one in given[case.name] for y in one.values())
    done = run_program(list(program), timeout_s=100, stdin=stdin)
    assert done.returncode == 0, done.stderr[-2000:].decode()
    out, count = done.stdout, 0
    for case in cases:
        golden = case.decoder()
        for number, outputs in enumerate(given[case.name]):
            wanted = golden.run_raw(outputs)
            found, out = read_found(case, out, order)
            for name, array in wanted.items():
                difference = first_difference(name, array, found[name])
                assert difference is None, (case.name, case.table, number, difference)
            count += len(next(iter(wanted.values())))
    assert not out
    return count


def _spelled(y: Array, order: str) -> bytes:
    return y.astype(y.dtype.newbyteorder(order)).tobytes()


@pytest.mark.one_in(4)
@pytest.mark.parametrize(
    ("compiler", "flags", "heads", "runs"),
    [
        ("gcc", ("-O0",), 3, 8),
        ("gcc", ("-O1", *SANITIZE), 1, 4),
        ("clang", ("-O1", *SANITIZE), 1, 4),
        pytest.param("gcc", ("-m32", "-msse2", "-mfpmath=sse", "-Os"), 1, 4, marks=pytest.mark.slow),
        pytest.param("gcc", ("-O1", *SANITIZE), 4, 60, marks=pytest.mark.slow),
        pytest.param("clang", ("-O3", "-march=native"), 4, 60, marks=pytest.mark.slow),
    ],
)
def test_what_is_found_is_what_golden_finds(
    compiler: str, flags: tuple[str, ...], heads: int, runs: int, tmp_path: Path
) -> None:
    require_build(compiler, flags, tmp_path)
    cases = drawn(heads, seed=len(flags) + heads)
    sources = write_heads(tmp_path, cases, runs)
    program = build(compiler, flags, sources, tmp_path / "heads", includes=[*INCLUDES, f"-I{tmp_path}"])
    assert compare([str(program)], cases, runs) > 2 * len(cases)


def test_a_compiler_that_may_fuse_finds_the_same(tmp_path: Path) -> None:
    """In gnu modes gcc joins products with sums where the chip can."""
    flags = ("-O3", "-march=native", "-std=gnu99")
    require_build("gcc", flags, tmp_path)
    cases = drawn(1, seed=21)
    sources = write_heads(tmp_path, cases, 4)
    program = build("gcc", flags, sources, tmp_path / "heads", includes=[*INCLUDES, f"-I{tmp_path}"])
    compare([str(program)], cases, 4)


def test_headers_are_of_cpp_too(tmp_path: Path) -> None:
    require_tool("g++")
    cases = drawn(1, seed=3)
    write_heads(tmp_path, cases, 1)
    text = "".join(f'#include "{case.name}_postprocess.h"\n' for case in cases)
    (tmp_path / "all.cpp").write_text(text + '#include "lam_detect.h"\n')
    flags = ("-std=c++17", "-Wall", "-Wextra", "-Wpedantic", "-Wconversion", "-Werror", "-fsyntax-only")
    check_program(["g++", *flags, *INCLUDES, f"-I{tmp_path}", str(tmp_path / "all.cpp")], timeout_s=100)


@pytest.mark.slow
def test_what_is_found_is_what_golden_finds_on_a_big_endian_chip(tmp_path: Path) -> None:
    require_tool("powerpc-linux-gnu-gcc", "qemu-ppc")
    cases = drawn(1, seed=11)
    sources = write_heads(tmp_path, cases, 2)
    flags = ("-O2", "-static")
    program = build("powerpc-linux-gnu-gcc", flags, sources, tmp_path / "heads", includes=[*INCLUDES, f"-I{tmp_path}"])
    compare(["qemu-ppc", str(program)], cases, 2, ">")
