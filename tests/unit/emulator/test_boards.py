"""Every shipped board: a program is built, prints, ends, faults and counts there as lam_board.h says."""

from __future__ import annotations

import dataclasses
from pathlib import Path

import pytest

from codegen.emulator import RunResult, build_and_run, build_program, run_elf
from codegen.errors import BoardMissing, ToolFailed, ToolMissing, ToolOutputTooLong, ToolTimeout
from codegen.resources import resource_dir
from codegen.target import Target, load_target
from tests.support.chips import BOARDS, ONE_OF_EACH_CORE
from tests.support.tools import require_tool

BARE = tuple(name for name in BOARDS if (board := load_target(name).board) and not board.by_plugin)
COUNTING = tuple(name for name in BOARDS if (board := load_target(name).board) and board.counting)
FAULT = 99


def ready(name: str) -> Target:
    target = load_target(name)
    assert target.toolchain
    assert target.board
    require_tool(target.toolchain.cc, target.toolchain.size, target.board.emulator[0])
    return target


def source(folder: Path, body: str, before: str = "") -> Path:
    path = folder / "main.c"
    path.write_text(f'#include "lam_board.h"\n#include <string.h>\n{before}\nint main(void)\n{{\n{body}\n}}\n')
    return path


def run(
    name: str, folder: Path, body: str, before: str = "", *, count: bool = False, opt_level: str = "-O2"
) -> RunResult:
    return build_and_run(
        ready(name),
        [source(folder, body, before)],
        [],
        {},
        opt_level=opt_level,
        timeout_s=60,
        workdir=folder / "build",
        count=count,
    )


def test_the_promised_boards_are_here() -> None:
    assert set(BOARDS) >= {"cortex-m4", "cortex-m0plus", "rv32imc", "ppc32", "cortex-m3", "cortex-m7", "cortex-m55"}
    assert load_target("esp8266").core == "xtensa-lx106"
    assert "esp8266" in BOARDS


@pytest.mark.parametrize("name", sorted(set(ONE_OF_EACH_CORE) - set(BOARDS)))
def test_what_is_built_for_other_cores_runs_on_the_boards(name: str, tmp_path: Path) -> None:
    before = "static volatile float third = 3.0f;\nstatic volatile int64_t wide = -7;"
    body = """
    third = 1.0f / third;
    wide = wide * 1000000007 % 11;
    lam_board_number((uint32_t)(third * 300.0f + 0.5f));
    return (int)-wide;"""
    result = run(name, tmp_path, body, before)
    assert (result.exit_code, result.console) == (7 * 1000000007 % 11, b"100")


@pytest.mark.one_in(3)
@pytest.mark.parametrize("name", BOARDS)
def test_words_lie_in_memory_in_the_targets_byte_order(name: str, tmp_path: Path) -> None:
    before = "static volatile uint32_t word = 0x01020304u;"
    body = 'uint32_t w = word; lam_board_puts("w "); lam_board_write(&w, 4); lam_board_puts("\\n"); return 0;'
    result = run(name, tmp_path, body, before)
    order = {"little": b"w 04030201\n", "big": b"w 01020304\n"}
    assert (result.exit_code, result.console) == (0, order[load_target(name).byte_order])


@pytest.mark.one_in(8)
@pytest.mark.parametrize("opt_level", ["-O0", "-Os", "-O3"])
@pytest.mark.parametrize("name", BOARDS)
def test_variables_are_as_c_says_at_every_level(name: str, opt_level: str, tmp_path: Path) -> None:
    before = """
static const uint8_t given[5] = {1, 2, 3, 4, 5};
static volatile uint32_t zeroed[1000];
static volatile int32_t initialised = -7;
static volatile float third = 3.0f;"""
    body = """
    uint8_t copy[5];
    uint32_t sum = 0;
    memmove(copy, given, sizeof copy);
    for (int i = 0; i < 1000; i++) sum += zeroed[i];
    lam_board_number(sum + (uint32_t)(initialised + 7) + copy[4]);
    third = 1.0f / third;
    return third > 0.333f && third < 0.334f ? 0 : 1;"""
    result = run(name, tmp_path, body, before, opt_level=opt_level)
    assert (result.exit_code, result.console) == (0, b"5")


@pytest.mark.one_in(3)
@pytest.mark.parametrize("name", BOARDS)
def test_megabytes_of_constants_and_arena_fit_and_are_counted(name: str, tmp_path: Path) -> None:
    before = """
const uint8_t weights[3000000] = {[0] = 17, [2999999] = 5};
static uint8_t arena[4000000];
static uint8_t *volatile where = arena;
static const uint8_t *volatile constants = weights;"""
    body = """
    memset(where, constants[0], sizeof arena);
    lam_board_number((uint32_t)where[sizeof arena - 1] + constants[sizeof weights - 1]);
    return 0;"""
    result = run(name, tmp_path, body, before)
    assert (result.exit_code, result.console) == (0, b"22")
    assert 3_000_000 <= result.sections["rodata"] < 3_300_000
    assert 4_000_000 <= result.sections["bss"] < 4_300_000
    assert 8 <= result.sections["data"] < 20_000
    assert 100 < result.sections["text"] < (4_000 if name in BARE else 1_000_000)


@pytest.mark.one_in(4)
@pytest.mark.parametrize(("body", "code"), [("return 42;", 42), ("lam_board_exit(7);", 7), ("return 256;", 255)])
@pytest.mark.parametrize("name", BOARDS)
def test_exit_codes_arrive(name: str, body: str, code: int, tmp_path: Path) -> None:
    assert run(name, tmp_path, f'lam_board_puts("end"); {body}').exit_code == code


FAULTS = {
    "trap": ("__builtin_trap();", BOARDS),
    "null write": ("*(volatile uint32_t *)hidden(0) = 1; return 0;", BOARDS),
    "null read": ("return (int)*(volatile uint32_t *)hidden(0);", BOARDS),
    "wild write": ("*(volatile uint32_t *)hidden(0x70000000u) = 1; return 0;", BARE),
    "wild read": ("return (int)*(volatile uint32_t *)hidden(0x08000000u);", BOARDS),
    "write to a constant": ("*(volatile uint32_t *)(uintptr_t)table = 1; return 0;", BOARDS),
    "wild jump": ("((void (*)(void))hidden(0x50000001u))(); return 0;", BOARDS),
    "stack overflow": ("return deep(1000000);", BOARDS),
    "unaligned read": ("return (int)*(volatile uint32_t *)(hidden((uintptr_t)table) + 1);", ("cortex-m0plus",)),
}
FAULT_HELPERS = """
static const uint32_t table[4] = {1, 2, 3, 4};
static uintptr_t hidden(uintptr_t v) { volatile uintptr_t w = v; return w; }
static int deep(int n) { volatile char b[200]; b[n % 200] = 1; return n ? deep(n - 1) + b[3] : b[5]; }
void unused(void);
void unused(void) { (void)hidden(table[0]); (void)deep(0); }"""


@pytest.mark.one_in(8)
@pytest.mark.parametrize(("name", "fault"), [(n, f) for f, (_, names) in FAULTS.items() for n in names])
def test_a_fault_ends_with_a_message_and_its_own_code(name: str, fault: str, tmp_path: Path) -> None:
    result = run(name, tmp_path, 'lam_board_puts("before"); ' + FAULTS[fault][0], FAULT_HELPERS, opt_level="-O1")
    assert result.exit_code == FAULT
    assert result.console.startswith(b"before\nlam_board: fault")
    if fault == "stack overflow" and name in BARE:
        assert b"stack overflow" in result.console


@pytest.mark.one_in(3)
@pytest.mark.parametrize("name", BOARDS)
def test_all_of_a_long_output_arrives(name: str, tmp_path: Path) -> None:
    result = run(name, tmp_path, "lam_board_write(big, sizeof big); return 3;", "static uint8_t big[100000] = {1};")
    assert (result.exit_code, result.console) == (3, b"01" + b"00" * 99_999)


LOOP = """
    uint32_t n = 1000000, start = lam_board_instructions();
    __asm volatile("1:\\n" STEP "bne 1b\\n" : REGISTER(n) : : "cc", "memory");
    lam_board_number(lam_board_instructions() - start);
    return 0;"""
LOOP_ARM = '#define STEP ".syntax unified\\nnop\\nsubs %0, %0, #1\\n"\n#define REGISTER "+l"'
LOOP_OTHERS = '#define STEP "nop\\naddi %0, %0, -1\\n"\n#define REGISTER "+r"'


@pytest.mark.one_in(6)
@pytest.mark.parametrize("name", COUNTING)
def test_instructions_are_counted_exactly_and_alike_each_time(name: str, tmp_path: Path) -> None:
    arm = name.startswith("cortex")
    body = LOOP if arm else LOOP.replace("bne 1b", "bnez %0, 1b")
    counts = []
    for attempt in ("first", "second"):
        folder = tmp_path / attempt
        folder.mkdir()
        counts.append(int(run(name, folder, body, LOOP_ARM if arm else LOOP_OTHERS, count=True).console))
    assert counts[0] == counts[1]
    assert 3_000_000 <= counts[0] < 3_000_050


@pytest.mark.slow
@pytest.mark.parametrize("name", [name for name in COUNTING if name != "esp8266"])
def test_counts_go_on_over_the_wrap_of_a_timer(name: str, tmp_path: Path) -> None:
    """9e9 instructions in all: timers of 32 bits wrap, and so does the count itself, modulo 2^32."""
    arm = name.startswith("cortex")
    body = (LOOP if arm else LOOP.replace("bne 1b", "bnez %0, 1b")).replace("1000000", "1000000000")
    body = "for (int k = 0; k < 3; k++) {" + body.replace("return 0;", 'lam_board_puts(" "); }\n return 0;')
    result = build_and_run(
        ready(name),
        [source(tmp_path, body, LOOP_ARM if arm else LOOP_OTHERS)],
        [],
        {},
        timeout_s=600,
        workdir=tmp_path / "build",
        count=True,
    )
    counts = [int(word) for word in result.console.split()]
    assert len(counts) == 3
    assert all(3_000_000_000 <= count < 3_000_000_050 for count in counts)


@pytest.mark.one_in(2)
@pytest.mark.parametrize("name", BARE)
def test_stack_depth_is_measured(name: str, tmp_path: Path) -> None:
    before = """
__attribute__((noinline)) static int uses(volatile char *p) { return p[0]; }
__attribute__((noinline)) static int leaf(void) { volatile char b[1000]; b[0] = 1; return uses(b); }"""
    body = """
    lam_board_stack_paint();
    lam_board_number(lam_board_stack_high_water());
    lam_board_puts(" ");
    int used = leaf();
    lam_board_number(lam_board_stack_high_water());
    return used - 1;"""
    result = run(name, tmp_path, body, before)
    shallow, deep = map(int, result.console.split())
    assert result.exit_code == 0
    assert shallow <= 64
    assert 1000 <= deep <= 1100


@pytest.mark.one_in(3)
@pytest.mark.parametrize("opt_level", ["-O0", "-O2"])
@pytest.mark.parametrize("name", BARE)
def test_stack_depth_is_measured_from_within_a_call(name: str, opt_level: str, tmp_path: Path) -> None:
    """Painted inside a function: what it takes itself lies above; a window that is too small tells no more."""
    before = """
__attribute__((noinline)) static int uses(volatile char *p) { return p[0]; }
__attribute__((noinline)) static int leaf(void) { volatile char b[1000]; b[0] = 1; return uses(b); }
static uint32_t at, deep;
__attribute__((noinline)) static int inner(uint32_t window)
{
    volatile char b[500];
    b[0] = 1;
    lam_board_stack_paint_some(window);
    at = lam_board_stack_painted_at();
    int used = leaf() + uses(b);
    deep = lam_board_stack_high_water();
    return used;
}"""
    body = """
    lam_board_stack_paint();
    uint32_t base = lam_board_stack_painted_at();
    int used = inner(4096);
    lam_board_number(at - base);
    lam_board_puts(" ");
    lam_board_number(deep);
    lam_board_puts(" ");
    used += inner(400);
    lam_board_number(deep);
    lam_board_puts(" ");
    used += inner(0xffffffffu);
    lam_board_number(deep);
    return used - 6;"""
    result = run(name, tmp_path, body, before, opt_level=opt_level)
    above, deep, cut, whole = map(int, result.console.split())
    assert result.exit_code == 0
    assert 500 <= above <= 600
    assert 1000 <= deep <= 1100
    assert cut <= 400
    assert whole == deep


@pytest.mark.one_in(3)
@pytest.mark.parametrize("name", BOARDS)
def test_board_files_are_clean_c99(name: str, tmp_path: Path) -> None:
    target = ready(name)
    strict = ("-Wall", "-Wextra", "-Wpedantic", "-Wconversion", "-Wshadow", "-Wundef", "-Werror")
    assert target.toolchain
    flags = dataclasses.replace(target.toolchain, cflags=(*target.toolchain.cflags, *strict))
    build_program(
        dataclasses.replace(target, toolchain=flags),
        [source(tmp_path, "return 0;")],
        [],
        {},
        timeout_s=60,
        workdir=tmp_path,
    )


def test_board_files_carry_their_licence() -> None:
    for path in (resource_dir("runtime_c") / "boards").rglob("*.*"):
        assert path.read_text().startswith("/* SPDX-License-Identifier: MIT-0 */\n"), path


def test_defines_and_includes_reach_the_compiler(tmp_path: Path) -> None:
    target = ready("cortex-m4")
    headers = tmp_path / "headers"
    headers.mkdir()
    (headers / "given.h").write_text("#define GIVEN 20\n")
    main = source(tmp_path, "return FLAG + VALUE + GIVEN;", '#include "given.h"')
    result = build_and_run(
        target, [main], [headers], {"FLAG": None, "VALUE": "3"}, timeout_s=60, workdir=tmp_path / "new" / "folder"
    )
    assert result.exit_code == 24


def test_an_endless_program_is_stopped(tmp_path: Path) -> None:
    target = ready("cortex-m4")
    elf = build_program(target, [source(tmp_path, "for (;;) { }")], [], {}, timeout_s=60, workdir=tmp_path)
    with pytest.raises(ToolTimeout):
        run_elf(target, elf, timeout_s=1)


def test_a_program_that_prints_without_end_is_stopped(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("codegen.emulator.run.CONSOLE_LIMIT", 100_000)
    with pytest.raises(ToolOutputTooLong):
        run("cortex-m4", tmp_path, 'for (;;) { lam_board_puts("again and again and again "); }')


def test_a_program_that_does_not_compile_shows_the_compilers_message(tmp_path: Path) -> None:
    with pytest.raises(ToolFailed, match="no_such_name"):
        run("cortex-m4", tmp_path, "return no_such_name;")


def test_a_target_without_a_board_is_refused(tmp_path: Path) -> None:
    with pytest.raises(BoardMissing, match=r"LAM-EMULATOR-001 target generic"):
        build_and_run(load_target("generic"), [], [], {}, timeout_s=1, workdir=tmp_path)


@pytest.mark.parametrize("name", BOARDS)
def test_a_missing_toolchain_names_the_debian_packages(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(ToolMissing, match="apt-get install gcc-"):
        build_and_run(load_target(name), [], [], {}, timeout_s=1, workdir=tmp_path)
    with pytest.raises(ToolMissing, match="apt-get install qemu-"):
        run_elf(load_target(name), tmp_path / "program.elf", timeout_s=1)
