"""Data that cannot be what an input takes is refused with the table that would be right; right data never is."""

from __future__ import annotations

import tomllib
from pathlib import Path

import numpy as np
import pytest

import codegen
from codegen.errors import CompileError, DataNotTheInputs
from codegen.frontends.onnx import stored_inputs
from codegen.golden.interface import graph_ports
from codegen.ir.quant import Array, DType, Quant
from codegen.pipeline import Options, read_model
from codegen.preprocess import Given, Preprocess, Wanted, check_fed, check_given, parse_preprocess
from codegen.preprocess.advice import layout_of, table_for
from codegen.target import load_target
from codegen.verbs.float_engine import FloatPort
from codegen.verbs.samples import open_samples
from tests.e2e.test_accuracy import LEAST, TFLITE
from tests.support import real_tflite
from tests.support.real import model_path
from tests.support.shared import ROOT, shared_dir
from tests.support.tools import require_module

RNG = np.random.default_rng(11)
PIXELS = list(RNG.integers(0, 256, (12, 8, 6, 3), dtype=np.uint8))
CODES = list(RNG.integers(-128, 128, (12, 1, 8, 6), dtype=np.int8))
UNIT = Wanted("x", (1, 3, 8, 6), "float32", DType.S8, Quant(float(np.float32(1 / 255)), -128))
BYTE = Wanted("x", (1, 3, 8, 6), "float32", DType.U8, Quant(1.0, 0))
UNKNOWN = Wanted("x", (1, 3, 8, 6), "float32", None, None)


def checked(raw: list[Array], wanted: Wanted, table: str = "") -> None:
    how = parse_preprocess(tomllib.loads(table).get("preprocess", {}), "model.toml")
    given = Given(raw, "d.npz")
    check_given(given, how, wanted)
    check_fed([how.apply(x, wanted.shape, wanted.dtype) for x in raw], given, how, wanted)


def refusal(raw: list[Array], wanted: Wanted, table: str = "") -> DataNotTheInputs:
    with pytest.raises(DataNotTheInputs) as error:
        checked(raw, wanted, table)
    return error.value


LAYOUT = '[preprocess]\nlayout = "NHWC->NCHW"\n'
WRONG = {
    "axes in another order": (PIXELS, UNIT, ""),
    "pixels of 0 .. 255 for 0 .. 1": (PIXELS, UNIT, LAYOUT),
    "pixels of 0 .. 1 for 0 .. 255": (PIXELS, BYTE, LAYOUT + "divide = 255"),
    "pixels of -1 .. 1 for 0 .. 255": (PIXELS, BYTE, LAYOUT + "divide = 127.5\nmean = 1"),
    "pixels for unknown reals": ([x.transpose(2, 0, 1) for x in PIXELS], UNKNOWN, ""),
    "signed bytes for reals, although they lie within": (
        CODES,
        Wanted("x", (1, 1, 8, 6), "float32", DType.S8, Quant(1.0, 0)),
        "",
    ),
    "real numbers for integers": (
        list(RNG.random((12, 8, 6, 1), dtype=np.float32)),
        Wanted("x", (1, 8, 6, 1), "int8", DType.S8, Quant(float(np.float32(1 / 255)), -128)),
        "",
    ),
    "unsigned bytes for signed ones": (
        [x[..., :1] // 2 for x in PIXELS],
        Wanted("x", (1, 8, 6, 1), "int8", DType.S8, Quant(float(np.float32(1 / 255)), -128)),
        "",
    ),
}


@pytest.mark.parametrize("name", WRONG)
def test_wrong_data_is_refused_and_the_printed_table_makes_it_right(name: str) -> None:
    raw, wanted, table = WRONG[name]
    error = refusal(raw, wanted, table)
    assert error.code == "LAM-API-030"
    printed = error.hint.partition("\n")[2]
    assert all(line.strip() in error.text() for line in printed.splitlines())
    checked(raw, wanted, printed)


def test_data_of_which_the_meaning_is_said_is_taken_at_its_word() -> None:
    checked(CODES, Wanted("x", (1, 1, 8, 6), "float32", None, None), "[preprocess]\ndequantize = { scale = 1.0 }")


def test_integers_that_are_the_real_numbers_need_no_table() -> None:
    checked([x.transpose(2, 0, 1) for x in PIXELS], BYTE)
    symmetric = Wanted("x", (1, 3, 8, 6), "float32", DType.S8, Quant(2.0, 0))
    checked([x.transpose(2, 0, 1) for x in PIXELS], symmetric)


def test_a_few_numbers_beyond_the_range_are_what_calibration_cuts_off() -> None:
    x = RNG.normal(0, 1, (12, 1, 8, 6)).astype(np.float32)
    checked(list(x), Wanted("x", (1, 1, 8, 6), "float32", DType.S8, Quant(float(np.float32(1.5 / 127)), 0)))


def test_all_zeros_are_taken() -> None:
    checked([np.zeros((3, 8, 6), np.float32)] * 12, BYTE)


@pytest.mark.parametrize(
    ("sample", "shape", "layout"),
    [
        ((32, 32, 3), (1, 3, 32, 32), "NHWC->NCHW"),
        ((3, 32, 32), (1, 3, 32, 32), "NCHW->NCHW"),
        ((3, 32, 40), (1, 32, 40, 3), "NCHW->NHWC"),
        ((28, 28), (1, 1, 28, 28), "NHW->NCHW"),
        ((49, 10, 1), (1, 1, 49, 10), "NHWC->NCHW"),
        ((49, 10), (1, 10, 49), "NHW->NWH"),
        ((640,), (1, 640), "NC->NC"),
        ((32, 32, 3), (1, 3, 32, 33), None),
        ((32, 32, 3), (1, 1, 32, 32), None),
        ((2, 3, 4, 5), (1, 2, 3, 4, 5), None),
    ],
)
def test_the_layout_arranges_the_axes(sample: tuple[int, ...], shape: tuple[int, ...], layout: str | None) -> None:
    assert layout_of(sample, shape) == layout
    if layout is not None:
        assert parse_preprocess({"layout": layout}, "").apply(np.zeros(sample, np.float32), shape, "float32").any() == 0


@pytest.mark.parametrize("kind", ["uint8", "int8", "int16", "float32"])
@pytest.mark.parametrize("scale", [1 / 255, 2 / 255, 0.0187, 0.3, 1.0, 7.3])
@pytest.mark.parametrize("zero", [-128, -14, 0, 127])
def test_every_table_can_be_read_once_its_letters_are_numbers(kind: str, scale: float, zero: int) -> None:
    for dtype in ("float32", "int8"):
        wanted = Wanted("x", (1, 3, 8, 6), dtype, DType.S8, Quant(float(np.float32(scale)), zero))
        for known in (wanted, Wanted("x", (1, 3, 8, 6), dtype, None, None)):
            text = table_for((8, 6, 3), np.dtype(kind), Preprocess(), known)
            text = text.replace("S,", "1.0,").replace("Z }", "0 }")
            parse_preprocess(tomllib.loads(text)["preprocess"], "model.toml")


def test_the_pictures_keys_are_kept_in_the_proposal() -> None:
    how = Preprocess(axes="NHWC", model_axes="NCHW", jpeg=True, resize=(8, 6), color="bgr")
    text = table_for((8, 6, 3), np.dtype(np.uint8), how, UNIT)
    table = tomllib.loads(text)["preprocess"]
    assert table == {"jpeg": True, "layout": "NHWC->NCHW", "resize": [8, 6], "color": "bgr", "divide": 255}


def test_a_float_model_on_data_quantized_for_another_is_refused_not_measured(tmp_path: Path) -> None:
    require_module("onnxruntime")
    model, data = shared_dir() / "models" / "mlperf_tiny_onnx" / "kws_f32.onnx", shared_dir() / "data" / "kws01.npz"
    with pytest.raises(CompileError) as error:
        codegen.evaluate(model, data, engine="float")
    assert error.value.code == "LAM-API-030"
    assert 'layout = "NHWC->NCHW"' in error.value.text()
    assert "dequantize" in error.value.text()
    config = tmp_path / "layout.toml"
    config.write_text(LAYOUT)
    with pytest.raises(CompileError) as again:
        codegen.evaluate(model, data, engine="float", config=config)
    assert again.value.code == "LAM-API-030"


DATA = {name: data for name, (_, data, _) in LEAST.items()} | {name: data for name, (data, _, _) in TFLITE.items()}


@pytest.mark.parametrize("name", DATA)
def test_the_shared_data_with_its_table_is_never_refused(name: str) -> None:
    path = model_path(LEAST[name][0]) if name in LEAST else real_tflite.model_path(name)
    config = ROOT / "benchmarks" / "configs" / f"{name}.toml"
    (port,), _ = graph_ports(read_model(path, Options(), load_target("host")))
    for known in (port, FloatPort(port.name, port.model_shape, port.model_dtype)):
        samples = open_samples(shared_dir() / "data" / f"{DATA[name]}.npz", (known,), config)
        assert samples[0][port.name].shape == port.model_shape


def test_the_float_engine_knows_what_a_quantized_model_stores() -> None:
    found = stored_inputs(ROOT / "examples" / "digits" / "digits_qdq.onnx")
    ((dtype, quant),) = found.values()
    assert dtype in (DType.S8, DType.U8)
    assert quant.scale == pytest.approx(1 / 255, rel=0.02)
