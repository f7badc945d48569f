"""permute_dense: a Dense that reads a flattened, reordered map has its weights reordered instead.

This is where NHWC meets the models' NCHW flattening, and why it costs nothing.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from codegen.ir.graph import Graph, Node
from codegen.ir.quant import Array
from codegen.ops import Dense, Reshape
from codegen.passes.contract import graph_pass
from codegen.passes.draft import Draft
from codegen.passes.movement import LARGEST, MOVEMENT, chain_to, moved_bytes, positions


@graph_pass()
def permute_dense(graph: Graph) -> Graph:
    """Fold data movement before a Dense into the order of its weights' columns.

    Legal when the movement reorders each row of Dense's input within itself, all rows alike, and nothing else reads
    what lies between.  Sums of integers have no order, so the result is the same to the bit.
    """
    draft = Draft(graph)
    for node in graph.nodes:
        if not (isinstance(node.op, Dense) and _fold(draft, node)):
            draft.keep(node)
    return draft.finish()


def _fold(draft: Draft, node: Node) -> bool:
    graph, (x, w, *rest) = draft.graph, node.inputs
    chain, weights = _private_chain(graph, x), graph.values[w].data
    # neighbours that share a factor must stay neighbours
    if weights is None or graph.type(w).block or not any(moved_bytes(n.op, graph.type(n.outputs[0])) for n in chain):
        return False
    source, shape = chain[0].inputs[0], graph.type(x).shape
    order = _row_order(graph, chain)
    if order is None:
        return False
    permuted = np.empty_like(weights)
    permuted[:, order] = weights
    new_w = draft.value(f"{w}.p", graph.type(w), data=permuted)
    new_x = source
    if graph.type(source).shape != shape:
        new_x = draft.value(f"{x}.flat", replace(graph.type(source), shape=shape))
        draft.insert(Reshape(shape), [source], new_x)
    draft.rewrite(node, node.op, [new_x, new_w, *rest])
    return True


def _private_chain(graph: Graph, x: str) -> tuple[Node, ...]:
    """The movement nodes before `x` that only serve it."""
    if x not in graph.producers:
        return ()
    chain = chain_to(graph, graph.producers[x])
    private = [n for i, n in enumerate(chain) if all(graph.sole_user(m.outputs[0]) for m in chain[i:])]
    return tuple(private) if isinstance(graph.producers[x].op, MOVEMENT) else ()


def _row_order(graph: Graph, chain: tuple[Node, ...]) -> Array | None:
    """For each column of the flattened rows the source column it comes from; None when rows mix or differ."""
    x, y = graph.type(chain[0].inputs[0]), graph.type(chain[-1].outputs[0])
    if x.elements != y.elements or x.elements > LARGEST:
        return None
    index = positions(x.shape, tuple(n.op for n in chain)).reshape(-1, y.shape[-1])
    columns = index - np.arange(len(index))[:, None] * y.shape[-1]
    whole = np.array_equal(np.sort(columns[0]), np.arange(y.shape[-1]))
    return columns[0] if whole and bool((columns == columns[0]).all()) else None
