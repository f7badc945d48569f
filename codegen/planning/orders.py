"""The orders of a network's operators that compete for the best plan, its forms by lines and on columns among them.

Decides: which candidates there are.  Leaves to `arena` and `scratchpad` which one is taken.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from codegen.errors import ModelRejected
from codegen.ir.form import Form
from codegen.ir.graph import Graph
from codegen.kernels import TABLE, KernelTable, check_target, choose_kernels
from codegen.options import Options
from codegen.passes import go_by_lines, is_wide, lines_of, simplify, turn_sideways
from codegen.planning.asked import choose_goal
from codegen.records import record
from codegen.schedule import order_nodes
from codegen.target import Target

WORD = 4
"""Bytes of a word of the chips, and of a float32 number."""
Ordered = tuple[Graph, dict[int, Form]]
"""A network with its nodes in an order, and the kernel of each node that needs one."""


@record
class Candidates:
    """The orders to choose from, and those that compete where memory is short.

    `lined` is a network with attention by rows of lines, which takes hardly longer.  The others are `turned`, the
    network on columns, and `copying`, with kernels whose outputs may lie over their inputs.
    Where only inputs in words are copied for that (`words`), it takes so little that the default plan may have it too.
    """

    orders: Sequence[Ordered]
    lined: Sequence[Ordered] = ()
    turned: Sequence[Ordered] = ()
    copying: Sequence[Ordered] = ()
    words: Sequence[Ordered] = ()

    @property
    def balanced(self) -> Sequence[Ordered]:
        """Those of which none takes clearly longer for its memory."""
        return [*self.orders, *self.lined, *self.words]

    @property
    def all(self) -> Sequence[Ordered]:
        """Every one."""
        return [*self.balanced, *self.turned, *self.copying]


def candidates(
    graph: Graph, kernels: Mapping[int, Form], target: Target, options: Options, table: KernelTable = TABLE
) -> Candidates:
    """The model's own order of operators and the best one found, upright and turned."""
    copies = {} if target.dma else _copies(graph, kernels, table)
    words = {i: form for i, form in copies.items() if _reads_words(graph, i)}
    return Candidates(
        _orders(graph, kernels),
        _other_orders(go_by_lines(graph), target, options, table) if lines_of(graph) else (),
        _turned_orders(graph, target, options, table),
        _copying_orders(graph, kernels, copies) if len(copies) > len(words) else (),
        _copying_orders(graph, kernels, words) if words else (),
    )


def _orders(graph: Graph, kernels: Mapping[int, Form]) -> list[Ordered]:
    other = order_nodes(graph, frozenset(range(len(graph.nodes))) - frozenset(kernels))
    if other is graph:
        return [(graph, dict(kernels))]
    named = {graph.nodes[i].name: kernel for i, kernel in kernels.items()}
    return [(graph, dict(kernels)), (other, {i: named[n.name] for i, n in enumerate(other.nodes) if n.name in named})]


def _copies(graph: Graph, kernels: Mapping[int, Form], table: KernelTable) -> dict[int, Form]:
    """Kernels by node that take more instructions for outputs over inputs."""
    found = {i: table.copying(graph.view(graph.nodes[i]), form) for i, form in kernels.items()}
    return {i: form for i, form in found.items() if form}


def _reads_words(graph: Graph, index: int) -> bool:
    """Whether each element of a node's inputs is a word: one load and one store, where bytes may take as many each."""
    view = graph.view(graph.nodes[index])
    return all(view.ins[i].dtype.bytes == WORD for i in view.dynamic)


def _copying_orders(graph: Graph, kernels: Mapping[int, Form], copies: Mapping[int, Form]) -> list[Ordered]:
    """The network, as another object, with these kernels in the place of its own."""
    return _orders(replace(graph), {**kernels, **copies})


def _turned_orders(graph: Graph, target: Target, options: Options, table: KernelTable) -> list[Ordered]:
    """The network on columns; none where its images are not wide, come by rows, or the target lacks an operator."""
    if options.stream_input or not is_wide(graph):
        return []
    return _other_orders(simplify(turn_sideways(graph)), target, options, table)


def _other_orders(graph: Graph, target: Target, options: Options, table: KernelTable) -> list[Ordered]:
    """Of another form of the network; none where the target lacks an operator."""
    try:
        check_target(graph, target, table)
        return _orders(graph, choose_kernels(graph, target, table, goal=choose_goal(options, target)))
    except ModelRejected:
        return []
