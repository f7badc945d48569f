"""The limits of blocks: what assembly has in its loops, and what a layer with nothing else to do comes near."""

from __future__ import annotations

import re
import subprocess
from collections import Counter
from pathlib import Path

import pytest

from codegen.ir.graph import Graph
from codegen.ir.op import NodeView
from codegen.kernels import choose_kernels
from codegen.kernels.limits import Loop, limit_of
from codegen.report.speed import layer_instructions
from codegen.target import FEATURES, load_target
from tests.support.graphs import Sketch
from tests.support.shared import ROOT
from tests.support.tools import require_tool

CORES = ("cortex-m0plus", "cortex-m3", "cortex-m4", "cortex-m7", "cortex-m55", "rv32imc")


def pointwise() -> Graph:
    """So many inputs, outputs and pixels that little but products is left."""
    s = Sketch()
    return s.graph(s.conv(s.input((1, 24, 24, 256)), 64, 1))


def window(size: int, stride: int = 1) -> Graph:
    """A window of each channel."""
    s = Sketch()
    return s.graph(s.conv(s.input((1, 48, 48, 64)), 64, size, stride=stride, groups=64))


def dense() -> Graph:
    """One pixel."""
    s = Sketch()
    return s.graph(s.dense(s.input((1, 1024)), 256))


def view_of(graph: Graph) -> NodeView:
    return graph.view(graph.nodes[0])


def limit(graph: Graph, core: str, *, expands: bool = False) -> Loop:
    found = limit_of(view_of(graph), FEATURES[load_target(core).isa], expands=expands)
    assert found is not None
    return found


@pytest.mark.parametrize("core", CORES)
@pytest.mark.parametrize(("graph", "most"), [(pointwise(), 1.3), (dense(), 1.3), (window(3), 2.0)])
def test_a_large_layer_comes_near_its_limit_and_stays_above_it(core: str, graph: Graph, most: float) -> None:
    chip, view = load_target(core), view_of(graph)
    (form,) = choose_kernels(graph, chip).values()
    taken = layer_instructions(view, form, chip)
    assert taken is not None
    assert 0.98 < taken / view.macs / limit(graph, core).each < most


def test_limits_are_those_that_the_documentation_gives() -> None:
    """docs/performance.md has them from the disassembly of each loop."""
    said = (ROOT / "docs" / "performance.md").read_text(encoding="utf-8")
    cases = [
        (pointwise(), "cortex-m4", "19 per 24 MACs"),
        (neighbours(), "cortex-m4", "16 per 36 MACs"),
        (pointwise(), "cortex-m55", "14 per 128 MACs"),
        (pointwise(), "cortex-m3", "14 / 8 = 1.75"),
        (pointwise(), "rv32imc", "40 / 16 = 2.5"),
        (dense(), "cortex-m4", "18 per 16 MACs"),
        (dense(), "cortex-m55", "9 per 64 MACs"),
        (dense(), "cortex-m3", "17 / 8 = 2.13"),
    ]
    for graph, core, words in cases:
        found = limit(graph, core, expands=words == "16 per 36 MACs")
        first, second = (int(number) for number in re.findall(r"\d+", words)[:2])
        assert (found.instructions, found.products) == (first, second), words
        assert words in said
    windows = {(3, 1): 1.57, (3, 2): 1.94, (5, 1): 1.42}
    assert {key: round(limit(window(*key), "cortex-m4").each, 2) for key in windows} == windows
    assert round(limit(window(3), "cortex-m55").each, 2) == 0.53
    assert round(limit(window(5), "cortex-m55").each, 2) == 0.71


def neighbours() -> Graph:
    """Three columns of which neighbouring outputs have two in common."""
    s = Sketch()
    return s.graph(s.conv(s.input((1, 24, 24, 64)), 64, 3))


@pytest.mark.parametrize(
    ("graph", "header", "name", "expands", "saved"),
    [
        (pointwise(), "panel", "panel_3_lined_s8", False, 1),
        (pointwise(), "panel_wide", "panel_3w_lined_s8", True, 1),
        (neighbours(), "winograd", "winograd_3_lined_s8", True, 1.5),
    ],
)
def test_panels_have_the_limits_instructions(
    graph: Graph, header: str, name: str, expands: bool, saved: float, tmp_path: Path
) -> None:
    """Loads of columns and weights, what widens them, and products: of the function, whose loop is written out.

    `saved`: a product that is made stands for so many.
    """
    require_tool("arm-none-eabi-gcc", "arm-none-eabi-objdump")
    source, built = tmp_path / "panel.c", tmp_path / "panel.o"
    source.write_text(f'#include "lam_armv7em_{header}.h"\nvoid *at = (void *)lam_{name};\n')
    folders = [f"-I{ROOT / 'runtime_c' / part}" for part in ("include", "isa/dsp")]
    core = ["-mcpu=cortex-m4", "-mthumb", "-mfpu=fpv4-sp-d16", "-mfloat-abi=hard", "-std=c99", "-O3"]
    subprocess.run(["arm-none-eabi-gcc", *core, *folders, "-c", source, "-o", built], check=True)
    said = subprocess.run(
        ["arm-none-eabi-objdump", "-d", "--no-show-raw-insn", built], check=True, capture_output=True, text=True
    ).stdout
    text = re.split(rf"<lam_{name}>:", said)[1].split("\n\n")[0]
    found = Counter(re.findall(r"^ +[0-9a-f]+:\t(smlad|sxtb16|ldmia|ldrd|ldr)(?:\.w)?\b[^\n]*[!#]", text, re.MULTILINE))
    found["smlad"] = len(re.findall(r"\tsmlad\b", text))
    found["sxtb16"] = len(re.findall(r"\tsxtb16\b", text))
    taken = sum(found[kind] for kind in ("smlad", "sxtb16", "ldmia", "ldrd"))
    each = limit(graph, "cortex-m4", expands=expands).each
    assert taken / (2 * saved * found["smlad"]) == pytest.approx(each, rel=0.03)
