"""What recomputation saves: arenas of plans in which parts of the network run in strips, and the products they add.

    python benchmarks/recomputed.py [--models mobilenet_v2_0.35_144 vww_qdq] [--most 70] [--target cortex-m4]

The input lies outside the arena and is not counted (`--input-outside`), scratch is.  Prints, for each network, the
plans that no other one beats in both memory and products, those without strips last.  docs/memory.md has the table.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

from benchmarks.memory import CHIP, find_model  # noqa: E402
from codegen import inspect  # noqa: E402


def main(arguments: Sequence[str] | None = None) -> None:
    """Print the front of each network."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--models", nargs="+", default=["mobilenet_v2_0.35_144"])
    parser.add_argument("--most", type=float, default=100, help="per cent of products that may be added")
    parser.add_argument("--target", default=CHIP, help="a chip, or its file")
    given = parser.parse_args(arguments)
    for model in map(find_model, given.models):
        found = inspect(model, given.target, goal="memory", input_outside=True, max_recompute=given.most)
        assert found.plan is not None, "memory is not what these networks lack"
        print(f"\n{model.stem}, {found.macs} products\n")
        least = min(p.peak_bytes for p in found.plan.front if not p.recomputed_macs)
        for point in found.plan.front:
            if point.recomputed_macs or point.peak_bytes == least:
                print(f"{point.peak_bytes:8}  {100 * point.recomputed_macs / (found.macs or 1):+6.1f} %")


if __name__ == "__main__":
    main()
