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
from codegen.preprocess.given import finite
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
PIXELS_AS_REALS = np.array(PIXELS, np.float32)
CODES = list(RNG.integers(-128, 128, (12, 1, 8, 6), dtype=np.int8))
HWC = np.arange(144, dtype=np.uint8).reshape(8, 6, 3) + 100
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
    "whole numbers beyond the integers": (
        list(PIXELS_AS_REALS),
        Wanted("x", (1, 8, 6, 3), "int8", DType.S8, Quant(1.0, -128)),
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
            text = table_for(Given([np.array(HWC, kind)], ""), Preprocess(), known)
            text = text.replace("S,", "1.0,").replace("Z }", "0 }")
            parse_preprocess(tomllib.loads(text)["preprocess"], "model.toml")


def test_the_pictures_keys_are_kept_in_the_proposal() -> None:
    how = Preprocess(axes="NHWC", model_axes="NCHW", jpeg=True, resize=(8, 6), color="bgr")
    text = table_for(Given([HWC], ""), how, UNIT)
    table = tomllib.loads(text)["preprocess"]
    assert table == {"jpeg": True, "layout": "NHWC->NCHW", "resize": [8, 6], "color": "bgr", "divide": 255}


RESNET8 = Wanted("x", (1, 8, 6, 3), "int8", DType.S8, Quant(1.0, -128))
"""What MLPerf Tiny's ResNet-8 takes: int8 for pixels of 0 .. 255."""
RANGES = {
    "0 .. 1": (0.0, 1.0),
    "0 .. 255": (0.0, 255.0),
    "-1 .. 1": (-1.0, 1.0),
    "-128 .. 127": (-128.0, 127.0),
    "-120 .. 30": (-120.0, 30.0),
    "0 .. 3": (0.0, 3.0),
    "1000 .. 1010": (1000.0, 1010.0),
    "-5 .. -4": (-5.0, -4.0),
    "-9 .. 9": (-9.0, 9.0),
}
STORED = {"int8": DType.S8, "uint8": DType.U8, "int16": DType.S16}


def spread(low: float, high: float, dtype: str = "float32") -> list[Array]:
    """Twelve samples whose numbers lie evenly between two, both ends among them."""
    numbers = RNG.permutation(np.linspace(low, high, 12 * 144)).reshape(12, 8, 6, 3)
    return list(np.rint(numbers).astype(dtype) if dtype != "float32" else numbers.astype(dtype))


def holding(low: float, high: float, dtype: str, model_dtype: str) -> Wanted:
    """An input of a model whose stored type covers a range, of at least zero to something."""
    stored = STORED[dtype]
    low, high = min(low, 0.0), max(high, 0.0)
    scale = float(np.float32((high - low) / (stored.high - stored.low)))
    return Wanted("x", (1, 8, 6, 3), model_dtype, stored, Quant(scale, round(stored.low - low / scale)))


@pytest.mark.parametrize("source", RANGES)
@pytest.mark.parametrize("taken", RANGES)
@pytest.mark.parametrize("kind", ["float32", "uint8"])
def test_the_proposed_table_makes_the_data_fill_the_inputs_range(source: str, taken: str, kind: str) -> None:
    if kind == "uint8" and not 0 <= RANGES[source][0] <= RANGES[source][1] <= 255:
        return
    raw = spread(*RANGES[source], kind)
    for stored in STORED:
        for dtype in ("float32", stored):
            wanted = holding(*RANGES[taken], stored, dtype)
            text = table_for(Given(raw, ""), Preprocess(), wanted)
            checked(raw, wanted, text)
            how = parse_preprocess(tomllib.loads(text)["preprocess"], "model.toml")
            fed = [how.apply(x, wanted.shape, dtype) for x in raw]
            numbers = finite([wanted.real(x) for x in fed] if wanted.is_integer else fed)
            assert wanted.reals is not None
            assert 0.49 < np.abs(numbers).max() / np.abs(wanted.reals).max() < 2.01, text


@pytest.mark.parametrize(
    ("source", "wanted", "keys"),
    [
        ((0, 255), UNIT, {"divide": 255}),
        ((0, 255), BYTE, {}),
        ((0, 1), UNIT, {}),
        ((0, 1), BYTE, {"dequantize": {"scale": 255}}),
        ((0, 1), RESNET8, {"dequantize": {"scale": 255}, "quantize": {"scale": 1.0, "zero_point": -128}}),
        ((-1, 1), RESNET8, {"dequantize": {"scale": 127.5, "zero_point": -1}, "quantize": RESNET8.quant}),
        ((-1, 1), UNIT, {"dequantize": {"scale": 0.5, "zero_point": -1}}),
        ((0, 1), holding(-1, 1, "uint8", "float32"), {}),
        ((0, 255), holding(-128, 127, "int8", "float32"), {"mean": 128}),
        (
            (0, 1),
            holding(-2.12, 2.64, "int8", "float32"),
            {"mean": [0.485, 0.456, 0.406], "std": [0.229, 0.224, 0.225]},
        ),
        ((0, 50), holding(0, 70, "int8", "float32"), {}),
        ((0, 50), holding(0, 7, "int8", "float32"), {"dequantize": {"scale": pytest.approx(0.14)}}),
    ],
)
def test_real_numbers_get_the_scale_that_the_input_lacks(
    source: tuple[float, float], wanted: Wanted, keys: dict[str, object]
) -> None:
    how = Preprocess(axes="NHWC", model_axes="NHWC")
    table = tomllib.loads(table_for(Given(spread(*source), ""), how, wanted))["preprocess"]
    if isinstance(keys.get("quantize"), Quant):
        keys = keys | {"quantize": table["quantize"]}
    assert table == {"layout": "NHWC->NHWC"} | keys


def test_a_range_that_two_conventions_make_is_told_with_both() -> None:
    text = table_for(Given([HWC], ""), Preprocess(), holding(-1, 1, "int8", "float32"))
    assert "# if the model takes -1 .. 1: divide = 127.5, mean = 1\ndivide = 255" in text


def test_integers_that_stand_for_next_to_nothing_are_refused() -> None:
    unit = spread(0, 1)
    wrong = "[preprocess]\nquantize = { scale = 1.0, zero_point = -128 }"
    error = refusal(unit, RESNET8, wrong)
    assert "a sliver of what input 'x' holds, 0 .. 255" in error.found
    checked(unit, RESNET8, error.hint.partition("\n")[2])
    checked([x.astype(np.int8) for x in spread(-128, 127)], RESNET8)
    assert "far beyond" not in error.found


def test_numbers_that_quantize_would_saturate_are_refused() -> None:
    pixels, wanted = spread(0, 255, "uint8"), holding(0, 1, "int8", "int8")
    assert wanted.quant is not None
    only = f"[preprocess]\nquantize = {{ scale = {wanted.quant.scale}, zero_point = -128 }}"
    error = refusal(pixels, wanted, only)
    assert "of them far beyond what input 'x' holds, 0 .. 1" in error.found
    checked(pixels, wanted, error.hint.partition("\n")[2])


def test_words_of_16_bits_without_a_sign_are_quantized_with_the_models_zero_point() -> None:
    wanted = Wanted("x", (1, 8, 6, 3), "uint16", DType.S16, Quant(float(np.float32(1 / 65535)), -32768))
    table = table_for(Given(spread(0, 255, "uint8"), ""), Preprocess(), wanted)
    how = parse_preprocess(tomllib.loads(table)["preprocess"], "model.toml")
    assert how.quantize[1] == 0
    assert {int(how.apply(x, wanted.shape, "uint16").max()) for x in (np.full((8, 6, 3), 255, np.uint8),)} == {65535}


def test_integers_in_another_order_of_axes_stay_what_they_are() -> None:
    wanted = Wanted("x", (1, 3, 8, 6), "int8", DType.S8, Quant(0.25, 5))
    codes = [x.astype(np.int8) for x in spread(-128, 127)]
    error = refusal(codes, wanted)
    assert error.hint.partition("\n")[2].split() == ["[preprocess]", "layout", "=", '"NHWC->NCHW"']
    checked(codes, wanted, error.hint.partition("\n")[2])


def test_wide_integers_that_only_count_are_not_judged() -> None:
    tokens = Wanted("x", (1, 8, 6, 3), "int32", DType.S32, Quant(1.0, 0))
    checked([x.astype(np.int32) for x in spread(0, 9)], tokens)


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
