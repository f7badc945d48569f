"""The x86 kernels equal golden in every build of their primitives: AVX-512 with VNNI, AVX2, plain C99.

Shapes that leave a rest in each block: pixels, channels, inputs in fours, rows of a call, 64 bytes of a row.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from benchmarks import low_bit_layers, stepped
from codegen.ir.graph import Graph
from codegen.ir.op import NodeOf
from codegen.ir.quant import MODES, Array, DType, Mode, Requant, TensorType
from codegen.ir.shape import Window
from codegen.kernels import find_form
from codegen.kernels.lanes import LANES
from codegen.kernels.lanes.common import X86, tile_pixels
from codegen.ops import Conv2D, Dense, Mul, make_requant
from codegen.process import check_program
from tests.contract.case import S8, S16, U8, Case, in_modes, ints, named, q, sums, t, window
from tests.contract.cases import float_conv, float_dense
from tests.contract.cases.conv import conv_cases
from tests.contract.cases.dense import dense_cases
from tests.contract.cases.elementwise import add_cases, mul_cases
from tests.contract.test_kernels import X86 as ON_X86
from tests.contract.test_kernels import build_graph, differences, in_one_mode, make_project, sources_of
from tests.support.sanitizers import GCC_REPORTS, TRAPS
from tests.support.tools import require_tool

CPU = set(Path("/proc/cpuinfo").read_text().split()) if ON_X86 and Path("/proc/cpuinfo").exists() else set()
AVX512 = {"avx512f", "avx512bw", "avx512vl", "avx512_vnni"} <= CPU
VNNI = "-mavx512f -mavx512bw -mavx512vl -mavx512vnni"
BUILDS = {
    "c99": ("gcc", f"-O0 {TRAPS}"),
    "c99-O1": ("gcc", "-O1"),
    **(
        {
            "avx2": ("gcc", "-O1 -mavx2"),
            "avx2-fma": ("gcc", "-O2 -mavx2 -mfma"),
            "avx2-ub": ("gcc", f"-O1 -mavx2 {GCC_REPORTS}"),
        }
        if "avx2" in CPU
        else {}
    ),
    **({"avx-vnni": ("gcc", "-O2 -mavx2 -mavxvnni")} if "avx_vnni" in CPU else {}),
    **({"avx512": ("gcc", "-std=gnu11 -O3 -march=native -ffp-contract=fast")} if AVX512 else {}),
    **({"avx512-ub": ("gcc", f"-O1 {VNNI} {GCC_REPORTS}"), "avx512-clang": ("clang", f"-O2 {VNNI}")} if AVX512 else {}),
}
QUICK = "avx2" if "avx2" in BUILDS else "c99"
"""With vectors, where there are any: the twins of the primitives have slow tests and tests of their own."""
SAME = window(3, 1, 1, 1, 1)
ONE = window(1)


def fused(mode: Mode, reach: float, channels: int, y: DType, *, relu: bool) -> Requant:
    """Factors below one quarter, per channel or one for all, with or without bounds of its own."""
    factors = [float(np.float32((y.high - y.low) / reach / (1 + i % 5))) for i in range(channels)]
    zero_point = (y.low + y.high) // 2 - 5
    return make_requant(mode, 1.0, factors, q(1.0, zero_point), y, zero_point if relu else None)


def conv(mode: Mode, x: TensorType, h: Window, w: Window, outputs: int, **how: bool) -> Case:
    groups = x.shape[3] if how.get("depthwise") else 1
    deep = x.shape[3] // groups
    weights, bias = ints(S8, outputs, h.size, w.size, deep), sums(outputs, 2000)
    y = U8 if how.get("unsigned") else S8
    factors = 1 if how.get("single_factor") else outputs
    times = 40 if how.get("fine") else 1 if how.get("coarse") else 4
    reach = 300.0 if how.get("raised") else 2000 * (h.size * w.size * deep) ** 0.5 * times
    zero = 131 if x.dtype is U8 else -7
    op = Conv2D(h, w, groups, zero, fused(mode, reach, factors, y, relu=bool(how.get("relu"))), y, None)
    name = f"{mode}_{x.dtype.value}{'x'.join(map(str, x.shape[1:]))}_{h.size}{w.size}s{h.stride}{w.stride}"
    name = f"{name}d{h.dilation}{w.dilation}o{outputs}{'g' if groups > 1 else ''}{len(how)}"
    return Case(name, op, (x, weights, bias))


def cases() -> Iterator[Case]:
    for mode in MODES:
        wide = window(3, 2, 1, 0, 1)
        yield conv(mode, t(S8, 1, 5, 7, 3), SAME, SAME, 16)
        yield conv(mode, t(U8, 1, 9, 9, 5), wide, wide, 21, unsigned=True)
        yield conv(mode, t(S8, 1, 6, 33, 4), window(2, 1, 2, 1, 1), window(3, 1, 2, 2, 2), 33, relu=True)
        yield conv(mode, t(S8, 1, 60, 10, 1), window(10, 2, 1, 4, 5), window(4, 2, 1, 1, 1), 64, single_factor=True)
        yield conv(mode, t(S8, 1, 4, 5, 64), SAME, SAME, 70)
        yield conv(mode, t(U8, 1, 4, 25, 7), ONE, ONE, 130, relu=True, single_factor=True)
        yield conv(mode, t(S8, 1, 7, 3, 40), ONE, ONE, 64)
        yield conv(mode, t(S8, 1, 8, 8, 16), window(1, 2), window(1, 2), 32, unsigned=True)
        yield conv(mode, t(S8, 1, 3, 4, 9), window(4, 3, 1, 3, 3), window(5, 3, 1, 4, 4), 6)
        for deep, size in ((64, 5), (8, 11), (24, 6), (3, 70), (96, 3), (130, 4)):
            yield conv(mode, t(S8, 1, 6, size, deep), SAME, SAME, deep, depthwise=True)
            yield conv(mode, t(U8, 1, 6, size, deep), SAME, wide, deep, depthwise=True, unsigned=True, relu=True)
        far = window(2, 1, 3, 2, 1)
        yield conv(mode, t(S8, 1, 40, 9, 128), window(5, 3, 1, 2, 2), far, 128, depthwise=True, single_factor=True)
    yield from raised_cases()
    yield from map(named, in_modes(conv_cases, dense_cases, add_cases, mul_cases))
    yield from map(named, (*float_conv.cases(), *float_dense.cases()))


def raised_cases() -> Iterator[Case]:
    """Factors between one sixth and one, as weights of 4 bits have them: sums are shifted left before the product."""
    yield conv("single", t(S8, 1, 6, 11, 24), SAME, SAME, 24, depthwise=True, raised=True)
    yield conv("single", t(U8, 1, 5, 7, 12), SAME, SAME, 21, raised=True, unsigned=True)
    yield conv("single", t(S8, 1, 4, 25, 7), ONE, ONE, 70, raised=True, single_factor=True, relu=True)
    yield Case(
        "single_product_raised",
        Mul(-4, 9, make_requant("single", 1.0, [0.7], q(1.0, 3), S8), S8, None),
        (t(S8, 1, 5, 7), t(S8, 1, 5, 7)),
    )


def straight_cases(mode: Mode, **how: bool) -> Iterator[Case]:
    """Layers with factors of each channel and one for all, outputs of both types, some of 64 bytes at a time."""
    yield conv(mode, t(S8, 1, 5, 7, 12), SAME, SAME, 21, **how)
    yield conv(mode, t(U8, 1, 6, 9, 16), SAME, SAME, 32, unsigned=True, **how)
    yield conv(mode, t(S8, 1, 4, 9, 5), SAME, SAME, 48, unsigned=True, **how)
    yield conv(mode, t(S8, 1, 4, 25, 24), ONE, ONE, 70, single_factor=True, **how)
    yield conv(mode, t(U8, 1, 1, 1, 75), ONE, ONE, 150, **how)
    yield conv(mode, t(S8, 1, 6, 11, 24), SAME, SAME, 24, depthwise=True, **how)
    yield conv(mode, t(S8, 1, 6, 5, 64), SAME, SAME, 64, depthwise=True, single_factor=True, **how)


STRAIGHT = {
    "REAL": [*straight_cases("tflite", relu=True, coarse=True), *straight_cases("single", coarse=True)],
    "MIRRORED": [*straight_cases("tflite", coarse=True)],
    "LINED": [*straight_cases("tflite", relu=True, fine=True)],
}


def few_cases() -> list[Case]:
    """Weights of 4 bits, -8 among them or not: pairs of four inputs with and without a rest, blocks, dilation, taps.

    Rows of one pixel too, more of them than a call makes, or fewer than a tile.
    """
    far = window(3, 1, 2, 2, 2)
    found = [
        case
        for mode in MODES
        for case in (
            conv(mode, t(S8, 1, 5, 7, 12), SAME, SAME, 21),
            conv(mode, t(U8, 1, 6, 33, 8), window(3, 2, 1, 0, 1), window(3, 2, 1, 1, 1), 33, unsigned=True),
            conv(mode, t(S8, 1, 4, 25, 7), far, far, 70, relu=True),
            conv(mode, t(S8, 1, 60, 10, 1), window(10, 2, 1, 4, 5), window(5, 2, 1, 2, 2), 64, single_factor=True),
            conv(mode, t(S8, 1, 4, 25, 64), ONE, ONE, 130),
            conv(mode, t(S8, 1, 70, 1, 12), SAME, ONE, 40),
            conv(mode, t(U8, 1, 19, 1, 9), window(4, 2, 1, 0, 1), SAME, 21, unsigned=True),
            conv(mode, t(S8, 1, 3, 1, 20), window(2, 1, 2, 1, 0), ONE, 150, relu=True),
            conv(mode, t(U8, 1, 1, 1, 75), ONE, ONE, 150, relu=True),
            conv(mode, t(S8, 1, 1, 1, 9), ONE, ONE, 12),
            conv(mode, t(S8, 1, 6, 11, 24), SAME, SAME, 24, depthwise=True),
            conv(mode, t(U8, 1, 6, 5, 96), window(2, 1, 1, 0, 1), SAME, 96, depthwise=True, unsigned=True),
        )
    ]
    sums_of = [case for case in raised_cases() if isinstance(case.op, Conv2D)]
    return [in_few(case, least) for case in (*found, *sums_of) for least in (-8, -7)]


def in_few(case: Case, least: int) -> Case:
    """The case with weights of `least` .. 7."""
    x, weights, bias = case.ins
    assert isinstance(weights, np.ndarray)
    few = np.clip(weights >> 4, least, 7).astype(np.int8)
    return Case(f"{case.name}_few{-least}", case.op, (x, few, bias))


def own_cases() -> list[Case]:
    """Weights of 4 bits with zero points of their own: those of the shapes above, -8 among what is stored or not."""
    return [in_own(case) for case in few_cases()]


def in_own(case: Case, *, far: bool = True) -> Case:
    """The case whose weights are more by a number of each output, `far` off at the ends, or within 4 bits."""
    weights = np.asarray(case.ins[1])
    more = np.random.default_rng([26, *weights.shape]).integers(-8, 9, (len(weights), 1, 1, 1))
    if far:
        more[0], more[-1] = -120, 120
    else:
        more = np.maximum(more, -7)
    shifted = (weights + more).astype(np.int8)
    name, ins = f"{case.name}_{'far' if far else 'own'}", (case.ins[0], shifted, *case.ins[2:])
    return replace(case, name=name, ins=ins, bits=4, apart=True)


def _is_few(data: Array) -> bool:
    return data.dtype == np.int8 and bool(data.min() >= -8 and data.max() <= 7)


def packing(graph: Graph) -> Graph:
    """The graph whose weights within 4 bits are to be stored so."""
    values = {
        name: replace(v, type=replace(v.type, bits=4)) if v.data is not None and _is_few(v.data) else v
        for name, v in graph.values.items()
    }
    return replace(graph, values=values)


@pytest.fixture(scope="module")
def graph() -> Graph:
    return build_graph(list(cases()))


def test_cases_reach_every_kernel(graph: Graph) -> None:
    found = Counter(form.kernel for node in graph.nodes if (form := find_form(graph.view(node), "host")))
    others = [kernel.name for kernel in LANES if "x86" in kernel.needs and not kernel.name.startswith("x86_group")]
    assert all(found[name] >= 9 for name in others), "test_group_kernels.py has those of groups"
    assert all(found[kernel] >= 3 for kernel in ("x86_conv_f32", "x86_dense_f32", "x86_depthwise_f32")), found


@pytest.mark.parametrize("chip", ["host", "aarch64"])
@pytest.mark.parametrize("own", [False, True])
def test_weights_of_4_bits_are_packed_by_every_kernel_of_sums(chip: str, own: bool) -> None:
    graph = build_graph(own_cases()) if own else packing(build_graph(few_cases()))
    forms = [find_form(graph.view(node), chip) for node in graph.nodes]
    on = "x86" if chip == "host" else "neon"
    assert {form.kernel for form in forms if form} == {f"{on}_conv", f"{on}_dense", f"{on}_depthwise"}
    upright = [form for form in forms if form and form.kernel == f"{on}_conv" and form.context.upright]
    assert {min(form.rows, form.context.most_pixels) for form in upright} >= {2, 9, 46}
    assert all(form.context.pixels > 1 for form in upright)
    for node, form in zip(graph.nodes, forms, strict=True):
        assert form is not None
        assert form.context.rq.few
        assert form.context.rq.own is own
        (weights,) = (f for f in form.params if f.name == "weights")
        assert weights.size == weights.values.size
        given = graph.type(node.inputs[1])
        room = 64 * given.shape[1] * given.shape[2] if form.kernel.endswith("depthwise") else 0
        assert weights.size <= 0.5 * given.elements + max(room, 4 * given.shape[0] * given.shape[1] * given.shape[2])


@pytest.mark.parametrize("build", ["c99", QUICK])
def test_weights_of_4_bits_equal_golden_in_one_mode(build: str, tmp_path: Path) -> None:
    compiler, flags = BUILDS[build]
    require_tool(compiler)
    graph = packing(build_graph([*in_one_mode(few_cases()), *in_one_mode(own_cases())[::2]]))
    assert differences(graph, make_project(graph, tmp_path, "host"), compiler, flags) == []


@pytest.mark.parametrize("mode", STRAIGHT)
@pytest.mark.parametrize("build", ["c99", QUICK, *(["avx512-ub"] if AVX512 else [])])
def test_outputs_are_made_by_one_product_and_one_sum(build: str, mode: str, tmp_path: Path) -> None:
    """Behind a ReLU TFLite has a line, of real numbers or, where outputs are of thousands of sums each, whole ones."""
    compiler, flags = BUILDS[build]
    require_tool(compiler)
    cases = [*STRAIGHT[mode], *(in_few(case, -8) for case in STRAIGHT[mode])]
    graph = packing(build_graph(cases))
    forms = [form for node in graph.nodes if (form := find_form(graph.view(node), "host"))]
    found = [form.kernel for form in forms if form.context.rq.mode == mode]
    assert len(found) >= (4 if mode == "LINED" else 0.9 * len(cases))
    assert differences(graph, make_project(graph, tmp_path, "host"), compiler, flags) == []


@pytest.mark.slow
@pytest.mark.parametrize("build", BUILDS)
def test_weights_of_4_bits_equal_golden(build: str, tmp_path: Path) -> None:
    compiler, flags = BUILDS[build]
    require_tool(compiler)
    graph = packing(build_graph([*few_cases(), *own_cases()]))
    assert differences(graph, make_project(graph, tmp_path, "host"), compiler, flags) == []


@pytest.mark.skipif(not AVX512, reason="needs AVX-512 with VNNI")
@pytest.mark.usefixtures("fastest")
@pytest.mark.parametrize(
    ("name", "kind"),
    [
        ("3x3 of 16 by 32", "s4"),
        ("3x3 of 16 by 32", "u4"),
        ("narrow 3x3", "u4"),
        ("grouped, smallest", "s2"),
        ("depthwise by threes", "s4"),
        ("depthwise line", "u4"),
        ("bounded dense", "u4"),
    ],
)
def test_layers_of_few_bits_take_a_quarter_more_at_most(name: str, kind: str) -> None:
    few, in_bytes = (stepped.counted(low_bit_layers.layer(name, 8, k))[1] for k in (kind, "8 bits"))
    assert few <= 1.25 * in_bytes


@pytest.mark.slow
@pytest.mark.parametrize("build", BUILDS)
def test_c_equals_golden(graph: Graph, build: str, tmp_path: Path) -> None:
    compiler, flags = BUILDS[build]
    require_tool(compiler)
    assert differences(graph, make_project(graph, tmp_path, "host"), compiler, flags) == []


@pytest.fixture(scope="module")
def sample(tmp_path_factory: pytest.TempPathFactory) -> tuple[Graph, Path]:
    graph = build_graph(in_one_mode(cases())[::3])
    return graph, make_project(graph, tmp_path_factory.mktemp("x86"), "host")


@pytest.mark.parametrize("build", [QUICK])
def test_every_third_case_equals_golden_in_one_mode(sample: tuple[Graph, Path], build: str) -> None:
    compiler, flags = BUILDS[build]
    require_tool(compiler)
    assert differences(*sample, compiler, flags) == []


@pytest.mark.parametrize(("few", "share"), [(False, 7), (True, 4), pytest.param(True, 2, marks=pytest.mark.slow)])
def test_what_was_made_for_aarch64_runs_here(few: bool, share: int, tmp_path: Path) -> None:
    """Its params are for inputs with a sign, and its scratch has room for what weights take here."""
    compiler, flags = BUILDS[QUICK]
    require_tool(compiler)
    chosen = in_one_mode([*few_cases(), *own_cases()] if few else cases())[::share]
    graph = build_graph(chosen)
    forms = [form for node in graph.nodes if (form := find_form(graph.view(node), "aarch64"))]
    assert {"neon_conv", "neon_dense", "neon_depthwise"} <= {form.kernel for form in forms}
    graph = packing(graph) if few else graph
    assert differences(graph, make_project(graph, tmp_path, "aarch64"), compiler, flags) == []


def test_client_processors_form_dot_products_of_256_bits(tmp_path: Path) -> None:
    """Compiled only, where the processor lacks them: products are VPDPBUSD, and none is spelled in 16 bits."""
    require_tool("gcc", "objdump")
    project = make_project(build_graph([conv("single", t(S8, 1, 6, 6, 64), ONE, SAME, 64)]), tmp_path, "host")
    (layers,) = (s for s in sources_of(project)[0] if s.name.endswith("_layers.c"))
    folders = [f"-I{f}" for f in sources_of(project)[1]]
    made = tmp_path / "k.o"
    argv = ["gcc", "-std=c99", "-O3", "-mavx2", "-mavxvnni", *folders, "-c", layers, "-o", made]
    check_program(argv, timeout_s=60)
    text = check_program(["objdump", "-d", "--no-show-raw-insn", made], timeout_s=60).stdout.decode()
    assert text.count("vpdpbusd") >= 8
    assert "vpmaddwd" not in text


@pytest.mark.skipif(not AVX512, reason="this processor has no AVX-512 VNNI")
def test_inner_loop_keeps_its_sums_in_registers(tmp_path: Path) -> None:
    """24 products and 10 loads a step of the widest block, and no move of a whole register."""
    require_tool("gcc", "objdump")
    project = make_project(build_graph([conv("single", t(S8, 1, 6, 6, 64), ONE, SAME, 64)]), tmp_path, "host")
    (layers,) = (s for s in sources_of(project)[0] if s.name.endswith("_layers.c"))
    folders = [f"-I{f}" for f in sources_of(project)[1]]
    made = tmp_path / "k.o"
    check_program(["gcc", "-std=c99", "-O3", *VNNI.split(), *folders, "-c", layers, "-o", made], timeout_s=60)
    text = check_program(["objdump", "-d", "--no-show-raw-insn", made], timeout_s=60).stdout.decode()
    matches = [m for line in text.splitlines() if (m := re.match(r" +([0-9a-f]+):\s+(.*)", line))]
    places, lines = [m[1] for m in matches], [m[2].split() for m in matches]
    at = [i for i, words in enumerate(lines) if words[0] == "vpdpbusd"]
    back = next(words for words in lines[at[-1] :] if words[0] == "jne")
    loop = [words[0] for words in lines[places.index(back[1]) : at[-1] + 1]]
    assert len(at) == 24
    assert loop.count("vpbroadcastd") == 6
    assert not any(word.startswith("vmovdqa") for word in loop)


def test_factors_are_raised_where_sums_have_room() -> None:
    graph = build_graph(list(raised_cases()))
    forms = [find_form(graph.view(node), "host") for node in graph.nodes]
    assert [form.kernel for form in forms if form] == ["x86_depthwise", "x86_conv", "x86_dense", "x86_binary"]


def test_factors_of_16_and_of_a_half_in_tflite_go_to_the_plain_kernels() -> None:
    for mode, scale in (("single", 16.1), ("tflite", 0.51)):
        op = Dense(3, make_requant(mode, 1.0, [scale], q(1.0), S8), S8, None)
        weights, bias = ints(S8, 1, 4), np.zeros(1, np.int32)
        types = tuple(TensorType(a.shape, DType.of(a)) for a in (weights, bias))
        view = NodeOf("n", op, (t(S8, 1, 4), *types), op.infer((t(S8, 1, 4), *types)), (None, weights, bias))
        form = find_form(view, "host")
        assert form is not None
        assert form.kernel not in {kernel.name for kernel in LANES if "x86" in kernel.needs}


def test_wide_types_go_to_the_plain_kernels() -> None:
    op = Dense(3, make_requant("single", 1.0, [2.0**-9], q(1.0), S16), S16, None)
    weights, bias = ints(S8, 1, 4), np.zeros(1, np.int32)
    types = tuple(TensorType(a.shape, DType.of(a)) for a in (weights, bias))
    view = NodeOf("n", op, (t(S16, 1, 4), *types), op.infer((t(S16, 1, 4), *types)), (None, weights, bias))
    form = find_form(view, "host")
    assert form is not None
    assert form.kernel not in {kernel.name for kernel in LANES if "x86" in kernel.needs}


@pytest.mark.parametrize(
    ("width", "channels", "pixels"), [(5, 64, 5), (8, 64, 4), (32, 16, 16), (16, 32, 8), (1, 640, 1)]
)
def test_blocks_of_pixels_divide_the_row(width: int, channels: int, pixels: int) -> None:
    assert tile_pixels(X86, width, channels, 64) == pixels
