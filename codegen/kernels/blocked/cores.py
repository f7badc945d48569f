"""Cores without vector instructions, as far as blocks of sums depend on them, and the chips that have them."""

from __future__ import annotations

from dataclasses import replace

from codegen.records import record

SHORT_TURN = 8
"""Taps of a turn of a long inner loop, where a core does not gain by more."""


@record
class Core:
    """A set of instructions, as far as blocks depend on it.

    Args:
        name: the feature that a chip has of it; `c99` is for chips without one.
        registers: what a compiler can use in one loop.
        product: instructions per product and sum: 1 with a multiply-accumulate.
        reach: the largest offset of a load in bytes.
        requant: instructions per output value, from accumulator to store.
        lined: the same with larger factors (kernels/lined.py), and with what a channel takes less; 0 for a core that
            gains nothing.
        load: instructions per input or weight.
        field: instructions per weight of few bits, to take it out of an element that is loaded.
        high: more registers, that only moves and additions reach: enough for weights that are used once per row.
        pairs: instructions per tap of two pixels by two channels in assembler, 0 where compilers do well.
        turn: taps per turn of a long inner loop of several pixels: of blocks with few sums a turn's own instructions
            are a larger part.
        uneven: whether threes and sixes of channels are tried.
        two_groups: whether single pixels beside larger blocks may take two groups of channels: what it saves is loads.
        pair: instructions per input and two outputs whose weights of few bits share a word: to take them out, a product
            and a sum; 0 where that is not done.
        held: inputs that are in registers meanwhile.
        copied: instructions per byte of a short copy: more where it is a call.
        called: the same of one of more bytes, which the C library makes, byte by byte where it takes more; 0: the same.
    """

    name: str
    registers: int
    product: int
    reach: int
    requant: int
    load: int = 1
    field: int = 2
    high: int = 0
    pairs: int = 0
    turn: int = SHORT_TURN
    uneven: bool = False
    two_groups: bool = False
    pair: float = 0
    held: int = 8
    copied: int = 2
    called: int = 0
    lined: int = 0


CORES = {
    "armv7m": Core("armv7m", 14, 1, 4095, 6, turn=16, field=1, two_groups=True, lined=4, pair=2.25),
    "armv6m": Core("armv6m", 10, 3, 31, 24, load=2, high=5, pairs=16, copied=8, called=2, pair=6, held=4),
    "rv32": Core("rv32", 28, 2, 2047, 8, uneven=True, pair=3.75, called=6),
    "c99": Core("c99", 28, 2, 2047, 10),
}
"""Registers: Arm without SP and PC; RISC-V without zero, sp, gp and tp; Thumb-1 has eight and some use of others."""


OTHERS = frozenset({"x86", "program_memory"})
"""Features of chips whose registers are not modelled."""
OTHER_PRODUCTS = frozenset({"dsp", "mve"})
"""Features of chips that make several products at once, of inputs as they are."""


def chips_of(core: Core) -> tuple[frozenset[str], frozenset[str]]:
    """For which chips a kernel for the core is: `needs` and `without` of a Kernel."""
    named = frozenset(CORES) - {"c99"}
    return named & {core.name}, OTHERS if core.name in named else OTHERS | named


def wide_chips_of(core: Core) -> tuple[frozenset[str], frozenset[str]]:
    """The same for kernels whose parameters take more than others'."""
    needs, without = chips_of(core)
    return needs | {"wide"}, without | OTHER_PRODUCTS


def short_core(core: Core) -> Core:
    """The core with blocks of the least code: short turns, and channels in groups of one size alone."""
    return replace(core, turn=SHORT_TURN, uneven=False, two_groups=False)


def longer_cores(core: Core) -> tuple[Core, ...]:
    """The core with blocks of more code, the most first: layers have them that save enough by it."""
    every = (core, replace(core, two_groups=False))
    return tuple(dict.fromkeys(c for c in every if c != short_core(core)))


def lined_core(core: Core) -> Core:
    """The core with the requantization that larger factors allow."""
    return replace(core, requant=core.lined)
