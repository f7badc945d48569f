"""Bytes moved and time hidden on chips with local memory, by the target's numbers.  README.md explains the columns."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

from codegen.ir.local import Estimate  # noqa: E402
from codegen.pipeline import Compiled  # noqa: E402
from tests.support.networks import network_path  # noqa: E402
from tests.support.real import model_path  # noqa: E402
from tests.support.scratchpad import compile_local  # noqa: E402

TINY = (("resnet8_qdq", 16384), ("vww_qdq", 24576), ("kws_qdq", 16384), ("ad_qdq", 16384))
LARGE = (("mobilenet_v2_1.0_224", 65536), ("mobilenet_v2_0.35_96", 32768))
HEAD = (
    "network", "local B", "used B", "global B", "groups", "steps", "moved B", "bound B", "moved / bound",
    "compute cycles", "DMA cycles", "all cycles", "all / larger", "DMA hidden",
)  # fmt: skip


def rows() -> Iterator[tuple[str, ...]]:
    """One line per network and size of local memory."""
    for name, size in TINY:
        for local in (size, 65536):
            yield line(name, compile_local(model_path(name), local), local)
    for name, size in LARGE:
        for local in (size, 1 << 24):
            yield line(name, compile_local(network_path(name), local), local)


def line(name: str, compiled: Compiled, size: int) -> tuple[str, ...]:
    local = compiled.plan.local
    assert local is not None
    e: Estimate = local.estimate
    numbers = (size, local.bytes, compiled.plan.arena_bytes, len(compiled.plan.groups), len(local.steps), e.moved_bytes)
    ratio, hidden = f"{e.moved_bytes / e.bound_bytes:.2f}", f"{e.hidden:.0%}"
    cycles = (e.compute_cycles, e.dma_cycles, e.cycles)
    over = f"{e.cycles / max(e.compute_cycles, e.dma_cycles):.3f}"
    return name, *(f"{n:,}" for n in (*numbers, e.bound_bytes)), ratio, *(f"{n:,}" for n in cycles), over, hidden


def main() -> None:
    print("| " + " | ".join(HEAD) + " |")
    print("|" + "---|" * len(HEAD))
    for row in rows():
        print("| " + " | ".join(row) + " |", flush=True)


if __name__ == "__main__":
    main()
