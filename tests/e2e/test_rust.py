"""The Rust crate: its own tests on this machine, and what its compiler refuses."""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np
import pytest

import codegen
from codegen.errors import PackageUnfit
from codegen.pipeline import Options, compile_file, compile_graph
from codegen.process import check_program, find_program, run_program
from codegen.target import load_target
from tests.e2e.projects import DIGITS, Project, written
from tests.support.graphs import keeping
from tests.support.shared import ROOT
from tests.support.tools import missing, require_tool


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


THUMB = "thumbv7em-none-eabihf"
BOARD = ROOT / "examples" / "firmware" / "bare_metal"
_FIRMWARE = """
#![no_std]
#[panic_handler]
fn panic(_: &core::panic::PanicInfo) -> ! {
    loop {}
}
#[no_mangle]
pub extern "C" fn greatest(arena: &mut digits::Arena, input: &digits::Input0) -> i32 {
    if digits::selftest() != 0 {
        return -1;
    }
    match digits::Digits::new(arena).and_then(|mut net| Ok(*net.run(input)?)) {
        Ok(scores) => (0..scores.len()).rev().max_by_key(|&i| scores[i]).map_or(-2, |i| i as i32),
        Err(_) => -3,
    }
}
"""
_CARGO = """
[package]
name = "firmware"
version = "1.0.0"
edition = "2021"
[lib]
crate-type = ["staticlib"]
path = "lib.rs"
[dependencies]
digits = {{ path = "{digits}", features = ["selftest"] }}
[profile.release]
panic = "abort"
"""
_MAIN = """
#include "board.h"
#include "digits.h"
int greatest(uint8_t *arena, const int8_t *input);
static uint8_t arena[DIGITS_ARENA_SIZE] DIGITS_ARENA_ALIGNED;
static const int8_t input[DIGITS_INPUT0_BYTES] = {{ {numbers} }};
int main(void)
{{
    const int found = greatest(arena, input);
    board_put(found < 0 ? '-' : (char)('0' + found));
    board_end(0);
}}
"""


def compiler_with_source() -> tuple[Path, Path]:
    """A rustc, and the source of its own core library; the test fails under CI when no rustc here has one."""
    for rustc in (find_program("rustc"), Path("/usr/bin/rustc")):
        if rustc is None or not rustc.is_file():
            continue
        version = check_program([rustc, "--version"], timeout_s=60).stdout.decode().split()[1]
        root = Path(check_program([rustc, "--print", "sysroot"], timeout_s=60).stdout.decode().strip())
        for source in (root / "lib/rustlib/src/rust/library", Path(f"/usr/src/rustc-{version}/library")):
            if source.is_dir():
                return rustc, source
    missing("the source of rustc's core library (rust-src)")
    raise AssertionError


def core_for_the_chip(folder: Path, rustc: Path, source: Path) -> None:
    """A sysroot with core, and with an empty compiler_builtins: the C compiler's library has those functions."""
    home = folder / "lib" / "rustlib" / THUMB / "lib"
    home.mkdir(parents=True)
    nothing = folder / "compiler_builtins.rs"
    nothing.write_text("#![feature(compiler_builtins)]\n#![compiler_builtins]\n#![no_std]\n")
    env = {**os.environ, "RUSTC_BOOTSTRAP": "1"}
    more = ["--target", THUMB, "-Cpanic=abort", "-Copt-level=1", "--cap-lints", "allow", "--out-dir", str(home)]
    for name, path in (("core", source / "core" / "src" / "lib.rs"), ("compiler_builtins", nothing)):
        argv = [rustc, "--edition", "2021", "--crate-type", "rlib", "--crate-name", name, *more, "-L", home, path]
        check_program(argv, env=env, timeout_s=400)


@pytest.mark.slow
def test_a_static_library_for_a_cortex_m4_is_right_on_the_chip(tmp_path: Path) -> None:
    """The core library is built from its source, as there is none for the chip; QEMU runs what is linked."""
    require_tool("cargo", "arm-none-eabi-gcc", "qemu-system-arm")
    rustc, source = compiler_with_source()
    core_for_the_chip(tmp_path / "sysroot", rustc, source)
    options = Options(name="digits", target="cortex-m4", package=("rust",))
    made = written(tmp_path / "digits", compile_file(DIGITS, options))
    firmware = tmp_path / "firmware"
    firmware.mkdir()
    (firmware / "lib.rs").write_text(_FIRMWARE)
    (firmware / "Cargo.toml").write_text(_CARGO.format(digits=made.folder))
    env = {k: v for k, v in os.environ.items() if k not in ("CC", "CFLAGS", "AR")}
    env |= {"RUSTC": str(rustc), "RUSTFLAGS": f"--sysroot {tmp_path / 'sysroot'}", "CARGO_NET_OFFLINE": "true"}
    cargo_build = [rustc.with_name("cargo"), "build", "--release", "--target", THUMB]
    check_program(cargo_build, cwd=firmware, env=env, timeout_s=240)
    image = np.load(DIGITS.with_name("digits_test.npz"))["x"][:1]
    q = np.rint(image * 255 - 128).astype(np.int8)
    (tmp_path / "main.c").write_text(_MAIN.format(numbers=", ".join(map(str, q.ravel()))))
    library = firmware / "target" / THUMB / "release" / "libfirmware.a"
    chain = load_target("cortex-m4").toolchain
    assert chain is not None
    board = [BOARD / "mps2_an386.c", f"-T{BOARD / 'mps2_an386.ld'}", f"-I{BOARD}"]
    link = ["-nostartfiles", "-Wl,--gc-sections", tmp_path / "main.c", library, "-o", tmp_path / "p.elf"]
    check_program([chain.cc, *chain.cflags, "-O2", *made.includes, *board, *link], timeout_s=120)
    qemu = ["qemu-system-arm", "-M", "mps2-an386", "-nographic", "-semihosting", "-kernel", tmp_path / "p.elf"]
    expected = int(np.argmax(np.asarray(codegen.run(DIGITS, image, engine="golden"))))
    assert check_program(qemu, timeout_s=60).stdout.decode() == str(expected)
