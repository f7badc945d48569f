"""Bytes moved and time hidden on chips with a scratchpad, by the target's numbers.  README.md explains the columns."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

from benchmarks.tables import print_markdown  # noqa: E402
from codegen.ir.scratchpad import Estimate  # noqa: E402
from codegen.pipeline import Compiled  # noqa: E402
from tests.support.networks import network_path  # noqa: E402
from tests.support.real import model_path  # noqa: E402
from tests.support.scratchpad import compile_scratchpad  # noqa: E402

TINY = (("resnet8_qdq", 16384), ("vww_qdq", 24576), ("kws_qdq", 16384), ("ad_qdq", 16384))
LARGE = (("mobilenet_v2_1.0_224", 65536), ("mobilenet_v2_0.35_96", 32768))
HEAD = (
    "network", "scratchpad B", "used B", "global B", "groups", "steps", "moved B", "bound B", "moved / bound",
    "compute cycles", "DMA cycles", "all cycles", "all / larger", "DMA hidden",
)  # fmt: skip


def rows() -> Iterator[tuple[str, ...]]:
    """One line per network and size of the scratchpad."""
    for name, size in TINY:
        for scratchpad in (size, 65536):
            yield line(name, compile_scratchpad(model_path(name), scratchpad), scratchpad)
    for name, size in LARGE:
        for scratchpad in (size, 1 << 24):
            yield line(name, compile_scratchpad(network_path(name), scratchpad), scratchpad)


def line(name: str, compiled: Compiled, size: int) -> tuple[str, ...]:
    scratchpad = compiled.plan.scratchpad
    assert scratchpad is not None
    e: Estimate = scratchpad.estimate
    numbers = (
        size,
        scratchpad.bytes,
        compiled.plan.arena_bytes,
        len(compiled.plan.groups),
        len(scratchpad.steps),
        e.moved_bytes,
    )
    ratio, hidden = f"{e.moved_bytes / e.bound_bytes:.2f}", f"{e.hidden:.0%}"
    cycles = (e.compute_cycles, e.dma_cycles, e.cycles)
    over = f"{e.cycles / max(e.compute_cycles, e.dma_cycles):.3f}"
    return name, *(f"{n:,}" for n in (*numbers, e.bound_bytes)), ratio, *(f"{n:,}" for n in cycles), over, hidden


def main() -> None:
    print_markdown(HEAD, rows())


if __name__ == "__main__":
    main()
