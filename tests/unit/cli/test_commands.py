"""Each command does its work, and its JSON has the keys that scripts rely on."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import codegen
from codegen import errors
from codegen.cli.group import COMMANDS
from codegen.errors import OutputNotOurs
from codegen.process import find_program
from codegen.verbs.inspection import Inspection
from tests.support.shared import ROOT
from tests.unit.cli.conftest import DIGITS, ENVIRONMENT, HELD_OUT, TINY, Lamina

COMPILE_KEYS = {
    *("model", "target", "requant", "arena_bytes", "input_bytes", "weights_bytes", "scratch_bytes", "macs"),
    *("recomputed_macs", "arena_lower_bound_bytes", "groups", "stack_bytes", "plan"),
}


def test_compile_writes_a_project_and_says_what_it_needs(lamina: Lamina, tmp_path: Path) -> None:
    ran = lamina("compile", DIGITS, "-t", "cortex-m4", "-o", tmp_path / "d")
    assert ran.code == 0
    assert {p.name for p in (tmp_path / "d").iterdir()} >= {"include", "src", "runtime", "test", "manifest.json"}
    for word in ("arena", "weights", "code", "MACs", "groups"):
        assert word in ran.out


def test_compile_json_has_the_keys_that_scripts_rely_on(lamina: Lamina, tmp_path: Path) -> None:
    ran = lamina("compile", TINY, "-o", tmp_path / "d", "--json")
    manifest = json.loads((tmp_path / "d" / "manifest.json").read_text())
    assert set(ran.json) >= COMPILE_KEYS
    assert {k: ran.json[k] for k in COMPILE_KEYS} == {k: manifest[k] for k in COMPILE_KEYS}


def test_compile_replaces_its_own_project(lamina: Lamina, tmp_path: Path) -> None:
    assert lamina("compile", TINY, "-o", tmp_path / "d").code == 0
    assert lamina("compile", TINY, "-o", tmp_path / "d", "--weights", "blob", "--name", "other").code == 0
    assert (tmp_path / "d" / "weights.bin").is_file()
    assert (tmp_path / "d" / "include" / "other.h").is_file()


def test_compile_replaces_no_edited_file_but_by_force(lamina: Lamina, tmp_path: Path) -> None:
    out = tmp_path / "d"
    assert lamina("compile", TINY, "-o", out).code == 0
    for path in ("README.md", "src/tiny_qdq.c"):
        (out / path).write_text((out / path).read_text() + "mine\n")
    (out / "src" / "main.c").write_text("#error not the network's\n")
    ran = lamina("compile", TINY, "-o", out, "-t", "cortex-m4", "--json")
    assert (ran.code, ran.json["error"]["id"]) == (1, "LAM-EMIT-003")
    assert all(path in ran.err for path in ("README.md", "src/tiny_qdq.c"))
    assert "src/main.c" not in ran.err
    assert (out / "README.md").read_text().endswith("mine\n")
    assert lamina("compile", TINY, "-o", out, "--force").code == 0
    assert "mine" not in (out / "README.md").read_text()
    assert (out / "src" / "main.c").is_file()
    (out / "README.md").write_text("mine")
    codegen.compile_model(TINY, out=out, force=True)
    with codegen.load(out) as network:
        assert network.run(np.zeros((1, 1, 8, 8), np.float32)).size > 0


def test_a_folder_of_somebody_else_is_refused_before_the_work_begins(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "mine.txt").write_text("mine")
    monkeypatch.setattr("codegen.verbs.compile.compile_file", lambda *_: pytest.fail("it compiles"))
    with pytest.raises(OutputNotOurs):
        codegen.compile_model(TINY, out=tmp_path)


def test_verify_checks_every_tensor(lamina: Lamina) -> None:
    ran = lamina("verify", DIGITS, "--input", HELD_OUT, "--samples", "2", "--json")
    assert ran.code == 0
    assert ran.json["equal"] is True
    assert ran.json["samples"] == 2
    assert ran.json["first_difference"] is None
    assert ran.json["tensors_checked"] == len(ran.json["tensors"]) > 5


def test_verify_prints_one_line_per_tensor(lamina: Lamina) -> None:
    ran = lamina("verify", TINY)
    assert ran.code == 0
    assert sum(line.startswith("equal ") for line in ran.out.splitlines()) >= 2


def test_verify_takes_data_through_the_preprocess_table(lamina: Lamina, tmp_path: Path) -> None:
    np.savez(tmp_path / "d.npz", x=np.arange(128, dtype=np.uint8).reshape(2, 8, 8))
    (tmp_path / "m.toml").write_text('[preprocess]\nlayout = "NHW->NCHW"\ndivide = 255\n')
    ran = lamina("verify", TINY, "--input", tmp_path / "d.npz", "--config", tmp_path / "m.toml", "--json")
    assert ran.code == 0
    assert ran.json["samples"] == 2


@pytest.mark.parametrize("engine", ["golden", "c"])
def test_run_and_compare_agree_to_the_bit(lamina: Lamina, tmp_path: Path, engine: str) -> None:
    a, b = tmp_path / "golden.npz", tmp_path / "engine.npz"
    for name, out in (("golden", a), (engine, b)):
        words = ("--engine", name, "--input", HELD_OUT, "--limit", "3", "--dump-all")
        assert lamina("run", DIGITS, *words, "-o", out).code == 0
    ran = lamina("compare", a, b, "--common", "--json")
    assert ran.code == 0
    assert ran.json["equal"] is True
    assert len(ran.json["tensors"]) >= 8
    assert np.load(b)["logits"].shape == (3, 10)


def test_compare_exits_1_past_the_tolerance(lamina: Lamina, tmp_path: Path) -> None:
    np.savez(tmp_path / "a.npz", t=np.array([3.0, 4.0]))
    np.savez(tmp_path / "b.npz", t=np.array([4.0, 3.0]))
    assert lamina("compare", tmp_path / "a.npz", tmp_path / "b.npz").code == 1
    assert lamina("compare", tmp_path / "a.npz", tmp_path / "b.npz", "--tolerance", "0.9,0.5").code == 0
    ran = lamina("compare", tmp_path / "a.npz", tmp_path / "b.npz", "--tolerance", "0.99,0.5", "--json")
    assert ran.code == 1
    assert ran.json["equal"] is False


def test_eval_counts_right_answers(lamina: Lamina) -> None:
    ran = lamina("eval", DIGITS, "--data", HELD_OUT, "--metric", "top1", "--engine", "c", "--json")
    assert ran.code == 0
    assert ran.json["metric"] == "top1"
    assert ran.json["count"] == 360
    assert ran.json["value"] > 0.98
    assert ran.json["images_per_s"] > 0


def test_eval_puts_onnx_runtime_into_the_same_table(lamina: Lamina) -> None:
    pytest.importorskip("onnxruntime")
    words = ("--data", HELD_OUT, "--engine", "c,golden,float", "--limit", "40")
    ran = lamina("eval", DIGITS, *words, "--json")
    assert [e["engine"] for e in ran.json["engines"]] == ["c", "golden", "float"]
    assert len({e["value"] for e in ran.json["engines"]}) == 1
    assert (
        sum(line.startswith(("c ", "golden ", "float ")) for line in lamina("eval", DIGITS, *words).out.splitlines())
        == 3
    )


def test_top5_is_at_least_top1(lamina: Lamina) -> None:
    values = [
        lamina("eval", DIGITS, "--data", HELD_OUT, "--metric", m, "--limit", "50", "--json").json["value"]
        for m in ("top1", "top5")
    ]
    assert values[0] <= values[1] <= 1


def test_inspect_shows_layers_and_what_they_cost(lamina: Lamina) -> None:
    ran = lamina("inspect", DIGITS, "-t", "cortex-m4", "--json")
    assert ran.code == 0
    assert ran.json["supported"] is True
    assert ran.json["violations"] == []
    assert sum(layer["macs"] for layer in ran.json["layers"]) == ran.json["macs"] == 209136
    assert set(ran.json) == set(Inspection.__dataclass_fields__)
    assert ran.json["peak"]["live"]
    assert {p["direction"] for p in ran.json["interface"]} == {"input", "output"}
    assert [c["option"] for c in ran.json["interface_costs"]] == ["--io-layout model", "--io-type model"]


def test_inspect_explains_how_nodes_were_read(lamina: Lamina) -> None:
    ran = lamina("inspect", TINY, "--explain")
    assert "how the model was read" in ran.out
    assert "Conv" in ran.out


def test_inspect_lists_every_reason_at_once(lamina: Lamina, bad: Path, tmp_path: Path) -> None:
    chip = tmp_path / "chip.toml"
    chip.write_text('unsupported = ["Conv2D", "GlobalAveragePool"]\n' + (bad / "chip_small.toml").read_text())
    ran = lamina("inspect", TINY, "-t", chip, "--json")
    assert ran.code == 1
    assert ran.json["supported"] is False
    ids = [v["id"] for v in ran.json["violations"]]
    assert ids == ["LAM-TARGET-007", "LAM-TARGET-007", "LAM-SCHEDULE-301"]
    assert ran.json["layers"]


def test_inspect_agrees_with_compile_about_a_model_that_is_refused(lamina: Lamina, bad: Path, tmp_path: Path) -> None:
    shown = lamina("inspect", bad / "strange.onnx", "--json")
    refused = lamina("compile", bad / "strange.onnx", "-o", tmp_path / "d", "--json")
    assert shown.code == refused.code == 1
    assert [v["id"] for v in shown.json["violations"]] == [e["id"] for e in refused.json["errors"]]


def test_targets_lists_and_describes(lamina: Lamina) -> None:
    listed = lamina("targets", "--json")
    assert {"host", "cortex-m4"} <= {t["name"] for t in listed.json}
    one = lamina("targets", "cortex-m4")
    assert "datasheet" in one.out
    assert lamina("targets", "cortex-m4", "--json").json["name"] == "cortex-m4"


@pytest.mark.skipif(find_program("cc") is None, reason="no C compiler")
def test_demo_tells_the_whole_story(lamina: Lamina, tmp_path: Path) -> None:
    ran = lamina("demo", "-o", tmp_path / "d", "--json")
    assert ran.code == 0
    assert ran.json["model"] == "digits.onnx"
    assert ran.json["sqnr"] > 25
    assert ran.json["equal"] is True
    assert ran.json["value"] > 0.98
    assert "all vectors right" in ran.json["selftest"]
    assert (ran.json["code_bytes"] is None) is (find_program("size") is None)
    assert ran.json["code_bytes"] is None or 500 < ran.json["code_bytes"] < 20000


def test_quiet_prints_nothing(lamina: Lamina, tmp_path: Path) -> None:
    ran = lamina("compile", TINY, "-o", tmp_path / "d", "-q")
    assert (ran.code, ran.out, ran.err) == (0, "", "")


def test_python_has_the_same_verbs(tmp_path: Path) -> None:
    project = codegen.compile_model(DIGITS, target="host", out=tmp_path / "d")
    x = np.load(HELD_OUT)["x"][:1]
    y = codegen.run(DIGITS, x, engine="golden")
    assert y.shape == (1, 10)
    assert (codegen.run(DIGITS, x, engine="c") == y).all()
    assert (codegen.run(DIGITS, {"image": x}, engine="c")["logits"] == y).all()
    assert "logits" in codegen.run(DIGITS, x, dump_all=True)
    with codegen.load(project) as net:
        assert np.array_equal(next(iter(net.run({"image": x}).values())), y)


@pytest.mark.parametrize("command", COMMANDS)
def test_every_command_has_help_with_an_example(lamina: Lamina, command: str) -> None:
    ran = lamina(command, "--help")
    assert ran.code == 0
    assert f"Example:\n    lamina {command} " in ran.out
    assert ("--json" in ran.out) is (command != "help")


def test_help_and_version_load_nothing_heavy() -> None:
    program = (
        "import sys; from codegen.cli import main; main(['--help']); main(['--version']);"
        "sys.exit(bool({'onnx', 'jinja2', 'cffi', 'rich', 'onnxruntime', 'matplotlib'} & set(sys.modules)))"
    )
    done = subprocess.run(
        [sys.executable, "-c", program], env=ENVIRONMENT, capture_output=True, timeout=60, check=False
    )
    assert done.returncode == 0, done.stderr.decode()
    assert b"First steps: lamina demo" in done.stdout


ELSEWHERE = {"quantizer", "host", "emulator", "preprocess"}
"""Rooms that compile nothing."""


@pytest.mark.parametrize(
    ("words", "rooms", "packages"),
    [
        (["compile", str(DIGITS), "-o", "OUT"], ELSEWHERE, {"cffi", "rich", "onnxruntime", "tflite", "matplotlib"}),
        (["inspect", str(DIGITS)], ELSEWHERE, {"cffi", "rich", "onnxruntime", "tflite", "matplotlib"}),
        (["targets"], ELSEWHERE | {"frontends", "settle", "kernels", "passes", "emit"}, {"onnx", "jinja2", "cffi"}),
    ],
)
def test_a_command_loads_what_it_needs(tmp_path: Path, words: list[str], rooms: set[str], packages: set[str]) -> None:
    argv = [str(tmp_path / "out") if word == "OUT" else word for word in words]
    program = (
        "import json, sys; from codegen.cli import main; code = main(sys.argv[1:]);"
        "print(json.dumps([code, sorted(sys.modules)]), file=sys.stderr)"
    )
    done = subprocess.run(
        [sys.executable, "-c", program, *argv], env=ENVIRONMENT, capture_output=True, timeout=60, check=False
    )
    code, modules = json.loads(done.stderr)
    assert code == 0
    loaded = {module.split(".")[1] for module in modules if module.startswith("codegen.")}
    assert "target" in loaded
    assert not loaded & rooms
    assert not set(modules) & packages


@pytest.mark.parametrize("package", ["codegen", "codegen.api", "codegen.verbs"])
def test_names_loaded_when_asked_for_are_all_there(package: str) -> None:
    program = (
        f"import ast, {package} as p; tree = ast.parse(open(p.__file__).read());"
        "names = {a.asname or a.name for n in ast.walk(tree) if isinstance(n, ast.ImportFrom) and n.module"
        " and n.module.startswith('codegen') for a in n.names};"
        "assert len(names) > 10; assert all(getattr(p, name) is not None for name in names);"
        "assert names == set(getattr(p, '__all__', names)); assert not hasattr(p, 'no_such_name')"
    )
    done = subprocess.run(
        [sys.executable, "-c", program], env=ENVIRONMENT, capture_output=True, timeout=60, check=False
    )
    assert done.returncode == 0, done.stderr.decode()


def test_the_module_runs_as_a_program(tmp_path: Path) -> None:
    for words, code in ((["targets"], 0), (["targets", "nothing"], 2), (["nothing"], 2)):
        done = subprocess.run(
            [sys.executable, "-m", "codegen", *words], env=ENVIRONMENT, capture_output=True, timeout=60, check=False
        )
        assert done.returncode == code
        assert b"Traceback" not in done.stderr


def test_a_reader_that_stops_early_is_no_fault() -> None:
    reader, writer = os.pipe()
    os.close(reader)
    done = subprocess.run(
        [sys.executable, "-m", "codegen", "targets"],
        stdout=writer,
        stderr=subprocess.PIPE,
        env=ENVIRONMENT,
        timeout=60,
        check=False,
    )
    os.close(writer)
    assert b"Traceback" not in done.stderr
    assert b"LAM-INTERNAL" not in done.stderr


def test_help_explains_an_error_and_prints_a_page(lamina: Lamina) -> None:
    assert "Samples or labels do not fit" in lamina("help", "lam-api-005").out
    assert lamina("help", "LAM-OPS-430").out.startswith("LAM-OPS-ACTIVATION-01\n")
    page = (ROOT / "docs" / "packages" / "zephyr.md").read_text(encoding="utf-8")
    for name in ("packages/zephyr", "docs/packages/zephyr.md"):
        said = set(lamina("help", name).out.split())
        assert {word for word in page.split() if set(word) - set("|-")} <= {*said, *(w.rstrip(":") for w in said)}
    assert lamina("help", "docs/report.md").out.startswith("# The report")


def test_a_message_names_the_command_that_prints_its_page(lamina: Lamina) -> None:
    classes = [c for c in vars(errors).values() if isinstance(c, type) and issubclass(c, errors.CompileError)]
    told = [errors.CompileError("found", hint=c.hint).text() for c in classes]
    assert [line for line in told if ".md" in line] == []
    pages = {page for line in told for page in re.findall(r"`lamina help ([\w/]+)`", line)}
    assert {"metrics", "quantizer_keys", "targets/README"} <= pages
    assert [page for page in sorted(pages) if not lamina("help", page).out.startswith("# ")] == []


def test_a_path_that_looks_like_a_page_stays_as_it_is(lamina: Lamina, tmp_path: Path) -> None:
    path = tmp_path / "docs" / "metrics.md"
    assert str(path) in lamina("inspect", path).err


def test_help_knows_an_id_that_no_error_has(lamina: Lamina) -> None:
    ran = lamina("help", "LAM-API-999")
    assert ran.code == 2
    assert "No error has the id LAM-API-999" in ran.err


@pytest.mark.parametrize("name", ["LAM-", "nothing", "../README", "docs/../README.md", "", "metrics.txt"])
def test_help_knows_no_other_name(lamina: Lamina, name: str) -> None:
    ran = lamina("help", name)
    assert ran.code == 2
    assert "pages: api, " in ran.err
