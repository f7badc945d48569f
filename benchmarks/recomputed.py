"""What recomputation saves: arenas of plans in which parts of the network run in strips, and the products they add.

    python benchmarks/recomputed.py [--models mobilenet_v2_0.35_144 vww_qdq] [--most 70] [--target cortex-m4]
    python benchmarks/recomputed.py --models unjoined_mobilenet_144 --runs 0-12 13-15 16-21   # counts products

The input lies outside the arena and is not counted (`--input-outside`), scratch is.  Prints, for each network, the
plans that no other one beats in both memory and products, those without strips last.  With `--runs`: the products that
runs of layers add (first-last, counted from 0), each in strips of a single column.  docs/memory.md has the tables.
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
from codegen.ir.graph import Graph  # noqa: E402
from codegen.passes import Part, cut_strips, simplify  # noqa: E402
from codegen.pipeline import Options, read_model  # noqa: E402
from codegen.target import load_target  # noqa: E402


def main(arguments: Sequence[str] | None = None) -> None:
    """Print the front of each network."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--models", nargs="+", default=["mobilenet_v2_0.35_144"])
    parser.add_argument("--most", type=float, default=100, help="per cent of products that may be added")
    parser.add_argument("--target", default=CHIP, help="a chip, or its file")
    parser.add_argument("--runs", nargs="+", help="layers that run together, a column of the last one at a time")
    given = parser.parse_args(arguments)
    for model in map(find_model, given.models):
        if given.runs:
            graph = simplify(read_model(model, Options(target=given.target), load_target(given.target)))
            runs = [(int(first), int(last)) for first, _, last in (run.partition("-") for run in given.runs)]
            print(f"\n{model.stem}: {100 * column_by_column(graph, runs):+.1f} %")
            continue
        found = inspect(model, given.target, goal="memory", input_outside=True, max_recompute=given.most)
        assert found.plan is not None, "memory is not what these networks lack"
        print(f"\n{model.stem}, {found.macs} products\n")
        least = min(p.peak_bytes for p in found.plan.front if not p.recomputed_macs)
        for point in found.plan.front:
            if point.recomputed_macs or point.peak_bytes == least:
                print(f"{point.peak_bytes:8}  {100 * point.recomputed_macs / (found.macs or 1):+6.1f} %")


def column_by_column(graph: Graph, runs: Sequence[tuple[int, int]]) -> float:
    """The share of products that are made again where each run of layers makes a column of its last one at a time."""
    widths = [graph.type(graph.nodes[last].outputs[0]).shape[2] for _, last in runs]
    parts = [Part(first, last + 1, wide) for (first, last), wide in zip(runs, widths, strict=True)]
    return products(cut_strips(graph, parts)[0]) / products(graph) - 1


def products(graph: Graph) -> int:
    """Multiply-accumulates of one inference."""
    return sum(graph.view(node).macs for node in graph.nodes)


if __name__ == "__main__":
    main()
