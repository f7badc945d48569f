"""What cannot be trained is refused by its id, before anything is written."""

from __future__ import annotations

import importlib
import sys
from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from codegen.errors import CompileError
from tests.support.tools import require_module


@pytest.fixture(scope="module")
def nets() -> ModuleType:
    require_module("torch")
    from tests.support import training

    return training


def functional(call: Callable[[Any], Any]) -> Any:
    """A module of one convolution, and what comes behind it."""
    from torch import nn

    class Module(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.conv = nn.Conv2d(1, 2, 3)

        def forward(self, x: Any) -> Any:
            return call(self.conv(x))

    return Module()


def prepare(*given: Any, **words: Any) -> Any:
    from codegen.train import prepare as prepared

    return prepared(*given, **words)


def same(y: Any) -> Any:
    return y


def failing(y: Any) -> Any:
    raise RuntimeError("no such layer")


def fixed(y: Any) -> Any:
    return y.reshape(4, 72)


def sorting(y: Any) -> Any:
    return y.flatten(1).cumsum(1)


NO_LAYER = {"layer": [{"name": "/conf/*", "bits": 4}]}
NO_TENSOR = {"tensor": [{"name": "y", "bits": 4}]}
CALLS: dict[str, tuple[str, Callable[[Any], Any]]] = {
    "no module": ("LAM-TRAIN-003", lambda x: prepare("net", x)),
    "a class": ("LAM-TRAIN-003", lambda x: prepare(type(functional(same)), x)),
    "no tensor": ("LAM-TRAIN-002", lambda x: prepare(functional(same), x.numpy())),
    "no input": ("LAM-TRAIN-002", lambda x: prepare(functional(same), ())),
    "one axis": ("LAM-TRAIN-002", lambda x: prepare(functional(same), x.flatten())),
    "no sample": ("LAM-TRAIN-002", lambda x: prepare(functional(same), x[:0])),
    "samples of two numbers": ("LAM-TRAIN-002", lambda x: prepare(functional(same), (x, x[:1]))),
    "too many inputs": ("LAM-TRAIN-001", lambda x: prepare(functional(same), (x, x))),
    "other channels": ("LAM-TRAIN-001", lambda x: prepare(functional(same), x.repeat(1, 2, 1, 1))),
    "a module that fails": ("LAM-TRAIN-001", lambda x: prepare(functional(failing), x)),
    "no gradient": ("LAM-TRAIN-004", lambda x: prepare(functional(sorting), x)),
    "one number of samples": ("LAM-TRAIN-007", lambda x: prepare(functional(fixed), x)(x[:3])),
    "nothing quantized": ("LAM-TRAIN-009", lambda x: prepare(functional(same), x, {"quantize": {"keep_float": True}})),
    "an unknown mode": ("LAM-TARGET-006", lambda x: prepare(functional(same), x, requant="triple")),
    "an unknown key": (
        "LAM-QUANT-006",
        lambda x: prepare(functional(same), x, {"quantise": {}, "quantize": {"lern": 1}}),
    ),
    "an unknown way": ("LAM-QUANT-003", lambda x: prepare(functional(same), x, {"quantize": {"learn": "adam"}})),
    "tqt of any scale": ("LAM-QUANT-006", lambda x: prepare(functional(same), x, {"quantize": {"learn": "tqt"}})),
    "an unknown layer": (
        "LAM-QUANT-024",
        lambda x: prepare(functional(same), x, NO_LAYER),
    ),
    "an unknown tensor": (
        "LAM-QUANT-024",
        lambda x: prepare(functional(same), x, NO_TENSOR),
    ),
    "a missing file": ("LAM-QUANT-001", lambda x: prepare(functional(same), x, "missing.toml")),
    "not observed": ("LAM-TRAIN-005", lambda x: prepare(functional(same), x).eval()(x)),
    "observed nothing": ("LAM-TRAIN-005", lambda x: prepare(functional(same), x).observe([])),
    "two inputs for one": ("LAM-TRAIN-010", lambda x: prepare(functional(same), x)(x, x)),
    "another shape": ("LAM-TRAIN-010", lambda x: prepare(functional(same), x)(x[..., 1:])),
    "numpy in training": ("LAM-TRAIN-010", lambda x: prepare(functional(same), x)(x.numpy())),
    "NaN": ("LAM-TRAIN-006", lambda x: prepare(functional(same), x)(x / 0)),
}


@pytest.mark.parametrize("what", CALLS)
def test_wrong_calls(nets: ModuleType, what: str) -> None:
    code, call = CALLS[what]
    with pytest.raises(CompileError) as error:
        call(nets.images(4))
    assert error.value.code == code, error.value.text()


def test_a_batch_may_have_any_size(nets: ModuleType) -> None:
    x = nets.images(7)
    prepared = nets.trained(functional(same), x[:4], steps=1)
    assert prepared(x).shape == (7, 2, 6, 6)
    assert prepared(x)[:3].equal(prepared(x[:3]))


def test_weights_that_are_no_numbers(nets: ModuleType) -> None:
    x = nets.images(4)
    prepared = nets.trained(functional(same), x, steps=1)
    prepared.network.conv.weight.data[0, 0, 0, 0] = float("nan")
    with pytest.raises(CompileError, match=r"LAM-TRAIN-006 conv\.weight"):
        prepared(x)


def test_wrong_exports(nets: ModuleType, tmp_path: Path) -> None:
    from codegen.train import export

    x = nets.images(4)
    prepared = prepare(functional(same), x)
    for given, code in ((functional(same), "LAM-TRAIN-003"), (prepared, "LAM-TRAIN-005")):
        with pytest.raises(CompileError, match=code):
            export(given, tmp_path / "q.onnx")
    prepared.observe([x])
    with pytest.raises(CompileError, match="LAM-QUANT-026"):
        export(prepared, tmp_path / "missing" / "q.onnx")
    assert list(tmp_path.iterdir()) == []


def test_without_torch_the_message_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "torch", None)
    train = importlib.import_module("codegen.train")
    with pytest.raises(CompileError, match=r'LAM-API-002 torch: .* \(pip install "lamina\[train\]"\)'):
        _ = train.prepare
    with pytest.raises(AttributeError):
        _ = train.nothing
    assert "prepare" in dir(train)
