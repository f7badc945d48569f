"""What a terminal would obey never reaches it raw, whatever the model, its path or a file's contents say."""

from __future__ import annotations

import ast
import json
from pathlib import Path

import numpy as np
import onnx
import pytest

from codegen.cli.console import say
from codegen.errors import CompileError, ToolFailed, one_line
from codegen.resources import resource_dir
from codegen.target import find_chip
from tests.support.hostile import NAMES, onnx_named, tflite_named, written
from tests.support.tools import require_tool
from tests.unit.cli.conftest import Lamina

TERMINAL = "\x1b]0;pwned\x07\x1b[2J\x9b31m\r\x08\x00\x85\u2028\u202e\u2066\u200b\ufeff\U000e0041\nLAM-FORGED-1"
STEMS = (TERMINAL, NAMES[7])
PACKAGE = resource_dir("examples").parent / "codegen"
VERBS = (
    "inspect MODEL --explain",
    "inspect MODEL --plan",
    "inspect MODEL --kernels",
    "inspect MODEL -t cortex-m0plus --io-type model",
    "inspect MODEL --arena-limit 10",
    "inspect MODEL -q --arena-limit 10",
    "compile MODEL -v -o OUT",
    "compile MODEL --arena-limit 10 -o OUT",
    "run MODEL --input DATA --dump-all -o Y.npz",
    "run MODEL --input NONE -o Y.npz",
    "compare Y.npz Y.npz",
)


def check_clean(text: str) -> None:
    assert all(line.isprintable() for line in text.split("\n")), text
    assert not any(line.startswith("LAM-FORGED-1") for line in text.split("\n"))


def data_for(model: Path) -> dict[str, np.ndarray]:
    if model.suffix == ".onnx":
        return {"x": np.zeros((1, 1, 1, 8, 8), np.float32)}
    return {"x": np.zeros((1, 1, 6, 5, 2), np.int8)}


@pytest.mark.one_in(2)
@pytest.mark.parametrize("stem", STEMS, ids=["terminal", "mixed"])
@pytest.mark.parametrize("ending", [".onnx", ".tflite"])
def test_every_command_says_of_hostile_names_as_many_lines_as_of_harmless_ones(
    ending: str, stem: str, lamina: Lamina, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    make = onnx_named if ending == ".onnx" else tflite_named
    said = []
    for names in ("t", stem):
        folder = tmp_path / names[0].replace("\x1b", "e")
        model = written(make(names), folder, f"m{ending}")
        np.savez(folder / "DATA", **data_for(model))
        monkeypatch.chdir(folder)
        lines = []
        for verb in VERBS:
            ran = lamina(*verb.replace("MODEL", model.name).replace("DATA", "DATA.npz").split(), "--wide")
            check_clean(ran.out + ran.err)
            lines.append((ran.code, ran.out.count("\n"), ran.err.count("\n")))
        said.append(lines)
    assert said[0] == said[1]


def test_verify_and_profile_say_nothing_raw(lamina: Lamina, tmp_path: Path) -> None:
    require_tool("cc")
    model = written(onnx_named(TERMINAL), tmp_path, "m.onnx")
    for verb in ("verify", "profile"):
        ran = lamina(verb, model)
        assert ran.code == 0
        assert "pwned" in ran.out
        check_clean(ran.out + ran.err)


def test_json_of_hostile_names_is_json_and_has_them_whole(lamina: Lamina, tmp_path: Path) -> None:
    model = written(onnx_named(TERMINAL), tmp_path, "m.onnx")
    ran = lamina("inspect", model, "--json")
    assert ran.out.isascii()
    check_clean(ran.out)
    assert any(p["name"].startswith(TERMINAL) for p in json.loads(ran.out)["interface"])
    refused = lamina("compile", model, "-o", tmp_path / "o", "--arena-limit", "10", "--json")
    check_clean(refused.out + refused.err)
    assert TERMINAL in refused.json["error"]["message"]


def test_refusals_of_hostile_models_are_one_line_each(lamina: Lamina, tmp_path: Path) -> None:
    proto = onnx.ModelProto.FromString(onnx_named(TERMINAL))
    for node in proto.graph.node:
        node.op_type = TERMINAL
        node.domain = TERMINAL
    proto.graph.node[0].op_type = "QuantizeLinear"
    proto.graph.node[0].domain = ""
    proto.graph.node[0].attribute.add(name=TERMINAL, s=TERMINAL.encode())
    model = written(proto.SerializeToString(), tmp_path, "m.onnx")
    for verb in ("inspect", "compile -o o", "verify"):
        ran = lamina(*verb.split(), model)
        assert ran.code == 1
        check_clean(ran.out + ran.err)
        assert "pwned" in ran.out + ran.err


@pytest.mark.parametrize(
    "line",
    [
        "compile PATH -o o",
        "inspect PATH",
        "inspect MODEL -t PATH",
        "inspect MODEL -t PATH.toml",
        "compile MODEL -o PATH",
        "run MODEL --input PATH -o y.npz",
        "eval MODEL --data PATH --engine PATH",
        "verify MODEL --input PATH --config PATH",
        "compare PATH PATH",
        "compare PATH PATH --tolerance PATH",
        "targets PATH",
        "demo --PATH",
        "PATH",
        "inspect MODEL --arena-limit PATH",
    ],
)
def test_words_of_the_command_line_come_back_readable(
    line: str, lamina: Lamina, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    written(onnx_named("t"), tmp_path, "m.onnx")
    (tmp_path / "o").write_text("a file")
    hostile = TERMINAL.replace("\0", "")
    ran = lamina(*(word.replace("PATH", hostile).replace("MODEL", "m.onnx") for word in line.split()))
    check_clean(ran.out + ran.err)


def test_keys_and_texts_of_a_target_s_file_come_back_readable(lamina: Lamina, tmp_path: Path) -> None:
    chip = find_chip("generic").read_text(encoding="utf-8")
    key = json.dumps(TERMINAL.replace("\0", "").replace("\U000e0041", ""))
    own = tmp_path / "chip.toml"
    for text in (
        f"{key} = 1\n{chip}",
        chip.replace('"little"', key),
        f"{key} = {key}",
        chip.replace("description = ", f"description = {key} #"),
    ):
        own.write_text(text, encoding="utf-8")
        ran = lamina("targets", own)
        assert "pwned" in ran.out + ran.err
        check_clean(ran.out + ran.err)


def test_the_words_of_a_program_and_of_a_hint_are_escaped() -> None:
    check_clean(ToolFailed("cc\x1b[2J", 1, TERMINAL.encode("utf-8") + b"\xff").text())
    check_clean(CompileError("f", where=TERMINAL, hint=f"did you mean {TERMINAL}?").text())


def test_what_cannot_be_encoded_is_escaped(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    path = tmp_path / "out"
    with path.open("w", encoding="ascii") as stream:
        monkeypatch.setattr("sys.stdout", stream)
        say("ü \ud800 ok")
    assert path.read_text() == "\\xfc \\ud800 ok\n"


def test_no_control_or_format_character_passes() -> None:
    found = one_line("".join(map(chr, range(0x110000))), 0x110000)
    assert found.isprintable()
    assert "\\x1b" in found
    assert "\\u202e" in found


def test_there_is_one_way_to_the_terminal() -> None:
    found = []
    for path in PACKAGE.rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Call) and ast.unparse(node.func) in (
                "print",
                "click.echo",
                "click.secho",
                "sys.stdout.write",
                "sys.stderr.write",
                "traceback.print_exc",
            ):
                found.append(str(path.relative_to(PACKAGE)))
    assert set(found) == {"cli/console.py"}
