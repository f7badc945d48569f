"""Files that say two things: each is refused, as an interpreter would go by the one and we by the other."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest

from codegen.errors import CompileError
from codegen.frontends.tflite import import_tflite
from tests.support.tflite_models import Model, Scales, run_litert
from tests.support.tools import require_module


def code(model: Model, folder: Path) -> str:
    path = folder / "m.tflite"
    path.write_bytes(model.bytes())
    with pytest.raises(CompileError) as caught:
        import_tflite(path, mode="tflite")
    return caught.value.problems()[0].code


def reshaped(asked: Sequence[int]) -> Model:
    model = Model()
    x, y = model.input((1, 3, 6), "int8", 0.5), model.output((6, 3), "int8", 0.5)
    model.op("RESHAPE", [x, model.const(np.array(asked, np.int32))], [y])
    return model


@pytest.mark.parametrize("asked", [(3, 6), (-1, 6), (18,), (1, 6, 3)])
def test_a_reshape_to_another_shape_than_its_result_has(asked: tuple[int, ...], tmp_path: Path) -> None:
    assert code(reshaped(asked), tmp_path) == "LAM-IMPORT-014"


@pytest.mark.parametrize("asked", [(6, 3), (-1, 3), (6, -1)])
def test_a_reshape_to_the_shape_of_its_result_is_read(asked: tuple[int, ...], tmp_path: Path) -> None:
    (tmp_path / "m.tflite").write_bytes(reshaped(asked).bytes())
    assert import_tflite(tmp_path / "m.tflite", mode="tflite").outputs[0].model_shape == (6, 3)


def squeezed(dims: Sequence[int], result: Sequence[int]) -> Model:
    model = Model()
    x, y = model.input((1, 3, 1, 6), "int8", 0.5), model.output(result, "int8", 0.5)
    model.op("SQUEEZE", [x], [y], "SqueezeOptions", **({"SqueezeDims": dims} if dims else {}))
    return model


@pytest.mark.parametrize(
    ("dims", "result"),
    [((), (6, 3)), ((), (1, 3, 6)), ((0,), (3, 6)), ((0, 2), (1, 3, 6)), ((1,), (1, 1, 6)), ((4,), (3, 6))],
)
def test_a_squeeze_to_another_shape_than_its_result_has(
    dims: tuple[int, ...], result: tuple[int, ...], tmp_path: Path
) -> None:
    assert code(squeezed(dims, result), tmp_path) == "LAM-IMPORT-014"


@pytest.mark.parametrize(("dims", "result"), [((), (3, 6)), ((0,), (3, 1, 6)), ((-2, 0), (3, 6)), ((2, 2), (1, 3, 6))])
def test_a_squeeze_to_the_shape_of_its_result_is_read(
    dims: tuple[int, ...], result: tuple[int, ...], tmp_path: Path
) -> None:
    (tmp_path / "m.tflite").write_bytes(squeezed(dims, result).bytes())
    assert import_tflite(tmp_path / "m.tflite", mode="tflite").outputs[0].model_shape == result


def expanded(axis: int, result: Sequence[int]) -> Model:
    model = Model()
    x, y = model.input((3, 6), "int8", 0.5), model.output(result, "int8", 0.5)
    model.op("EXPAND_DIMS", [x, model.const(np.array(axis, np.int32))], [y], "ExpandDimsOptions")
    return model


@pytest.mark.parametrize(("axis", "result"), [(0, (3, 1, 6)), (-1, (3, 1, 6)), (1, (1, 3, 6)), (3, (3, 6, 1))])
def test_an_axis_added_elsewhere_than_the_result_has_it(axis: int, result: tuple[int, ...], tmp_path: Path) -> None:
    assert code(expanded(axis, result), tmp_path) == "LAM-IMPORT-014"


@pytest.mark.parametrize(("axis", "result"), [(0, (1, 3, 6)), (-1, (3, 6, 1)), (1, (3, 1, 6)), (-3, (1, 3, 6))])
def test_an_axis_added_where_the_result_has_it_is_read(axis: int, result: tuple[int, ...], tmp_path: Path) -> None:
    (tmp_path / "m.tflite").write_bytes(expanded(axis, result).bytes())
    assert import_tflite(tmp_path / "m.tflite", mode="tflite").outputs[0].model_shape == result


@pytest.mark.parametrize(("asked", "is_read"), [((1, 4, 4, 2), True), ((1, 3, 4, 2), False), ((1, 4, 9, 2), False)])
def test_a_transposed_convolution_to_the_shape_of_its_result_alone(
    asked: tuple[int, ...], is_read: bool, tmp_path: Path
) -> None:
    model, weights = Model(), np.ones((2, 2, 2, 3), np.float32)
    x, y = model.input((1, 2, 2, 3), "float32"), model.output((1, 4, 4, 2), "float32")
    shape = model.const(np.array(asked, np.int32))
    ways = {"StrideH": 2, "StrideW": 2, "Padding": 1}
    model.op("TRANSPOSE_CONV", [shape, model.const(weights), x], [y], "TransposeConvOptions", **ways)
    if not is_read:
        assert code(model, tmp_path) == "LAM-IMPORT-014"
        return
    (tmp_path / "m.tflite").write_bytes(model.bytes())
    assert import_tflite(tmp_path / "m.tflite", mode="tflite").outputs[0].model_shape == (1, 4, 4, 2)


def test_a_variable_with_numbers_in_the_file(tmp_path: Path) -> None:
    """LiteRT refuses it; TFLite Micro clears the numbers."""
    require_module("ai_edge_litert")
    model = Model()
    x, y = model.input((1, 4), "int8", 0.5), model.output((1, 2), "int8", 0.5)
    w = model.tensor((2, 4), "int8", 0.5, data=np.ones((2, 4), np.int8), variable=True)
    model.op("FULLY_CONNECTED", [x, w], [y], "FullyConnectedOptions")
    assert code(model, tmp_path) == "LAM-IMPORT-031"
    with pytest.raises((ValueError, RuntimeError)):
        run_litert(model.bytes(), [np.ones((1, 4), np.int8)])


@pytest.mark.parametrize("scales", [(0.5, ()), ((), 0.5)], ids=["lost", "gained"])
def test_a_movement_whose_result_lost_or_gained_its_scale(scales: tuple[Scales, Scales], tmp_path: Path) -> None:
    model = Model()
    x, y = (model.input((1, 4), "int8", scales[0]), model.output((4, 1), "int8", scales[1]))
    model.op("TRANSPOSE", [x, model.const(np.array([1, 0], np.int32))], [y], "TransposeOptions")
    model.op("RELU", [model.input((1, 4), "int8", 0.5)], [model.output((1, 4), "int8", 0.5)])
    assert code(model, tmp_path) == "LAM-IMPORT-014"
