"""One group in the scratchpad at one size of time step: rings, bytes and time.

A step makes the rows of `pulls` pulls.  While it runs, the rows of the next step come and those of the last one leave,
so an input's ring holds two steps' rows and so does an output's.  A layer whose parameters do not fit is cut into tiles
of output channels, one pass over the rows for each; parameters and outputs of neighbouring tiles then alternate between
two places.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from functools import cached_property

import numpy as np

from codegen.ir.graph import Graph
from codegen.ir.plan import NodeNeeds
from codegen.ir.quant import Array
from codegen.ir.scratchpad import Engine, Padding, ParamsNeeds
from codegen.records import record
from codegen.schedule.arena import round_up
from codegen.schedule.demand import Rows
from codegen.schedule.scratchpad.flow import GroupFlow

ALIGN = 8
"""Alignment of everything in the scratchpad."""
CALL_CYCLES = 30
"""Cycles of a kernel call beside its arithmetic."""
ELEMENT_MACS = 2
"""An output element's requantization, in multiply-accumulates."""

TRAFFIC = 0.5
"""What a cycle of transfers counts for that passes behind computation."""

Key = tuple[str, str, int]
"""A block of scratchpad within a group: role (in, out, kept, ring, params, pad, once, keep), of what, which one."""


@record(eq=False)
class Facts:
    """What is known of every node before anything is decided.

    `pads` are the padding rows that a node reads, with their bytes, `padded` the steps that read any.
    """

    graph: Graph
    needs: Mapping[int, NodeNeeds]
    params: Mapping[int, ParamsNeeds]
    pads: Mapping[int, Mapping[Padding, int]]
    padded: Mapping[int, frozenset[int]]
    rows: Rows
    engine: Engine

    def event_cycles(self, index: int) -> float:
        """Cycles of one step of a node."""
        needs = self.needs[index]
        steps = 1 if needs.whole else self.rows.nodes[index].steps
        work = needs.macs + needs.out_elements * ELEMENT_MACS
        return work / steps / self.engine.macs_per_cycle + CALL_CYCLES

    def shared_by(self, cores: int) -> Facts:
        """The same where so many cores move at one time, each at its share of the rate."""
        engine = replace(self.engine, bytes_per_cycle=self.engine.bytes_per_cycle / cores)
        return self if cores == 1 else replace(self, engine=engine)

    def dma_cycles(self, transfers: float, moved: float) -> float:
        """Cycles of so many transfers of so many bytes in all."""
        return transfers * self.engine.latency_cycles + moved / self.engine.bytes_per_cycle


@record
class Cut:
    """Pulls per step; channels per tile (0: no tiles); whether the input comes again for each tile.

    `ahead`: rows come one step early and leave one step late, behind computation; without it they take less room.
    `kept_in` and `kept_out` name tensors that stay whole in the scratchpad from the group before, and for the group
    after.
    """

    pulls: int
    tile: int = 0
    again: bool = False
    ahead: bool = True
    kept_in: str = ""
    kept_out: str = ""


class Shape:
    """A group's flow, or that of one core's slice of it, at one cut."""

    def __init__(self, facts: Facts, flow: GroupFlow, cut: Cut, cores: int = 1) -> None:
        """Derive the rings; the rest is computed when asked for.  `cores` is how many share the group."""
        self.facts, self.flow, self.cut, self.cores = facts, flow, cut, cores
        count = len(flow.cuts)
        self.ends = np.append(np.arange(cut.pulls - 1, count - 1, cut.pulls), count - 1)
        self.starts = np.append([0], self.ends[:-1] + 1)
        self.in_rings = {v: self._in_ring(v) for v in flow.inputs if v != cut.kept_in}
        self.out_rings = {v: self._out_ring(v) for v in flow.outputs if v != cut.kept_out}
        self.rings = dict(flow.rings)

    @property
    def channels(self) -> int:
        """Output channels of a node that is tiled."""
        return self.facts.params[self.flow.members[0]].channels

    @property
    def kept(self) -> tuple[str, ...]:
        """Tensors that are whole in the scratchpad and are not moved."""
        return tuple(v for v in (self.cut.kept_in, self.cut.kept_out) if v)

    @property
    def passes(self) -> int:
        """Tiles, or 1."""
        return -(-self.channels // self.cut.tile) if self.cut.tile else 1

    def need(self, value: str) -> Array:
        """Rows of an input that must be there in each step of all passes; a stream that comes again counts on."""
        return self._passes(self.flow.inputs[value].need[self.ends], value, needs=True)

    def low(self, value: str) -> Array:
        """Lowest row of an input read in each step or later, counted likewise."""
        return self._passes(self.flow.inputs[value].low[self.starts], value, needs=False)

    def _passes(self, one: Array, value: str, *, needs: bool) -> Array:
        if self.passes == 1:
            return one
        if self.cut.again:
            height = self.facts.rows.height[value]
            return np.concatenate([one + height * i for i in range(self.passes)])
        later = np.full(len(one) * (self.passes - 1), one[-1] if needs else one[0], np.int64)
        return np.concatenate([one if needs else one * 0 + one[0], later])

    @property
    def runs_on(self) -> bool:
        """Whether rows that come again do so before the pass before has ended: rows then count on from pass to pass.

        A slice's do not, for its rows are not a multiple of a ring that all cores have.
        """
        return self.cores == 1

    def _in_ring(self, value: str) -> int:
        again = self.passes > 1 and self.cut.again
        need, low = self.need(value), self.low(value)
        if again and not self.runs_on:
            need, low = need[: len(self.ends)], low[: len(self.ends)]
        height = self.facts.rows.height[value]
        soon = np.append(need[1:], need[-1]) if self.cut.ahead else need
        ring = max(1, min(height, int((soon - low).max())))
        if again and self.runs_on:
            return next(d for d in range(ring, height + 1) if height % d == 0)
        return ring

    def _out_ring(self, value: str) -> int:
        making = self.flow.outputs[value]
        made = making.made[self.ends]
        leaving = np.append([making.first] * (2 if self.cut.ahead else 1), made)[: len(made)]
        ring = int((made - np.minimum(leaving, making.low[self.starts])).max())
        return max(1, min(self.facts.rows.height[value], ring))

    def tile_channels(self, tile: int) -> int:
        """Output channels of a tile, of which the last one may have fewer; 0 without tiles."""
        return min(self.cut.tile, self.channels - tile * self.cut.tile) if self.cut.tile else 0

    def out_row_bytes(self, value: str, tile: int = 0) -> int:
        """Bytes of an output's row in the scratchpad: of a tile, its own channels."""
        whole = self.facts.rows.row_bytes[value]
        return whole // self.channels * self.tile_channels(tile) if self.cut.tile else whole

    @cached_property
    def blocks(self) -> dict[Key, int]:
        """Bytes of every block of scratchpad; the first tile at each of two places is the largest there."""
        facts, members = self.facts, self.flow.members
        both = range(2 if self.passes > 1 else 1)
        found: dict[Key, int] = {}
        for value, ring in self.in_rings.items():
            found["in", value, 0] = ring * facts.rows.row_bytes[value]
        for value, ring in self.out_rings.items():
            found |= {("out", value, p): ring * self.out_row_bytes(value, p) for p in both}
        for value in self.kept:
            found["kept", value, 0] = facts.rows.height[value] * facts.rows.row_bytes[value]
        for value, ring in self.rings.items():
            found["ring", value, 0] = ring * facts.rows.row_bytes[value]
        for i in members:
            sizes = [facts.params[i].bytes(self.tile_channels(p) or facts.params[i].channels) for p in both]
            found |= {("params", str(i), p): size for p, size in enumerate(sizes) if size}
        for padding, size in self.pads.items():
            found["pad", f"{padding[0]} {padding[1]}", 0] = size
        once = max((facts.needs[i].scratch_bytes for i in members if not facts.needs[i].keeps), default=0)
        keeps = {("keep", str(i), 0): facts.needs[i].scratch_bytes for i in members if facts.needs[i].keeps}
        found |= {key: size for key, size in {("once", "", 0): once, **keeps}.items() if size}
        return found

    @property
    def pads(self) -> dict[Padding, int]:
        """Bytes of each padding row."""
        found: dict[Padding, int] = {}
        for i in self.flow.members:
            for padding, size in self.facts.pads[i].items():
                found[padding] = max(found.get(padding, 0), size)
        return found

    @property
    def fills(self) -> tuple[Padding, ...]:
        """Padding rows that its own rows need; those of a slice in the middle need none."""
        facts, members = self.facts, self.flow.members
        reading = {members[k] for k, step in self.flow.events if step in facts.padded[members[k]]}
        return tuple(p for p in self.pads if any(p in facts.pads[i] for i in reading))

    @cached_property
    def memory(self) -> int:
        """Bytes of scratchpad while the group runs."""
        return sum(round_up(size, ALIGN) for size in self.blocks.values())

    @cached_property
    def score(self) -> float:
        """What the choice of groups makes least: time, and a part of the time of transfers though it may be hidden."""
        return self.time + TRAFFIC * self.dma

    @cached_property
    def dma(self) -> float:
        """Cycles of all transfers."""
        into, out = self._traffic
        params = sum(self.facts.params[i].bytes(self.facts.params[i].channels) for i in self.flow.members)
        again = self.passes if self.cut.again else 1
        transfers = self.passes * len(self.flow.members)
        return float(into.sum()) * again + float(out.sum()) * self.passes + self.facts.dma_cycles(transfers, params)

    @cached_property
    def time(self) -> float:
        """Cycles, when each step's transfers hide behind the one before; parameters come first."""
        facts = self.facts
        cycles = np.array([facts.event_cycles(i) for i in self.flow.members])
        spent = np.cumsum(cycles[[k for k, _ in self.flow.events]])[self.flow.cuts[self.ends] - 1]
        compute = np.diff(np.append([0], spent)) / self.passes
        into, out = self._traffic
        behind = np.append(into[1:], 0) + np.append([0], out[:-1])
        if not self.cut.ahead:
            compute, behind = compute + into + out, behind * 0
        rows = float(np.maximum(compute, behind).sum())
        params = facts.dma_cycles(len(self.flow.members), sum(self._params_bytes(i) for i in self.flow.members))
        later = np.maximum(compute, np.append([0], out[:-1]) + (behind if self.cut.again else 0)).sum()
        rest = (self.passes - 1) * max(float(later), params + float(out.sum() + (into.sum() if self.cut.again else 0)))
        return params + float(into[0]) + max(rows, params * (self.passes > 1)) + rest + float(out[-1])

    def _params_bytes(self, index: int) -> int:
        needs = self.facts.params[index]
        return needs.bytes(self.cut.tile or needs.channels)

    @cached_property
    def _traffic(self) -> tuple[Array, Array]:
        """Cycles of the transfers into and out of each step of one pass."""
        into, out = np.zeros(len(self.ends)), np.zeros(len(self.ends))
        for value in self.in_rings:
            low = self.flow.inputs[value].low[self.starts][:1]
            rows = np.maximum(np.diff(np.append(low, self.flow.inputs[value].need[self.ends])), 0)
            into += self._cycles(rows, self.facts.rows.row_bytes[value])
        for value in self.out_rings:
            first, stop = self.flow.own[value]
            rows = np.diff(np.append([first], self.flow.outputs[value].made[self.ends].clip(first, stop)))
            out += self._cycles(rows, self.out_row_bytes(value))
        return into, out

    def _cycles(self, rows: Array, row_bytes: int) -> Array:
        engine = self.facts.engine
        found: Array = (rows > 0) * engine.latency_cycles + rows * row_bytes / engine.bytes_per_cycle
        return found
