"""The estimated time on 1 to 8 cores of `gap8-cores`, and what is made and moved twice for it."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

from codegen.errors import ScratchpadTooSmall  # noqa: E402
from codegen.ir.plan import Plan  # noqa: E402
from codegen.kernels import select_kernels  # noqa: E402
from codegen.passes import simplify  # noqa: E402
from codegen.pipeline import Options, read_model  # noqa: E402
from codegen.target import Target, load_target  # noqa: E402
from tests.support.networks import network_path  # noqa: E402
from tests.support.real import model_path  # noqa: E402
from tests.support.scratchpad import plan_on_cores  # noqa: E402

CORES = (1, 2, 4, 8)
HEAD = ("network", "cores", "scratchpad B each", "groups", "cycles", "faster", "MACs made twice", "moved B", "DMA busy")


def target(scratchpad_bytes: int, cores: int) -> Target:
    """`gap8-cores` with so many cores and so much scratchpad in all."""
    chip = load_target("gap8-cores")
    assert chip.dma is not None
    sizes = {"scratchpad": scratchpad_bytes, "ram": 1 << 23}
    memories = tuple(replace(m, bytes=sizes.get(m.kind, m.bytes)) for m in chip.memories)
    return replace(chip, memories=memories, dma=replace(chip.dma, cores=cores))


def plans(path: Path, each: int | None) -> Iterator[tuple[int, Plan | None]]:
    """By number of cores; `each` is the scratchpad of a core, or 64 KiB are shared."""
    for cores in CORES:
        chip = target(65536 if each is None else each * cores, cores)
        graph = simplify(read_model(path, Options(target=chip.name), chip))
        try:
            yield cores, plan_on_cores(graph, select_kernels(graph, chip.isa), chip)
        except ScratchpadTooSmall:
            yield cores, None


def lines(name: str, path: Path, each: int | None) -> Iterator[tuple[str, ...]]:
    first = 0
    for cores, plan in plans(path, each):
        if plan is None or plan.scratchpad is None:
            yield name, str(cores), "does not fit", *[""] * 6
            continue
        scratchpad, e = plan.scratchpad, plan.scratchpad.estimate
        first = first or e.cycles
        macs = sum(stage.macs - stage.recomputed_macs for stage in scratchpad.slices)
        again = f"{100 * scratchpad.recomputed_macs / max(1, macs):.1f} %"
        numbers = (f"{scratchpad.bytes:,}", str(len(plan.groups)), f"{e.cycles:,}", f"{first / e.cycles:.2f}")
        yield name, str(cores), *numbers, again, f"{e.moved_bytes:,}", f"{e.dma_cycles / e.cycles:.0%}"


def main() -> None:
    named = {name: model_path(name) for name in ("resnet8_qdq", "kws_qdq", "vww_qdq")}
    named["mobilenet_v2_0.35_144"] = network_path("mobilenet_v2_0.35_144")
    for title, each in (("64 KiB of scratchpad in all", None), ("64 KiB for each core", 65536)):
        print(f"\n{title}\n\n| {' | '.join(HEAD)} |\n|{'---|' * len(HEAD)}")
        for name, path in named.items():
            for row in lines(name, path, each):
                print("| " + " | ".join(row) + " |", flush=True)


if __name__ == "__main__":
    main()
