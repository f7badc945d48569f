"""sink_reshapes: elementwise operators work before the Reshape, not after it.

What made the tensor and what works on it element by element then stand side by side, where they can be fused or run
row by row, and a Reshape meets the next one, or the Transpose that undoes it.
"""

from __future__ import annotations

import numpy as np

from codegen.ir.graph import Graph, Node
from codegen.ir.quant import TensorType
from codegen.ops import Reshape
from codegen.ops.answers import is_elementwise
from codegen.passes.contract import graph_pass
from codegen.passes.draft import Draft


@graph_pass()
def sink_reshapes(graph: Graph) -> Graph:
    """Turn f(Reshape(x)) into Reshape(f(x)) for elementwise f, and f(Reshape(a), Reshape(b)) where a and b match.

    Only when every Reshape concerned has this one reader.  Constants of one element stay as they are.
    """
    draft = Draft(graph)
    for node in graph.nodes:
        inputs = _before_reshapes(graph, node) if is_elementwise(node.op) else None
        if inputs is None:
            draft.keep(node)
        else:
            _sink(draft, node, inputs)
    return draft.finish()


def _before_reshapes(graph: Graph, node: Node) -> tuple[str, ...] | None:
    """What the node would read without the Reshapes before it, or None when it has to stay."""
    inputs = tuple(_before_reshape(graph, name) for name in node.inputs)
    known = tuple(name for name in inputs if name is not None)
    old, new = _shapes(graph, node.inputs), _shapes(graph, known)
    alike = len(known) == len(inputs) and len(old) == len(new) == 1
    return known if alike and {_together(graph, known)} == new else None


def _together(graph: Graph, names: tuple[str, ...]) -> tuple[int, ...]:
    """The shape of a result over all; a constant of shape (1,) gives an axis to a number that has none."""
    return np.broadcast_shapes(*(graph.type(name).shape for name in names))


def _before_reshape(graph: Graph, name: str) -> str | None:
    before = graph.producers.get(name)
    if _is_scalar(graph, name):
        return name
    return before.inputs[0] if before and isinstance(before.op, Reshape) and graph.sole_user(name) else None


def _is_scalar(graph: Graph, name: str) -> bool:
    """Whether the value is one number that fits a tensor of any shape."""
    return graph.values[name].is_const and graph.type(name).shape in ((), (1,))


def _shapes(graph: Graph, names: tuple[str, ...]) -> set[tuple[int, ...]]:
    return {graph.type(name).shape for name in names if not _is_scalar(graph, name)}


def _sink(draft: Draft, node: Node, inputs: tuple[str, ...]) -> None:
    """Run the node on `inputs` and reshape its result."""
    y = draft.graph.values[node.outputs[0]]
    (shape,) = _shapes(draft.graph, inputs)
    inner = draft.value(f"{y.name}.flat", TensorType(shape, y.type.dtype, y.type.quant))
    draft.rewrite(node, node.op, inputs, [inner])
    draft.insert(Reshape(y.type.shape), [inner], y.name)
