"""What a refused TFLite model is told: the sentence that helps, and none that sends its reader the wrong way."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from codegen.errors import CompileError, ModelRejected
from codegen.frontends.tflite import import_tflite
from tests.support.tflite_models import Model


def refused(model: Model | Path, folder: Path) -> list[CompileError]:
    path = model if isinstance(model, Path) else folder / "m.tflite"
    if isinstance(model, Model):
        path.write_bytes(model.bytes())
    with pytest.raises(ModelRejected) as caught:
        import_tflite(path, mode="tflite")
    return list(caught.value.problems())


def test_custom_operators_on_bare_integers_are_no_float_model(tmp_path: Path) -> None:
    model = Model()
    middle = model.tensor((1, 8), "int16")
    model.op("SoundWindow", [model.input((1, 8), "int16")], [middle])
    model.op("SoundEnergy", [middle], [model.output((1, 8), "int32")])
    window, energy = refused(model, tmp_path)
    assert "'SoundEnergy_1'" in energy.text()
    assert window.text() == (
        "LAM-IMPORT-007 node 'SoundWindow_0', tensor 'main_t0': custom operator SoundWindow is not supported "
        "(only its maker knows what it computes: --plugin FILE.py reads it (`lamina help plugins`), or leave it to the "
        "firmware and compile what is behind it)"
    )


def test_integers_without_scales_are_read_where_no_operator_asks(tmp_path: Path) -> None:
    model = Model()
    x, axis = model.input((1, 8), "int8"), model.const(np.array([1], np.int32))
    model.op("ARG_MAX", [x, axis], [model.output((1,), "int32")], "ArgMaxOptions", OutputType=2)
    path = tmp_path / "m.tflite"
    path.write_bytes(model.bytes())
    assert len(import_tflite(path, mode="tflite").nodes) >= 1


def test_a_known_operator_that_is_not_read_is_named_once(tmp_path: Path) -> None:
    model = Model()
    model.op("UNIQUE", [model.input((1, 8), "int8", 0.1)], [model.output((1, 8), "int8", 0.1)])
    (found,) = refused(model, tmp_path)
    wanted = "operator UNIQUE is not supported (`lamina help operators` lists the operators that are read)"
    assert wanted in found.text()


def test_a_16_bit_zero_point_is_told_the_rule_and_the_way_out(tmp_path: Path) -> None:
    model = Model()
    model.op("RELU", [model.input((1, 8), "int16", 0.1)], [model.output((1, 8), "int16", 0.1, 12)])
    (found,) = refused(model, tmp_path)
    assert found.text().endswith(
        "is 12, allowed is 0 "
        "(this operator takes 16-bit numbers around 0, as TFLite does: put a QUANTIZE to zero point 0 between)"
    )


def test_a_zero_point_outside_its_type_is_told_the_range(tmp_path: Path) -> None:
    model = Model()
    model.op("QUANTIZE", [model.input((1, 8), "int8", 0.1, 200)], [model.output((1, 8), "int8", 0.1)])
    assert any("is 200, allowed is -128 .. 127 (the file is damaged" in p.text() for p in refused(model, tmp_path))


def test_a_type_that_networks_do_not_hold_is_not_told_to_quantize(tmp_path: Path) -> None:
    model = Model()
    model.op("RESHAPE", [model.input((1, 8), "int4")], [model.output((8,), "int4")], "ReshapeOptions")
    for found in refused(model, tmp_path):
        assert "has type int4 (networks hold int8, uint8, int16, int32 and float32: " in found.text()


@pytest.mark.parametrize("name", ["ELU", "NEG", "HARD_SWISH"])
def test_a_function_of_8_bit_numbers_does_not_promise_more_in_another_mode(name: str, tmp_path: Path) -> None:
    model = Model()
    model.op(name, [model.input((1, 8), "int16", 0.1)], [model.output((1, 8), "int16", 0.1)])
    (found,) = refused(model, tmp_path)
    assert found.text().endswith(f"{name} of s16 and s16 (8-bit numbers are supported)")


@pytest.mark.parametrize(("scale", "told"), [(0.05, 0), (0.025, 1)])
def test_a_relu6_between_two_scales_is_told_of(scale: float, told: int, tmp_path: Path) -> None:
    model = Model()
    x, y = model.input((1, 3), "int8", 0.05), model.output((1, 3), "int8", scale)
    model.op("RELU6", [x], [y])
    (tmp_path / "m.tflite").write_bytes(model.bytes())
    notes = import_tflite(tmp_path / "m.tflite", mode="tflite").notes
    assert sum("--requant single" in note for note in notes) == told


def test_the_second_network_of_a_file_is_named(tmp_path: Path) -> None:
    model = Model()
    for name in ("", "train"):
        if name:
            model.subgraph(name)
        model.op("RELU", [model.input((1, 4), "float32")], [model.output((1, 4), "float32")])
    (tmp_path / "m.tflite").write_bytes(model.bytes())
    notes = import_tflite(tmp_path / "m.tflite", mode="tflite").notes
    assert notes == ("the file holds several networks: 'main', its first, is compiled, not 'train'",)
