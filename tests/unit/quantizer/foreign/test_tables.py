"""Tables of ranges of other tools and our own: what is read, what is refused, and that what is written reads back."""

from __future__ import annotations

import math
import tomllib
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from codegen.errors import CompileError
from codegen.ir.real import Stored
from codegen.quantizer.config import QuantConfig, parse_config
from codegen.quantizer.foreign.load import load_config
from codegen.quantizer.foreign.ours import quoted, written_ranges
from codegen.quantizer.foreign.ranged import Ranged
from codegen.quantizer.foreign.tpu_mlir import parse_table, written_table
from codegen.quantizer.ranges import range_of
from codegen.quantizer.ranges.storing import stored_for
from codegen.quantizer.statistics import Statistics

TABLE = """\
# generated time: 2022-08-11 10:00:59.743675
# histogram number: 2048
# sample number: 100
# tune number: 5
###
# op_name    threshold      min      max
images 1.0000080 0.0000000 1.0000080
122_Conv 56.4281803 -102.5830231 97.6811752
124_Mul 38.1586478 -0.2784646 97.6811752
never 0.0000000 0.0000000 0.0000000
"""
QAT = """\
# work_mode:QAT_all_int8 //generated, work_mode choice:[QAT_all_int8, QAT_mix_prec]
# op_name    threshold   min      max
data 4.7558303 -2.1247120 2.6311185
472_Relu_weight 3 0.0015318 0.00049777 1.1920928955078125e-07 3 0 0 0
472_Relu 4.0415673 -0.0000000 4.0415673
#int4_op
472_Relu
"""


def problems(text: str) -> list[CompileError]:
    with pytest.raises(CompileError) as error:
        parse_table(text, "t")
    return list(error.value.problems())


def stored_of(config: QuantConfig, name: str) -> Stored:
    spec = config.spec("activation", tensor=name)
    assert spec.method == "fixed"
    return stored_for(*range_of(Statistics(), spec), spec)


def test_thresholds_are_taken_around_zero_and_ranges_where_a_configuration_says_so() -> None:
    table = parse_table(TABLE, "t")
    assert float(stored_of(table, "122_Conv").scale) == np.float32(56.4281803 / 128)
    apart = parse_config({"quantize": {"activation": {"symmetric": False}}}, "q.toml").over(table)
    stored = stored_of(apart, "122_Conv")
    assert float(stored.scale) == np.float32((102.5830231 + 97.6811752) / 255)
    assert int(stored.zero_point) == round(-128 + 102.5830231 / float(stored.scale))
    assert table.spec("activation", tensor="never").method == "minmax"
    assert any("never" in note for note in table.notes)


def test_a_table_of_training_says_what_is_not_taken() -> None:
    config = parse_table(QAT, "t")
    assert float(stored_of(config, "data").scale) == np.float32(4.7558303 / 128)
    assert config.spec("weights", layer="472_Relu").bits == 4
    assert config.spec("activation", layer="472_Relu").bits == 8
    assert any("4 bits" in note for note in config.notes)


def test_scales_of_weights_are_taken_where_they_have_no_zero_points() -> None:
    config = parse_table(QAT, "t")
    assert config.spec("weights", layer="472_Relu").scales == (0.0015318, 0.00049777, 1.1920928955078125e-07)
    assert not config.notes or not any("scales of weights" in note for note in config.notes)
    shifted = parse_table(QAT.replace("3 0 0 0", "3 0 5 0"), "t")
    assert shifted.spec("weights", layer="472_Relu").scales == ()
    assert any("scales of weights" in note for note in shifted.notes)


def test_a_quantize_table_keeps_layers_float() -> None:
    config = parse_table("# op_name   quantize_mode\na F16\nb INT8\nc INT4\nd UINT8\ne F32\n", "t")
    kept = [config.spec("activation", layer=name).keep_float for name in "abcde"]
    assert kept == [True, False, False, False, True]
    assert config.spec("weights", layer="a").keep_float
    assert config.spec("weights", layer="c").bits == 4
    assert (config.spec("activation", layer="d").signed, config.spec("weights", layer="d").signed) == (False, True)
    assert any("float32" in note for note in config.notes)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("a 1 2", "3 fields"),
        ("a x 0 1", "finite"),
        ("a nan 0 1", "finite"),
        ("a 1 -inf 1", "finite"),
        ("a 1 0 1e39", "finite"),
        ("a 1_0 0 1", "finite"),
        ("a 1 2 1", "above the greatest"),
        ("a -1 0 1", "below zero"),
        ("a 1 0 1\na 1 0 1", "stands twice"),
        ("a INT9", "INT9"),
        ("a 1 0 1\nb INT8", "in one file"),
        ("lonely\na 1 0 1", "alone"),
        ("# work_mode:QAT_none\na 1 0 1", "work_mode"),
        ("a 1 0 1\nw 2 0.1 0.1 2 0", "row of weights"),
        ("a 1 0 1\nw 2 0.1 0.1 3 0 0", "row of weights"),
        ("a 1 0 1\nw 1 -0.1 1 0 0", "row of weights"),
        ("a 1 0 1\nw 2 0.1 0 2 0 0", "row of weights"),
        ("a 1 0 1\nw 2 0.1 0.1 2 0.5 0", "row of weights"),
        ("a 1 0 1\nw x 0.1 0.1 2 0 0", "row of weights"),
    ],
)
def test_a_wrong_line_is_refused_with_its_place(text: str, words: str) -> None:
    (problem,) = problems(text)
    assert problem.code == "LAM-QUANT-008"
    assert words in problem.found
    assert problem.where == "t" if "one file" in words else problem.where.startswith("t, line")


def test_all_wrong_lines_are_told() -> None:
    assert [p.where for p in problems("a 1 2\nb 1 0 1\nc 1 5 4\n")] == ["t, line 1", "t, line 3"]


NAMES = st.text(st.characters(exclude_categories=("Cs",)), min_size=1, max_size=12).filter(lambda t: t.strip())
STORED = st.builds(
    lambda scale, bits, signed, zero: _stored(scale, bits, signed, zero),
    st.floats(2.0**-20, 1e4, width=32),
    st.sampled_from([2, 4, 7, 8, 16]),
    st.booleans(),
    st.floats(0, 1),
)


def _stored(scale: float, bits: int, signed: bool, zero: float) -> Stored:
    dtype = np.dtype(f"{'i' if signed else 'u'}{1 if bits <= 8 else 2}")
    held = Stored(dtype, np.array(scale, np.float32), np.array(0), bits=0 if bits in (8, 16) else bits)
    return Stored(dtype, held.scale, np.array(round(held.low + zero * (held.high - held.low))), bits=held.bits)


@settings(max_examples=200)
@given(st.dictionaries(NAMES, STORED, min_size=1, max_size=4))
def test_our_table_reads_back_to_the_same_integers(tensors: dict[str, Stored]) -> None:
    text = written_ranges(Ranged.of(name, stored) for name, stored in tensors.items())
    config = parse_config(tomllib.loads(text), "t.toml")
    for name, stored in tensors.items():
        found = stored_of(config, name)
        assert (found.dtype, found.bits, int(found.zero_point)) == (stored.dtype, stored.bits, int(stored.zero_point))
        assert float(found.scale) == float(stored.scale)


@given(st.text(st.characters(exclude_categories=("Cs",)), max_size=20))
def test_a_name_is_quoted_as_toml_reads_it(text: str) -> None:
    assert tomllib.loads(f"x = {quoted(text)}") == {"x": text}


PLAIN = st.text(st.characters(exclude_categories=("Cs", "Z", "C")), min_size=1, max_size=12).filter(
    lambda t: not t.startswith("#") and len(t.split()) == 1
)
SIZES = st.floats(1e-4, 1e4)


@settings(max_examples=200)
@given(st.dictionaries(PLAIN, st.tuples(SIZES, SIZES, SIZES), min_size=1, max_size=4))
def test_a_table_in_text_reads_back_to_the_same_numbers(ranges: dict[str, tuple[float, float, float]]) -> None:
    written = [Ranged(name, -low, high, threshold) for name, (low, high, threshold) in ranges.items()]
    config = parse_table(written_table(written, 2048, 100), "t")
    apart = parse_config({"quantize": {"activation": {"symmetric": False}}}, "q.toml").over(config)
    for ranged in written:
        spec = apart.spec("activation", tensor=ranged.name)
        assert spec.low == pytest.approx(ranged.low, abs=1e-7)
        assert spec.high == pytest.approx(ranged.high, abs=1e-7)
        assert ranged.threshold is not None
        spec = config.spec("activation", tensor=ranged.name)
        assert spec.high == pytest.approx(ranged.threshold * 127 / 128, abs=1e-7)


@pytest.mark.parametrize(
    ("name", "text", "code"),
    [
        ("t.txt", "", "LAM-QUANT-009"),
        ("t.txt", "one two three\n", "LAM-QUANT-009"),
        ("t.json", "{", "LAM-QUANT-001"),
        ("t.json", "[1]", "LAM-QUANT-001"),
        ("t.json", '{"a": NaN}', "LAM-QUANT-001"),
        ("t.json", '{"a": 1, "a": 2}', "LAM-QUANT-001"),
        ("t.json", '{"a": ' + "[" * 100_000, "LAM-QUANT-001"),
        ("t.json", '{"a": 1' + "0" * 5000 + "}", "LAM-QUANT-001"),
        ("t.json", '{"a": 1}', "LAM-QUANT-009"),
        ("t.json", "{}", "LAM-QUANT-009"),
    ],
)
def test_what_is_no_format_is_refused(tmp_path: Path, name: str, text: str, code: str) -> None:
    (tmp_path / name).write_text(text)
    with pytest.raises(CompileError) as error:
        load_config(tmp_path / name)
    assert error.value.code == code


def test_bytes_and_sizes_beyond_reason_are_refused(tmp_path: Path) -> None:
    (tmp_path / "bytes.txt").write_bytes(b"\xff\xfe\x00")
    (tmp_path / "large.txt").write_bytes(b"#" * ((16 << 20) + 1))
    found = []
    for name in ("bytes.txt", "large.txt", "none.txt"):
        with pytest.raises(CompileError) as error:
            load_config(tmp_path / name)
        found.append(error.value.code)
    assert found == ["LAM-QUANT-001", "LAM-API-021", "LAM-QUANT-001"]


def test_a_range_of_one_sign_takes_in_zero() -> None:
    level = Ranged("y", 0.5, 2.0).level("t")
    assert level.values["range"] == (0.0, 2.0)
    assert math.isinf(Ranged("y", 0, math.inf).high)
    assert Ranged("y", 0, math.inf).problem
