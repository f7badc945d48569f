"""A project whose firmware prepares a camera's lines itself, and its check: frames through golden and through the C."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from codegen.errors import OptionBad
from codegen.golden.compare import Difference, first_difference
from codegen.golden.interface import graph_ports
from codegen.ir.camera import CameraProgram
from codegen.ir.quant import Array
from codegen.options import Options
from codegen.pipeline import Compiled
from codegen.preprocess import load_preprocess
from codegen.preprocess.firmware import camera_program
from codegen.records import record
from codegen.verbs.rewriting import written_with

if TYPE_CHECKING:
    from codegen.host import Network


@record(kw_only=True)
class FramesCheck:
    """Frames of a camera that were prepared by golden and by the C, and the first difference when there is one.

    `where` the C ran: `host`, or the target with its emulated board.
    """

    equal: bool
    where: str
    format: str
    frames: int
    first_difference: Difference | None


def with_camera(compiled: Compiled, table: Path, options: Options) -> Compiled:
    """The same project with NAME_preprocess.h and .c, made of the file's `[preprocess]` table.

    Raises:
        OptionBad: LAM-IMPORT-030, the input lies outside.
        CompileError: the ids of `load_preprocess` and `camera_program`.
    """
    if options.input_outside:
        hint = "leave one out: a camera's lines become the network's input, which they are written to"
        raise OptionBad("true beside preprocess", where="input_outside", hint=hint)
    ports, _ = graph_ports(compiled.graph)
    camera = camera_program(load_preprocess(table), ports, bool(compiled.plan.streamed), str(table))
    return written_with(compiled, replace(compiled.emit, camera=camera), {"preprocess": _record(camera)}, options)


def _record(camera: CameraProgram) -> dict[str, Any]:
    """The manifest's record."""
    return {
        "format": camera.format,
        "height": camera.height,
        "width": camera.width,
        "line_bytes": camera.width * camera.pixel_bytes,
        "chroma": camera.planes == 2,
        "rows": camera.made[0],
        "row_stride": camera.strides[0],
        "state_bytes": camera.state_bytes,
        "table": list(camera.said),
    }


def check_frames(
    net: Network, frames: Sequence[Array], expected: Iterable[tuple[Mapping[str, Array], Mapping[str, Array]]]
) -> FramesCheck:
    """Whether the C makes of each frame the input, and then the outputs, that golden does; with state twice over."""
    from codegen.host.camera import HostCamera

    camera, kind = HostCamera(net), str(net.manifest["preprocess"]["format"])
    for run, (feeds, outputs) in enumerate(expected):
        if run % len(frames) == 0:
            net.reset()
        frame = frames[run % len(frames)]
        found = _difference(feeds, {net.inputs[0].value: camera.rows(frame)})
        found = found or _difference(outputs, camera.run(frame))
        if found is not None:
            count = min(run + 1, len(frames))
            return FramesCheck(equal=False, where="host", format=kind, frames=count, first_difference=found)
    return FramesCheck(equal=True, where="host", format=kind, frames=len(frames), first_difference=None)


def _difference(golden: Mapping[str, Array], made: Mapping[str, Array]) -> Difference | None:
    found = (first_difference(f"{name}, from a frame", array, made[name]) for name, array in golden.items())
    return next((difference for difference in found if difference is not None), None)
