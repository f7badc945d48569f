"""Memory for a generated network: at an address of the alignment that it asks for and no more, amid canaries."""

from __future__ import annotations

import numpy as np

from codegen.ir.quant import Array
from codegen.records import record

_GUARD = 256
_CANARY = 0xA5


@record(eq=False)
class Guarded:
    """`part` of `whole` is the network's; the rest is canaries."""

    part: Array
    whole: Array

    @property
    def is_damaged(self) -> bool:
        """Whether something was written beside the part."""
        start = self.part.ctypes.data - self.whole.ctypes.data
        around = (self.whole[:start], self.whole[start + self.part.size :])
        return any(bool((side != _CANARY).any()) for side in around)


def guarded(size: int, align: int) -> Guarded:
    """`size` bytes at an address that is a multiple of `align` and of no larger power of two."""
    whole = np.full(size + 2 * _GUARD + 2 * align, _CANARY, np.uint8)
    base: int = whole.ctypes.data
    start = -(-(base + _GUARD) // (2 * align)) * (2 * align) + align - base
    if start - align >= _GUARD:
        start = start - 2 * align if start - 2 * align >= _GUARD else start
    return Guarded(whole[start : start + size], whole)
