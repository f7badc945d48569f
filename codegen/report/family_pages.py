"""The pages of docs/families/: a family of cores, what runs on it, how it is tried, and the chips that have it.

Decides: which cores are a family, and which target stands for it in the commands.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from codegen.records import record
from codegen.report.chips_page import chips_table, cores_table
from codegen.report.table import markdown_table
from codegen.target import Speed, Target, list_targets, load_target

_KINDS = ("convolution", "grouped", "dense")


@record
class _Family:
    """Its page's name and title, the cores, the target of the commands, and what one must know."""

    page: str
    title: str
    cores: tuple[str, ...]
    shown: str
    words: str


_FAMILIES = (
    _Family(
        "cortex-m0",
        "Cortex-M0 and M0+",
        ("cortex-m0", "cortex-m0plus"),
        "cortex-m0plus",
        """\
A multiplier of 32 bits, eight registers for arithmetic, no division and no floating point: real numbers are computed in
software, the same bits at about 150 instructions a product, and a float network is better quantized first
([float.md](../float.md), [quantize.md](../quantize.md)). Kernels keep their sums in the high registers. Memory is what
these chips lack: `--stream-input`, `--goal memory`, [why_not_fit.md](../why_not_fit.md).""",
    ),
    _Family(
        "cortex-m3",
        "Cortex-M3",
        ("cortex-m3",),
        "cortex-m3",
        """\
A multiply-accumulate in one instruction, long multiplications and a hardware division, but neither DSP instructions nor
an FPU: real numbers are computed in software, the same bits at 53 to 67 instructions a product
([float.md](../float.md)). Windows of three columns take two thirds of their products for twice the flash of their
weights, with `--goal speed` or `[weights] expand = true` in the file of a chip.""",
    ),
    _Family(
        "cortex-m4",
        "Cortex-M4, M7 and M33",
        ("cortex-m4", "cortex-m7", "cortex-m33"),
        "cortex-m4",
        """\
DSP instructions: SMLAD makes two products of 16 bits at once, and the kernels widen bytes to feed it. Real numbers run
on the FPU, in single precision. Flash makes these cores wait at high clocks: a chip's file says how long
(`wait`, `line`, `cache`), and estimates count it. Weights widened at compile time (`[weights] expand = true` in the
file of a chip) save instructions for twice the flash.""",
    ),
    _Family(
        "cortex-m55",
        "Cortex-M55 (Helium)",
        ("cortex-m55",),
        "cortex-m55",
        """\
Vectors of 128 bits: sixteen products of bytes in an instruction, loops without a branch, scatter and gather. The last
vector of a row is predicated, so that odd sizes cost no copies. An NPU beside the core (Ethos-U) is not used.""",
    ),
    _Family(
        "risc-v",
        "RISC-V",
        ("rv32imc", "rv32imac", "rv32imafc", "ri5cy", "rv64gc", "rv64gcv"),
        "rv32imc",
        """\
32-bit cores with the M extension take blocks of outputs in registers; packed SIMD (RI5CY's, the P extension) is not
used. Windows of three columns take two thirds of their products for twice the flash of their weights, with
`--goal speed` or `[weights] expand = true` in the file of a chip. `rv64gcv` has vectors (RVV 1.0) of any length.
Vendors' accelerators beside a core are rules that networks are held to ([chips.md](../chips.md)), and no code. Cores
without the F extension compute real numbers in software ([float.md](../float.md)), at 130 to 175 instructions a
product.""",
    ),
    _Family(
        "xtensa",
        "Xtensa (ESP32, ESP8266)",
        ("xtensa-lx6", "xtensa-lx7", "xtensa-lx106"),
        "esp32s3",
        """\
Plain C99, compiled by the maker's tools: the ESP32-S3's vector instructions are not used. The project for them is
[that of ESP-IDF](../packages/esp-idf.md). PSRAM takes tensors that the SRAM cannot hold, the coldest
first, and estimates count its waits.""",
    ),
    _Family(
        "avr",
        "AVR",
        ("avr",),
        "avr",
        """\
Bytes and an int of 16 bits; weights stay in program memory. Plain kernels. Not a board of `verify` or `profile`: the
project's self-test runs on simavr.""",
    ),
    _Family(
        "linux",
        "Cores that run Linux (Arm, MIPS)",
        ("aarch64", "aarch64_dot", "cortex-a53", "mips32"),
        "aarch64-dot",
        """\
The C runs as a process, under QEMU in `verify` and `profile`. `aarch64` and `aarch64-dot` (SDOT) have kernels of
vectors; MIPS, and chips with an NPU whose rules networks are held to ([chips.md](../chips.md)), take plain C99 on
the core.""",
    ),
)


def family_pages(generated: str) -> dict[str, str]:
    """The pages by file name."""
    every = [*map(load_target, list_targets())]
    return {f"families/{family.page}.md": _page(family, every, generated) for family in _FAMILIES}


def _page(family: _Family, every: Sequence[Target], generated: str) -> str:
    own = [chip for chip in every if _core(chip) in family.cores]
    parts = [f"# {family.title}", generated, family.words, "## Try it", _tools(own), *_commands(family.shown)]
    parts += ["## Cores", cores_table(own), *_rates(own)]
    sold = sorted((chip for chip in own if chip.maker), key=lambda chip: (chip.maker.lower(), chip.name))
    parts += ["## Chips", chips_table(sold)] if sold else []
    return "\n\n".join(parts) + "\n"


def _core(chip: Target) -> str:
    return chip.core or chip.isa


def _tools(chips: Sequence[Target]) -> str:
    packages = dict.fromkeys(p for c in chips if c.toolchain for p in c.toolchain.debian_packages)
    if not packages:
        return "`lamina doctor` says which tools are here. The C is compiled by the maker's own."
    return f"On Debian `apt-get install {' '.join(packages)}`; `lamina doctor` says what is here."


def _commands(name: str) -> Iterator[str]:
    """What runs with the example's network, in the folder that `lamina examples` makes."""
    chip, model = load_target(name), "digits_qdq.onnx"
    lines = [
        f"lamina targets {name}",
        f"lamina inspect {model} -t {name} --kernels",
        *([f"lamina profile {model} -t {name} --estimate"] if chip.speed else []),
        f"lamina compile {model} -t {name} -o digits",
    ]
    yield "\n".join(["```sh", *lines, "```"])
    if chip.board is not None:
        board = ["```sh", f"lamina verify {model} -t {name}", f"lamina profile {model} -t {name}", "```"]
        yield "With the compiler and the emulator, to the bit and counted:"
        yield "\n".join(board)


def _rates(chips: Sequence[Target]) -> Iterator[str]:
    """About what a product takes by kind of layer, of the cores that say so."""
    known = {_core(chip): chip.speed for chip in chips if chip.speed is not None}
    if not known:
        return
    yield (
        "About what a hundred products take in layers of each kind by the core's file, without what an output takes; "
        "`lamina profile --estimate` goes by the kernel where that is known:"
    )
    rows = [(f"`{core}`", *(_rate(speed, kind) for kind in _KINDS)) for core, speed in sorted(known.items())]
    yield markdown_table(("core", *(f"{kind}: instructions, cycles" for kind in _KINDS)), rows)


def _rate(speed: Speed, kind: str) -> str:
    rates = getattr(speed, kind)
    return f"{rates.instructions[0]}, {rates.cycles[0]}"
