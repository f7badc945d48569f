"""Wrong input to every command: an id, exit code 1 or 2, no traceback, nothing left behind."""

from __future__ import annotations

import ast
import json
import re
import sys
from pathlib import Path

import pytest

from codegen.cli.command_line import run_line
from codegen.host import host_compiler
from codegen.resources import resource_dir
from tests.support.tools import require_tool
from tests.unit.cli.conftest import DIGITS, HELD_OUT, TINY, Lamina, python

PACKAGE = resource_dir("examples").parent / "codegen"
ID = re.compile(r"^LAM-(?:[A-Z]+-\d{3}|OPS-[A-Z]+-\d\d) \S", re.MULTILINE)

MODELS = (
    ("BAD/none.onnx", "LAM-IMPORT-002"),
    ("BAD/folder", "LAM-IMPORT-002"),
    ("BAD/empty.onnx", "LAM-IMPORT"),
    ("BAD/cut.onnx", "LAM-IMPORT"),
    ("BAD/lfs.onnx", "LAM-IMPORT-003"),
    ("BAD/strange.onnx", "LAM-IMPORT-007"),
)
TARGETS = (
    ("cortex", "LAM-TARGET-001"),
    ("BAD/none.toml", "LAM-TARGET-002"),
    ("BAD/broken.toml", "LAM-TARGET-002"),
    ("BAD/bytes.toml", "LAM-TARGET-002"),
    ("BAD/chip_key.toml", "LAM-TARGET-003"),
    ("BAD/chip_short.toml", "LAM-TARGET-004"),
    ("BAD/chip_value.toml", "LAM-TARGET-005"),
)
DATA = (
    ("BAD/folder", "LAM-API-003"),
    ("BAD/file", "LAM-API-003"),
    ("BAD/cut.npz", "LAM-API-003"),
    ("BAD/objects.npz", "LAM-API-003"),
    ("BAD/other.npz", "LAM-API-004"),
    ("BAD/none.npz", "LAM-API-003"),
)
SAMPLES = (
    ("BAD/shape.npz", "LAM-PREPROCESS-004"),
    ("BAD/text.npz", "LAM-PREPROCESS-004"),
    ("BAD/nan.npz", "LAM-GOLDEN"),
    ("BAD/zero.npz", "LAM-API-005"),
)
CONFIGS = (
    ("BAD/none.toml", "LAM-PREPROCESS-001"),
    ("BAD/broken.toml", "LAM-PREPROCESS-001"),
    ("BAD/bytes.toml", "LAM-PREPROCESS-001"),
    ("BAD/key.toml", "LAM-PREPROCESS-002"),
    ("BAD/value.toml", "LAM-PREPROCESS-003"),
    ("BAD/mean.toml", "LAM-PREPROCESS-004"),
    ("BAD/jpeg.toml", "LAM-API-004"),
)

COMPILE = [
    *((f"compile {model} -o OUT/d", code) for model, code in MODELS),
    *((f"compile TINY -t {target} -o OUT/d", code) for target, code in TARGETS),
    ("compile TINY -t BAD/chip_small.toml -o OUT/d", "LAM-SCHEDULE-301"),
    ("compile TINY -t cortex-m0plus --requant ort -o OUT/d", "LAM-TARGET-006"),
    ("compile TINY -o BAD/file/d", "LAM-EMIT-001"),
    ("compile TINY -o /proc/lamina/d", "LAM-EMIT-001"),
    ("compile TINY -o BAD/folder", "LAM-EMIT-002"),
    ("compile TINY -o BAD/file", "LAM-EMIT-002"),
    ("compile TINY", "LAM-CLI-001"),
    ("compile -o OUT/d", "LAM-CLI-001"),
    ("compile TINY -o OUT/d --requant mul9", "LAM-CLI-001"),
    ("compile TINY -o OUT/d --weights zip", "LAM-CLI-001"),
    ("compile TINY -o OUT/d --fast", "LAM-CLI-001"),
    *((f"compile TINY -o OUT/d --arena-limit {bad}", "LAM-CLI-001") for bad in ("0", "0K", "1.5K", "64Q", "K", "-1")),
    ("compile TINY -o OUT/d --arena-limit 10", "LAM-SCHEDULE-303"),
    ("compile TINY -o OUT/d -t gap8-like --arena-limit 10", "LAM-SCHEDULE-303"),
    ("compile TINY -o OUT/d -t gap8-like --stream-input", "LAM-SCHEDULE-304"),
    ("compile TINY -o OUT/d --goal small", "LAM-CLI-001"),
    ("compile TINY -o OUT/d --weights-buffer 0K", "LAM-CLI-001"),
    ("compile TINY -o OUT/d --weights-buffer 100", "LAM-IMPORT-030"),
    ("compile TINY -o OUT/d --weights-buffer 4K -t gap8-like", "LAM-IMPORT-030"),
    ("compile TINY -o OUT/d --weights-buffer 4K --pin nothing", "LAM-IMPORT-030"),
    ("compile TINY -o OUT/d --pin nothing", "LAM-IMPORT-030"),
]
VERIFY = [
    *((f"verify {model}", code) for model, code in MODELS),
    ("verify TINY -t cortex", "LAM-TARGET-001"),
    *((f"verify TINY --input {data}", code) for data, code in (*DATA, *SAMPLES)),
    *((f"verify TINY --input BAD/good.npz --config {config}", code) for config, code in CONFIGS),
    ("verify TINY --config BAD/mean.toml", "LAM-CLI-001"),
    ("verify TINY --samples 0", "LAM-API-012"),
    ("verify TINY --samples -1", "LAM-API-012"),
    ("verify TINY --samples many", "LAM-CLI-001"),
    ("verify TINY --arena-limit many", "LAM-CLI-001"),
    ("verify TINY --stream-input --arena-limit 10", "LAM-SCHEDULE-303"),
]
RUN = [
    *((f"run {model} --input BAD/good.npz -o OUT/y.npz", code) for model, code in MODELS),
    *((f"run TINY --input {data} -o OUT/y.npz", code) for data, code in (*DATA, *SAMPLES)),
    *((f"run TINY --input BAD/good.npz --config {config} -o OUT/y.npz", code) for config, code in CONFIGS),
    ("run TINY --engine gpu --input BAD/good.npz -o OUT/y.npz", "LAM-API-001"),
    ("run TINY --engine float --dump-all --input BAD/good.npz -o OUT/y.npz", "LAM-API-007"),
    ("run TINY --engine c --arena-limit 10 --input BAD/good.npz -o OUT/y.npz", "LAM-SCHEDULE-303"),
    ("run TINY --limit 0 --input BAD/good.npz -o OUT/y.npz", "LAM-API-012"),
    ("run TINY --input BAD/good.npz -o BAD/file/y.npz", "LAM-API-008"),
    ("run TINY --input BAD/good.npz -o BAD/folder", "LAM-API-008"),
    ("run TINY --input BAD/good.npz", "LAM-CLI-001"),
    ("run TINY -o OUT/y.npz", "LAM-CLI-001"),
]
COMPARE = [
    *((f"compare {data} BAD/good.npz", code) for data, code in DATA if "other" not in data),
    *((f"compare BAD/good.npz {data}", code) for data, code in DATA if "other" not in data),
    ("compare BAD/good.npz BAD/good.npz --tolerance 0.9", "LAM-API-009"),
    ("compare BAD/good.npz BAD/good.npz --tolerance 0.9,2", "LAM-API-009"),
    ("compare BAD/good.npz BAD/good.npz --tolerance 0.9,nan", "LAM-API-009"),
    ("compare BAD/good.npz BAD/good.npz --tolerance close", "LAM-API-009"),
    ("compare BAD/good.npz", "LAM-CLI-001"),
]
INSPECT = [
    *((f"inspect {model}", code) for model, code in MODELS),
    *((f"inspect TINY -t {target}", code) for target, code in TARGETS),
    ("inspect TINY -t BAD/chip_small.toml", "LAM-SCHEDULE-301"),
    ("inspect TINY -t cortex-m0plus --requant ort", "LAM-TARGET-006"),
    ("inspect", "LAM-CLI-001"),
    ("inspect TINY --io-layout chw", "LAM-CLI-001"),
    ("inspect TINY --plan --arena-limit 10", "LAM-SCHEDULE-303"),
    ("inspect TINY --plan-svg BAD/file/p.svg", "LAM-API-013"),
    ("inspect TINY --plan-svg BAD/folder", "LAM-API-013"),
    ("inspect TINY --plan-svg BAD/no-such-folder/p.svg", "LAM-API-013"),
]
EVAL = [
    *((f"eval {model} --data BAD/good.npz", code) for model, code in MODELS),
    *((f"eval TINY --data {data}", code) for data, code in DATA if "other" not in data),
    *((f"eval TINY --data {data} --engine golden", code) for data, code in SAMPLES),
    *((f"eval TINY --data BAD/good.npz --engine golden --config {config}", code) for config, code in CONFIGS),
    ("eval TINY --data BAD/no_labels.npz", "LAM-API-004"),
    ("eval TINY --data BAD/other.npz", "LAM-API-004"),
    ("eval TINY --data BAD/labels.npz --engine golden", "LAM-API-005"),
    ("eval TINY --data BAD/classes.npz --engine golden", "LAM-API-005"),
    ("eval TINY --data BAD/real_labels.npz", "LAM-API-005"),
    ("eval TINY --data BAD/good.npz --metric accuracy", "LAM-API-006"),
    ("eval TINY --data BAD/good.npz --engine c,gpu", "LAM-API-001"),
    ("eval TINY --data BAD/good.npz --engine c,", "LAM-API-001"),
    ("eval TINY --data BAD/good.npz --limit 0", "LAM-API-012"),
    ("eval TINY --data BAD/good.npz --arena-limit 10", "LAM-SCHEDULE-303"),
    ("eval TINY", "LAM-CLI-001"),
]
PROFILE = [
    *((f"profile {model} -t cortex-m4", code) for model, code in MODELS),
    *((f"profile TINY -t {target}", code) for target, code in TARGETS),
    ("profile TINY -t BAD/chip_small.toml", "LAM-SCHEDULE-301"),
    ("profile TINY -t generic", "LAM-EMULATOR-001"),
    ("profile TINY -t gap8-like", "LAM-EMULATOR-001"),
    ("profile TINY --cycles", "LAM-EMULATOR-002"),
    ("profile TINY -t cortex-m0plus --requant ort", "LAM-TARGET-006"),
    ("profile TINY --opt-level -O9", "LAM-IMPORT-030"),
    ("profile TINY --opt-level -O2;reboot", "LAM-IMPORT-030"),
    ("profile TINY --repeats 0", "LAM-API-012"),
    ("profile TINY --repeats many", "LAM-CLI-001"),
    ("profile TINY -t cortex-m4 --repeats 3", "LAM-IMPORT-030"),
    ("profile TINY -t cortex-m4 --arena-limit 10", "LAM-SCHEDULE-303"),
    ("profile", "LAM-CLI-001"),
]
TARGETS_COMMAND = [
    *((f"targets {target}", code) for target, code in TARGETS),
    ("targets BAD/folder", "LAM-TARGET-001"),
    ("targets host generic", "LAM-CLI-001"),
    ("targets --all", "LAM-CLI-001"),
    *((f"targets --fits {model}", code) for model, code in MODELS),
    *((f"targets {target} --fits TINY", code) for target, code in TARGETS),
    ("targets --fits", "LAM-CLI-001"),
    ("targets --fits TINY TINY extra", "LAM-CLI-001"),
    ("targets --stream-input", "LAM-CLI-001"),
    ("targets --shape x=1,3", "LAM-CLI-001"),
    ("targets cortex-m4 --stream-input", "LAM-CLI-001"),
    ("targets cortex-m4 --fits TINY --shape x", "LAM-CLI-001"),
    ("targets cortex-m4 --fits TINY --shape none=1,3", "LAM-IMPORT-052"),
    ("targets --fits BAD/chip_key.toml", "LAM-IMPORT"),
]
HELP = [
    ("help compil", "LAM-CLI-001"),
    ("help --all", "LAM-CLI-001"),
    ("help compile run", "LAM-CLI-001"),
    ("doctor now", "LAM-CLI-001"),
    ("doctor --fix", "LAM-CLI-001"),
]
DEMO = [
    ("demo -o BAD/file/d", "LAM-EMIT-001"),
    ("demo -o /proc/lamina/d", "LAM-EMIT-001"),
    ("demo -o BAD/folder", "LAM-EMIT-002"),
    ("demo -o BAD/file", "LAM-EMIT-002"),
    ("demo -o BAD/good.npz", "LAM-EMIT-002"),
    ("demo -o BAD/folder/mine.txt/d", "LAM-EMIT-001"),
    ("demo -o", "LAM-CLI-001"),
    ("demo digits", "LAM-CLI-001"),
    ("demo --target host", "LAM-CLI-001"),
    ("demo -o BAD/folder --json", "LAM-EMIT-002"),
]
LINK = [
    ("link", "LAM-CLI-001"),
    ("link BAD/folder", "LAM-CLI-001"),
    ("link BAD/folder BAD/folder -o OUT/d --fast", "LAM-CLI-001"),
    ("link BAD/folder BAD/folder -o OUT/d", "LAM-HOST-001"),
    ("link BAD/none BAD/folder -o OUT/d", "LAM-HOST-001"),
    ("link BAD/file BAD/file -o OUT/d", "LAM-HOST-001"),
    ("link TINY TINY -o OUT/d", "LAM-HOST-001"),
    ("link BAD/folder -o OUT/d", "LAM-HOST-001"),
    ("link BAD/folder BAD/folder -o", "LAM-CLI-001"),
    ("link BAD/folder BAD/folder -o OUT/d --json", "LAM-HOST-001"),
]
GROUP = [("", None), ("compil TINY", "LAM-CLI-001"), ("--fast", "LAM-CLI-001")]
COMMANDS = (COMPILE, VERIFY, RUN, COMPARE, INSPECT, EVAL, PROFILE, TARGETS_COMMAND, DEMO, LINK)
CASES = [*(case for command in COMMANDS for case in command), *HELP, *GROUP[1:]]


USAGE = (
    "LAM-CLI-001",
    "LAM-HOST-001",
    "LAM-IMPORT-002",
    "LAM-IMPORT-030",
    "LAM-TARGET-001",
    *(f"LAM-API-0{n}" for n in ("01", "06", "09", "12")),
)
"""What is wrong with a command, and not with what it works on."""


def names_nothing(line: str) -> bool:
    """Whether a file of the command does not exist."""
    return any(f"BAD/none.{kind}" in line for kind in ("onnx", "toml", "npz"))


@pytest.fixture(autouse=True)
def elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing is written into the checkout, whatever a command does."""
    monkeypatch.chdir(tmp_path)


def words_of(line: str, bad: Path, out: Path) -> list[str]:
    places = {"BAD": str(bad), "OUT": str(out), "TINY": str(TINY)}
    return [re.sub("^(BAD|OUT|TINY)", lambda m: places[m[0]], word) for word in line.split()]


def files_in(folder: Path) -> dict[str, bytes]:
    return {str(p.relative_to(folder)): p.read_bytes() if p.is_file() else b"" for p in sorted(folder.rglob("*"))}


@pytest.mark.parametrize(("line", "code"), CASES, ids=[line for line, _ in CASES])
def test_a_mistake_gets_one_id_and_leaves_nothing(
    line: str, code: str, lamina: Lamina, bad: Path, tmp_path: Path
) -> None:
    before = files_in(bad)
    ran = lamina(*words_of(line, bad, tmp_path))
    said = ran.err + (ran.out if line.startswith("inspect") else "")
    assert code in said
    assert ID.search(said)
    assert ran.code == (2 if code in USAGE or names_nothing(line) else 1)
    assert "Traceback" not in ran.err + ran.out
    assert files_in(bad) == before
    assert files_in(tmp_path) == {}


@pytest.mark.parametrize("command", COMMANDS)
def test_ten_mistakes_are_tried_on_every_command(command: list[tuple[str, str]]) -> None:
    assert len(command) >= 10


@pytest.mark.parametrize("line", ["compile BAD/cut.onnx -o OUT/d", "run TINY -o OUT/y.npz", "targets nothing"])
def test_with_json_the_refusal_is_json_too(line: str, lamina: Lamina, bad: Path, tmp_path: Path) -> None:
    ran = lamina(*words_of(line, bad, tmp_path), "--json")
    assert set(ran.json) == {"error", "errors"}
    assert set(ran.json["error"]) >= {"id", "message"}
    assert ran.json["error"] == ran.json["errors"][0]
    assert ran.json["error"]["id"] in ran.err


def test_the_words_of_a_refusal_are_one_line(lamina: Lamina) -> None:
    assert len(lamina("targets", "cortex-m5").err.splitlines()) == 1
    assert "cortex-m4" in lamina("targets", "cortex-m5").err


def test_without_a_command_the_help_is_shown(lamina: Lamina) -> None:
    ran = lamina()
    assert ran.code == 0
    assert "compile" in ran.out


@pytest.mark.parametrize(("cc", "code"), [("no-such-compiler", "LAM-PROCESS-001"), ("false", "LAM-PROCESS-002")])
@pytest.mark.parametrize("line", ["demo -o OUT/d", "verify TINY", "eval TINY --data BAD/good.npz"])
def test_a_compiler_that_is_missing_or_fails_is_named(
    line: str, cc: str, code: str, lamina: Lamina, bad: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CC", cc)
    ran = lamina(*words_of(line, bad, tmp_path))
    assert ran.code == 1
    assert code in ran.err
    assert cc in ran.err


@pytest.mark.parametrize("cc", ["", " "])
def test_an_empty_cc_says_nothing(cc: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CC", cc)
    assert host_compiler() == "cc"


@pytest.mark.one_in(4)
@pytest.mark.parametrize("cc", ["cc -DMARK='\"x y\"'", "env cc", "'{folder}/c c' -g", "{folder}/c c"])
def test_cc_may_hold_arguments(cc: str, lamina: Lamina, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    require_tool("cc", "env")
    (tmp_path / "c c").write_text('#!/bin/sh\nexec cc "$@"\n')
    (tmp_path / "c c").chmod(0o755)
    monkeypatch.setenv("CC", cc.format(folder=tmp_path))
    assert lamina("verify", TINY, "--samples", "1").code == 0
    if "-g" in cc:
        assert lamina("demo", "-o", tmp_path / "d").code == 0


@pytest.mark.parametrize("cc", ["cc 'x", "no-such-compiler -m32", "''"])
def test_a_cc_that_names_no_program_is_refused(cc: str, lamina: Lamina, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CC", cc)
    ran = lamina("verify", TINY)
    assert ran.code == 1
    assert "LAM-PROCESS-001" in ran.err


@pytest.mark.parametrize("command", [("compile", str(TINY)), ("demo",)])
def test_an_empty_name_of_a_folder_is_not_the_current_one(
    command: tuple[str, ...], lamina: Lamina, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    ran = lamina(*command, "-o", "", "-q")
    assert ran.code == 2
    assert ran.err.startswith("LAM-IMPORT-030 out")
    assert not list(tmp_path.iterdir())


def test_a_bad_shape_leaves_nothing_to_inspect(lamina: Lamina) -> None:
    ran = lamina("inspect", TINY, "--shape", "nothing=1,2")
    assert (ran.code, ran.out) == (1, "")
    assert ran.err.startswith("LAM-IMPORT-052 input 'nothing'")


def test_the_help_of_compile_names_both_formats(lamina: Lamina) -> None:
    assert "quantized ONNX or TFLite" in lamina("compile", "--help").out


def test_without_onnxruntime_numpy_is_used_and_said(
    lamina: Lamina, bad: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "onnxruntime", None)
    ran = lamina("run", TINY, "--engine", "float", "--input", bad / "good.npz", "-o", tmp_path / "y.npz")
    assert (ran.code, ran.err) == (0, "")
    assert "note: onnxruntime is not installed: computed in numpy" in ran.out
    assert (tmp_path / "y.npz").is_file()


FLOAT_INPUTS = (
    *((TINY, data, code) for data, code in (*DATA, *SAMPLES[:2], SAMPLES[3])),
    *((model, "BAD/good.npz", code) for model, code in MODELS[:5]),
)


@pytest.mark.parametrize(("model", "data", "code"), FLOAT_INPUTS)
def test_wrong_input_of_the_engine_float_in_numpy(
    lamina: Lamina, bad: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, model: str, data: str, code: str
) -> None:
    monkeypatch.setitem(sys.modules, "onnxruntime", None)
    paths = [str(p).replace("BAD", str(bad)) for p in (model, data)]
    ran = lamina("run", paths[0], "--engine", "float", "--input", paths[1], "-o", tmp_path / "y.npz")
    assert ran.code in (1, 2)
    assert ID.search(ran.err)
    assert code in ran.err
    assert "Traceback" not in ran.err
    assert list(tmp_path.iterdir()) == []


def test_without_matplotlib_the_extra_is_named(lamina: Lamina, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    ran = lamina("inspect", TINY, "--plan-svg", tmp_path / "p.svg")
    assert ran.code == 1
    assert "LAM-API-002" in ran.err
    assert "lamina[plot]" in ran.err
    assert list(tmp_path.iterdir()) == []


def test_onnxruntime_s_own_refusal_is_passed_on(lamina: Lamina, bad: Path, tmp_path: Path) -> None:
    pytest.importorskip("onnxruntime")
    ran = lamina("run", bad / "cut.onnx", "--engine", "float", "--input", bad / "good.npz", "-o", tmp_path / "y.npz")
    assert ran.code == 1
    assert "LAM-API-010" in ran.err


@pytest.mark.parametrize(
    ("words", "code"),
    [
        (["compile", str(DIGITS), "-o", "d"], "LAM-EMIT-001"),
        (["run", str(DIGITS), "--input", str(HELD_OUT), "--dump-all", "--limit", "9", "-o", "y.npz"], "LAM-API-008"),
    ],
    ids=["compile", "run"],
)
def test_a_disk_that_is_full_leaves_nothing(words: list[str], code: str, tmp_path: Path) -> None:
    resource = pytest.importorskip("resource")
    program = (
        "import resource, signal, sys\n"
        "signal.signal(signal.SIGXFSZ, signal.SIG_IGN)\n"
        "from codegen.cli import main\n"
        "resource.setrlimit(resource.RLIMIT_FSIZE, (4096, 4096))\n"
        "sys.exit(main(sys.argv[1:]))\n"
    )
    assert resource.RLIMIT_FSIZE is not None
    done = python("-c", program, *words, cwd=tmp_path)
    assert done.returncode == 1
    assert code in done.stderr.decode()
    assert b"Traceback" not in done.stderr
    assert list(tmp_path.iterdir()) == []


def test_an_internal_fault_has_an_id_and_a_traceback_only_when_asked(
    lamina: Lamina, monkeypatch: pytest.MonkeyPatch
) -> None:
    import codegen.api

    def broken() -> None:
        raise ZeroDivisionError("nobody thought of this")

    monkeypatch.setattr(codegen.api, "targets", broken)
    ran = lamina("targets", "--json")
    assert ran.code == 1
    assert ran.json["error"]["id"] == "LAM-INTERNAL-001"
    assert "Traceback" not in ran.err
    assert "please report" in ran.err
    assert "Traceback" in lamina("targets", "--debug").err


def _raises_again(handler: ast.ExceptHandler) -> bool:
    """Whether the handler ends in a plain `raise`: it tidies up and hides nothing."""
    return isinstance(handler.body[-1], ast.Raise) and handler.body[-1].exc is None


def test_exceptions_of_every_kind_are_caught_in_one_place_and_where_a_users_code_or_call_runs() -> None:
    found = []
    for path in PACKAGE.rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.ExceptHandler) and not _raises_again(node):
                kinds = ast.unparse(node.type) if node.type else "everything"
                if kinds == "everything" or {"Exception", "BaseException"} & set(kinds.strip("()").split(", ")):
                    found.append(str(path.relative_to(PACKAGE)))
    assert sorted(found) == ["build/checks.py", "cli/command_line.py", "python_files.py", "verbs/frameworks.py"]


def test_a_file_of_labels_that_cannot_be_read_is_no_fault_of_the_compiler(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """It is read while the line itself is, before the command begins."""
    (tmp_path / "gap.txt").write_bytes(b"one\n\ntwo\n")
    (tmp_path / "latin.txt").write_bytes(b"caf\xe9\n")
    for name in ("none.txt", "", "gap.txt", "latin.txt"):
        line = ["compile", "no.onnx", "-o", str(tmp_path / "out"), "--labels", str(tmp_path / name), "--json"]
        assert run_line(line) == 2
        said = capsys.readouterr()
        assert said.err.startswith("LAM-EMIT-007 ")
        assert json.loads(said.out)["error"]["id"] == "LAM-EMIT-007"
