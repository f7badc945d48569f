"""Folders, lists and sounds as data: what is read, in which order, and what is refused."""

from __future__ import annotations

import io
import os
import wave
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from codegen import api
from codegen.errors import CompileError
from codegen.preprocess import decode_jpeg, jpeg_slices, read_data
from tests.support.shared import ROOT

DIGITS = ROOT / "examples" / "digits"


def png(pixels: np.ndarray) -> bytes:
    stream = io.BytesIO()
    Image.fromarray(pixels).save(stream, "png")
    return stream.getvalue()


def sound(path: Path, samples: np.ndarray, width: int = 2) -> None:
    with wave.open(str(path), "wb") as file:
        file.setnchannels(1 if samples.ndim == 1 else samples.shape[1])
        file.setsampwidth(width)
        file.setframerate(16000)
        file.writeframes(samples.tobytes())


@pytest.fixture
def pictures(tmp_path: Path) -> tuple[Path, list[np.ndarray]]:
    """Two classes of pictures, and the pictures in their order."""
    rng = np.random.default_rng(1)
    made = [rng.integers(0, 256, (5, 6, 3), np.uint8) for _ in range(5)]
    for picture, name in zip(made, ("b/1.png", "b/2.PNG", "c/0.png", "c/3.png", "c/4.png"), strict=True):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_bytes(png(picture))
    (tmp_path / "c" / "notes.txt").write_text("not a picture")
    (tmp_path / ".hidden").mkdir()
    return tmp_path, made


def test_a_folder_of_folders_has_a_class_for_each(pictures: tuple[Path, list[np.ndarray]]) -> None:
    folder, made = pictures
    data, where = read_data(folder)
    assert (data.pictures, where) == (True, str(folder))
    assert data.arrays["y"].tolist() == [0, 0, 1, 1, 1]
    found = [decode_jpeg(file, i) for i, file in enumerate(jpeg_slices(data.arrays))]
    assert all(np.array_equal(a, b) for a, b in zip(found, made, strict=True))


def test_a_folder_of_files_has_no_labels(pictures: tuple[Path, list[np.ndarray]]) -> None:
    data, _ = read_data(pictures[0] / "c")
    assert "y" not in data.arrays
    assert len(jpeg_slices(data.arrays)) == 3


def test_a_list_names_files_and_labels(pictures: tuple[Path, list[np.ndarray]]) -> None:
    folder, made = pictures
    (folder / "two words.png").write_bytes(png(made[0]))
    (folder / "list.txt").write_text("# pictures\nc/0.png 7\n\ntwo words.png 2\nb/1.png -1\n")
    data, _ = read_data(folder / "list.txt")
    assert data.arrays["y"].tolist() == [7, 2, -1]
    found = [decode_jpeg(file, i) for i, file in enumerate(jpeg_slices(data.arrays))]
    assert all(np.array_equal(a, b) for a, b in zip(found, (made[2], made[0], made[0]), strict=True))
    (folder / "plain.txt").write_text("c/0.png\ntwo words.png\n")
    assert "y" not in read_data(folder / "plain.txt")[0].arrays


def test_sounds_are_their_samples(tmp_path: Path) -> None:
    rng = np.random.default_rng(2)
    made = rng.integers(-(1 << 15), 1 << 15, (3, 40)).astype("<i2")
    for number, samples in enumerate(made):
        sound(tmp_path / f"{number}.wav", samples)
    data, _ = read_data(tmp_path)
    assert not data.pictures
    assert np.array_equal(data.arrays["x"], made)
    stereo = made[0].reshape(20, 2)
    sound(tmp_path / "stereo.wav", stereo)
    assert np.array_equal(read_data(tmp_path / "stereo.wav")[0].arrays["x"][0], stereo)


def test_digits_as_pictures_score_as_the_arrays_do(tmp_path: Path) -> None:
    with np.load(DIGITS / "digits_test.npz") as file:
        x, y = file["x"][:60], file["y"][:60]
    for number, (image, label) in enumerate(zip(x, y, strict=True)):
        folder = tmp_path / "digits" / str(label)
        folder.mkdir(parents=True, exist_ok=True)
        gray = np.rint(image.reshape(8, 8) / 16 * 255).astype(np.uint8)
        (folder / f"{number:03}.png").write_bytes(png(gray))
    (tmp_path / "config.toml").write_text('[preprocess]\ncolor = "gray"\nlayout = "NHWC"\ndivide = 15.9375\n')
    found = api.evaluate(DIGITS / "digits_qdq.onnx", tmp_path / "digits", config=tmp_path / "config.toml", metric="f1")
    wanted = api.evaluate(DIGITS / "digits_qdq.onnx", {"x": x, "y": y}, metric="f1")
    assert found.count == wanted.count == 60
    assert found.value == pytest.approx(wanted.value, abs=0.04)
    assert found.value > 0.9


FOLDERS = {
    "empty folder": (),
    "files beside folders": ("class/b.png", "a.png"),
    "pictures and sounds": ("a.png", "b.wav"),
    "lengths": ("a.wav", "longer.wav"),
}
FILES = {
    "no.wav": "RIFF....WAVE",
    "missing file.txt": "nothing.png 1\n",
    "half labels.txt": "a.png 1\nb.png\n",
    "empty.txt": "# nothing\n",
    "pipe.txt": "p.png\n",
}


def refused(folder: Path, case: str) -> Path:
    """Something that is no data."""
    path = folder / case
    for name in FOLDERS.get(case, ()):
        (path / name).parent.mkdir(parents=True, exist_ok=True)
        (path / name).write_bytes(b"")
        if name.endswith(".wav"):
            sound(path / name, np.zeros(4 if name == "longer.wav" else 3, np.int16))
    if case in FOLDERS:
        path.mkdir(exist_ok=True)
    if case in FILES:
        path.write_text(FILES[case])
    os.mkfifo(folder / "p.png")
    sound(folder / "bytes.wav", np.zeros(3, np.uint8), 1)
    return path


@pytest.mark.parametrize(
    ("case", "code"),
    [
        ("empty folder", "LAM-API-003"),
        ("files beside folders", "LAM-API-003"),
        ("pictures and sounds", "LAM-API-003"),
        ("lengths", "LAM-API-003"),
        ("bytes.wav", "LAM-API-003"),
        ("no.wav", "LAM-API-003"),
        ("missing file.txt", "LAM-API-003"),
        ("half labels.txt", "LAM-API-003"),
        ("empty.txt", "LAM-API-003"),
        ("pipe.txt", "LAM-API-020"),
        ("nothing at all", "LAM-API-003"),
    ],
)
def test_what_is_no_data_is_refused(tmp_path: Path, case: str, code: str) -> None:
    with pytest.raises(CompileError, match=f"^{code} "):
        read_data(refused(tmp_path, case))


def test_samples_that_come_one_by_one_are_judged_as_their_file_is() -> None:
    with np.load(DIGITS / "digits_test.npz") as file:
        x, y = file["x"][:20], file["y"][:20]
    model = DIGITS / "digits_qdq.onnx"
    one_by_one = ({"x": a, "y": int(b)} for a, b in zip(x, y, strict=True))
    found = api.evaluate(model, one_by_one, engine="golden,golden")
    whole = api.evaluate(model, {"x": x, "y": y}, engine="golden")
    assert [(e.right, e.count, e.outputs_sha256) for e in found.engines] == 2 * [
        (e.right, e.count, e.outputs_sha256) for e in whole.engines
    ]


@pytest.mark.parametrize(
    ("given", "said"),
    [
        (iter(()), "no samples"),
        (3, "int: neither a file, nor arrays by name, nor samples"),
        ([np.zeros(3)], "a sample is of type ndarray"),
        ([{"x": np.zeros(3), "y": 1}, {"x": np.zeros(3)}], "a sample has no array 'y'"),
        ([{"x": np.zeros(3)}, {"x": np.zeros(4)}], "no array can be made of 'x'"),
    ],
)
def test_what_is_no_samples_is_refused(given: object, said: str) -> None:
    with pytest.raises(CompileError, match=r"^LAM-API-005 ") as refused:
        api.evaluate(DIGITS / "digits_qdq.onnx", given)  # type: ignore[arg-type]
    assert said in str(refused.value)
