"""`lamina plugin test`: a good plug-in keeps every law, and each way of being wrong breaks the law that is about it."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

import codegen
from codegen.cli.command_line import run_line
from codegen.errors import CompileError
from tests.support.examples import MEDIAN, spoiled
from tests.support.tools import require_tool

BUILT = ["c99 UBSan", "c99 -O2", "c99 ASan"]


def test_the_example_keeps_every_law() -> None:
    require_tool("gcc", "qemu-system-arm", "arm-none-eabi-gcc")
    found = codegen.check_plugin(MEDIAN / "median_ops.py", ["cortex-m4"])
    assert found.ok, [check for check in found.checks if not check.ok]
    laws = [check.law for check in found.checks]
    assert {"slice", "types", "in place"} <= set(laws)
    builds = ["UBSan", "-O2", "ASan"]
    assert laws[-7:] == [*(f"c99 {b}" for b in builds), *(f"armv7em {b}" for b in builds), "cortex-m4"]


BROKEN = {
    "fewer rows than golden reads": ("slice", "taps=3, pad=self.reach", "taps=1, pad=0"),
    "rows of another distance": ("slice", "dilation=self.reach)", "dilation=1)"),
    "a type that golden does not return": ("types", "(feature_map(self, ins),)", "(TensorType((1,), ins[0].dtype),)"),
    "golden that writes to its input": ("pure", "x = ins[0]\n", "x = ins[0]\n        x[:, :1] = 0\n"),
    "golden that is never the same": (
        "pure",
        "low > middle",
        "low > np.random.default_rng().permuted(middle)",
    ),
    "a record with a dict": ("record", "slots=True", "slots=False"),
    "negative cost": ("cost", "macs = no_macs", "macs = lambda *_: -1"),
    "a table that is too short": (
        "tables",
        "RowRule(taps=3, pad=self.reach, dilation=self.reach)",
        "RowRule(table=(0,))",
    ),
    "real numbers that are float64": (
        "types",
        "np.where(low > middle, low, middle)",
        "1.0 * np.where(low > middle, low, middle)",
    ),
    "a zero point that is not kept": (
        "real",
        "np.where(low > middle, low, middle)",
        "-np.where(low > middle, low, middle)",
    ),
    "a case beyond the limits": ("limits", "TensorType((1, height,", "TensorType((2, height,"),
    "a first sentence with a field": ("said", "those some rows above", "those `reach` rows above"),
    "a claim that it is elementwise": (
        "elementwise",
        "    macs = no_macs",
        "    elementwise = True\n    macs = no_macs",
    ),
    "a claim that it only moves": ("moves_only", "    macs = no_macs", "    moves_only = True\n    macs = no_macs"),
    "an answer that raises": ("slice", "return RowRule(taps=3,", "return RowRule(taps=1 // 0,"),
}


@pytest.mark.parametrize(("law", "old", "new"), BROKEN.values(), ids=BROKEN)
def test_a_broken_law_is_named(folder: Path, law: str, old: str, new: str) -> None:
    found = codegen.check_plugin(spoiled(folder, old, new))
    broken = {check.law for check in found.checks if not check.ok}
    assert law in broken
    assert "c99 -O2" not in {check.law for check in found.checks}, (
        "C of an operator that breaks its word proves nothing"
    )


def test_wrong_c_is_found(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The template computes something else; the header reads and writes one element too many."""
    require_tool("gcc")
    spoiled(folder, "low > middle ?", "low < middle ?", "median.c.j2")
    path = spoiled(folder, "for (; i < count; i++)", "for (; i <= count; i++)", "median_dsp.h")
    assert run_line(["plugin", "test", str(path), "--json"]) == 1
    told = json.loads(capsys.readouterr().out)
    broken = {c["law"] for c in told["laws"] if not c["ok"]}
    assert not told["ok"]
    assert {"c99 -O2", "armv7em ASan"} <= broken
    assert "armv7em -O2" not in broken or "c99 ASan" in broken


def test_c_that_does_not_compile_is_told_once(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    require_tool("gcc")
    path = spoiled(folder, "const {{ f.in_t }} low", "const {{ f.in_t }} lower", "median.c.j2")
    assert run_line(["plugin", "test", str(path)]) == 1
    shown = capsys.readouterr().out
    assert shown.count("LAM-PROCESS-002") == shown.count("LAM-PLUGIN-009 MedianRows, c99 UBSan: ") == 1
    assert "\\n" not in shown
    assert shown.count("\n  ") > 1, "the compiler's lines"
    assert all(len(line) <= 80 for line in shown.splitlines() if line.startswith("MedianRows"))


def test_an_operator_without_c_for_all_is_found(folder: Path) -> None:
    """Without the plain template no chip but those with DSP instructions has a kernel."""
    found = codegen.check_plugin(spoiled(folder, 'C(file="median.c.j2", fit=numbers),', ""))
    assert [check.found[:13] for check in found.checks if not check.ok] == ["LAM-LOWER-001"] or not found.ok


@pytest.mark.parametrize(
    ("code", "old", "new"),
    [
        ("005", "            cases=cases,\n", ""),
        ("005", "    for i, (height", "    return\n    for i, (height"),
        ("005", 'Case(f"map{i}",', 'Case("map",'),
        ("005", 'yield Case("real", MedianRows(1), (TensorType((1, 5, 3, 2), DType.F32),))', "yield 5"),
        ("008", 'yield Case("real"', 'yield Case("real" + 5'),
    ],
)
def test_cases_that_are_none_are_refused(folder: Path, code: str, old: str, new: str) -> None:
    with pytest.raises(CompileError, match=f"LAM-PLUGIN-{code}"):
        codegen.check_plugin(spoiled(folder, old, new))


def test_a_table_is_printed_and_the_exit_code_says_it(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = spoiled(folder, "taps=3, pad=self.reach", "taps=1, pad=0")
    assert run_line(["plugin", "test", str(path)]) == 1
    shown = capsys.readouterr().out
    assert "MedianRows  slice     FAILED" in shown
    assert "of the output: more of input 0 is read than the rows [1] that `rows` names" in " ".join(shown.split())
    assert "11 of 12 laws are kept" in shown


@pytest.mark.parametrize("words", ["test", "test gone.py", "tset x.py", "test a.py b.py", "test a.py -x", "test a -t"])
def test_wrong_lines_are_refused(words: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert run_line(["plugin", *words.split()]) == 2
    assert "LAM-" in capsys.readouterr().err


@pytest.mark.parametrize(("target", "code"), [("generic", "LAM-EMULATOR-001"), ("nowhere", "LAM-TARGET-001")])
def test_a_target_that_cannot_be_tried_is_refused_first(target: str, code: str, folder: Path) -> None:
    path = spoiled(folder, "def cases() -> Iterator[Case]:", "def cases() -> Iterator[Case]:\n    raise ValueError")
    with pytest.raises(CompileError, match=code):
        codegen.check_plugin(path, [target])


def test_a_mistyped_word_is_met_with_the_one_there_is(capsys: pytest.CaptureFixture[str]) -> None:
    assert run_line(["plugin", "tst"]) == 2
    assert "there is no 'tst', but 'test'" in capsys.readouterr().err


WRONG_REALS = {
    "the sign": ("real", "* np.float32(0.5)", "* np.float32(-0.5)"),
    "float64": ("real", "* np.float32(0.5)", "* np.float64(0.5)"),
}


@pytest.mark.parametrize(("law", "old", "new"), WRONG_REALS.values(), ids=WRONG_REALS)
def test_another_definition_on_real_numbers_is_found(law: str, old: str, new: str, tmp_path: Path) -> None:
    shutil.copytree(MEDIAN.parent / "edge", tmp_path / "edge")
    path = tmp_path / "edge" / "edge_ops.py"
    text = path.read_text(encoding="utf-8")
    assert old in text
    path.write_text(text.replace(old, new), encoding="utf-8")
    assert [check.law for check in codegen.check_plugin(path).checks if not check.ok] == [law]


def test_the_example_with_a_hook_keeps_every_law(tmp_path: Path) -> None:
    """By its reference; without one there is no C to try."""
    require_tool("gcc")
    edge = MEDIAN.parent / "edge" / "edge_ops.py"
    assert [c.law for c in codegen.check_plugin(edge).checks if not c.ok or c.law[:3] == "c99"] == BUILT
    text = edge.read_text(encoding="utf-8").replace('reference="edge_reference.h",', "")
    (tmp_path / "edge_ops.py").write_text(text.replace('call="edge_reference",', ""), encoding="utf-8")
    found = codegen.check_plugin(tmp_path / "edge_ops.py")
    assert found.ok
    assert not {check.law for check in found.checks}.intersection(BUILT)
