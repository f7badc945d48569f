"""The scratchpad regime in data: what lives in the scratchpad when, what moves, and the list of commands in order.

Kernels touch only the scratchpad.  A network runs as one list of `Command`s in time steps: transfers are started for a
later step, waited for where their bytes are needed, and the rows of the step are computed between.  The plan
(`ScratchpadPlan`) speaks of nodes and rows; the lowered form (`ScratchpadProgram`) has the same commands on numbered
calls and addresses.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal

from codegen.records import record

Act = Literal["run", "again", "load", "store", "params", "wait", "fill", "trace"]
Padding = tuple[str, float]
"""What a row of padding holds: element type, value."""


@record
class Engine:
    """What moves and computes: bytes per cycle and cycles to start of a transfer, multiply-accumulates per cycle."""

    bytes_per_cycle: float
    latency_cycles: int
    macs_per_cycle: float


@record
class ParamsNeeds:
    """Bytes of a layer's packed parameters: `fixed`, and `per_channel` for each of `channels` that a tile may hold.

    `channels` is 0 for a layer that cannot be cut into output channels; then all bytes are `fixed`.  `sizes` are those
    for one channel and more, where a channel more does not always take as much: of weights that share an element.
    """

    fixed: int
    per_channel: int = 0
    channels: int = 0
    sizes: tuple[int, ...] = ()

    def bytes(self, channels: int) -> int:
        """Bytes for a tile of so many channels."""
        if self.sizes and channels:
            return self.sizes[channels - 1]
        return self.fixed + self.per_channel * channels


@record
class Stream:
    """A tensor's way between the memories while one group runs.

    In the scratchpad row r is at `offset + (r % ring) * row_bytes`.  A row has `pieces` pieces: one, or one per pixel
    when the stream carries only some channels of each; then piece p of row r starts in global memory at `(r * pieces +
    p) * global_step + skip`, and is `row_bytes / pieces` long.
    """

    value: str
    offset: int
    rows: int
    ring: int
    row_bytes: int
    pieces: int
    global_step: int
    skip: int

    @property
    def piece_bytes(self) -> int:
        """Bytes of one piece."""
        return self.row_bytes // self.pieces


@record
class ParamsLoad:
    """Parameters of a node (of output channels [start, stop), or all when stop is 0), and where they go."""

    node: int
    start: int
    stop: int
    offset: int
    bytes: int


@record
class Fill:
    """A row of padding in the scratchpad."""

    padding: Padding
    offset: int
    bytes: int


@record(kw_only=True, eq=False)
class ScratchpadLayer:
    """A node, or a tile [start, stop) of its output channels (all when stop is 0), with its places in the scratchpad.

    `rows` maps each computed tensor it touches to (offset, ring); None stands for no parameters and no scratch.
    """

    node: int
    start: int
    stop: int
    rows: Mapping[str, tuple[int, int]]
    params_offset: int | None
    scratch_offset: int | None
    pads: Mapping[Padding, int]


@record
class Command:
    """One entry of the list.

    run      call `index` makes rows [row, row + count)
    again    the same, where another core makes these rows too, and accounts for them
    load     rows of stream `index` come from global memory; the transfer has ticket place `slot`
    store    rows of stream `index` go to global memory, likewise
    params   parameters `index` come, likewise
    wait     for the transfer in `slot`
    fill     padding row `index` is written
    trace    rows [row, row + count) of the tensor of stream `index` are in global memory
    """

    act: Act
    index: int = 0
    row: int = 0
    count: int = 0
    slot: int = 0


@record
class ScratchpadBlock:
    """Bytes of scratchpad in use from step `start` to step `stop`, both included."""

    name: str
    offset: int
    bytes: int
    start: int
    stop: int


@record
class Estimate:
    """Times in cycles by the target's numbers, and bytes moved; `bound` is input, output and parameters once each.

    With several cores, of each stage the time of the core that takes longest, and the bytes of all cores.
    """

    cycles: int
    compute_cycles: int
    dma_cycles: int
    moved_bytes: int
    bound_bytes: int

    @property
    def hidden(self) -> float:
        """Share of the time of transfers that passes behind computation."""
        return 1.0 - (self.cycles - self.compute_cycles) / self.dma_cycles if self.dma_cycles else 1.0


@record
class StageSlices:
    """What cores do in one stage: by core, the output rows [first, stop) of the group's last node.

    `recomputed_macs` are multiply-accumulates of rows that another core of the stage makes too, of `macs` in all.
    """

    nodes: tuple[int, ...]
    rows: tuple[tuple[int, int], ...]
    macs: int
    recomputed_macs: int


@record(kw_only=True, eq=False)
class CommandList:
    """What runs in the scratchpads, and when; the same in the plan and in what it is lowered to.

    `bytes` are those of each core's memory, of which `bank_bytes` are one bank (0: no banks).  `commands` are those of
    core 0, then of core 1, and so on; `steps` are the places in them at which time steps begin, and `bounds` has, by
    core, the places at which stages begin and where the last one ends.  Within a stage cores are independent; one core
    has a single stage, as nothing waits for it.
    """

    bytes: int
    align: int
    bank_bytes: int
    streams: tuple[Stream, ...]
    fills: tuple[Fill, ...]
    commands: tuple[Command, ...]
    steps: tuple[int, ...]
    bounds: tuple[tuple[int, ...], ...]
    slots: int

    @property
    def cores(self) -> int:
        """How many there are."""
        return len(self.bounds)

    @property
    def stages(self) -> int:
        """Stages between barriers."""
        return len(self.bounds[0]) - 1


@record(kw_only=True, eq=False)
class ScratchpadPlan(CommandList):
    """Everything decided about the scratchpad; `slices` say how groups are shared out."""

    layers: tuple[ScratchpadLayer, ...]
    params: tuple[ParamsLoad, ...]
    blocks: tuple[ScratchpadBlock, ...]
    slices: tuple[StageSlices, ...]
    estimate: Estimate

    @property
    def recomputed_macs(self) -> int:
        """Multiply-accumulates that are made more than once."""
        return sum(stage.recomputed_macs for stage in self.slices)
