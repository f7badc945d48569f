"""What mixed bits of weights keep of a network's score when its flash must shrink, through the generated C.

    python benchmarks/mixed.py [MODEL ..] [--shares 1.0,0.65] [--recipe fast] [--target cortex-m55] [--shared ../shared]

The network is quantized with 8 bits; then with weights of 4 or 8 bits per layer, so that its parameters take at most
that share of the bytes that they take with 8 (`--weights mixed --budget flash=`).  Both are scored on samples that no
quantizer sees.  Of each candidate that was looked at the decibels that its layers' own losses add up to stand beside
those that were measured.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

from quantizers import through  # noqa: E402
from quantizing.measures import sqnr  # noqa: E402
from quantizing.tasks import NAMES, Task, Tasks  # noqa: E402

import codegen  # noqa: E402
from codegen.report.mixed import mixed_text  # noqa: E402


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("models", nargs="*", default=["mobilenet_v2"], metavar="MODEL", help=", ".join(NAMES))
    parser.add_argument("--shares", default="0.65", help="of the flash that 8 bits take")
    parser.add_argument("--recipe", default="default")
    parser.add_argument("--target", default="cortex-m55")
    parser.add_argument("--shared", type=Path, default=Path("../shared"))
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        tasks = Tasks(given.shared, Path(folder))
        for name in given.models:
            shares = [float(share) for share in given.shares.split(",")]
            _network(tasks.task(name), shares, given.recipe, given.target, Path(folder))


def _network(task: Task, shares: list[float], recipe: str, target: str, folder: Path) -> None:
    """A row with 8 bits, and one for each share, with the candidates behind it."""
    wanted = through(task.path, task.test, "float")
    print(f"\n{task.name}: float {task.score(wanted, wanted):.4g} {task.measure}, {len(task.test)} samples", flush=True)
    path = folder / f"{task.name}_8.onnx"
    codegen.quantize(task.path, task.calib, path, recipe=recipe, target=target)
    whole = _flash(path, target, folder)
    found = through(path, task.test, "c")
    eight = task.score(found, wanted)
    print(f"8 bits: {eight:.4g}, {sqnr(wanted, found):.2f} dB, {whole:,} B of parameters", flush=True)
    for share in shares:
        path = folder / f"{task.name}_{share}.onnx"
        words = {"weights": "mixed", "budget": {"flash": int(share * whole)}}
        report = codegen.quantize(task.path, task.calib, path, recipe=recipe, target=target, **words).report
        found, flash = through(path, task.test, "c"), _flash(path, target, folder)
        score = task.score(found, wanted)
        print(
            f"{share:.0%} asked: {score:.4g} ({score - eight:+.4g}), {sqnr(wanted, found):.2f} dB, "
            f"{flash:,} B, {flash / whole:.1%}",
            flush=True,
        )
        if report.mixed is not None:
            print(mixed_text(report.mixed), flush=True)


def _flash(path: Path, target: str, folder: Path) -> int:
    """Bytes of the parameters as they are compiled for the target."""
    project = codegen.compile_model(path, target, folder / "c", goal="memory", weights="blob", force=True)
    return int(project.manifest["weights_bytes"])


if __name__ == "__main__":
    main()
