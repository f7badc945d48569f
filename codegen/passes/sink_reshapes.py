"""sink_reshapes: elementwise operators work before the Reshape, not after it.

What made the tensor and what works on it element by element then stand side by side, where they can be fused or run
row by row, and a Reshape meets the next one, or the Transpose that undoes it.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from codegen.ir.graph import Graph, Node
from codegen.ir.quant import TensorType
from codegen.ir.shape import Shape
from codegen.ops import Reshape
from codegen.ops.answers import is_elementwise
from codegen.passes.contract import graph_pass
from codegen.passes.draft import Draft


@graph_pass()
def sink_reshapes(graph: Graph) -> Graph:
    """Turn f(Reshape(x)) into Reshape(f(x)) for elementwise f, and f(Reshape(a), Reshape(b)) where a and b match.

    Only when every Reshape concerned has this one reader.  Constants of one element stay as they are.  A Reshape
    passes all elementwise operators behind it in one go.
    """
    work = _Sinking(Draft(graph))
    for node in graph.nodes:
        work.take(node)
    return work.draft.finish()


@dataclass(slots=True)
class _Sinking:
    """The draft, and what each result that a Reshape makes was before it, in the old graph and in the new one."""

    draft: Draft
    flat: dict[str, str] = field(default_factory=dict)

    def take(self, node: Node) -> None:
        """Append the node, before the Reshapes of its inputs where it may stand there."""
        inputs = self._before_reshapes(node) if is_elementwise(node.op) else None
        if inputs is not None:
            self._sink(node, inputs)
            return
        self.draft.keep(node)
        if isinstance(node.op, Reshape):
            self.flat[node.outputs[0]] = node.inputs[0]

    def _before_reshapes(self, node: Node) -> tuple[str, ...] | None:
        """What the node would read without the Reshapes before it, or None when it has to stay."""
        inputs = tuple(self._before_reshape(name) for name in node.inputs)
        known = tuple(name for name in inputs if name is not None)
        old, new = self._shapes(node.inputs), self._shapes(known)
        alike = len(known) == len(inputs) and len(old) == len(new) == 1
        return known if alike and {self._together(known)} == new else None

    def _together(self, names: tuple[str, ...]) -> Shape:
        """The shape of a result over all; a constant of shape (1,) gives an axis to a number that has none."""
        return np.broadcast_shapes(*(self._shape(name) for name in names))

    def _before_reshape(self, name: str) -> str | None:
        if self._is_scalar(name):
            return name
        return self.flat.get(name) if self.draft.graph.sole_user(name) else None

    def _is_scalar(self, name: str) -> bool:
        """Whether the value is one number that fits a tensor of any shape."""
        return self.draft.values[name].is_const and self._shape(name) in ((), (1,))

    def _shape(self, name: str) -> Shape:
        return self.draft.values[name].type.shape

    def _shapes(self, names: tuple[str, ...]) -> set[Shape]:
        return {self._shape(name) for name in names if not self._is_scalar(name)}

    def _sink(self, node: Node, inputs: tuple[str, ...]) -> None:
        """Run the node on `inputs` and reshape its result."""
        y = self.draft.values[node.outputs[0]]
        (shape,) = self._shapes(inputs)
        inner = self.draft.value(f"{y.name}.flat", TensorType(shape, y.type.dtype, y.type.quant))
        self.draft.rewrite(node, node.op, inputs, [inner])
        self.draft.insert(Reshape(y.type.shape), [inner], y.name)
        self.flat[y.name] = inner
