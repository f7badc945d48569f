"""Estimated cycles of MLPerf Tiny's networks on chips, beside what other engines took on boards with the same chips.

    python benchmarks/boards.py [--shared DIR]

Nothing is built or run.  The engines are others, so a ratio is not an error of the estimate: what agrees is that an
engine which needs about as many instructions takes about as many cycles.  Sources: MLPerf Tiny's result logs.

Of an engine whose instructions were counted (peers.toml) the model itself is checked: its instructions times the cycles
that one takes by the estimate of the same network on the same chip, waits for flash included, over the board's cycles.
"""

from __future__ import annotations

import argparse
import sys
import tomllib
from dataclasses import dataclass
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

import codegen

NETWORKS = ("resnet8", "kws", "vww", "ad")


@dataclass(frozen=True)
class Board:
    """A chip, who ran what on it, and millions of cycles: inferences a second times the clock."""

    chip: str
    engine: str
    cycles: tuple[float | None, ...]


BOARDS = (
    Board("stm32l4r5zi", "X-CUBE-AI 10.2, IAR (MLPerf Tiny v1.3)", (19.88, 5.21, 10.73, 0.575)),
    Board("stm32l4r5zi", "X-CUBE-AI 8.1, GCC (MLPerf Tiny v1.1)", (None, None, 14.24, None)),
    Board("stm32l4r5zi", "Plumerai (earlier rounds)", (20.1, 5.7, 11.8, 0.49)),
    Board("stm32u575zi", "X-CUBE-AI 10.2, IAR (MLPerf Tiny v1.3)", (17.52, 4.64, 9.48, None)),
    Board("stm32h7a3zi", "X-CUBE-AI 9 (MLPerf Tiny), 280 MHz", (11.42, 3.16, 6.66, 0.344)),
)

COUNTED = Board(
    "stm32l4r5zi",
    "CMSIS-NN by microTVM (MLPerf Tiny v1.0, OctoML)",
    (120 / 2.567, 120 / 10.019, 120 / 3.32, 120 / 116.212),
)
"""At 120 MHz; the logs stand in mlcommons/tiny_results_v1.0, closed/OctoML/results/microtvm_cmsis_nn/NUCLEO_L4R5ZI."""


def main() -> None:
    """Print a row for each board, and the ratios."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--shared", type=Path, default=Path("../shared"))
    models = parser.parse_args().shared / "models" / "mlperf_tiny"
    print(f"{'chip':14}{'engine':42}" + "".join(f"{name:>24}" for name in NETWORKS))
    print(f"{'':56}" + f"{'board':>8}{'est.':>8}{'ratio':>8}" * len(NETWORKS))
    for board in BOARDS:
        found = [codegen.profile(models / f"{n}_int8.tflite", board.chip, estimate=True) for n in NETWORKS]
        print(f"{board.chip:14}{board.engine:42}" + "".join(map(_cell, board.cycles, found)), flush=True)
    print(f"\n{COUNTED.chip}, {COUNTED.engine}: its counted instructions, by our cycles for each, over the board's")
    peer = tomllib.loads((Path(__file__).parent / "peers.toml").read_text())["cortex-m4"]
    for name, known in zip(NETWORKS, COUNTED.cycles, strict=True):
        found = codegen.profile(models / f"{name}_int8.tflite", COUNTED.chip, estimate=True)
        told = by_the_model(found, peer[name]) / 1e6
        print(f"{name:10}{known or 0:8.3g}{told:8.3g}{told / (known or 1):8.2f}", flush=True)


def by_the_model(found: codegen.api.Profile, instructions: int) -> float:
    """Cycles of so many instructions, each of them taking what one of the estimate takes."""
    return instructions * (found.estimated_cycles or 0) / (found.estimated_instructions or 1)


def _cell(known: float | None, found: codegen.api.Profile) -> str:
    made = (found.estimated_cycles or 0) / 1e6
    return f"{'-':>8}{made:8.3g}{'-':>8}" if known is None else f"{known:8.3g}{made:8.3g}{made / known:8.2f}"


if __name__ == "__main__":
    main()
