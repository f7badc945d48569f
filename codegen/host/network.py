"""A generated network as a Python object: numpy in, numpy out, every tensor to look at."""

from __future__ import annotations

import contextlib
import json
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from types import TracebackType
from typing import Any

import cffi
import numpy as np

from codegen.errors import ArenaDamaged, ProjectInvalid, RunFailed
from codegen.golden.interface import PortSpec, made_rows, network_feeds
from codegen.host.build import build_library
from codegen.ir.quant import Array, DType
from codegen.ir.shape import row_count

_CDEF = """
size_t lam_host_net_bytes(void);
int lam_host_init(void *net, uint8_t *arena, size_t arena_bytes, const uint8_t *weights, size_t weights_bytes);
void *lam_host_input(void *net, int32_t index);
int lam_host_run(void *net);
void lam_host_reset(void *net);
void *lam_host_next_row(void *net);
int lam_host_push_row(void *net, const void *row);
const void *lam_host_output(void *net, int32_t index);
"""
_CDEF_TRACE = """
typedef struct lam_host_sink { uint8_t *data; uint8_t *seen; } lam_host_sink;
void lam_host_trace_into(const lam_host_sink *sinks, const uint32_t *row_bytes);
"""
_GUARD = 256
_NEED_MORE, _DONE = 32, 33
"""LAM_NEED_MORE and LAM_DONE of lam_base.h."""
_CANARY = 0xA5


class Network:
    """One instance of a generated network, built with the host's compiler.

    Args:
        project: folder of a generated project.
        trace: collect every tensor's rows (`trace` method).
        compiler: C compiler; $CC or cc when None.
        flags: its optimisation flags.
    """

    def __init__(
        self,
        project: Path,
        *,
        trace: bool = False,
        compiler: str | None = None,
        flags: Sequence[str] = ("-O2",),
    ) -> None:
        """Build, load and initialise."""
        self.manifest = read_manifest(project)
        self.inputs = tuple(PortSpec.read(r) for r in self.manifest["inputs"])
        self.outputs = tuple(PortSpec.read(r) for r in self.manifest["outputs"])
        self._ffi = cffi.FFI()
        self._ffi.cdef(_CDEF + (_CDEF_TRACE if trace else ""))
        self._folder = tempfile.TemporaryDirectory(prefix="lamina-")
        with contextlib.ExitStack() as undo:
            undo.callback(self._folder.cleanup)
            folder = Path(self._folder.name)
            library = build_library(project, self.manifest, folder, trace=trace, compiler=compiler, flags=flags)
            self._lib = self._ffi.dlopen(str(library))
            undo.callback(self._ffi.dlclose, self._lib)
            self._net = self._ffi.new("uint64_t[]", -(-self._lib.lam_host_net_bytes() // 8))
            self._arena, self._guarded = _odd_aligned(self.manifest["arena_bytes"], self.manifest["arena_align"])
            self._weights = self._load_weights(project)
            self._sinks = _Sinks(self._ffi, self._lib, self.manifest["tensors"]) if trace else None
            self._init()
            undo.pop_all()

    def _load_weights(self, project: Path) -> Array | None:
        name = self.manifest["weights_file"]
        if not name:
            return None
        data = np.frombuffer((project / name).read_bytes(), np.uint8)
        place, _ = _odd_aligned(data.size, 16)
        place[:] = data
        return place

    def _init(self) -> None:
        ffi = self._ffi
        weights = ffi.NULL if self._weights is None else ffi.from_buffer("uint8_t[]", self._weights)
        size = 0 if self._weights is None else self._weights.size
        arena = ffi.from_buffer("uint8_t[]", self._arena)
        status = self._lib.lam_host_init(self._net, arena, self._arena.size, weights, size)
        if status != 0:
            raise RunFailed(f"init returned status {status}", where=self.manifest["name"])

    def run_raw(self, feeds: Mapping[str, Array]) -> dict[str, Array]:
        """One inference on network tensors (NHWC, quantized): outputs by tensor name."""
        if self.manifest["streamed"]:
            self.reset()
            rows = np.ascontiguousarray(feeds[self.inputs[0].value])
            rows = rows.reshape(row_count(rows.shape), -1)
            done = [self.push_row(row) for row in rows][-1]
            if not done:
                raise RunFailed("all rows pushed, and the network wants more", where=self.manifest["name"])
        else:
            self._run_at_once(feeds)
        self._check_canaries()
        return {port.value: self._read(index, port) for index, port in enumerate(self.outputs)}

    def _run_at_once(self, feeds: Mapping[str, Array]) -> None:
        for index, port in enumerate(self.inputs):
            data = np.ascontiguousarray(feeds[port.value])
            self._ffi.memmove(self._lib.lam_host_input(self._net, index), data.tobytes(), data.nbytes)
        status = self._lib.lam_host_run(self._net)
        if status != 0:
            raise RunFailed(f"run returned status {status}", where=self.manifest["name"])

    def reset(self) -> None:
        """Start a new input (networks with a streamed input)."""
        self._lib.lam_host_reset(self._net)

    def push_row(self, row: Array) -> bool:
        """Give the next row of a streamed input (network tensor: NHWC, quantized); True when the outputs are there."""
        data = np.ascontiguousarray(row)
        status = self._lib.lam_host_push_row(self._net, self._ffi.from_buffer(data))
        if status not in (_NEED_MORE, _DONE):
            raise RunFailed(f"push_row returned status {status}", where=self.manifest["name"])
        return bool(status == _DONE)

    def _read(self, index: int, port: PortSpec) -> Array:
        size = int(np.prod(port.shape)) * port.dtype.bytes
        data = bytes(self._ffi.buffer(self._lib.lam_host_output(self._net, index), size))
        return np.frombuffer(data, port.dtype.numpy).reshape(port.shape)

    def run(self, sample: Mapping[str, Array] | Array) -> dict[str, Array]:
        """One inference in the model's own layout and type: outputs by the model's names.

        A bare array stands for the only input.
        """
        given = sample if isinstance(sample, Mapping) else {self.inputs[0].name: sample}
        raw = self.run_raw(network_feeds(self.inputs, given))
        return {port.name: port.to_model(raw[port.value]) for port in self.outputs}

    def trace(self, feeds: Mapping[str, Array]) -> tuple[dict[str, Array], dict[str, Array]]:
        """Outputs as `run_raw`, and every traced tensor; each row must have been reported exactly once.

        Rows that nobody needs are not made: such a tensor comes as [rows made, elements].
        """
        assert self._sinks is not None, "built without trace"
        self._sinks.clear()
        outputs = self.run_raw(feeds)
        return outputs, self._sinks.collect()

    def _check_canaries(self) -> None:
        start = self._arena.ctypes.data - self._guarded.ctypes.data
        around = (self._guarded[:start], self._guarded[start + self._arena.size :])
        if any((part != _CANARY).any() for part in around):
            raise ArenaDamaged("bytes outside the arena were written", where=self.manifest["name"])

    def close(self) -> None:
        """Unload the library and remove its files."""
        self._ffi.dlclose(self._lib)
        self._folder.cleanup()

    def __enter__(self) -> Network:
        """For use in a `with` statement."""
        return self

    def __exit__(
        self, kind: type[BaseException] | None, value: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Close."""
        self.close()


class _Sinks:
    """Buffers that the trace hook copies rows into."""

    def __init__(self, ffi: Any, lib: Any, tensors: Sequence[Mapping[str, Any]]) -> None:
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
        for data, seen in zip(self.data, self.seen, strict=True):
            data[:] = 0
            seen[:] = 0

    def collect(self) -> dict[str, Array]:
        found: dict[str, Array] = {}
        for tensor, data, seen in zip(self.tensors, self.data, self.seen, strict=True):
            wanted = (np.arange(seen.size) < tensor["rows_made"]).astype(np.uint8)
            if (seen != wanted).any():
                row = int(np.flatnonzero(seen != wanted)[0])
                raise RunFailed(f"row {row} was reported {int(seen[row])} times", where=tensor["name"])
            whole = data.copy().view(DType(tensor["dtype"]).numpy).reshape(tensor["shape"])
            found[tensor["name"]] = made_rows(whole, tensor["rows_made"])
        return found


def read_manifest(project: Path) -> dict[str, Any]:
    """A project's manifest; LAM-HOST-001 when the folder is not a generated project."""
    try:
        manifest = json.loads((project / "manifest.json").read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise ProjectInvalid(f"no readable manifest.json: {error}", where=str(project)) from error
    if not isinstance(manifest, dict) or manifest.get("tool") != "lamina":
        raise ProjectInvalid("manifest.json is not one of lamina's", where=str(project))
    return manifest


def _odd_aligned(size: int, align: int) -> tuple[Array, Array]:
    """`size` bytes at an address that is a multiple of `align` and of no larger power of two, amid canaries."""
    guarded = np.full(size + 2 * _GUARD + 2 * align, _CANARY, np.uint8)
    base: int = guarded.ctypes.data
    start = -(-(base + _GUARD) // (2 * align)) * (2 * align) + align - base
    if start - align >= _GUARD:
        start = start - 2 * align if start - 2 * align >= _GUARD else start
    return guarded[start : start + size], guarded
