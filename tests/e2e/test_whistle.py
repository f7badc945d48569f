"""The network of the firmware examples: what it hears, in C, and that it was trained by right gradients."""

from __future__ import annotations

import importlib.util
from types import ModuleType

import numpy as np
import pytest

import codegen
from tests.support.shared import ROOT
from tests.support.tools import require_tool

WHISTLE = ROOT / "examples" / "firmware" / "whistle"


@pytest.fixture(scope="module")
def maker() -> ModuleType:
    """The program that trains it."""
    spec = importlib.util.spec_from_file_location("make_whistle", WHISTLE / "make_whistle.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_sounds_of_another_seed_are_heard_rightly_in_c(maker: ModuleType) -> None:
    require_tool("cc")
    assert (WHISTLE / "labels.txt").read_text().split() == list(maker.COMMANDS)
    x, y = maker.clips(99, 200)
    scores = np.asarray(codegen.run(WHISTLE / "whistle.onnx", x, engine="c"))
    assert (scores == np.asarray(codegen.run(WHISTLE / "whistle.onnx", x, engine="golden"))).all()
    assert (scores.argmax(axis=1) == y).mean() >= 0.97


def loss(maker: ModuleType, w: dict[str, np.ndarray], x: np.ndarray, y: np.ndarray) -> float:
    """The mean cross entropy, by another way: loops over frames instead of matrices of taps."""
    total = 0.0
    for clip, label in zip(x, y, strict=True):
        rows = clip
        for name, stride in (("glide", 1), ("shape", 2)):
            padded = np.pad(rows, ((1, 1), (0, 0)))
            near = [padded[t : t + 3].ravel() @ w[name] + w[f"{name}_bias"] for t in range(0, len(rows), stride)]
            rows = np.maximum(near, 0)
        logits = rows.mean(axis=0) @ w["command"] + w["command_bias"]
        total += float(np.log(np.exp(logits).sum()) - logits[label])
    return total / len(y)


def test_its_gradients_are_the_loss_s_slopes(maker: ModuleType) -> None:
    rng = np.random.default_rng(1)
    sizes = {"glide": (6 * maker.TONES, 16), "shape": (48, 16), "command": (16, 4)}
    w = {name: rng.normal(0, 0.2, size) for name, size in sizes.items()}
    w |= {f"{name}_bias": rng.normal(0, 0.2, size[1]) for name, size in sizes.items()}
    x, y = rng.normal(0, 1, (4, maker.FRAMES, 2 * maker.TONES)), np.arange(4)
    found = maker.gradients(w, x, y)
    assert set(found) == set(w)
    for name, value in w.items():
        way = rng.normal(0, 1, value.shape)
        ahead, behind = ({**w, name: value + step * way} for step in (1e-6, -1e-6))
        slope = (loss(maker, ahead, x, y) - loss(maker, behind, x, y)) / 2e-6
        assert slope == pytest.approx(float((found[name] * way).sum()), rel=1e-4, abs=1e-7)
