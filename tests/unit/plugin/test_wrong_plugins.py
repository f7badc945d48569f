"""Plug-ins that are wrong: each gets one error with an id, before anything is written."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import numpy as np
import onnx
import pytest

import codegen
from codegen.cli.command_line import run_line
from codegen.errors import CompileError
from codegen.plugin import Plugin, load_plugin, tools_with
from tests.support.examples import MEDIAN, example_model, spoiled

EDGE = MEDIAN.parent / "edge"


WRONG = {
    "a syntax error": ("002", "def infer(", "def infer("[:-1]),
    "an exception": ("002", "PLUGIN = Plugin(", "1 / 0\nPLUGIN = Plugin("),
    "an exit": ("002", "PLUGIN = Plugin(", "raise SystemExit\nPLUGIN = Plugin("),
    "an import that is missing": ("002", "import numpy as np", "import numpyy as np"),
    "no object": ("003", "PLUGIN = ", "MINE = "),
    "an object of another type": ("003", "PLUGIN = Plugin(", "PLUGIN = dict("),
    "a name of Lamina's": ("004", "MedianRows", "Conv2D"),
    "an operator that is not frozen": ("005", "frozen=True, ", ""),
    "no dataclass": ("005", "@dataclass(frozen=True, slots=True)", ""),
    "a question without an answer": ("005", "def golden", "def goldenn"),
    "limits that are no tuple": ("005", "limits = (", "limits = 5\n    bounds = ("),
    "an operator without a file's name": ("005", 'onnx="example.median::MedianRows"', 'onnx=""'),
    "ONNX's own domain": ("005", "example.median::", "ai.onnx::"),
    "a name without a domain": ("005", "example.median::", ""),
    "a run that is none": ("005", 'needs=("dsp",)', 'run="rowz"'),
    "a header without a function": ("005", 'call="median_dsp", ', ""),
    "C that is no C": ("005", 'C(file="median.c.j2", fit=numbers)', '"median.c.j2"'),
    "C in another folder": ("005", 'file="median.c.j2"', 'file="../median.c.j2"'),
    "a name of capitals": ("005", 'name="median"', 'name="Median"'),
    "cases that are no function": ("005", "cases=cases", "cases=()"),
    "a template that is missing": ("006", 'file="median.c.j2"', 'file="mean.c.j2"'),
    "attributes that are no fields": ("005", "images=True", 'attributes=("stretch",)'),
    "one attribute as a text": ("005", "images=True", 'attributes="reach"'),
    "a word too much": ("002", "images=True", "pictures=True"),
}


@pytest.mark.parametrize(("code", "old", "new"), WRONG.values(), ids=WRONG)
def test_a_wrong_file_is_refused(folder: Path, code: str, old: str, new: str) -> None:
    with pytest.raises(CompileError) as refused:
        tools_with([spoiled(folder, old, new)])
    assert refused.value.code == f"LAM-PLUGIN-{code}", refused.value
    assert "\n" not in refused.value.text()


@pytest.mark.parametrize("given", ["missing.py", ".", "nobody", "folder/of/nobody", "", "/dev/null"])
def test_what_is_no_plugin_is_refused(given: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(CompileError) as refused:
        load_plugin(given)
    assert refused.value.code == "LAM-PLUGIN-001"
    assert refused.value.is_usage


@pytest.mark.parametrize("given", [5, None, b"median_ops.py"])
def test_other_types_are_refused(given: object) -> None:
    with pytest.raises(CompileError, match="LAM-PLUGIN-001"):
        codegen.inspect(example_model("median"), plugins=[given])


def test_a_line_number_is_told(folder: Path) -> None:
    with pytest.raises(CompileError, match=r"median_ops\.py, line \d+: ZeroDivisionError"):
        load_plugin(spoiled(folder, "PLUGIN = Plugin(", "1 / 0\nPLUGIN = Plugin("))


def test_two_alike_are_refused(folder: Path) -> None:
    path = folder / "median_ops.py"
    with pytest.raises(CompileError, match=r"LAM-PLUGIN-004 median: two plug-ins are called median"):
        tools_with([path, path])
    other = spoiled(folder, 'name="median"', 'name="other"')
    with pytest.raises(CompileError, match="LAM-PLUGIN-004"):
        tools_with([MEDIAN / "median_ops.py", other])


def test_a_header_of_laminas_is_not_replaced(folder: Path) -> None:
    (folder / "lam_order.h").write_text("")
    with pytest.raises(CompileError, match=r"LAM-PLUGIN-004 .*lam_order\.h"):
        tools_with([spoiled(folder, "median_dsp.h", "lam_order.h")])


FAULTS = {
    "a name that the template does not get": ("007", "k.count", "k.elements", "median.c.j2"),
    "a template that is none": ("007", "{{ k.count }}", "{{ k.count }", "median.c.j2"),
    "a macro file that is missing": ("007", "macros/c.j2", "macros/d.j2", "median.c.j2"),
    "numbers that are none": ("005", "columns * channels}", "columns / channels}", "median_ops.py"),
    "no numbers": ("005", 'return {"count": columns * channels}', "return 5", "median_ops.py"),
    "an answer that raises": ("008", "return (feature_map(self, ins),)", "return (ins[7],)", "median_ops.py"),
    "a rule of rows that raises": ("008", "return RowRule(taps=3,", "return RowRule(taps=1 // 0,", "median_ops.py"),
    "a limit that takes too little": (
        "008",
        'batch_one("MEDIAN-01"),',
        '__import__("codegen.plugin").plugin.Limit("MEDIAN-01", "must be", lambda op: True),',
        "median_ops.py",
    ),
    "golden that raises": ("008", "x = ins[0]", "x = ins[1]", "median_ops.py"),
    "a field that the file does not have": ("", "reach: int", "stretch: int", "median_ops.py"),
    "a node with a word too much": (
        "011",
        "images=True",
        "images=True, read=lambda node: MedianRows(1)",
        "median_ops.py",
    ),
}


@pytest.mark.parametrize(("code", "old", "new", "file"), FAULTS.values(), ids=FAULTS)
def test_a_fault_while_compiling_is_the_plugins(
    folder: Path, code: str, old: str, new: str, file: str, capsys: pytest.CaptureFixture[str]
) -> None:
    path, out = spoiled(folder, old, new, file), folder / "out"
    line = ["compile", str(example_model("median")), "--plugin", str(path), "-o", str(out), "--json"]
    assert run_line(line) == 1
    (error, *_) = json.loads(capsys.readouterr().out)["errors"]
    assert error["id"] == (f"LAM-PLUGIN-{code}" if code else "LAM-IMPORT-013"), error
    assert not out.exists()


def test_a_missing_plugin_is_a_mistake_of_the_command(capsys: pytest.CaptureFixture[str]) -> None:
    assert run_line(["inspect", str(example_model("median")), "--plugin", "gone.py"]) == 2
    assert "LAM-PLUGIN-001 gone.py: there is no such file" in capsys.readouterr().err


def test_without_the_plugin_the_operator_is_unknown(capsys: pytest.CaptureFixture[str]) -> None:
    assert run_line(["verify", str(example_model("median"))]) == 1
    told = capsys.readouterr().err
    assert "example.median.MedianRows is not supported" in told
    assert "--plugin FILE.py with an operator example.median::MedianRows reads it" in told


def test_what_the_plugin_reads_is_told_beside_what_it_does_not(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    near = spoiled(folder, "example.median::MedianRows", "example.median::MedianRow")
    assert run_line(["verify", str(example_model("median")), "--plugin", str(near)]) == 1
    assert "did you mean example.median::MedianRow? that one a plug-in reads" in capsys.readouterr().err
    far = spoiled(folder, "example.median::MedianRow", "acme::Blur")
    assert run_line(["verify", str(example_model("median")), "--plugin", str(far)]) == 1
    assert "(the plug-ins read acme::Blur; --plugin FILE.py with an operator" in capsys.readouterr().err


def test_c_of_an_operator_that_breaks_the_slice_law_is_not_run(folder: Path) -> None:
    """Its C would read behind a null pointer."""
    path, model = spoiled(folder, "pad=self.reach, ", ""), example_model("median")
    told = r"LAM-PLUGIN-009 node '.*' \(MedianRows\).*run `lamina plugin test`"
    with pytest.raises(CompileError, match=told):
        codegen.verify(model, plugins=[path])
    with pytest.raises(CompileError, match=told):
        codegen.run(model, np.zeros((1, 3, 24, 20), np.float32), "c", plugins=[path])


def test_a_plugin_itself_may_be_given() -> None:
    plugin = load_plugin(MEDIAN / "median_ops.py")
    assert isinstance(plugin, Plugin)
    assert plugin.place == MEDIAN
    assert codegen.inspect(example_model("median"), plugins=[plugin]).supported


HOOKS = {
    "a name with capitals": ('name="edge",\n                    fit', 'name="Edge",\n                    fit'),
    "nothing said of it": ("about=", "about='' and "),
    "a run of pixels": ("fit=numbers", 'fit=numbers, run="pixels"'),
    "a reference without its function": ('call="edge_reference",', ""),
    "a reference that is no header": ('reference="edge_reference.h"', 'reference="edge_reference.c"'),
    "a reference in another folder": ('reference="edge', 'reference="../edge'),
    "no numbers": ("fit=numbers", "fit=5"),
}


@pytest.mark.parametrize(("old", "new"), HOOKS.values(), ids=HOOKS)
def test_a_wrong_hook_is_refused(old: str, new: str, tmp_path: Path) -> None:
    shutil.copytree(MEDIAN.parent / "edge", tmp_path / "edge")
    text = (tmp_path / "edge" / "edge_ops.py").read_text(encoding="utf-8")
    assert old in text
    (tmp_path / "edge" / "edge_ops.py").write_text(text.replace(old, new), encoding="utf-8")
    with pytest.raises(CompileError, match="LAM-PLUGIN-005"):
        load_plugin(tmp_path / "edge" / "edge_ops.py")


def with_attributes(tmp_path: Path, model: str, **attributes: object) -> Path:
    """The example's model; its own node with more attributes."""
    proto = onnx.load(example_model(model))
    (node,) = [node for node in proto.graph.node if node.domain.startswith("example.")]
    node.attribute.extend(onnx.helper.make_attribute(name, value) for name, value in attributes.items())
    onnx.save(proto, tmp_path / "model.onnx")
    return tmp_path / "model.onnx"


@pytest.mark.parametrize(
    ("example", "name", "value", "told"),
    [
        ("median", "reech", 100, "; did you mean reach?"),
        ("median", "weight", 1.0, "; it has reach"),
        ("edge", "step", 1, "; it has none"),
    ],
)
def test_an_attribute_that_the_operator_does_not_have_is_refused(
    example: str, name: str, value: object, told: str, tmp_path: Path
) -> None:
    model = with_attributes(tmp_path, example, **{name: value})
    with pytest.raises(CompileError) as refused:
        codegen.compile_model(model, "host", tmp_path / "out", plugins=[MEDIAN.parent / example / f"{example}_ops.py"])
    (problem,) = refused.value.problems()
    assert problem.code == "LAM-PLUGIN-011"
    assert problem.found.endswith(f" has no attribute {name}{told}")


@pytest.mark.parametrize(("more", "read"), [("", False), ('attributes=("gain",), ', True)])
def test_what_integers_set_is_no_attribute_unless_it_is_named(tmp_path: Path, more: str, read: bool) -> None:
    shutil.copytree(EDGE, tmp_path / "edge")
    path, field = tmp_path / "edge" / "edge_ops.py", "    quant: Quant | None = None\n"
    text = path.read_text(encoding="utf-8").replace(field, f"{field}    gain: int = 1\n")
    path.write_text(text.replace("read=lambda node: Edge(),", more), encoding="utf-8")
    model = with_attributes(tmp_path, "edge", gain=5)
    if read:
        assert codegen.compile_model(model, "host", tmp_path / "out", plugins=[path])
        return
    with pytest.raises(CompileError, match=r"LAM-PLUGIN-011 .*no attribute gain, a field that `attributes`"):
        codegen.compile_model(model, "host", tmp_path / "out", plugins=[path])
