"""The `[preprocess]` table as C: what it becomes for a network's input, as settled numbers.

Decides: that everything behind the picture is a table of 256 entries per channel, made by the steps themselves; which
networks and tables can be served so.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from codegen.errors import PreprocessNotC, SampleDoesNotFit
from codegen.golden.interface import PortSpec
from codegen.ir.camera import CameraProgram
from codegen.ir.quant import Array
from codegen.ir.shape import row_count, row_elements
from codegen.preprocess.camera import BITS, Camera
from codegen.preprocess.steps import Preprocess

_BYTES = 256
_LARGEST_PICTURE = 1 << 24
"""Elements."""


def camera_program(how: Preprocess, ports: Sequence[PortSpec], streamed: bool, where: str) -> CameraProgram:
    """What the firmware does, for the inputs of a network.

    Raises:
        PreprocessNotC: LAM-PREPROCESS-006.
        SampleDoesNotFit: LAM-PREPROCESS-004, as `Preprocess.apply`.
    """
    camera = how.camera
    if camera is None:
        raise PreprocessNotC("describes no camera: it has no `format` and `size`", where=where)
    if len(ports) != 1:
        raise PreprocessNotC(f"a camera is one input, the network has {len(ports)}", where=where)
    strides, offsets = _places(camera, how.behind, ports[0])
    if streamed and (row_count(ports[0].shape), row_elements(ports[0].shape)) != (camera.made[0], strides[0]):
        found = "the rows that the network takes (--stream-input) are no lines of a picture"
        raise PreprocessNotC(found, where=where, hint="leave out --io-layout model, so that channels lie together")
    tables, table_of = _tables(camera, how.behind, ports[0])
    fill = [tables[table_of[c], color] for c, color in enumerate(camera.colors)]
    kind = camera.kind
    return CameraProgram(
        format=camera.format,
        height=camera.size[0],
        width=camera.size[1],
        pixel_bytes=kind.pixel_bytes,
        planes=kind.planes,
        fetch="bayer" if kind.kind == "bayer" else camera.format,
        convert=_convert(camera),
        red=kind.red if kind.kind == "bayer" else None,
        window=camera.window,
        made=camera.made,
        inner=(camera.inner[0], camera.inner[1]),
        rows=camera.rows,
        columns=camera.columns,
        nearest=not (np.concatenate([camera.rows, camera.columns]) & ((1 << BITS) - 1)).any(),
        order={"bgr": (2, 1, 0), "rgb": (0, 1, 2), "gray": (0,)}[camera.color],
        tables=tables,
        table_of=table_of,
        fill=np.array(fill),
        strides=strides,
        offsets=offsets,
        dtype=ports[0].dtype,
        said=(*camera.lines, *how.lines),
    )


def _convert(camera: Camera) -> tuple[str, ...]:
    """What happens to a pixel, as functions of lam_pixels.h."""
    gray, kind = camera.color == "gray", camera.kind.kind
    if kind == "yuv" and gray:
        return ("lam_stretch_limited",) if camera.limited else ()
    if kind == "yuv":
        return ("lam_rgb_of_limited" if camera.limited else "lam_rgb_of_full",)
    return ("lam_gray_of_rgb",) if gray and kind != "gray" else ()


def _tables(camera: Camera, how: Preprocess, port: PortSpec) -> tuple[Array, tuple[int, ...]]:
    """What the network holds for each value of a pixel: the different tables, and which of them a channel has."""
    shape = (1, _BYTES, camera.channels)
    values = np.repeat(np.arange(_BYTES, dtype=np.uint8)[None, :, None], camera.channels, axis=2)
    flat = replace(how, axes="NHWC", model_axes="HWC") if how.axes else how
    made = flat.apply(values, shape, port.model_dtype)
    held = replace(port, model_shape=shape, perm=None).to_network(made)[0].T
    found = list(dict.fromkeys(row.tobytes() for row in held))
    places = tuple(found.index(row.tobytes()) for row in held)
    return np.array([held[places.index(i)] for i in range(len(found))]), places


def _places(camera: Camera, how: Preprocess, port: PortSpec) -> tuple[tuple[int, int], tuple[int, ...]]:
    """Elements of the input from row to row, from column to column, and where each channel is."""
    height, width = camera.made
    size = height * width * camera.channels
    if size > _LARGEST_PICTURE:
        raise SampleDoesNotFit(f"a picture of {height} x {width} is beyond {_LARGEST_PICTURE} numbers")
    numbers = np.arange(size, dtype=np.float64).reshape(height, width, camera.channels)
    plain = Preprocess(axes=how.axes, model_axes=how.model_axes, before=how.before)
    placed = plain.apply(numbers, port.model_shape, "float64")
    flat = (placed if port.perm is None else placed.transpose(port.perm)).reshape(-1).astype(np.int64)
    place = np.empty(size, np.int64)
    place[flat] = np.arange(size)
    at = place.reshape(height, width, camera.channels)
    row = int(at[1, 0, 0] - at[0, 0, 0]) if height > 1 else width * camera.channels
    column = int(at[0, 1, 0] - at[0, 0, 0]) if width > 1 else camera.channels
    return (row, column), tuple(int(offset) for offset in at[0, 0])
