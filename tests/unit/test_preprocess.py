"""The [preprocess] table: what each key does to a sample, and what is refused."""

from __future__ import annotations

import io
import sys
from pathlib import Path

import numpy as np
import pytest

from codegen.errors import CompileError
from codegen.preprocess import Preprocess, decode_jpeg, jpeg_slices, load_preprocess, need, parse_preprocess
from codegen.preprocess.config import KEYS

ROOT = Path(__file__).resolve().parents[2]
RNG = np.random.default_rng(5)
PIXELS = RNG.integers(0, 256, (6, 8, 3), dtype=np.uint8)


def parsed(**table: object) -> Preprocess:
    return parse_preprocess(table, "model.toml")


def code_of(error: pytest.ExceptionInfo[CompileError]) -> str:
    return error.value.code


def test_without_a_table_a_sample_stays_as_it_is() -> None:
    x = RNG.standard_normal((3, 6, 8)).astype(np.float32)
    assert np.array_equal(Preprocess().apply(x, (1, 3, 6, 8), "float32"), x[None])


def test_axes_of_size_one_need_no_layout() -> None:
    x = np.arange(12, dtype=np.float32).reshape(4, 3, 1)
    y = Preprocess().apply(x, (1, 1, 4, 3), "float32")
    assert y.shape == (1, 1, 4, 3)
    assert np.array_equal(y.ravel(), x.ravel())


def test_equal_sizes_in_another_order_are_never_reshaped_silently() -> None:
    with pytest.raises(CompileError) as error:
        Preprocess().apply(PIXELS, (1, 3, 6, 8), "float32")
    assert code_of(error) == "LAM-PREPROCESS-004"
    assert "layout" in error.value.text()


@pytest.mark.parametrize(
    ("sample", "model", "hint"),
    [
        ((8, 3, 24, 24), (1, 3, 24, 24), "these are 8 samples at once: give one at a time"),
        ((6,), (4, 6), "the model takes 4 at once"),
        ((24, 24, 3), (1, 3, 24, 24), "layout"),
    ],
)
def test_what_does_not_fit_is_told_what_would(sample: tuple[int, ...], model: tuple[int, ...], hint: str) -> None:
    with pytest.raises(CompileError) as refused:
        Preprocess().apply(np.zeros(sample, np.float32), model, "float32")
    assert hint in refused.value.text()


@pytest.mark.parametrize("layout", ["NHWC->NCHW", "nhwc -> nchw", "NHWC"])
def test_layout_moves_the_channels(layout: str) -> None:
    y = parsed(layout=layout).apply(PIXELS, (1, 3, 6, 8), "float32")
    assert np.array_equal(y[0], PIXELS.transpose(2, 0, 1).astype(np.float32))


def test_layout_adds_an_axis_that_the_data_lacks() -> None:
    y = parsed(layout="NHW->NCHW").apply(PIXELS[:, :, 0], (1, 1, 6, 8), "float32")
    assert np.array_equal(y[0, 0], PIXELS[:, :, 0])


def test_layout_drops_an_axis_of_size_one_only() -> None:
    how = parsed(layout="NHWC->NHW")
    assert how.apply(PIXELS[:, :, :1], (1, 6, 8), "float32").shape == (1, 6, 8)
    with pytest.raises(CompileError) as error:
        how.apply(PIXELS, (1, 6, 8), "float32")
    assert code_of(error) == "LAM-PREPROCESS-004"


def test_any_letters_name_axes() -> None:
    x = RNG.standard_normal((5, 7)).astype(np.float32)
    assert np.array_equal(parsed(layout="NTF->NFT").apply(x, (1, 7, 5), "float32")[0], x.T)


def test_dequantize_is_scale_times_difference_in_float32() -> None:
    q = np.array([-128, 83, 127], np.int8)
    how = parsed(dequantize={"scale": 0.5847029089927673, "zero_point": 83})
    expected = (q.astype(np.float32) - np.float32(83)) * np.float32(0.5847029089927673)
    assert np.array_equal(how.apply(q, (1, 3), "float32")[0], expected)


def test_divide_comes_before_mean_and_std() -> None:
    how = parsed(layout="NHWC->NCHW", divide=255, mean=[0.5, 0.25, 0.125], std=[1.0, 2.0, 4.0])
    y = how.apply(PIXELS, (1, 3, 6, 8), "float32")
    for channel, (mean, std) in enumerate(((0.5, 1.0), (0.25, 2.0), (0.125, 4.0))):
        x = PIXELS[:, :, channel].astype(np.float32) / np.float32(255)
        assert np.array_equal(y[0, channel], (x - np.float32(mean)) / np.float32(std))


def test_one_mean_needs_no_layout_but_several_do() -> None:
    x = np.ones((1, 4), np.float32)
    assert np.array_equal(parsed(mean=0.5).apply(x, (1, 4), "float32"), x - np.float32(0.5))
    with pytest.raises(CompileError) as error:
        parsed(mean=[0.5, 0.25]).apply(x, (1, 4), "float32")
    assert code_of(error) == "LAM-PREPROCESS-004"


def test_bgr_swaps_the_channels() -> None:
    y = parsed(layout="NHWC->NCHW", color="bgr").apply(PIXELS, (1, 3, 6, 8), "float32")
    assert np.array_equal(y[0, 0], PIXELS[:, :, 2])


def test_gray_is_the_luma_of_pillow() -> None:
    image = pytest.importorskip("PIL.Image")
    y = parsed(layout="NHWC->NCHW", color="gray").apply(PIXELS, (1, 1, 6, 8), "float32")
    assert np.array_equal(y[0, 0], np.asarray(image.fromarray(PIXELS).convert("L")))


def test_resize_is_height_then_width() -> None:
    pytest.importorskip("PIL.Image")
    how = parsed(layout="NHWC->NCHW", resize=[3, 4])
    assert how.apply(PIXELS, (1, 3, 3, 4), "float32").shape == (1, 3, 3, 4)
    assert parsed(layout="NHW->NCHW", resize=[3, 4]).apply(PIXELS[:, :, 0], (1, 1, 3, 4), "float32").max() <= 255


def test_resize_takes_pictures_of_bytes_only() -> None:
    with pytest.raises(CompileError) as error:
        parsed(layout="NHWC->NCHW", resize=[3, 4]).apply(PIXELS.astype(np.float32), (1, 3, 3, 4), "float32")
    assert code_of(error) == "LAM-PREPROCESS-004"


def test_pictures_are_cut_out_of_the_joined_files() -> None:
    image = pytest.importorskip("PIL.Image")
    files = []
    for shade in (10, 200):
        stream = io.BytesIO()
        image.fromarray(np.full((8, 8, 3), shade, np.uint8)).save(stream, "JPEG")
        files.append(stream.getvalue())
    joined = np.frombuffer(b"".join(files), np.uint8)
    offset = np.cumsum([0, *(len(f) for f in files)])
    found = jpeg_slices({"jpeg": joined, "offset": offset})
    assert found == files
    assert abs(int(decode_jpeg(found[1], 1)[0, 0, 0]) - 200) < 5


@pytest.mark.parametrize("offset", [[0], [0, 9], [5, 2, 4], [-1, 3], [0.0, 1.0]])
def test_offsets_that_leave_the_file_are_refused(offset: list[float]) -> None:
    with pytest.raises(CompileError) as error:
        jpeg_slices({"jpeg": np.zeros(8, np.uint8), "offset": np.array(offset)})
    assert code_of(error) == "LAM-PREPROCESS-005"


def test_a_picture_that_is_none_is_named() -> None:
    pytest.importorskip("PIL.Image")
    with pytest.raises(CompileError) as error:
        decode_jpeg(b"not a picture", 7)
    assert code_of(error) == "LAM-PREPROCESS-005"
    assert "picture 7" in error.value.text()


def test_without_pillow_the_extra_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "PIL", None)
    monkeypatch.setitem(sys.modules, "PIL.Image", None)
    with pytest.raises(CompileError) as error:
        decode_jpeg(b"", 0)
    assert code_of(error) == "LAM-API-002"
    assert "lamina[images]" in error.value.text()


def test_integers_reach_an_integer_input_unchanged_or_not_at_all() -> None:
    assert Preprocess().apply(np.array([3, 255], np.uint8), (1, 2), "int32").dtype == np.int32
    assert Preprocess().apply(np.array([3.0, -4.0]), (1, 2), "int8").tolist() == [[3, -4]]
    for bad in (np.array([3, 255], np.uint8), np.array([0.5, 1.0]), np.array([np.nan, 1.0])):
        with pytest.raises(CompileError) as error:
            Preprocess().apply(bad, (1, 2), "int8")
        assert code_of(error) == "LAM-PREPROCESS-004"
        assert all(
            part in error.value.text() for part in ("--config", "[preprocess]", "quantize", "lamina help preprocess")
        )


def test_pictures_without_a_configuration_are_told_of_one() -> None:
    with pytest.raises(CompileError) as error:
        need({"jpeg": np.zeros(1, np.uint8), "offset": np.zeros(2, np.int64)}, "x", "data.npz")
    assert code_of(error) == "LAM-API-004"
    assert all(part in error.value.text() for part in ("--config", "jpeg = true", "lamina help preprocess"))


def test_text_is_no_sample() -> None:
    with pytest.raises(CompileError) as error:
        Preprocess().apply(np.array(["a", "b"]), (1, 2), "float32")
    assert code_of(error) == "LAM-PREPROCESS-004"


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("layout", 3),
        ("layout", "HWC"),
        ("layout", "NHHC->NCHW"),
        ("layout", "NHWC->CNHW"),
        ("layout", "N WC"),
        ("dequantize", 0.5),
        ("dequantize", {"scale": 0.0}),
        ("dequantize", {"scale": 1.0, "zero_point": 0.5}),
        ("dequantize", {"zero_point": 3}),
        ("dequantize", {"scale": 1.0, "zero": 3}),
        ("divide", 0),
        ("divide", [1.0, 2.0]),
        ("divide", True),
        ("mean", []),
        ("mean", "0.5"),
        ("mean", [0.5, float("nan")]),
        ("std", [1.0, 0.0]),
        ("std", -1),
        ("resize", 32),
        ("resize", [32, 0]),
        ("resize", [32.0, 32]),
        ("resize", [32, 32, 3]),
        ("color", "yuv"),
        ("color", 3),
        ("jpeg", 1),
    ],
)
def test_a_value_that_means_nothing_is_refused_with_its_key(key: str, value: object) -> None:
    with pytest.raises(CompileError) as error:
        parsed(**{key: value})
    assert code_of(error) == "LAM-PREPROCESS-003"
    assert f"preprocess.{key}" in error.value.where


def test_a_misspelt_key_is_guessed() -> None:
    with pytest.raises(CompileError) as error:
        parsed(layuot="NHWC")
    assert code_of(error) == "LAM-PREPROCESS-002"
    assert "did you mean layout?" in error.value.text()


def test_a_misspelt_table_is_refused(tmp_path: Path) -> None:
    config = tmp_path / "model.toml"
    config.write_text("[preproces]\ndivide = 2\n")
    with pytest.raises(CompileError) as error:
        load_preprocess(config)
    assert code_of(error) == "LAM-PREPROCESS-002"


@pytest.mark.parametrize("content", [b"[preprocess\n", b"\xff\xfe", None])
def test_a_file_that_is_no_toml_is_refused(tmp_path: Path, content: bytes | None) -> None:
    config = tmp_path / "model.toml"
    if content is not None:
        config.write_bytes(content)
    with pytest.raises(CompileError) as error:
        load_preprocess(config)
    assert code_of(error) == "LAM-PREPROCESS-001"


@pytest.mark.parametrize("config", sorted((ROOT / "benchmarks" / "configs").glob("*.toml")), ids=lambda p: p.stem)
def test_the_shipped_configurations_are_sound(config: Path) -> None:
    load_preprocess(config)


def test_every_key_is_documented() -> None:
    page = (ROOT / "docs" / "preprocess.md").read_text(encoding="utf-8")
    assert [key for key in KEYS if f"`{key}`" not in page] == []


def test_numbers_that_are_not_finite_never_become_integers() -> None:
    for bad in (np.nan, np.inf, 1e38):
        with pytest.raises(CompileError) as error:
            parsed(quantize={"scale": 1e-30}).apply(np.full((2, 3), bad, np.float32), (2, 3), "int8")
        assert code_of(error) == "LAM-GOLDEN-004"


@pytest.mark.parametrize("key", ["divide", "mean", "std"])
@pytest.mark.parametrize("value", [1e39, float("inf"), float("nan"), 10**40])
def test_numbers_beyond_float32_are_refused(key: str, value: float) -> None:
    with pytest.raises(CompileError) as error:
        parsed(**{key: value})
    assert code_of(error) == "LAM-PREPROCESS-003"


def test_a_layout_of_samples_without_axes_is_held_against_the_data() -> None:
    with pytest.raises(CompileError) as error:
        parsed(layout="N").apply(PIXELS, (6, 8, 3), "uint8")
    assert code_of(error) == "LAM-PREPROCESS-004"
