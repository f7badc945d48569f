"""Metrics: equal to scikit-learn's and to plain loops, and refusals of what is no label."""

from __future__ import annotations

import itertools
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.metrics import f1_score, jaccard_score, roc_auc_score, top_k_accuracy_score

from codegen.errors import CompileError
from codegen.metrics import METRICS, Seen, find_metric, points_lost
from codegen.metrics.metric import Score


def total(name: str, arrays: dict[str, np.ndarray], outputs: np.ndarray, inputs: np.ndarray | None = None) -> Score:
    metric = find_metric(name)
    truths = metric.truths(arrays, "the arrays")
    taken = outputs if inputs is None else inputs
    seen = [Seen({"x": x}, {"y": y}) for x, y in zip(taken, outputs, strict=True)]
    return metric.total([metric.judge(one, truth) for one, truth in zip(seen, truths, strict=True)])


@pytest.mark.parametrize("seed", range(5))
def test_the_share_of_right_classes_is_scikit_learns(seed: int) -> None:
    rng = np.random.default_rng(seed)
    scores, y = rng.normal(size=(60, 9)).astype(np.float32), rng.integers(0, 9, 60)
    for name, k in (("top1", 1), ("top5", 5)):
        found = total(name, {"y": y}, scores)
        assert found.value == pytest.approx(top_k_accuracy_score(y, scores, k=k, labels=range(9)))
        assert found.right == round(found.value * 60)


@pytest.mark.parametrize("classes", [2, 5])
def test_f1_is_scikit_learns(classes: int) -> None:
    rng = np.random.default_rng(classes)
    scores, y = rng.normal(size=(80, classes)), rng.integers(0, classes, 80)
    wanted = f1_score(y, scores.argmax(axis=1), average="binary" if classes == 2 else "macro")
    assert total("f1", {"y": y}, scores).value == pytest.approx(wanted)


def test_f1_of_a_single_number_takes_a_half_as_the_border() -> None:
    y, scores = np.array([1, 1, 0, 0]), np.array([[0.9], [0.2], [0.8], [0.1]])
    assert total("f1", {"y": y}, scores).value == pytest.approx(f1_score(y, scores[:, 0] > 0.5))


@pytest.mark.parametrize("seed", range(5))
def test_the_area_is_scikit_learns_with_ties_and_by_groups(seed: int) -> None:
    rng = np.random.default_rng(seed)
    scores, y = rng.integers(0, 7, (50, 1)).astype(np.float64), rng.integers(0, 2, 50)
    assert total("auc", {"y": y}, scores).value == pytest.approx(roc_auc_score(y, scores[:, 0]))
    group = np.arange(50) // 5
    label = (group % 2).astype(np.int64)
    means = [scores[group == g].mean() for g in range(10)]
    assert total("auc", {"y": label, "group": group}, scores).value == pytest.approx(
        roc_auc_score(np.arange(10) % 2, means)
    )


def test_an_autoencoder_is_judged_by_its_error() -> None:
    rng = np.random.default_rng(3)
    x, y = rng.normal(size=(30, 6)), np.arange(30) % 2
    made = x + rng.normal(size=x.shape) * (1 + y[:, None])
    wanted = roc_auc_score(y, ((x - made) ** 2).mean(axis=1))
    assert total("auc", {"y": y}, made, x).value == pytest.approx(wanted)


def test_regions_overlap_as_scikit_learn_says() -> None:
    rng = np.random.default_rng(4)
    scores, y = rng.normal(size=(6, 1, 4, 5, 7)), rng.integers(0, 4, (6, 5, 7))
    wanted = jaccard_score(y.ravel(), scores[:, 0].argmax(axis=1).ravel(), average="macro")
    assert total("miou", {"y": y}, scores).value == pytest.approx(wanted)
    behind = np.moveaxis(scores, 2, -1)
    assert total("miou", {"y": y}, behind).value == pytest.approx(wanted)
    single, mask = rng.random((6, 1, 5, 7)), rng.integers(0, 2, (6, 5, 7))
    wanted = jaccard_score(mask.ravel(), single.ravel() > 0.5, average="macro", labels=[0, 1])
    assert total("miou", {"y": mask}, single).value == pytest.approx(wanted)


def test_pixels_of_no_class_do_not_count() -> None:
    y = np.array([[[0, 1, 255]]])
    scores = np.array([[[[9.0, 0, 0]], [[0, 9.0, 9.0]]]])
    assert total("miou", {"y": y}, scores).value == 1.0


def test_peak_signal_to_noise_of_bytes_and_of_reals() -> None:
    rng = np.random.default_rng(5)
    y = rng.integers(0, 256, (4, 8, 9, 3), np.uint8)
    made = np.clip(y / 255 + rng.normal(size=y.shape) * 0.1, -0.2, 1.2).astype(np.float32)
    shown = np.clip(np.rint(made.astype(np.float64) * 255), 0, 255)
    wanted = np.mean(
        [10 * np.log10(255**2 / np.mean((a - b) ** 2)) for a, b in zip(shown, y.astype(float), strict=True)]
    )
    first = np.moveaxis(made, -1, 1)[:, None]
    assert total("psnr", {"y": y}, first) == Score(pytest.approx(wanted), "dB")
    real = (y / 255).astype(np.float32)
    wanted = np.mean([-10 * np.log10(np.mean((a.astype(float) - b) ** 2)) for a, b in zip(made, real, strict=True)])
    assert total("psnr", {"y": real}, made).value == pytest.approx(wanted)
    assert total("psnr", {"y": y}, (y / 255).astype(np.float64)).value == 100


def edits(said: list[int], heard: list[int]) -> int:
    """By its definition."""
    if not said or not heard:
        return len(said) + len(heard)
    rest = edits(said[1:], heard[1:]) + (said[0] != heard[0])
    return min(rest, edits(said[1:], heard) + 1, edits(said, heard[1:]) + 1)


@given(st.lists(st.lists(st.integers(1, 3), min_size=1, max_size=5), min_size=1, max_size=3), st.data())
def test_word_errors_are_the_fewest_edits(said: list[list[int]], data: st.DataObject) -> None:
    heard = [data.draw(st.lists(st.integers(1, 3), max_size=5)) for _ in said]
    y = np.full((len(said), 6), -1)
    answers = np.full((len(said), 6), -1)
    for row, (a, b) in enumerate(zip(said, heard, strict=True)):
        y[row, : len(a)], answers[row, : len(b)] = a, b
    wanted = sum(map(edits, said, heard)) / sum(map(len, said))
    assert total("wer", {"y": y}, answers).value == pytest.approx(wanted)


def test_steps_are_read_greedily_without_repetitions_and_blanks() -> None:
    steps = np.eye(4)[[0, 1, 1, 0, 1, 2, 2, 3, 0]][None]
    assert total("wer", {"y": np.array([[1, 1, 2, 3, -1]])}, steps).value == 0
    assert total("wer", {"y": np.array([[0, 1, 0, 1, 2, 0]]), "blank": np.array(3)}, steps).value == 0


@pytest.mark.parametrize(
    ("name", "arrays", "output"),
    [
        ("top1", {"y": np.array([0.5])}, np.zeros((1, 3))),
        ("top1", {"y": np.array([3])}, np.zeros((1, 3))),
        ("top1", {"y": np.array([-1])}, np.zeros((1, 3))),
        ("f1", {"y": np.array([[1]])}, np.zeros((1, 3))),
        ("auc", {"y": np.array([1])}, np.zeros((1, 1))),
        ("auc", {"y": np.array([0, 1]), "group": np.array([0, 0])}, np.zeros((2, 1))),
        ("auc", {"y": np.array([0, 1]), "group": np.array([0])}, np.zeros((2, 1))),
        ("psnr", {"y": np.zeros((1, 2, 2), np.int64)}, np.zeros((1, 2, 2))),
        ("psnr", {"y": np.zeros((1, 2, 3), np.uint8)}, np.zeros((1, 5))),
        ("miou", {"y": np.zeros((1, 2, 2))}, np.zeros((1, 2, 2))),
        ("miou", {"y": np.full((1, 2, 2), 7)}, np.zeros((1, 3, 2, 2))),
        ("miou", {"y": np.zeros((1, 2, 2), int)}, np.zeros((1, 3, 2, 5))),
        ("wer", {"y": np.array([-1, -1])}, np.zeros((2, 3, 3))),
        ("wer", {"y": np.array([[-1]])}, np.zeros((1, 3, 3))),
        ("wer", {"y": np.array([[1]]), "blank": np.array([0.5])}, np.zeros((1, 3, 3))),
        ("wer", {"y": np.array([[1]])}, np.zeros((1,))),
    ],
)
def test_what_is_no_label_is_refused(name: str, arrays: dict[str, np.ndarray], output: np.ndarray) -> None:
    with pytest.raises(CompileError, match=r"^LAM-API-005 "):
        total(name, arrays, output)


def test_a_function_of_a_file_is_a_metric(tmp_path: Path) -> None:
    file = tmp_path / "mine.py"
    file.write_text(
        "def largest(outputs, labels):\n    return max(float(o['y'].max()) - l for o, l in zip(outputs, labels))\n"
    )
    assert total(f"{file}:largest", {"y": np.array([1.0, 2.0])}, np.array([[5.0], [9.0]])) == Score(7.0, "")


@pytest.mark.parametrize(
    ("text", "name"),
    [
        (None, "f"),
        ("def f(:", "f"),
        ("raise SystemExit(3)", "f"),
        ("1 / 0", "f"),
        ("x = 3", "f"),
        ("f = 3", "f"),
        ("def f(outputs): return 1", "f"),
        ("def f(outputs, labels): return 'much'", "f"),
        ("def f(outputs, labels): return float('nan')", "f"),
        ("def f(outputs, labels): raise ValueError('no\\nway')", "f"),
    ],
)
def test_a_file_that_is_no_metric_is_refused(tmp_path: Path, text: str | None, name: str) -> None:
    file = tmp_path / "mine.py"
    if text is not None:
        file.write_text(text)
    with pytest.raises(CompileError, match=r"^LAM-API-032 "):
        total(f"{file}:{name}", {"y": np.array([1.0])}, np.array([[5.0]]))


def test_points_are_hundredths_of_what_lies_between_0_and_1_and_errors_grow() -> None:
    assert points_lost("share", 0.9, 0.8) == pytest.approx(10)
    assert points_lost("rate", 0.1, 0.3) == pytest.approx(20)
    assert points_lost("dB", 30.0, 29.0) == pytest.approx(1)


def test_every_metric_says_which_arrays_it_reads() -> None:
    assert set(itertools.chain(*(m.keys for m in METRICS.values()))) >= {"y"}
    assert all(m.keys for m in METRICS.values())
