"""Frames of a camera on the target's emulated board: checksums of the rows that its C makes, and of the outputs."""

from __future__ import annotations

import re
import tempfile
import zlib
from collections.abc import Iterable, Mapping
from pathlib import Path

import numpy as np

from codegen.emit import fill_pattern
from codegen.emulator import build_and_run
from codegen.errors import RunFailed
from codegen.golden.compare import Difference
from codegen.host import host_regions
from codegen.ir.quant import Array, DType, TensorType
from codegen.pipeline import Compiled
from codegen.preprocess.camera import Camera
from codegen.records import record
from codegen.resources import resource_dir

_TIMEOUT_S = 600.0
_LINE = re.compile(r"^(r|o|ram|stack|count)((?: [0-9]+)+)$", re.MULTILINE)
_CHROMA = 1 << 16
_WORD = 1 << 32
Golden = tuple[Mapping[str, Array], Mapping[str, Array]]
"""A frame's input and outputs, by tensor."""


@record
class OnBoard:
    """What the board said: the first difference, and what memory and instructions a frame takes.

    `ram` is the arena, the network's struct, the preprocessing's, and the line buffers; `instructions` those of one
    frame's pushes (0 where the emulator does not count).
    """

    difference: Difference | None
    ram: tuple[int, ...]
    stack: int
    instructions: int


@record
class Pattern:
    """Which frames the board makes up, and whether the emulator counts instructions, which takes longer."""

    seed: int = 0
    count: bool = False


def has_board(compiled: Compiled) -> bool:
    """Whether the program for boards runs this network: its weights in the image, its kernels in the arena."""
    plain = "weights.bin" not in compiled.files and compiled.program.scratchpad is None
    return compiled.target.board is not None and plain


def pattern_frame(camera: Camera, index: int, seed: int) -> Array:
    """Frame `index` as the board makes it up, line by line."""
    height, width = camera.size
    kind = camera.kind
    sizes = [(y, width * kind.pixel_bytes) for y in range(height)]
    sizes += [(_CHROMA + y, width) for y in range((height + 1) // 2)] * (kind.planes == 2)
    start = (index + seed) * 2654435761
    lines = (fill_pattern((start + y * 40503) % _WORD, [TensorType((n,), DType.U8)])[0] for y, n in sizes)
    return np.concatenate([line.reshape(-1) for line in lines])


def frames_on_board(compiled: Compiled, project: Path, expected: Iterable[Golden], how: Pattern) -> OnBoard:
    """Golden against the board, on its own frames; a whole frame at a time."""
    golden = list(expected)
    said = _said(compiled, project, len(golden), how)
    rows = iter([numbers[0] for word, numbers in said if word == "r"])
    outputs = iter([numbers[1] for word, numbers in said if word == "o"])
    found: Difference | None = None
    for feeds, results in golden:
        sums = [*((name, array, next(rows)) for name, array in feeds.items())]
        sums += [(name, array, next(outputs)) for name, array in results.items()]
        for name, array, crc in sums:
            if found is None and zlib.crc32(_on_chip(array, compiled)) != crc:
                found = Difference(f"{name}, from a frame", (), None, None, 0.0, 0, int(array.size))
    last = dict(said)
    return OnBoard(found, last["ram"], last["stack"][0], last["count"][0])


def _on_chip(array: Array, compiled: Compiled) -> bytes:
    kind = array.dtype.newbyteorder("<" if compiled.target.byte_order == "little" else ">")
    return array.astype(kind).tobytes()


def _said(compiled: Compiled, project: Path, frames: int, how: Pattern) -> list[tuple[str, tuple[int, ...]]]:
    """What the program printed: a word and numbers a line."""
    host = resource_dir("runtime_c") / "host"
    with tempfile.TemporaryDirectory(prefix="lamina-") as folder:
        result = build_and_run(
            compiled.target,
            [*sorted((project / "src").glob("*.c")), host / "lam_camera_main.c"],
            [*(project / part for part in ("include", "runtime", "src")), host],
            _defines(compiled, frames, how.seed),
            count=how.count,
            timeout_s=_TIMEOUT_S,
            workdir=Path(folder),
        )
    text = result.console.decode("ascii", errors="replace")
    if result.exit_code != 0 or not text.rstrip().endswith("end"):
        said = (text + result.messages.decode("utf-8", errors="replace"))[-300:]
        raise RunFailed(f"the emulated program ended with code {result.exit_code}: {said}", where=compiled.target.name)
    return [(m[1], tuple(map(int, m[2].split()))) for m in _LINE.finditer(text)]


def _defines(compiled: Compiled, frames: int, seed: int) -> dict[str, str | None]:
    program = compiled.program
    sizes = ", ".join(str(p.operand.rows * p.operand.row_bytes) for p in program.outputs)
    found: dict[str, str | None] = {
        "LAM_HOST_NAME": program.name,
        "LAM_HOST_UPPER": program.name.upper(),
        "LAM_HOST_HEADER": f'"{program.name}_preprocess.h"',
        "LAM_CAMERA_FRAMES": str(frames),
        "LAM_CAMERA_SEED": f"{seed % _WORD}u",
        "LAM_CAMERA_OUTPUTS": f"{{ {sizes} }}",
    }
    if program.regions:
        found["LAM_HOST_REGIONS"] = host_regions(r.memory for r in program.regions)
    if program.streamed:
        found["LAM_HOST_STREAM"] = None
    if compiled.emit.camera is not None and compiled.emit.camera.planes == 2:
        found["LAM_HOST_CAMERA_CHROMA"] = None
    return found
