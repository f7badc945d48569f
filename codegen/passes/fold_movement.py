"""fold_movement: a chain of data movement becomes the one operator it amounts to.

A channel shuffle written as Transpose, Reshape, Gather, Reshape, Transpose is found to be a Slice of channels: not
by its pattern but by its effect, as every chain is run on the positions of its source.
"""

from __future__ import annotations

from codegen.ir.graph import Graph, Node
from codegen.ir.op import Op
from codegen.ir.quant import TensorType
from codegen.ops import Gather, Reshape, Slice
from codegen.passes.contract import graph_pass
from codegen.passes.draft import Draft
from codegen.passes.movement import LARGEST, MOVEMENT, chain_to, equal_to, moved_bytes


@graph_pass()
def fold_movement(graph: Graph) -> Graph:
    """Replace chains of Reshape, Transpose, Slice and Gather by at most one of them (and a Reshape, which is a view).

    Only when fewer bytes move, or as many by fewer nodes.  Nodes of the chain that others read stay, and
    are not counted as saved.
    """
    draft = Draft(graph)
    taken: set[str] = set()
    plans: dict[str, tuple[str, tuple[Op, ...]]] = {}
    for node in reversed(graph.nodes):
        if isinstance(node.op, MOVEMENT) and node.name not in taken:
            _plan(graph, node, taken, plans)
    for node in graph.nodes:
        if node.name not in plans:
            draft.keep(node)
        else:
            _write(draft, node, *plans[node.name])
    return draft.finish()


def _plan(graph: Graph, node: Node, taken: set[str], plans: dict[str, tuple[str, tuple[Op, ...]]]) -> None:
    """Find the longest chain down to `node` that is worth replacing; note it, and the nodes that die by it."""
    chain = chain_to(graph, node)
    for first in range(len(chain)):
        part = chain[first:]
        source = part[0].inputs[0]
        ops = _shorter(graph, part)
        if ops is not None:
            plans[node.name] = (source, ops)
            taken.update(n.name for n in _dying(graph, part))
            return


def _dying(graph: Graph, chain: tuple[Node, ...]) -> tuple[Node, ...]:
    """The last nodes of the chain, up to the first whose result somebody else needs."""
    count = 1
    while count < len(chain) and graph.sole_user(chain[-count - 1].outputs[0]) is not None:
        count += 1
    return chain[-count:]


def _shorter(graph: Graph, chain: tuple[Node, ...]) -> tuple[Op, ...] | None:
    """What to run instead of the chain, or None when that is not better than the nodes that would die."""
    x, y = graph.type(chain[0].inputs[0]), graph.type(chain[-1].outputs[0])
    if _is_plain(chain) or x.elements > LARGEST:
        return None
    ops = equal_to(x.shape, tuple(n.op for n in chain))
    if ops is None:
        return None
    dying = _dying(graph, chain)
    spared = sum(moved_bytes(n.op, graph.type(n.outputs[0])) for n in dying)
    cost = sum(moved_bytes(op, y) for op in ops)
    return ops if cost < spared or (cost == spared and _is_simpler(chain, len(dying), ops)) else None


def _is_simpler(chain: tuple[Node, ...], dying: int, ops: tuple[Op, ...]) -> bool:
    """Whether `ops` are fewer nodes than those that die, bypass a shared view, or turn a Gather into a Slice."""
    if len(chain) == 1:
        return isinstance(chain[0].op, Gather) and not any(isinstance(op, Gather) for op in ops)
    through_views = all(isinstance(n.op, Reshape) for n in chain[: len(chain) - dying])
    return len(ops) < dying or (len(ops) == 1 and through_views)


def _is_plain(chain: tuple[Node, ...]) -> bool:
    """Whether the chain is one node that cannot be simpler for its own attributes."""
    return len(chain) == 1 and not isinstance(chain[0].op, Slice | Gather)


def _write(draft: Draft, node: Node, source: str, ops: tuple[Op, ...]) -> None:
    """Run `ops` on `source` in the node's place; without any, `source` takes its place where it may."""
    if not ops and draft.can_replace(node.outputs[0], source):
        draft.replace_value(node.outputs[0], source)
        return
    ops = ops or (Reshape(draft.graph.type(source).shape),)
    inner = source
    for op in ops[:-1]:
        (type_,) = op.infer([draft.graph.type(source)])
        inner = draft.value(f"{node.outputs[0]}.moved", TensorType(type_.shape, type_.dtype, type_.quant))
        draft.insert(op, [source], inner, node.source)
    draft.rewrite(node, ops[-1], [inner])
