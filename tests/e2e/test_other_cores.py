"""Cores whose kernels others have too: a network on each, as it is emulated, against golden."""

from __future__ import annotations

from pathlib import Path

import pytest

import codegen
from codegen.ir.quant import DType, Quant
from codegen.ir.shape import Window
from codegen.ops import MaxPool2D
from codegen.options import Options
from codegen.pipeline import compile_graph
from codegen.process import check_program
from codegen.target import load_target
from tests.support.chips import ONE_OF_EACH_CORE, REFERENCE
from tests.support.graphs import Sketch
from tests.support.tools import require_tool
from tests.unit.cli.conftest import TINY

OTHERS = tuple(name for name in ONE_OF_EACH_CORE if name not in REFERENCE)


def test_mips_and_the_wide_risc_v_are_among_them() -> None:
    assert {load_target(name).core for name in OTHERS} >= {"mips32", "rv64gc", "rv32imafc", "rv32imac", "cortex-m33"}


@pytest.mark.parametrize("name", OTHERS)
def test_a_network_gives_the_golden_bytes(name: str) -> None:
    target = load_target(name)
    assert target.toolchain
    assert target.board
    require_tool(target.toolchain.cc, target.toolchain.size, target.board.emulator[0])
    result = codegen.verify(TINY, target=name, samples=2)
    assert result.equal


@pytest.mark.parametrize("name", ["esp8266"])
def test_what_no_board_runs_is_compiled_without_a_warning(name: str, tmp_path: Path) -> None:
    """Freestanding: Debian's compiler for Xtensa has no C library."""
    toolchain = load_target(name).toolchain
    assert toolchain
    require_tool(toolchain.cc)
    project = codegen.compile_model(TINY, target=name, out=tmp_path / "p").path
    headers = tmp_path / "libc"
    headers.mkdir()
    (headers / "string.h").write_text(
        "#include <stddef.h>\nvoid *memcpy(void *, const void *, size_t);\nvoid *memset(void *, int, size_t);\n"
        "void *memmove(void *, const void *, size_t);\nint memcmp(const void *, const void *, size_t);\n"
    )
    folders = [f"-I{f}" for f in (project / "include", project / "runtime", project / "src", headers)]
    for source in sorted((project / "src").glob("*.c")):
        argv = [toolchain.cc, *toolchain.cflags, "-std=c99", "-Wall", "-Wextra", "-Werror", toolchain.opt_level]
        check_program([*argv, *folders, "-c", source, "-o", tmp_path / "x.o"], timeout_s=120)


def test_a_layer_that_an_accelerator_leaves_to_the_core_is_in_the_project_and_noted() -> None:
    s = Sketch("wide")
    x = s.input((1, 4, 4, 2), DType.S16, Quant(0.5, 0))
    pool = s.apply(MaxPool2D(Window(2, 2, 1, 0, 0), Window(2, 2, 1, 0, 0)), x)
    compiled = compile_graph(s.graph(pool), load_target("cv180x"), Options(target="cv180x"))
    notes = compiled.manifest["notes"]
    assert isinstance(notes, list | tuple)
    assert "0 of 1 layers keep the rules of TPU-MLIR; the C here runs all of them on the core" in notes
    assert any("is left to the core: MaxPool2D has in_bits 16: numbers have 8 bits, or are real" in n for n in notes)
    assert len(compiled.program.functions) == 1
