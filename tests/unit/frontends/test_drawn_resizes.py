"""Resize with attributes drawn at random, of real numbers and of integers, beside ONNX Runtime."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pytest
from onnx.reference import ReferenceEvaluator

from codegen.golden.interface import graph_ports, network_feeds
from codegen.golden.interpreter import run_graph
from tests.support.outsider import ort_session
from tests.unit.frontends.models import Net, compare, imported

COORDINATES = (
    *("half_pixel", "half_pixel_symmetric", "pytorch_half_pixel", "align_corners", "asymmetric"),
    *("tf_half_pixel_for_nn", "tf_crop_and_resize"),
)
ROUNDINGS = ("round_prefer_floor", "round_prefer_ceil", "floor", "ceil")
FACTORS = (0.3, 0.5, 0.6, 0.75, 1.0, 1.2, 1.5, 1.7, 2.0, 2.5, 3.0)
_BY_LENGTH = ("align_corners", "tf_crop_and_resize")
"""Which go by the length of the result: by factors it need not be whole, as ONNX has it, and is in ONNX Runtime."""
DRAWS = 150


@dataclass(frozen=True)
class Drawn:
    """A Resize of a tensor, by factors or to sizes, of some axes."""

    shape: tuple[int, ...]
    axes: tuple[int, ...]
    factors: tuple[float, ...]
    sizes: tuple[int, ...]
    attributes: dict[str, Any]
    part: tuple[float, ...] = ()

    def written(self, net: Net, x: str) -> str:
        """The node's result."""
        part = net.const(self.part, np.float32) if self.part else ""
        if self.factors:
            return str(net.op("Resize", x, part, net.const(self.factors, np.float32), **self.attributes))
        return str(net.op("Resize", x, part, "", net.const(self.sizes, np.int64), **self.attributes))

    def is_copied(self, made: tuple[int, ...]) -> bool:
        """Whether ONNX Runtime takes the numbers of an axis as they are, because it has as many as before."""
        kept = [made[a] == self.shape[a] for a in self.axes]
        return made == self.shape or (any(kept) and ("antialias" in self.attributes or bool(self.part)))


def drawn(rng: np.random.Generator, mode: str, coordinates: str) -> Drawn:
    """Attributes that ONNX Runtime takes as ONNX does: those of `_BY_LENGTH` have sizes."""
    rank = 4 if mode == "cubic" or rng.random() < 0.6 else int(rng.integers(3, 6))
    shape = (1, 2, *(int(n) for n in rng.integers(2, 9, rank - 2)))
    axes = tuple(range(2, rank))
    attributes: dict[str, Any] = {"mode": mode, "coordinate_transformation_mode": coordinates, "axes": axes}
    if mode == "nearest":
        attributes["nearest_mode"] = str(rng.choice(ROUNDINGS))
    elif rng.random() < 0.3:
        attributes["antialias"] = 1
    if mode == "cubic":
        attributes |= {"exclude_outside": int(rng.integers(2)), "cubic_coeff_a": float(rng.choice([-0.5, -0.75]))}
    part: tuple[float, ...] = ()
    if coordinates == "tf_crop_and_resize":
        attributes["extrapolation_value"] = 7.0
        ends = [rng.uniform(0, 0.4, rank - 2), rng.uniform(0.6, 1.2, rank - 2)]
        part = tuple(float(v) for v in np.concatenate(ends).round(2))
    if rng.random() < 0.6 and not part and coordinates != "align_corners":
        factors = tuple(float(rng.choice([*FACTORS, rng.uniform(0.2, 3.2)])) for _ in axes)
        return Drawn(shape, axes, factors, (), attributes)
    if rng.random() < 0.3 and coordinates not in _BY_LENGTH:
        attributes["keep_aspect_ratio_policy"] = str(rng.choice(["not_larger", "not_smaller"]))
    return Drawn(shape, axes, (), tuple(int(n) for n in rng.integers(1, 14, len(axes))), attributes, part)


def result_shape(model: onnx.ModelProto) -> tuple[int, ...]:
    """The size that ONNX infers."""
    dims = onnx.shape_inference.infer_shapes(model).graph.output[0].type.tensor_type.shape.dim
    return tuple(d.dim_value for d in dims)


def modelled(case: Drawn, kind: Any = None, scale: float = 0.05, finer: float = 1.0) -> onnx.ModelProto:
    net = Net()
    x = net.input(case.shape)
    if kind is None:
        return net.model(case.written(net, x), opset=19, ir_version=9)
    y = case.written(net, net.qdq(x, scale, 0, kind))
    return net.model(net.qdq(y, scale * finer, 0, kind), opset=21, ir_version=10)


def comparable(rng: np.random.Generator, mode: str, coordinates: str) -> Drawn:
    """A draw whose result has elements, and which ONNX Runtime interpolates along every axis."""
    while True:
        case = drawn(rng, mode, coordinates)
        made = result_shape(modelled(case))
        if min(made) > 0 and not case.is_copied(made) and not _is_beyond_onnxruntime(case, made):
            return case


def _is_beyond_onnxruntime(case: Drawn, made: tuple[int, ...]) -> bool:
    """Three axes and more: it has them where all but some are as they were."""
    changed = [i for i in case.axes if made[i] != case.shape[i]]
    return len(case.shape) > 4 and case.attributes["mode"] == "linear" and len(changed) < 3


@pytest.mark.parametrize("coordinates", COORDINATES)
@pytest.mark.parametrize("mode", ["nearest", "linear", "cubic"])
def test_drawn_resizes_are_those_of_onnxruntime(mode: str, coordinates: str, tmp_path: Path) -> None:
    rng = np.random.default_rng(len(mode) + len(coordinates))
    for _ in range(DRAWS // 10):
        case = comparable(rng, mode, coordinates)
        assert compare(modelled(case), tmp_path, runs=1).largest < 2e-4, case


@pytest.mark.parametrize("kind", [np.int8, np.int16])
@pytest.mark.parametrize("coordinates", COORDINATES[:-1])
@pytest.mark.parametrize("mode", ["nearest", "linear", "cubic"])
def test_drawn_resizes_of_integers_are_within_steps_of_onnxruntime(
    mode: str, coordinates: str, kind: Any, tmp_path: Path
) -> None:
    rng = np.random.default_rng(len(mode) + 2 * len(coordinates))
    scale, most = (0.05, 1) if kind is np.int8 else (2e-4, 2)
    for _ in range(DRAWS // 15):
        case = comparable(rng, mode, coordinates)
        found = compare(modelled(case, kind, scale, 1.5), tmp_path, "single", runs=1)
        assert found.largest <= most + 0.01, case


@pytest.mark.parametrize("mode", ["linear", "cubic"])
@pytest.mark.parametrize("sizes", [(64, 64, 3, 3), (17, 90, 16, 2), (9, 80, 9, 3), (40, 40, 27, 29)])
def test_wide_windows_of_words_are_within_a_step_of_onnxruntime(
    mode: str, sizes: tuple[int, int, int, int], tmp_path: Path
) -> None:
    """Of numbers that reach from end to end of 16 bits."""
    words = {"mode": mode, "coordinate_transformation_mode": "half_pixel", "axes": (2, 3), "antialias": 1}
    case = Drawn((1, 2, *sizes[:2]), (2, 3), (), sizes[2:], words)
    assert compare(modelled(case, np.int16, 2e-4), tmp_path, "single").largest <= 1.01


@pytest.mark.parametrize("rounding", ROUNDINGS)
@pytest.mark.parametrize("coordinates", COORDINATES[:5])
def test_places_next_to_the_middle_of_two_elements_go_where_onnxruntime_takes_them(
    coordinates: str, rounding: str, tmp_path: Path
) -> None:
    """Rounding to float32 moves places a little, and ONNX Runtime takes what is nearly a middle for one."""
    rng = np.random.default_rng(len(coordinates))
    words = {"mode": "nearest", "coordinate_transformation_mode": coordinates, "nearest_mode": rounding}
    for _ in range(DRAWS // 3):
        n, m = (int(v) for v in rng.integers(2, 60, 2))
        if n == m:
            continue
        case = Drawn((1, 2, n), (2,), (), (m,), {**words, "axes": (2,)})
        assert compare(modelled(case), tmp_path, runs=1).largest == 0.0, (n, m)


def test_an_axis_of_as_many_elements_is_interpolated_in_integers_too(tmp_path: Path) -> None:
    """As ONNX's formula has it, where ONNX Runtime copies: real numbers and integers say the same."""
    case = Drawn((1, 2, 4, 3), (2, 3), (1.2, 1.25), (), {"mode": "linear", "axes": (2, 3)})
    x = np.random.default_rng(3).integers(-100, 100, case.shape).astype(np.float32) * np.float32(0.05)
    made = [run(modelled(case, kind), tmp_path, x) for kind in (None, np.int8)]
    assert np.abs(made[0] - made[1]).max() <= 0.05 * 1.01
    assert np.abs(made[0] - x).max() > 0.5


@pytest.mark.parametrize("mode", ["nearest", "linear", "cubic"])
@pytest.mark.parametrize("factor", [1.7, 0.6, 2.25])
def test_corners_are_aligned_by_factors_as_onnx_has_it(mode: str, factor: float, tmp_path: Path) -> None:
    """Of a length that is not whole: beside ONNX's reference, real numbers and integers."""
    words = {"mode": mode, "coordinate_transformation_mode": "align_corners", "axes": (2, 3)}
    case = Drawn((1, 2, 7, 5), (2, 3), (factor, 1.5), (), words)
    x = np.random.default_rng(4).integers(-100, 100, case.shape).astype(np.float32) * np.float32(0.05)
    (wanted,) = ReferenceEvaluator(modelled(case)).run(None, {"x": x})
    assert np.abs(run(modelled(case), tmp_path, x) - wanted).max() < 2e-4
    assert np.abs(run(modelled(case, np.int8, finer=1.5), tmp_path, x) - wanted).max() <= 0.05 * 1.5 * 1.01


@pytest.mark.parametrize("mode", ["nearest", "linear", "cubic"])
def test_corners_are_aligned_by_sizes_in_files_of_pytorch_and_onnx_runtime(mode: str, tmp_path: Path) -> None:
    """As in PyTorch, and in ONNX Runtime, which has one rule for all files; a note tells of other files."""
    words = {"mode": mode, "coordinate_transformation_mode": "align_corners"}
    case = Drawn((1, 2, 6, 5), (2, 3), (1.0, 1.0, 0.6, 1.5), (), words)
    x = np.random.default_rng(4).integers(-100, 100, case.shape).astype(np.float32) * np.float32(0.05)
    model = modelled(case)
    assert any("aligns corners by factors" in n for n in imported(model, tmp_path).notes)
    for writer in ("pytorch", "onnx.quantize"):
        model.producer_name = writer
        assert not imported(model, tmp_path).notes
    (wanted,) = ort_session(model).run(None, {"x": x})
    assert np.abs(run(model, tmp_path, x) - wanted).max() < 1e-5


@pytest.mark.parametrize("shape", [(1, 2, 5, 4, 6), (2, 3, 4, 7, 3), (1, 2, 3, 4, 2, 5)])
@pytest.mark.parametrize(
    ("kind", "scale", "most", "words"),
    [
        (np.int8, 0.05, 1.01, {"mode": "cubic"}),
        (np.int8, 0.05, 1.01, {"mode": "cubic", "antialias": 1, "cubic_coeff_a": -0.5}),
        (np.int8, 0.05, 1.01, {"mode": "linear", "antialias": 1}),
        (np.int16, 2e-4, 2.01, {"mode": "linear", "antialias": 1}),
        (np.int16, 2e-4, 1.01, {"mode": "cubic"}),
        (np.int16, 2e-4, 1.01, {"mode": "cubic", "antialias": 1, "cubic_coeff_a": -0.5}),
    ],
)
def test_integers_along_three_axes_are_within_steps_of_real_numbers(
    kind: Any, scale: float, most: float, words: dict[str, Any], shape: tuple[int, ...], tmp_path: Path
) -> None:
    """Of which ONNX Runtime has some only; from end to end of their type, so that cubic goes beyond it."""
    rng, axes = np.random.default_rng(len(shape)), tuple(range(2, len(shape)))
    ends = np.iinfo(kind)
    x = rng.choice([ends.min, ends.max, 0, 1], shape).astype(np.float32) * np.float32(scale)
    for _ in range(4):
        sizes = tuple(int(n) for n in rng.integers(2, 9, len(axes)))
        case = Drawn(shape, axes, (), sizes, {**words, "axes": axes})
        model = modelled(case, kind, scale, 1.5)
        found = run(model, tmp_path, x)
        assert "f32" not in types_of(model, tmp_path)
        real = run(modelled(case), tmp_path, x).clip(ends.min * scale * 1.5, ends.max * scale * 1.5)
        assert np.abs(found - real).max() <= most * scale * 1.5, case


def types_of(model: onnx.ModelProto, folder: Path) -> set[str]:
    """Of what the network computes between its borders."""
    graph = imported(model, folder)
    return {graph.type(name).dtype.value for node in graph.nodes for name in node.outputs}


def run(model: onnx.ModelProto, folder: Path, x: np.ndarray) -> np.ndarray:
    """Ours alone."""
    graph = imported(model, folder, io_type="model", io_layout="model")
    ins, outs = graph_ports(graph)
    return outs[0].to_model(run_graph(graph, network_feeds(ins, {"x": x}))[outs[0].value])
