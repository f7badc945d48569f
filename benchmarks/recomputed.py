"""What recomputation would save: parts of the network strip by strip, the first from input that can be read again.

    python benchmarks/recomputed.py [--models mobilenet_v2_0.35_144] [--most 70]

A part ends with a tensor that alone crosses to the rest, and is made in vertical strips: rows flow as in any group,
with a halo of columns that neighbouring strips both compute.  One such part, or two; the rest runs as planned today,
with the tensor between as its input.  Counted are the tensors at a part's ends (of the first only its own), the rings
of the widest strip, the rows of the input that it reads, and the arena of the rest; scratch of parts is not.  Prints
what no other choice beats in memory and products.  docs/memory.md has the table.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cache
from itertools import combinations
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

from benchmarks.memory import CHIP, find_model  # noqa: E402
from codegen.ir.graph import Graph, Interface  # noqa: E402
from codegen.ir.shape import Window  # noqa: E402
from codegen.kernels import choose_kernels  # noqa: E402
from codegen.passes import simplify  # noqa: E402
from codegen.pipeline import Options, read_model  # noqa: E402
from codegen.planning import plan_in_best_order  # noqa: E402
from codegen.schedule.demand import Process, Rows  # noqa: E402
from codegen.target import Target, load_target  # noqa: E402

Span = tuple[int, int]


def main(arguments: Sequence[str] | None = None) -> None:
    """Print the front of each network."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--models", nargs="+", default=["mobilenet_v2_0.35_144"])
    parser.add_argument("--most", type=int, default=100, help="per cent of products that may be added")
    given = parser.parse_args(arguments)
    chip = load_target(CHIP)
    target = replace(chip, memories=tuple(replace(m, bytes=None) for m in chip.memories))
    for model in map(find_model, given.models):
        graph = simplify(read_model(model, Options(target=CHIP), target))
        print(f"\n{model.stem}\n")
        for bytes_, added, parts in front(points(Parts(graph, target), given.most)):
            print(f"{bytes_:6}  {100 * added:+6.1f} %  {parts}")


Point = tuple[int, float, str]


def front(found: Iterator[Point]) -> Iterator[Point]:
    """Those that no other one beats, the fewest products first."""
    least = 1 << 62
    for point in sorted(found, key=lambda p: (round(p[1], 6), p[0])):
        if point[0] < least:
            least = point[0]
            yield point


class Parts:
    """The cuts of a network, and what lies between them."""

    def __init__(self, graph: Graph, target: Target) -> None:
        """Nothing is planned yet."""
        self.graph, self.target, self.rows = graph, target, Rows(graph, frozenset())
        views = [graph.view(node) for node in graph.nodes]
        self.macs = [view.op.macs(view.ins, view.outs) for view in views]
        (self.source,) = graph.inputs
        whole = next(i for i, node in enumerate(self.rows.nodes) if node.barrier or node.accumulates)
        self.cuts = {end: name for end in range(1, whole) if (name := cut(graph, end))}
        self.rest = cache(self._rest)

    def strips(self, start: int, end: int) -> Iterator[tuple[int, float, int]]:
        """Bytes and added products (of all of the network's) of a part, for each number of strips."""
        streamed = "" if start else self.source.value
        rings = Process(self.rows, range(start, end), [end - 1], streamed, frozenset()).run().rings
        held = self.graph.type(self.cuts[start]).bytes if start else 0
        for strips in range(1, self.graph.type(self.cuts[end]).shape[2] + 1):
            first, made = strip_bytes(self.graph, range(start, end), self.cuts[end], strips, rings, self.macs)
            yield held + first, (made - sum(self.macs[start:end])) / sum(self.macs), strips

    def _rest(self, end: int) -> int:
        return rest_bytes(self.graph, end, self.cuts[end], self.target)


def points(parts: Parts, most: int) -> Iterator[Point]:
    """Every choice of one part or two."""
    shown = parts.cuts
    for end in parts.cuts:
        for first, added, strips in parts.strips(0, end):
            if 100 * added <= most:
                yield max(first, parts.rest(end)), added, f"{strips} to {shown[end]}"
    for middle, end in combinations(parts.cuts, 2):
        second = list(front((b, a, str(n)) for b, a, n in parts.strips(middle, end)))
        for first, added, strips in front((b, a, str(n)) for b, a, n in parts.strips(0, middle)):
            for later, more, again in second:
                if 100 * (added + more) <= most:
                    bytes_ = max(first, later, parts.rest(end))
                    yield bytes_, added + more, f"{strips} to {shown[middle]}, {again} to {shown[end]}"


def cut(graph: Graph, end: int) -> str | None:
    """The one tensor that nodes from `end` on read of those before it, made by the last of these."""
    made = {out for node in graph.nodes[:end] for out in node.outputs}
    read = {name for node in graph.nodes[end:] for name in node.inputs}
    crossing = (made | {i.value for i in graph.inputs}) & read
    return next(iter(crossing)) if crossing == set(graph.nodes[end - 1].outputs) else None


def strip_bytes(
    graph: Graph, part: range, crossing: str, strips: int, rings: Mapping[str, int], macs: Sequence[int]
) -> tuple[int, float]:
    """Bytes of the tensor and the rings of the widest strip; products of all strips."""
    width, widest, made = graph.type(crossing).shape[2], dict[str, int](), 0.0
    for k in range(strips):
        spans: dict[str, Span] = {crossing: (width * k // strips, width * (k + 1) // strips)}
        for i in reversed(part):
            view = graph.view(graph.nodes[i])
            low, high = spans[graph.nodes[i].outputs[0]]
            made += macs[i] * (high - low) / view.outs[0].shape[2]
            for j in view.dynamic:
                name = graph.nodes[i].inputs[j]
                a, b = columns(getattr(view.op, "w", Window(1)), low, high, graph.type(name).shape[2])
                old = spans.get(name, (a, b))
                spans[name] = min(a, old[0]), max(b, old[1])
        for name, (low, high) in spans.items():
            widest[name] = max(widest.get(name, 0), high - low)
    held = sum(
        ring * graph.type(name).bytes // (graph.type(name).shape[1] * graph.type(name).shape[2]) * widest[name]
        for name, ring in rings.items()
    )
    return graph.type(crossing).bytes + held, made


def columns(w: Window, low: int, high: int, width: int) -> Span:
    """The columns that outputs low .. high read."""
    return max(0, low * w.stride - w.pad_before), min(width, (high - 1) * w.stride - w.pad_before + w.extent)


def rest_bytes(graph: Graph, end: int, crossing: str, target: Target) -> int:
    """The arena of what follows, the tensor included, as it is planned today."""
    (source,) = graph.inputs
    rest = replace(graph, nodes=graph.nodes[end:], inputs=(renamed(source, crossing),))
    used = {name for node in rest.nodes for name in (*node.inputs, *node.outputs)}
    rest = replace(rest, values={name: value for name, value in graph.values.items() if name in used})
    kernels = choose_kernels(rest, target, goal="memory")
    return plan_in_best_order(rest, kernels, target, Options(target=CHIP, goal="memory"))[0].arena_bytes


def renamed(face: Interface, value: str) -> Interface:
    """The interface with another value behind it."""
    return replace(face, value=value)


if __name__ == "__main__":
    main()
