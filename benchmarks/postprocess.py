"""Boxes from the outputs of detectors: instructions of a frame on an emulated chip; what it finds is golden's.

FastestDet and YuNet have looked at a photograph; the outputs of the other heads are made up, with a few objects among
thousands of boxes of nothing.  README.md explains the columns.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

from benchmarks.tables import print_records  # noqa: E402
from codegen.emit import array_lines, write_project  # noqa: E402
from codegen.emulator import build_and_run  # noqa: E402
from codegen.golden.compare import first_difference_of  # noqa: E402
from codegen.golden.interface import PortSpec, graph_ports, network_feeds  # noqa: E402
from codegen.host import Network  # noqa: E402
from codegen.ir.quant import Array, DType, Quant  # noqa: E402
from codegen.options import Options  # noqa: E402
from codegen.pipeline import compile_file  # noqa: E402
from codegen.postprocess import parse_postprocess, post_program  # noqa: E402
from codegen.resources import resource_dir  # noqa: E402
from codegen.target import load_target  # noqa: E402
from codegen.verbs.samples import open_samples  # noqa: E402
from tests.support.heads import Head, read_found, write_head  # noqa: E402

SHARED = ROOT.parent / "shared"
PHOTOS = SHARED / "data" / "coco_detect48.npz"
DETECTORS = SHARED / "models" / "onnx"
HEADS = ("head", "boxes", "labels", "found", "instructions", "per box", "program B", "state B", "equal")
MAIN = """
#include "{name}_postprocess.h"
#include "lam_board.h"
{arrays}
static {name}_postprocess_t post;
int main(void)
{{
    const {name}_t net = {{ {{ {outputs} }} }};
    uint32_t before = lam_board_instructions();
    const lam_status status = {name}_postprocess(&post, &net);
    before = lam_board_instructions() - before;
    lam_board_number(before);
    lam_board_puts("\\n");
    lam_board_write(&post.count, sizeof(post.count));
    lam_board_write(post.found, (uint32_t)post.count * (uint32_t)sizeof(post.found[0]));
    lam_board_puts("\\n");
    return (int)status;
}}
"""


@dataclass(frozen=True, slots=True)
class Row:
    """One head; `program` are bytes of text, start-up code included, `state` those of NAME_postprocess_t."""

    head: str
    boxes: int
    labels: int
    found: int
    instructions: int
    per_box: float
    program: int
    state: int
    equal: bool


def photographed(name: str, file: str, least: float) -> tuple[Head, dict[str, Array]]:
    """A detector's head, and its outputs for the first photograph."""
    config = ROOT / "benchmarks" / "configs" / f"{name}.toml"
    compiled = compile_file(DETECTORS / file, Options(name=name, vectors=0))
    inputs, outputs = graph_ports(compiled.graph)
    table = {"decode": name, "least": least, "overlap": 0.45}
    program = post_program(parse_postprocess(table, name), inputs, outputs)
    with tempfile.TemporaryDirectory(prefix="lamina-bench-") as folder:
        write_project(Path(folder) / "c", compiled.files)
        with Network(Path(folder) / "c") as net:
            feeds = network_feeds(inputs, open_samples(PHOTOS, inputs, config)[0])
            return Head(name, table, outputs, program), net.run_raw(feeds)


def made_up(name: str, table: Mapping[str, Any], shapes: Mapping[str, tuple[int, ...]], **more: Any) -> Head:
    """A head with outputs of int8 in steps of 0.1, 0 in the upper half."""
    quant = Quant(float(np.float32(0.1)), 60)
    ports = tuple(PortSpec(k, k, s, DType.S8, quant, s, "float32", None) for k, s in shapes.items())
    return Head(name, table, ports, post_program(parse_postprocess(table, name), (), ports, **more))


def cases() -> Iterator[tuple[Head, dict[str, Array]]]:
    """Heads and outputs."""
    rng = np.random.default_rng(7)
    yield photographed("fastestdet", "fastestdet_352_qdq.onnx", 0.25)
    yield photographed("yunet", "yunet_n_320_qdq.onnx", 0.6)
    sides, labels = (40, 20, 10), 80
    anchors = [[10, 13, 16, 30, 33, 23], [30, 61, 62, 45, 59, 119], [116, 90, 156, 198, 373, 326]]
    for decode in ("yolov3", "yolov5"):
        table = {"decode": decode, "size": [320, 320], "anchors": anchors}
        head = made_up(decode, table, {f"y{s}": (1, s, s, 3 * (5 + labels)) for s in sides})
        yield head, {p.value: _scored(rng, p.shape[1] ** 2 * 3, 4, 1 + labels).reshape(p.shape) for p in head.ports}
    table = {"decode": "yolov8", "size": [320, 320]}
    head = made_up("yolov8", table, {f"y{s}": (1, s, s, 64 + labels) for s in sides})
    yield head, {p.value: _scored(rng, p.shape[1] ** 2, 64, labels).reshape(p.shape) for p in head.ports}
    table = {"decode": "ssd", "size": [300, 300], "priors": "p.npz", "order": "yxhw"}
    priors = (rng.random((1917, 4)) * 200 + 20).astype(np.float32)
    head = made_up("ssd", table, {"boxes": (1, 1917, 4), "labels": (1, 1917, 91)}, priors=priors)
    y = _scored(rng, 1917, 4, 91)
    y[:, 4] = np.where((y[:, 5:] > 60).any(axis=1), -90, 60)
    yield head, {"boxes": y[:, :4].copy(), "labels": y[:, 4:].copy()}


def _scored(rng: np.random.Generator, boxes: int, place: int, scores: int) -> Array:
    """Numbers of boxes: places near zero, scores far below; of every hundredth the first and one more high."""
    y = np.concatenate([rng.normal(60, 12, (boxes, place)), rng.normal(-5, 12, (boxes, scores))], axis=1)
    things = rng.choice(boxes, boxes // 100, replace=False)
    y[things, place] = 100
    y[things, rng.integers(place + 1, place + scores, len(things))] = 110
    return np.asarray(y.clip(-128, 127).astype(np.int8))


def measured(case: Head, outputs: Mapping[str, Array], chip: str) -> Row:
    """One head on the chip's board."""
    target, host = load_target(chip), resource_dir("runtime_c")
    with tempfile.TemporaryDirectory(prefix="lamina-bench-") as folder:
        main_c = Path(folder) / "main.c"
        source = write_head(Path(folder), case)
        main_c.write_text(_program(case, outputs))
        said = build_and_run(
            target,
            [main_c, source],
            [Path(folder), host / "include"],
            {},
            count=True,
            timeout_s=300,
            workdir=Path(folder) / "build",
            opt_level="-Os",
        )
        code = said.sections["text"]
    count, found = said.console.split()
    order = "<" if target.byte_order == "little" else ">"
    have, _ = read_found(case, bytes.fromhex(found.decode("ascii")), order)
    want = case.decoder().run_raw(outputs)
    task: Any = case.program.task
    boxes = sum(level.boxes for level in task.levels)
    equal = said.exit_code == 0 and first_difference_of(want, want, have) is None
    each = round(int(count) / boxes, 1)
    counts = (boxes, task.labels, len(want["label"]), int(count), each, code, case.program.state_bytes)
    return Row(case.name, *counts, equal)


def _program(case: Head, outputs: Mapping[str, Array]) -> str:
    """The outputs as constants, and one call."""
    arrays = []
    for i, port in enumerate(case.ports):
        lines = "\n".join(array_lines(outputs[port.value].reshape(-1)))
        arrays.append(f"static const {port.dtype.ctype} y{i}[] = {{\n{lines}\n}};")
    names = ", ".join(f"y{i}" for i in range(len(case.ports)))
    return MAIN.format(name=case.name, arrays="\n".join(arrays), outputs=names)


def main() -> int:
    """Print the table; 1 when a head finds something else than golden."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--target", default="cortex-m4", help="a chip with an emulated board (default: %(default)s)")
    parser.add_argument("--json", action="store_true", help="as JSON")
    given = parser.parse_args()
    rows = [measured(*case, given.target) for case in cases()]
    print_records(rows, HEADS, as_json=given.json)
    return 0 if all(row.equal for row in rows) else 1


if __name__ == "__main__":
    sys.exit(main())
