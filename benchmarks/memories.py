"""Networks on a chip with a fast and a slow working memory, by how much of the fast one they may use.

README.md explains the columns; docs/scheduler.md holds the table.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

from benchmarks.memory import find_model  # noqa: E402
from codegen.pipeline import Options, compile_file  # noqa: E402
from codegen.report.plan import PlanRecord, plan_record  # noqa: E402

CHIP = "esp32s3"
SHARES = (90, 75, 50, 25)
"""Percent of the smallest arena that the fast memory may hold."""
NAMES = ("kws_qdq", "resnet8_qdq", "vww_qdq", "yunet_n_320_qdq", "mobilenet_v2_0.35_144")
HEADERS = ("network", "fast B at most", "arena B", "slow B", "groups", "moved in fast", "in slow", "cost of a byte")


def main(arguments: Sequence[str] | None = None) -> None:
    """Plan, and print a table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--models", nargs="+", default=NAMES, help="names, or files (default: all)")
    given = parser.parse_args(arguments)
    print(f"| {' | '.join(HEADERS)} |")
    print(f"| --- |{' --: |' * (len(HEADERS) - 1)}")
    for model in given.models:
        for row in measure(find_model(model)):
            print(f"| {model} | {' | '.join(row)} |", flush=True)


def measure(model: Path) -> Iterator[tuple[str, ...]]:
    """The columns behind the name, for the smallest arena and for shares of it."""
    whole = _plan(model, Options(target=CHIP, vectors=0, goal="memory"))
    yield _row(whole.arena_bytes, whole)
    for share in SHARES:
        limit = whole.arena_bytes * share // 100
        yield _row(limit, _plan(model, Options(target=CHIP, vectors=0, arena_limit=limit)))


def _plan(model: Path, options: Options) -> PlanRecord:
    made = compile_file(model, options)
    return plan_record(made.plan, made.program, made.shadow)


def _row(limit: int, plan: PlanRecord) -> tuple[str, ...]:
    moved = [m.moved_bytes or 0 for m in plan.memories]
    cost = sum(m.cost * size for m, size in zip(plan.memories, moved, strict=True)) / sum(moved)
    slow = sum(m.bytes for m in plan.memories[1:])
    numbers = (limit, plan.arena_bytes, slow, len(plan.groups), moved[0], sum(moved[1:]))
    return (*(f"{n:,}" for n in numbers), f"{cost:.2f}")


if __name__ == "__main__":
    main()
