"""Weights with a scale per group of inputs: every level's own kernel equals golden, and costs about what bytes do."""

from __future__ import annotations

from functools import cache
from pathlib import Path

import numpy as np
import onnx
import pytest
from onnx import TensorProto, numpy_helper

from benchmarks import stepped
from benchmarks.groups import layer as published
from codegen import api
from codegen.ir.form import Form
from codegen.ir.graph import Graph
from codegen.ir.op import NodeOf
from codegen.ir.quant import Array, DType, TensorType
from codegen.kernels import find_form
from codegen.laws import differences, graph_of, make_project
from codegen.ops import Dense, make_requant
from codegen.target import load_target
from tests.contract.case import S8, U8, in_modes, ints, q, t
from tests.contract.cases import packed
from tests.contract.cases.packed import few, in_groups
from tests.contract.group_layers import ends
from tests.contract.test_x86_kernels import AVX512, BUILDS
from tests.support.emulated import selftest_on
from tests.support.onnx_files import onnx_model, ports_of
from tests.support.sanitizers import TRAPS
from tests.support.tools import require_tool

KERNELS = {
    "c99": "blocked_group_pairs",
    "armv7em": "dsp_groups",
    "armv81m_mve": "mve_groups",
    "host": "x86_group_pairs",
}
OF_BYTES = KERNELS | {"c99": "dense_group_bytes", "host": "x86_groups"}
MOST_OF_BYTES = 1.5
"""Times the instructions of bytes with one scale per output that those with a scale per group take at most."""
MOST = 1.25
"""Times the instructions of weights in bytes with one scale per output."""


QUICK_BUILDS = [build for build in BUILDS if build != "avx2-ub" or not AVX512]
"""Those that gcc does not take minutes for."""
PARTS = 4
"""Programs that all cases are compiled to: checked for undefined behaviour, gcc takes minutes for each."""
LARGE = [(256, 64, 32, 1), (128, 64, 32, 16)]


@cache
def cases() -> Graph:
    return graph_of(list(in_modes(packed.grouped)))


@pytest.mark.parametrize("level", ["c99", "armv7em", "armv81m_mve"])
def test_c_equals_golden(level: str, tmp_path: Path) -> None:
    require_tool("gcc")
    assert differences(cases(), make_project(cases(), tmp_path, level), "gcc", f"-O0 {TRAPS}") == []


@pytest.mark.parametrize("build", QUICK_BUILDS)
def test_a_share_of_c_for_x86_equals_golden(build: str, tmp_path: Path) -> None:
    """Each build has other cases, and all of them together every case: compilers take long over so many vectors."""
    share = list(in_modes(packed.grouped))[QUICK_BUILDS.index(build) :: len(QUICK_BUILDS)]
    check_x86(graph_of(share), build, tmp_path)


@pytest.mark.slow
@pytest.mark.parametrize("part", range(PARTS))
@pytest.mark.parametrize("build", BUILDS)
def test_c_for_x86_equals_golden(build: str, part: int, tmp_path: Path) -> None:
    check_x86(graph_of(list(in_modes(packed.grouped))[part::PARTS]), build, tmp_path)


def check_x86(graph: Graph, build: str, folder: Path) -> None:
    """What the build computes equals golden."""
    compiler, flags = BUILDS[build]
    require_tool(compiler)
    assert differences(graph, make_project(graph, folder, "host"), compiler, flags) == []


@pytest.mark.parametrize("build", sorted({"c99-O1", "avx2-fma"} & set(BUILDS)))
def test_one_group_of_more_than_all_inputs_is_built_without_a_warning(build: str, tmp_path: Path) -> None:
    compiler, flags = BUILDS[build]
    require_tool(compiler)
    case = in_groups("ort", few(2, 64, 168), 256, bits=2, pixels=1, dtype=U8, apart=False)
    graph = graph_of([case])
    forms = [find_form(graph.view(node), "host") for node in graph.nodes]
    assert [form.kernel for form in forms if form] == ["x86_group_pairs"]
    assert differences(graph, make_project(graph, tmp_path, "host"), compiler, flags) == []


@pytest.mark.parametrize("chip", ["cortex-m4", "cortex-m55", "cortex-m3", "rv32imc"])
def test_c_equals_golden_on_the_emulated_chip(chip: str, tmp_path: Path) -> None:
    project = make_project(cases(), tmp_path, load_target(chip).isa)
    assert selftest_on(chip, project).exit_code == 0


def form_of(name: str, level: str) -> Form:
    """What the case has on a level."""
    form = find_form(next(cases().view(node) for node in cases().nodes if node.name == name), level)
    assert form is not None
    return form


@pytest.mark.parametrize("level", KERNELS)
def test_each_level_has_a_kernel_for_them(level: str) -> None:
    assert form_of("single_groups_4_96", level).kernel == KERNELS[level]


@pytest.mark.parametrize("kind", ["", "u"])
@pytest.mark.parametrize("level", OF_BYTES)
def test_each_level_has_a_kernel_for_bytes(level: str, kind: str) -> None:
    assert form_of(f"single_groups_{kind}8_104", level).kernel == OF_BYTES[level]


@pytest.mark.parametrize("kind", ["8-bit groups", "8-bit zeros"])
@pytest.mark.parametrize(
    ("chip", "block", "rows"),
    [("cortex-m4", 16, 1), ("cortex-m4", 32, 5), ("cortex-m55", 16, 1), ("cortex-m55", 32, 4), ("rv32imc", 32, 1)],
)
def test_bytes_in_groups_take_half_as_much_again_at_most(chip: str, block: int, rows: int, kind: str) -> None:
    target = load_target(chip)
    assert target.toolchain
    assert target.board
    require_tool(target.toolchain.cc, target.board.emulator[0])
    groups, one = (api.profile(published(256, 64, k, block, rows), chip) for k in (kind, "8 bits"))
    assert groups.instructions <= MOST_OF_BYTES * one.instructions
    assert groups.weights_bytes is not None
    assert one.weights_bytes is not None
    assert groups.weights_bytes <= MOST_OF_BYTES * one.weights_bytes


@pytest.mark.parametrize("kind", ["", "u"])
@pytest.mark.parametrize(("inputs", "together"), [(56, 18), (64, 10), (72, 8), (80, 10), (128, 10)])
def test_many_pixels_share_weights_with_smlad(inputs: int, together: int, kind: str) -> None:
    """Of 18, nine, seven, nine and nine: an odd one is widened beside nothing."""
    form = form_of(f"single_groups_{kind}4_{inputs}", "armv7em")
    assert (form.kernel, form.context.together) == ("dsp_opened", together)


TWO = ((32, "dsp_group_halves"), (48, "dsp_group_pairs"), (70, "dsp_group_pairs"), (96, "dsp_groups"))


@pytest.mark.parametrize("kind", ["", "u"])
@pytest.mark.parametrize(("inputs", "kernel"), TWO)
def test_two_pixels_go_by_two_channels_with_smlad(inputs: int, kernel: str, kind: str) -> None:
    """One pixel goes by four; small groups go two at a time, where there is no odd one."""
    assert form_of(f"single_groups_{kind}4_{inputs}", "armv7em").kernel == kernel


@pytest.mark.parametrize("kind", ["", "u"])
@pytest.mark.parametrize(("inputs", "tail"), [(64, 1), (72, 3), (80, 1), (128, 1)])
def test_many_pixels_share_weights_with_helium(inputs: int, tail: int, kind: str) -> None:
    """Of nine, seven, nine and nine pixels those behind the last four have a form of their own."""
    form = form_of(f"single_groups_{kind}4_{inputs}", "armv81m_mve")
    assert (form.kernel, form.context.tail) == ("mve_opened", tail)


@pytest.mark.parametrize(("inputs", "pixels"), [(56, 9), (64, 9), (72, 7), (80, 9), (128, 9)])
def test_many_pixels_share_weights_on_x86(inputs: int, pixels: int) -> None:
    form = form_of(f"single_groups_4_{inputs}", "host")
    assert (form.kernel, form.context.pixels) == ("x86_groups", pixels)


@cache
def pairs() -> Graph:
    """Layers of one pixel on x86: groups in pairs and left over, vectors that are filled and others, large sums."""
    layers = (
        (few(4, 48, 64), 16, S8, False),
        (few(4, 41, 72), 16, U8, True),
        (few(4, 147, 104), 32, S8, True),
        (few(4, 20, 125), 32, S8, False),
        (few(4, 20, 157), 32, S8, False),
        (few(4, 3, 94), 32, U8, True),
        (few(4, 66, 61), 32, S8, True),
        (few(4, 18, 45), 16, U8, False),
        (few(4, 7, 7), 24, S8, True),
        (np.resize([-8] * 17 + [7] * 15, (34, 96)), 32, U8, False),
        (np.resize([-8] * 17 + [7] * 15, (34, 88)), 32, S8, True),
        (ends(35, 200, 64), 64, U8, True),
    )
    return graph_of(
        [
            in_groups("single", numbers, block, bits=4, pixels=1, dtype=dtype, apart=apart)
            for numbers, block, dtype, apart in layers
        ]
    )


def test_groups_of_4_bits_go_in_pairs_on_x86_where_there_is_one_pixel() -> None:
    found = [form for node in pairs().nodes if (form := find_form(pairs().view(node), "host"))]
    assert {form.kernel for form in found} == {"x86_group_pairs"}
    ks = [form.context for form in found]
    assert {(k.pairs > 0, k.shared > 0, k.halves > 0) for k in ks} >= {
        (True, False, False),
        (True, False, True),
        (True, True, True),
        (False, False, True),
    }
    assert {(k.centred, k.piece < k.size) for k in ks} == {(False, False), (True, False), (False, True)}
    assert {(k.pairs, k.shared) for k in ks if k.size == 32} >= {(2, 0), (1, 8), (0, 8), (1, 2)}


@pytest.mark.parametrize(
    "build", [pytest.param(b, marks=[] if b in QUICK_BUILDS else pytest.mark.slow) for b in BUILDS]
)
def test_groups_in_pairs_equal_golden(build: str, tmp_path: Path) -> None:
    check_x86(pairs(), build, tmp_path)


def test_zero_points_lie_beside_factors_on_x86_where_numbers_are_bytes() -> None:
    found = [form.context for node in cases().nodes if (form := find_form(cases().view(node), "host"))]
    apart = [k for k in found if getattr(k, "apart", False) and hasattr(k, "paired")]
    assert {(k.bytes, k.paired) for k in apart} == {(True, True), (False, False)}


def dense(numbers: Array, block: int, x: DType = S8, pixels: int = 1) -> NodeOf[Dense]:
    """A layer of these numbers of 4 bits, whose groups have factors of 1, 2, ... ."""
    outputs, inputs = numbers.shape
    factors = np.arange(1, 1 + -(-inputs // block)).repeat(block)[:inputs]
    op = Dense(0, make_requant("single", 1.0, [2.0**-12], q(1.0), S8), S8, None)
    arrays = ((numbers * factors).astype(np.int16), np.zeros(outputs, np.int32))
    weights, bias = (TensorType(a.shape, DType.of(a)) for a in arrays)
    kinds = (t(x, pixels, inputs), TensorType(weights.shape, weights.dtype, bits=4, block=block), bias)
    return NodeOf("n", op, kinds, op.infer(kinds), (None, *arrays))


@pytest.mark.parametrize(("number", "part"), [(2, 128), (3, 64), (7, 32)])
def test_two_sums_share_a_word_of_as_many_inputs_as_fit(number: int, part: int) -> None:
    """Of a group of 128 inputs, one times 1: 128 * (127 * 2 + 1) is below 2^15, 128 * 127 * 3 is not."""
    numbers = np.full((4, 256), number)
    numbers[:, ::128] = 1
    form = find_form(dense(numbers, 128), "c99")
    assert form is not None
    assert (form.kernel, form.context.part) == ("blocked_group_pairs", part)


def test_numbers_whose_sums_no_half_of_a_word_holds_are_summed_one_by_one() -> None:
    """Inputs of 16 bits."""
    form = find_form(dense(ints(S8, 4, 64) % 7, 32, DType.S16), "c99")
    assert form is not None
    assert form.kernel == "dense_groups"


def layer(inputs: int, outputs: int, block: int) -> bytes:
    """A MatMul by weights of 4 bits with a scale per block of inputs, or, of block 0, of 8 bits with one per output."""
    rng = np.random.default_rng(inputs)
    sizes = (-(-inputs // block), outputs) if block else (outputs,)
    kind, half = (TensorProto.INT4, 8) if block else (TensorProto.INT8, 127)
    numbers = rng.integers(-half, half, (inputs, outputs))
    scales = {"xs": 0.05, "ws": rng.uniform(0.1, 0.2, sizes) / half, "ys": 0.002 * inputs**0.5}
    given = [
        *(numpy_helper.from_array(np.asarray(s, np.float32), n) for n, s in scales.items()),
        *(numpy_helper.from_array(np.asarray(0, np.int8), n) for n in ("xz", "yz")),
        onnx.helper.make_tensor("w", kind, numbers.shape, numbers.reshape(-1).tolist()),
    ]
    node = onnx.helper.make_node
    words = {"axis": 0, "block_size": block} if block else {"axis": 1}
    nodes = [
        node("DequantizeLinear", ["xq", "xs", "xz"], ["x"]),
        node("DequantizeLinear", ["w", "ws"], ["wd"], **words),
        node("MatMul", ["x", "wd"], ["y"]),
        node("QuantizeLinear", ["y", "ys", "yz"], ["yq"]),
    ]
    feeds = {"xq": np.zeros((1, inputs), np.int8)}
    return onnx_model(nodes, ports_of(feeds), ["yq"], given, sets=21, ir_version=10).SerializeToString()


@pytest.mark.parametrize("chip", ["cortex-m4", "cortex-m55", "cortex-m3", "rv32imc"])
def test_they_take_a_quarter_more_instructions_than_bytes_at_most(chip: str) -> None:
    target = load_target(chip)
    assert target.toolchain
    assert target.board
    require_tool(target.toolchain.cc, target.board.emulator[0])
    groups, one = (api.profile(layer(256, 64, block), chip) for block in (32, 0))
    assert groups.instructions <= MOST * one.instructions
    assert groups.weights_bytes is not None
    assert one.weights_bytes is not None
    assert groups.weights_bytes <= 0.6 * one.weights_bytes


@pytest.mark.one_in(3)
@pytest.mark.parametrize("kind", ["groups", "zeros"])
@pytest.mark.parametrize(
    ("chip", "inputs", "outputs", "block", "rows"),
    [
        ("cortex-m4", 128, 64, 32, 16),
        ("cortex-m4", 512, 128, 32, 16),
        ("cortex-m4", 128, 64, 32, 4),
        ("cortex-m4", 512, 64, 16, 4),
        ("cortex-m4", 512, 64, 32, 5),
        ("cortex-m55", 128, 64, 32, 16),
        ("cortex-m55", 512, 64, 32, 16),
        ("cortex-m55", 128, 64, 32, 4),
        ("cortex-m55", 128, 64, 16, 4),
        ("cortex-m55", 104, 64, 32, 3),
    ],
)
def test_many_pixels_keep_to_that(chip: str, inputs: int, outputs: int, block: int, rows: int, kind: str) -> None:
    target = load_target(chip)
    assert target.toolchain
    assert target.board
    require_tool(target.toolchain.cc, target.board.emulator[0])
    models = [published(inputs, outputs, k, block, rows) for k in (kind, "8 bits")]
    groups, one = (api.profile(model, chip).instructions for model in models)
    assert groups <= MOST * one


@pytest.mark.one_in(2)
@pytest.mark.skipif(not AVX512, reason="needs AVX-512 with VNNI")
@pytest.mark.usefixtures("fastest")
@pytest.mark.parametrize("kind", ["groups", "zeros"])
@pytest.mark.parametrize(
    ("inputs", "outputs", "block", "rows"),
    [
        (104, 64, 32, 1),
        (96, 64, 32, 1),
        *(pytest.param(*layer, marks=pytest.mark.slow) for layer in LARGE),
    ],
)
def test_on_x86_they_do_too(inputs: int, outputs: int, block: int, rows: int, kind: str) -> None:
    kinds = (kind, "8 bits", f"8-bit {kind}")
    few, bytes_, grouped = (stepped.counted(published(inputs, outputs, k, block, rows))[1] for k in kinds)
    assert few <= MOST * bytes_
    assert few <= MOST * grouped


@pytest.mark.parametrize(("block", "kernel"), [(1 << 15, "x86_groups"), (1 << 16, "blocked_group_pairs")])
def test_groups_whose_sums_times_16_leave_32_bits_have_plain_c(block: int, kernel: str) -> None:
    """Of two pixels; those of one are summed piece by piece."""
    form = find_form(dense(np.resize([-8, 7], (16, 2 * block)), block, pixels=2), "host")
    assert form is not None
    assert form.kernel == kernel
