"""Weights of few bits in plain C, beside words, in groups, transposed: equal to golden, and what they cost."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from pathlib import Path

import numpy as np
import onnx
import pytest
from onnx import TensorProto, numpy_helper

from codegen import api
from codegen.ir.graph import Graph
from codegen.ir.quant import Mode
from codegen.kernels import find_form
from codegen.laws import differences, graph_of, make_project
from codegen.ops import Conv2D
from codegen.target import load_target
from tests.contract.case import PACKED, S8, S32, U8, A, Case, ints, requant, t, window
from tests.contract.cases import packed
from tests.contract.test_x86_kernels import BUILDS
from tests.support.emulated import selftest_on
from tests.support.onnx_files import onnx_model, ports_of
from tests.support.sanitizers import TRAPS
from tests.support.tools import require_tool

PLAIN = {"dense", "conv2d", "conv2d_unpacked", "depthwise", "conv_transpose"}
CHIPS = ("cortex-m4", "cortex-m55", "rv32imc")
MOST = 1.25
"""Times the instructions of the same integers in bytes."""


@cache
def cases() -> Graph:
    """Those that kernels in plain C serve on every level."""
    sources = (packed.dense, packed.convolutions, packed.transposed)
    graph = graph_of([case for source in sources for case in packed.packed(source)])
    served = {node.name: find_form(graph.view(node), "c99") for node in graph.nodes}
    plain = {name for name, form in served.items() if form and form.kernel in PLAIN}
    return graph_of([case for source in sources for case in packed.packed(source) if case.name in plain])


def test_they_are_packed_wherever_they_have_few_bits() -> None:
    found = set()
    for node in cases().nodes:
        view = cases().view(node)
        form = find_form(view, "c99")
        assert form is not None
        (weights,) = (field for field in form.params if field.name == "weights")
        numbers, bits = view.ins[1].elements, view.ins[1].bits
        outputs = view.ins[1].shape[0]
        assert weights.nbytes <= numbers * bits / 8 + max(outputs, numbers // outputs), "but for what fills bytes"
        assert f"weights of {bits} bits" in form.why
        found.add((form.kernel, bits, view.ins[1].apart))
    assert found == {(kernel, bits, apart) for kernel in PLAIN for bits in (2, 4) for apart in (False, True)}


@pytest.mark.parametrize("level", ["armv6m", "armv7m", "armv7em", "armv81m_mve", "rv32"])
def test_channels_share_bytes_on_cores_that_sum_one_at_a_time(level: str) -> None:
    views = [cases().view(node) for node in cases().nodes if "words_depthwise" in node.name]
    assert {form and form.kernel for form in (find_form(view, level) for view in views)} == {"depthwise_planes"}
    assert {form and form.kernel for form in (find_form(view, "c99") for view in views)} == {"depthwise"}


@pytest.mark.parametrize("flags", [f"-O0 {TRAPS}", "-O3"])
def test_c_equals_golden(flags: str, tmp_path: Path) -> None:
    require_tool("gcc")
    assert differences(cases(), make_project(cases(), tmp_path, "c99"), "gcc", flags) == []


@pytest.mark.parametrize("build", BUILDS)
def test_c_for_x86_equals_golden(build: str, tmp_path: Path) -> None:
    compiler, flags = BUILDS[build]
    require_tool(compiler)
    assert differences(cases(), make_project(cases(), tmp_path, "host", PACKED), compiler, flags) == []


@pytest.mark.parametrize("chip", CHIPS)
def test_c_equals_golden_on_the_emulated_chip(chip: str, tmp_path: Path) -> None:
    project = make_project(cases(), tmp_path, load_target(chip).isa, PACKED)
    assert selftest_on(chip, project).exit_code == 0


@cache
def columns() -> Graph:
    """Depthwise windows of one column, of which packing saves something or nothing."""
    return graph_of(list(packed.packed(_columns)))


def _columns(mode: Mode, bits: int) -> Iterator[Case]:
    for rows, dtype in ((2, S8), (3, U8), (5, S8), (9, U8)):
        h, c = window(rows, 1, 1, 1, 1), 12
        op = Conv2D(h, window(1), c, 3 if dtype is U8 else A.zero_point, requant(mode, 2**bits * 380, c), S8, None)
        ins = (t(dtype, 1, 11, 1, c), packed.few(bits, c, rows, 1, 1), ints(S32, c) >> 20)
        yield Case(f"column_{rows}", op, ins)


@pytest.mark.parametrize("level", ["armv7m", "rv32"])
def test_depthwise_weights_are_bytes_where_few_bits_take_as_many(level: str) -> None:
    packs = set()
    for node in columns().nodes:
        view = columns().view(node)
        form = find_form(view, level, PACKED.table)
        assert form is not None
        assert form.kernel == "blocked_depthwise"
        (weights,) = (field for field in form.params if field.name == "weights")
        shift = [field for field in form.params if field.name == "w_shift"]
        assert (form.context.fields is None) == (weights.dtype == np.int8)
        assert bool(shift) == (view.ins[1].apart and form.context.fields is not None)
        assert weights.nbytes + sum(field.nbytes for field in shift) <= view.ins[1].elements
        if form.context.fields:
            packs.add((view.ins[1].shape[1], view.ins[1].bits, view.ins[1].apart))
    assert packs == {(2, 2, False), (2, 4, False), (3, 2, False), (3, 4, False), (3, 2, True)}


@pytest.mark.parametrize("level", ["armv7m", "armv7em", "rv32"])
def test_c_of_one_column_equals_golden(level: str, tmp_path: Path) -> None:
    require_tool("gcc")
    assert differences(columns(), make_project(columns(), tmp_path, level, PACKED), "gcc", f"-O3 {TRAPS}") == []


@pytest.mark.parametrize("chip", ["cortex-m4", "rv32imc"])
def test_c_of_one_column_equals_golden_on_the_emulated_chip(chip: str, tmp_path: Path) -> None:
    project = make_project(columns(), tmp_path, load_target(chip).isa, PACKED)
    assert selftest_on(chip, project).exit_code == 0


ON_X86 = {
    "window": "conv2d_window",
    "pointwise": "dense_filled",
    "narrow window": "conv2d_window",
    "narrow pointwise": "dense_filled",
    "few pixels": "conv2d_window",
    "dilated": "conv2d_window",
    "two outputs": "conv2d",
}
"""Kernels of 16-bit data."""


LAYERS = {
    "window": ("Conv", (1, 16, 6, 6), (16, 16, 3, 3), {"pads": [1] * 4}, np.int16),
    "pointwise": ("Conv", (1, 32, 4, 4), (32, 32, 1, 1), {}, np.int16),
    "depthwise": ("Conv", (1, 32, 6, 6), (32, 1, 3, 3), {"pads": [1] * 4, "group": 32}, np.int16),
    "depthwise in line": ("Conv", (1, 24, 16, 1), (24, 1, 5, 1), {"pads": [2, 0, 2, 0], "group": 24}, np.int16),
    "grouped words": ("Conv", (1, 16, 6, 6), (16, 4, 3, 3), {"pads": [1] * 4, "group": 4}, np.int16),
    "grouped": ("Conv", (1, 16, 6, 6), (16, 4, 3, 3), {"pads": [1] * 4, "group": 4}, np.int8),
    "transposed": ("ConvTranspose", (1, 16, 4, 4), (16, 16, 3, 3), {"pads": [1] * 4, "strides": [2, 2]}, np.int8),
}
IN_PAIRS = {
    "window of bytes": ("Conv", (1, 16, 6, 6), (16, 16, 3, 3), {"pads": [1] * 4}, np.int8),
    "pixels of bytes": ("Conv", (1, 32, 4, 4), (32, 32, 1, 1), {}, np.int8),
    "pixels of few bytes": ("Conv", (1, 16, 8, 8), (16, 16, 1, 1), {}, np.int8),
    "bytes in line": ("Conv", (1, 32, 8, 1), (32, 32, 3, 1), {"pads": [1, 0, 1, 0]}, np.int8),
    "one pixel of bytes": ("Conv", (1, 64, 1, 1), (32, 64, 1, 1), {}, np.int8),
}
"""Layers of which some chips sum two outputs in a word (test_pairs.py)."""

FEW_OUTPUTS = {
    "one output": ("Conv", (1, 64, 1, 1), (1, 64, 1, 1), {}, np.int8),
    "depthwise beside padding": ("Conv", (1, 32, 16, 1), (32, 1, 3, 3), {"pads": [1] * 4, "group": 32}, np.int8),
}
"""Layers of fewer outputs than cores sum at a time, and one whose kernel's outer columns only see padding."""

WITH_SMLAD = {
    "in line": ("Conv", (1, 32, 12, 1), (32, 32, 3, 1), {"pads": [1, 0, 1, 0]}, np.int8),
    "bytes of one column": ("Conv", (1, 32, 16, 1), (32, 1, 3, 1), {"pads": [1, 0, 1, 0], "group": 32}, np.int8),
    "bytes of a long column": ("Conv", (1, 16, 24, 1), (16, 1, 9, 1), {"pads": [4, 0, 4, 0], "group": 16}, np.int8),
    "depthwise bytes": ("Conv", (1, 32, 8, 8), (32, 1, 3, 3), {"pads": [1] * 4, "group": 32}, np.int8),
    "windows of one output": ("Conv", (1, 20, 7, 16), (1, 20, 3, 3), {"pads": [1] * 4}, np.int8),
    "line of three outputs": ("Conv", (1, 64, 15, 1), (3, 64, 3, 1), {"pads": [1, 0, 1, 0]}, np.int8),
    "no whole fours": ("Conv", (1, 190, 1, 1), (2, 190, 1, 1), {}, np.int8),
}
"""Layers of bytes that have kernels of their own on a Cortex-M4 and M7."""


OF_FOUR_OUTPUTS = {
    "pixels of four outputs": ("Conv", (1, 24, 5, 4), (4, 24, 1, 1), {}, np.int8),
}
"""Layers that take more than MOST with panels, and more yet in plain C."""


NARROW = {
    "narrow window": ("Conv", (1, 8, 6, 6), (8, 8, 3, 3), {"pads": [1] * 4}, np.int16),
    "narrow pointwise": ("Conv", (1, 12, 6, 6), (12, 12, 1, 1), {}, np.int16),
    "few pixels": ("Conv", (1, 8, 6, 3), (8, 8, 3, 3), {"pads": [1] * 4}, np.int16),
    "dilated": ("Conv", (1, 5, 6, 7), (7, 5, 3, 3), {"pads": [2] * 4, "dilations": [2, 2]}, np.int16),
    "two outputs": ("Conv", (1, 16, 6, 3), (2, 16, 3, 3), {"pads": [1] * 4}, np.int16),
    "depthwise by four": ("Conv", (1, 4, 8, 8), (4, 1, 5, 5), {"pads": [2] * 4, "group": 4}, np.int16),
}
"""Layers of 16-bit data whose sums do not fill vectors of 16, of two outputs, and one of rows of three pixels."""


def layer(name: str, bits: int, zeros: bool = False) -> bytes:
    """One layer between integers, its weights numbers of 2 or 4 bits, or of 4 in 8; `zeros`: without a sign, in 4."""
    kind, x, shape, words, act = (LAYERS | NARROW | WITH_SMLAD | IN_PAIRS | FEW_OUTPUTS | OF_FOUR_OUTPUTS)[name]
    axis = 1 if kind == "ConvTranspose" else 0
    half, outputs = 1 << (min(bits, 4) - 1), shape[axis]
    numbers = np.random.default_rng(1).integers(-half, half, shape)
    scales = {"xs": 0.05, "ws": np.linspace(0.01, 0.02, outputs), "ys": 0.1}
    dtype = TensorProto.UINT4 if zeros else {2: TensorProto.INT2, 4: TensorProto.INT4, 8: TensorProto.INT8}[bits]
    zero = np.arange(outputs) % 7 + 4 if zeros else np.zeros(outputs, int)
    given = [
        onnx.helper.make_tensor("wz", dtype, (outputs,), zero.tolist()),
        *(numpy_helper.from_array(np.asarray(s, np.float32), n) for n, s in scales.items()),
        *(numpy_helper.from_array(np.asarray(0, act), n) for n in ("xz", "yz")),
        onnx.helper.make_tensor("w", dtype, shape, (numbers + half * zeros).reshape(-1).tolist()),
    ]
    node = onnx.helper.make_node
    nodes = [
        node("DequantizeLinear", ["xq", "xs", "xz"], ["x"]),
        node("DequantizeLinear", ["w", "ws", "wz"], ["wd"], axis=axis),
        node(kind, ["x", "wd"], ["y"], **words),
        node("QuantizeLinear", ["y", "ys", "yz"], ["yq"]),
    ]
    feeds = {"xq": np.zeros(x, act)}
    return onnx_model(nodes, ports_of(feeds), ["yq"], given, sets=25, ir_version=13).SerializeToString()


HELD = {"transposed": 16 * 16 * 4 * 4}
"""Numbers of a layer, where they are not those of its window: with a stride of 2 there are zeros beside three taps."""


@pytest.mark.parametrize("name", LAYERS)
def test_their_weights_take_half(name: str) -> None:
    few, bytes_ = (api.inspect(layer(name, bits), "generic").weights_bytes for bits in (4, 8))
    assert few is not None
    assert bytes_ is not None
    half = HELD.get(name, int(np.prod(LAYERS[name][2]))) // 2
    assert half - 4 <= bytes_ - few <= half + 4


@pytest.mark.parametrize("name", LAYERS)
def test_one_with_own_zero_points_stands_alone(name: str) -> None:
    assert api.verify(layer(name, 4, zeros=True), target="generic", samples=2).equal


@pytest.mark.parametrize("zeros", [False, True])
@pytest.mark.parametrize("name", ON_X86)
def test_vectors_sum_whole_windows_on_x86(name: str, zeros: bool) -> None:
    model = layer(name, 4, zeros)
    assert {one.kernel for one in api.inspect(model, "host").layers} == {ON_X86[name]}
    assert api.verify(model, target="host", samples=2).equal


@pytest.mark.parametrize("zeros", [False, True])
@pytest.mark.parametrize("name", ["window", "pointwise", "two outputs"])
@pytest.mark.parametrize("bits", [4, 2])
@pytest.mark.parametrize("chip", ["cortex-m4", "cortex-m55"])
def test_inputs_of_16_bits_are_multiplied_several_at_a_time(chip: str, bits: int, name: str, zeros: bool) -> None:
    model = layer(name, bits, zeros)
    (made,) = api.inspect(model, chip).layers
    assert made.kernel == ("dense_filled" if name == "pointwise" else "conv2d_window")
    assert (f"weights of {bits} bits" in made.form) == (name != "two outputs"), "of whom bytes take less"
    assert api.verify(model, target=chip, samples=2).equal


@pytest.mark.parametrize(("name", "packs"), [("depthwise", True), ("depthwise in line", False)])
def test_depthwise_weights_of_16_bit_data_are_bytes_on_x86_where_rows_have_one_pixel(name: str, packs: bool) -> None:
    model = layer(name, 4)
    assert ["weights of 4 bits" in one.form for one in api.inspect(model, "host").layers] == [packs]
    assert api.verify(model, target="host", samples=2).equal


@pytest.mark.parametrize(("name", "packs"), [("depthwise by four", False), ("depthwise", True)])
@pytest.mark.parametrize("chip", CHIPS)
def test_depthwise_weights_of_four_channels_are_bytes_where_packing_saves_little(
    chip: str, name: str, packs: bool
) -> None:
    assert ["weights of 4 bits" in one.form for one in api.inspect(layer(name, 4), chip).layers] == [packs]


@pytest.mark.parametrize("chip", CHIPS)
@pytest.mark.parametrize("name", [*LAYERS, "narrow window", "narrow pointwise"])
def test_they_cost_little_more_than_bytes(name: str, chip: str) -> None:
    few, bytes_ = (api.profile(layer(name, bits), chip).instructions for bits in (4, 8))
    assert few is not None
    assert bytes_ is not None
    assert few <= MOST * bytes_


@pytest.mark.parametrize("zeros", [False, True])
@pytest.mark.parametrize("name", WITH_SMLAD)
def test_those_of_bytes_do_too_with_smlad(name: str, zeros: bool) -> None:
    few, bytes_ = (api.profile(layer(name, bits, bits == 4 and zeros), "cortex-m4").instructions for bits in (4, 8))
    assert few is not None
    assert bytes_ is not None
    assert few <= MOST * bytes_


@pytest.mark.parametrize("zeros", [False, True])
@pytest.mark.parametrize(
    ("name", "kernel"), [("windows of one output", "blocked"), ("pixels of four outputs", "panels")]
)
def test_few_outputs_have_the_kernel_of_fewer_cycles(name: str, kernel: str, zeros: bool) -> None:
    """Panels make an output alone in C, and blocks of many sums have no register for the word of their weights."""
    model = layer(name, 4, zeros)
    assert [kernel in found.kernel for found in api.profile(model, "cortex-m4").layers] == [True]
    assert api.verify(model, target="cortex-m4", samples=2).equal
