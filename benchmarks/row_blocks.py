"""What groups would need and take if they advanced several rows per step: the table of docs/scheduler.md.

    python benchmarks/row_blocks.py [--target cortex-m4]

For the groups of the smallest plan: live bytes at the peak, and time by the cost model beside that of one row per step.
With b rows per step a layer asks for the inputs of all b rows before it makes the first one, and keeps them until the
last one is made.  The walk then goes once per step, and layers that take runs of pixels make one call of it; the others
still take one call per row.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

from codegen.ir.plan import NodeNeeds, Plan  # noqa: E402
from codegen.kernels import choose_kernels, kernel_needs  # noqa: E402
from codegen.passes import simplify  # noqa: E402
from codegen.pipeline import Options, read_model  # noqa: E402
from codegen.planning import plan_in_best_order, settled  # noqa: E402
from codegen.schedule.cost import CALL, WALK_STEP, WEIGHT_BYTE, alone  # noqa: E402
from codegen.schedule.demand import Edge, NodeRows, Rows  # noqa: E402
from codegen.schedule.groups import Grouping  # noqa: E402
from codegen.schedule.planner import view_roots  # noqa: E402
from codegen.target import load_target  # noqa: E402
from tests.support.networks import network_path  # noqa: E402

TINY = ROOT.parent / "shared" / "models" / "mlperf_tiny_onnx"
MODELS = ("kws_qdq", "resnet8_qdq", "vww_qdq", "mobilenet_v2_0.35_144")
BLOCKS = (1, 2, 4, 8, 1 << 30)


class BlockRows(Rows):
    """Row facts of nodes that make `block` rows at a time."""

    def __init__(self, rows: Rows, block: int) -> None:
        """`block` rows, or all that there are."""
        super().__init__(rows.graph, rows.barriers, rows.in_place)
        self.block = block

    def _node(self, index: int) -> NodeRows:
        node = super()._node(index)
        if node.barrier or node.accumulates:
            return replace(
                node, edges=tuple(self._asked(e, np.array(e.last), np.array(e.low[:-1])) for e in node.edges)
            )
        steps = np.arange(node.steps)
        first = steps // self.block * self.block
        end = np.minimum(first + self.block, node.steps) - 1
        edges = [self._asked(e, np.maximum.accumulate(e.last)[end], np.array(e.low)[first]) for e in node.edges]
        return replace(node, edges=tuple(edges))

    def _asked(self, edge: Edge, last: np.ndarray, low: np.ndarray) -> Edge:
        """The edge with other rows asked for, whole blocks of them, and kept."""
        rows = self.height[edge.value]
        asked = np.minimum(-(-last // self.block) * self.block, rows) if rows else last
        window = int((np.maximum.accumulate(asked) - low).max(initial=1))
        ends = (*low.tolist(), edge.low[-1])
        return replace(edge, last=tuple(asked.tolist()), low=ends, window=window)


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--target", default="cortex-m4")
    given = parser.parse_args()
    heads = ["network", *(f"{b} row{'s' if b > 1 else ''}" for b in BLOCKS[:-1]), "all rows", "every layer alone"]
    print(f"| {' | '.join(heads)} |\n|---|{'--:|' * (len(heads) - 1)}")
    for name in MODELS:
        path = TINY / f"{name}.onnx"
        print(f"| {name} | {' | '.join(cells(path if path.is_file() else network_path(name), given.target))} |")


def cells(model: Path, target: str) -> list[str]:
    """One line of the table."""
    chip = load_target(target)
    options = settled(Options(target=target, goal="memory"), model)
    graph = simplify(read_model(model, options, chip))
    plan, kernels = plan_in_best_order(graph, choose_kernels(graph, chip), chip, options)
    needs = kernel_needs(plan.graph, kernels)
    views = frozenset(i for i in range(len(plan.graph.nodes)) if i not in needs)
    grouping = Grouping(plan.graph, needs, view_roots(plan.graph, views), "")
    one, base = blocked(plan, needs, grouping, 1)
    assert one == max(point.peak_bytes for point in plan.front if point.chosen)
    found = [f"{one:,} B"]
    for block in BLOCKS[1:]:
        peak, time = blocked(plan, needs, grouping, block)
        found.append(f"{peak:,} B, {percent(time / base - 1)}")
    apart = [grouping.alone[i] for i in needs]
    return [*found, f"{max(c.memory for c in apart):,} B, {percent(sum(c.time for c in apart) / base - 1)}"]


def percent(share: float) -> str:
    """With one decimal, or two where it is little."""
    return f"{100 * share:.{1 if abs(share) >= 0.001 else 2}f} %"


def blocked(plan: Plan, needs: Mapping[int, NodeNeeds], grouping: Grouping, block: int) -> tuple[int, float]:
    """Live bytes at the peak, and time, of the plan's groups."""
    coarse = Grouping(plan.graph, needs, grouping.roots, "")
    coarse.rows = BlockRows(grouping.rows, block)
    peak, time = 0, 0.0
    for group in plan.groups:
        start, stop = min(group.nodes), max(group.nodes) + 1
        which = grouping if stop - start == 1 else coarse
        peak = max(peak, which._candidate(start, stop).memory)
        time += group_time(needs, grouping.rows, group.nodes, block)
    return peak, time


def group_time(needs: Mapping[int, NodeNeeds], rows: Rows, nodes: Sequence[int], block: int) -> float:
    """Units of codegen/schedule/cost.py."""
    if len(nodes) == 1:
        return alone(needs[nodes[0]], rows.nodes[nodes[0]].steps)
    total = 0.0
    for i in nodes:
        steps = rows.nodes[i].steps
        blocks = -(-steps // block)
        calls = blocks if needs[i].one_run else steps
        work = alone(needs[i], 1) - CALL - needs[i].weights_bytes * WEIGHT_BYTE
        total += work + calls * (CALL + needs[i].weights_bytes * WEIGHT_BYTE)
        total += blocks * (nodes[-1] - i + 1) * WALK_STEP
    return total


if __name__ == "__main__":
    main()
