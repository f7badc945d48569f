"""A generated network as a Python object: numpy in, numpy out, every tensor to look at."""

from __future__ import annotations

import contextlib
import re
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from types import TracebackType
from typing import Any, overload

import cffi
import numpy as np

from codegen.errors import (
    ArenaDamaged,
    FeedShapeWrong,
    FeedTypeWrong,
    NetworkClosed,
    NotStreamed,
    RunFailed,
    SeveralOutputs,
)
from codegen.golden.interface import PortSpec, in_model_layout, join_batch, network_feeds, split_batch
from codegen.host.build import build_library, host_flags, open_library
from codegen.host.cores import run_cores
from codegen.host.guarded import guarded
from codegen.host.hooks import ANSWER_CDEF, GoldenAnswers, check_answered, needs_answers
from codegen.host.manifest import read_manifest, read_weights
from codegen.host.sinks import Sinks
from codegen.ir.quant import Array
from codegen.ir.shape import row_count
from codegen.resources import resource_dir

_CDEF_TRACE = """
typedef struct lam_host_sink { uint8_t *data; uint8_t *seen; } lam_host_sink;
void lam_host_trace_into(const lam_host_sink *sinks, const uint32_t *row_bytes);
"""
_FUNCTION = re.compile(r"\b(lam_host_\w+)\(")
NEED_MORE, DONE = 32, 33
"""LAM_NEED_MORE and LAM_DONE of lam_base.h."""


def _declared() -> str:
    """What the shim declares, as cffi reads C: without what is for the preprocessor."""
    header = resource_dir("runtime_c") / "host" / "lam_host_shim.h"
    return "".join(line for line in header.read_text("utf-8").splitlines(keepends=True) if not line.startswith("#"))


class Network:
    """One instance of a generated network, built with the host's compiler.

    Args:
        project: folder of a generated project.
        trace: collect every tensor's rows from the start (`trace` builds again without it).
        compiler: C compiler; $CC or cc when None.
        flags: its optimisation flags; $CFLAGS or what is fastest here for a project of target `host`, else -O2, when
            None.
        threads: run each core's part on a thread of its own, where the target has several; else they take turns.
        answers: of hooks that have no C here.
    """

    def __init__(
        self,
        project: Path,
        *,
        trace: bool = False,
        compiler: str | None = None,
        flags: Sequence[str] | None = None,
        threads: bool = False,
        answers: GoldenAnswers | None = None,
    ) -> None:
        """Build, load and initialise."""
        self.project = project
        self.manifest = read_manifest(project)
        if flags is None:
            flags = host_flags() if self.manifest["target"] == "host" else ("-O2",)
        self.inputs = tuple(PortSpec.read(r) for r in self.manifest["inputs"])
        self.outputs = tuple(PortSpec.read(r) for r in self.manifest["outputs"])
        self._compiler, self._flags = compiler, flags
        self._threads = threads and self.manifest["cores"] > 1
        self._tracer: Network | None = None
        self._ffi = cffi.FFI()
        self._answers = answers if needs_answers(project, self.manifest) else None
        if self._answers is None:
            check_answered(project, self.manifest)
        declared = _declared() + (_CDEF_TRACE if trace else "") + (ANSWER_CDEF if self._answers else "")
        self._ffi.cdef(declared)
        self._folder = tempfile.TemporaryDirectory(prefix="lamina-")
        with contextlib.ExitStack() as undo:
            undo.callback(self._folder.cleanup)
            folder = Path(self._folder.name)
            library = build_library(project, self.manifest, folder, trace=trace, compiler=compiler, flags=flags)
            self._loaded = open_library(self._ffi, library, _FUNCTION.findall(declared))
            undo.callback(self._ffi.dlclose, self._loaded)
            self._callback = self._answers.bind(self._ffi, self._loaded) if self._answers else None
            self._net = self._ffi.new("uint64_t[]", -(-self._lib.lam_host_net_bytes() // 8))
            sizes = [memory["bytes"] for memory in self.manifest["plan"]["memories"]]
            self._arenas = [guarded(size, self.manifest["arena_align"]) for size in sizes]
            scratchpad = (self.manifest["scratchpad_bytes"] or 0, self.manifest["scratchpad_align"] or 1)
            self._scratchpad = [guarded(*scratchpad) for _ in range(self.manifest["cores"])]
            self._weights = self._load_weights(project)
            self._sinks = Sinks(self._ffi, self._lib, self.manifest["tensors"]) if trace else None
            self._init()
            undo.pop_all()

    @property
    def _lib(self) -> Any:
        """The library; LAM-API-031 when it is not there any more."""
        self._check_open()
        return self._loaded

    def _check_open(self) -> None:
        if self._loaded is None:
            raise NetworkClosed("is closed", where=self.manifest["name"])

    def _load_weights(self, project: Path) -> Array | None:
        name = self.manifest["weights_file"]
        if not name:
            return None
        data = np.frombuffer(read_weights(project, name), np.uint8)
        place = guarded(data.size, 16).part
        place[:] = data
        return place

    def _init(self) -> None:
        ffi = self._ffi
        weights = ffi.NULL if self._weights is None else ffi.from_buffer("uint8_t[]", self._weights)
        size = 0 if self._weights is None else self._weights.size
        arena, *regions = [memory.part for memory in self._arenas]
        for index, region in enumerate(regions):
            self._lib.lam_host_region(index, ffi.from_buffer("uint8_t[]", region), region.size)
        for core, scratchpad in enumerate(memory.part for memory in self._scratchpad):
            self._lib.lam_host_scratchpad(core, ffi.from_buffer("uint8_t[]", scratchpad), scratchpad.size)
        status = self._lib.lam_host_init(self._net, ffi.from_buffer("uint8_t[]", arena), arena.size, weights, size)
        if status != 0:
            raise RunFailed(f"init returned status {status}", where=self.manifest["name"])

    @overload
    def run(self, sample: Mapping[str, Array]) -> dict[str, Array]: ...

    @overload
    def run(self, sample: Array) -> Array: ...

    def run(self, sample: Mapping[str, Array] | Array) -> dict[str, Array] | Array:
        """One inference in the model's own layout and type, or one per sample of a batch, in order.

        Args:
            sample: arrays by the model's input names, or one array for the only input.  Real numbers of another type
                than float32 are rounded to the nearest one.  A network of shape [1, ...] takes [n, ...], and every
                network [n, *shape].

        Returns:
            Outputs by the model's names, of all samples along the first axis; for one array the only output itself.

        Raises:
            SeveralOutputs: LAM-API-011, one array was given and there are several inputs or outputs.
            CompileError: LAM-GOLDEN-001 to -004, an array does not fit its input.
            NetworkClosed: LAM-API-031, as from every other method.
        """
        if not isinstance(sample, Mapping) and len(self.outputs) != 1:
            names = ", ".join(port.name for port in self.outputs)
            raise SeveralOutputs(f"{len(self.outputs)} outputs: {names}", where=self.manifest["name"])
        results = []
        for one in split_batch(self.inputs, self._named(sample)):
            self.run_raw(network_feeds(self.inputs, one))
            results.append(self.read())
        outputs = join_batch(results)
        return outputs if isinstance(sample, Mapping) else outputs[self.outputs[0].name]

    def trace(self, sample: Mapping[str, Array] | Array) -> dict[str, Array]:
        """One inference and every tensor that it computes, by the model's name where it has one, and the outputs.

        Tensors are as the network holds them (quantized), in the model's layout where the model has them.  A network
        built without `trace` is built once more, and that one keeps a state of its own.
        """
        self._check_open()
        if self._sinks is None:
            if self._tracer is None:
                self._tracer = Network(
                    self.project, trace=True, compiler=self._compiler, flags=self._flags, threads=self._threads
                )
            return self._tracer.trace(sample)
        outputs, tensors = self.trace_raw(self._feeds(sample))
        found: dict[str, Array] = {}
        for record in self.manifest["tensors"]:
            tensor = in_model_layout(tensors[record["name"]], record["perm"])
            found.setdefault(record["source"] or record["name"], tensor)
        return found | {port.name: port.to_model(outputs[port.value]) for port in self.outputs}

    def rows(self, sample: Mapping[str, Array] | Array) -> list[Array]:
        """The rows of one input, in the model's own layout and type, as `push_row` takes them."""
        feed = self._feeds(sample)[self.inputs[0].value]
        return list(np.ascontiguousarray(feed).reshape(row_count(feed.shape), -1))

    def reset(self) -> None:
        """Forget what was pushed of a streamed input, and what a network with state keeps of earlier runs.

        Without either, every run starts anew anyway.
        """
        self._lib.lam_host_reset(self._net)

    def push_row(self, row: Array) -> bool:
        """Give the next row of a streamed input, as the C takes it: NHWC, quantized, any shape of its size.

        True when the outputs are there (`read`); further rows are then ignored until `reset`.

        Raises:
            NotStreamed: LAM-HOST-004, the network takes its input as a whole.
            CompileError: LAM-GOLDEN-002 or -003, the row has the wrong size or type.
        """
        port = self.inputs[0]
        if not self.manifest["streamed"]:
            raise NotStreamed("its input is not streamed", where=self.manifest["name"])
        if row.dtype != port.dtype.numpy:
            raise FeedTypeWrong(f"a row is {row.dtype}, the network takes {port.dtype.value}", where=port.name)
        elements = int(np.prod(port.shape)) // row_count(port.shape)
        if row.size != elements:
            raise FeedShapeWrong(f"a row has {row.size} elements, the network takes {elements}", where=port.name)
        return self._pushed(self._ffi.from_buffer(np.ascontiguousarray(row)))

    def _push_in_place(self, row: Array) -> bool:
        """The same through NAME_next_row: written where the network wants it, as a DMA would."""
        place = self._lib.lam_host_next_row(self._net)
        if place == self._ffi.NULL:
            return True
        self._ffi.memmove(place, row.tobytes(), row.nbytes)
        return self._pushed(place)

    def _pushed(self, row: Any) -> bool:
        status = self._lib.lam_host_push_row(self._net, row)
        if status not in (NEED_MORE, DONE):
            raise RunFailed(f"push_row returned status {status}", where=self.manifest["name"])
        return bool(status == DONE)

    def read(self) -> dict[str, Array]:
        """The outputs of the last inference, by the model's names, in its own layout and type."""
        return {port.name: port.to_model(self._read(index, port)) for index, port in enumerate(self.outputs)}

    def run_raw(self, feeds: Mapping[str, Array]) -> dict[str, Array]:
        """One inference on network tensors (NHWC, quantized): outputs by tensor name."""
        if self.manifest["streamed"]:
            self._run_streamed(feeds[self.inputs[0].value])
        else:
            self._fill(feeds)
        return self.finished()

    @property
    def ffi(self) -> Any:
        """What the library is called by."""
        return self._ffi

    @property
    def lib(self) -> Any:
        """The library's functions; LAM-API-031 when it is not there any more."""
        return self._lib

    @property
    def handle(self) -> Any:
        """The instance, as those functions take it."""
        return self._net

    def finished(self) -> dict[str, Array]:
        """Outputs by tensor name, once the input was filled by other means; it is run where rows were not pushed."""
        if not self.manifest["streamed"]:
            self._run_filled()
        self._check_canaries()
        return {port.value: self._read(index, port) for index, port in enumerate(self.outputs)}

    def trace_raw(self, feeds: Mapping[str, Array]) -> tuple[dict[str, Array], dict[str, Array]]:
        """Outputs as `run_raw`, and every traced tensor; each row must have been reported exactly once.

        Rows that nobody needs are not made: such a tensor comes as [rows made, elements].
        """
        assert self._sinks is not None, "built without trace"
        self._check_open()
        self._sinks.clear()
        outputs = self.run_raw(feeds)
        return outputs, self._sinks.collect()

    def _run_streamed(self, feed: Array) -> None:
        """Even rows are copied by the network, odd ones written in place."""
        self.reset()
        rows = np.ascontiguousarray(feed).reshape(row_count(feed.shape), -1)
        done = False
        for index, row in enumerate(rows):
            done = self._push_in_place(row) if index % 2 else self.push_row(row)
        if not done:
            raise RunFailed("all rows pushed, and the network wants more", where=self.manifest["name"])

    def _fill(self, feeds: Mapping[str, Array]) -> None:
        for index, port in enumerate(self.inputs):
            data = np.ascontiguousarray(feeds[port.value])
            self._ffi.memmove(self._lib.lam_host_input(self._net, index), data.tobytes(), data.nbytes)

    def _run_filled(self) -> None:
        status = self._run_in_threads() if self._threads else self._lib.lam_host_run(self._net)
        if self._answers is not None and self._answers.failed is not None:
            raise self._answers.failed
        if status != 0:
            raise RunFailed(f"run returned status {status}", where=self.manifest["name"])

    def _run_in_threads(self) -> int:
        return run_cores(self._lib.lam_host_run_core, self._net, self.manifest["stages"], self.manifest["cores"])

    def _feeds(self, sample: Mapping[str, Array] | Array) -> dict[str, Array]:
        """The network's tensors for one sample."""
        return network_feeds(self.inputs, self._named(sample))

    def _named(self, sample: Mapping[str, Array] | Array) -> dict[str, Array]:
        """Arrays by the model's input names."""
        if isinstance(sample, Mapping):
            return {name: np.asarray(array) for name, array in sample.items()}
        if len(self.inputs) != 1:
            names = ", ".join(port.name for port in self.inputs)
            raise SeveralOutputs(f"one array for {len(self.inputs)} inputs: {names}", where=self.manifest["name"])
        return {self.inputs[0].name: np.asarray(sample)}

    def _read(self, index: int, port: PortSpec) -> Array:
        size = int(np.prod(port.shape)) * port.dtype.bytes
        data = bytes(self._ffi.buffer(self._lib.lam_host_output(self._net, index), size))
        return np.frombuffer(data, port.dtype.numpy).reshape(port.shape)

    def _check_canaries(self) -> None:
        if any(memory.is_damaged for memory in (*self._arenas, *self._scratchpad)):
            raise ArenaDamaged("bytes outside the arena were written", where=self.manifest["name"])

    def close(self) -> None:
        """Unload the library and remove its files; closing again does nothing."""
        if self._loaded is None:
            return
        if self._tracer is not None:
            self._tracer.close()
        self._ffi.dlclose(self._loaded)
        self._loaded = None
        self._folder.cleanup()

    def __enter__(self) -> Network:
        """For use in a `with` statement."""
        return self

    def __exit__(
        self, kind: type[BaseException] | None, value: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Close."""
        self.close()
