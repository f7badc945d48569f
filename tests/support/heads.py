"""Random outputs of detectors and classifiers, and what their C finds in them: many postprocessings in one program."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np

from codegen.emit import render
from codegen.emit.postprocess import post_view
from codegen.golden.interface import PortSpec
from codegen.ir.postprocess import PostProgram, words
from codegen.ir.quant import Array, DType, Quant
from codegen.postprocess import Decoder, parse_postprocess, post_program
from tests.support.pipes import write_main

NETWORK = """
#include "lam_base.h"
typedef struct {name}_t {{
    const void *outputs[{count}];
}} {name}_t;
static inline const void *{name}_output(const {name}_t *net, int32_t index)
{{
    return net->outputs[index];
}}
"""
"""What a postprocessing asks of a network."""
CASE = """
static void run_{name}(int32_t runs)
{{
    static const size_t bytes[{count}] = {{{sizes}}};
    {name}_postprocess_t *post = ({name}_postprocess_t *)taken({upper}_POSTPROCESS_STATE_BYTES);
    {name}_t net;
    memset(post, {start}, {upper}_POSTPROCESS_STATE_BYTES);
{reset}
    for (int32_t k = 0; k < runs; k++) {{
        for (int32_t i = 0; i < {count}; i++) {{
            net.outputs[i] = read_bytes(bytes[i]);
        }}
        if ({name}_postprocess(post, &net) != LAM_OK) {{
            exit(6);
        }}
        put(&post->count, sizeof(post->count));
        put(post->found, (size_t)post->count * sizeof(post->found[0]));
        for (int32_t i = 0; i < {count}; i++) {{
            free((void *)(uintptr_t)net.outputs[i]);
        }}
    }}
    free(post);
}}
"""
TYPES = (
    (DType.S8, Quant(float(np.float32(0.047)), -9)),
    (DType.U8, Quant(float(np.float32(0.031)), 131)),
    (DType.S16, Quant(float(np.float32(0.00021)), 0)),
    (DType.F32, None),
)
Shapes = Sequence[tuple[int, ...]]


@dataclass(frozen=True, eq=False)
class Head:
    """One table for the outputs of one network."""

    name: str
    table: Mapping[str, Any]
    ports: tuple[PortSpec, ...]
    program: PostProgram

    def decoder(self) -> Decoder:
        return Decoder(self.program, self.ports)

    def outputs(self, rng: np.random.Generator) -> dict[str, Array]:
        """Of one run, as the network holds them: many equal numbers, or all kinds of floats."""
        return {port.value: _numbers(port, rng) for port in self.ports}


def _numbers(port: PortSpec, rng: np.random.Generator) -> Array:
    if not port.dtype.is_float:
        return rng.integers(port.dtype.low, port.dtype.high, port.shape, endpoint=True).astype(port.dtype.numpy)
    found = (rng.standard_normal(port.shape) * rng.choice([0.5, 2, 30])).astype(np.float32)
    odd = rng.random(port.shape) < 0.01
    found[odd] = rng.choice(np.array([np.nan, np.inf, -np.inf, 0.0, -0.0, 1e30], np.float32), int(odd.sum()))
    return found


def head(name: str, table: Mapping[str, Any], shapes: Shapes, rng: np.random.Generator, **more: Any) -> Head:
    """A head of these shapes in the model; each output as some type, and in the model's order of axes or another."""
    ports = tuple(_port(f"y{i}", shape, rng) for i, shape in enumerate(shapes))
    return Head(name, table, ports, post_program(parse_postprocess(table, "m.toml"), (), ports, **more))


def _port(name: str, shape: tuple[int, ...], rng: np.random.Generator) -> PortSpec:
    dtype, quant = TYPES[int(rng.integers(len(TYPES)))]
    perm = (0, 2, 3, 1) if len(shape) == 4 and rng.random() < 0.6 else None
    held = tuple(shape[k] for k in perm) if perm else shape
    return PortSpec(name, name, held, dtype, quant, shape, "float32", perm)


def _boxes(rng: np.random.Generator) -> dict[str, Any]:
    """What every detector may be told."""
    found: dict[str, Any] = {"overlap": float(rng.choice([0.0, 0.3, 0.45, 1.0]))}
    found |= {"least": float(rng.choice([0, 0.3, 0.7]))}
    found |= {"candidates": int(rng.integers(1, 60))} if rng.random() < 0.6 else {}
    found |= {"most": int(rng.integers(1, 12))} if rng.random() < 0.4 else {}
    return found | ({"by_label": False} if rng.random() < 0.4 else {})


def _fastestdet(name: str, rng: np.random.Generator) -> Head:
    labels = int(rng.integers(1, 7))
    table = {"decode": "fastestdet", "size": [64, 96], **_boxes(rng)}
    return head(name, table, [(1, 5 + labels, 4, 6)], rng)


def _yunet(name: str, rng: np.random.Generator) -> Head:
    grids = [(8, 12), (4, 6)]
    numbers = [int(rng.integers(1, 3)), 1, 4, 10][: int(rng.integers(3, 5))]
    shapes = [(1, rows * columns, n) for n in numbers for rows, columns in grids]
    return head(name, {"decode": "yunet", "size": [64, 96], **_boxes(rng)}, shapes, rng)


def _anchored(decode: str) -> Callable[[str, np.random.Generator], Head]:
    def made(name: str, rng: np.random.Generator) -> Head:
        each, labels = int(rng.integers(1, 4)), int(rng.integers(1, 5))
        anchors = [[float(v) for v in rng.integers(3, 90, 2 * each)] for _ in range(2)]
        grids = [(8, 4), (4, 2)]
        form = int(rng.integers(3))
        channels = 5 + labels
        shapes = [
            ((1, each * channels, h, w), (1, each, h, w, channels), (1, h, w, each * channels))[form] for h, w in grids
        ]
        table = {"decode": decode, "anchors": anchors, "size": [64, 32], **_boxes(rng)}
        return head(name, table, shapes, rng)

    return made


def _made_boxes(decode: str) -> Callable[[str, np.random.Generator], Head]:
    def made(name: str, rng: np.random.Generator) -> Head:
        labels, boxes = int(rng.integers(1, 5)), int(rng.integers(12, 60))
        channels = labels + (5 if decode == "yolov5" else 4)
        last = bool(rng.random() < 0.5)
        shape = (1, channels, boxes) if last else (1, boxes, channels)
        table = {"decode": decode, "size": [64, 32], "normalized": bool(rng.random() < 0.5), **_boxes(rng)}
        table["boxes"] = "last" if last else "first"
        return head(name, table, [shape], rng)

    return made


def _yolov8(name: str, rng: np.random.Generator) -> Head:
    labels, grids = int(rng.integers(1, 5)), [(4, 8), (2, 4)]
    parts = [64, labels] if rng.random() < 0.5 else [64 + labels]
    shapes = [(1, n, h, w) for h, w in grids for n in parts]
    return head(name, {"decode": "yolov8", "size": [32, 64], "boxes": "last", **_boxes(rng)}, shapes, rng)


def _ssd(name: str, rng: np.random.Generator) -> Head:
    labels, boxes = int(rng.integers(2, 6)), int(rng.integers(7, 40))
    table = {"decode": "ssd", "size": [64, 64], "priors": "p.npz", "order": str(rng.choice(["xywh", "yxhw"]))}
    table |= {"activation": str(rng.choice(["softmax", "sigmoid", "none"])), "background": bool(rng.random() < 0.6)}
    table |= {"scales": [10, 5], **_boxes(rng)}
    priors = (rng.random((boxes, 4)) * 60 + 1).astype(np.float32)
    return head(name, table, [(1, boxes, 4), (1, boxes, labels)], rng, priors=priors)


def _scored(rng: np.random.Generator) -> dict[str, Any]:
    """What every classifier may be told."""
    found = {
        "activation": str(rng.choice(["softmax", "sigmoid", "clip", "none"])),
        "least": float(rng.choice([-9, 0.1])),
    }
    return found | ({"temperature": float(rng.choice([0.25, 1.7]))} if rng.random() < 0.7 else {})


def _labels(name: str, rng: np.random.Generator) -> Head:
    table = {"decode": "labels", "outputs": ["y1"], "most": int(rng.integers(1, 9)), **_scored(rng)}
    return head(name, table, [(1, 3), (1, int(rng.integers(1, 30)))], rng)


def _wake_words(name: str, rng: np.random.Generator) -> Head:
    labels, window = int(rng.integers(2, 6)), int(rng.integers(1, 6))
    table = {"decode": "wake_words", "window": window, "warm": int(rng.integers(1, window + 1)), **_scored(rng)}
    table |= {"hold": int(rng.integers(0, 4)), "watch": [int(n) for n in rng.permutation(labels)[: labels - 1]]}
    return head(name, table, [(1, labels)], rng)


def _ctc(name: str, rng: np.random.Generator) -> Head:
    steps, labels = int(rng.integers(2, 30)), int(rng.integers(2, 5))
    table = {"decode": "ctc", "blank": int(rng.integers(labels))}
    table |= {"most": int(rng.integers(1, 9))} if rng.random() < 0.4 else {}
    return head(name, table, [(1, steps, labels) if rng.random() < 0.5 else (steps, 1, labels)], rng)


HEADS: Mapping[str, Callable[[str, np.random.Generator], Head]] = {
    "fastestdet": _fastestdet,
    "yunet": _yunet,
    "yolov3": _anchored("yolov3"),
    "yolov5": _anchored("yolov5"),
    "yolov5made": _made_boxes("yolov5"),
    "yolov8": _yolov8,
    "yolov8made": _made_boxes("yolov8"),
    "ssd": _ssd,
    "labels": _labels,
    "wakewords": _wake_words,
    "ctc": _ctc,
}


def without_perm(case: Head) -> Head:
    """The same head in the model's order of axes."""
    ports = tuple(replace(p, shape=p.model_shape, perm=None) for p in case.ports)
    program = post_program(parse_postprocess(case.table, "m.toml"), (), ports)
    return replace(case, ports=ports, program=program)


def write_heads(folder: Path, cases: Sequence[Head], runs: int) -> list[Path]:
    """The C of all of them, and a program that runs each so many times."""
    sources, bodies = [], []
    for case in cases:
        sources.append(write_head(folder, case))
        heard = post_view(case.program).heard
        sizes = ", ".join(str(int(np.prod(p.shape)) * p.dtype.bytes) for p in case.ports)
        reset = f"    {case.name}_postprocess_reset(post);" if heard else ""
        given = {"name": case.name, "upper": case.name.upper(), "count": len(case.ports), "sizes": sizes}
        bodies.append(CASE.format(**given, reset=reset, start=0x5A if heard else 0x33))
    headers = [f"{case.name}_postprocess.h" for case in cases]
    main = write_main(folder, headers, bodies, [f"run_{case.name}({runs})" for case in cases])
    return [main, *sources]


def write_head(folder: Path, case: Head) -> Path:
    """The C of one, with a header that stands for its network's."""
    net = SimpleNamespace(
        name=case.name, upper=case.name.upper(), form=SimpleNamespace(version="0", options="test"), const="const"
    )
    view = post_view(case.program)
    (folder / f"{case.name}.h").write_text(NETWORK.format(name=case.name, count=len(case.ports)))
    (folder / f"{case.name}_postprocess.h").write_text(render("postprocess.h.j2", m=net, p=view))
    source = folder / f"{case.name}_postprocess.c"
    source.write_text(render("postprocess.c.j2", m=net, p=view))
    return source


def read_found(case: Head, out: bytes, order: str) -> tuple[dict[str, Array], bytes]:
    """What the program has said of one run, and the rest."""
    kinds = {"float": f"{order}f4", "int32_t": f"{order}i4"}
    count = int(np.frombuffer(out[:4], f"{order}i4")[0])
    members = [(m.name, kinds[m.ctype], (m.count,)) for m in case.program.members]
    end = 4 + count * words(case.program.members)
    found = np.frombuffer(out[4:end], np.dtype(members))
    arrays = {m.name: np.ascontiguousarray(found[m.name]) for m in case.program.members}
    flat = {m.name: arrays[m.name].reshape((-1,) if m.count == 1 else (-1, m.count)) for m in case.program.members}
    return {name: array.astype(array.dtype.newbyteorder("=")) for name, array in flat.items()}, out[end:]
