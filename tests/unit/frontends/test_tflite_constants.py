"""What a TFLite model computes from constants is known while it is read, as LiteRT computes it when it runs."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from codegen.errors import CompileError
from codegen.frontends.tflite import import_tflite
from codegen.frontends.tflite.fold import FOLDS
from codegen.golden.interface import graph_ports, network_feeds
from codegen.golden.interpreter import run_graph
from codegen.ir.quant import Array
from codegen.pipeline import Options, compile_file
from tests.support.tflite_models import Model, run_litert, run_tflm
from tests.support.tools import require_module

X = np.arange(-24, 24, dtype=np.int8).reshape(1, 4, 6, 2)


def ints(*numbers: int) -> Array:
    return np.array(numbers, np.int32)


def network() -> tuple[Model, int]:
    """A model with one quantized layer, and its input."""
    model = Model()
    x = model.input(X.shape, "int8", 0.1, 3)
    model.op("RELU", [x], [model.output(X.shape, "int8", 0.1, 3)])
    return model, x


def results(model: Model, folder: Path, io_type: str = "model") -> list[Array]:
    """The golden model's outputs."""
    path = folder / "m.tflite"
    path.write_bytes(model.bytes())
    graph = import_tflite(path, mode="tflite", io_type=io_type)
    inputs, outputs = graph_ports(graph)
    values = run_graph(graph, network_feeds(inputs, {inputs[0].name: X}))
    return [port.to_model(values[port.value]) for port in outputs]


def assert_as_litert(model: Model, folder: Path, *, reference: bool = False) -> None:
    require_module("ai_edge_litert")
    (wanted,) = run_litert(model.bytes(), [X], reference=reference)
    for want, have in zip(wanted, results(model, folder), strict=True):
        assert (want.shape, want.dtype) == (have.shape, have.dtype)
        assert np.array_equal(want, have)


REALS = np.array([[0.25, 1.5, -2.0, 3.5], [4.0, -0.5, 0.75, 2.5]], np.float32)
POSITIVE = np.abs(REALS)
NUMBERS, OTHERS = ints(7, -7, 12, 0), ints(2, 3, -5, 4)
FLAGS = np.array([True, False, True, True])
CASES: dict[str, tuple[Sequence[Array], str, str, dict[str, Any]]] = {
    "ABS": ([REALS], "float32", "AbsOptions", {}),
    "ADD": ([NUMBERS, OTHERS], "int32", "AddOptions", {"FusedActivationFunction": 1}),
    "BROADCAST_ARGS": ([ints(4, 1), ints(3, 1, 5)], "int32", "", {}),
    "CAST": ([REALS], "int32", "CastOptions", {"InDataType": 0, "OutDataType": 2}),
    "CEIL": ([REALS], "float32", "", {}),
    "COS": ([ints(0).astype(np.float32)], "float32", "CosOptions", {}),
    "CUMSUM": ([REALS, np.array(1, np.int32)], "float32", "CumsumOptions", {"Reverse": True, "Exclusive": True}),
    "DEQUANTIZE": ([REALS.astype(np.float16)], "float32", "DequantizeOptions", {}),
    "DIV": ([NUMBERS, OTHERS], "int32", "DivOptions", {}),
    "EQUAL": ([NUMBERS, ints(7)], "bool", "EqualOptions", {}),
    "EXP": ([ints(0).astype(np.float32)], "float32", "ExpOptions", {}),
    "FLOOR": ([REALS], "float32", "", {}),
    "FLOOR_DIV": ([NUMBERS, OTHERS], "int32", "FloorDivOptions", {}),
    "FLOOR_MOD": ([NUMBERS, OTHERS], "int32", "FloorModOptions", {}),
    "GREATER": ([NUMBERS, OTHERS], "bool", "GreaterOptions", {}),
    "GREATER_EQUAL": ([NUMBERS, OTHERS], "bool", "GreaterEqualOptions", {}),
    "LESS": ([NUMBERS, OTHERS], "bool", "LessOptions", {}),
    "LESS_EQUAL": ([NUMBERS, OTHERS], "bool", "LessEqualOptions", {}),
    "LOG": ([ints(1).astype(np.float32)], "float32", "", {}),
    "LOGICAL_AND": ([FLAGS, ~FLAGS], "bool", "LogicalAndOptions", {}),
    "LOGICAL_NOT": ([FLAGS], "bool", "LogicalNotOptions", {}),
    "LOGICAL_OR": ([FLAGS, ~FLAGS], "bool", "LogicalOrOptions", {}),
    "MAXIMUM": ([NUMBERS, OTHERS], "int32", "MaximumMinimumOptions", {}),
    "MINIMUM": ([NUMBERS, OTHERS], "int32", "MaximumMinimumOptions", {}),
    "MUL": ([REALS, ints(2).astype(np.float32)], "float32", "MulOptions", {"FusedActivationFunction": 3}),
    "NEG": ([REALS], "float32", "NegOptions", {}),
    "NOT_EQUAL": ([NUMBERS, OTHERS], "bool", "NotEqualOptions", {}),
    "POW": ([NUMBERS, ints(2, 0, 3, 1)], "int32", "PowOptions", {}),
    "RANGE": ([np.array(v, np.int32) for v in (7, -3, -4)], "int32", "RangeOptions", {}),
    "REDUCE_ALL": ([FLAGS, ints(0)], "bool", "ReducerOptions", {}),
    "REDUCE_ANY": ([FLAGS, ints(0)], "bool", "ReducerOptions", {"KeepDims": True}),
    "REDUCE_MAX": ([REALS, ints(1)], "float32", "ReducerOptions", {"KeepDims": True}),
    "REDUCE_MIN": ([REALS, ints(0)], "float32", "ReducerOptions", {}),
    "REDUCE_PROD": ([OTHERS, ints(0)], "int32", "ReducerOptions", {}),
    "ROUND": ([REALS], "float32", "", {}),
    "RSQRT": ([POSITIVE[:, :1] * np.float32(16)], "float32", "", {}),
    "SELECT": ([FLAGS[:2], REALS, POSITIVE], "float32", "SelectOptions", {}),
    "SELECT_V2": ([FLAGS, REALS, ints(9).astype(np.float32)], "float32", "SelectV2Options", {}),
    "SIGN": ([REALS], "float32", "SignOptions", {}),
    "SIN": ([ints(0).astype(np.float32)], "float32", "", {}),
    "SQRT": ([POSITIVE], "float32", "", {}),
    "SQUARE": ([REALS], "float32", "SquareOptions", {}),
    "SQUARED_DIFFERENCE": ([NUMBERS, OTHERS], "int32", "SquaredDifferenceOptions", {}),
    "SUB": ([REALS, POSITIVE], "float32", "SubOptions", {"FusedActivationFunction": 2}),
    "SUM": ([REALS, ints(0, -1)], "float32", "ReducerOptions", {}),
    "WHERE": ([FLAGS], "int64", "WhereOptions", {}),
}


def test_every_operator_that_is_folded_has_a_case() -> None:
    assert set(CASES) == set(FOLDS)


@pytest.mark.parametrize("name", ["SHAPE", "NEG"])
def test_a_known_result_of_an_unknown_type_is_refused(name: str, tmp_path: Path) -> None:
    model, x = network()
    place = x if name == "SHAPE" else model.const(REALS)
    model.op(name, [place], [model.output((4,), "int4")])
    (tmp_path / "m.tflite").write_bytes(model.bytes())
    with pytest.raises(CompileError, match="LAM-IMPORT-019"):
        import_tflite(tmp_path / "m.tflite", mode="tflite")


@pytest.mark.parametrize("name", CASES)
def test_constant_expression_is_litert(name: str, tmp_path: Path) -> None:
    arrays, kind, options, fields = CASES[name]
    model, _ = network()
    places = [model.const(a) for a in arrays]
    model.op(name, places, [model.output((1,), kind)], options, **fields)
    assert_as_litert(model, tmp_path)


def size_chain(model: Model, x: int) -> int:
    """[x's batch, three times its height, 4], as a converter writes it for a batch that is left open."""
    sizes = model.tensor((4,), "int32")
    model.op("SHAPE", [x], [sizes], "ShapeOptions", OutType=2)
    parts = [model.tensor((), "int32") for _ in range(3)]
    for axis, place in enumerate(parts[:2]):
        bounds = [model.const(ints(axis)), model.const(ints(axis + 1)), model.const(ints(1))]
        model.op("STRIDED_SLICE", [sizes, *bounds], [place], "StridedSliceOptions", ShrinkAxisMask=1)
    model.op("MUL", [parts[1], model.const(np.array(3, np.int32))], [parts[2]], "MulOptions")
    packed = model.tensor((3,), "int32")
    last = model.const(np.array(4, np.int32))
    model.op("PACK", [parts[0], parts[2], last], [packed], "PackOptions", ValuesCount=3, Axis=0)
    return packed


def test_a_shape_computed_from_a_shape_is_known(tmp_path: Path) -> None:
    require_module("tflite_micro")
    model, x = network()
    packed = size_chain(model, x)
    model.op("RESHAPE", [x, packed], [model.output((1, 12, 4), "int8", 0.1, 3)], "ReshapeOptions")
    model.graph.outputs.append(packed)
    assert_as_litert(model, tmp_path)
    (wanted,) = run_tflm(model.bytes(), [X])
    assert all(np.array_equal(a, b) for a, b in zip(wanted, results(model, tmp_path), strict=True))


def test_operators_that_move_plain_numbers_are_computed_too(tmp_path: Path) -> None:
    model, _ = network()
    matrix, flags = model.const(np.arange(6, dtype=np.int32).reshape(2, 3)), model.const(np.array([[True], [False]]))
    wide = model.const(np.arange(4, dtype=np.int64).reshape(2, 2))
    model.op("CONCATENATION", [matrix, matrix], [model.output((2, 6), "int32")], "ConcatenationOptions", Axis=1)
    model.op("TILE", [matrix, model.const(ints(2, 1))], [model.output((4, 3), "int32")])
    model.op("TRANSPOSE", [wide, model.const(ints(1, 0))], [model.output((2, 2), "int64")], "TransposeOptions")
    model.op("BROADCAST_TO", [flags, model.const(ints(2, 3))], [model.output((2, 3), "bool")], version=2)
    model.op("PAD", [matrix, model.const(ints(1, 0, 0, 2).reshape(2, 2))], [model.output((3, 5), "int32")])
    model.op("FILL", [model.const(ints(2, 2)), model.const(np.array(7, np.int64))], [model.output((2, 2), "int64")])
    model.op("GATHER_ND", [matrix, model.const(ints(1, 2, 0, 0).reshape(2, 2))], [model.output((2,), "int32")])
    model.op("RANK", [matrix], [model.output((), "int32")])
    model.op("ZEROS_LIKE", [matrix], [model.output((2, 3), "int32")])
    assert_as_litert(model, tmp_path)


def test_quantized_constants_are_computed_with_their_scales(tmp_path: Path) -> None:
    model, _ = network()
    a = model.const(np.arange(-128, 128, dtype=np.int16).astype(np.int8).reshape(16, 16), 0.5, 3)
    y = model.tensor((16, 16), "int8", 0.3, -5)
    model.op("ADD", [a, model.const(np.array([9], np.int8), 0.2, 1)], [y], "AddOptions")
    model.op("DEQUANTIZE", [y], [model.output((16, 16), "float32")])
    assert_as_litert(model, tmp_path, reference=True)


@pytest.mark.parametrize("name", ["SHAPE", "RANK"])
@pytest.mark.parametrize("kind", ["int8", "float32"])
def test_sizes_are_integers_that_hold_them(name: str, kind: str, tmp_path: Path) -> None:
    model, _ = network()
    big = model.input((1, 1960), "int8", 0.5)
    model.op(name, [big], [model.output((2,) if name == "SHAPE" else (), kind, 0.5)])
    (tmp_path / "m.tflite").write_bytes(model.bytes())
    with pytest.raises(CompileError) as caught:
        import_tflite(tmp_path / "m.tflite", mode="tflite")
    assert [p.code for p in caught.value.problems()] == ["LAM-IMPORT-019"]


@pytest.mark.parametrize(
    ("name", "arrays", "code"),
    [
        ("ADD", [ints(1, 2), ints(1, 2, 3)], "LAM-IMPORT-024"),
        ("FLOOR_DIV", [ints(1), ints(0)], "LAM-IMPORT-024"),
        ("SELECT", [np.array([True]), ints(1, 2).reshape(2, 1), ints(1, 2)], "LAM-IMPORT-024"),
        ("SELECT", [np.zeros((2**15, 1), np.bool_), *[np.zeros((1, 2**15), np.int32)] * 2], "LAM-IMPORT-004"),
        ("NEG", [np.array([0.5], np.float32)], "LAM-IMPORT-024"),
        ("RANGE", [np.array(v, np.int32) for v in (0, 2**30, 1)], "LAM-IMPORT-004"),
        ("RANGE", [np.array(v, np.int32) for v in (0, 4, 0)], "LAM-IMPORT-024"),
        ("FILL", [ints(2**15, 2**15), np.array(0, np.int32)], "LAM-IMPORT-004"),
        ("TILE", [ints(1, 2), ints(2**30)], "LAM-IMPORT-004"),
        ("GATHER_ND", [ints(1, 2), ints(2).reshape(1, 1)], "LAM-IMPORT-014"),
        ("BROADCAST_TO", [ints(1, 2), ints(3)], "LAM-OPS-001"),
    ],
)
def test_constants_that_do_not_fit_are_refused(name: str, arrays: Sequence[Array], code: str, tmp_path: Path) -> None:
    model, _ = network()
    version = 2 if name == "BROADCAST_TO" else 1
    model.op(name, [model.const(a) for a in arrays], [model.output((1,), "int32")], version=version)
    (tmp_path / "m.tflite").write_bytes(model.bytes())
    with pytest.raises(CompileError) as caught:
        import_tflite(tmp_path / "m.tflite", mode="tflite")
    assert [p.code for p in caught.value.problems()] == [code]


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("word", [0x7F800001, 0x7F800000, 0xFFC00000, 0x00000001])
@pytest.mark.parametrize("kind", ["ADD", "MUL", "SUB"])
def test_a_float_constant_of_any_bits_is_read_without_a_warning(kind: str, word: int, tmp_path: Path) -> None:
    """A signalling NaN, an infinity, a quiet NaN, the smallest number."""
    model = Model()
    odd = model.const(np.array([[0x3F800000, word, 0]], np.uint32).view(np.float32))
    model.op(kind, [odd, model.input((1, 3), "float32")], [model.output((1, 3), "float32")])
    (tmp_path / "m.tflite").write_bytes(model.bytes())
    assert compile_file(tmp_path / "m.tflite", Options(vectors=1)).program.arena_bytes > 0
