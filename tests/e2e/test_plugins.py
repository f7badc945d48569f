"""The examples of plug-ins: their models compiled, streamed in a group, and verified here and on the emulated chip."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import codegen
from codegen.cli.command_line import run_line
from codegen.resources import resource_dir
from tests.support.examples import example_model
from tests.support.tools import require_tool

PLUGINS = resource_dir("examples") / "plugins"
MEDIAN = PLUGINS / "median" / "median_ops.py"
EDGE = PLUGINS / "edge" / "edge_ops.py"


@pytest.fixture
def unanswered(tmp_path: Path) -> Path:
    """The plug-in of the hook without its reference."""
    text = EDGE.read_text(encoding="utf-8")
    path = tmp_path / "edge_ops.py"
    path.write_text(text.replace('reference="edge_reference.h",', "").replace('call="edge_reference",', ""))
    return path


def test_the_median_is_streamed_and_equal_to_the_bit() -> None:
    found = codegen.verify(example_model("median"), plugins=[MEDIAN], goal="memory")
    assert found.equal, found.first_difference
    assert found.tensors_checked == 3


def test_the_median_is_the_outsiders_median() -> None:
    """By numpy's own median of the three rows, which the plug-in does not use."""
    x = np.random.default_rng(3).normal(0, 1, (1, 3, 24, 20)).astype(np.float32)
    dumped = codegen.run(example_model("median"), {"x": x}, dump_all=True, plugins=[MEDIAN])
    before, after = dumped["first_q"].astype(int), dumped["median_q"]
    axis = before.shape.index(24)
    rows = np.moveaxis(before, axis, 0)
    padded = np.concatenate([rows[:1], rows, rows[-1:]])
    wanted = np.median(np.stack([padded[:-2], padded[1:-1], padded[2:]]), axis=0)
    np.testing.assert_array_equal(np.moveaxis(after, axis, 0), wanted)
    assert (after != before).any()


@pytest.mark.parametrize(("target", "kernel"), [("cortex-m4", "median_median_dsp"), ("cortex-m0plus", "median_median")])
def test_a_chip_gets_the_kernel_for_it(target: str, kernel: str, tmp_path: Path) -> None:
    options = {"plugins": [MEDIAN], "goal": "memory"}
    made = codegen.compile_model(example_model("median"), target, tmp_path / "out", **options)
    kernels = [layer["kernel"] for layer in made.manifest["layers"] if layer["operator"] == "MedianRows"]
    assert kernels == [kernel]
    assert (made.path / "runtime" / "median_dsp.h").exists() == (target == "cortex-m4")
    assert max(len(group["nodes"]) for group in made.manifest["plan"]["groups"]) == 3


def test_the_median_on_the_emulated_chip() -> None:
    require_tool("qemu-system-arm", "arm-none-eabi-gcc")
    found = codegen.verify(example_model("median"), target="cortex-m4", plugins=[MEDIAN], goal="memory")
    assert found.equal, found.first_difference


def test_every_command_on_a_model_takes_it(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    model, plugin = str(example_model("median")), ["--plugin", str(MEDIAN)]
    samples = tmp_path / "x.npz"
    np.savez(samples, x=np.zeros((2, 3, 24, 20), np.float32), y=np.zeros(2, np.int64))
    assert run_line(["inspect", model, *plugin]) == 0
    assert "MedianRows" in capsys.readouterr().out
    assert run_line(["run", model, *plugin, "--input", str(samples), "-o", str(tmp_path / "y.npz")]) == 0
    assert run_line(["profile", model, *plugin, "--repeats", "1"]) == 0
    assert run_line(["report", model, *plugin, "-o", str(tmp_path / "r.html"), "--no-chips"]) == 0
    assert "MedianRows" in (tmp_path / "r.html").read_text(encoding="utf-8")


def test_nothing_is_left_behind(tmp_path: Path) -> None:
    """A command without the plug-in, after one with it, knows nothing of it."""
    codegen.inspect(example_model("median"), plugins=[MEDIAN])
    assert not codegen.inspect(example_model("median")).supported


def test_the_same_input_gives_the_same_bytes(tmp_path: Path) -> None:
    made = [
        codegen.compile_model(example_model("median"), "cortex-m4", tmp_path / name, plugins=[MEDIAN]).path
        for name in ("a", "b")
    ]
    files = [{p.relative_to(root): p.read_bytes() for p in root.rglob("*") if p.is_file()} for root in made]
    assert files[0] == files[1]


def test_a_hook_is_declared_and_called_row_by_row(tmp_path: Path) -> None:
    made = codegen.compile_model(example_model("edge"), "cortex-m4", tmp_path / "out", plugins=[EDGE], goal="memory")
    header = (made.path / "include" / "edge.h").read_text(encoding="utf-8")
    declared = "void edge_edge_s8(const int8_t *const *rows, int8_t *y, int32_t n, void *scratch, int32_t columns,"
    assert "/* Yours to define: a row of half the differences" in header
    assert declared in header
    assert max(len(group["nodes"]) for group in made.manifest["plan"]["groups"]) == 3
    (hook,) = made.manifest["hooks"]
    assert (hook["name"], hook["in"], hook["reference"]) == ("edge_edge_s8", "s8", "edge_reference.h")
    sources = "".join(path.read_text(encoding="utf-8") for path in (made.path / "src").glob("*.c"))
    assert "edge_reference" not in sources, "the firmware has its own"
    assert "edge_reference(rows" in (made.path / "test" / "edge_hooks.c").read_text(encoding="utf-8")


@pytest.mark.parametrize("weights", ["c", "blob"])
def test_a_hook_by_its_reference(weights: str) -> None:
    found = codegen.verify(example_model("edge"), plugins=[EDGE], goal="memory", weights=weights)
    assert found.equal, found.first_difference
    assert found.tensors_checked == 3


def test_a_hook_on_the_emulated_chip() -> None:
    require_tool("qemu-system-arm", "arm-none-eabi-gcc")
    found = codegen.verify(example_model("edge"), target="cortex-m4", plugins=[EDGE], goal="memory")
    assert found.equal, found.first_difference


def test_a_hook_without_a_reference_is_answered_by_golden(unanswered: Path) -> None:
    """In verify and in run, streamed row by row."""
    model = example_model("edge")
    found = codegen.verify(model, plugins=[unanswered], goal="memory", samples=1)
    assert found.equal, found.first_difference
    x = np.random.default_rng(4).normal(0, 1, (1, 3, 24, 20)).astype(np.float32)
    golden, by_c = (codegen.run(model, x, engine, plugins=[unanswered]) for engine in ("golden", "c"))
    np.testing.assert_array_equal(golden, by_c)
    assert golden.any()


def test_a_wrong_reference_is_found(tmp_path: Path) -> None:
    for file in (EDGE, EDGE.with_name("edge_reference.h")):
        text = file.read_text(encoding="utf-8").replace("(int32_t)right[m] - left[m]", "(int32_t)left[m] - right[m]")
        (tmp_path / file.name).write_text(text, encoding="utf-8")
    found = codegen.verify(example_model("edge"), plugins=[tmp_path / EDGE.name], samples=1)
    assert not found.equal
    assert found.first_difference is not None
    assert found.first_difference.tensor.startswith("edge")


def test_nothing_answers_a_hook_without_a_reference_on_a_board(unanswered: Path, tmp_path: Path) -> None:
    model, words = example_model("edge"), {"plugins": [unanswered]}
    with pytest.raises(codegen.CompileError, match="LAM-PLUGIN-010 cortex-m4: edge_edge_s8 has no reference"):
        codegen.verify(model, target="cortex-m4", **words)
    with pytest.raises(codegen.CompileError, match="LAM-PLUGIN-010"):
        codegen.profile(model, **words)
    made = codegen.compile_model(model, "cortex-m4", tmp_path / "out", **words)
    assert not list((made.path / "test").glob("*_hooks.c"))
    with pytest.raises(codegen.CompileError, match="LAM-PLUGIN-010"):
        codegen.load(made)


def test_the_hooks_numbers_are_the_outsiders() -> None:
    """ONNX's own arithmetic on the real numbers that the integers stand for."""
    x = np.random.default_rng(3).normal(0, 1, (1, 3, 24, 20)).astype(np.float32)
    dumped = codegen.run(example_model("edge"), {"x": x}, dump_all=True, plugins=[EDGE])
    before, after = dumped["first_q"].astype(int), dumped["edge_q"]
    axis = before.shape.index(20)
    columns = np.moveaxis(before, axis, 0)
    padded = np.concatenate([columns[:1], columns, columns[-1:]])
    wanted = np.clip(np.floor((padded[2:] - padded[:-2]) / 2 + 0.5), -128, 127)
    np.testing.assert_array_equal(np.moveaxis(after, axis, 0), wanted)
    assert after.any()
