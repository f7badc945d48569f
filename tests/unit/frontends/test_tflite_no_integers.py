"""Operators of real numbers alone, given integers with a scale, and settings of theirs that contradict the tensors."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from codegen.errors import CompileError
from codegen.frontends.tflite import import_tflite
from codegen.ir.quant import Array
from tests.support.tflite_models import Model, run_litert

MAP: Mapping[str, Any] = {"Padding": 1, "StrideH": 1, "StrideW": 1}
VOLUME: Mapping[str, Any] = {**MAP, "StrideD": 1}
POOL: Mapping[str, Any] = {**MAP, "FilterHeight": 2, "FilterWidth": 2}
LRN: Mapping[str, Any] = {"Radius": 1, "Bias": 1.0, "Alpha": 1.0, "Beta": 1.0}


def refusal(
    folder: Path, op: str, ins: Sequence[tuple[int, ...] | Array], out: Sequence[int], options: str, **told: Any
) -> str:
    """The code and the words: a shape is an int8 input of that shape, an array a constant."""
    model = Model()
    places = [
        model.input(x, "int8", 0.1, 3)
        if isinstance(x, tuple)
        else model.const(x, 0.1, 0)
        if x.dtype == np.int8
        else model.const(x)
        for x in ins
    ]
    model.op(op, places, [model.output(tuple(out), "int8", 0.1, 3)], options, **told)
    path = folder / "m.tflite"
    path.write_bytes(model.bytes())
    with pytest.raises(CompileError) as caught:
        import_tflite(path, mode="tflite")
    return caught.value.text()


def whole(*numbers: Any) -> Array:
    return np.array(numbers, np.int32)


@pytest.mark.parametrize(
    ("op", "ins", "out", "options", "told"),
    [
        ("L2_POOL_2D", [(1, 4, 4, 2)], (1, 3, 3, 2), "Pool2DOptions", POOL),
        ("LOCAL_RESPONSE_NORMALIZATION", [(1, 4, 4, 2)], (1, 4, 4, 2), "LocalResponseNormalizationOptions", LRN),
        ("CONV_3D", [(1, 3, 3, 3, 2), np.ones((2, 2, 2, 2, 3), np.int8)], (1, 2, 2, 2, 3), "Conv3DOptions", VOLUME),
        ("SCATTER_ND", [whole([2], [0]), (2, 3), whole(4, 3)], (4, 3), "", {}),
    ],
    ids=lambda v: v if isinstance(v, str) else "",
)
def test_what_has_no_form_in_integers_is_refused(
    op: str, ins: list[Any], out: tuple[int, ...], options: str, told: Mapping[str, Any], tmp_path: Path
) -> None:
    found = refusal(tmp_path, op, ins, out, options, **told)
    assert "LAM-IMPORT-022" in found
    assert f"{op} of int8" in found


def test_sums_of_64_bits_are_refused(tmp_path: Path) -> None:
    found = refusal(tmp_path, "SCATTER_ND", [whole([2], [0]), np.ones((2, 3), np.int64), whole(4, 3)], (4, 3), "")
    assert "LAM-IMPORT-022" in found
    assert "SCATTER_ND of int64" in found


@pytest.mark.parametrize(
    ("op", "ins", "options", "told", "words"),
    [
        ("GATHER", [(2, 5), whole([0], [1], [2])], "GatherOptions", {"Axis": 1, "BatchDims": 1}, "1 axes in common"),
        ("GATHER", [(2, 5), whole([0], [5])], "GatherOptions", {"Axis": 1, "BatchDims": 1}, "positions outside [5]"),
        ("GATHER", [(2, 5), whole([0], [1])], "GatherOptions", {"Axis": 0, "BatchDims": 1}, "1 axes in common"),
        ("REVERSE_SEQUENCE", [(2, 5), whole(1, 6)], "ReverseSequenceOptions", {"SeqDim": 1}, "lengths outside 0 .. 5"),
        ("REVERSE_SEQUENCE", [(2, 5), whole(1, 2)], "ReverseSequenceOptions", {"SeqDim": 0}, "both time and batch"),
        ("REVERSE_SEQUENCE", [(2, 5), whole(1, 2)], "ReverseSequenceOptions", {"SeqDim": 3}, "axis 3 of a tensor of 2"),
    ],
)
def test_settings_that_contradict_the_tensors_are_refused(
    op: str, ins: list[Any], options: str, told: Mapping[str, Any], words: str, tmp_path: Path
) -> None:
    found = refusal(tmp_path, op, ins, (2, 1) if op == "GATHER" else (2, 5), options, **told)
    assert "LAM-IMPORT-014" in found
    assert words in found


@pytest.mark.parametrize(
    ("planes", "told", "words"),
    [
        (9, {}, "LAM-IMPORT-014 node 'CONV_3D_TRANSPOSE_0', tensor 'main_t3': a result of 9 along D of 2 elements"),
        (3, {"DilationHFactor": 4}, "a window of 5 does not fit 4 elements"),
        (3, {"DilationWFactor": 0}, "option DilationWFactor is 0"),
    ],
)
def test_a_result_that_no_transposed_convolution_has_is_refused(
    planes: int, told: Mapping[str, Any], words: str, tmp_path: Path
) -> None:
    model, result = Model(), (1, planes, 4, 5, 4)
    weights = model.const(np.ones((2, 2, 2, 4, 3), np.float32))
    places = [model.const(whole(*result)), weights, model.input((1, 2, 3, 4, 3), "float32")]
    told = {**VOLUME, **told}
    model.op("CONV_3D_TRANSPOSE", places, [model.output(result, "float32")], "Conv3DOptions", **told)
    check_refused(model, words, tmp_path)


def test_a_place_of_int16_is_refused(tmp_path: Path) -> None:
    model = Model()
    places = [model.input((4, 5), "float32"), model.input((2, 2), "float32"), model.input((2,), "int16")]
    model.op("DYNAMIC_UPDATE_SLICE", places, [model.output((4, 5), "float32")])
    check_refused(model, "a place of type int16", tmp_path)


def check_refused(model: Model, words: str, folder: Path) -> None:
    """Here and by LiteRT."""
    path = folder / "m.tflite"
    path.write_bytes(model.bytes())
    with pytest.raises(CompileError) as caught:
        import_tflite(path, mode="tflite")
    assert words in caught.value.text()
    with pytest.raises((RuntimeError, ValueError)):
        run_litert(model.bytes())
