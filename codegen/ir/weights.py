"""Packed parameters; and of weights in memory which no load reaches, what is read into a buffer of the arena when.

A *use* is a stretch of a run that needs its parameters together: a group, or one slice of the output channels of a
layer whose parameters alone exceed half of the buffer.  Uses come one after the other.  The parameters of a use may be
read as soon as the uses whose bytes they take have ended.
"""

from __future__ import annotations

from collections.abc import Mapping

from codegen.ir.form import Field
from codegen.records import record


@record(eq=False)
class Params:
    """The packed parameters of one layer, at `offset` of the weight section; fields are aligned to their type."""

    name: str
    offset: int
    bytes: int
    fields: tuple[Field, ...]
    offsets: Mapping[str, int]

    @property
    def alignment(self) -> int:
        """Where they are read fastest, in bytes."""
        return max(field.alignment for field in self.fields)


@record
class Cut:
    """A layer in slices of `channels` of its `total` output channels; the last slice may overlap the one before it.

    `bytes` are those of a slice's parameters.  In the layer's scratch lie the kernel's own, then at `gathered` the rows
    of the input of which a slice reads its own channels alone (None where it reads all), then at `staged` the row that
    a call makes (None where it is made in its place).
    """

    channels: int
    total: int
    bytes: int
    scratch_bytes: int
    gathered: int | None
    staged: int | None

    @property
    def count(self) -> int:
        """How many slices."""
        return -(-self.total // self.channels)

    def first(self, index: int) -> int:
        """The first channel of a slice."""
        return min(index * self.channels, self.total - self.channels)


@record
class WeightsUse:
    """What a group, or slice `index` of its only layer, finds in the buffer, from `offset` of the arena on.

    It may be read when use number `after` begins: when those before it have ended.
    """

    group: int
    index: int
    offset: int
    bytes: int
    after: int


@record(eq=False)
class WeightsPlan:
    """The buffer, behind all else in the arena, the layers that are cut, by node index, and all uses in their order.

    `pinned` has, by node index, where parameters lie that are read once and stay: behind the buffer.  Those of `mapped`
    nodes are part of the image.
    """

    offset: int
    bytes: int
    cuts: Mapping[int, Cut]
    uses: tuple[WeightsUse, ...]
    pinned: Mapping[int, int]
    mapped: frozenset[int] = frozenset()


@record
class WeightsRead:
    """A read: bytes of the weight section from `source` on, to `offset` of the arena, for use number `use`."""

    source: int
    bytes: int
    offset: int
    use: int
    after: int


@record(eq=False)
class WeightsProgram:
    """All reads of a run in their order, the buffer, and what is read before the first run."""

    offset: int
    bytes: int
    reads: tuple[WeightsRead, ...]
    pinned: tuple[WeightsRead, ...]

    @property
    def under_way(self) -> int:
        """Reads that may be under way at one time, at most."""
        most = landed = 0
        for use in sorted({read.use for read in self.reads}):
            started = sum(read.after <= use for read in self.reads)
            most = max(most, started - landed)
            landed = sum(read.use <= use for read in self.reads)
        return most


@record
class Pieces:
    """Channels of each pixel of a row: `bytes` of every `step` bytes, `count` times, packed in the arena at `at`."""

    at: int
    bytes: int
    step: int
    count: int


@record(eq=False)
class Slices:
    """How a call runs in slices of output channels: the parameters of each, and where rows of a slice are packed.

    A slice begins at channel `step * index`, or at `last` where that is less.
    """

    step: int
    last: int
    params: tuple[Params, ...]
    element_bytes: int
    gathered: Pieces | None
    staged: Pieces | None
