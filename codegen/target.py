"""What a chip is: targets/*.toml read into a frozen, validated Target.

Decides: which keys a target's file has, and that every one holds a value the other rooms can rely on.  Leaves to
the rooms above what follows from it: kernels (lower), memory (schedule), cross builds (emulator).  The schema is
written out in targets/README.md.
"""

from __future__ import annotations

import difflib
import re
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import Any, TypeVar

from codegen.errors import TargetFileBroken, TargetKeyMissing, TargetKeyUnknown, TargetUnknown, TargetValueBad
from codegen.resources import resource_dir

ISA_LEVELS = ("c99", "armv6m", "armv7m", "armv7em", "armv81m_mve", "rv32", "aarch64_dot", "avx2", "avx512_vnni", "host")
EXPANDED = {"armv7em": "armv7em_wide"}
"""Levels that have other kernels where weights may take twice the flash, and the level those kernels have."""
BYTE_ORDERS = ("little", "big")
MEMORY_KINDS = ("ram", "flash", "psram", "lmem")
WORKING_KINDS = ("ram", "psram")
GOALS = ("memory", "balanced", "speed")
REQUANT_MODES = ("single", "double", "float")
DTYPES = ("s8", "u8", "s16", "s32", "f32")
CONSOLES = ("semihosting", "uart", "stdio")

_ALIGNMENTS = tuple(1 << n for n in range(2, 13))
_T = TypeVar("_T")
RuleValue = bool | int | str | tuple[int | str, ...]


@dataclass(frozen=True, slots=True)
class Memory:
    """One memory of the chip.  `bytes` is None when it has no limit; `source` says where the numbers stand.

    `banks` are parts of equal size; what moves and what computes had better not meet in one.  `cost` is that of a byte
    read or written, beside a byte of the fastest memory.
    """

    name: str
    kind: str
    bytes: int | None
    source: str
    banks: int = 1
    cost: int = 1

    @property
    def symbol(self) -> str:
        """The name as the beginning of C identifiers."""
        symbol = re.sub(r"[^0-9a-z]+", "_", self.name.lower()).strip("_")
        return f"m{symbol}" if symbol[:1].isdigit() else symbol


@dataclass(frozen=True, slots=True)
class Toolchain:
    """The programs that build C for the chip, and the Debian packages that bring them.

    `optimize` is the compiler's level for code that is measured.
    """

    cc: str
    cflags: tuple[str, ...]
    optimize: str
    ldflags: tuple[str, ...]
    size: str
    objdump: str | None
    debian_packages: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Board:
    """The emulated board that runs the chip's code.

    `emulator` is a command line in which `{elf}` stands for the program; `counting` are arguments that go after
    its first word when instructions are to be counted.  `linker_script` and `startup` are paths below
    runtime_c/boards, or absolute ones.
    """

    emulator: tuple[str, ...]
    counting: tuple[str, ...]
    linker_script: str | None
    startup: tuple[str, ...]
    console: str
    ram_bytes: int
    debian_packages: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Cycles:
    """About how many cycles an instruction takes, by kind; `source` says where the numbers stand.

    `load_next` is for a load or store right behind another one, `multiple` for one of several registers, to which each
    register adds one; `taken` for a branch that jumps, `branch` for one that does not.  `vector_next` is for a vector
    instruction right behind another one of the same unit.  The sum is taken times `percent` / 100.
    """

    source: str
    other: int
    load: int
    load_next: int
    store: int
    multiple: int
    multiply: int
    multiply_add: int
    multiply_long: int
    divide: int
    branch: int
    taken: int
    loop: int
    float_multiply_add: int
    float_divide: int
    vector: int
    vector_next: int
    percent: int


@dataclass(frozen=True, slots=True)
class Dma:
    """How a chip with local memory moves and computes, for the model of time; `source` says where the numbers stand.

    `cores` compute at one time, each on a slice of its own.
    """

    bytes_per_cycle: int
    latency_cycles: int
    macs_per_cycle: int
    cores: int
    source: str


@dataclass(frozen=True, slots=True)
class Weights:
    """How weights may be packed.  `expand`: they may take as much flash as is fastest, some levels twice as much."""

    expand: bool = False


@dataclass(frozen=True, slots=True)
class Target:
    """A chip, as far as the compiler cares.  Of several memories of one kind the first is the one used first.

    `isa` is the level of its kernels: with `weights.expand` the one for expanded weights, if there is one (EXPANDED).
    """

    name: str
    description: str
    isa: str
    byte_order: str
    word_bits: int
    has_fpu: bool
    arena_align: int
    weights_align: int
    requant_modes: tuple[str, ...]
    requant_default: str
    optimize_default: str
    dtypes: tuple[str, ...]
    memories: tuple[Memory, ...]
    toolchain: Toolchain | None
    board: Board | None
    dma: Dma | None
    cycles: Cycles | None
    weights: Weights
    unsupported: tuple[str, ...]
    rules: Mapping[str, Mapping[str, RuleValue]] = field(hash=False)

    def memory(self, kind: str) -> Memory | None:
        """The first memory of a kind, or None when the chip has none."""
        return next((m for m in self.memories if m.kind == kind), None)

    @property
    def working(self) -> tuple[Memory, ...]:
        """The memories that may hold tensors, the fastest first: there is the arena; the others take what it cannot.

        One memory where kernels work in local memory.
        """
        found = sorted((m for m in self.memories if m.kind in WORKING_KINDS), key=lambda m: m.cost)
        return tuple(found if self.dma is None else [m for m in found if m.kind == "ram"][:1])

    @property
    def ram_bytes(self) -> int | None:
        """Bytes an arena may have; None when there is no limit."""
        return self.working[0].bytes

    @property
    def lmem_bytes(self) -> int:
        """Bytes of local memory that kernels work in; 0 when they work in the arena."""
        lmem = self.memory("lmem")
        return (lmem.bytes or 1 << 31) if lmem else 0

    @property
    def lmem_banks(self) -> int:
        """Banks of local memory."""
        lmem = self.memory("lmem")
        return lmem.banks if lmem else 1

    @property
    def flash_bytes(self) -> int | None:
        """Bytes for code and weights; None when there is no limit, or when the target does not say."""
        flash = self.memory("flash")
        return flash.bytes if flash else None


def list_targets() -> tuple[str, ...]:
    """Names of the shipped targets, sorted."""
    return tuple(sorted(p.stem for p in resource_dir("targets").glob("*.toml")))


def load_target(name_or_path: str | Path) -> Target:
    """The shipped target of this name, or the one described in the user's own .toml file.

    Raises LAM-TARGET-001 for a name nobody knows, -002 for a file that is no TOML, -003 and -004 for an unknown
    and a missing key, -005 for a bad value.
    """
    given = str(name_or_path)
    if given.endswith(".toml"):
        return _read(Path(given), given)
    known = list_targets()
    if given not in known:
        close = difflib.get_close_matches(given, known, n=1)
        guess = f"did you mean {close[0]}? " if close else ""
        hint = f"{guess}known: {', '.join(known)}; or give the path of a .toml file of your own"
        raise TargetUnknown(f"unknown target {given!r}", hint=hint)
    return _read(resource_dir("targets") / f"{given}.toml", f"target {given}")


def _read(path: Path, where: str) -> Target:
    try:
        items = tomllib.loads(path.read_text(encoding="utf-8"))
    except tomllib.TOMLDecodeError as error:
        raise TargetFileBroken(str(error), where=where) from error
    except (OSError, UnicodeDecodeError) as error:
        raise TargetFileBroken(f"cannot be read: {error}", where=where) from error
    return _target(_Table(items, where, Target))


def _target(table: _Table) -> Target:
    name = table.text("name")
    if not re.fullmatch(r"[a-z0-9][a-z0-9_.-]*", name):
        raise table.bad("name", f"{name!r} is not lower-case letters, digits, '-', '_' and '.'")
    modes = table.texts("requant_modes", REQUANT_MODES)
    packing = table.table("weights", Weights)
    weights = Weights(packing.flag("expand") if packing else False)
    target = Target(
        name=name,
        description=table.text("description"),
        isa=_level(table, weights),
        byte_order=table.text("byte_order", BYTE_ORDERS),
        word_bits=table.number("word_bits", (8, 16, 32, 64)),
        has_fpu=table.flag("has_fpu"),
        arena_align=table.number("arena_align", _ALIGNMENTS, default=16),
        weights_align=table.number("weights_align", _ALIGNMENTS, default=16),
        requant_modes=modes,
        requant_default=table.text("requant_default", modes, default="single"),
        optimize_default=table.text("optimize_default", GOALS, default="balanced"),
        dtypes=table.texts("dtypes", DTYPES),
        memories=_memories(table),
        toolchain=_toolchain(table.table("toolchain", Toolchain)),
        board=_board(table.table("board", Board)),
        dma=_dma(table.table("dma", Dma)),
        cycles=_cycles(table.table("cycles", Cycles)),
        weights=weights,
        unsupported=table.texts("unsupported", default=()),
        rules=rules.rules() if (rules := table.table("rules", None)) else {},
    )
    if target.board and not target.toolchain:
        raise TargetKeyMissing("a [board] needs a [toolchain] that builds for it", where=table.at("toolchain"))
    if (target.dma is None) != (target.memory("lmem") is None):
        raise TargetKeyMissing("a memory of kind 'lmem' and a [dma] that fills it come together", where=table.at("dma"))
    return target


def _level(table: _Table, weights: Weights) -> str:
    isa = table.text("isa", ISA_LEVELS)
    return EXPANDED.get(isa, isa) if weights.expand else isa


def _memories(table: _Table) -> tuple[Memory, ...]:
    memories: list[Memory] = []
    for entry in table.tables("memories", Memory):
        kind = entry.text("kind", MEMORY_KINDS)
        stated = entry.has("bytes") or entry.has("cost")
        memory = Memory(
            name=entry.text("name"),
            kind=kind,
            bytes=entry.number("bytes") if entry.has("bytes") else None,
            source=entry.text("source") if stated else entry.text("source", default="no limit"),
            banks=entry.number("banks", default=1),
            cost=entry.number("cost") if kind == "psram" else entry.number("cost", default=1),
        )
        if memory.symbol in ("", "arena", *(m.symbol for m in memories)):
            raise entry.bad("name", f"{memory.name!r} is no name that C can tell from the others")
        memories.append(memory)
    if not any(m.kind == "ram" for m in memories):
        raise table.bad("memories", "has none of kind 'ram', so there is no place for the arena")
    return tuple(memories)


def _toolchain(table: _Table | None) -> Toolchain | None:
    if table is None:
        return None
    return Toolchain(
        cc=table.text("cc"),
        cflags=table.texts("cflags", default=()),
        optimize=table.text("optimize", default="-O2"),
        ldflags=table.texts("ldflags", default=()),
        size=table.text("size"),
        objdump=table.text("objdump") if table.has("objdump") else None,
        debian_packages=table.texts("debian_packages", default=()),
    )


def _board(table: _Table | None) -> Board | None:
    if table is None:
        return None
    emulator = table.texts("emulator")
    if not any("{elf}" in word for word in emulator):
        raise table.bad("emulator", "no word holds {elf}, the place of the program")
    return Board(
        emulator=emulator,
        counting=table.texts("counting", default=()),
        linker_script=table.text("linker_script") if table.has("linker_script") else None,
        startup=table.texts("startup"),
        console=table.text("console", CONSOLES),
        ram_bytes=table.number("ram_bytes"),
        debian_packages=table.texts("debian_packages", default=()),
    )


def _cycles(table: _Table | None) -> Cycles | None:
    if table is None:
        return None
    numbers = {f.name: table.number(f.name, default=1) for f in fields(Cycles) if f.name not in ("source", "percent")}
    return Cycles(source=table.text("source"), percent=table.number("percent", default=100), **numbers)


def _dma(table: _Table | None) -> Dma | None:
    if table is None:
        return None
    return Dma(
        bytes_per_cycle=table.number("bytes_per_cycle"),
        latency_cycles=table.number("latency_cycles"),
        macs_per_cycle=table.number("macs_per_cycle"),
        cores=table.number("cores", default=1),
        source=table.text("source"),
    )


class _Table:
    """One TOML table whose keys are the fields of a dataclass (any, where that is None), asked for by type."""

    def __init__(self, items: Mapping[str, object], file: str, shape: type[Any] | None, place: str = "") -> None:
        self._items, self._file, self._place = items, file, place
        known = [f.name for f in fields(shape)] if shape else list(items)
        for key in items:
            if key not in known:
                close = difflib.get_close_matches(key, known, n=1)
                hint = f"did you mean {close[0]}?" if close else None
                raise TargetKeyUnknown("unknown key", where=self.at(key), hint=hint)

    def at(self, key: str) -> str:
        return f"{self._file}, {self._place}{key}"

    def bad(self, key: str, found: str) -> TargetValueBad:
        return TargetValueBad(found, where=self.at(key))

    def has(self, key: str) -> bool:
        return key in self._items

    def text(self, key: str, choices: Sequence[str] = (), default: str | None = None) -> str:
        value = self._get(key, default)
        if not isinstance(value, str) or not value.strip():
            raise self.bad(key, f"{value!r} is not a text")
        return self._chosen(key, value, choices)

    def number(self, key: str, choices: Sequence[int] = (), default: int | None = None) -> int:
        value = self._get(key, default)
        if not isinstance(value, int) or isinstance(value, bool) or value <= 0:
            raise self.bad(key, f"{value!r} is not a whole number above zero")
        return self._chosen(key, value, choices)

    def flag(self, key: str) -> bool:
        value = self._get(key, None)
        if not isinstance(value, bool):
            raise self.bad(key, f"{value!r} is neither true nor false")
        return value

    def texts(self, key: str, choices: Sequence[str] = (), default: Sequence[str] | None = None) -> tuple[str, ...]:
        value = self._get(key, list(default) if default is not None else None)
        if not isinstance(value, list) or not all(isinstance(v, str) for v in value):
            raise self.bad(key, f"{value!r} is not a list of texts")
        if choices and (not value or len(set(value)) < len(value)):
            raise self.bad(key, f"{value!r} is empty or says something twice; choose from {', '.join(choices)}")
        return tuple(self._chosen(key, v, choices) for v in value)

    def table(self, key: str, shape: type[Any] | None) -> _Table | None:
        value = self._get(key, {}) if self.has(key) else None
        if value is not None and not isinstance(value, dict):
            raise self.bad(key, f"{value!r} is not a table")
        return None if value is None else _Table(value, self._file, shape, f"{self._place}{key}.")

    def tables(self, key: str, shape: type[Any]) -> tuple[_Table, ...]:
        value = self._get(key, None)
        if not isinstance(value, list) or not all(isinstance(v, dict) for v in value):
            raise self.bad(key, f"{value!r} is not a list of tables")
        return tuple(_Table(v, self._file, shape, f"{self._place}{key}[{i}].") for i, v in enumerate(value))

    def rules(self) -> dict[str, dict[str, RuleValue]]:
        """A table of tables: per operator the limits of this chip, whose meaning is checked where they are used."""
        tables = {operator: self.table(operator, None) for operator in self._items}
        return {operator: {k: t._rule(k) for k in t._items} for operator, t in tables.items() if t is not None}

    def _rule(self, key: str) -> RuleValue:
        value = self._get(key, None)
        if isinstance(value, list) and all(isinstance(v, int | str) for v in value):
            return tuple(value)
        if not isinstance(value, bool | int | str):
            raise self.bad(key, f"{value!r} is not true, false, a whole number, a text or a list of these")
        return value

    def _get(self, key: str, default: object) -> object:
        if key not in self._items and default is None:
            raise TargetKeyMissing("key missing", where=self.at(key))
        return self._items.get(key, default)

    def _chosen(self, key: str, value: _T, choices: Sequence[_T]) -> _T:
        if choices and value not in choices:
            raise self.bad(key, f"{value!r} is not one of {', '.join(map(str, choices))}")
        return value
