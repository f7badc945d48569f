"""PyTorch's modules and programs, and Keras' files, as models: against what the framework computes."""

from __future__ import annotations

import importlib
import json
import os
import subprocess
import sys
import warnings
import zipfile
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest

import codegen
from codegen.cli import main
from codegen.errors import CompileError
from tests.support.tools import require_module

CLOSE = 1e-5


@pytest.fixture(scope="module")
def nets() -> ModuleType:
    require_module("torch")
    from tests.support import training

    return training


@pytest.fixture
def program(nets: ModuleType, tmp_path: Path) -> tuple[Path, Any, Any]:
    """A saved program, its module and its example."""
    import torch

    x = nets.images(4)
    net = nets.seeded(nets.Small, x)
    path = tmp_path / "digits.pt2"
    torch.export.save(torch.export.export(net, (x[:1],)), path)
    return path, net, x


def close(model: Any, net: Any, x: Any) -> None:
    """What the network gives for each sample, in float32."""
    wanted = net(x).detach().numpy()
    given = np.asarray(codegen.run(model, x.numpy())).reshape(wanted.shape)
    assert np.abs(given - wanted).max() <= CLOSE * np.abs(wanted).max()


def test_a_module(nets: ModuleType) -> None:
    x = nets.images(4)
    net = nets.seeded(nets.Small, x)
    model = codegen.from_torch(net, x[:1])
    close(model, net, x)
    assert codegen.from_torch(net, (x[:1],)) == model


def test_a_module_is_left_as_it_was(nets: ModuleType) -> None:
    x = nets.images(4)
    net = nets.seeded(nets.Small, x).train()
    before = {name: tensor.clone() for name, tensor in net.state_dict().items()}
    codegen.from_torch(net, x)
    assert net.training
    assert all(tensor.equal(before[name]) for name, tensor in net.state_dict().items())


def test_an_exported_program(program: tuple[Path, Any, Any]) -> None:
    import torch

    path, net, x = program
    close(path, net, x)
    close(codegen.from_torch(torch.export.load(path), x[:1]), net, x)


def test_a_program_on_the_command_line(program: tuple[Path, Any, Any], tmp_path: Path) -> None:
    out = tmp_path / "project"
    assert main(["compile", str(program[0]), "-t", "host", "-o", str(out)]) == 0
    assert json.loads((out / "manifest.json").read_text())["name"] == "digits"


def test_a_program_is_quantized(program: tuple[Path, Any, Any]) -> None:
    path, _, x = program
    made = codegen.quantize(path, {"x": x.numpy()}, recipe="fast")
    assert made.report.sqnr is not None
    assert made.report.sqnr > 20


def test_a_module_that_pytorch_has_quantized(nets: ModuleType) -> None:
    """FX quantization: QDQ with one scale per tensor, whose integers are those of PyTorch but for halves."""
    import torch
    from torch.ao import quantization
    from torch.ao.quantization import quantize_fx

    x = nets.images(32)
    net = torch.nn.Sequential(torch.nn.Conv2d(1, 4, 3), torch.nn.ReLU(), torch.nn.Flatten(), torch.nn.Linear(144, 5))
    torch.manual_seed(0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        torch.backends.quantized.engine = "qnnpack"
        watched = quantize_fx.prepare_fx(net.eval(), quantization.get_default_qconfig_mapping("qnnpack"), (x,))
        watched(x)
        quantized = quantize_fx.convert_fx(watched)
        wanted = quantized(x).numpy()
    given = np.asarray(codegen.run(codegen.from_torch(quantized, x[:1]), x.numpy(), "c")).reshape(wanted.shape)
    step = np.diff(np.unique(np.concatenate([wanted.ravel(), [0.0]]))).min()
    assert np.abs(given - wanted).max() <= 1.01 * step
    assert (given == wanted).mean() > 0.9


def converted() -> Any:
    """What PT2E writes, by torch's own operators: bytes with a zero point, a range that is cut, weights per channel."""
    import torch
    from torch.ao.quantization.fx import _decomposed  # noqa: F401

    ops = torch.ops.quantized_decomposed

    class Converted(torch.nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.register_buffer("weight", torch.randint(-127, 128, (4, 1, 3, 3)).to(torch.int8))
            self.register_buffer("scales", torch.tensor([0.01, 0.02, 0.015, 0.005]))
            self.register_buffer("zeros", torch.zeros(4, dtype=torch.int64))

        def held(self, x: Any, scale: float, zero: int, low: int, high: int, kind: Any) -> Any:
            q = ops.quantize_per_tensor(x, scale, zero, low, high, kind)
            return ops.dequantize_per_tensor(q, scale, zero, low, high, kind)

        def forward(self, x: Any) -> Any:
            x = self.held(x, 0.0625, 3, 0, 255, torch.uint8)
            w = ops.dequantize_per_channel(self.weight, self.scales, self.zeros, 0, -127, 127, torch.int8)
            return self.held(torch.conv2d(x, w), 0.03125, -5, -100, 90, torch.int8)

    torch.manual_seed(0)
    return Converted().eval()


@pytest.mark.parametrize("exported", [False, True])
def test_what_pt2e_writes(nets: ModuleType, exported: bool) -> None:
    import torch

    net, x = converted(), nets.images(16)
    wanted = net(x).numpy()
    assert (wanted.min(), wanted.max()) == (-95 * 0.03125, 95 * 0.03125), "both ends cut"
    given = torch.export.export(net, (x[:1],)).module() if exported else net
    found = np.asarray(codegen.run(codegen.from_torch(given, x[:1]), x.numpy(), "c")).reshape(wanted.shape)
    assert np.abs(found - wanted).max() <= 0.03125
    assert (found == wanted).mean() > 0.99


def test_what_pt2e_writes_is_read_from_a_file(nets: ModuleType, tmp_path: Path) -> None:
    """Where nobody has made its operators known before: in a process of its own."""
    import torch

    path = tmp_path / "net.pt2"
    torch.export.save(torch.export.export(converted(), (nets.images(1),)), path)
    done = subprocess.run(
        [sys.executable, "-m", "codegen", "inspect", str(path)], capture_output=True, text=True, check=False
    )
    assert (done.returncode, done.stderr) == (0, "")
    assert "Conv2D" in done.stdout


@pytest.mark.parametrize(
    ("name", "content", "said"),
    [
        ("missing.pt2", None, "LAM-IMPORT-002"),
        ("text.pt2", b"not a program", "LAM-TRAIN-011 .*it is no zip archive"),
        ("empty.pt2", b"", "LAM-TRAIN-011 .*it is no zip archive"),
        ("zip.pt2", b"PK\x05\x06" + bytes(18), "LAM-TRAIN-011 .*no exported program is in the archive"),
    ],
)
def test_wrong_programs(nets: ModuleType, name: str, content: bytes | None, said: str, tmp_path: Path) -> None:
    path = tmp_path / name
    if content is not None:
        path.write_bytes(content)
    warnings.simplefilter("ignore")
    with pytest.raises(CompileError, match=said) as error:
        codegen.inspect(path)
    assert name in error.value.where


def test_a_folder_is_no_program(nets: ModuleType, tmp_path: Path) -> None:
    (tmp_path / "a.pt2").mkdir()
    with pytest.raises(CompileError, match="LAM-IMPORT-002"):
        codegen.inspect(tmp_path / "a.pt2")


def attention() -> tuple[dict[str, Any], Any]:
    """Modules that torch runs as one operator in evaluation, and what they are called with."""
    import torch

    class Itself(torch.nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.attention = torch.nn.MultiheadAttention(8, 2, batch_first=True)

        def forward(self, x: Any) -> Any:
            return self.attention(x, x, x, need_weights=False)[0]

    torch.manual_seed(0)
    layer = torch.nn.TransformerEncoderLayer(8, 2, 16, batch_first=True)
    return {"attention": Itself().eval(), "encoder layer": layer.eval()}, torch.randn(1, 6, 8)


@pytest.mark.parametrize("name", ["attention", "encoder layer"])
def test_attention(nets: ModuleType, name: str) -> None:
    import torch

    modules, x = attention()
    wanted = modules[name](x).detach().numpy()
    given = np.asarray(codegen.run(codegen.from_torch(modules[name], x), x.numpy(), "golden"))
    np.testing.assert_allclose(given, wanted, atol=CLOSE)
    assert torch.backends.mha.get_fastpath_enabled()


def test_numbers_with_a_default_are_no_inputs(nets: ModuleType) -> None:
    import torch

    class Scaled(torch.nn.Module):
        def forward(self, x: Any, scale: float = 2.0, bias: Any = None) -> Any:
            return x * scale

    x = nets.images(1)
    model = codegen.from_torch(Scaled(), x)
    np.testing.assert_array_equal(codegen.run(model, x.numpy()), 2 * x.numpy())


def test_a_module_must_give_a_tensor(nets: ModuleType) -> None:
    import torch

    class Gives(torch.nn.Module):
        def __init__(self, results: Any) -> None:
            super().__init__()
            self.results = results

        def forward(self, x: Any) -> Any:
            return self.results

    for results in ("text", None, 3, (), {"a": [None]}):
        with pytest.raises(CompileError, match="LAM-TRAIN-001 Gives: it gives no tensor"):
            codegen.from_torch(Gives(results), nets.images(1))


def test_torch_prints_nothing_beside_a_refusal(
    nets: ModuleType, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    import torch

    class Eigenvalues(torch.nn.Module):
        def forward(self, x: Any) -> Any:
            return torch.linalg.eigh(x)[0]

    with pytest.raises(CompileError, match="LAM-TRAIN-001"):
        codegen.from_torch(Eigenvalues(), nets.images(1))
    torch.save(torch.nn.Linear(2, 2).state_dict(), tmp_path / "weights.pt2")
    with pytest.raises(CompileError, match=r"LAM-TRAIN-011 .*written by torch\.save"):
        codegen.inspect(tmp_path / "weights.pt2")
    assert capfd.readouterr() == ("", "")


def test_a_file_of_weights_is_told_what_is_a_model(nets: ModuleType, tmp_path: Path) -> None:
    import torch

    torch.save(torch.nn.Linear(2, 2), tmp_path / "net.pt")
    with pytest.raises(CompileError, match=r"LAM-IMPORT-003 .*codegen\.from_torch.*\.pt2"):
        codegen.inspect(tmp_path / "net.pt")


def test_a_step_frozen_by_tracing_is_told(nets: ModuleType) -> None:
    import torch

    class Branching(torch.nn.Module):
        def forward(self, x: Any) -> Any:
            return x + 1 if x.sum() > 0 else x - 1

    with pytest.warns(torch.jit.TracerWarning, match="boolean"):
        codegen.from_torch(Branching(), nets.images(1))


@pytest.mark.parametrize("example", ["x", (), [1.0], np.zeros((1, 1, 8, 8))])
def test_wrong_examples(nets: ModuleType, example: Any) -> None:
    with pytest.raises(CompileError, match="LAM-TRAIN-002"):
        codegen.from_torch(nets.Small(), example)


def test_wrong_modules(nets: ModuleType) -> None:
    import torch

    class Branching(torch.nn.Module):
        def forward(self, x: Any) -> Any:
            return torch.linalg.eigh(x @ x.mT)[0]

    x = nets.images(1)
    for module, code in (("net", "LAM-TRAIN-003"), (nets.Small, "LAM-TRAIN-003"), (Branching(), "LAM-TRAIN-001")):
        with pytest.raises(CompileError, match=code):
            codegen.from_torch(module, x)


@pytest.mark.parametrize("ending", [".pt2", ".keras"])
def test_without_its_framework_the_message_says_what_to_install(
    ending: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    for name in ("torch", "keras"):
        monkeypatch.setitem(sys.modules, name, None)
    (tmp_path / f"model{ending}").write_bytes(b"x")
    assert main(["compile", str(tmp_path / f"model{ending}"), "-o", str(tmp_path / "out")]) == 1
    said = capsys.readouterr().err
    assert "LAM-API-002" in said
    assert f'pip install "lamina[{"train" if ending == ".pt2" else "keras"}]"' in said
    with pytest.raises(CompileError, match="LAM-API-002 torch"):
        codegen.from_torch(None, None)


def test_nothing_else_needs_torch(monkeypatch: pytest.MonkeyPatch) -> None:
    """With its import blocked, a network compiles as ever, and no module of ours has asked for it."""
    monkeypatch.setitem(sys.modules, "torch", None)
    importlib.reload(importlib.import_module("codegen.verbs.frameworks"))
    from tests.e2e.projects import TINY

    assert codegen.inspect(TINY).layers


of_keras = pytest.mark.filterwarnings("ignore:__array__ implementation doesn't:DeprecationWarning")
"""Keras hands torch's tensors to numpy as was usual before numpy 2."""


@pytest.fixture(scope="module")
def keras() -> ModuleType:
    """Keras on PyTorch, as a command loads it."""
    os.environ.setdefault("KERAS_BACKEND", "torch")
    require_module("keras")
    return importlib.import_module("keras")


def kept(keras: ModuleType, tmp_path: Path, *layers: Any) -> tuple[Path, Any]:
    """A file of Keras' with a picture and a number as inputs, and its model."""
    picture, number = keras.Input((8, 8, 2), name="picture"), keras.Input((1,), name="number")
    x = picture
    for layer in layers:
        x = layer(x)
    result = keras.layers.Dense(3, activation="softmax")(keras.layers.Concatenate()([x, number]))
    model = keras.Model([picture, number], result)
    model.save(tmp_path / "net.keras")
    return tmp_path / "net.keras", model


def as_keras(path: Path, model: Any) -> Any:
    """How far the C is from what Keras computes."""
    rng = np.random.default_rng(0)
    samples = {x.name: rng.random((3, *x.shape[1:]), np.float32) for x in model.inputs}
    (given,) = codegen.run(path, samples, "c").values()
    return np.abs(given.reshape(3, 3) - model.predict(list(samples.values()), verbose=0)).max()


@of_keras
def test_a_file_of_keras(keras: ModuleType, tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    """Against Keras itself; its statistics are not those of a fresh layer."""
    layers = keras.layers
    normal = layers.BatchNormalization()
    path, model = kept(
        keras,
        tmp_path,
        layers.Conv2D(4, 3, padding="same", use_bias=False),
        normal,
        layers.ReLU(6),
        layers.DepthwiseConv2D(3, strides=2, padding="same"),
        layers.MaxPooling2D(),
        layers.Flatten(),
    )
    normal.moving_mean.assign([0.1, -0.2, 0.3, 0.0])
    normal.moving_variance.assign([0.5, 1.5, 1.0, 0.25])
    model.save(path)
    assert as_keras(path, model) <= CLOSE
    assert not capfd.readouterr().out


@of_keras
@pytest.mark.slow
def test_what_the_quick_exporter_does_not_write_goes_through_the_other(keras: ModuleType, tmp_path: Path) -> None:
    layers = keras.layers
    path, model = kept(keras, tmp_path, layers.LayerNormalization(), layers.Flatten())
    assert as_keras(path, model) <= CLOSE


@of_keras
def test_a_module_of_keras(keras: ModuleType) -> None:
    """Whose forward hands masks on by keyword."""
    import torch

    net, x = keras.Sequential([keras.Input((4,)), keras.layers.Dense(3, activation="relu")]), torch.rand(2, 4)
    close(codegen.from_torch(net, x[:1]), net, x)


@of_keras
def test_wrong_files_of_keras(keras: ModuleType, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path, _ = kept(keras, tmp_path, keras.layers.Flatten())
    whole = path.read_bytes()
    for damaged in (b"x", whole[: len(whole) // 2], whole.replace(b"Flatten", b"Fiatten")):
        path.write_bytes(damaged)
        with pytest.raises(CompileError, match="LAM-TRAIN-012"):
            codegen.inspect(path)

    for names, said in {
        ("other.txt",): "config.json is missing",
        ("config.json",): "config.json .* is no JSON",
    }.items():
        with zipfile.ZipFile(path, "w") as archive:
            for name in names:
                archive.writestr(name, "{")
        with pytest.raises(CompileError, match=f"LAM-TRAIN-012 .*{said}"):
            codegen.inspect(path)

    def wants_a_package(*_: Any, **__: Any) -> None:
        raise ImportError(name="onnxscript")

    path.write_bytes(whole)
    monkeypatch.setattr(keras.Model, "export", wants_a_package)
    with pytest.raises(CompileError, match="LAM-API-002 onnxscript"):
        codegen.inspect(path)
