"""The memory of a camera before a person detector: lines of 640 x 480 pixels through crop, resize and the network.

A program for the emulated Cortex-M4 holds all that a firmware holds: arena, both structs, and the buffer that a line
of the camera comes in.  It prints what they take, the stack, and the instructions of a frame; its outputs are golden's.
README.md explains the columns.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

from benchmarks.tables import print_records  # noqa: E402
from codegen.emit import write_project  # noqa: E402
from codegen.options import Options  # noqa: E402
from codegen.pipeline import compile_file  # noqa: E402
from codegen.preprocess import load_preprocess  # noqa: E402
from codegen.verbs.camera import with_camera  # noqa: E402
from codegen.verbs.camera_board import Pattern, frames_on_board, pattern_frame  # noqa: E402
from codegen.verbs.verify import expected_of_frames  # noqa: E402

CHIP = "cortex-m4"
LIMIT = 24 * 1024
MODEL = ROOT.parent / "shared" / "models" / "mlperf_tiny" / "vww_int8.tflite"
CONFIGS = ROOT / "benchmarks" / "configs"
TABLES = ("camera_rgb565", "camera_whole_view", "camera_bayer")
HEADS = ("camera", "frame B", "arena B", "net B", "state B", "line B", "stack B", "in all B", "instructions", "equal")


@dataclass(frozen=True, slots=True)
class Row:
    """What one camera takes; `total_bytes` is all of it, `instructions` those of one frame, network included."""

    camera: str
    frame_bytes: int
    arena_bytes: int
    net_bytes: int
    state_bytes: int
    line_bytes: int
    stack_bytes: int
    total_bytes: int
    instructions: int
    equal: bool


def measured(table: Path, streamed: bool) -> Row:
    """One camera before the network."""
    options = Options(target=CHIP, goal="memory", stream_input=streamed)
    compiled = with_camera(compile_file(MODEL, options), table, options)
    how = load_preprocess(table)
    assert how.camera is not None, "the table is of a camera"
    frames = [pattern_frame(how.camera, 0, 0)]
    with tempfile.TemporaryDirectory() as folder:
        write_project(Path(folder) / "project", compiled.files)
        expected = expected_of_frames(compiled, frames, how)
        said = frames_on_board(compiled, Path(folder) / "project", expected, Pattern(count=True))
    name = f"{table.stem}{'' if streamed else ', input held'}"
    total = sum(said.ram) + said.stack
    made = (how.camera.frame_bytes, *said.ram, said.stack, total, said.instructions, said.difference is None)
    return Row(name, *made)


def main() -> int:
    """Print the table; 1 when a streamed camera takes more than 24 KB, or an output is not golden's."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--json", action="store_true", help="as JSON")
    as_json = parser.parse_args().json
    tables = [CONFIGS / f"{name}.toml" for name in TABLES]
    rows = [measured(table, streamed=True) for table in tables] + [measured(tables[0], streamed=False)]
    print_records(rows, HEADS, as_json=as_json)
    return 0 if all(r.equal and (r.total_bytes < LIMIT or "held" in r.camera) for r in rows) else 1


if __name__ == "__main__":
    sys.exit(main())
