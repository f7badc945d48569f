"""What cores may do to global memory in one stage: read what no other writes, write what no other touches."""

from __future__ import annotations

import numpy as np

from codegen.ir.quant import Array
from codegen.ir.verify import IrError


class Access:
    """Who has read and written each byte of global memory since the last barrier."""

    def __init__(self, size: int) -> None:
        """Nobody has."""
        self.writer = np.full(size, -1, np.int64)
        self.readers = np.zeros(size, np.int64)

    def begin_stage(self) -> None:
        """A barrier: what was done before it is done for all."""
        self.writer[:], self.readers[:] = -1, 0

    def read(self, place: Array, core: int, reader: str) -> None:
        """A core reads bytes."""
        if self._others_write(place, core):
            raise IrError(f"{reader}: reads what another core writes in the same stage")
        self.readers[place] |= 1 << core

    def write(self, place: Array, core: int, writer: str) -> None:
        """A core writes bytes."""
        if self._others_write(place, core):
            raise IrError(f"{writer}: another core writes there in the same stage")
        if (self.readers[place] & ~(1 << core)).any():
            raise IrError(f"{writer}: another core reads there in the same stage")
        self.writer[place] = core

    def _others_write(self, place: Array, core: int) -> bool:
        writer = self.writer[place]
        return bool(((writer >= 0) & (writer != core)).any())
