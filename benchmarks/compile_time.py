"""How long compiling takes: the process of `lamina compile` less its imports, and its growth with the operators.

README.md explains the columns; --profile shows where the time of one model goes.
"""

from __future__ import annotations

import argparse
import cProfile
import json
import os
import pstats
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

from benchmarks.tables import print_records  # noqa: E402
from codegen.pipeline import Options, compile_file  # noqa: E402
from tests.support.networks import branchy, chain, in_float, network_path, quantized, uneven  # noqa: E402

TINY = ROOT.parent / "shared" / "models" / "mlperf_tiny_onnx"
AIMS_S = {"kws_qdq": 0.5, "vww_qdq": 0.5, "mobilenet_v2_1.0_224": 3.0, "uneven_2000_f32": 60.0}
"""Seconds of processor time that compiling may take."""
SIZES = (50, 100, 200, 350, 500)
SHAPES = {"chain": chain, "branchy": branchy, "uneven": uneven}
AIM_MB = 1024
"""Memory that the compiler may take."""
HEADS = ("model", "layers", "compile s", "cpu s", "aim s", "memory MB", "aim MB", "arena B")
IMPORTS = "import codegen.cli.compile_command, codegen.pipeline, codegen.frontends.onnx.importer"
"""What a process loads before it begins, which differs from command to command."""


@dataclass(frozen=True, slots=True)
class Row:
    """What was measured of one model."""

    model: str
    layers: int
    wall_s: float
    cpu_s: float
    aim_s: float | None
    memory_mb: int
    aim_mb: int
    arena_bytes: int


def main(arguments: Sequence[str] | None = None) -> None:
    """Measure, and print tables or JSON."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument(
        "--models", nargs="*", default=list(AIMS_S), help="names, or files (default: those with an aim)"
    )
    parser.add_argument("--no-growth", action="store_true", help="leave out the networks of growing size")
    parser.add_argument("--goal", default="balanced", help="memory, balanced or speed (default: %(default)s)")
    parser.add_argument("--repeats", type=int, default=3, help="processes per time, of which the fastest (%(default)s)")
    parser.add_argument("--json", action="store_true", help="print JSON")
    parser.add_argument("--profile", metavar="MODEL", help="print where the time of one model goes, and nothing else")
    given = parser.parse_args(arguments)
    if given.profile:
        profile(find_model(given.profile), given.goal)
        return
    rows = [measure(find_model(m), given.goal, given.repeats) for m in given.models]
    if not given.no_growth:
        names = [f"{shape}_{size}" for shape in SHAPES for size in SIZES]
        rows += [measure(find_model(n), given.goal, given.repeats) for n in names if n not in given.models]
    print_records(rows, HEADS, as_json=given.json)


def find_model(name: str) -> Path:
    """A file, a model of ../shared, a network of tests/support/networks.py, or one of SHAPES with a size: chain_100.

    With `_f32` behind the size its numbers are real: ONNX Runtime's quantizer takes minutes for thousands of layers.
    """
    if Path(name).is_file():
        return Path(name)
    if (TINY / f"{name}.onnx").is_file():
        return TINY / f"{name}.onnx"
    shape, _, size = name.partition("_")
    if shape in SHAPES and size.endswith("_f32"):
        return in_float(name, lambda: SHAPES[shape](int(size.removesuffix("_f32"))))
    if shape in SHAPES:
        return quantized(name, lambda: SHAPES[shape](int(size)))
    return network_path(name)


def measure(model: Path, goal: str, repeats: int) -> Row:
    """All columns of one model."""
    with tempfile.TemporaryDirectory(prefix="lamina-bench-") as folder:
        out = Path(folder) / "out"
        whole = [sys.executable, "-m", "codegen", "compile", str(model), "-t", "host", "-o", str(out)]
        whole += ["--goal", goal]
        imports = [sys.executable, "-c", IMPORTS]
        runs = [(process(whole), process(imports)) for _ in range(repeats)]
        manifest = json.loads((out / "manifest.json").read_text(encoding="utf-8"))
    wall, cpu = (min(whole[i] for whole, _ in runs) - min(bare[i] for _, bare in runs) for i in (0, 1))
    memory = max(whole[2] for whole, _ in runs)
    layers, arena = len(manifest["layers"]), manifest["arena_bytes"]
    aim = AIMS_S.get(model.stem)
    return Row(model.stem, layers, round(wall, 2), round(cpu, 2), aim, round(memory), AIM_MB, arena)


def process(argv: Sequence[str]) -> tuple[float, float, float]:
    """Wall time, processor time, and megabytes at most of a process that must succeed."""
    start = time.perf_counter()
    child = subprocess.Popen(argv, cwd=ROOT, stdout=subprocess.DEVNULL)
    _, status, used = os.wait4(child.pid, 0)
    wall, child.returncode = time.perf_counter() - start, os.waitstatus_to_exitcode(status)
    if child.returncode:
        raise subprocess.CalledProcessError(child.returncode, argv)
    return wall, used.ru_utime + used.ru_stime, used.ru_maxrss / 1024


def profile(model: Path, goal: str) -> None:
    """The functions that take most time, by their own time."""
    with cProfile.Profile() as found:
        compile_file(model, Options(goal=goal))  # type: ignore[arg-type]
    pstats.Stats(found).strip_dirs().sort_stats("tottime").print_stats(30)


if __name__ == "__main__":
    main()
