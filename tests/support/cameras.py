"""Random cameras and what their C makes of frames: many preprocessings in one program, without networks."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np

from codegen.emit import render
from codegen.emit.camera import camera_view
from codegen.golden.interface import PortSpec
from codegen.ir.quant import Array, DType, Quant
from codegen.preprocess import Preprocess, parse_preprocess
from codegen.preprocess.firmware import camera_program
from codegen.preprocess.pixels import FORMATS
from tests.support.pipes import write_main

NETWORK = """
#include "lam_base.h"
typedef struct {name}_t {{
    uint8_t *arena;
    {ctype} *input;
}} {name}_t;
static inline {ctype} *{name}_input({name}_t *net, int32_t index)
{{
    LAM_UNUSED(index);
    return net->input;
}}
"""
"""What a preprocessing asks of a network whose input is held whole."""
CASE = """
static void run_{name}(int32_t frames)
{{
    {name}_preprocess_t pre;
    {name}_t net;
    {ctype} *input = ({ctype} *)taken({bytes});
    net.arena = (uint8_t *)input;
    net.input = input;
    for (int32_t k = 0; k < frames; k++) {{
        uint8_t *frame = read_bytes({upper}_PREPROCESS_FRAME_BYTES);
        lam_status status = LAM_NEED_MORE;
        memset(input, 0x33, {bytes});
        {name}_preprocess_begin(&pre, &net);
        for (int32_t y = 0; y < {upper}_PREPROCESS_HEIGHT && status == LAM_NEED_MORE; y++) {{
            uint8_t *line = copied(frame + y * {upper}_PREPROCESS_LINE_BYTES, {upper}_PREPROCESS_LINE_BYTES);
{push}
            free(line);
        }}
        put(status == LAM_DONE ? input : NULL, {bytes});
        memset(input, 0x44, {bytes});
        put({name}_preprocess_frame(&pre, &net, frame) == LAM_DONE ? input : NULL, {bytes});
        free(frame);
    }}
    free(input);
}}
"""
"""Frames come one after another, and so do inputs: pushed by lines, each in memory of its own, and as a whole."""
PLAIN = """            status = {name}_preprocess_push(&pre, &net, line);"""
CHROMA = """            {{
                uint8_t *pair = copied(frame + ({upper}_PREPROCESS_HEIGHT + y / 2) * {upper}_PREPROCESS_LINE_BYTES,
                                       {upper}_PREPROCESS_CHROMA_BYTES);
                status = {name}_preprocess_push(&pre, &net, line, pair);
                free(pair);
            }}"""
INPUTS = (
    (DType.S8, Quant(float(np.float32(0.0186)), -7)),
    (DType.U8, Quant(float(np.float32(0.0173)), 116)),
    (DType.S16, Quant(float(np.float32(0.0001)), 0)),
    (DType.F32, None),
)


@dataclass(frozen=True, eq=False)
class Case:
    """One camera before one input."""

    name: str
    table: dict[str, Any]
    how: Preprocess
    port: PortSpec

    @property
    def frame_bytes(self) -> int:
        assert self.how.camera is not None
        return self.how.camera.frame_bytes

    def golden(self, frame: Array) -> Array:
        return self.port.to_network(self.how.apply(frame, self.port.model_shape, self.port.model_dtype))


def random_case(name: str, kind: str, rng: np.random.Generator) -> Case:
    """A camera of this format, odd and even sizes, with or without each key, before an input of any kind."""
    height, width = (int(n) for n in rng.integers(2, 41, 2))
    width += width % 2 * FORMATS[kind].even_width
    table: dict[str, Any] = {"format": kind, "size": [height, width], "mean": [0.5, 0.4, 0.3], "std": [0.3, 0.25, 0.2]}
    table |= {"divide": 255, "color": str(rng.choice(["rgb", "bgr", "gray"]))}
    seen = [height, width]
    if rng.random() < 0.6:
        top, left = (int(rng.integers(0, n)) for n in seen)
        seen = [int(rng.integers(1, height - top + 1)), int(rng.integers(1, width - left + 1))]
        table["crop"] = [top, left, *seen]
    if rng.random() < 0.8:
        table["resize"] = seen = [int(n) for n in rng.integers(1, 33, 2)]
        table["filter"] = str(rng.choice(["bilinear", "bilinear", "nearest"]))
        table |= {"keep_aspect": True, "fill": int(rng.integers(0, 256))} if rng.random() < 0.5 else {}
    if FORMATS[kind].kind == "yuv":
        table["range"] = str(rng.choice(["limited", "full"]))
    channels = 3
    if table["color"] == "gray":
        table |= {"mean": 0.5, "std": 0.3}
        channels = 1
    elif "fill" in table and rng.random() < 0.5:
        table["fill"] = [int(n) for n in rng.integers(0, 256, 3)]
    first = rng.random() < 0.3
    table["layout"] = "NHWC->NCHW" if first else "NHWC->NHWC"
    shape = (1, channels, *seen) if first else (1, *seen, channels)
    perm = (0, 2, 3, 1) if first and rng.random() < 0.7 else None
    held = tuple(shape[k] for k in perm) if perm else shape
    dtype, quant = INPUTS[int(rng.integers(0, len(INPUTS)))]
    port = PortSpec("x", "x", held, dtype, quant, shape, "float32", perm)
    return Case(name, table, parse_preprocess(table, "camera.toml"), port)


def write_cases(folder: Path, cases: Sequence[Case], frames: int) -> list[Path]:
    """The C of all of them, and a program that runs each on so many frames."""
    sources, bodies = [], []
    for case in cases:
        view = SimpleNamespace(
            name=case.name,
            upper=case.name.upper(),
            form=SimpleNamespace(version="0", options="test"),
            const="const",
            stream=None,
            reads=None,
        )
        spelled = camera_view(camera_program(case.how, [case.port], False, "camera.toml"))
        given = {"name": view.name, "upper": view.upper, "ctype": case.port.dtype.ctype}
        size = int(np.prod(case.port.shape)) * case.port.dtype.bytes
        push = (CHROMA if spelled.chroma else PLAIN).format(**given)
        (folder / f"{view.name}.h").write_text(NETWORK.format(**given))
        (folder / f"{view.name}_preprocess.h").write_text(render("preprocess.h.j2", m=view, p=spelled))
        sources.append(folder / f"{view.name}_preprocess.c")
        sources[-1].write_text(render("preprocess.c.j2", m=view, p=spelled))
        bodies.append(CASE.format(**given, bytes=size, push=push))
    headers = [f"{case.name}_preprocess.h" for case in cases]
    main = write_main(folder, headers, bodies, [f"run_{case.name}({frames})" for case in cases])
    return [main, *sources]
