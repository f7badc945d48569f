"""Weights of uint8, less a zero point that makes them leave 8 bits, take a byte each and have the fast kernels."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from codegen.frontends.tflite import import_tflite
from codegen.ir.graph import Graph
from codegen.ir.quant import Array, DType
from codegen.kernels import select_kernels
from codegen.kernels.common import weight_shift
from codegen.kernels.tiles import channel_tile
from codegen.ops import Conv2D
from codegen.passes import simplify
from tests.support.shared import shared_dir
from tests.support.tflite_models import Model

BIAS = np.zeros(1, np.int32)


def spread(low: int, high: int) -> Array:
    return np.array([[low, low, high, high]], np.int64)


@pytest.mark.parametrize(
    ("low", "high", "shift"),
    [(-128, 127, 0), (-121, 134, 7), (0, 255, 128), (-255, 0, -127), (-129, 5, -1), (-3, 200, 73)],
)
def test_the_shift_is_the_least_that_makes_bytes(low: int, high: int, shift: int) -> None:
    assert weight_shift(spread(low, high), BIAS, 0, DType.U8) == shift


def test_weights_over_more_than_256_numbers_have_no_shift() -> None:
    assert weight_shift(spread(-128, 128), BIAS, 0, DType.U8) is None


def test_a_shift_whose_sums_could_leave_32_bits_is_none() -> None:
    deep = np.full((1, 33000), 255, np.int64)
    deep[0, 0] = 0
    assert weight_shift(deep[:, :100], BIAS, 128, DType.U8) == 128
    assert weight_shift(deep, BIAS, 128, DType.U8) is None


def network(folder: Path) -> Graph:
    """A 1x1 convolution of 64 x 32 weights, all numbers of uint8 among them."""
    model, rng = Model(), np.random.default_rng(0)
    data = rng.permutation(np.arange(2048) % 256).astype(np.uint8).reshape(32, 1, 1, 64)
    x = model.input((1, 2, 6, 64), "uint8", 0.02, 128)
    w, b = model.const(data, 0.01, 121), model.const(np.zeros(32, np.int32), 0.0002)
    told = {"Padding": 0, "StrideH": 1, "StrideW": 1, "DilationHFactor": 1, "DilationWFactor": 1}
    model.op("CONV_2D", [x, w, b], [model.output((1, 2, 6, 32), "uint8", 0.3, 128)], "Conv2DOptions", **told)
    path = folder / "m.tflite"
    path.write_bytes(model.bytes())
    return import_tflite(path, mode="tflite")


def weights_bytes(graph: Graph, isa: str) -> int:
    kernels = select_kernels(graph, isa)
    fields = [f for form in kernels.values() for f in form.params]
    return sum(f.values.nbytes for f in fields if f.name in ("weights", "stream"))


@pytest.mark.parametrize(
    ("isa", "kernel", "more"),
    [
        ("c99", "blocked_conv", 0),
        ("armv7em", "dsp_panels", 10 * 32),
        ("armv81m_mve", "mve_dense", 4 * 32),
        ("host", "dense_shifted", 0),
    ],
)
def test_uint8_weights_take_a_byte_each(isa: str, kernel: str, more: int, tmp_path: Path) -> None:
    """Among those of panels and of Helium there is `more`: the bias and, of panels, the factor of each output."""
    graph = network(tmp_path)
    assert {form.kernel for form in select_kernels(graph, isa).values()} == {kernel}
    assert weights_bytes(graph, isa) == 2048 + more


def test_every_part_of_the_channels_is_of_one_form(tmp_path: Path) -> None:
    graph = network(tmp_path)
    for isa in ("c99", "armv7em", "host"):
        (form,) = select_kernels(graph, isa).values()
        view = next(graph.view(n) for n in graph.nodes if isinstance(n.op, Conv2D))
        parts = [form.refit(channel_tile(view, 0, n)) for n in (2, 4, 6)]
        sizes = [part.params_bytes for part in parts]
        assert sizes[2] - sizes[1] == sizes[1] - sizes[0]
        assert {repr(part.context).count("shifted=True") for part in (*parts, form)} == {1}


@pytest.mark.parametrize("isa", ["armv7em", "armv81m_mve"])
def test_a_mobilenet_of_uint8_has_fast_kernels_and_little_more_than_its_parameters(isa: str) -> None:
    graph = import_tflite(shared_dir() / "models/tflite/mobilenet_v1_025_128_uint8.tflite", mode="tflite")
    graph = simplify(graph)
    sizes = [v.data.size * (4 if v.type.dtype is DType.S32 else 1) for v in graph.values.values() if v.data is not None]
    names = {form.kernel for form in select_kernels(graph, isa).values()}
    assert not names & {"conv2d", "dense", "dense_shifted", "depthwise", "blocked_conv", "blocked_depthwise"}
    assert sum(sizes) <= weights_bytes(graph, isa) <= 1.06 * sum(sizes)
