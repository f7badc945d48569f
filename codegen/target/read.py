"""From a chip's file to a frozen, validated Target.

Decides: which value each key may have, so that the other rooms can rely on it.  The schema is written out in
targets/README.md.
"""

from __future__ import annotations

import re
from dataclasses import fields
from pathlib import Path

from codegen.errors import TargetKeyMissing
from codegen.target import chip, parts
from codegen.target.compose import composed, find_chip, parse, shipped
from codegen.target.table import Table

MOST_CORES = 64
MOST_BANKS = 4096
_MOST_RATE, _MOST_OF_KERNELS = 1_000_000, 1_000_000_000
_LONGEST_WAIT = 1000
_LONGEST_LINE = 4096
_ALIGNMENTS = tuple(1 << n for n in range(2, 13))


def list_targets() -> tuple[str, ...]:
    """Names of the shipped targets, sorted."""
    return tuple(shipped("chips"))


def load_target(name_or_path: str | Path) -> chip.Target:
    """The shipped target of this name, or the one described in the user's own .toml file.

    Raises LAM-TARGET-001 for a name nobody knows, -002 for a file that is no TOML, -003 and -004 for an unknown
    and a missing key, -005 for a bad value, -010 for a number that is too large, LAM-API-020 to -023 for a file that is
    none, is too large, or nests or counts beyond TOML.
    """
    given = str(name_or_path)
    path, where = (Path(given), given) if given.endswith(".toml") else (find_chip(given), f"target {given}")
    return _target(Table(composed(parse(path, where), where), where, chip.Target))


def _target(table: Table) -> chip.Target:
    name = table.text("name")
    if not re.fullmatch(r"[a-z0-9][a-z0-9_.-]*", name):
        raise table.bad("name", f"{name!r} is not lower-case letters, digits, '-', '_' and '.'")
    modes, has_fpu = table.texts("requant_modes", chip.REQUANT_MODES), table.flag("has_fpu")
    if "ort" in modes and not has_fpu:
        raise table.bad("requant_modes", "a chip without a floating-point unit offers no 'ort'")
    if "single" in modes:
        modes = tuple(dict.fromkeys((*modes, *chip.OF_SINGLE)))
    weights = _weights(table.table("weights", chip.Weights))
    target = chip.Target(
        name=name,
        description=table.text("description"),
        maker=table.text("maker") if table.has("maker") else "",
        core=table.text("core") if table.has("core") else "",
        clock=_clock(table.table("clock", parts.Clock)),
        isa=_level(table, weights),
        byte_order=table.text("byte_order", chip.BYTE_ORDERS),
        has_fpu=has_fpu,
        has_fma=table.flag("has_fma", default=False),
        arena_align=table.number("arena_align", _ALIGNMENTS, default=16),
        requant_modes=modes,
        requant_default=table.text("requant_default", modes, default="single"),
        goal_default=table.text("goal_default", chip.GOALS, default="balanced"),
        float_default=table.text("float_default", chip.FLOAT_SUMS, default="separate"),
        dtypes=table.texts("dtypes", chip.DTYPES),
        memories=_memories(table),
        toolchain=_toolchain(table.table("toolchain", chip.Toolchain)),
        board=_board(table.table("board", chip.Board)),
        dma=_dma(table.table("dma", chip.Dma)),
        cycles=_cycles(table.table("cycles", chip.Cycles)),
        speed=_speed(table.table("speed", parts.Speed)),
        weights=weights,
        unsupported=table.texts("unsupported", default=()),
        rules=_rules(table) if table.has("rules") else (),
        accelerator=_accelerator(table.table("accelerator", parts.Accelerator)),
    )
    if target.board and not target.toolchain:
        raise TargetKeyMissing("a [board] needs a [toolchain] that builds for it", where=table.at("toolchain"))
    if (target.dma is None) != (target.memory("scratchpad") is None):
        raise TargetKeyMissing(
            "a memory of kind 'scratchpad' and a [dma] that fills it come together", where=table.at("dma")
        )
    return target


def _clock(table: Table | None) -> parts.Clock | None:
    return None if table is None else parts.Clock(hz=table.number("hz"), source=table.text("source"))


def _weights(table: Table | None) -> chip.Weights:
    if table is None:
        return chip.Weights()
    buffer = table.number("buffer_bytes") if table.has("buffer_bytes") else None
    pin, mapped = (table.texts(key, default=()) for key in ("pin", "map"))
    return chip.Weights(expand=table.flag("expand", default=False), buffer_bytes=buffer, pin=pin, map=mapped)


def _level(table: Table, weights: chip.Weights) -> str:
    isa = table.text("isa", chip.ISA_LEVELS)
    return chip.EXPANDED.get(isa, isa) if weights.expand else isa


def _memories(table: Table) -> tuple[chip.Memory, ...]:
    memories: list[chip.Memory] = []
    for entry in table.tables("memories", chip.Memory):
        kind = entry.text("kind", chip.MEMORY_KINDS)
        stated = any(map(entry.has, ("bytes", "cost", "address", "wait")))
        memory = chip.Memory(
            name=entry.text("name"),
            kind=kind,
            bytes=entry.number("bytes") if entry.has("bytes") else None,
            source=entry.text("source") if stated else entry.text("source", default="no limit"),
            banks=entry.number("banks", default=1, most=MOST_BANKS),
            cost=entry.number("cost") if kind == "psram" else entry.number("cost", default=1),
            address=entry.whole("address"),
            wait=entry.whole("wait") or 0,
            line=entry.number("line", default=4, most=_LONGEST_LINE),
            cache=entry.whole("cache") or 0,
        )
        _check_waits(memory, entry)
        if memory.symbol in ("", "arena", *(m.symbol for m in memories)):
            raise entry.bad("name", f"{memory.name!r} is no name that C can tell from the others")
        memories.append(memory)
    if not any(m.kind == "ram" for m in memories):
        raise table.bad("memories", "has none of kind 'ram', so there is no place for the arena")
    return tuple(memories)


def _check_waits(memory: chip.Memory, entry: Table) -> None:
    """LAM-TARGET-005 for a wait of a memory that is read whenever it is asked, or that would outlast any other."""
    for key in ("wait", "line", "cache"):
        if entry.has(key) and memory.kind != "flash":
            raise entry.bad(key, f"is of flash; what {memory.kind} costs is said by `cost`")
    if memory.wait > _LONGEST_WAIT:
        raise entry.bad("wait", f"{memory.wait} cycles, more than {_LONGEST_WAIT}")


def _toolchain(table: Table | None) -> chip.Toolchain | None:
    if table is None:
        return None
    return chip.Toolchain(
        cc=table.text("cc"),
        cflags=table.texts("cflags", default=()),
        opt_level=table.text("opt_level", default="-O2"),
        ldflags=table.texts("ldflags", default=()),
        size=table.text("size"),
        objdump=table.text("objdump") if table.has("objdump") else None,
        objdump_flags=table.texts("objdump_flags", default=()),
        debian_packages=table.texts("debian_packages", default=()),
    )


def _board(table: Table | None) -> chip.Board | None:
    if table is None:
        return None
    emulator = table.texts("emulator")
    if not any("{elf}" in word for word in emulator):
        raise table.bad("emulator", "no word holds {elf}, the place of the program")
    return chip.Board(
        emulator=emulator,
        counting=table.texts("counting", default=()),
        linker_script=table.text("linker_script") if table.has("linker_script") else None,
        startup=table.texts("startup"),
        console=table.text("console", chip.CONSOLES),
        ram_bytes=table.number("ram_bytes"),
        debian_packages=table.texts("debian_packages", default=()),
    )


def _cycles(table: Table | None) -> chip.Cycles | None:
    if table is None:
        return None
    others = (f.name for f in fields(chip.Cycles) if f.name not in ("source", "percent"))
    numbers = {name: table.number(name, default=1) for name in others}
    return chip.Cycles(source=table.text("source"), percent=table.number("percent", default=100), **numbers)


def _speed(table: Table | None) -> parts.Speed | None:
    if table is None:
        return None
    return parts.Speed(
        convolution=_rates(table, "convolution"),
        grouped=_rates(table, "grouped"),
        dense=_rates(table, "dense"),
        element=_rates(table, "element"),
        pair=_rates(table, "pair"),
        source=table.text("source"),
        products=table.number("products", default=1),
        bytes=table.number("bytes", default=4),
        pixels=table.number("pixels", default=1),
        kernels=tuple(map(_kernel, table.tables("kernels", parts.KernelRates))) if table.has("kernels") else (),
    )


def _kernel(table: Table) -> parts.KernelRates:
    name = table.text("name")
    instructions, cycles = (
        _whole_rates(table, key, parts.AMOUNTS, _MOST_OF_KERNELS) for key in ("instructions", "cycles")
    )
    return parts.KernelRates(name, table.text("kind"), instructions, cycles, table.number("bits", default=8))


def _rates(speed: Table, kind: str) -> parts.Rates:
    table = speed.table(kind, parts.Rates)
    if table is None:
        raise TargetKeyMissing("table missing", where=speed.at(kind))
    return parts.Rates(instructions=_pair(table, "instructions"), cycles=_pair(table, "cycles"))


def _pair(table: Table, key: str) -> tuple[int, int]:
    first, second = _whole_rates(table, key, 2)
    return first, second


def _whole_rates(table: Table, key: str, count: int, most: int = _MOST_RATE) -> tuple[int, ...]:
    """So many whole numbers, one of them at least above zero."""
    found = table.wholes(key)
    if len(found) != count or not any(found) or max(found) > most:
        raise table.bad(key, f"{list(found)} are not {count} whole numbers up to {most}, and not all zero")
    return found


def _dma(table: Table | None) -> chip.Dma | None:
    if table is None:
        return None
    return chip.Dma(
        bytes_per_cycle=table.number("bytes_per_cycle"),
        latency_cycles=table.number("latency_cycles"),
        macs_per_cycle=table.number("macs_per_cycle"),
        cores=table.number("cores", default=1, most=MOST_CORES),
        source=table.text("source"),
    )


def _accelerator(table: Table | None) -> parts.Accelerator | None:
    if table is None:
        return None
    return parts.Accelerator(
        title=table.text("title"),
        rest=table.text("rest", parts.RESTS),
        source=table.text("source"),
        rules=_rules(table),
    )


def _rules(table: Table) -> tuple[parts.Rule, ...]:
    return tuple(_rule(entry) for entry in table.tables("rules", parts.Rule))


def _rule(table: Table) -> parts.Rule:
    rule = parts.Rule(
        operators=table.texts("operators", default=()),
        fact=table.text("fact"),
        at_least=table.whole("at_least"),
        at_most=table.whole("at_most"),
        multiple_of=table.number("multiple_of") if table.has("multiple_of") else None,
        one_of=table.wholes("one_of"),
        sentence=table.text("sentence"),
        source=table.text("source"),
        instead=table.text("instead") if table.has("instead") else "",
    )
    if (rule.at_least, rule.at_most, rule.multiple_of, rule.one_of) == (None, None, None, ()):
        raise table.bad("fact", "no at_least, at_most, multiple_of or one_of says what it must be")
    return rule
