"""Cores whose kernels others have too: a network on each, as it is emulated, against golden."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

import codegen
from codegen.emit import write_project
from codegen.emulator import build_and_run
from codegen.ir.quant import DType, Quant
from codegen.ir.shape import Window
from codegen.ops import MaxPool2D
from codegen.options import Options
from codegen.pipeline import compile_file, compile_graph
from codegen.target import load_target
from tests.support.chips import ONE_OF_EACH_CORE, REFERENCE
from tests.support.graphs import Sketch
from tests.support.real import model_path
from tests.support.tools import require_board, require_tool
from tests.unit.cli.conftest import TINY

OTHERS = tuple(name for name in ONE_OF_EACH_CORE if name not in REFERENCE or name == "rv64gcv")


def test_mips_and_the_wide_risc_v_are_among_them() -> None:
    assert {load_target(name).core for name in OTHERS} >= {
        "mips32",
        "rv64gc",
        "rv64gcv",
        "rv32imafc",
        "rv32imac",
        "cortex-m33",
        "xtensa-lx106",
    }


@pytest.mark.one_in(3)
@pytest.mark.parametrize("name", OTHERS)
def test_a_network_gives_the_golden_bytes(name: str) -> None:
    target = load_target(name)
    assert target.toolchain
    assert target.board
    require_tool(target.toolchain.cc, target.toolchain.size, target.board.emulator[0])
    result = codegen.verify(TINY, target=name, samples=2)
    assert result.equal


@pytest.mark.slow
@pytest.mark.parametrize("vector_bits", [128, 256, 512])
@pytest.mark.parametrize("mode", ["single", "tflite"])
def test_vectors_of_any_length_give_the_golden_bytes(mode: str, vector_bits: int, tmp_path: Path) -> None:
    """Convolutions, depthwise ones and dense layers of real networks."""
    require_board("rv64gcv")
    target = load_target("rv64gcv")
    assert target.board
    emulator = tuple(word.replace("vlen=128", f"vlen={vector_bits}") for word in target.board.emulator)
    assert any(f"vlen={vector_bits}" in word for word in emulator)
    longer = replace(target, board=replace(target.board, emulator=emulator))
    for name in ("kws_qdq", "vww_qdq"):
        compiled = compile_file(model_path(name), Options(target="rv64gcv", requant=mode))
        assert {f.kernel for f in compiled.program.functions} >= {"rvv_conv", "rvv_depthwise", "rvv_dense"}
        project = tmp_path / name
        write_project(project, compiled.files)
        sources = sorted([*(project / "src").glob("*.c"), *(project / "test").glob("*.c")])
        folders = [project / part for part in ("include", "runtime", "src", "test")]
        done = build_and_run(longer, sources, folders, {}, timeout_s=300, workdir=project / "build")
        assert done.exit_code == 0, done.console[-300:]


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
