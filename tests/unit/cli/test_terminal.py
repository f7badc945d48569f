"""What a user meets at the terminal: help, near misses, exit codes, colours, quiet, completion, doctor."""

from __future__ import annotations

import io
import os
import sys
from pathlib import Path
from typing import Any

import pytest

import codegen
from codegen.cli import console, main, progress
from codegen.cli.group import COMMANDS
from codegen.errors import UsageWrong
from codegen.process import run_program
from codegen.resources import VERSION
from tests.unit.cli.conftest import DIGITS, ENVIRONMENT, HELD_OUT, TINY, Lamina, python


class Terminal(io.StringIO):
    """A stream that somebody watches."""

    def isatty(self) -> bool:
        return True


def test_a_bare_command_prints_the_help_and_succeeds(lamina: Lamina) -> None:
    ran = lamina()
    assert (ran.code, ran.err) == (0, "")
    assert all(name in ran.out for name in COMMANDS)
    assert ran.out.strip() == lamina("--help").out.strip() == lamina("help").out.strip()


@pytest.mark.parametrize("name", COMMANDS)
def test_help_of_a_command_is_the_same_both_ways(name: str, lamina: Lamina) -> None:
    ran = lamina("help", name)
    assert ran.code == 0
    assert ran.out.strip() == lamina(name, "--help").out.strip()


@pytest.mark.parametrize(
    ("words", "meant"),
    [
        (["compil", "x"], "'compile'"),
        (["inspekt"], "'inspect'"),
        (["help", "verfy"], "'verify'"),
        (["doktor"], "'doctor'"),
        (["compile", "x.onnx", "--targte", "host"], "--target"),
        (["eval", "x.onnx", "--engin", "c"], "--engine"),
    ],
)
def test_a_near_miss_is_met_with_what_was_meant(words: list[str], meant: str, lamina: Lamina) -> None:
    ran = lamina(*words)
    assert ran.code == 2
    assert "Did you mean" in ran.err
    assert meant in ran.err


def test_a_name_like_nothing_lists_the_commands(lamina: Lamina) -> None:
    assert all(name in lamina("xyzzy").err for name in COMMANDS)


def test_the_version_is_printed(lamina: Lamina) -> None:
    assert VERSION in lamina("--version").out


@pytest.mark.parametrize(
    "line",
    [
        "compile NONE.onnx -o d",
        "verify NONE.onnx",
        "inspect NONE.tflite",
        "profile NONE.onnx",
        "run NONE.onnx --input x.npz -o y.npz",
        "run TINY --input NONE.npz -o y.npz",
        "eval TINY --data NONE.npz",
        "eval TINY --data NONE.npz --config NONE.toml",
        "compare NONE.npz NONE.npz",
        "targets NONE.toml",
        "inspect TINY -t NONE.toml",
        "inspect TINY -t no-such-chip",
    ],
)
def test_a_path_or_target_that_does_not_exist_is_a_usage_mistake(
    line: str, lamina: Lamina, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    ran = lamina(*(str(TINY) if word == "TINY" else word for word in line.split()))
    assert ran.code == 2
    assert ran.err.startswith("LAM-")


def test_control_c_ends_with_130(monkeypatch: pytest.MonkeyPatch, lamina: Lamina) -> None:
    def stopped() -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("codegen.api.targets", stopped)
    ran = lamina("targets")
    assert (ran.code, ran.out, ran.err.strip()) == (130, "", "stopped")


STOPPING = """
import os, signal, sys

signal.signal(signal.SIGINT, signal.default_int_handler)  # a background process starts with it ignored

class Stopping:
    def find_spec(self, name, path=None, target=None):
        if name == sys.argv[1]:
            os.kill(os.getpid(), signal.SIGINT)

sys.meta_path.insert(0, Stopping())
from codegen.cli import main
sys.exit(main(["targets"]))
"""


@pytest.mark.skipif(os.name != "posix", reason="signals of POSIX")
@pytest.mark.parametrize("module", ["codegen.cli.command_line", "click", "numpy", "codegen.api"])
def test_control_c_while_modules_are_loaded_ends_with_130(module: str) -> None:
    done = python("-c", STOPPING, module)
    assert (done.returncode, done.stdout) == (130, b"")
    assert done.stderr.decode().strip() in ("", "stopped")


@pytest.mark.parametrize(
    ("stream", "environment", "red"),
    [
        (Terminal, {}, True),
        (Terminal, {"NO_COLOR": "1"}, False),
        (Terminal, {"TERM": "dumb"}, False),
        (io.StringIO, {}, False),
    ],
)
def test_the_id_of_a_refusal_is_red_on_a_terminal_only(
    stream: type[io.StringIO], environment: dict[str, str], red: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("NO_COLOR", raising=False)
    monkeypatch.setenv("TERM", "xterm")
    for name, value in environment.items():
        monkeypatch.setenv(name, value)
    found = stream()
    monkeypatch.setattr(sys, "stderr", found)
    assert console.fail(UsageWrong("\x1b[31mno\x1b[0m"), as_json=False) == 2
    said = found.getvalue()
    assert said.startswith("\x1b[31m\x1b[1mLAM-CLI-001\x1b[0m " if red else "LAM-CLI-001 ")
    assert "\x1b[31mno" not in said


def test_quiet_draws_no_bar_in_any_command(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    asked: list[bool] = []

    class Bar(progress.Progress):
        def __init__(self, title: str, *, quiet: bool = False) -> None:
            asked.append(quiet)
            super().__init__(title, quiet=True)

    for name in COMMANDS:
        module = __import__(f"codegen.cli.{name}_command", fromlist=["command"])
        if hasattr(module, "Progress"):
            monkeypatch.setattr(module, "Progress", Bar)
    nothing = str(tmp_path / "none")
    for words in (["compile", nothing, "-o", nothing], ["verify", nothing], ["inspect", nothing], ["profile", nothing]):
        assert main([*words, "-q"]) == 2
    assert main(["run", nothing, "--input", nothing, "-o", f"{nothing}.npz", "-q"]) == 2
    assert main(["eval", nothing, "--data", nothing, "-q"]) == 2
    assert main(["compare", nothing, nothing, "-q"]) == 2
    assert asked == [True] * 7


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_the_documented_completion_is_there(shell: str) -> None:
    environment = {**ENVIRONMENT, "_LAMINA_COMPLETE": f"{shell}_source"}
    done = run_program([sys.executable, "-m", "codegen"], env=environment, timeout_s=60)
    assert b"_LAMINA_COMPLETE" in done.stdout
    readme = (Path(codegen.__file__).parent.parent / "README.md").read_text(encoding="utf-8")
    assert f"_LAMINA_COMPLETE={shell}_source lamina" in readme


def test_doctor_finds_what_is_here_and_says_how_to_get_the_rest(
    lamina: Lamina, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.delenv("CC", raising=False)
    ran = lamina("doctor", "--json")
    found = {f["name"]: f for f in ran.json["findings"]}
    assert {"cc", "arm-none-eabi-gcc", "qemu-system-arm", "onnxruntime", "matplotlib", "pillow"} <= set(found)
    assert ran.code == (0 if found["cc"]["found"] else 1)
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setitem(sys.modules, "tflite_micro", None)
    ran = lamina("doctor")
    assert ran.code == 1
    assert "needed and missing: cc" in ran.out
    assert "apt-get install gcc-arm-none-eabi" in ran.out
    assert max(map(len, ran.out.splitlines())) <= 80


@pytest.mark.parametrize("cc", ["mycc", "mycc -m32"])
def test_doctor_takes_the_compiler_of_the_environment(cc: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    own = tmp_path / "mycc"
    own.write_text("#!/bin/sh\n")
    own.chmod(0o755)
    monkeypatch.setenv("CC", cc)
    monkeypatch.setenv("PATH", f"{tmp_path}{os.pathsep}{os.environ['PATH']}")
    first = codegen.doctor().findings[0]
    assert (first.name, first.found) == ("mycc", str(own))


SAID = (
    "",
    *(f"help {name}" for name in COMMANDS),
    "help LAM-CLI-001",
    "help cluster",
    "help performance",
    "help packages/zephyr",
    "compile DIGITS -o OUT -v",
    "inspect DIGITS -t cortex-m4",
    "inspect DIGITS -t cortex-m4 --kernels",
    "inspect DIGITS -t cortex-m4 --plan",
    "inspect DIGITS -t cortex-m4 --explain",
    "inspect FLOAT -t cortex-m4",
    "profile DIGITS -t stm32l4r5zi --estimate",
    "verify TINY --samples 1",
    "run DIGITS --input DATA --limit 1 --dump-all -o OUT.npz",
    "eval DIGITS --data DATA --limit 9 --engine golden",
    "compare OUT.npz OUT.npz",
    "sensitivity FLOAT --calib CALIB --samples 8",
    "quantize FLOAT --calib CALIB --recipe fast -o OUT.onnx",
    "report DIGITS -t cortex-m4,cortex-m55 --no-chips -o OUT.html",
    "targets",
    "targets cortex-m4",
    "compile TINY -o OUT2",
    "link OUT OUT2 -o LINKED",
    "doctor",
)
"""What every command says first, and pages."""
NEEDS = {
    "compare OUT.npz OUT.npz": ("run DIGITS --input DATA --limit 1 --dump-all -o OUT.npz",),
    "link OUT OUT2 -o LINKED": ("compile DIGITS -o OUT", "compile TINY -o OUT2"),
}
"""Commands that make what another one reads."""
UNLIKE = {"demo", "plugin", "examples"}
"""Commands whose text is one of the others', or too dear to be asked for."""


@pytest.fixture(scope="module")
def places(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    out = str(tmp_path_factory.mktemp("said") / "o")
    names = {f"OUT{end}": out + end for end in ("", "2", ".npz", ".onnx", ".html")}
    folder = DIGITS.parent
    models = {
        "DIGITS": DIGITS,
        "TINY": TINY,
        "FLOAT": folder / "digits.onnx",
        "DATA": HELD_OUT,
        "CALIB": folder / "digits_calib.npz",
    }
    return {**names, "LINKED": out + "linked", **{name: str(path) for name, path in models.items()}}


def too_long(said: str, width: int, kept: set[str]) -> list[str]:
    """Lines beyond the width which could be broken: not those of one word or a path, nor code of a page."""
    lines = [line for line in said.splitlines() if len(line) > width]
    return [line for line in lines if len(line.split()) > 1 and not any(part in line for part in kept)]


@pytest.mark.parametrize("line", SAID)
def test_no_line_is_wider_than_the_terminal_and_wide_shows_all(
    line: str, lamina: Lamina, places: dict[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """What is shown is rendered for other widths too, so that no command runs three times."""
    for needed in NEEDS.get(line, ()):
        assert lamina(*(places.get(word, word) for word in needed.split())).code == 0
    found: dict[int | None, str] = {}
    rendered = console._rendered

    def at_all_widths(text: Any, result: Any, width: int | None) -> str:
        found.update({each: rendered(text, result, each) for each in (80, 120, None)})
        return rendered(text, result, width)

    monkeypatch.setattr(console, "_rendered", at_all_widths)
    monkeypatch.setenv("COLUMNS", "80")
    ran = lamina(*(places.get(word, word) for word in line.split()))
    assert ran.code in ((0, 1) if line == "doctor" else (0,)), ran.err
    assert "\x1b" not in ran.out + ran.err
    code = {text.strip() for text in ran.out.splitlines() if text.startswith("    ") and line.startswith("help ")}
    kept = {*places.values(), *code} - {""}
    for width, said in [(80, ran.out + ran.err), *((w, said) for w, said in found.items() if w is not None)]:
        assert too_long(said, width, kept) == []
    if "--wide shows all" in found.get(80, ""):
        wide = found[None]
        assert "left out" not in wide
        assert max(map(len, wide.splitlines())) > 80


def test_every_command_is_looked_at() -> None:
    assert {line.split()[0] for line in SAID if line} == set(COMMANDS) - UNLIKE


def test_sizes_are_for_people_in_text_and_exact_in_json(lamina: Lamina) -> None:
    exact = lamina("inspect", DIGITS, "-t", "cortex-m4", "--json").json["weights_bytes"]
    assert exact > 1024
    assert f"{exact / 1024:.1f} KiB of 2 MiB" in lamina("inspect", DIGITS, "-t", "cortex-m4").out
