"""Many networks in one shared library: built at once, each run between canaries, every tensor compared with golden.

Each network is one translation unit, whose functions of the host shim get the network's name in front.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import cffi
import numpy as np

from codegen.golden.interface import made_rows
from codegen.golden.interpreter import Stepper
from codegen.host.build import WARNINGS, compiler_words, shim_defines
from codegen.ir.plan import ARENA, Plan, place_of
from codegen.ir.quant import Array
from codegen.ir.scratchpad import ScratchpadPlan
from codegen.ir.shape import row_count
from codegen.kernels import select_kernels
from codegen.pipeline import Options, finish
from codegen.process import check_program
from codegen.resources import resource_dir
from tests.random_networks.cases import Planned, target_of
from tests.support.graphs import random_array

_SHIM = resource_dir("runtime_c") / "host" / "lam_host_shim.c"
_DMA = _SHIM.with_name("lam_dma_deferred.c")
_NAMES = (
    "net_bytes",
    "scratchpad",
    "region",
    "init",
    "input",
    "run",
    "run_core",
    "reset",
    "next_row",
    "push_row",
    "output",
    "trace_into",
    "sink",
    "post",
    "post_bytes",
    *(f"camera_{what}" for what in ("bytes", "begin", "line", "row", "push")),
)
_CDEF = """
size_t {p}_net_bytes(void);
void {p}_scratchpad(int32_t core, uint8_t *scratchpad, size_t scratchpad_bytes);
void {p}_region(int32_t index, uint8_t *region, size_t region_bytes);
int {p}_init(void *net, uint8_t *arena, size_t arena_bytes, const uint8_t *weights, size_t weights_bytes);
void *{p}_input(void *net, int32_t index);
int {p}_run(void *net);
int {p}_run_core(void *net, int32_t stage, int32_t core);
void {p}_reset(void *net);
int {p}_push_row(void *net, const void *row);
const void *{p}_output(void *net, int32_t index);
typedef struct {p}_sink {{ uint8_t *data; uint8_t *seen; }} {p}_sink;
void {p}_trace_into(const {p}_sink *sinks, const uint32_t *row_bytes);
"""
_GUARD = 64
_CANARY = 0xC3
_FILLS = (0x00, 0xFF)
_STEPS = 3
"""Runs one after the other of a network with state."""
_DONE = 33
_TIMEOUT_S = 600.0


@dataclass(frozen=True, slots=True)
class Fault:
    """A network that is wrong, and how."""

    case: str
    what: str


class Batch:
    """The library of some networks.

    Args:
        found: the networks.
        folder: for sources and objects.
        flags: of the compiler.
        jobs: compilers at a time.
    """

    def __init__(self, found: Sequence[Planned], folder: Path, flags: Sequence[str] = ("-O1",), jobs: int = 1) -> None:
        self.found = found
        cc = compiler_words()
        units = [_write(planned, folder) for planned in found]
        self._ffi = cffi.FFI()
        declared = [_CDEF.format(p=f"{p.program.name}_host") for p in found]
        self._ffi.cdef("".join(["int32_t lam_dma_faults(void);", *declared]))

        def build(unit: Path) -> Path:
            out = unit.with_suffix(".o")
            includes = [f"-I{unit.parent / part}" for part in ("include", "runtime", "src")]
            argv = [*cc, *WARNINGS, *flags, "-fPIC", "-c", *includes, unit, "-o", out]
            check_program(argv, timeout_s=_TIMEOUT_S)
            return out

        scratchpad = next((unit for unit, p in zip(units, found, strict=True) if p.program.scratchpad), None)
        if scratchpad is not None:
            units.append(scratchpad.with_name(_DMA.name))
            units[-1].write_bytes(_DMA.read_bytes())
        with ThreadPoolExecutor(jobs) as pool:
            objects = list(pool.map(build, units))
        library = folder / "libbatch.so"
        check_program([*cc, *flags, "-shared", *map(str, objects), "-o", str(library)], timeout_s=_TIMEOUT_S)
        self._lib = self._ffi.dlopen(str(library))

    def _misused(self) -> int:
        """Transfers that broke the contract so far."""
        return int(self._lib.lam_dma_faults()) if any(p.program.scratchpad for p in self.found) else 0

    def close(self) -> None:
        self._ffi.dlclose(self._lib)

    def __enter__(self) -> Batch:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def faults(self) -> Iterator[Fault]:
        """Every network that is wrong."""
        for planned in self.found:
            misused = self._misused()
            what = _check(planned, _Instance(self._ffi, self._lib, planned))
            if self._misused() != misused:
                what = what or "a transfer was disturbed, waited for twice, or never"
            if what:
                yield Fault(planned.case.text, what)


def _write(found: Planned, folder: Path) -> Path:
    """The network's project, and one C file that holds all of it."""
    target = target_of(found.case)
    graph = found.plan.graph
    compiled = finish(graph, found.plan, select_kernels(graph, target.isa), target, Options(vectors=0))
    name = found.program.name
    home = folder / name
    for path, data in compiled.files.items():
        if path.startswith(("src/", "include/", "runtime/")):
            (home / path).parent.mkdir(parents=True, exist_ok=True)
            (home / path).write_bytes(data)
    scratchpad = found.program.scratchpad
    streamed = found.program.streamed
    manifest: dict[str, object] = {"name": name, "weights_file": None, "streamed": streamed}
    manifest |= {
        "scratchpad_bytes": scratchpad.bytes if scratchpad else 0,
        "cores": scratchpad.cores if scratchpad else 1,
    }
    manifest["plan"] = {"memories": [{"memory": ARENA}, *({"memory": r.memory} for r in found.program.regions)]}
    manifest["states"] = found.program.states
    lines = [f"#define {d[2:].replace('=', ' ', 1)}" for d in shim_defines(manifest, trace=True)]
    lines += [f"#define lam_host_{part} {name}_host_{part}" for part in _NAMES]
    schedule = home / "src" / f"{name}.c"
    others = (path for path in sorted((home / "src").glob("*.c")) if path != schedule)
    lines += [f'#include "{path.name}"' for path in (*others, schedule)]
    lines.append(f'#include "{_SHIM}"')
    unit = home / "unit.c"
    unit.write_text("\n".join([*lines, ""]))
    return unit


class _Region:
    """Memory of an exact size, amid canaries."""

    def __init__(self, size: int, align: int) -> None:
        guarded = np.full(size + 2 * _GUARD + 2 * align, _CANARY, np.uint8)
        start = -(-(int(guarded.ctypes.data) + _GUARD) // align) * align - int(guarded.ctypes.data)
        self.bytes = guarded[start : start + size]
        self.around = (guarded[:start], guarded[start + size :])
        self.touched = np.zeros(size, np.bool_)

    def note(self, fill: int) -> None:
        """Bytes that no longer hold what they were filled with were touched."""
        self.touched |= self.bytes != fill

    @property
    def intact(self) -> bool:
        return all((part == _CANARY).all() for part in self.around)


class _Instance:
    """One network of the library in an arena of its exact size, amid canaries."""

    def __init__(self, ffi: Any, lib: Any, found: Planned) -> None:
        self.ffi, self.lib, self.found = ffi, lib, found
        program = found.program
        self.net = ffi.new("uint64_t[]", -(-self._call("net_bytes")() // 8))
        self.arena = _Region(program.arena_bytes, program.arena_align)
        self.regions = [_Region(r.bytes, program.arena_align) for r in program.regions]
        scratchpad = program.scratchpad
        self.scratchpads = (
            [_Region(scratchpad.bytes, scratchpad.align) for _ in range(scratchpad.cores)] if scratchpad else []
        )
        self.traced = [np.zeros(_bytes(t), np.uint8) for t in program.tensors]
        self.seen = [np.zeros(row_count(t.shape), np.uint8) for t in program.tensors]
        pairs = zip(self.traced, self.seen, strict=True)
        self.keep = [tuple(ffi.from_buffer("uint8_t[]", a) for a in pair) for pair in pairs]
        self.sinks = ffi.new(f"{program.name}_host_sink[]", [{"data": d, "seen": s} for d, s in self.keep])
        self.row_bytes = ffi.new("uint32_t[]", [t.row_bytes for t in program.tensors])
        self.runs = 0

    def _call(self, name: str) -> Any:
        return getattr(self.lib, f"{self.found.program.name}_host_{name}")

    def init(self, fill: int) -> None:
        """Begin anew, in an arena that holds `fill` everywhere."""
        ffi = self.ffi
        self.arena.bytes[:] = fill
        for region in (*self.scratchpads, *self.regions):
            region.bytes[:] = fill
        arena = ffi.from_buffer("uint8_t[]", self.arena.bytes)
        for core, region in enumerate(self.scratchpads):
            self._call("scratchpad")(core, ffi.from_buffer("uint8_t[]", region.bytes), region.bytes.size)
        for index, region in enumerate(self.regions):
            self._call("region")(index, ffi.from_buffer("uint8_t[]", region.bytes), region.bytes.size)
        assert self._call("init")(self.net, arena, self.arena.bytes.size, ffi.NULL, 0) == 0

    def run(self, feeds: Mapping[str, Array]) -> list[Array]:
        """Outputs."""
        program, ffi = self.found.program, self.ffi
        for array in (*self.traced, *self.seen):
            array[:] = 0
        self._call("trace_into")(self.sinks, self.row_bytes)
        status = []
        if program.streamed:
            (x,) = (np.ascontiguousarray(a) for a in feeds.values())
            for row in x.reshape(row_count(x.shape), -1):
                status.append(self._call("push_row")(self.net, ffi.from_buffer(row)))
            status = [status[-1] - _DONE]
        else:
            for index, port in enumerate(program.inputs):
                data = np.ascontiguousarray(feeds[port.operand.value])
                ffi.memmove(self._call("input")(self.net, index), data.tobytes(), data.nbytes)
            status.append(self._inference())
        assert not any(status), f"status {status}"
        found = []
        for index, port in enumerate(program.outputs):
            data = ffi.buffer(self._call("output")(self.net, index), port.operand.rows * port.operand.row_bytes)
            found.append(np.frombuffer(bytes(data), port.dtype.numpy).reshape(port.shape))
        return found

    def _inference(self) -> int:
        """Cores in turn; every other time the last one first, for their order within a stage must not matter."""
        scratchpad = self.found.program.scratchpad
        self.runs += 1
        if scratchpad is None or scratchpad.cores == 1 or self.runs % 2:
            return int(self._call("run")(self.net))
        turns = [(stage, core) for stage in range(scratchpad.stages) for core in reversed(range(scratchpad.cores))]
        return max(self._call("run_core")(self.net, *turn) for turn in turns)


def _bytes(tensor: Any) -> int:
    return row_count(tensor.shape) * int(tensor.row_bytes)


def _check(found: Planned, net: _Instance) -> str:
    """What is wrong with a network, or nothing."""
    rng = np.random.default_rng(found.case.seed)
    types = {i.value: found.case.graph.type(i.value) for i in found.case.graph.inputs}
    for fill in _FILLS:
        golden, drawn = Stepper(found.case.graph), Stepper(found.case.drawn)
        net.init(fill)
        for _ in range(_STEPS if found.program.states else 1):
            feeds = {name: random_array(rng, kind.shape, kind.dtype) for name, kind in types.items()}
            outputs = net.run(feeds)
            what = _tensors(found, net, golden.run(feeds)) or _outputs(found, outputs, drawn.run(feeds))
            if what:
                return what
        for region in (net.arena, *net.scratchpads, *net.regions):
            region.note(fill)
            if not region.intact:
                return "bytes outside the memory were written"
    return _peak(found, net)


def _tensors(found: Planned, net: _Instance, golden: Mapping[str, Array]) -> str:
    """Each row that is needed was made once, and is right."""
    for tensor, data, seen in zip(found.program.tensors, net.traced, net.seen, strict=True):
        made = found.shadow.rows[tensor.value]
        if not np.array_equal(seen, np.arange(seen.size) < made):
            return f"{tensor.value}: rows were reported {seen.tolist()} times, expected are {made}, once"
        actual = made_rows(data.view(tensor.dtype.numpy).reshape(tensor.shape), made)
        if actual.tobytes() != made_rows(golden[tensor.value], made).tobytes():
            return f"{tensor.value} differs from golden"
    return ""


def _outputs(found: Planned, outputs: Sequence[Array], golden: Mapping[str, Array]) -> str:
    """The outputs are those of the network as it was drawn."""
    for face, actual in zip(found.case.drawn.outputs, outputs, strict=True):
        if actual.tobytes() != np.ascontiguousarray(golden[face.value]).tobytes():
            return f"output {face.name} differs from golden"
    return ""


def _peak(found: Planned, net: _Instance) -> str:
    """The printed size is the real one: the last byte is used, and C touches nothing that the shadow run does not."""
    plan = found.plan
    arena = net.arena.touched
    regions = [(arena, plan.arena_align, _scratch_in(plan, ARENA))]
    for part, region in zip(plan.regions, net.regions, strict=True):
        regions.append((region.touched, plan.arena_align, _scratch_in(plan, part.memory)))
    if plan.scratchpad is not None:
        scratchpad = np.any([region.touched for region in net.scratchpads], axis=0)
        regions = [
            (arena, plan.arena_align, {}),
            (scratchpad, plan.scratchpad.align, _scratchpad_scratch(plan.scratchpad)),
        ]
    for touched, align, scratch in regions:
        top = int(np.flatnonzero(touched)[-1]) + 1
        end = max((offset + plan.scratch_bytes.get(i, 0) for i, offset in scratch.items()), default=0)
        if touched.size - top >= align and end <= top:
            return f"the memory has {touched.size} B, of which only {top} are used"
    bytes_touched = sum(int(region.touched.sum()) for region in (net.scratchpads or [net.arena, *net.regions]))
    if bytes_touched > found.shadow.touched_bytes:
        return f"C touched {bytes_touched} B, the shadow run {found.shadow.touched_bytes}"
    return ""


def _scratch_in(plan: Plan, memory: str) -> dict[int, int]:
    """Scratch by node, counted from the beginning of the memory that it lies in."""
    places = {i: place_of(plan.regions, offset) for i, offset in plan.scratch.items()}
    return {i: at for i, (name, at) in places.items() if name == memory}


def _scratchpad_scratch(scratchpad: ScratchpadPlan) -> dict[int, int]:
    return {layer.node: layer.scratch_offset for layer in scratchpad.layers if layer.scratch_offset is not None}
