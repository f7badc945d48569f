"""Kinds of instructions by their spelling, and about how many cycles they take by a target's table.

An estimate: caches, flash wait states and what one instruction waits for another are not in it.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import pairwise

from codegen.records import record
from codegen.target import Cycles

MEMORY = ("load", "store")
_LINE = re.compile(r"^ *([0-9a-f]+):\t([a-z][\w.]*)[ \t]*([^;<@\n]*)", re.MULTILINE)
_CONDITIONS = "eq|ne|cs|hs|cc|lo|mi|pl|vs|vc|hi|ls|ge|lt|gt|le|al"
_ARM = [
    ("loop", r"le|letp"),
    ("branch", rf"b(l|lx|x)?({_CONDITIONS})?|cbn?z|tb[bh]|wls(tp)?|dls(tp)?"),
    ("multiple", r"(ldm|stm|push|pop|vldm|vstm|vpush|vpop|ldrd|strd).*"),
    ("float_divide", r"(vdiv|vsqrt).*"),
    ("float_multiply_add", r"(vmla|vmls|vnmla|vnmls|vfma|vfms|vfnma|vfnms).*"),
    ("load", r"(ldr|vldr).*"),
    ("store", r"(str|vstr).*"),
    ("divide", r"[su]div.*"),
    ("multiply_long", r"([su]mull|[su]mlal|umaal|smlsl).*"),
    ("multiply_add", r"(mla|mls|smla|smls|smmla|smmls).*"),
    ("multiply", r"(mul|smul|smuad|smusd|smmul).*"),
]
_RISCV = [
    ("branch", r"b(eq|ne|lt|ge|gt|le)(u|z)?|j|jal|jr|jalr|ret|call|tail"),
    ("load", r"l[bhw]u?"),
    ("store", r"s[bhw]"),
    ("multiply", r"mul"),
    ("multiply_long", r"mulh(u|su)?"),
    ("divide", r"(div|rem)u?"),
]


@record
class Instruction:
    """One instruction: its kind (a name of Cycles' fields) and the registers that it moves, where they are several.

    Vector instructions are of kind `vector`, and `unit` says which part of the core works on them.
    """

    kind: str
    registers: int = 0
    unit: str = ""


@record
class Executed:
    """How often one instruction ran for one layer (0 is none), and how often it jumped."""

    layer: int
    address: int
    times: int
    jumps: int


def read_disassembly(text: str, *, arm: bool) -> dict[int, Instruction]:
    """Instruction by address, out of `objdump -d --no-show-raw-insn`."""
    kinds = [(kind, re.compile(pattern)) for kind, pattern in (_ARM if arm else _RISCV)]
    return {int(m[1], 16): _instruction(m[2], m[3], kinds) for m in _LINE.finditer(text)}


def _instruction(mnemonic: str, operands: str, kinds: Iterable[tuple[str, re.Pattern[str]]]) -> Instruction:
    word = mnemonic.split(".")[0]
    if re.search(r"\bq[0-7]\b", operands) or word in ("vpst", "vpt", "vctp"):
        memory = word.startswith(("vldr", "vstr", "vld", "vst"))
        multiplies = re.match(r"v(q?r?d?mul|m[lu]l|rml|qr?dml|fm|cmul|cmla|mla)", word)
        return Instruction("vector", unit="memory" if memory else "multiply" if multiplies else "other")
    kind = next((kind for kind, pattern in kinds if pattern.fullmatch(word)), "other")
    registers = 0
    if kind == "multiple":
        listed = re.search(r"\{(.*)\}", operands)
        registers = _registers(listed[1]) if listed else 2
    return Instruction(kind, registers)


def _registers(listed: str) -> int:
    """How many are named: `r4, r5-r8, lr`."""
    count = 0
    for part in listed.split(","):
        ends = [re.sub(r"\D", "", end) for end in part.split("-")]
        count += int(ends[1]) - int(ends[0]) + 1 if len(ends) == 2 and all(ends) else 1
    return count


@dataclass(slots=True)
class Mix:
    """What ran: instructions by kind, their sum, and the estimate of cycles."""

    kinds: dict[str, int]
    instructions: int
    cycles: int


def mixes(executed: Iterable[Executed], code: dict[int, Instruction], table: Cycles | None, layers: int) -> list[Mix]:
    """One Mix for what no layer did, and one per layer; without a table no cycles."""
    found = [Mix({}, 0, 0) for _ in range(layers + 1)]
    before = dict(_neighbours(code))
    for item in executed:
        instruction = code.get(item.address, Instruction("other"))
        mix = found[item.layer]
        mix.kinds[instruction.kind] = mix.kinds.get(instruction.kind, 0) + item.times
        mix.instructions += item.times
        if table is None:
            continue
        mix.cycles += item.times * _cost(instruction, before.get(item.address), table)
        mix.cycles += item.jumps * (table.taken - table.branch if instruction.kind != "loop" else 0)
    for mix in found:
        mix.cycles = mix.cycles * (table.percent if table else 100) // 100
    return found


def _neighbours(code: dict[int, Instruction]) -> Iterator[tuple[int, Instruction]]:
    """Each address with the instruction that stands before it."""
    addresses = sorted(code)
    yield from ((after, code[first]) for first, after in pairwise(addresses))


def _cost(instruction: Instruction, before: Instruction | None, table: Cycles) -> int:
    kind = instruction.kind
    if kind == "load" and before is not None and before.kind in MEMORY:
        return table.load_next
    if kind == "vector" and before is not None and before.kind == "vector" and before.unit == instruction.unit:
        return table.vector_next
    cost = getattr(table, kind)
    assert isinstance(cost, int)
    return cost + instruction.registers
