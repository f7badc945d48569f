"""Networks with a C library of three functions, types and limits; other headers are the compiler's own.

Zephyr's minimal libc has those, and more; a firmware without a C library has no others.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from codegen.pipeline import Options, compile_file
from codegen.process import check_program
from codegen.target import load_target
from tests.e2e.projects import DIGITS, written
from tests.stand_ins import HERE
from tests.support.shared import ROOT
from tests.support.tools import require_tool

FLOAT = DIGITS.with_name("digits.onnx")
BOARD = ROOT / "examples" / "firmware" / "bare_metal"
_LIBRARY = """
#include <string.h>
#define COPIES __attribute__((optimize("no-tree-loop-distribute-patterns")))
COPIES void *memset(void *to, int value, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        ((unsigned char *)to)[i] = (unsigned char)value;
    }
    return to;
}
COPIES void *memmove(void *to, const void *from, size_t n)
{
    unsigned char *t = to;
    const unsigned char *f = from;
    if (t < f) {
        for (size_t i = 0; i < n; i++) {
            t[i] = f[i];
        }
    } else {
        for (size_t i = n; i > 0; i--) {
            t[i - 1] = f[i - 1];
        }
    }
    return to;
}
void *memcpy(void *to, const void *from, size_t n)
{
    return memmove(to, from, n);
}
"""
_MAIN = """
#include "board.h"
#include "digits_helpers.h"
int digits_selftest(void);
int main(void)
{
    const char *text = digits_selftest() == 0 ? lam_status_text(LAM_OK) : "wrong";
    while (*text != 0) {
        board_put(*text++);
    }
    board_end(0);
}
"""
WARNINGS = ("-Wdouble-promotion", "-Wpointer-arith", "-Wundef", "-Wvla", "-Wwrite-strings", "-Wimplicit-fallthrough")
BOARDS = {"cortex-m4": "mps2_an386", "rv32imc": "virt_rv32"}
EMULATORS = {
    "cortex-m4": ["qemu-system-arm", "-M", "mps2-an386", "-nographic", "-semihosting", "-kernel"],
    "rv32imc": ["qemu-system-riscv32", "-M", "virt", "-nographic", "-bios", "none", "-kernel"],
}


@pytest.mark.one_in(3)
@pytest.mark.parametrize(
    ("target", "model"), [("cortex-m4", DIGITS), ("cortex-m4", FLOAT), ("rv32imc", DIGITS)], ids=lambda x: Path(x).stem
)
def test_three_functions_are_all_that_is_asked_for(target: str, model: Path, tmp_path: Path) -> None:
    """Compiled without any other header, linked without any library but the compiler's, and right on the board."""
    chain = load_target(target).toolchain
    assert chain is not None
    require_tool(chain.cc, EMULATORS[target][0])
    made = written(tmp_path / "p", compile_file(model, Options(target=target, name="digits")))
    (tmp_path / "library.c").write_text(_LIBRARY)
    (tmp_path / "main.c").write_text(_MAIN)
    own = check_program([chain.cc, "-print-file-name=include"], timeout_s=60).stdout.decode().strip()
    headers = ["-nostdinc", "-isystem", str(HERE / "minimal_libc"), "-isystem", own, f"-I{BOARD}", *made.includes]
    flags = [flag for flag in chain.cflags if not flag.startswith("--specs")]
    strict = ["-std=c99", "-ffreestanding", "-fno-common", "-O2", "-Wall", "-Wextra", "-Werror", *WARNINGS]
    sources = [*made.sources, made.folder / "test" / "selftest.c", tmp_path / "library.c", tmp_path / "main.c"]
    board = BOARD / f"{BOARDS[target]}.c"
    link = ["-nostdlib", "-nostartfiles", f"-T{board.with_suffix('.ld')}", *map(str, [*sources, board]), "-lgcc"]
    program = tmp_path / "p.elf"
    check_program([chain.cc, *flags, *strict, *headers, *link, "-o", program], timeout_s=120)
    done = check_program([*EMULATORS[target], program], timeout_s=60)
    assert done.stdout.decode() == "OK"
