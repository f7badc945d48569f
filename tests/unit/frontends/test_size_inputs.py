"""Sizes, axes, counts and bounds that a file gives as real numbers, NaN, nothing or far too much are refused."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from onnx import helper

from codegen.errors import CompileError
from codegen.frontends import read_real
from codegen.frontends.tflite import import_tflite
from codegen.ir.quant import Array
from tests.support.onnx_files import onnx_model, port
from tests.support.tflite_models import Model

NAN, INF = np.float32([np.nan]), np.float32([np.inf])


def refused(read: Callable[[Path], object], path: Path, data: bytes) -> str:
    path.write_bytes(data)
    with pytest.raises(CompileError) as caught:
        read(path)
    return str(caught.value.problems()[0].code)


def tflite_codes(model: Model, folder: Path) -> set[str]:
    readers: tuple[Callable[[Path], object], ...] = (lambda path: import_tflite(path, mode="tflite"), read_real)
    return {refused(read, folder / "m.tflite", model.bytes()) for read in readers}


def one_op(op_type: str, shape: tuple[int, ...], *constants: Array, options: str = "", **fields: Any) -> Model:
    """An operator on int8 numbers of shape [1, 4], with the constants as its further inputs."""
    model = Model()
    x, y = model.input((1, 4), "int8", 0.5), model.output(shape, "int8", 0.5)
    model.op(op_type, [x, *map(model.const, constants)], [y], options, **fields)
    return model


@pytest.mark.parametrize("sizes", [np.float32([4, np.nan]), np.float32([4, 1]), INF, np.int32([[4, 1]])], ids=str)
def test_a_reshape_to_sizes_that_are_no_list_of_integers(sizes: Array, tmp_path: Path) -> None:
    assert tflite_codes(one_op("RESHAPE", (4, 1), sizes), tmp_path) == {"LAM-IMPORT-014"}


@pytest.mark.parametrize("axis", [NAN, np.float32([1]), np.int32([1, 2]), np.int64([2**40])], ids=str)
def test_an_axis_of_expand_dims_that_is_no_integer_of_the_tensor(axis: Array, tmp_path: Path) -> None:
    assert tflite_codes(one_op("EXPAND_DIMS", (1, 1, 4), axis), tmp_path) == {"LAM-IMPORT-014"}


def test_pads_of_no_axis_at_all_leave_a_single_number_alone(tmp_path: Path) -> None:
    model = Model()
    pads = model.tensor((0, 2), "int64")
    model.op("WHERE", [model.const(np.zeros((2, 2), bool))], [pads])
    model.op("PAD", [model.input((), "float32"), pads], [model.output((), "float32")])
    (tmp_path / "m.tflite").write_bytes(model.bytes())
    graph = read_real(tmp_path / "m.tflite")
    assert graph.type(graph.outputs[0]).shape == ()


@pytest.mark.parametrize("count", [NAN, INF, np.float32([2]), np.int32([2, 2])], ids=str)
def test_a_count_of_top_k_that_is_no_whole_number(count: Array, tmp_path: Path) -> None:
    model = Model()
    ends = [model.output((1, 2), "int8", 0.5), model.output((1, 2), "int32")]
    model.op("TOPK_V2", [model.input((1, 4), "int8", 0.5), model.const(count)], ends)
    assert tflite_codes(model, tmp_path) == {"LAM-IMPORT-014"}


@pytest.mark.parametrize("depth", [NAN, INF], ids=str)
def test_a_depth_of_one_hot_that_is_no_whole_number(depth: Array, tmp_path: Path) -> None:
    model = Model()
    numbers = [model.const(np.array(n, np.int8), 0.5) for n in (1, 0)]
    ends = [model.input((1, 4), "int32"), model.const(depth), *numbers]
    model.op("ONE_HOT", ends, [model.output((1, 4, 3), "int8", 0.5)], "OneHotOptions", Axis=-1)
    assert tflite_codes(model, tmp_path) == {"LAM-IMPORT-014"}


def test_whole_numbers_filled_with_a_real_one(tmp_path: Path) -> None:
    model = Model()
    filled = model.tensor((1, 4), "int32")
    model.op("FILL", [model.const(np.int32([1, 4])), model.const(np.array(np.nan, np.float32))], [filled])
    model.tensor((1,), "int8", 0.5)
    model.op("ADD", [model.input((1, 4), "int32"), filled], [model.output((1, 4), "int32")], "AddOptions")
    path = tmp_path / "m.tflite"
    assert refused(lambda p: import_tflite(p, mode="tflite"), path, model.bytes()) == "LAM-IMPORT-014"


@pytest.mark.parametrize("axis", [NAN, np.float32([0.5])], ids=str)
@pytest.mark.parametrize(("op_type", "options"), [("SUM", "ReducerOptions"), ("CUMSUM", "CumsumOptions")])
def test_constants_reduced_along_an_axis_that_is_real(op_type: str, options: str, axis: Array, tmp_path: Path) -> None:
    model = Model()
    total = model.tensor((4,), "int32")
    model.op(op_type, [model.const(np.ones((1, 4), np.int32)), model.const(axis)], [total], options)
    model.tensor((1,), "int8", 0.5)
    model.op("ADD", [model.input((4,), "int32"), total], [model.output((4,), "int32")], "AddOptions")
    assert tflite_codes(model, tmp_path) == {"LAM-IMPORT-024"}


def onnx_code(op_type: str, constants: list[Array | None], folder: Path, x: bool, opset: int, **fields: Any) -> str:
    """The answer to one operator on floats of shape [1, 8, 1], or on nothing, and constants."""
    names = ["" if c is None else f"c{i}" for i, c in enumerate(constants)]
    known = {n: c for c, n in zip(constants, names, strict=True) if c is not None}
    node = helper.make_node(op_type, [*(["x"] if x else []), *names], ["y"], **fields)
    model = onnx_model([node], [port("x", [1, 8, 1])], [port("y")], known, sets=opset)
    return refused(read_real, folder / "m.onnx", model.SerializeToString())


EMPTY = np.zeros(0, np.int64)
BOXES = [np.zeros((1, 2, 4), np.float32), np.zeros((1, 1, 2), np.float32)]
MEL = [np.int64(8), np.int64(16), np.int64(8000), np.float32(0), np.float32(4000)]


@pytest.mark.parametrize("odd", [NAN, INF, EMPTY], ids=str)
@pytest.mark.parametrize(
    ("op_type", "x", "constants", "place"),
    [
        ("TopK", True, [EMPTY], 0),
        ("DFT", True, [EMPTY, None], 0),
        ("DFT", True, [None, EMPTY], 1),
        ("STFT", True, [EMPTY, None, np.int64(4)], 0),
        ("STFT", True, [np.int64(2), None, EMPTY], 2),
        ("NonMaxSuppression", False, [*BOXES, EMPTY], 2),
        ("MelWeightMatrix", False, MEL, 0),
        ("MelWeightMatrix", False, MEL, 2),
        ("MelWeightMatrix", False, MEL, 4),
        ("Range", False, [np.float32(0), np.float32(4), np.float32(1)], 1),
    ],
)
def test_one_number_of_onnx_that_is_none(
    op_type: str, x: bool, constants: list[Array | None], place: int, odd: Array, tmp_path: Path
) -> None:
    given = [odd if i == place else np.asarray(c) if c is not None else None for i, c in enumerate(constants)]
    known = {"LAM-IMPORT-013", "LAM-IMPORT-014", "LAM-IMPORT-019"}
    assert onnx_code(op_type, given, tmp_path, x, 20) in known


@pytest.mark.parametrize("odd", [NAN, INF, np.float32([2]), np.int64([[2]])], ids=str)
@pytest.mark.parametrize(("op_type", "x"), [("Expand", True), ("Tile", True), ("ConstantOfShape", False)])
def test_sizes_of_onnx_that_are_no_list_of_integers(op_type: str, x: bool, odd: Array, tmp_path: Path) -> None:
    assert onnx_code(op_type, [odd], tmp_path, x, 20) == "LAM-IMPORT-014"


def test_a_filler_that_is_no_number(tmp_path: Path) -> None:
    assert onnx_code("Pad", [np.zeros(6, np.int64), np.zeros(0, np.float32)], tmp_path, True, 20) == "LAM-IMPORT-014"


@pytest.mark.parametrize("end", [np.nan, np.inf])
def test_a_part_of_a_tensor_that_has_no_end(end: float, tmp_path: Path) -> None:
    roi, sizes = np.float32([0, 0, 0, 1, end, 1]), np.int64([1, 4, 1])
    fields = {"coordinate_transformation_mode": "tf_crop_and_resize"}
    assert onnx_code("Resize", [roi, None, sizes], tmp_path, True, 20, **fields) == "LAM-IMPORT-014"
