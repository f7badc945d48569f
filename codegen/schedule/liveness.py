"""Which memory each tensor needs and how long: storage roots, and the steps from first write to last read."""

from __future__ import annotations

from dataclasses import dataclass

from codegen.ir.graph import Graph, Node
from codegen.ops import Reshape


@dataclass(frozen=True, slots=True)
class Lifetime:
    """One block of memory: steps [start, stop] inclusive; -1 is before the first node, len(nodes) after the last."""

    root: str
    bytes: int
    start: int
    stop: int

    def overlaps(self, other: Lifetime) -> bool:
        """Whether both must hold their bytes at one time."""
        return self.start <= other.stop and other.start <= self.stop


def is_view(graph: Graph, node: Node) -> bool:
    """Whether the node only renames the memory of a computed tensor."""
    return isinstance(node.op, Reshape) and not graph.values[node.inputs[0]].is_const


def storage_roots(graph: Graph) -> dict[str, str]:
    """For each non-constant value, the value whose memory it uses: views and exact in-place operators share.

    An operator runs in place when it may, and nothing reads the input's memory after it.
    """
    last = _last_reads(graph)
    roots = {v.name: v.name for v in graph.values.values() if not v.is_const}
    members: dict[str, list[str]] = {name: [name] for name in roots}

    def join(value: str, root: str) -> None:
        roots[value] = root
        members[root].append(value)

    for step, node in enumerate(graph.nodes):
        if is_view(graph, node):
            join(node.outputs[0], roots[node.inputs[0]])
            continue
        for index, name in enumerate(node.inputs):
            if graph.values[name].is_const or not _may_overwrite(graph, node, index):
                continue
            root = roots[name]
            others = [i for i in node.inputs if i != name and roots.get(i) == root]
            if not others and node.inputs.count(name) == 1 and max(last[m] for m in members[root]) <= step:
                join(node.outputs[0], root)
                break
    return roots


def _may_overwrite(graph: Graph, node: Node, index: int) -> bool:
    view = graph.view(node)
    return len(node.outputs) == 1 and node.op.in_place(index, view.ins, view.outs)


def _last_reads(graph: Graph) -> dict[str, int]:
    """Step of the last read of each value; len(nodes) for the network's outputs, the own step when never read."""
    last = {name: -1 for name in graph.values}
    for step, node in enumerate(graph.nodes):
        for name in (*node.outputs, *node.inputs):
            last[name] = step
    for name in graph.output_values:
        last[name] = len(graph.nodes)
    return last


def lifetimes(graph: Graph, roots: dict[str, str]) -> list[Lifetime]:
    """One Lifetime per storage root, in the order of first use."""
    last = _last_reads(graph)
    born = {name: -1 for name in roots}
    for step, node in enumerate(graph.nodes):
        for name in node.outputs:
            born[name] = step
    found: dict[str, list[int]] = {}
    for name, root in roots.items():
        start, stop = born[name], last[name]
        old = found.setdefault(root, [start, stop])
        found[root] = [min(old[0], start), max(old[1], stop)]
    size = {root: max(graph.type(n).bytes for n, r in roots.items() if r == root) for root in found}
    return [Lifetime(root, size[root], start, stop) for root, (start, stop) in found.items()]
