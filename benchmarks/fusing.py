"""What fusing costs on an emulated Cortex-M4: instructions and stack of one inference, by plan.

    python benchmarks/fusing.py [--target cortex-m4] [--models DIR]

Instruction counts are exact and repeat; compile level is -O2.  `twice` is the fastest plan within twice the smallest
arena.
"""

from __future__ import annotations

import argparse
import re
import tempfile
from pathlib import Path

import numpy as np

from codegen.emit import array_lines, fill_pattern, render, write_project
from codegen.emulator import build_and_run
from codegen.pipeline import Compiled, Options, compile_file
from codegen.resources import resource_dir

MODELS = ("kws", "resnet8", "vww")


def count(compiled: Compiled) -> tuple[int, int]:
    """Instructions and stack bytes of one inference on the target's board."""
    name = compiled.program.name
    defines: dict[str, str | None] = {
        "LAM_HOST_NAME": name,
        "LAM_HOST_UPPER": name.upper(),
        "LAM_HOST_HEADER": f'"{name}.h"',
    }
    if compiled.program.streamed:
        defines["LAM_HOST_STREAM"] = None
    with tempfile.TemporaryDirectory(prefix="lamina-") as folder:
        project = Path(folder) / "project"
        write_project(project, compiled.files)
        data = Path(folder) / "data.c"
        data.write_text(_data(compiled), encoding="ascii")
        result = build_and_run(
            compiled.target,
            [*sorted((project / "src").glob("*.c")), resource_dir("runtime_c") / "host" / "lam_count_main.c", data],
            [project / part for part in ("include", "runtime", "src")],
            defines,
            timeout_s=600,
            workdir=Path(folder),
            count=True,
        )
    found = re.search(rb"stack (\d+)\ninstructions (\d+)", result.console)
    assert found, result.console
    return int(found[2]), int(found[1])


def _data(compiled: Compiled) -> str:
    types = [compiled.graph.type(i.value) for i in compiled.graph.inputs]
    raw = b"".join(x.tobytes() for x in fill_pattern(1, types))
    return render(
        "check_data.c.j2",
        samples=1,
        input_bytes=[t.bytes for t in types],
        output_bytes=[p.operand.rows * p.operand.row_bytes for p in compiled.program.outputs],
        count=len(raw),
        lines=array_lines(np.frombuffer(raw, np.uint8)),
    )


def rows(model: Path, target: str) -> list[tuple[str, int, int, int]]:
    """(plan, arena bytes, instructions, stack bytes) for every layer alone, the smallest arena, and twice that."""
    plain = compile_file(model, Options(target=target, optimize="speed", vectors=0))
    least = compile_file(model, Options(target=target, optimize="memory", vectors=0))
    twice = compile_file(model, Options(target=target, arena_limit=2 * least.plan.arena_bytes, vectors=0))
    streamed = compile_file(model, Options(target=target, optimize="memory", stream_input=True, vectors=0))
    plans = {"no groups": plain, "smallest": least, "twice": twice, "streamed": streamed}
    return [(name, c.plan.arena_bytes, *count(c)) for name, c in plans.items()]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--target", default="cortex-m4")
    parser.add_argument("--models", type=Path, default=Path("../shared/models/mlperf_tiny_onnx"))
    given = parser.parse_args()
    print(f"{'model':10}{'plan':12}{'arena':>9}{'instructions':>14}{'against no groups':>19}{'stack':>8}")
    for name in MODELS:
        table = rows(given.models / f"{name}_qdq.onnx", given.target)
        for plan, arena, instructions, stack in table:
            more = f"{instructions / table[0][2] - 1:+.1%}"
            print(f"{name:10}{plan:12}{arena:9}{instructions:14}{more:>19}{stack:8}")


if __name__ == "__main__":
    main()
