"""The Rust crate: its own tests on this machine, and what its compiler refuses."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from codegen.errors import PackageUnfit
from codegen.pipeline import Options, compile_file, compile_graph
from codegen.process import check_program, run_program
from codegen.target import load_target
from tests.e2e.projects import DIGITS, Project, written
from tests.support.graphs import keeping
from tests.support.tools import require_tool


def digits(folder: Path) -> Project:
    return written(folder / "digits", compile_file(DIGITS, Options(name="digits", package=("rust",))))


def cargo(project: Project, *arguments: str) -> tuple[int, str]:
    require_tool("cargo", "gcc")
    env = {**os.environ, "CARGO_NET_OFFLINE": "true", "CC": "gcc", "RUSTFLAGS": "-Dwarnings"}
    done = run_program(["cargo", *arguments], cwd=project.folder, env=env, timeout_s=240)
    return done.returncode, (done.stdout + done.stderr).decode("utf-8", errors="replace")


def test_the_crate_s_own_tests_pass(tmp_path: Path) -> None:
    code, said = cargo(digits(tmp_path), "test", "--features", "selftest")
    assert code == 0, said
    assert "all_vectors_are_right ... ok" in said
    assert "two_networks_side_by_side_give_the_same ... ok" in said


def test_a_network_with_state_in_rows_passes_too(tmp_path: Path) -> None:
    """States and counters are members of the struct that Rust lays out again."""
    options = Options(package=("rust",))
    made = written(tmp_path / "keeping", compile_graph(keeping(), load_target("host"), options))
    assert "fn reset" in (made.folder / "rust" / "lib.rs").read_text()
    code, said = cargo(made, "test", "--features", "selftest")
    assert code == 0, said


_TWICE = """
fn main() {
    let mut arena = digits::Arena::new();
    let mut net = digits::Digits::new(&mut arena).unwrap();
    let first = net.run(&[0; digits::INPUT0_LEN]).unwrap();
    let second = net.run(&[1; digits::INPUT0_LEN]).unwrap();
    println!("{:?} {:?}", first, second);
}
"""


def test_an_output_cannot_be_read_after_the_next_run(tmp_path: Path) -> None:
    made = digits(tmp_path)
    (made.folder / "examples").mkdir()
    (made.folder / "examples" / "twice.rs").write_text(_TWICE)
    code, said = cargo(made, "build", "--example", "twice")
    assert code != 0
    assert "E0499" in said
    (made.folder / "examples" / "twice.rs").write_text(
        _TWICE.replace(", second)", ", 0)").replace("let first", "let _")
    )
    code, said = cargo(made, "build")
    assert code == 0, said


def test_what_the_wrapper_has_no_form_for_is_refused() -> None:
    with pytest.raises(PackageUnfit, match="streamed"):
        compile_file(DIGITS, Options(package=("rust",), stream_input=True))


def test_the_library_needs_no_std(tmp_path: Path) -> None:
    require_tool("rustc")
    source = digits(tmp_path).folder / "rust" / "lib.rs"
    argv = ["rustc", "--edition", "2021", "--crate-type", "lib", "--emit", "metadata", "-Cpanic=abort", "-Dwarnings"]
    check_program([*argv, "--out-dir", str(tmp_path), str(source)], timeout_s=120)
    assert "#![no_std]" in source.read_text()
