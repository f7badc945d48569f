from __future__ import annotations

import dataclasses
import re
from pathlib import Path

import pytest

from codegen import target as target_module
from codegen.errors import CompileError, TargetFileBroken, TargetUnknown
from codegen.ir.quant import ALL_MODES, DERIVED_MODES, DType
from codegen.ops.facts import FACTS
from codegen.process import check_program
from codegen.resources import resource_dir
from codegen.target import list_targets, load_target
from tests.support.tools import require_tool

GOOD = """\
name = "mine"
description = "a chip of mine"
isa = "c99"
byte_order = "little"
has_fpu = false
requant_modes = ["single", "tflite"]
dtypes = ["s8", "s32"]

[[memories]]
name = "sram"
kind = "ram"
bytes = 65536
source = "datasheet, section 2"

[toolchain]
cc = "my-gcc"
size = "my-size"

[board]
emulator = ["my-emulator", "-kernel", "{elf}"]
startup = ["common.c"]
console = "uart"
ram_bytes = 65536
"""

MEMORIES = GOOD[GOOD.index("[[memories]]") : GOOD.index("[toolchain]")]
RULE = """[[rules]]
operators = ["Conv2D"]
fact = "kernel_height"
sentence = "the unit has windows of at most 7 rows"
source = "datasheet, section 7"
"""

UNIT = "[accelerator]\ntitle = 'mine'\nrest = 'cpu'\nsource = 'datasheet, section 9'\n"
FLASH = '[[memories]]\nname = "f"\nkind = "flash"\nbytes = 9\nsource = "x"\n'
KINDS = ("convolution", "grouped", "dense", "element", "pair")
SPEED = "[speed]\nsource = 'x'\n" + "".join(f"[speed.{k}]\ninstructions = [1, 2]\ncycles = [3, 0]\n" for k in KINDS)
SPOKEN = f"{SPEED}[board]"
DENSE = "[speed.dense]\ninstructions = [1, 2]\ncycles = [3, 0]\n"

BAD = {
    "unknown key": ("isa =", "issa = 1\nisa =", "LAM-TARGET-003", "issa"),
    "unknown key of a memory": ('kind = "ram"', 'kind = "ram"\nspeed = 3', "LAM-TARGET-003", "memories[0].speed"),
    "unknown key of the toolchain": ('cc = "my-gcc"', 'cc = "my-gcc"\nccflags = []', "LAM-TARGET-003", "cflags"),
    "unknown key of the board": ('console = "uart"', 'console = "uart"\nbaud = 9600', "LAM-TARGET-003", "board.baud"),
    "missing key": ("has_fpu = false\n", "", "LAM-TARGET-004", "has_fpu"),
    "missing memories": (MEMORIES, "", "LAM-TARGET-004", "memories"),
    "missing source of a number": ('source = "datasheet, section 2"\n', "", "LAM-TARGET-004", "memories[0].source"),
    "missing compiler": ('cc = "my-gcc"\n', "", "LAM-TARGET-004", "toolchain.cc"),
    "board without toolchain": ('[toolchain]\ncc = "my-gcc"\nsize = "my-size"\n', "", "LAM-TARGET-004", "toolchain"),
    "text for a number": ("isa =", 'arena_align = "32"\nisa =', "LAM-TARGET-005", "arena_align"),
    "true for a number": ("isa =", "arena_align = true\nisa =", "LAM-TARGET-005", "arena_align"),
    "number for a text": ('name = "mine"', "name = 5", "LAM-TARGET-005", "name"),
    "number for a flag": ("has_fpu = false", "has_fpu = 0", "LAM-TARGET-005", "has_fpu"),
    "text for a list": ('dtypes = ["s8", "s32"]', 'dtypes = "s8"', "LAM-TARGET-005", "dtypes"),
    "numbers in a list of texts": ('startup = ["common.c"]', "startup = [1]", "LAM-TARGET-005", "board.startup"),
    "table for a list of tables": ("[[memories]]", "[memories]", "LAM-TARGET-005", "memories"),
    "text for a table": ("isa =", 'rules = "none"\nisa =', "LAM-TARGET-005", "rules"),
    "memory of no size": ("bytes = 65536\nsource", "bytes = 0\nsource", "LAM-TARGET-005", "memories[0].bytes"),
    "memory of negative size": ("bytes = 65536\nsource", "bytes = -1\nsource", "LAM-TARGET-005", "memories[0].bytes"),
    "slow memory without its cost": ('kind = "ram"', 'kind = "psram"', "LAM-TARGET-004", "memories[0].cost"),
    "cost of nothing": ('kind = "ram"', 'kind = "ram"\ncost = 0', "LAM-TARGET-005", "memories[0].cost"),
    "cost without source": ('bytes = 65536\nsource = "datasheet, section 2"', "cost = 2", "LAM-TARGET-004", "source"),
    "two memories that are one name in C": (
        "[toolchain]",
        '[[memories]]\nname = "SRAM "\nkind = "ram"\n[toolchain]',
        "LAM-TARGET-005",
        "memories[1].name",
    ),
    "board without memory": ("ram_bytes = 65536", "ram_bytes = 0", "LAM-TARGET-005", "board.ram_bytes"),
    "byte order nobody has": ('"little"', '"middle"', "LAM-TARGET-005", "byte_order"),
    "unknown instruction set": ('isa = "c99"', 'isa = "c98"', "LAM-TARGET-005", "isa"),
    "unknown element type": ('["s8", "s32"]', '["s8", "s33"]', "LAM-TARGET-005", "dtypes"),
    "no element type": ('["s8", "s32"]', "[]", "LAM-TARGET-005", "dtypes"),
    "element type said twice": ('["s8", "s32"]', '["s8", "s8"]', "LAM-TARGET-005", "dtypes"),
    "default mode not offered": (
        "dtypes =",
        'requant_default = "ort"\ndtypes =',
        "LAM-TARGET-005",
        "requant_default",
    ),
    "alignment of 12": ("isa =", "arena_align = 12\nisa =", "LAM-TARGET-005", "arena_align"),
    "no working memory": ('kind = "ram"', 'kind = "flash"', "LAM-TARGET-005", "memories"),
    "name with a slash": ('name = "mine"', 'name = "../mine"', "LAM-TARGET-005", "name"),
    "emulator without program": ('"{elf}"', '"elf"', "LAM-TARGET-005", "board.emulator"),
    "floats without an FPU": ('["single", "tflite"]', '["single", "ort"]', "LAM-TARGET-005", "requant_modes"),
    "rule that is a fraction": ("[board]", f"{RULE}at_most = 1.5\n[board]", "LAM-TARGET-005", "rules[0].at_most"),
    "rule of a choice that is a text": ("[board]", f"{RULE}one_of = ['1']\n[board]", "LAM-TARGET-005", "one_of"),
    "rule below zero": ("[board]", f"{RULE}at_least = -1\n[board]", "LAM-TARGET-005", "rules[0].at_least"),
    "rule that asks nothing": ("[board]", f"{RULE}[board]", "LAM-TARGET-005", "rules[0].fact"),
    "rule without its source": ("[board]", RULE.replace("source", "instead") + "[board]", "LAM-TARGET-004", "source"),
    "unknown key of a rule": ("[board]", f"{RULE}maximum = 3\n[board]", "LAM-TARGET-003", "rules[0].maximum"),
    "rules as a table": ("[board]", "[rules.Conv2D]\nkernel = 1\n[board]", "LAM-TARGET-005", "rules"),
    "clock without source": ("[board]", "[clock]\nhz = 8\n[board]", "LAM-TARGET-004", "clock.source"),
    "clock without its number": ("[board]", "[clock]\nsource = 'x'\n[board]", "LAM-TARGET-004", "clock.hz"),
    "clock of nothing": ("[board]", "[clock]\nhz = 0\nsource = 'x'\n[board]", "LAM-TARGET-005", "clock.hz"),
    "clock as text": ("[board]", "[clock]\nhz = '8 MHz'\nsource = 'x'\n[board]", "LAM-TARGET-005", "clock.hz"),
    "clock beyond all": ("[board]", "[clock]\nhz = 1099511627777\nsource = 'x'\n[board]", "LAM-TARGET-010", "clock.hz"),
    "unknown key of the clock": ("[board]", "[clock]\nmhz = 8\n[board]", "LAM-TARGET-003", "clock.mhz"),
    "clock that is no table": ("isa =", "clock = 80\nisa =", "LAM-TARGET-005", "clock"),
    "unknown accelerator": ("isa =", 'accelerator = "npu"\nisa =', "LAM-TARGET-005", "accelerator"),
    "accelerator that is a number": ("isa =", "accelerator = 4\nisa =", "LAM-TARGET-005", "accelerator"),
    "accelerator that is a path": ("isa =", 'accelerator = "../boards/x"\nisa =', "LAM-TARGET-005", "accelerator"),
    **{
        f"accelerator without {key}": (
            "[board]",
            UNIT.replace(key, "# ") + "[board]",
            "LAM-TARGET-004",
            f"accelerator.{key}",
        )
        for key in ("title", "source", "rest")
    },
    "accelerator without rules": ("[board]", f"{UNIT}[board]", "LAM-TARGET-004", "accelerator.rules"),
    "rest that goes nowhere": ("[board]", UNIT.replace("cpu", "gpu") + "[board]", "LAM-TARGET-005", "accelerator.rest"),
    "unknown key of the accelerator": ("[board]", f"{UNIT}x = 64\n[board]", "LAM-TARGET-003", "accelerator.x"),
    "rules of a unit as a table": ("[board]", f"{UNIT}rules = {{}}\n[board]", "LAM-TARGET-005", "accelerator.rules"),
    "rule of an accelerator that asks nothing": (
        "[board]",
        f"{UNIT}{RULE.replace('rules', 'accelerator.rules')}[board]",
        "LAM-TARGET-005",
        "accelerator.rules[0].fact",
    ),
    "speed without source": (
        "[board]",
        SPOKEN.replace("source = 'x'\n", ""),
        "LAM-TARGET-004",
        "speed.source",
    ),
    "speed of four kinds": ("[board]", SPOKEN.replace(DENSE, ""), "LAM-TARGET-004", "speed.dense"),
    "speed of nothing": ("[board]", SPOKEN.replace("[1, 2]", "[0, 0]"), "LAM-TARGET-005", "instructions"),
    "speed of one number": ("[board]", SPOKEN.replace("[1, 2]", "[1]"), "LAM-TARGET-005", "instructions"),
    "speed that is a fraction": (
        "[board]",
        SPOKEN.replace("[3, 0]", "[0.3, 0]"),
        "LAM-TARGET-005",
        "cycles",
    ),
    "speed of a kernel by two numbers": (
        "[board]",
        SPOKEN.replace(
            "[speed]\n",
            "[speed]\nkernels = [{ name = 'k', kind = 'pair', instructions = [1, 2], cycles = [3, 4, 5, 6, 7, 8] }]\n",
        ),
        "LAM-TARGET-005",
        "speed.kernels[0].instructions",
    ),
    "speed of a kernel without a name": (
        "[board]",
        SPOKEN.replace(
            "[speed]\n",
            "[speed]\nkernels = [{ kind = 'pair', instructions = [1, 2, 3, 4, 5, 6], cycles = [3, 4, 5, 6, 7, 8] }]\n",
        ),
        "LAM-TARGET-004",
        "speed.kernels[0].name",
    ),
    "speed beyond any core": ("[board]", SPOKEN.replace("[3,", "[3000000,"), "LAM-TARGET-005", "cycles"),
    "unknown key of the speed": ("[board]", f"{SPEED}pool = 3\n[board]", "LAM-TARGET-003", "speed.pair.pool"),
    "waits of RAM": ('kind = "ram"', 'kind = "ram"\nwait = 3', "LAM-TARGET-005", "memories[0].wait"),
    "waits without an end": ("[toolchain]", f"{FLASH}wait = 30000\n[toolchain]", "LAM-TARGET-005", "memories[1].wait"),
    "a line of nothing": ("[toolchain]", f"{FLASH}line = 0\n[toolchain]", "LAM-TARGET-005", "memories[1].line"),
    "a cache of less": ("[toolchain]", f"{FLASH}cache = -1\n[toolchain]", "LAM-TARGET-005", "memories[1].cache"),
    "maker without a name": ("isa =", 'maker = " "\nisa =', "LAM-TARGET-005", "maker"),
    "maker that is a number": ("isa =", "maker = 7\nisa =", "LAM-TARGET-005", "maker"),
    "address below zero": ('kind = "ram"', 'kind = "ram"\naddress = -1', "LAM-TARGET-005", "memories[0].address"),
    "address as text": ('kind = "ram"', 'kind = "ram"\naddress = "0x2"', "LAM-TARGET-005", "memories[0].address"),
    "address without source": (
        'bytes = 65536\nsource = "datasheet, section 2"',
        "address = 2",
        "LAM-TARGET-004",
        "source",
    ),
    "unknown core": ("isa =", 'core = "cortex-m5"\nisa =', "LAM-TARGET-005", "core"),
    "core that is a number": ("isa =", "core = 4\nisa =", "LAM-TARGET-005", "core"),
    "core that is a path": ("isa =", 'core = "../cores/cortex-m4"\nisa =', "LAM-TARGET-005", "core"),
    "unknown board": ("isa =", 'board = "mps9"\nisa =', "LAM-TARGET-002", "line"),
    "no TOML": ("isa =", "isa", "LAM-TARGET-002", "line 3"),
}


def write(tmp_path: Path, text: str) -> Path:
    path = tmp_path / "mine.toml"
    path.write_text(text, encoding="utf-8")
    return path


def test_expanded_weights_are_a_level_of_their_own(tmp_path: Path) -> None:
    text = GOOD.replace('isa = "c99"', 'isa = "armv7em"')
    assert load_target(str(write(tmp_path, text))).isa == "armv7em"
    assert load_target(str(write(tmp_path, text + "\n[weights]\nexpand = true\n"))).isa == "armv7em_wide"


def test_every_target_may_let_its_weights_grow(tmp_path: Path) -> None:
    target = load_target(str(write(tmp_path, GOOD + "\n[weights]\nexpand = true\n")))
    assert (target.isa, target.weights.expand) == ("c99", True)


@pytest.mark.parametrize("name", list_targets())
def test_every_shipped_target_loads_under_its_own_name(name: str) -> None:
    target = load_target(name)
    assert target.name == name
    assert target.requant_default == ("pot" if name == "amd-dpu" else "single")
    assert target.ram_bytes is None or target.ram_bytes > 0
    assert set(target.requant_modes) <= set(ALL_MODES)
    assert ("single" in target.requant_modes) == ("pot_half_even" in target.requant_modes)
    assert target.has_fpu or "ort" not in target.requant_modes


def test_the_promised_targets_are_shipped() -> None:
    assert {"host", "generic", "cortex-m4", "cortex-m0plus", "rv32imc", "ppc32"} <= set(list_targets())


@pytest.mark.parametrize("name", [name for name in list_targets() if load_target(name).board])
def test_every_file_a_board_names_exists(name: str) -> None:
    board = load_target(name).board
    assert board is not None
    assert board.startup
    for path in (*board.startup, *filter(None, [board.linker_script])):
        assert (resource_dir("runtime_c") / "boards" / path).is_file(), path


@pytest.mark.parametrize("name", list_targets())
def test_a_target_with_an_fpu_forbids_the_compiler_to_fuse(name: str) -> None:
    target = load_target(name)
    if target.toolchain and target.has_fpu:
        assert "-ffp-contract=off" in target.toolchain.cflags


FUSES = re.compile(r"#define (__FP_FAST_FMAF|__ARM_FEATURE_FMA|__FMA__) 1\n")


@pytest.mark.parametrize("name", [name for name in list_targets() if load_target(name).toolchain])
def test_a_target_has_a_fused_multiply_add_where_its_compiler_says_so(name: str) -> None:
    target = load_target(name)
    assert target.toolchain
    require_tool(target.toolchain.cc)
    argv = [target.toolchain.cc, *target.toolchain.cflags, "-dM", "-E", "-x", "c", "/dev/null"]
    said = check_program(argv, timeout_s=60).stdout.decode()
    assert target.has_fma == (FUSES.search(said) is not None)


def test_only_the_big_endian_target_is_big_endian() -> None:
    assert [n for n in list_targets() if load_target(n).byte_order == "big"] == ["ppc32"]


def test_a_target_speaks_of_the_types_and_modes_that_graphs_have() -> None:
    assert set(target_module.DTYPES) == {d.value for d in DType}
    assert target_module.REQUANT_MODES == ALL_MODES
    assert target_module.OF_SINGLE == DERIVED_MODES


def test_memories_are_those_of_the_datasheet() -> None:
    assert (load_target("cortex-m4").ram_bytes, load_target("cortex-m4").flash_bytes) == (640 << 10, 2 << 20)
    assert load_target("host").ram_bytes is None


def test_a_users_own_file_loads_by_its_path(tmp_path: Path) -> None:
    path = write(tmp_path, GOOD)
    target = load_target(path)
    assert target == load_target(str(path))
    assert (target.arena_align, target.requant_default) == (16, "single")
    assert target.toolchain is not None
    assert target.toolchain.cflags == ()
    assert target.memory("flash") is None


def test_the_file_shown_in_the_readme_loads(tmp_path: Path) -> None:
    text = (resource_dir("targets") / "README.md").read_text(encoding="utf-8")
    whole, core, rule = (part.split("```", 1)[0] for part in text.split("```toml\n")[1:])
    assert load_target(write(tmp_path, whole)).flash_bytes == 1 << 20
    target = load_target(write(tmp_path, whole.replace('core = "cortex-m4"\n', core) + rule))
    assert (target.isa, target.board, len(target.rules)) == ("c99", None, 1)


def test_the_readme_lists_every_fact() -> None:
    text = (resource_dir("targets") / "README.md").read_text(encoding="utf-8")
    assert all(f"| `{name}` | {meaning} |" in text for name, meaning in FACTS.items())


def test_working_memories_begin_with_the_fastest(tmp_path: Path) -> None:
    slow = '[[memories]]\nname = "ext"\nkind = "psram"\ncost = 9\nsource = "sheet"\n'
    first = slow + '[[memories]]\nname = "2nd-ram"\nkind = "ram"\n' + GOOD[GOOD.index("[[memories]]") :]
    target = load_target(write(tmp_path, GOOD[: GOOD.index("[[memories]]")] + first))
    assert [(m.name, m.symbol, m.cost) for m in target.working] == [
        ("2nd-ram", "m2nd_ram", 1),
        ("sram", "sram", 1),
        ("ext", "ext", 9),
    ]
    assert target.ram_bytes is None
    scratchpad = load_target("gap8-like")
    assert [m.name for m in scratchpad.working] == ["l2"]


def test_rules_and_unsupported_operators_are_read(tmp_path: Path) -> None:
    target = load_target(write(tmp_path, 'unsupported = ["Softmax"]\n' + GOOD + RULE + "at_most = 7\n"))
    (rule,) = target.rules
    assert (rule.operators, rule.fact, rule.at_most, rule.sentence[:8]) == (("Conv2D",), "kernel_height", 7, "the unit")
    assert target.unsupported == ("Softmax",)


@pytest.mark.parametrize(
    ("asked", "good", "bad"),
    [
        ("at_most = 7", (0, 7), (8,)),
        ("at_least = 2", (2, 9), (0, 1)),
        ("multiple_of = 4", (0, 4, 8), (1, 6)),
        ("one_of = [1, 3]", (1, 3), (0, 2)),
        ("at_least = 2\nat_most = 3", (2, 3), (1, 4)),
        ("at_most = 0", (0,), (1,)),
    ],
)
def test_a_rule_holds_for_the_values_it_allows(
    asked: str, good: tuple[int, ...], bad: tuple[int, ...], tmp_path: Path
) -> None:
    (rule,) = load_target(write(tmp_path, f"{GOOD}{RULE}{asked}\n")).rules
    assert [rule.holds(value) for value in good] == [True] * len(good)
    assert [rule.holds(value) for value in bad] == [False] * len(bad)


def test_a_target_is_frozen_and_hashable(tmp_path: Path) -> None:
    target = load_target(write(tmp_path, f"{GOOD}{RULE}at_most = 7\n"))
    assert hash(target) == hash(load_target(write(tmp_path, f"{GOOD}{RULE}at_most = 7\n")))
    with pytest.raises(dataclasses.FrozenInstanceError):
        target.name = "other"  # type: ignore[misc]


CHIP = """\
name = "mine"
description = "a chip of mine"
core = "cortex-m4"

[[memories]]
name = "sram"
kind = "ram"
bytes = 65536
source = "datasheet, section 2"
"""


def test_a_chip_takes_what_it_does_not_say_from_its_core(tmp_path: Path) -> None:
    target, known = load_target(write(tmp_path, CHIP)), load_target("cortex-m4")
    assert dataclasses.replace(known, name="mine", description="a chip of mine", memories=target.memories) == target
    assert target.ram_bytes == 65536


def test_a_chip_goes_before_its_core_key_by_key(tmp_path: Path) -> None:
    own = CHIP.replace("core =", 'requant_default = "tflite"\ncore =') + '[toolchain]\ncc = "mine-gcc"\n'
    target = load_target(write(tmp_path, own))
    assert target.toolchain is not None
    assert (target.toolchain.cc, target.toolchain.size) == ("mine-gcc", "arm-none-eabi-size")
    assert target.requant_default == "tflite"


def test_a_chip_names_another_board_or_describes_its_own(tmp_path: Path) -> None:
    other = load_target(write(tmp_path, CHIP.replace("core =", 'board = "mps2-an385"\ncore =')))
    assert other.board == load_target("cortex-m3").board
    own = load_target(write(tmp_path, CHIP + GOOD[GOOD.index("[board]") :])).board
    assert own is not None
    assert own.emulator[0] == "my-emulator"


def test_a_board_that_nobody_knows_is_answered_with_the_nearest(tmp_path: Path) -> None:
    with pytest.raises(CompileError, match=r"LAM-TARGET-005 .*no board is called 'mps2-an384'.*did you mean mps2-an38"):
        load_target(write(tmp_path, CHIP.replace("core =", 'board = "mps2-an384"\ncore =')))


@pytest.mark.parametrize("kind", ["cores", "boards", "accelerators"])
def test_every_shipped_part_is_used_by_a_chip(kind: str) -> None:
    """A part that nothing names is read by no test."""
    folder = resource_dir("targets")
    named = [p.read_text(encoding="utf-8") for p in folder.rglob("*.toml")]
    for part in (folder / kind).glob("*.toml"):
        assert any(f'{kind.removesuffix("s")} = "{part.stem}"' in text for text in named), part


@pytest.mark.parametrize("case", BAD)
def test_a_bad_file_is_refused_with_an_id_and_its_place(case: str, tmp_path: Path) -> None:
    old, new, code, place = BAD[case]
    assert old in GOOD
    with pytest.raises(CompileError) as caught:
        load_target(write(tmp_path, GOOD.replace(old, new, 1)))
    assert caught.value.code == code
    assert place in str(caught.value)
    assert "mine.toml" in caught.value.where


def test_a_misspelt_key_is_answered_with_the_right_one(tmp_path: Path) -> None:
    with pytest.raises(CompileError, match="did you mean requant_modes"):
        load_target(write(tmp_path, GOOD.replace("requant_modes", "requant_mode")))


def test_an_unknown_name_is_answered_with_the_nearest_ones() -> None:
    with pytest.raises(
        TargetUnknown, match=r"LAM-TARGET-001 .*did you mean cortex-m4,.* or .*\? `lamina targets` lists all"
    ):
        load_target("cortex-m4f")
    with pytest.raises(TargetUnknown, match=r"did you mean stm32f401re, stm32f407vg, .* or .*\?"):
        load_target("STM32F4")


@pytest.mark.parametrize("name", ["../targets/host", "", "host.tom", "/etc/passwd"])
def test_a_name_never_reaches_outside_the_shipped_targets(name: str) -> None:
    with pytest.raises(TargetUnknown):
        load_target(name)


def test_files_that_cannot_be_read_are_refused(tmp_path: Path) -> None:
    with pytest.raises(TargetFileBroken, match="LAM-TARGET-002"):
        load_target(tmp_path / "absent.toml")
    latin = tmp_path / "latin.toml"
    latin.write_bytes(b'name = "\xe9"\n')
    with pytest.raises(TargetFileBroken, match="UTF-8"):
        load_target(latin)
