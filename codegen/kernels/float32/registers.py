"""Which block of sums of real numbers the registers of a chip hold: pixels by vectors of outputs.

A tap then takes pixels + vectors loads for pixels * vectors products, each with a sum.  Lanes and blocks go across
outputs, never across a sum, so that the order of each sum is kept.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache

from codegen.ir.quant import Storage, Sums
from codegen.kernels.float32.stored import Stored
from codegen.records import record

_MOST_PIXELS = 12
_SPARE = 2
_VECTORS = (1, 2, 3, 4, 5, 6, 8, 12, 16, 24)
_PER_TAP = 0.5
_PER_OUTPUT = 6.0
_PER_GROUP = 12.0


@record
class Reading:
    """What a weight takes besides its load.

    Args:
        time: of its expansion, in loads.
        scaled: each output has a scale, which takes a register.
        in_turn: weights in an element, which a block's outputs fill.
        together: weights that are loaded at one time at most, where a tap holds its inputs.
    """

    time: float = 0.0
    scaled: bool = False
    in_turn: int = 1
    together: int = 1


PLAIN = Reading()
"""A weight that is read as it is used."""


@record
class Unit:
    """What computes real numbers on a chip.

    Args:
        name: of the unit, as kernels of it begin.
        feature: of the chips that have it.
        lanes: numbers of a register.
        vector: the type of a register in C, with which the names of its functions begin.
        sums: how it adds products.
        registers: how many there are.
        at_once: products, or sums, that begin in the time of one load.
        latency: sums that must be under way to lose no time.
        unroll: taps per turn of the inner loop.
        together: weights that one instruction loads at most, where they are floats, into registers of their own.
        expands: what weights are stored as, and the time of an expansion, in loads.
        by_scalar: a vector is multiplied by a number in a register of another kind.
        pixels: of a depthwise layer that are made at one time.
    """

    name: str
    feature: str
    lanes: int
    vector: str
    sums: tuple[Sums, ...]
    registers: int
    at_once: float
    latency: int
    unroll: int
    together: int = 1
    expands: tuple[tuple[Storage, float], ...] = ()
    by_scalar: bool = False
    pixels: int = 6

    def reading(self, stored: Stored) -> Reading | None:
        """What a weight takes; None of what it cannot expand."""
        time = dict(self.expands).get(stored.storage)
        together = 1 if stored.storage else self.together
        return None if time is None else Reading(time, stored.scaled, stored.in_turn, together)


FPU = Unit(
    "fpu",
    "fpu",
    lanes=1,
    vector="float",
    sums=("separate", "fused"),
    registers=32,
    at_once=1,
    latency=1,
    unroll=4,
    together=8,
    expands=(("", 0), ("f16", 2), ("bf16", 2), ("s8", 3), ("u8", 4), ("s4", 4), ("u4", 5)),
)
AVX512 = Unit(
    "x86",
    "x86",
    lanes=16,
    vector="lam_x86_f32",
    sums=("separate", "fused"),
    registers=32,
    at_once=2,
    latency=8,
    unroll=1,
    expands=(("", 0), ("f16", 1), ("bf16", 1), ("s8", 2)),
)
HELIUM = Unit(
    "mve",
    "mve",
    lanes=4,
    vector="lam_mve_f32",
    sums=("flushed",),
    registers=8,
    at_once=1,
    latency=2,
    unroll=4,
    expands=(("", 0),),
    by_scalar=True,
    pixels=3,
)


def flushes(context: object) -> bool:
    """Whether a kernel's context is of a unit that adds flushed products by its instructions."""
    unit = getattr(context, "unit", None)
    return isinstance(unit, Unit) and "flushed" in unit.sums


@record
class Block:
    """So many pixels by so many outputs are summed at one time; the last pixels of a row are `rest`."""

    pixels: int
    outputs: int
    rest: int


@cache
def choose_block(unit: Unit, width: int, outputs: int, taps: int, reading: Reading = PLAIN) -> Block:
    """The cheapest block for rows of `width` pixels of `outputs` channels, each the sum of `taps` products."""
    found = _candidates(unit, width, outputs, reading)
    return min(found, key=lambda b: (_cost(unit, b, width, outputs, taps, reading), b.outputs))


def _candidates(unit: Unit, width: int, outputs: int, reading: Reading) -> Iterator[Block]:
    most = -(-outputs // unit.lanes)
    for vectors in sorted({min(v, most) for v in _VECTORS}):
        held = _SPARE + (vectors if reading.scaled else 0)
        block = min(vectors * unit.lanes, outputs)
        for pixels in range(1, min(width, _MOST_PIXELS) + 1):
            fits = pixels * vectors + _beside(unit, pixels, vectors, reading) + held <= unit.registers
            if fits and (block == outputs or block % reading.in_turn == 0):
                yield Block(pixels, block, width % pixels)


def _beside(unit: Unit, pixels: int, vectors: int, reading: Reading) -> int:
    """Registers that hold what is read of a tap, besides one that a weight or an input passes by in."""
    if unit.by_scalar:
        return 0
    return vectors if vectors <= pixels else pixels + min(vectors, reading.together) - 1


def _cost(unit: Unit, block: Block, width: int, outputs: int, taps: int, reading: Reading) -> float:
    """About the time of a row, in loads."""
    groups = [block.outputs] * (outputs // block.outputs) + [outputs % block.outputs] * (outputs % block.outputs > 0)
    blocks = [block.pixels] * (width // block.pixels) + [block.rest] * (block.rest > 0)
    sizes = {(pixels, size): blocks.count(pixels) * groups.count(size) for pixels in blocks for size in groups}
    return sum(n * _group(unit, pixels, -(-size // unit.lanes), taps, reading) for (pixels, size), n in sizes.items())


def _group(unit: Unit, pixels: int, vectors: int, taps: int, reading: Reading) -> float:
    sums = pixels * vectors
    tap = pixels + vectors * (1 + reading.time) + 2 * max(sums, unit.latency) / unit.at_once
    return taps * (tap + _PER_TAP) + sums * _PER_OUTPUT + _PER_GROUP
