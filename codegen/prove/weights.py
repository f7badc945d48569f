"""The weights buffer in the shadow run: each read on its way until it is waited for, each call on what was read.

A read that is on its way holds nothing; it must land where nobody has written since it began.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from codegen.ir.program import Call
from codegen.ir.quant import Array
from codegen.ir.verify import IrError
from codegen.ir.weights import Params, WeightsProgram, WeightsRead

_FLYING = -2


@dataclass(slots=True)
class ReadWeights:
    """The reads of one run.

    Args:
        weights: what is read when.
        tags: those of working memory.
        first: the tag of the weight section's first byte.
    """

    weights: WeightsProgram
    tags: Array
    first: int
    started: int = 0
    landed: int = 0
    base: int = field(default=0)

    def pinned(self, *, first: bool) -> None:
        """What is read when the network is initialised: before its first run."""
        for read in self.weights.pinned if first else ():
            self.tags[_place(read)] = self.first + read.source + np.arange(read.bytes)

    def begin(self, use: int) -> None:
        """What the C does when a use begins: it starts the reads that may begin, and waits for those of the use."""
        reads = self.weights.reads
        while self.started < len(reads) and reads[self.started].after <= use:
            self.tags[_place(reads[self.started])] = _FLYING
            self.started += 1
        mine = [read for read in reads[self.landed :] if read.use == use]
        for read in mine:
            self._land(read)
        if not mine:
            raise IrError(f"use {use} of the weights buffer reads nothing, or what was read before")
        self.base = mine[0].offset

    def _land(self, read: WeightsRead) -> None:
        if self.started <= self.landed or self.weights.reads[self.landed] is not read:
            raise IrError(f"the read of weights from {read.source} on is waited for before it has begun")
        if (self.tags[_place(read)] != _FLYING).any():
            raise IrError(f"weights from {read.source} on: their bytes were written to while they were read")
        self.tags[_place(read)] = self.first + read.source + np.arange(read.bytes)
        self.landed += 1

    def check(self, call: Call, params: Params | None) -> None:
        """The call's parameters are in their place."""
        if params is None or call.mapped:
            return
        start = self.base + call.place if call.pinned is None else call.pinned
        expected = self.first + params.offset + np.arange(params.bytes)
        if not np.array_equal(self.tags[start : start + params.bytes], expected):
            raise IrError(f"{call.node.name}: its parameters are not there")


def _place(read: WeightsRead) -> slice:
    return slice(read.offset, read.offset + read.bytes)
