"""compare: what counts as equal, what the measures are, and what cannot be compared."""

from __future__ import annotations

import contextlib
from pathlib import Path

import numpy as np
import pytest

from codegen.errors import CompileError, DataFileBad
from codegen.preprocess import read_npz, write_npz
from codegen.verbs.compare import Comparison, TensorComparison, compare

A = np.array([[3.0, 4.0]], np.float32)


@pytest.fixture
def files(tmp_path: Path) -> tuple[Path, Path]:
    return tmp_path / "a.npz", tmp_path / "b.npz"


def compared(files: tuple[Path, Path], a: dict[str, np.ndarray], b: dict[str, np.ndarray], **how: object) -> Comparison:
    for path, arrays in zip(files, (a, b), strict=True):
        write_npz(path, arrays)
    return compare(*files, **how)  # type: ignore[arg-type]


def one(files: tuple[Path, Path], a: np.ndarray, b: np.ndarray, **how: object) -> TensorComparison:
    return compared(files, {"t": a}, {"t": b}, **how).tensors[0]


def test_equal_files_are_equal(files: tuple[Path, Path]) -> None:
    result = compared(files, {"t": A, "u": A}, {"u": A, "t": A})
    assert result.equal
    assert result.passed
    assert [t.name for t in result.tensors] == ["t", "u"]
    assert result.tensors[0].sqnr_db is None


def test_one_bit_is_a_difference(files: tuple[Path, Path]) -> None:
    t = one(files, A, np.nextafter(A, np.float32(9)))
    assert not t.equal
    assert not t.within
    assert t.differing == 2


def test_measures_are_those_of_the_formulas(files: tuple[Path, Path]) -> None:
    b = np.array([[4.0, 3.0]], np.float32)
    t = one(files, A, b, tolerance=(0.9, 0.5))
    assert t.max_abs == 1.0
    assert t.cosine == pytest.approx(24 / 25)
    assert t.euclidean == pytest.approx(1 - np.sqrt(2) / np.sqrt(24.5))
    assert t.sqnr_db == pytest.approx(10 * np.log10(25 / 2))
    assert t.within


@pytest.mark.parametrize("tolerance", [(0.97, 0.5), (0.9, 0.8)])
def test_either_similarity_below_its_limit_fails(files: tuple[Path, Path], tolerance: tuple[float, float]) -> None:
    assert not one(files, A, np.array([[4.0, 3.0]], np.float32), tolerance=tolerance).within


def test_a_missing_tensor_fails_unless_only_common_ones_are_asked_for(files: tuple[Path, Path]) -> None:
    a, b = {"t": A, "only_a": A}, {"t": A, "only_b": A}
    result = compared(files, a, b, tolerance=(0.0, 0.0))
    assert not result.passed
    assert [t.problem for t in result.tensors] == ["", "missing in B", "missing in A"]
    assert compared(files, a, b, common=True).equal


def test_nothing_in_common_does_not_pass(files: tuple[Path, Path]) -> None:
    assert not compared(files, {"a": A}, {"b": A}, common=True).passed


def test_unequal_shapes_are_named(files: tuple[Path, Path]) -> None:
    t = one(files, A, A.T, tolerance=(0.0, 0.0))
    assert t.problem == "shapes differ: [1, 2] and [2, 1]"
    assert not t.within


def test_types_matter_when_equality_is_asked_for(files: tuple[Path, Path]) -> None:
    assert one(files, A, A.astype(np.float64)).problem == "types differ: float32 and float64"
    assert one(files, A, A.astype(np.int8), tolerance=(1.0, 1.0)).within


def test_nan_equals_nan_and_nothing_else(files: tuple[Path, Path]) -> None:
    nan = np.array([np.nan, 1.0], np.float32)
    assert one(files, nan, nan).equal
    assert not one(files, nan, np.ones(2, np.float32), tolerance=(0.0, 0.0)).within


def test_zero_tensors_have_measures(files: tuple[Path, Path]) -> None:
    zero = np.zeros(3, np.int8)
    assert one(files, zero, zero).cosine == 1.0
    t = one(files, zero, np.ones(3, np.int8), tolerance=(0.5, 0.5))
    assert t.cosine == 0.0
    assert not t.within


def test_extreme_integers_do_not_wrap(files: tuple[Path, Path]) -> None:
    assert one(files, np.array([-128], np.int8), np.array([127], np.int8)).max_abs == 255.0


def test_text_is_not_compared(files: tuple[Path, Path]) -> None:
    assert one(files, np.array(["x"]), np.array(["x"])).problem.startswith("not numbers")


@pytest.mark.parametrize("tolerance", [(0.9,), (0.9, 0.9, 0.9), (1.5, 0.9), (float("nan"), 0.9)])
def test_a_bad_tolerance_is_refused(files: tuple[Path, Path], tolerance: tuple[float, ...]) -> None:
    with pytest.raises(CompileError) as error:
        compared(files, {"t": A}, {"t": A}, tolerance=tolerance)
    assert error.value.code == "LAM-API-009"


def test_names_of_any_kind_survive_a_file(tmp_path: Path) -> None:
    arrays = {"file": A, "a/b:0": A.astype(np.int8), "ünï": np.int64(7) * np.ones(()), "empty": np.zeros((0, 3))}
    write_npz(tmp_path / "x.npz", arrays)
    found = read_npz(tmp_path / "x.npz")
    assert list(found) == list(arrays)
    assert all(np.array_equal(found[k], v) and found[k].dtype == v.dtype for k, v in arrays.items())


def test_names_that_no_archive_holds_or_that_leave_its_folder_are_changed_and_none_is_lost(tmp_path: Path) -> None:
    names = ["a\0b", "a\0c", "a b", "x" * 70000, "x" * 70001, "\ud800", "../../x", "a/../..", "..", "", "\0"]
    write_npz(tmp_path / "x.npz", {name: np.full(1, i) for i, name in enumerate(names)})
    found = read_npz(tmp_path / "x.npz")
    assert [int(a[0]) for a in found.values()] == list(range(len(names)))
    assert not any(".." in name.split("/") for name in found)


def test_the_same_arrays_give_the_same_bytes(files: tuple[Path, Path]) -> None:
    for path in files:
        write_npz(path, {"t": A})
    assert files[0].read_bytes() == files[1].read_bytes()


def test_a_file_of_objects_is_refused(tmp_path: Path) -> None:
    np.savez(tmp_path / "x.npz", x=np.array([{"a": 1}], object))
    with pytest.raises(CompileError) as error:
        read_npz(tmp_path / "x.npz")
    assert error.value.code == "LAM-API-003"


def test_every_cut_of_a_file_is_refused_with_its_id(tmp_path: Path) -> None:
    write_npz(tmp_path / "x.npz", {"x": np.arange(50)})
    whole = (tmp_path / "x.npz").read_bytes()
    for size in range(0, len(whole), 7):
        (tmp_path / "cut.npz").write_bytes(whole[:size])
        with pytest.raises(CompileError) as error:
            read_npz(tmp_path / "cut.npz")
        assert error.value.code == "LAM-API-003"


@pytest.mark.parametrize("mask", [0xFF, 0x01, 0x80])
def test_a_damaged_byte_gives_an_id_or_the_arrays(tmp_path: Path, mask: int) -> None:
    write_npz(tmp_path / "x.npz", {"x": np.arange(50)})
    whole = bytearray((tmp_path / "x.npz").read_bytes())
    for place in range(len(whole)):
        damaged = bytearray(whole)
        damaged[place] ^= mask
        (tmp_path / "bad.npz").write_bytes(damaged)
        with contextlib.suppress(DataFileBad):
            read_npz(tmp_path / "bad.npz")


@pytest.mark.parametrize("content", [b"hello\n", b"", b"\x80\x04K\x01.", b"PKG 1\n"])
def test_a_file_of_something_else_is_not_said_to_be_worth_unpickling(content: bytes, tmp_path: Path) -> None:
    path = tmp_path / "x.npz"
    path.write_bytes(content)
    with pytest.raises(DataFileBad, match=r"no readable arrays: it is neither an \.npz nor an \.npy file"):
        read_npz(path)
