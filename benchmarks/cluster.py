"""How work that is shared scales: the same evaluation, analysis and table by one process, one worker and two workers.

    python benchmarks/cluster.py [--shared DIR] [--repeats N]

Prints seconds as medians, and what two workers take of what one takes; the answers must be equal.
"""

from __future__ import annotations

import argparse
import statistics
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

import codegen  # noqa: E402
from codegen.spread import local_cluster  # noqa: E402

DIGITS = ROOT / "examples" / "digits"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--shared", type=Path, default=Path("../shared"))
    parser.add_argument("--repeats", type=int, default=3)
    given = parser.parse_args()
    print(f"{'work':44}{'here s':>8}{'1 worker s':>12}{'2 workers s':>13}{'2 / 1':>8}")
    for name, work in _works(given.shared).items():
        here, wanted = _timed(lambda work=work: work(None), given.repeats)
        seconds = []
        for workers in (1, 2):
            with local_cluster(workers) as cluster:
                took, found = _timed(lambda work=work, c=cluster: work(c.scheduler_address), given.repeats)
            assert found == wanted, name
            seconds.append(took)
        one, two = seconds
        print(f"{name:44}{here:8.2f}{one:12.2f}{two:13.2f}{two / one:8.2f}", flush=True)


def _works(shared: Path) -> dict[str, Callable[[str | None], Any]]:
    model, data = shared / "models/mlperf_tiny_onnx/resnet8_qdq.onnx", shared / "data/cifar10_test600.npz"
    config = ROOT / "benchmarks/configs/resnet8.toml"
    models = [shared / f"models/mlperf_tiny_onnx/{name}_qdq.onnx" for name in ("kws", "vww")]

    def answers(scheduler: str | None) -> list[tuple[float, str]]:
        found = codegen.evaluate(model, data, engine="golden", config=config, scheduler=scheduler)
        return [(e.value, e.outputs_sha256) for e in found.engines]

    def sensitive(scheduler: str | None) -> Any:
        return codegen.sensitivity(
            DIGITS / "digits.onnx", DIGITS / "digits_calib.npz", by="tensor", scheduler=scheduler
        )

    return {
        "eval of resnet8, 600 images, golden": answers,
        "sensitivity of the digits, every tensor": sensitive,
        "kws and vww on every chip": lambda scheduler: codegen.fits_each(models, scheduler=scheduler),
    }


def _timed(work: Callable[[], Any], repeats: int) -> tuple[float, Any]:
    """The median, after a run that warms the workers up, and what the last run gave."""
    found, seconds = work(), []
    for _ in range(repeats):
        began = time.perf_counter()
        found = work()
        seconds.append(time.perf_counter() - began)
    return statistics.median(seconds), found


if __name__ == "__main__":
    main()
