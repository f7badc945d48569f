"""What a chip is: the frozen records that the other rooms read.

Decides: which facts there are about a chip.  Leaves to `read` how they are spelled in a file.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

from codegen.records import record
from codegen.target.parts import Accelerator, Clock, Rule, Speed

ISA_LEVELS = (
    "c99",
    "armv6m",
    "armv7m",
    "armv7em",
    "armv81m_mve",
    "rv32",
    "aarch64",
    "rv64gcv",
    "aarch64_dot",
    "avr",
    "avx2",
    "avx512_vnni",
    "host",
)
FEATURES: Mapping[str, frozenset[str]] = {
    "c99": frozenset(),
    "armv6m": frozenset({"armv6m"}),
    "armv7m": frozenset({"armv7m"}),
    "armv7m_wide": frozenset({"armv7m", "wide"}),
    "armv7em": frozenset({"armv7m", "dsp", "fpu", "pairs"}),
    "armv7em_wide": frozenset({"armv7m", "dsp", "fpu", "pairs", "wide", "winograd"}),
    "armv7em_winograd": frozenset({"armv7m", "dsp", "fpu", "pairs", "winograd"}),
    "armv81m_mve": frozenset({"armv7m", "fpu", "mve", "pairs"}),
    "rv32": frozenset({"rv32"}),
    "rv32_wide": frozenset({"rv32", "wide"}),
    "rv64gcv": frozenset({"rvv"}),
    "aarch64": frozenset({"neon", "fpu"}),
    "aarch64_dot": frozenset({"neon", "fpu"}),
    "avr": frozenset({"program_memory"}),
    "avx2": frozenset({"x86", "avx2"}),
    "avx512_vnni": frozenset({"x86", "avx2", "vnni"}),
    "host": frozenset({"x86"}),
}
"""What kernels may ask of a level.  `wide`: weights may be packed as 16 bits; `winograd`: so may sums of them, three
weights in 8 bytes; `fpu`: 32 float registers are likely; `pairs`: products of two pairs of 16 bits, as `dsp` has them,
on a core that vectors serve better otherwise too.
`program_memory`: constants are read by instructions of their own, and int has 16 bits.

The host's C compiler says the rest.
"""
EXPANDED = {"armv7m": "armv7m_wide", "armv7em": "armv7em_wide", "rv32": "rv32_wide"}
"""Levels that have other kernels where weights may take twice the flash, and the level those kernels have."""
_PLAIN = {wide: isa for isa, wide in EXPANDED.items()}


def plain_level(isa: str) -> str:
    """The level whose instructions a level has: that of a chip whose weights are not expanded."""
    return _PLAIN.get(isa, isa)


BESIDE: Mapping[str, str] = {isa: EXPANDED[isa] for isa in ("armv7m", "rv32")}
"""Those of them whose other kernels come beside the level's own: goal `speed` has both to choose from."""
OFFERED: Mapping[str, str] = {**BESIDE, "armv7em": "armv7em_winograd"}
"""Levels whose layers may have kernels of another one that take more flash, where these pay, and that level."""
BYTE_ORDERS = ("little", "big")
MEMORY_KINDS = ("ram", "flash", "psram", "scratchpad")
WORKING_KINDS = ("ram", "psram")
GOALS = ("memory", "balanced", "speed")
FLOAT_SUMS = ("separate", "fused", "flushed")
REQUANT_MODES = ("single", "tflite", "ort", "mul8", "pot", "pot_half_even", "pot_half_down", "pot_half_away")
OF_SINGLE = REQUANT_MODES[3:]
"""The modes that every chip has which has `single`: the same C, or the same with another rounding."""
DTYPES = ("s8", "u8", "s16", "s32", "f32")
CONSOLES = ("semihosting", "uart", "stdio")


@record
class Memory:
    """One memory of the chip.  `bytes` is None when it has no limit; `source` says where the numbers stand.

    `banks` are parts of equal size; what moves and what computes had better not meet in one.  `cost` is that of a byte
    read or written, beside a byte of the fastest memory.  `address` is the first one, as the core sees it, where known.
    Of flash: the core waits `wait` cycles for each `line` bytes that it has not got, and keeps `cache` bytes.
    """

    name: str
    kind: str
    bytes: int | None
    source: str
    banks: int = 1
    cost: int = 1
    address: int | None = None
    wait: int = 0
    line: int = 4
    cache: int = 0

    @property
    def symbol(self) -> str:
        """The name as the beginning of C identifiers."""
        symbol = re.sub(r"[^0-9a-z]+", "_", self.name.lower()).strip("_")
        return f"m{symbol}" if symbol[:1].isdigit() else symbol


@record(kw_only=True)
class Toolchain:
    """The programs that build C for the chip, and the Debian packages that bring them.

    `opt_level` is the compiler's level for code that is measured.
    """

    cc: str
    cflags: tuple[str, ...]
    opt_level: str
    ldflags: tuple[str, ...]
    size: str
    objdump: str | None
    objdump_flags: tuple[str, ...]
    debian_packages: tuple[str, ...]


@record(kw_only=True)
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

    @property
    def by_plugin(self) -> bool:
        """Whether instructions are counted by a plugin of the emulator, which runs a process and has no timer."""
        return self.console == "stdio" and not self.counting


@record(kw_only=True)
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


@record
class Dma:
    """How a chip with a scratchpad moves and computes, for the model of time; `source` says where the numbers stand.

    `cores` compute at one time, each on a slice of its own.
    """

    bytes_per_cycle: int
    latency_cycles: int
    macs_per_cycle: int
    cores: int
    source: str


@record
class Weights:
    """How weights may be packed, and how the chip gets at them.

    `expand`: they may take as much flash as is fastest, some levels twice as much.  `buffer_bytes`: of the arena,
    through which they are read from flash that is not mapped; None where it is.  `pin` and `map` are names of layers,
    or patterns, of whatever network: those whose weights stay in the arena, or are part of the image, where there is
    a buffer.
    """

    expand: bool = False
    buffer_bytes: int | None = None
    pin: tuple[str, ...] = ()
    map: tuple[str, ...] = ()


@record(kw_only=True)
class Target:
    """A chip, as far as the compiler cares.  Of several memories of one kind the first is the one used first.

    `isa` is the level of its kernels: with `weights.expand` the one for expanded weights, if there is one (EXPANDED).
    `maker` is empty for what is no chip that one can buy, `core` where the chip's file says all of it.
    """

    name: str
    description: str
    maker: str
    core: str
    clock: Clock | None
    isa: str
    byte_order: str
    has_fpu: bool
    has_fma: bool
    arena_align: int
    requant_modes: tuple[str, ...]
    requant_default: str
    goal_default: str
    float_default: str
    dtypes: tuple[str, ...]
    memories: tuple[Memory, ...]
    toolchain: Toolchain | None
    board: Board | None
    dma: Dma | None
    cycles: Cycles | None
    speed: Speed | None
    weights: Weights
    unsupported: tuple[str, ...]
    rules: tuple[Rule, ...]
    accelerator: Accelerator | None

    def memory(self, kind: str) -> Memory | None:
        """The first memory of a kind, or None when the chip has none."""
        return next((m for m in self.memories if m.kind == kind), None)

    @property
    def working(self) -> tuple[Memory, ...]:
        """The memories that may hold tensors, the fastest first: there is the arena; the others take what it cannot.

        One memory where kernels work in the scratchpad.
        """
        found = sorted((m for m in self.memories if m.kind in WORKING_KINDS), key=lambda m: m.cost)
        return tuple(found if self.dma is None else [m for m in found if m.kind == "ram"][:1])

    @property
    def ram_bytes(self) -> int | None:
        """Bytes an arena may have; None when there is no limit."""
        return self.working[0].bytes

    @property
    def scratchpad_bytes(self) -> int:
        """Bytes of scratchpad that kernels work in; 0 when they work in the arena."""
        scratchpad = self.memory("scratchpad")
        return (scratchpad.bytes or 1 << 31) if scratchpad else 0

    @property
    def scratchpad_banks(self) -> int:
        """Banks of the scratchpad."""
        scratchpad = self.memory("scratchpad")
        return scratchpad.banks if scratchpad else 1

    @property
    def flash_bytes(self) -> int | None:
        """Bytes for code and weights; None when there is no limit, or when the target does not say."""
        flash = self.memory("flash")
        return flash.bytes if flash else None
