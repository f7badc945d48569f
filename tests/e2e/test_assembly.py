"""The assembly of chips' kernels finds its registers wherever it is inlined, at every level, with gcc and clang."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from codegen.ir.graph import Graph
from codegen.ir.quant import DType, Quant
from codegen.ops import Conv2D, Dense, ResizeBilinear
from codegen.pipeline import Options, compile_graph
from codegen.target import load_target
from tests.e2e.assembly import CHIPS, COMPILERS, LEVELS, all_models, at_level, functions_of, layer_functions, refused
from tests.support.graphs import Sketch, random_array, spread_requant
from tests.support.tools import require_tool

SOME = [
    ("cortex-m4", "gcc", "-O2"),
    ("cortex-m4", "gcc", "-O3 -fno-omit-frame-pointer"),
    ("cortex-m4", "gcc", "-Og"),
    ("cortex-m4", "clang", "-O2"),
    ("cortex-m0plus", "gcc", "-O2 -fno-omit-frame-pointer"),
    ("cortex-m0plus", "clang", "-Os"),
    ("cortex-m55", "gcc", "-O3 -fno-omit-frame-pointer"),
    ("cortex-m55", "gcc", "-O1 -fno-omit-frame-pointer"),
    ("cortex-m55", "clang", "-O2"),
]


def ready(chip: str, compiler: str) -> None:
    toolchain = load_target(chip).toolchain
    assert toolchain
    require_tool(toolchain.cc, compiler)


def blocks() -> Graph:
    """Convolutions of one, two and three pixels at a time; dense layers of few and many inputs, one of them clamped.

    Depthwise windows with an odd row and without, and of few bits; outputs with bounds of their own; a resized image.
    """
    sketch = Sketch("blocks")
    x = sketch.conv(sketch.input((1, 7, 9, 3)), 6)
    wide = sketch.conv(sketch.conv(x, 6, groups=6), 16, 1)
    narrow = bounded(sketch, sketch.conv(wide, 8, 1))
    larger = resized(sketch, wide)
    x = sketch.conv(wide, 5, 2, stride=2)
    dense = sketch.dense(sketch.input((1, 70), name="v"), 8)
    windows = [sketch.conv(x, 5, size, groups=5) for size in (2, 3, 5)]
    in_four_bits(sketch, sketch.nodes[-2].inputs[1])
    return sketch.graph(*windows, narrow, larger, clamped(sketch, dense, 32))


def bounded(sketch: Sketch, x: str) -> str:
    """The same convolution, to a part of the output's range."""
    made = sketch.nodes[-1]
    assert isinstance(made.op, Conv2D)
    assert made.op.requant
    sketch.nodes[-1] = replace(made, op=replace(made.op, requant=replace(made.op.requant, low=-100, high=100)))
    return x


def resized(sketch: Sketch, x: str) -> str:
    """Two rows and two columns between those of an image, of another scale."""
    quant = sketch.values[x].type.quant
    assert quant is not None
    between = ((0, 1, 700), (2, 3, 9))
    return sketch.apply(ResizeBilinear(between, between, quant, Quant(0.25, 0), DType.S8, -128, 127, "single"), x)


def in_four_bits(sketch: Sketch, weights: str) -> None:
    """A sixteenth of a constant's numbers, held in so many bits."""
    value = sketch.values[weights]
    assert value.data is not None
    sketch.values[weights] = replace(value, data=value.data // 16, type=replace(value.type, bits=4))


def clamped(sketch: Sketch, x: str, outputs: int) -> str:
    """A dense layer with one factor for all channels, to a part of the output's range."""
    inputs = sketch.values[x].type.shape[-1]
    w = random_array(sketch.rng, (outputs, inputs), DType.S8)
    requant = replace(spread_requant("single", w, DType.S8, channels=False), low=-100, high=100)
    b = sketch.rng.integers(-500, 500, outputs).astype(np.int32)
    return sketch.apply(Dense(0, requant, DType.S8, Quant(0.5, 0)), x, sketch.const(w), sketch.const(b))


@pytest.mark.one_in(3)
@pytest.mark.parametrize(("chip", "compiler", "level"), SOME)
def test_blocks_of_assembly_find_their_registers(chip: str, compiler: str, level: str) -> None:
    ready(chip, compiler)
    made = compile_graph(blocks(), load_target(chip), Options(target=chip, vectors=0))
    functions = sorted(layer_functions(*(made.files[f"src/blocks_layers.{end}"].decode() for end in "ch"), "blocks"))
    assert not list(refused(functions, chip, compiler, level))


@pytest.mark.slow
@pytest.mark.parametrize("compiler", COMPILERS)
@pytest.mark.parametrize("chip", CHIPS)
def test_layer_functions_of_every_model_assemble_at_every_level(chip: str, compiler: str) -> None:
    ready(chip, compiler)
    _, functions = functions_of(all_models(), chip)
    assert functions
    for level in LEVELS:
        assert not list(refused(at_level(functions, level), chip, compiler, level))
