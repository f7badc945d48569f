"""docs/plugins.md: its smallest whole plug-in keeps the laws and serves a network, and what it says of names is so."""

from __future__ import annotations

import inspect
import re
from pathlib import Path

import numpy as np
import onnx
import pytest

import codegen
from codegen import plugin
from codegen.cli.command_line import run_line
from codegen.host import WARNINGS
from codegen.resources import resource_dir
from tests.support.examples import example_model
from tests.support.tools import require_tool

PAGE = (resource_dir("examples").parent / "docs" / "plugins.md").read_text(encoding="utf-8")


def samples_of_python() -> list[str]:
    """The plug-in, a quantized model and a float model."""
    return re.findall(r"^```python\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL)


@pytest.fixture
def scale(tmp_path: Path) -> Path:
    """The two files of the page."""
    for language, name in (("python", "scale_ops.py"), ("c", "scale_row.h")):
        text = re.findall(rf"^```{language}\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL)[0]
        (tmp_path / name).write_text(text, encoding="utf-8")
    return tmp_path / "scale_ops.py"


def with_scale(tmp_path: Path, factor: float) -> Path:
    """A network with the operator between two convolutions."""
    proto = onnx.load(example_model("edge"))
    (node,) = [node for node in proto.graph.node if node.op_type == "Edge"]
    node.op_type, node.domain = "Scale", "my.domain"
    node.attribute.append(onnx.helper.make_attribute("factor", factor))
    proto.opset_import.append(onnx.helper.make_opsetid("my.domain", 1))
    onnx.save(proto, tmp_path / "scale.onnx")
    return tmp_path / "scale.onnx"


def test_the_smallest_plugin_keeps_the_laws(scale: Path) -> None:
    require_tool("gcc")
    found = codegen.check_plugin(scale)
    assert found.ok, [check for check in found.checks if not check.ok]
    assert {"slice", "real", "c99 ASan"} <= {check.law for check in found.checks}


def test_the_smallest_plugin_serves_a_network(scale: Path, tmp_path: Path) -> None:
    require_tool("gcc")
    model = with_scale(tmp_path, 0.75)
    assert codegen.verify(model, plugins=[scale], samples=1).equal
    x = np.random.default_rng(2).normal(0, 1, (1, 3, 24, 20)).astype(np.float32)
    known = codegen.run(model, {"x": x}, dump_all=True, plugins=[scale])
    wanted = np.clip(np.floor(0.75 * known["first_q"].astype(np.int64) + 0.5), -128, 127)
    np.testing.assert_array_equal(known["edge_q"], wanted)


def test_the_smallest_plugin_refuses_in_its_rule(scale: Path, tmp_path: Path) -> None:
    with pytest.raises(codegen.CompileError, match=r"LAM-OPS-001 .*takes a factor above 0, got -1\.0"):
        codegen.compile_model(with_scale(tmp_path, -1.0), "host", tmp_path / "out", plugins=[scale])


def test_the_quantized_model_of_the_page_compiles(scale: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    require_tool("gcc")
    monkeypatch.chdir(tmp_path)
    exec(samples_of_python()[1], {})
    assert codegen.verify("quantized.onnx", plugins=[scale], samples=1).equal
    x = np.random.default_rng(5).normal(0, 2, (1, 3, 8, 8)).astype(np.float32)
    y = codegen.run("quantized.onnx", {"x": x}, plugins=[scale])["y"]
    held = np.clip(np.rint(x / np.float32(0.05)), -131, 124) * 0.05
    np.testing.assert_allclose(y, np.clip(0.75 * held, -123 * 0.04, 132 * 0.04), atol=0.021)


@pytest.mark.parametrize("place", ["integers", "cases"])
def test_what_a_plugin_raises_is_told_with_its_line(
    place: str, scale: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """And with --debug the whole traceback."""
    monkeypatch.chdir(tmp_path)
    exec(samples_of_python()[1], {})
    text = scale.read_text()
    first = {"integers": "def integers(op, ins, out):\n", "cases": "def cases():\n"}[place]
    scale.write_text(text.replace(first, f"{first}    1 / 0\n"))
    line = scale.read_text().splitlines().index("    1 / 0") + 1
    command = {
        "integers": ["compile", "quantized.onnx", "--plugin", "scale_ops.py", "-o", "out"],
        "cases": ["plugin", "test", "scale_ops.py"],
    }[place]
    where = {"integers": "node 'Scale_2' (Scale), tensor 'yf'", "cases": "Scale"}[place]
    said = f"LAM-PLUGIN-008 {where}: {place}: ZeroDivisionError: division by zero (scale_ops.py, line {line}) (--debug"
    assert run_line(command) == 1
    plain = capsys.readouterr().err
    assert plain.startswith(said)
    assert plain.count("\n") == 1
    assert run_line([*command, "--debug"]) == 1
    debugged = capsys.readouterr().err
    assert debugged.endswith(plain)
    assert f'scale_ops.py", line {line}, in {place}' in debugged
    assert not (tmp_path / "out").exists()


def test_a_limit_of_a_plugin_is_told_as_its_own(scale: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    exec(samples_of_python()[1].replace("int8", "uint8").replace("(-5)", "(5)"), {})
    with pytest.raises(codegen.CompileError, match=r"SCALE-02 .*must be s8 \(a limit that the .* plug-in sets\)"):
        codegen.compile_model("quantized.onnx", "host", "out", plugins=[scale])


def test_the_float_model_of_the_page_is_quantized(scale: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """In a scale of the operator's own: three quarters of its input's."""
    require_tool("gcc")
    monkeypatch.chdir(tmp_path)
    exec(samples_of_python()[2], {})
    np.savez("samples.npz", x=np.random.default_rng(3).normal(0, 1, (24, 3, 8, 8)).astype(np.float32))
    assert run_line(["quantize", "float.onnx", "--calib", "samples.npz", "--plugin", scale.name, "-o", "q.onnx"]) == 0
    assert codegen.verify("q.onnx", plugins=[scale], samples=1).equal
    scales = [onnx.numpy_helper.to_array(t) for t in onnx.load("q.onnx").graph.initializer if "scale" in t.name]
    np.testing.assert_allclose(
        sorted(float(s) for s in scales)[0] / sorted(float(s) for s in scales)[-1], 0.75, rtol=0.05
    )


@pytest.mark.parametrize(
    "name",
    [
        *("Plugin", "Operator", "C", "Hook", "Case"),
        *("RowRule", "Limit", "TensorType", "Window", "Quant", "make_requant", "apply_requant"),
    ],
)
def test_signatures_of_the_page_are_those_of_the_code(name: str) -> None:
    (said,) = re.findall(rf"^\| `{name}` \| `\((.*?)\)`", PAGE, re.MULTILINE)
    known = inspect.signature(getattr(plugin, name)).parameters.values()
    words = [p.name if p.default is p.empty else f"{p.name}={p.default!r}" for p in known]
    assert said.split(", ") == words[: len(said.split(", "))]


def test_the_warnings_of_the_page_are_those_of_the_build() -> None:
    assert f"`{' '.join(WARNINGS)}`" in PAGE


def test_a_header_that_is_called_as_the_networks_is_refused(scale: Path, tmp_path: Path) -> None:
    with pytest.raises(codegen.CompileError, match=r"LAM-PLUGIN-004 scale: scale_row\.h is a header of the network's"):
        codegen.compile_model(with_scale(tmp_path, 1.0), "host", tmp_path / "out", plugins=[scale], name="scale_row")
    assert not (tmp_path / "out").exists()
