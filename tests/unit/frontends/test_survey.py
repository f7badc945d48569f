"""`inspect` of a model that is not imported: every problem at once, none that another one causes, and float models."""

from __future__ import annotations

import shlex
from pathlib import Path

import numpy as np
import onnx
import pytest
from onnx import helper, numpy_helper

import codegen
from codegen.cli.command_line import run_line
from codegen.errors import CompileError
from codegen.resources import resource_dir
from codegen.verbs.inspection import Inspection
from tests.support import real_tflite
from tests.support.onnx_files import onnx_model, port
from tests.support.real import model_path
from tests.support.shared import shared_dir
from tests.support.tflite_models import Model

RNG = np.random.default_rng(3)


def constant(name: str, array: object) -> onnx.TensorProto:
    return numpy_helper.from_array(np.asarray(array), name)


def save(path: Path, nodes: list[onnx.NodeProto], constants: list[onnx.TensorProto], shape: list[int]) -> Path:
    onnx.save(onnx_model(nodes, [port("x", shape)], [port("y")], constants, name=path.stem), path)
    return path


def quantized(name: str) -> list[onnx.NodeProto]:
    """QuantizeLinear and DequantizeLinear behind a tensor: name_q, name_d."""
    return [
        helper.make_node("QuantizeLinear", [name, "scale", "zero"], [f"{name}_q"], f"{name}:q"),
        helper.make_node("DequantizeLinear", [f"{name}_q", "scale", "zero"], [f"{name}_d"], f"{name}:d"),
    ]


SCALE = [constant("scale", np.float32(0.1)), constant("zero", np.int8(0))]


def ids(found: Inspection) -> list[tuple[str, str]]:
    return [(v.id, v.where.split("'")[1] if "'" in v.where else v.where) for v in found.violations]


def test_behind_a_refused_node_reading_goes_on_where_the_model_quantizes(tmp_path: Path) -> None:
    nodes = [
        *quantized("x"),
        helper.make_node("Erf", ["x_d"], ["a"], "known"),
        helper.make_node("Det", ["a"], ["unread"], "behind"),
        helper.make_node("NonZero", ["x_d"], ["n"], "first"),
        helper.make_node("RandomNormalLike", ["x_d"], ["b"], "second"),
        *quantized("b"),
        helper.make_node("RandomNormalLike", ["b_d"], ["c"], "third"),
        *quantized("c"),
        helper.make_node("Relu", ["c_d"], ["d"], "fine"),
        *quantized("d"),
        helper.make_node("Erf", ["d_d"], ["e"], "last"),
        *quantized("e"),
        helper.make_node("Identity", ["e_d"], ["y"], "end"),
    ]
    path = save(tmp_path / "m.onnx", nodes, SCALE, [1, 4, 5])
    found = codegen.inspect(path)
    named = [where for _, where in ids(found)]
    assert {"second", "third"} <= set(named)
    assert "fine" not in named
    assert "end" not in named
    with pytest.raises(CompileError) as error:
        codegen.run(path, np.zeros((1, 4, 5), np.float32))
    assert {e.where for e in error.value.problems()} <= {v.where for v in found.violations}
    assert any(row.operator == "RandomNormalLike" and row.refused == row.count == 2 for row in found.operators)


def test_what_the_target_lacks_is_named_beside_what_cannot_be_read(tmp_path: Path) -> None:
    nodes = [
        *quantized("x"),
        helper.make_node("Softmax", ["x_d"], ["s"], "soft"),
        *quantized("s"),
        helper.make_node("RandomNormalLike", ["s_d"], ["b"], "hard"),
        *quantized("b"),
        helper.make_node("Identity", ["b_d"], ["y"], "end"),
    ]
    path = save(tmp_path / "m.onnx", nodes, SCALE, [1, 2, 8])
    found = codegen.inspect(path, lacking_softmax(tmp_path))
    assert {"LAM-IMPORT-073", "LAM-TARGET-007"} <= {v.id for v in found.violations}


def lacking_softmax(folder: Path) -> str:
    """A target like the generic one, but for the operator."""
    (file,) = resource_dir("targets").rglob("generic.toml")
    lines = [line for line in file.read_text(encoding="utf-8").splitlines() if not line.startswith("unsupported")]
    place = next(i for i, line in enumerate(lines) if line.startswith("["))
    path = folder / "less.toml"
    path.write_text("\n".join([*lines[:place], 'unsupported = ["Softmax"]', *lines[place:]]))
    return str(path)


def float_model(path: Path) -> Path:
    w = RNG.normal(0, 0.2, (8, 3, 3, 3)).astype(np.float32)
    nodes = [
        helper.make_node("Conv", ["x", "w", "b"], ["c"], "conv", pads=[1, 1, 1, 1]),
        helper.make_node("Relu", ["c"], ["r"], "relu"),
        helper.make_node("GlobalAveragePool", ["r"], ["g"], "pool"),
        helper.make_node("Flatten", ["g"], ["f"], "flat"),
        helper.make_node("MatMul", ["f", "m"], ["p"], "product"),
        helper.make_node("Add", ["p", "o"], ["y"], "offset"),
    ]
    constants = [
        constant("w", w),
        constant("b", np.zeros(8, np.float32)),
        constant("m", RNG.normal(0, 0.3, (8, 4)).astype(np.float32)),
        constant("o", np.ones(4, np.float32)),
    ]
    return save(path, nodes, constants, [1, 3, 8, 8])


def test_a_float_model_shows_its_layers_and_the_arena_of_its_int8_form(tmp_path: Path) -> None:
    found = codegen.inspect(float_model(tmp_path / "net.onnx"), "cortex-m4")
    assert found.supported
    layers = {row.operator: row for row in found.layers}
    assert layers["FloatConv2D"].macs == 8 * 3 * 9 * 64
    assert layers["FloatConv2D"].parameters == 8 * 3 * 9 + 8
    assert "'x' are real numbers" in layers["FloatConv2D"].note
    assert layers["FloatDense"].macs == 32
    assert found.macs == 8 * 3 * 9 * 64 + 32
    assert found.arena_bytes
    assert found.arena_at_8_bits
    assert found.arena_at_8_bits < found.arena_bytes / 2
    assert found.quantizing is not None
    held = codegen.inspect(float_model(tmp_path / "net.onnx").read_bytes()).quantizing
    assert held is not None
    assert held.command == ("lamina quantize model.onnx --calib CALIB.npz -o model_int8.onnx",)
    assert [(i.name, i.shape) for i in found.quantizing.inputs] == [("x", (1, 3, 8, 8))]


def test_the_printed_command_quantizes_the_float_model_and_the_forecast_was_right(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = float_model(tmp_path / "net.onnx")
    before = codegen.inspect(path, "cortex-m4")
    assert before.quantizing is not None
    np.savez(tmp_path / "CALIB.npz", x=RNG.normal(0, 1, (10, 3, 8, 8)).astype(np.float32))
    (line,) = before.quantizing.command
    monkeypatch.chdir(tmp_path)
    assert run_line(shlex.split(line)[1:]) == 0
    after = codegen.inspect(tmp_path / "net_int8.onnx", "cortex-m4")
    assert after.supported
    assert after.macs == before.macs
    assert before.arena_at_8_bits
    assert after.arena_bytes == pytest.approx(before.arena_at_8_bits, rel=0.1), "scratch of another kernel"


def test_what_an_operator_without_an_integer_form_costs_is_known(tmp_path: Path) -> None:
    """A convolution over more axes than a tensor may have, and weights behind it."""
    w, m = RNG.normal(0, 1, (4, 2, 3, 3, 3, 3)).astype(np.float32), np.ones((4, 5), np.float32)
    nodes = [
        helper.make_node("Conv", ["x", "w", "b"], ["c"], "conv"),
        helper.make_node("ReduceMean", ["c"], ["g"], "mean", axes=[2, 3, 4, 5], keepdims=0),
        helper.make_node("Gemm", ["g", "m"], ["y"], "product"),
    ]
    constants = [constant("w", w), constant("b", np.zeros(4, np.float32)), constant("m", m)]
    found = codegen.inspect(save(tmp_path / "net.onnx", nodes, constants, [1, 2, 4, 4, 4, 4]))
    rows = {row.operator: row for row in found.operators}
    assert rows["Conv"].refused == 1
    assert (rows["Conv"].macs, rows["Conv"].parameters) == (16 * 4 * 2 * 81, w.size + 4)
    assert found.macs == 16 * 4 * 2 * 81 + 4 * 5
    assert found.parameters == w.size + 4 + m.size
    assert found.bytes_at_8_bits == w.size + 4 * 4 + m.size


def test_a_float_model_that_does_not_run_is_not_said_to(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """For each the page says what 8 bits would take less of; that it runs as it is only where it does."""
    w = RNG.normal(0, 1, (4, 2, 3, 3, 3, 3)).astype(np.float32)
    nodes = [helper.make_node("Conv", ["x", "w"], ["y"], "conv")]
    save(tmp_path / "wide.onnx", nodes, [constant("w", w)], [1, 2, 4, 4, 4, 4])
    float_model(tmp_path / "net.onnx")
    for name, runs in (("wide", False), ("net", True)):
        assert run_line(["inspect", str(tmp_path / f"{name}.onnx"), "-t", "cortex-m4"]) == 1 - runs
        said = capsys.readouterr().out
        assert "It is a float model" in said
        assert ("runs as it is" in said) == runs


def test_an_operator_without_an_integer_form_is_named_with_its_count(tmp_path: Path) -> None:
    nodes = [
        helper.make_node("RandomNormalLike", ["x"], ["a"], "first"),
        helper.make_node("Relu", ["a"], ["b"], "relu"),
        helper.make_node("RandomNormalLike", ["b"], ["y"], "second"),
    ]
    found = codegen.inspect(save(tmp_path / "net.onnx", nodes, [], [1, 2, 8]))
    assert [v.id for v in found.violations] == ["LAM-IMPORT-073", "LAM-IMPORT-073"]
    rows = {row.operator: row for row in found.operators}
    row = rows["RandomNormalLike"]
    assert (row.count, row.refused, row.macs) == (2, 2, None)
    assert (rows["Relu"].count, rows["Relu"].refused) == (1, 0)


@pytest.mark.parametrize(
    "name", ["kws", pytest.param("resnet8", marks=pytest.mark.slow), pytest.param("vww", marks=pytest.mark.slow)]
)
def test_the_int8_form_of_a_shared_float_model_has_the_quantized_models_macs(name: str) -> None:
    folder = shared_dir() / "models"
    onnx_float = codegen.inspect(folder / "mlperf_tiny_onnx" / f"{name}_f32.onnx", "generic")
    assert onnx_float.macs == codegen.inspect(model_path(f"{name}_qdq"), "generic").macs
    tflite_float = codegen.inspect(folder / "mlperf_tiny" / f"{name}_f32.tflite", "generic")
    assert tflite_float.macs == codegen.inspect(real_tflite.model_path(f"{name}_int8"), "generic").macs
    assert tflite_float.quantizing is not None
    assert [i.dtype for i in tflite_float.quantizing.inputs] == ["float32"]
    assert tflite_float.bytes_at_8_bits == onnx_float.bytes_at_8_bits


def test_every_shared_float_model_can_be_looked_at() -> None:
    files = sorted((shared_dir() / "models").glob("*/*_f32.*"))
    assert len(files) >= 15
    for file in files:
        if file.stem.startswith(("ad", "hello", "dtln", "silero", "resnet20")):
            found = codegen.inspect(file)
            assert found.quantizing is not None
            assert found.operators or found.supported
            assert found.macs > 0


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("word", [0x7F800001, 0xFFC00000, 0x7F800000, 0xFF800000])
def test_a_constant_that_is_no_number_is_counted_without_a_warning(tmp_path: Path, word: int) -> None:
    model = Model()
    x, odd = model.input((1, 2), "float32"), model.const(np.array([0x3F800000, word], np.uint32).view(np.float32))
    y, z = model.tensor((1, 2), "float32"), model.tensor((1, 1), "float32")
    model.op("FLOOR_DIV", [x, odd], [y])
    model.op("FULLY_CONNECTED", [y, model.const(np.array([[0x3F800000, word]], np.uint32).view(np.float32))], [z])
    model.op("DENSIFY", [z], [model.output((1, 1), "float32")])
    (tmp_path / "m.tflite").write_bytes(model.bytes())
    assert "LAM-IMPORT-007" in {v.id for v in codegen.inspect(tmp_path / "m.tflite").violations}


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("corners", [True, False])
def test_an_image_made_as_small_as_nothing_is_refused_without_a_warning(corners: bool, tmp_path: Path) -> None:
    model = Model()
    x, size = model.input((2, 1, 3, 1), "int8", 0.5), model.const(np.array([0, 10], np.int32))
    y = model.output((2, 0, 10, 1), "int8", 0.5)
    model.op("RESIZE_NEAREST_NEIGHBOR", [x, size], [y], "ResizeNearestNeighborOptions", AlignCorners=corners)
    (tmp_path / "m.tflite").write_bytes(model.bytes())
    assert [v.id for v in codegen.inspect(tmp_path / "m.tflite").violations] == ["LAM-OPS-001"]


def test_a_graph_over_which_onnx_itself_ends_its_process_is_looked_at(tmp_path: Path) -> None:
    """Three parts by its attribute, four by its results: inference of shapes in C++ ends in an assertion."""
    split = helper.make_node("Split", ["x"], ["a", "b", "c", "y"], "parts", num_outputs=3)
    path = tmp_path / "parts.onnx"
    onnx.save(onnx_model([split], [port("x", [7])], [port("y")], sets=18, name="parts"), path)
    found = codegen.inspect(path)
    assert [v.id for v in found.violations] == ["LAM-IMPORT-014"]
    assert "num_outputs is 3" in found.violations[0].message


@pytest.mark.filterwarnings("error")
def test_a_bias_that_is_no_number_is_counted_without_a_warning(tmp_path: Path) -> None:
    model = Model()
    x, weights = model.input((1, 3), "float32"), model.const(np.ones((2, 3), np.float32))
    y = model.tensor((1, 2), "float32")
    model.op("FULLY_CONNECTED", [x, weights, model.const(np.array([np.nan, 1], np.float32))], [y])
    model.op("DENSIFY", [y], [model.output((1, 2), "float32")])
    (tmp_path / "m.tflite").write_bytes(model.bytes())
    found = codegen.inspect(tmp_path / "m.tflite")
    assert [v.id for v in found.violations] == ["LAM-IMPORT-007"]
    assert found.macs == 6
