"""Whole float networks have the golden bits, whatever compiles and runs them: compilers, levels, words, chips."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from _pytest.mark import ParameterSet

from codegen.api import verify
from codegen.options import Options
from codegen.pipeline import compile_file
from tests.e2e.projects import build, check_sources, expected_lines, random_feeds, require_build, run, written
from tests.support.shared import shared_dir
from tests.support.tools import require_board, require_tool

QUICK = "onnx/mnist_cnn_f32.onnx"
SLOW = (
    *(f"mlperf_tiny/{name}_f32.tflite" for name in ("ad", "kws", "resnet8", "vww")),
    *(f"onnx/{name}_f32.onnx" for name in ("dtln_1", "silero_vad_16k")),
)
"""Convolutions of every kind, a reduction, dense layers, recurrences with states, functions."""
HARD = ("cortex-m4", "cortex-m7", "cortex-m55", "esp32p4")
SOFT = ("cortex-m3", "rv32imc", "ppc32")
"""Without an FPU; the last has its most significant byte first."""
HOST = tuple((cc, level) for cc in ("gcc", "clang") for level in ("-O0", "-O3 -march=native"))
WORDS_OF_32 = ("-m32", "-msse2", "-mfpmath=sse")


def networks(chips: tuple[str, ...], *slow: str) -> list[ParameterSet]:
    """The quick network on each of these chips, and slow ones."""
    quick = [pytest.param(chip, QUICK) for chip in chips]
    return [*quick, *(pytest.param(chip, name, marks=pytest.mark.slow) for chip in chips for name in slow)]


@pytest.mark.parametrize(("chip", "name"), networks(HARD, *SLOW) + networks(SOFT, SLOW[1]))
def test_a_chip_has_the_golden_bits(chip: str, name: str) -> None:
    require_board(chip)
    result = verify(shared_dir() / "models" / name, target=chip, samples=1)
    assert result.equal, result.first_difference and result.first_difference.text()


@pytest.mark.parametrize(
    ("compiler", "level", "name"),
    [
        *((cc, level, QUICK) for cc, level in HOST),
        *(pytest.param(cc, level, name, marks=pytest.mark.slow) for cc, level in HOST for name in SLOW),
    ],
)
def test_a_compiler_s_level_has_the_golden_bits(compiler: str, level: str, name: str) -> None:
    require_tool(compiler)
    result = verify(shared_dir() / "models" / name, samples=1, compiler=compiler, flags=level.split(), weights="blob")
    assert result.equal, result.first_difference and result.first_difference.text()


@pytest.mark.parametrize("name", [QUICK, *(pytest.param(name, marks=pytest.mark.slow) for name in SLOW)])
@pytest.mark.parametrize("level", ["-O0", "-O3"])
def test_words_of_32_bits_have_the_golden_bits(level: str, name: str, tmp_path: Path) -> None:
    """A library of such words is none that Python can load: a program writes every tensor."""
    flags = (*WORDS_OF_32, level)
    require_build("gcc", flags, tmp_path)
    made = written(tmp_path / "net", compile_file(shared_dir() / "models" / name, Options(vectors=0)))
    feeds = random_feeds(made.compiled, 1)
    assert any(np.asarray(x).dtype == np.float32 for feed in feeds for x in feed.values())
    sources, defines = check_sources(made, feeds, tmp_path)
    program = build("gcc", (*flags, "-DLAM_CHECK_STDIO", *defines), sources, tmp_path / "check", includes=made.includes)
    assert run(program) == expected_lines(made.compiled, feeds)
