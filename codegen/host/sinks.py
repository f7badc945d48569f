"""Collects the rows that a network reports while it runs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from codegen.errors import RunFailed
from codegen.golden.interface import made_rows
from codegen.ir.quant import Array, DType


class Sinks:
    """Buffers that the trace hook copies rows into."""

    def __init__(self, ffi: Any, lib: Any, tensors: Sequence[Mapping[str, Any]]) -> None:
        """Tell the library where rows go; `tensors` are the manifest's."""
        self.tensors = tensors
        sizes = [int(np.prod(t["shape"])) * DType(t["dtype"]).bytes for t in tensors]
        self.data = [np.zeros(size, np.uint8) for size in sizes]
        self.seen = [np.zeros(n // max(t["row_bytes"], 1), np.uint8) for n, t in zip(sizes, tensors, strict=True)]
        pairs = zip(self.data, self.seen, strict=True)
        self._keep = [tuple(ffi.from_buffer("uint8_t[]", part) for part in pair) for pair in pairs]
        self._sinks = ffi.new("lam_host_sink[]", [{"data": d, "seen": s} for d, s in self._keep])
        self._rows = ffi.new("uint32_t[]", [t["row_bytes"] for t in tensors])
        lib.lam_host_trace_into(self._sinks, self._rows)

    def clear(self) -> None:
        """Forget every row."""
        for data, seen in zip(self.data, self.seen, strict=True):
            data[:] = 0
            seen[:] = 0

    def collect(self) -> dict[str, Array]:
        """Every tensor; each of its rows must have been reported exactly once."""
        found: dict[str, Array] = {}
        for tensor, data, seen in zip(self.tensors, self.data, self.seen, strict=True):
            wanted = (np.arange(seen.size) < tensor["rows_made"]).astype(np.uint8)
            if (seen != wanted).any():
                row = int(np.flatnonzero(seen != wanted)[0])
                raise RunFailed(f"row {row} was reported {int(seen[row])} times", where=tensor["name"])
            whole = data.copy().view(DType(tensor["dtype"]).numpy).reshape(tensor["shape"])
            found[tensor["name"]] = made_rows(whole, tensor["rows_made"])
        return found
