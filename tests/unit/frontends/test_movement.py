"""Pools, resizing, joining and data movement."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pytest

from codegen.errors import CompileError
from codegen.frontends import read_real
from codegen.ir.graph import Graph
from codegen.ir.quant import DType, Mode
from codegen.ops import ResizeBilinear, ResizeWeighted
from codegen.real.engine import RealEngine
from tests.support.outsider import ort_session

from .models import MICROSOFT, Net, agrees, imported, kinds

Make = Callable[[Net, str], Any]

POOLS: dict[str, tuple[tuple[int, ...], str, dict[str, Any]]] = {
    "max": ((1, 3, 9, 8), "MaxPool", {"kernel_shape": [2, 3], "strides": [2, 2]}),
    "max_pads": ((1, 3, 9, 8), "MaxPool", {"kernel_shape": [3, 3], "pads": [1, 1, 1, 1]}),
    "max_ceil": ((1, 3, 9, 8), "MaxPool", {"kernel_shape": [2, 2], "strides": [2, 3], "ceil_mode": 1}),
    "max_dilated": ((1, 3, 9, 8), "MaxPool", {"kernel_shape": [2, 2], "dilations": [2, 3]}),
    "max_one_axis": ((1, 3, 9), "MaxPool", {"kernel_shape": [2], "strides": [2]}),
    "max_same": ((1, 3, 9, 8), "MaxPool", {"kernel_shape": [3, 3], "auto_pad": "SAME_UPPER", "strides": [2, 2]}),
    "average": ((1, 3, 9, 8), "AveragePool", {"kernel_shape": [2, 3], "strides": [2, 2]}),
    "average_pads": ((1, 3, 9, 8), "AveragePool", {"kernel_shape": [3, 3], "pads": [1, 0, 2, 1]}),
    "average_included": (
        (1, 3, 9, 8),
        "AveragePool",
        {"kernel_shape": [3, 3], "pads": [1, 1, 1, 1], "count_include_pad": 1},
    ),
    "average_ceil": ((1, 3, 9, 8), "AveragePool", {"kernel_shape": [2, 2], "strides": [2, 3], "ceil_mode": 1}),
    "average_ceil_included": (
        (1, 3, 9, 8),
        "AveragePool",
        {"kernel_shape": [3, 2], "strides": [3, 3], "ceil_mode": 1, "pads": [1, 1, 1, 1], "count_include_pad": 1},
    ),
    "average_one_axis": ((1, 3, 9), "AveragePool", {"kernel_shape": [3], "pads": [1, 1]}),
    "average_three_axes": ((2, 3, 4, 6, 5), "AveragePool", {"kernel_shape": [2, 3, 2], "strides": [2, 1, 2]}),
    "average_three_axes_pads": (
        (1, 3, 4, 5, 5),
        "AveragePool",
        {"kernel_shape": [3, 2, 3], "pads": [1, 0, 1, 1, 1, 0]},
    ),
    "average_three_axes_included": (
        (1, 3, 4, 6, 5),
        "AveragePool",
        {"kernel_shape": [3, 2, 3], "strides": [2] * 3, "ceil_mode": 1, "pads": [1] * 6, "count_include_pad": 1},
    ),
    "average_whole": ((1, 3, 9, 8), "AveragePool", {"kernel_shape": [9, 8]}),
    "global": ((1, 3, 9, 8), "GlobalAveragePool", {}),
    "global_one_axis": ((1, 3, 9), "GlobalAveragePool", {}),
    "global_max": ((1, 3, 9, 8), "GlobalMaxPool", {}),
}


@pytest.mark.parametrize("name", POOLS)
@pytest.mark.parametrize("mode", ["ort", "single", "tflite"])
def test_pool_equals_onnx_runtime(name: str, mode: Mode, tmp_path: Path) -> None:
    shape, op, attributes = POOLS[name]
    net = Net()
    y = net.op(op, net.qdq(net.input(shape), 0.05, 3), **attributes)
    scale = (0.05, 3) if "ax" in op else (0.0237, -5)
    share = 0.3 if mode == "tflite" else 0.05  # two roundings
    agrees(net.model(net.qdq(y, *scale), opset=19, ir_version=9), tmp_path, share=share, mode=mode)


@pytest.mark.parametrize(
    ("dtype", "size", "made"),
    [
        (np.int8, 3, ["AveragePool2D"]),
        (np.int8, 5, ["AveragePool2D"] * 2),
        (np.int16, 3, ["AveragePool2D"]),
        (np.int16, 5, ["ResizeWeighted"] * 2),
    ],
)
def test_a_mean_whose_windows_have_many_sizes_over_three_axes(
    dtype: Any, size: int, made: list[str], tmp_path: Path
) -> None:
    """Of 8 bits it is done axis by axis, of 16 by weights."""
    net, pads = Net(), [size // 2, 0, 0] * 2
    x = net.qdq(net.input((1, 2, 6, 5, 5)), 0.05, 3, dtype)
    y = net.op("AveragePool", x, kernel_shape=[size, 1, 1], pads=pads)
    graph = agrees(net.model(net.qdq(y, 0.0237, -5, dtype), opset=21, ir_version=10), tmp_path, share=0.1)
    assert [kind for kind in kinds(graph) if kind in ("AveragePool2D", "ResizeWeighted")] == made


def test_window_over_everything_is_a_global_pool(tmp_path: Path) -> None:
    net = Net()
    y = net.op("AveragePool", net.qdq(net.input((1, 3, 9, 8)), 0.05, 3), kernel_shape=[9, 8], strides=[9, 8])
    assert kinds(agrees(net.model(net.qdq(y, 0.02)), tmp_path)) == ["GlobalAveragePool"]


@pytest.mark.parametrize("axes", [(2, 3), (1, 2), (-1,), (1,), (0, 2), (1, 3), None])
@pytest.mark.parametrize("keep", [0, 1])
@pytest.mark.parametrize("opset", [13, 18])
def test_mean_over_any_axes(axes: tuple[int, ...] | None, keep: int, opset: int, tmp_path: Path) -> None:
    net = Net()
    x = net.qdq(net.input((1, 3, 4, 5)), 0.05, 3)
    inputs, attributes = [x], {"keepdims": keep}
    if axes is not None and opset >= 18:
        inputs.append(net.const(axes, np.int64))
    elif axes is not None:
        attributes["axes"] = list(axes)
    y = net.op("ReduceMean", *inputs, **attributes)
    agrees(net.model(net.qdq(y, 0.0237, -5), opset=opset), tmp_path)


@pytest.mark.parametrize("axes", [(2, 3), (1, 2), (-1,), (1,), (1, 3)])
@pytest.mark.parametrize("keep", [0, 1])
@pytest.mark.parametrize(("name", "kind"), [("ReduceSum", "GlobalSum"), ("ReduceMax", "MaxPool2D")])
def test_sum_and_maximum_over_any_axes(name: str, kind: str, axes: tuple[int, ...], keep: int, tmp_path: Path) -> None:
    net = Net()
    x = net.qdq(net.input((1, 3, 4, 5)), 0.05, 3)
    y = net.op(name, x, net.const(axes, np.int64), keepdims=keep)
    model = net.model(net.qdq(y, 0.05 if name == "ReduceMax" else 0.17, 3), opset=18)
    assert kind in kinds(agrees(model, tmp_path, mode="single", share=0.1))


@pytest.mark.parametrize("name", ["Max", "Min"])
def test_the_larger_of_two_tensors_of_one_scale(name: str, tmp_path: Path) -> None:
    net = Net()
    a, b = (net.qdq(net.input(shape, name=n), 0.05, 3) for n, shape in (("a", (1, 3, 4, 5)), ("b", (4, 1))))
    graph = agrees(net.model(net.qdq(net.op(name, a, b), 0.05, 3)), tmp_path)
    assert "Extremum" in kinds(graph)


def test_maximum_moves_through_an_activation_and_pending_results(tmp_path: Path) -> None:
    net = Net()
    x = net.op("Relu", net.qdq(net.input((1, 3, 8, 8)), 0.05, 3))
    y = net.qdq(net.op("MaxPool", x, kernel_shape=[2, 2], strides=[2, 2]), 0.03, -128)
    y = net.op("Conv", y, net.weights(net.ints(3, 3, 1, 1), 0.01))
    y = net.op("MaxPool", y, kernel_shape=[2, 2])
    graph = agrees(net.model(net.qdq(y, 0.05, 4)), tmp_path)
    assert kinds(graph) == ["MaxPool2D", "Lut", "Conv2D", "MaxPool2D"]


@pytest.mark.parametrize(
    ("name", "attributes", "axes"),
    [
        ("MaxPool", {"kernel_shape": [3, 3], "pads": [1, 1, 1, 1]}, ()),
        ("GlobalMaxPool", {}, ()),
        ("ReduceMax", {}, (1, 3)),
        ("ReduceMin", {}, (2,)),
    ],
)
@pytest.mark.parametrize("function", ["HardSwish", "Sin"])
def test_an_extreme_of_a_function_that_turns_back_is_taken_at_the_later_scale(
    function: str, name: str, attributes: dict[str, Any], axes: tuple[int, ...], tmp_path: Path
) -> None:
    """Quantizers leave such a function without a scale of its own: a table to the extreme's scale comes first."""
    net = Net()
    x = net.op(function, net.qdq(net.input((1, 3, 8, 8)), 0.05, 3))
    y = net.op(name, x, *([net.const(axes, np.int64)] if axes else []), **attributes)
    graph = agrees(net.model(net.qdq(y, 0.0271, -100), opset=18), tmp_path, mode="single")
    assert kinds(graph)[0] == "Lut"
    assert "Dequantize" not in kinds(graph)


def test_an_extreme_of_a_function_without_any_scale_is_of_real_numbers(tmp_path: Path) -> None:
    net = Net()
    x = net.op("HardSwish", net.qdq(net.input((1, 3, 8, 8)), 0.05, 3))
    y = net.op("AveragePool", net.op("MaxPool", x, kernel_shape=[2, 2]), kernel_shape=[2, 2])
    graph = agrees(net.model(net.qdq(y, 0.03, -100)), tmp_path, mode="single")
    assert "FloatAveragePool2D" in kinds(graph)


MOVES: dict[str, tuple[tuple[int, ...], Make]] = {
    "reshape": ((1, 3, 4, 5), lambda net, x: net.op("Reshape", x, net.const([0, -1, 2], np.int64))),
    "flatten": ((1, 3, 4, 5), lambda net, x: net.op("Flatten", x, axis=2)),
    "flatten_negative": ((1, 3, 4, 5), lambda net, x: net.op("Flatten", x, axis=-1)),
    "squeeze": ((1, 3, 1, 5), lambda net, x: net.op("Squeeze", x, net.const([2], np.int64))),
    "squeeze_all": ((1, 3, 1, 5), lambda net, x: net.op("Squeeze", x)),
    "unsqueeze": ((3, 5), lambda net, x: net.op("Unsqueeze", x, net.const([0, -1], np.int64))),
    "transpose": ((1, 3, 4, 5), lambda net, x: net.op("Transpose", x, perm=[0, 2, 1, 3])),
    "transpose_default": ((1, 3, 4, 5), lambda net, x: net.op("Transpose", x)),
    "expand": ((3, 1), lambda net, x: net.op("Expand", x, net.const([2, 3, 4], np.int64))),
    "gather": ((1, 6, 4), lambda net, x: net.op("Gather", x, net.const([4, -1, 0], np.int64), axis=1)),
    "gather_scalar": ((1, 6, 4), lambda net, x: net.op("Gather", x, net.const(2, np.int64), axis=1)),
    "gather_matrix": ((1, 6, 4), lambda net, x: net.op("Gather", x, net.const([[1, 2], [3, 0]], np.int64), axis=1)),
    "depth_to_space": ((1, 8, 3, 4), lambda net, x: net.op("DepthToSpace", x, blocksize=2, mode="DCR")),
    "depth_to_space_crd": ((1, 8, 3, 4), lambda net, x: net.op("DepthToSpace", x, blocksize=2, mode="CRD")),
    "space_to_depth": ((1, 3, 4, 6), lambda net, x: net.op("SpaceToDepth", x, blocksize=2)),
    "slice": (
        (1, 6, 8),
        lambda net, x: net.op(
            "Slice",
            x,
            net.const([1, -1], np.int64),
            net.const([99, -9], np.int64),
            net.const([1, 2], np.int64),
            net.const([2, -3], np.int64),
        ),
    ),
    "pad": (
        (1, 3, 4, 5),
        lambda net, x: net.op("Pad", x, net.const([0, 0, 1, 2, 0, 1, 0, 3], np.int64), net.const(np.float32(0.5))),
    ),
    "pad_off_grid": (
        (1, 3, 4),
        lambda net, x: net.op("Pad", x, net.const([0, 0, 1, 0, 1, 0], np.int64), net.const(np.float32(0.512))),
    ),
    "pad_cut": ((1, 3, 6), lambda net, x: net.op("Pad", x, net.const([0, 1, -1, 0, 0, -2], np.int64))),
    "pad_edge": ((1, 3, 4), lambda net, x: net.op("Pad", x, net.const([0, 0, 2, 0, 0, 1], np.int64), mode="edge")),
    "pad_reflect": (
        (1, 3, 4),
        lambda net, x: net.op("Pad", x, net.const([0, 1, 2, 0, 1, 1], np.int64), mode="reflect"),
    ),
}


@pytest.mark.parametrize("name", MOVES)
@pytest.mark.parametrize("place", ["quantized", "requantized", "behind_product", "after_function"])
def test_movement_passes_through_quantization(name: str, place: str, tmp_path: Path) -> None:
    shape, make = MOVES[name]
    net = Net()
    x = net.input(shape)
    y = net.qdq(x, 0.05, 3)
    if place == "behind_product":
        y = net.op("Add", y, net.qdq(net.input(shape, name="b"), 0.02, -3))
    if place == "after_function":
        y = net.op("Relu", y)
    scale = (0.05, 3) if place == "quantized" else (0.07, -20)
    agrees(net.model(net.qdq(make(net, y), *scale)), tmp_path)


@pytest.mark.parametrize("name", ["transpose", "reshape", "flatten", "slice", "gather"])
def test_movement_before_the_inputs_quantization(name: str, tmp_path: Path) -> None:
    shape, make = MOVES[name]
    net = Net()
    y = net.op("Tanh", net.qdq(make(net, net.input(shape)), 0.05, 3))
    graph = agrees(net.model(net.qdq(y, 1 / 128)), tmp_path)
    assert "Quantize" not in kinds(graph)


def test_split_is_one_slice_per_output(tmp_path: Path) -> None:
    net = Net()
    x = net.qdq(net.input((1, 7, 4)), 0.05, 3)
    a, b = net.op("Split", x, net.const([3, 4], np.int64), axis=1, outputs=2)
    graph = agrees(net.model(net.qdq(a, 0.05, 3), net.qdq(net.op("Tanh", b), 1 / 128)), tmp_path)
    assert kinds(graph) == ["Slice", "Slice", "Lut"]


def test_split_into_equal_parts(tmp_path: Path) -> None:
    net = Net()
    parts = net.op("Split", net.qdq(net.input((1, 7, 4)), 0.05, 3), axis=1, outputs=3, num_outputs=3)
    agrees(net.model(*(net.qdq(p, 0.05, 3) for p in parts), opset=18), tmp_path)


@pytest.mark.parametrize("mode", ["ort", "single", "tflite"])
def test_concat_of_unequal_scales_has_tables(mode: Mode, tmp_path: Path) -> None:
    net = Net()
    a = net.qdq(net.input((1, 3, 4), name="a"), 0.05, 3)
    b = net.op("Sigmoid", net.qdq(net.input((1, 2, 4), name="b"), 0.02, -3))
    c = net.weights(net.ints(1, 1, 4), 0.03)
    y = net.op("Relu", net.op("Concat", a, b, c, net.const(np.full((1, 1, 4), 0.3), np.float32), axis=1))
    graph = agrees(net.model(net.qdq(y, 0.05, 3)), tmp_path, mode=mode)
    assert kinds(graph) == ["Concat", "Clamp"]


def test_concat_of_equal_scales_copies(tmp_path: Path) -> None:
    net = Net()
    parts = [net.qdq(net.input((1, 2, 4), name=n), 0.05, 3) for n in "ab"]
    graph = agrees(net.model(net.qdq(net.op("Concat", *parts, axis=-1), 0.05, 3)), tmp_path)
    assert graph.nodes[0].op.tables == (None, None)  # type: ignore[attr-defined]


TRANSFORMATIONS = ["asymmetric", "half_pixel", "align_corners", "pytorch_half_pixel"]


@pytest.mark.parametrize("transformation", TRANSFORMATIONS)
@pytest.mark.parametrize("rounding", ["floor", "ceil", "round_prefer_floor", "round_prefer_ceil"])
@pytest.mark.parametrize("sizes", [(8, 10), (3, 7), (5, 5), (1, 12)])
def test_resize_nearest(transformation: str, rounding: str, sizes: tuple[int, int], tmp_path: Path) -> None:
    net = Net()
    y = net.op(
        "Resize",
        net.qdq(net.input((1, 2, 4, 5)), 0.05, 3),
        "",
        "",
        net.const([1, 2, *sizes], np.int64),
        mode="nearest",
        coordinate_transformation_mode=transformation,
        nearest_mode=rounding,
    )
    agrees(net.model(net.qdq(y, 0.05, 3)), tmp_path)


@pytest.mark.parametrize("transformation", TRANSFORMATIONS)
@pytest.mark.parametrize("scales", [(2.0, 2.0), (1.5, 3.0), (0.5, 2.2)])
@pytest.mark.parametrize("mode", ["ort", "single"])
def test_resize_linear(transformation: str, scales: tuple[float, float], mode: Mode, tmp_path: Path) -> None:
    by_factors(scales, mode, tmp_path, mode="linear", coordinate_transformation_mode=transformation)


@pytest.mark.parametrize("transformation", TRANSFORMATIONS)
@pytest.mark.parametrize("scales", [(2.0, 2.0), (0.5, 2.2)])
@pytest.mark.parametrize("mode", ["ort", "single", "tflite"])
def test_resize_cubic(transformation: str, scales: tuple[float, float], mode: Mode, tmp_path: Path) -> None:
    graph = by_factors(scales, mode, tmp_path, mode="cubic", coordinate_transformation_mode=transformation)
    assert kinds(graph) == ["ResizeWeighted"]


def by_factors(scales: tuple[float, float], arithmetic: Mode, folder: Path, **attributes: Any) -> Graph:
    """A Resize of a map of 8 bits by factors that agrees with ONNX Runtime."""
    net = Net()
    x, factors = net.qdq(net.input((1, 2, 4, 5)), 0.05, 3), net.const([1, 1, *scales], np.float32)
    y = net.op("Resize", x, "", factors, **attributes)
    return agrees(net.model(net.qdq(y, 0.04, -3)), folder, share=0.1, mode=arithmetic)


def test_resize_of_words_has_as_many_bits_of_weights_as_they_need(tmp_path: Path) -> None:
    for given, size, bits in ((4, 8, 2), (4, 7, 15), (2, 512, 0)):
        graph = resized((1, 2, given, 5), (1, 2, size, 5), np.int16, tmp_path, mode="linear")
        (op,) = (n.op for n in graph.nodes if isinstance(n.op, ResizeBilinear | ResizeWeighted))
        assert getattr(op, "bits", 0) == bits


@pytest.mark.parametrize(
    ("dtype", "smooth", "kind"),
    [(np.int8, 1, "ResizeWeighted"), (np.int16, 0, "ResizeWeighted"), (np.int16, 1, "ResizeWeighted")],
)
def test_resize_of_three_axes(dtype: Any, smooth: int, kind: str, tmp_path: Path) -> None:
    graph = resized((1, 2, 8, 6, 4), (1, 2, 4, 3, 2), dtype, tmp_path, mode="linear", antialias=smooth)
    assert kind in kinds(graph)


def resized(shape: tuple[int, ...], sizes: tuple[int, ...], dtype: Any, folder: Path, **attributes: Any) -> Graph:
    """A Resize that agrees with ONNX Runtime; what 16 bits hold between two axes is rounded twice."""
    net = Net()
    x = net.qdq(net.input(shape), 0.0005, 3, dtype)
    y = net.op("Resize", x, "", "", net.const(sizes, np.int64), **attributes)
    model = net.model(net.qdq(y, 0.0005, 3, dtype), opset=21, ir_version=10)
    return agrees(model, folder, share=0.5 if len(shape) > 4 else 0.1, mode="single")


@pytest.mark.parametrize("antialias", [0, 1])
def test_a_single_place_of_pytorch_is_the_first_element_in_float_as_in_integers(antialias: int, tmp_path: Path) -> None:
    net, path = Net(), tmp_path / "m.onnx"
    sizes, how = net.const([1, 1, 2, 1], np.int64), {"coordinate_transformation_mode": "pytorch_half_pixel"}
    y = net.op("Resize", net.input((1, 1, 2, 5)), "", "", sizes, mode="cubic", antialias=antialias, **how)
    model = net.model(y, opset=18, ir_version=8)
    path.write_bytes(model.SerializeToString())
    graph = read_real(path)
    feeds = {graph.inputs[0]: np.arange(10, dtype=np.float32).reshape(1, 1, 2, 5) ** 2}
    (wanted,) = ort_session(model).run(None, feeds)
    np.testing.assert_allclose(RealEngine(graph).run(feeds)[graph.outputs[0]], wanted, rtol=1e-5)


def test_resize_of_one_axis_and_of_channels_last(tmp_path: Path) -> None:
    net = Net()
    scales = net.const([1, 1, 2], np.float32)
    y = net.op("Resize", net.qdq(net.input((1, 2, 4)), 0.05, 3), "", scales, mode="nearest")
    agrees(net.model(net.qdq(y, 0.05, 3)), tmp_path)
    net = Net()
    sizes = net.const([1, 8, 10, 2], np.int64)
    y = net.op("Resize", net.qdq(net.input((1, 4, 5, 2)), 0.05, 3), "", "", sizes, mode="nearest")
    agrees(net.model(net.qdq(y, 0.05, 3)), tmp_path)


@pytest.mark.parametrize(("length", "factor", "made"), [(5, 1.8, 9), (14, 0.5, 7), (7, 1.3, 9)])
def test_sizes_are_products_in_float32_as_elsewhere(length: int, factor: float, made: int, tmp_path: Path) -> None:
    """The factor 1.8 is less than that in float32, and five times it is nine there all the same."""
    net = Net()
    scales = net.const([1, 1, 1, factor], np.float32)
    y = net.op("Resize", net.qdq(net.input((1, 2, 3, length)), 0.05, 3), "", scales, mode="nearest")
    graph = agrees(net.model(net.qdq(y, 0.05, 3)), tmp_path)
    assert graph.type(graph.outputs[0].value).shape == (1, 3, made, 2)


def test_resize_of_operator_set_10(tmp_path: Path) -> None:
    net = Net()
    y = net.op("Resize", net.qdq(net.input((1, 2, 4, 5)), 0.05, 3), net.const([1, 1, 2, 3], np.float32), mode="nearest")
    agrees(net.model(net.qdq(y, 0.05, 3), opset=10, ir_version=5), tmp_path)


def test_shapes_computed_in_the_graph_are_constants(tmp_path: Path) -> None:
    net = Net()
    x = net.qdq(net.input((2, 3, 4)), 0.05, 3)
    batch = net.op("Gather", net.op("Shape", x), net.const(0, np.int64), axis=0)
    batch = net.op("Unsqueeze", batch, net.const([0], np.int64))
    shape = net.op("Concat", batch, net.const([-1], np.int64), axis=0)
    graph = agrees(net.model(net.qdq(net.op("Reshape", x, shape), 0.05, 3)), tmp_path)
    assert kinds(graph) == ["Reshape"]


def test_constant_nodes_of_every_kind(tmp_path: Path) -> None:
    net = Net()
    x = net.qdq(net.input((2, 6)), 0.05, 3)
    x = net.op("Reshape", x, net.op("Constant", value_ints=[3, 4]))
    x = net.op("Add", x, net.op("Constant", value_float=0.5))
    tensor = onnx.numpy_helper.from_array(np.array([4, 3], np.int64))
    x = net.op("Reshape", x, net.op("Constant", value=tensor))
    one = onnx.numpy_helper.from_array(np.array([1], np.int64))
    x = net.op("Expand", x, net.op("ConstantOfShape", net.const([2], np.int64), value=one))
    agrees(net.model(net.qdq(x, 0.06, 3)), tmp_path)


@pytest.mark.parametrize("value", [0.0, -0.7, 1.3])
@pytest.mark.parametrize("mode", ["constant", "edge", "reflect"])
def test_padding_before_the_inputs_quantization(mode: str, value: float, tmp_path: Path) -> None:
    net = Net()
    fill = [net.const(np.float32(value))] if mode == "constant" else []
    y = net.op("Pad", net.input((1, 2, 4, 3)), net.const([0, 0, 1, 2, 0, 0, 3, 0], np.int64), *fill, mode=mode)
    graph = agrees(net.model(net.qdq(y, 0.05, 3), opset=13), tmp_path)
    assert graph.type(graph.inputs[0].value).dtype is DType.S8
    assert kinds(graph) == ["Pad"]


@pytest.mark.parametrize("relu_first", [False, True])
def test_padding_knows_which_side_of_it_the_relu_is(relu_first: bool, tmp_path: Path) -> None:
    net = Net()
    x = net.op("Conv", net.qdq(net.input((1, 2, 4, 3))), net.weights(net.ints(2, 2, 1, 1)))
    padding = (net.const([0, 0, 1, 1, 0, 0, 1, 1], np.int64), net.const(np.float32(-0.7)))
    y = net.op("Pad", net.op("Relu", x), *padding) if relu_first else net.op("Relu", net.op("Pad", x, *padding))
    agrees(net.model(net.qdq(y, 0.05), opset=13), tmp_path)


@pytest.mark.parametrize("opset", [10, 11, 12])
def test_shape_chain_of_old_operator_sets_beside_another_domain(opset: int, tmp_path: Path) -> None:
    """A model with operators of other domains is not raised: axes are attributes where they were."""
    net = Net()
    x = net.qdq(net.input((1, 3, 4, 5)))
    size = net.op("Gather", net.op("Shape", x), net.const(0, np.int64), axis=0)
    sizes = net.op("Concat", net.op("Unsqueeze", size, axes=[0]), net.const([-1], np.int64), axis=0)
    scale = net.op("Clip", net.const([7.0], np.float32), min=0.5, max=1.0) if opset < 11 else net.const([1.0])
    y = net.op("Reshape", net.op("Mul", x, net.op("Cast", scale, to=onnx.TensorProto.FLOAT)), sizes)
    gelu = net.op("Gelu", net.qdq(y), domain=MICROSOFT)
    graph = agrees(net.model(net.qdq(gelu), opset=opset), tmp_path)
    assert graph.outputs[0].model_shape == (1, 60)


@pytest.mark.parametrize(("ratio", "training", "read"), [(0.5, False, True), (0.0, True, True), (0.5, True, False)])
def test_dropout_is_nothing_but_in_training(ratio: float, training: bool, read: bool, tmp_path: Path) -> None:
    net = Net()
    x = net.qdq(net.input((2, 3)))
    model = net.model(net.qdq(net.op("Dropout", x, net.const(np.float32(ratio)), net.const(training))))
    if read:
        agrees(model, tmp_path)
        return
    with pytest.raises(CompileError, match=r"LAM-IMPORT-076 .*training_mode"):
        imported(model, tmp_path)
