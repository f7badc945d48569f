"""Where states live: for ever, and what one becomes in the same bytes wherever that is safe.

A state's memory holds its old content for all who read it.  Its new content may be written straight over it when they
all have run by then, or when its maker alone still reads and does so in place; otherwise the new content has memory of
its own, and is copied when the run ends.
"""

from __future__ import annotations

from collections.abc import Mapping

from codegen.ir.graph import Graph, State
from codegen.records import record


@record
class Renewal:
    """A state whose new content is written over the old one by node `maker`.

    `new` is the memory that the content would have had, `home` the state's.  No node from `last_reader` up to the maker
    may run in one group with it; None when only the maker reads.
    """

    new: str
    home: str
    maker: int
    last_reader: int | None

    def parts(self, start: int, newest: int) -> bool:
        """Whether nodes `start` to `newest` may not be one group because of it."""
        return self.last_reader is not None and start <= self.last_reader < self.maker == newest


def renewals(graph: Graph, roots: Mapping[str, str], whole: frozenset[int]) -> tuple[Renewal, ...]:
    """The states that are renewed in place.

    Args:
        graph: nodes in the order in which they run.
        roots: the value that owns each computed value's memory; a view's is its source's.
        whole: nodes that only rename memory, or whose kernel takes whole tensors at once.
    """
    makers = {roots[out]: i for i, node in enumerate(graph.nodes) for out in node.outputs if roots[out] == out}
    found: dict[str, Renewal] = {}
    for state in graph.states:
        renewal = _renewal(graph, roots, whole, makers, state)
        if renewal is not None:
            found.setdefault(renewal.new, renewal)
    return tuple(found.values())


def _renewal(
    graph: Graph, roots: Mapping[str, str], whole: frozenset[int], makers: Mapping[str, int], state: State
) -> Renewal | None:
    home, new = roots[state.value], roots[state.next]
    if new not in makers or any(roots[name] == home for name in graph.output_values):
        return None
    maker = makers[new]
    readers = [i for i, n in enumerate(graph.nodes) if _computes(graph, roots, i) and home in map(roots.get, n.inputs)]
    if max(readers, default=-1) > maker or (maker in readers and not _over_itself(graph, roots, whole, maker, home)):
        return None
    return Renewal(new, home, maker, max((i for i in readers if i < maker), default=None))


def _computes(graph: Graph, roots: Mapping[str, str], index: int) -> bool:
    """Whether the node is more than another name for its input."""
    return any(roots[out] == out for out in graph.nodes[index].outputs)


def _over_itself(graph: Graph, roots: Mapping[str, str], whole: frozenset[int], index: int, home: str) -> bool:
    """Whether the node reads each element of the state, row by row or all at once, before it writes the new one."""
    node, view = graph.nodes[index], graph.view(graph.nodes[index])
    places = [i for i, name in enumerate(node.inputs) if roots.get(name) == home]
    in_place = all(view.op.in_place(i, view.ins, view.outs) for i in places)
    return in_place and (index in whole or all(view.op.rows(i, view.ins, view.outs).is_same for i in places))
