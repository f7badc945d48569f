"""The estimate of cycles on disassembly written out by hand, and on loops of known length on every board."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from codegen.emulator import build_program, executed_mix
from codegen.emulator.cycles import Executed, Instruction, mixes, read_disassembly
from codegen.errors import CyclesUnknown, PluginFailed
from codegen.host import compiler_words, host_compiler
from codegen.target import Cycles, Target, load_target
from tests.support.chips import BOARDS
from tests.support.tools import require_tool

ARM = """
program.elf:     file format elf32-littlearm

00001000 <kernel>:
    1000:\tstmdb\tsp!, {r4, r5, r6, r7, r8, lr}
    1004:\tldrb.w\tr3, [r1], #1
    1008:\tldrsb\tr0, [r2, r5]
    100a:\tmla\tr4, r3, r0, r4
    100e:\tsmlad\tr4, r3, r0, r4
    1012:\tsmull\tr2, r3, r4, r5
    1016:\tldrd\tr0, r1, [r2, #8]
    101a:\tbls.n\t1004 <kernel+0x4>
    101c:\tbic.w\tr0, r0, r1
    1020:\tbfi\tr0, r1, #3, #5
    1024:\tsdiv\tr0, r0, r1
    1028:\tstrb.w\tr0, [r4], #1
    102c:\tcbz\tr0, 1004 <kernel+0x4>
    102e:\tnop
    1030:\tvldrb.u8\tq0, [r0], #16
    1034:\tvmladava.s8\tr4, q0, q1
    1038:\tvmlava.s8\tr4, q0, q2
    103c:\tle\tlr, 1030 <kernel+0x30>
    1040:\tvfma.f32\ts0, s1, s2
    1044:\tvdiv.f32\ts0, s1, s2
    1048:\tpop\t{r4, r5-r7, r8, pc}
    104c:\tvqrdmulh.s32\tq4, q4, q6
    1050:\tvrshl.s32\tq4, q4, q7
    1054:\t.word\t0x00001234
"""
ARM_KINDS = {
    **{0x1000: "multiple", 0x1004: "load", 0x1008: "load", 0x100A: "multiply_add", 0x100E: "multiply_add"},
    **{0x1012: "multiply_long", 0x1016: "multiple", 0x101A: "branch", 0x101C: "other", 0x1020: "other"},
    **{0x1024: "divide", 0x1028: "store", 0x102C: "branch", 0x102E: "other", 0x1030: "vector", 0x1034: "vector"},
    **{0x1038: "vector", 0x103C: "loop", 0x1040: "float_multiply_add", 0x1044: "float_divide", 0x1048: "multiple"},
    **{0x104C: "vector", 0x1050: "vector"},
}
RISCV = """
80000000 <kernel>:
80000000:\tlb\ta0,0(a1)
80000004:\tmul\ta0,a0,a2
80000008:\tmulh\ta0,a0,a2
8000000c:\tdivu\ta0,a0,a2
80000010:\tsb\ta0,0(a1)
80000012:\tbltu\ta0,a1,80000000 <kernel>
80000016:\tbnez\ta0,80000000 <kernel>
80000018:\tsll\ta0,a0,a1
8000001a:\tret
"""
RISCV_KINDS = ["load", "multiply", "multiply_long", "divide", "store", "branch", "branch", "other", "branch"]
TABLE = Cycles(
    **{"source": "the test", "other": 1, "load": 2, "load_next": 1, "store": 3, "multiple": 1, "multiply": 5},
    **{"multiply_add": 7, "multiply_long": 11, "divide": 13, "branch": 1, "taken": 4, "loop": 1, "vector": 1},
    **{"float_multiply_add": 17, "float_divide": 19, "vector_next": 2, "percent": 100},
)
COUNTED = tuple(name for name in BOARDS if load_target(name).cycles)


def test_arm_instructions_are_told_apart() -> None:
    code = read_disassembly(ARM, arm=True)
    assert {address: i.kind for address, i in code.items()} == ARM_KINDS
    assert {address: i.registers for address, i in code.items() if i.registers} == {0x1000: 6, 0x1016: 2, 0x1048: 6}
    units = [code[a].unit for a in (0x1030, 0x1034, 0x1038, 0x104C, 0x1050)]
    assert units == ["memory", "multiply", "multiply", "multiply", "other"]


def test_riscv_instructions_are_told_apart() -> None:
    assert [i.kind for i in read_disassembly(RISCV, arm=False).values()] == RISCV_KINDS


@pytest.mark.parametrize(
    ("address", "cycles"),
    [
        (0x1000, 1 + 6),  # STM of six registers
        (0x1004, 2),  # a load
        (0x1008, 1),  # right behind another one
        (0x1016, 1 + 2),  # LDRD
        (0x1030, 1),  # a vector load
        (0x1034, 1),  # a vector sum behind it
        (0x1038, 2),  # behind a sum, on the same unit
        (0x1044, 19),
    ],
)
def test_one_instruction_takes_what_the_table_says(address: int, cycles: int) -> None:
    code = read_disassembly(ARM, arm=True)
    nothing, layer = mixes([Executed(1, address, 10, 0)], code, TABLE, layers=1)
    assert (layer.instructions, layer.cycles) == (10, 10 * cycles)
    assert (nothing.instructions, nothing.cycles) == (0, 0)


def test_jumps_cost_more_and_hardware_loops_do_not() -> None:
    code = {0: Instruction("branch"), 2: Instruction("loop")}
    ran = [Executed(0, 0, 100, 30), Executed(1, 2, 100, 99)]
    assert [m.cycles for m in mixes(ran, code, TABLE, layers=1)] == [70 * 1 + 30 * 4, 100]


def ready(name: str) -> Target:
    target = load_target(name)
    assert target.toolchain
    assert target.board
    assert target.toolchain.objdump
    require_tool(target.toolchain.cc, target.toolchain.objdump, target.board.emulator[0], host_compiler())
    return target


MARKED = """
#include "lam_board.h"
volatile uint8_t lam_profile_marks[5];
static void loop(uint32_t n)
{
    __asm volatile(LOOP : REGISTER(n) : : "cc", "memory");
}
int main(void)
{
    loop(77);
    lam_profile_marks[3] = 1;
    lam_profile_marks[1] = 1;
    loop(1000);
    lam_profile_marks[2] = 1;
    loop(20000);
    lam_profile_marks[0] = 1;
    loop(300);
    lam_profile_marks[4] = 1;
    loop(99);
    return 0;
}
"""
ARM_LOOP = {"LOOP": '".syntax unified\\n1: nop\\n subs %0, %0, #1\\n bne 1b\\n"', "REGISTER": '"+l"'}
RISCV_LOOP = {"LOOP": '"1: nop\\n addi %0, %0, -1\\n bnez %0, 1b\\n"', "REGISTER": '"+r"'}


@pytest.mark.one_in(2)
@pytest.mark.parametrize("name", COUNTED)
def test_loops_of_known_length_belong_to_the_layer_that_was_marked(name: str, tmp_path: Path) -> None:
    target = ready(name)
    (tmp_path / "main.c").write_text(MARKED)
    defines = ARM_LOOP if target.isa.startswith("arm") else RISCV_LOOP
    elf = build_program(target, [tmp_path / "main.c"], [], defines, timeout_s=60, workdir=tmp_path)
    found = executed_mix(target, elf, 2, compiler=compiler_words(), workdir=tmp_path, timeout_s=60)
    table = target.cycles
    assert table
    for mix, n in zip(found, (300, 1000, 20000), strict=True):
        assert 3 * n <= mix.instructions <= 3 * n + 12
        assert mix.kinds["branch"] == n
        loop = (2 * table.other + table.taken) * (n - 1) * table.percent // 100
        assert loop <= mix.cycles <= loop + 24


VECTORS = """
#include "lam_board.h"
volatile uint8_t lam_profile_marks[4];
int main(void)
{
    lam_profile_marks[2] = 1;
    lam_profile_marks[1] = 1;
    for (int32_t i = 0; i < 100; i++) {
        __asm volatile("vmladava.s8 r0, q0, q1\\n vldrw.u32 q1, [sp]\\n" : : : "r0", "q1", "memory");
    }
    lam_profile_marks[3] = 1;
    return 0;
}
"""


def test_vector_instructions_of_the_chip_are_told_from_others(tmp_path: Path) -> None:
    target = ready("cortex-m55")
    (tmp_path / "main.c").write_text(VECTORS)
    elf = build_program(target, [tmp_path / "main.c"], [], {}, timeout_s=60, workdir=tmp_path)
    found = executed_mix(target, elf, 1, compiler=compiler_words(), workdir=tmp_path, timeout_s=60)
    assert 2 * 99 <= found[1].kinds["vector"] <= 2 * 100, "what stands behind the mark may belong to what was before"


def test_a_target_whose_programs_cannot_be_read_is_refused(tmp_path: Path) -> None:
    chip = load_target("ppc32")
    assert chip.toolchain
    chip = replace(chip, toolchain=replace(chip.toolchain, objdump=None))
    with pytest.raises(
        CyclesUnknown, match=r"LAM-EMULATOR-002 target ppc32: names no objdump \(give the \[toolchain\]"
    ):
        executed_mix(chip, tmp_path / "x", 1, compiler=("cc",), workdir=tmp_path, timeout_s=1)


def test_a_program_that_fails_under_the_plugin_is_said(tmp_path: Path) -> None:
    target = ready("cortex-m4")
    (tmp_path / "main.c").write_text(MARKED.replace("return 0", "return 9"))
    elf = build_program(target, [tmp_path / "main.c"], [], ARM_LOOP, timeout_s=60, workdir=tmp_path)
    with pytest.raises(PluginFailed, match="LAM-EMULATOR-003"):
        executed_mix(target, elf, 2, compiler=compiler_words(), workdir=tmp_path, timeout_s=60)
