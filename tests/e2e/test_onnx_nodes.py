"""ONNX's own tests of its operators through C: what a test says at its tolerance, and golden to the bit.

Many tests become one network, so that one compilation serves them all.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
import onnx
import pytest

from codegen.golden.interpreter import run_graph
from codegen.host import Network
from codegen.ir.quant import Array
from codegen.laws import sources_of
from codegen.passes import simplify
from tests.contract.test_kernels import make_project
from tests.e2e.projects import SANITIZE, build, require_build, run
from tests.support.node_graphs import Compilable, Refused, compilable, disagreement, fed, prefixed, side_by_side
from tests.support.node_page import ONNX
from tests.support.node_tests import node_tests
from tests.support.sanitizers import GCC_REPORTS
from tests.support.tools import require_tool

SAMPLE = 5
"""Of so many tests the quick run takes one."""
TOGETHER = 160
"""Tests in one network."""
QUICK = ("gcc", "-O0")
STRICT = ("gcc", f"-O1 {GCC_REPORTS}")
WINDOWS = ("window", "window_expanded", "window_symmetric", "window_symmetric_expanded")
RANGES = (
    *("bfloat16_type_positive_delta", "float16_type_positive_delta", "float_type_positive_delta"),
    "int32_type_negative_delta",
)
REDUCED = ("l1", "l2", "log_sum", "log_sum_exp", "sum_square")
REFUSED = {
    "training": (
        *("adagrad", "adagrad_multiple", "adam", "adam_multiple", "momentum", "momentum_multiple", "nesterov_momentum"),
        *("batchnorm_epsilon_training_mode", "batchnorm_example_training_mode"),
    ),
    "random": (
        *("bernoulli", "bernoulli_double", "bernoulli_double_expanded", "bernoulli_expanded"),
        *("bernoulli_seed", "bernoulli_seed_expanded", "training_dropout", "training_dropout_default"),
        *("training_dropout_default_mask", "training_dropout_mask"),
    ),
    "images": tuple(
        f"image_decoder_decode_{kind}"
        for kind in (
            *("bmp_rgb", "jpeg2k_rgb", "jpeg_bgr", "jpeg_grayscale", "jpeg_rgb"),
            *("png_rgb", "pnm_rgb", "tiff_rgb", "webp_rgb"),
        )
    ),
    "optional": (
        *("optional_get_element_optional_tensor", "optional_get_element_tensor"),
        *("optional_has_element_empty_no_input_name_optional_input", "optional_has_element_optional_input"),
        *("optional_has_element_empty_no_input_name_tensor_input", "optional_has_element_tensor_input"),
        *("optional_has_element_empty_no_input_optional_input", "optional_has_element_empty_no_input_tensor_input"),
    ),
    "no output with an element": (
        *("constantofshape_int_shape_zero", "reduce_sum_empty_set_non_reduced_axis_zero"),
        "reshape_allowzero_reordered",
        *("shape_start_greater_than_end", "slice_start_out_of_bounds", "tril_zero", "triu_zero"),
        *("split_zero_size_splits_opset13", "split_zero_size_splits_opset18"),
    ),
    "64 bits": ("bitcast_float64_to_int64",),
}
"""The tests that are not compiled, by what they are of."""
ALONE = {
    "sizes that depend on numbers": (
        *(f"{name}{of}" for name in ("blackman", "hamming", "hann") for of in WINDOWS),
        *("constant", "constantofshape_float_ones", "constantofshape_int_zeros", "melweightmatrix", "nonzero_example"),
        *(f"range_{of}{e}" for of in RANGES for e in ("", "_expanded")),
        *("unique_bfloat16_sorted_without_axis", "unique_length_1"),
        *("unique_not_sorted_without_axis", "unique_sorted_with_axis", "unique_sorted_with_axis_3d"),
        *("unique_sorted_with_negative_axis", "unique_sorted_without_axis"),
    ),
    "scales that depend on numbers": tuple(
        f"dynamicquantizelinear{of}{e}" for of in ("", "_max_adjusted", "_min_adjusted") for e in ("", "_expanded")
    ),
    "types that no tensor of a network has": tuple(
        f"bitcast_{of}" for of in ("int64_to_float64", "uint16_to_int16", "uint32_to_int32")
    ),
    "inputs without elements": (
        *(f"reduce_{of}_empty_set{e}" for of in REDUCED for e in ("", "_expanded")),
        *(f"reduce_{of}_empty_set" for of in ("max", "min", "prod", "sum")),
        "reduce_max_empty_set_bool",
    ),
}
"""Those whose networks have no input at run time, by why."""


def same_bits(a: Array, b: Array) -> bool:
    """Whether numbers are equal to the bit; NaN equals NaN."""
    both_nan = (a != a) & (b != b)
    return bool((both_nan | (a.view(f"u{a.itemsize}") == b.view(f"u{b.itemsize}"))).all())


def wrong(chosen: list[Compilable], folder: Path, how: tuple[str, str]) -> dict[str, str]:
    """What is wrong with each test, by name."""
    simple = [prefixed(simplify(made.graph), f"{i}/") for i, made in enumerate(chosen)]
    feeds = {f"{i}/{n}": x for i, made in enumerate(chosen) for n, x in fed(made).items()}
    together = side_by_side(simple)
    project = make_project(together, folder, "c99")
    with Network(project, compiler=how[0], flags=how[1].split()) as network:
        actual = network.run_raw({i.value: feeds[i.value] for i in together.inputs})
    found = {}
    for made, graph in zip(chosen, simple, strict=True):
        golden = run_graph(made.graph, fed(made))
        results = {p.value: actual[q.value] for p, q in zip(made.graph.outputs, graph.outputs, strict=True)}
        text = disagreement(made, results)
        for name, y in results.items():
            text = text or ("" if same_bits(np.asarray(golden[name]), y) else f"C is not golden in '{name}'")
        if text:
            found[made.case.name] = text
    return found


def self_tested(folder: Path) -> str:
    """What the self-test of the project in this folder says, as a program that finds accesses beyond arrays."""
    require_build("gcc", SANITIZE, folder)
    sources, folders = sources_of(folder / "project")
    main = folder / "project" / "test" / "main.c"
    return run(build("gcc", SANITIZE, [*sources, main], folder / "selftest", includes=[f"-I{f}" for f in folders]))


def compiled(names: list[str]) -> list[Compilable]:
    """Those of the tests that are compiled."""
    return [made for name in names if not isinstance(made := compilable(name), Refused)]


@pytest.mark.skipif(onnx.__version__ != ONNX, reason=f"the lists are of the tests of onnx {ONNX}")
def test_the_tests_that_are_refused_and_those_without_inputs_are_the_ones_listed() -> None:
    made = {name.removeprefix("test_"): compilable(name) for name in node_tests()}
    refused = {name: found.reason for name, found in made.items() if isinstance(found, Refused)}
    listed = {name for names in REFUSED.values() for name in names}
    assert {name: why for name, why in refused.items() if name not in listed} == {}
    assert sorted(listed - refused.keys()) == [], "now compiled: take them from the list"
    alone = {name for name, found in made.items() if isinstance(found, Compilable) and not found.graph.inputs}
    assert sorted(alone) == sorted(name for names in ALONE.values() for name in names)


def test_a_spread_of_the_tests_is_right_in_c(tmp_path: Path) -> None:
    require_tool("gcc")
    chosen = compiled(sorted(node_tests())[::SAMPLE])
    assert len(chosen) >= 300
    for start in range(0, len(chosen), TOGETHER):
        assert wrong(chosen[start : start + TOGETHER], tmp_path / str(start), QUICK) == {}


@pytest.mark.slow
@pytest.mark.parametrize("part", range(12))
def test_every_test_is_right_in_c(part: int, tmp_path: Path) -> None:
    require_tool("gcc")
    chosen = compiled(sorted(node_tests())[part::12])
    assert wrong(chosen, tmp_path, STRICT) == {}
    assert self_tested(tmp_path) == "nodes: all vectors right\n"
