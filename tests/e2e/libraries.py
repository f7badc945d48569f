"""Generated networks as shared libraries of the host, driven through ctypes, with any memory."""

from __future__ import annotations

import ctypes
import json
import re
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from codegen.host import build_library
from tests.e2e.projects import Project, project
from tests.support.shared import ROOT

HEADER_BYTES = 64
_ENUM = re.compile(r"^\s+(LAM_\w+) = (\d+),?", re.MULTILINE)
STATUS = {n: int(v) for n, v in _ENUM.findall((ROOT / "runtime_c" / "include" / "lam_base.h").read_text())}


class Memory(ctypes.Structure):
    """NAME_memory of a network with a weight blob."""

    _fields_ = (
        ("arena", ctypes.c_void_p),
        ("arena_size", ctypes.c_size_t),
        ("weights", ctypes.c_void_p),
        ("weights_size", ctypes.c_size_t),
        ("skip_crc", ctypes.c_int),
    )


@dataclass
class Library:
    """A network's functions, and memory for one instance."""

    made: Project
    lib: ctypes.CDLL
    net: ctypes.Array[ctypes.c_char]
    keep: list[np.ndarray]

    def aligned(self, data: bytes, align: int = 16, shift: int = 0) -> int:
        """Address of a copy of the data, at a multiple of `align` plus `shift`."""
        place = np.zeros(len(data) + align + shift, np.uint8)
        start = -place.ctypes.data % align + shift
        place[start : start + len(data)] = np.frombuffer(data, np.uint8)
        self.keep.append(place)
        return place.ctypes.data + start

    def memory(self, blob: bytes | None = None, shift: int = 0, skip_crc: int = 0) -> Memory:
        """Memory as the network wants it."""
        arena = self.aligned(bytes(self.made.compiled.program.arena_bytes))
        blob = self.made.blob if blob is None else blob
        weights = None if blob is None else self.aligned(blob, shift=shift)
        return Memory(arena, self.made.compiled.program.arena_bytes, weights, len(blob or b""), skip_crc)

    def call(self, name: str, *arguments: object, result: object = ctypes.c_int) -> int:
        function = getattr(self.lib, f"{self.made.name}_{name}")
        function.restype = result
        return function(*arguments)

    def init(self, memory: Memory) -> str:
        """The status by its name."""
        return status(self.call("init", self.net, ctypes.byref(memory)))

    def run(self, x: np.ndarray) -> np.ndarray:
        """One inference."""
        place = self.call("input", self.net, 0, result=ctypes.c_void_p)
        ctypes.memmove(place, x.tobytes(), x.nbytes)
        assert status(self.call("run", self.net)) == "LAM_OK"
        return self.output()

    def output(self) -> np.ndarray:
        """The first output of the last inference."""
        port = self.made.compiled.program.outputs[0]
        place = self.call("output", self.net, 0, result=ctypes.c_void_p)
        data = ctypes.string_at(place, int(np.prod(port.shape)) * port.dtype.bytes)
        return np.frombuffer(data, port.dtype.numpy).reshape(port.shape)


def status(value: int) -> str:
    return next(name for name, number in STATUS.items() if number == value)


def load(folder: Path, network: str, weights: str) -> Library:
    """A network of NETWORKS."""
    return loaded(project(folder, network, weights=weights), folder)


def loaded(made: Project, folder: Path) -> Library:
    """A project, its library in `folder`."""
    manifest = json.loads((made.folder / "manifest.json").read_text())
    lib = ctypes.CDLL(str(build_library(made.folder, manifest, folder, trace=False, flags=("-O0",))))
    lib.lam_host_net_bytes.restype = ctypes.c_size_t
    return Library(made, lib, ctypes.create_string_buffer(lib.lam_host_net_bytes()), [])
