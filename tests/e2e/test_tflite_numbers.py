"""Numbers at the ends of what TFLite models hold: wide changes of scale, 16-bit zero points, dead channels.

Golden model and C against TFLite Micro's reference kernels, to the byte.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from codegen.fixedpoint import quantize_linear
from codegen.frontends.tflite import import_tflite
from codegen.frontends.tflite.reader import read_model
from codegen.ir.quant import Array
from codegen.ops import TwoSlopes
from codegen.ops.two_slopes import slope
from tests.e2e.test_tflite_operators import check_c, check_golden
from tests.support.tflite_cases import Drawn, draw
from tests.support.tflite_models import Model, run_litert, run_tflm
from tests.support.tools import require_module

SHAPE = (1, 16)


def _numbers(kind: str) -> tuple[tuple[Array, ...], ...]:
    """Random numbers of a type, all at its low end, all at its high end."""
    info = np.iinfo(kind)
    drawn = np.random.default_rng(1).integers(info.min, info.max, SHAPE, endpoint=True)
    return tuple((x.astype(kind),) for x in (drawn, np.full(SHAPE, info.min), np.full(SHAPE, info.max)))


def _quantize(source: tuple[str, float, int], target: tuple[str, float, int]) -> Drawn:
    model = Model()
    x, y = model.input(SHAPE, *source), model.output(SHAPE, *target)
    model.op("QUANTIZE", [x], [y])
    return Drawn(model.bytes(), _numbers(source[0]))


WIDE = [
    (("int32", 1.6e-4, 0), ("int16", 1.0, 0)),
    (("int32", 2e-8, 0), ("int8", 1.0, 5)),
    (("int8", 0.5, -3), ("int32", 1e-6, 7)),
    (("int16", 0.5, 0), ("int32", 1e-5, -1000)),
    (("int16", 0.5, 0), ("int32", 2.0**-16, 0)),
    (("int16", 0.5, -32768), ("int16", 0.1, 1000)),
    (("int16", 2.0**-16, -32768), ("int32", 1e-7, 7)),
]


@pytest.mark.parametrize(("source", "target"), WIDE, ids=lambda v: f"{v[0]}*{v[1]:g}{v[2]:+}")
def test_quantize_takes_every_width_of_integer(
    source: tuple[str, float, int], target: tuple[str, float, int], tmp_path: Path
) -> None:
    require_module("tflite_micro")
    check_golden(_quantize(source, target), source[0], 0, tmp_path)


@pytest.mark.parametrize("case", [WIDE[0], WIDE[3], WIDE[6]], ids=str)
def test_c_of_a_wide_quantize_is_golden(case: tuple[tuple[str, float, int], ...], tmp_path: Path) -> None:
    check_c(_quantize(*case), 0, tmp_path)


@pytest.mark.parametrize("mode", ["single", "ort"])
def test_wide_numbers_have_one_change_of_scale_in_every_mode(mode: str, tmp_path: Path) -> None:
    path = tmp_path / "m.tflite"
    for source, target in WIDE:
        path.write_bytes(_quantize(source, target).data)
        own, other = (import_tflite(path, mode=m) for m in ("tflite", mode))  # type: ignore[arg-type]
        assert [n.op for n in own.nodes] == [n.op for n in other.nodes]


BEHIND = [
    ("DEQUANTIZE", ("float32", (), 0)),
    ("QUANTIZE", ("int8", 1 / 256, -128)),
    ("QUANTIZE", ("int16", 1 / 32768, 0)),
    ("QUANTIZE", ("int32", 1 / 65536, 0)),
]


def _softmax(scale: float, behind: str, target: tuple[str, float | tuple[()], int]) -> Drawn:
    """SOFTMAX from 8 to 16 bits, whose zero point is the lowest number, and what reads it."""
    model = Model()
    x, middle = model.input(SHAPE, "int8", 0.1, 3), model.tensor(SHAPE, "int16", scale, -32768)
    model.op("SOFTMAX", [x], [middle], "SoftmaxOptions", Beta=1.0)
    model.op(behind, [middle], [model.output(SHAPE, *target)])
    return Drawn(model.bytes(), _numbers("int8"))


@pytest.mark.parametrize(("behind", "target"), BEHIND, ids=str)
def test_softmax_from_8_to_16_bits_is_read_on(
    behind: str, target: tuple[str, float | tuple[()], int], tmp_path: Path
) -> None:
    require_module("tflite_micro")
    check_golden(_softmax(1 / 65536, behind, target), "int8", 0, tmp_path)


def test_a_16_bit_softmax_of_nearly_its_scale_is_tflites_own(tmp_path: Path) -> None:
    require_module("tflite_micro")
    for scale in (1.5259e-5, 1.5257e-5, 1.5268e-5):
        check_golden(_softmax(scale, *BEHIND[2]), "int8", 0, tmp_path)


def test_c_of_a_16_bit_softmax_that_is_dequantized_is_golden(tmp_path: Path) -> None:
    check_c(_softmax(1 / 65536, *BEHIND[0]), 0, tmp_path)


def test_hard_swish_of_next_to_nothing_is_tflites(tmp_path: Path) -> None:
    require_module("tflite_micro")
    for x_scale, y_scale, zero in ((6.574459e-08, 5.2839518e-08, 127), (1e-8, 1e-8, -128), (2e-6, 1.0, 0)):
        model = Model()
        x, y = model.input((1, 256), "int8", x_scale, zero), model.output((1, 256), "int8", y_scale, zero)
        model.op("HARD_SWISH", [x], [y], "HardSwishOptions")
        every = np.arange(-128, 128, dtype=np.int8)[None]
        check_golden(Drawn(model.bytes(), ((every,),)), "int8", 0, tmp_path)


PIXELS = np.arange(256, dtype=np.float32)
GRIDS = {
    "around zero": ((PIXELS - np.float32(127.5)) / np.float32(127.5), 1 / 127.5, 66),
    "around 128": ((PIXELS - 128) / 128, 1 / 64, 64),
    "coarse": (PIXELS / np.float32(255), 2 / 255, 33),
    "own": (PIXELS / np.float32(255), 1 / 255, 0),
    "shifted": (PIXELS / np.float32(127.5) - 1, 1 / 128, 0),
}


@pytest.mark.parametrize("name", GRIDS)
def test_pixels_meet_the_border_of_quantize_as_often_as_documented(name: str, tmp_path: Path) -> None:
    require_module("tflite_micro")
    real, scale, count = GRIDS[name]
    model = Model()
    x, middle = model.input((1, 256), "float32"), model.tensor((1, 256), "int8", scale, -1)
    model.op("QUANTIZE", [x], [middle])
    model.op("DEQUANTIZE", [middle], [model.output((1, 256), "float32")])
    case = Drawn(model.bytes(), ((real[None],),))
    check_golden(case, "int8", 0, tmp_path)
    (theirs,) = run_tflm(case.data, *case.inputs)[0]
    ours = np.float32(scale) * (quantize_linear(real, scale, -1, -128, 127) + 1).astype(np.float32)
    assert int((theirs[0] != ours).sum()) == count


@pytest.mark.parametrize("name", ["RELU", "LEAKY_RELU", "ABS"])
def test_litert_takes_the_quotient_of_16_bit_scales_in_float32(name: str, tmp_path: Path) -> None:
    require_module("tflite_micro", "ai_edge_litert")
    path, differing = tmp_path / "m.tflite", 0
    for seed in range(12):
        case = draw(name, "int16", seed)
        path.write_bytes(case.data)
        op = import_tflite(path, mode="tflite", io_type="model").nodes[-1].op
        assert isinstance(op, TwoSlopes)
        theirs = replace(op, **_float32_slopes(path, name))
        found = zip(case.inputs, run_litert(case.data, *case.inputs), strict=True)
        for inputs, (lite,) in found:
            assert np.array_equal(theirs.golden(inputs)[0], lite)
            steps = np.abs(op.golden(inputs)[0].astype(int) - lite)
            differing += int((steps == 1).sum())
            assert steps.max() <= 1
    assert differing > 0


def _float32_slopes(path: Path, name: str) -> dict[str, tuple[int, int]]:
    """The factors above and below zero, of scales that are divided in float32."""
    graph = read_model(path).subgraphs[0]
    x, y = (graph.tensors[i].scale[0] for i in (*graph.inputs, *graph.outputs))
    alpha = np.float32(graph.nodes[0].options_of("LeakyReluOptions").Alpha()) if name == "LEAKY_RELU" else np.float32(1)
    return {"above": slope(float(x / y)), "below": slope(float(x * alpha / y))}


DEAD = (1e-42, 1.4e-45, 1e-38, 0.0)


def _dead_channels(name: str, scale: float, live: bool) -> Drawn:
    """A product of three outputs; the second one's weights have this scale and are zero unless it is `live`."""
    rng, model = np.random.default_rng(7), Model()
    depthwise, dense = name == "DEPTHWISE_CONV_2D", name == "FULLY_CONNECTED"
    shape = (1, 3, 3, 3) if depthwise else (3, 18) if dense else (3, 3, 3, 2)
    data = rng.integers(-127, 128, shape).astype(np.int8)
    if not live:
        data[(Ellipsis, 1) if depthwise else 1] = 0
    scales = np.array([0.01, scale, 0.02], np.float32)
    x_shape = (1, 18) if dense else (1, 4, 4, 3 if depthwise else 2)
    x = model.input(x_shape, "int8", 0.02, 5)
    w = model.const(data, scales, 0, axis=3 if depthwise else 0)
    b = model.const(np.array([100, 77, -200], np.int32), np.float32(0.02) * scales, 0)
    y = model.output((1, 3) if dense else (1, 2, 2, 3), "int8", 0.05, -9)
    options = "FullyConnectedOptions" if dense else "DepthwiseConv2DOptions" if depthwise else "Conv2DOptions"
    told = {} if dense else {"Padding": 1, "StrideH": 1, "StrideW": 1}
    if depthwise:
        told["DepthMultiplier"] = 1
    if not dense:
        told |= {"DilationHFactor": 1, "DilationWFactor": 1}
    model.op(name, [x, w, b], [y], options, version=5 if dense else 3, **told)
    inputs = rng.integers(-128, 128, (4, *x_shape)).astype(np.int8)
    return Drawn(model.bytes(), tuple((i,) for i in inputs))


@pytest.mark.parametrize("name", ["CONV_2D", "DEPTHWISE_CONV_2D", "FULLY_CONNECTED"])
def test_dead_channels_have_scales_of_next_to_nothing(name: str, tmp_path: Path) -> None:
    require_module("tflite_micro")
    for scale in DEAD:
        check_golden(_dead_channels(name, scale, live=False), "int8", 0, tmp_path, name)
    check_golden(_dead_channels(name, 1e-42, live=True), "int8", 0, tmp_path, name)


def test_c_of_a_dead_channel_is_golden(tmp_path: Path) -> None:
    check_c(_dead_channels("CONV_2D", 1e-42, live=False), 0, tmp_path)
