"""go_by_lines: a network with attention goes some lines at a time, instead of by whole matrices.

A row is what lies behind all axes but the last two (codegen/ir/shape.py): of a sequence [1, length, channels] there is
one, and the scores of attention, [heads, length, length], are held whole.  With the length as two axes, some lines in
each row, what is done line by line flows in rings as rows of images do.  What is not stays as it is, between two
Reshapes.  Whether that pays is the scheduler's affair, hence it is not in `PASSES`.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace

from codegen.errors import CompileError
from codegen.ir.graph import Graph, Node
from codegen.ir.op import Op
from codegen.ir.quant import TensorType
from codegen.ir.shape import Shape
from codegen.ops import MatMul, Reshape
from codegen.ops.answers import any_layout, last_axis_stays
from codegen.ops.float32 import FloatMatMul, FloatSoftmax
from codegen.passes.contract import graph_pass
from codegen.passes.draft import Draft

_LEAST = 8
"""Lines of attention that is worth it, and of a row where there are no more."""
_REAL_ROWS, _ROWS, _LINES = 8, 4, 4
"""Rows at least, where there are lines enough; lines of integers, whose kernels may prepare a right side for a row."""


def lines_of(graph: Graph) -> int:
    """How many lines make a row: they divide the length of all attention; 0 where there is none."""
    lengths = _lengths(graph)
    common = math.gcd(*lengths)
    real = not any(isinstance(n.op, MatMul) for n in graph.nodes)
    if not lengths or min(lengths) < _LEAST:
        return 0
    most = max(_LEAST, common // (_REAL_ROWS if real else _ROWS))
    found = next(lines for lines in range(min(most, common), 0, -1) if common % lines == 0)
    return found if found < common and (real or found >= _LINES) else 0


@graph_pass()
def go_by_lines(graph: Graph) -> Graph:
    """Let each operator that works line by line do so on rows of lines, where its result has those of attention.

    Legal for operators along the last axis, for those of each element, and for products, whose lines are the left
    side's: each line is computed as before.
    """
    lines = lines_of(graph)
    if not lines:
        return graph
    draft = _Lined(graph, lines)
    for node in graph.nodes:
        draft.take(node)
    return draft.finished()


def _lengths(graph: Graph) -> frozenset[int]:
    """Lines of the left sides of products of two computed matrices."""
    products = [n for n in graph.nodes if isinstance(n.op, MatMul | FloatMatMul)]
    computed = [n for n in products if not any(graph.values[i].is_const for i in n.inputs)]
    return frozenset(graph.type(n.inputs[0]).shape[-2] for n in computed)


def _right_sides_first(graph: Graph) -> list[Node]:
    """The nodes so that what a node reads first comes last before it: scores are read where they are made."""
    writers = {name: node for node in graph.nodes for name in node.outputs}
    ordered: dict[str, Node] = {}
    stack = list(graph.nodes)
    while stack:
        node = stack[-1]
        missing = [w for name in node.inputs if (w := writers.get(name)) is not None and w.name not in ordered]
        if missing:
            stack.append(missing[-1])
        else:
            ordered.setdefault(node.name, stack.pop())
    return list(ordered.values())


def _layout(op: Op) -> object:
    """What an operator says of the order of axes (`codegen/ops/answers.py`)."""
    return type(op).__dict__.get("in_layout")


class _Lined:
    """The new graph, and which of its values stand for whole tensors of the old one, by rows of lines."""

    def __init__(self, graph: Graph, lines: int) -> None:
        self._draft = Draft(graph)
        self._graph = graph
        self._lines = lines
        self._lengths = _lengths(graph)
        self._lined: dict[str, str] = {}
        self._pending: dict[str, Shape] = {}
        """Old values that only their lined form holds so far."""

    def take(self, node: Node) -> None:
        """Write a node, by rows of lines where that can be."""
        op = self._by_lines(node)
        if op is None:
            for name in node.inputs:
                self._restore(name)
            self._draft.keep(node)
            return
        (y,) = node.outputs
        kind = self._graph.type(y)
        inputs = [self._side(node, i) for i in range(len(node.inputs))]
        made = self._draft.value(f"{y}.lines", replace(kind, shape=self._split(kind.shape)))
        self._draft.rewrite(node, op, inputs, [made])
        self._lined[y] = made
        self._pending[y] = kind.shape

    def finished(self) -> Graph:
        """The graph whose outputs and states are as they were."""
        for name in (*self._graph.output_values, *(s.next for s in self._graph.states)):
            self._restore(name)
        made = self._draft.finish()
        return made if made is self._graph else made.with_nodes(_right_sides_first(made))

    def _by_lines(self, node: Node) -> Op | None:
        """The operator on rows of lines; None where it cannot be, or its result has no lines of attention."""
        if len(node.outputs) != 1:
            return None
        y, op = self._graph.type(node.outputs[0]), node.op
        if not self._is_split(y.shape):
            return None
        if isinstance(op, FloatSoftmax) and op.axis == len(y.shape) - 1:
            op = replace(op, axis=len(y.shape))
        elif not isinstance(op, MatMul | FloatMatMul) and _layout(op) not in (any_layout, last_axis_stays):
            return None
        if not all(self._fits(node, i, y.shape) for i in range(len(node.inputs))):
            return None
        try:
            (made,) = op.infer([self._kind(node, i) for i in range(len(node.inputs))])
        except CompileError:
            return None
        return op if made == replace(y, shape=self._split(y.shape)) else None

    def _fits(self, node: Node, index: int, y: Shape) -> bool:
        """Whether an input has the lines of the result, one for all of them, or none."""
        role, shape = self._role(node, index), self._graph.type(node.inputs[index]).shape
        alike = len(shape) > 1 and shape[-2] == y[-2]
        return role == "aside" or alike or (role == "elements" and (len(shape) < 2 or shape[-2] == 1))

    def _role(self, node: Node, index: int) -> str:
        """What an operator does with an input: with its `lines`, its `elements`, or something `aside`."""
        if _layout(node.op) is any_layout:
            return "elements"
        return "aside" if index else "lines"

    def _kind(self, node: Node, index: int) -> TensorType:
        kind = self._graph.type(node.inputs[index])
        return replace(kind, shape=self._shape(node, index))

    def _shape(self, node: Node, index: int) -> Shape:
        """An input's shape as the operator reads it on rows of lines."""
        shape, role = self._graph.type(node.inputs[index]).shape, self._role(node, index)
        if isinstance(node.op, MatMul | FloatMatMul) and index == 1:
            return (*shape[:-2], 1, *shape[-2:])
        if role == "aside" or len(shape) < 2:
            return shape
        return (*shape[:-1], 1, shape[-1]) if shape[-2] == 1 else self._split(shape)

    def _side(self, node: Node, index: int) -> str:
        """The value that stands for an input there."""
        name, shape = node.inputs[index], self._shape(node, index)
        kind = self._graph.type(name)
        if shape == kind.shape:
            self._restore(name)
            return name
        if name in self._lined and self._draft.values[self._lined[name]].type.shape == shape:
            return self._lined[name]
        self._restore(name)
        value = self._graph.values[name]
        if value.data is not None:
            return self._draft.value(f"{name}.lines", replace(kind, shape=shape), data=value.data.reshape(shape))
        made = self._draft.value(f"{name}.lines", replace(kind, shape=shape))
        self._draft.insert(Reshape(shape), [name], made)
        self._lined.setdefault(name, made)
        return made

    def _restore(self, name: str) -> None:
        """Have a value as it was in the old graph."""
        if name in self._pending:
            self._draft.insert(Reshape(self._pending.pop(name)), [self._lined[name]], name)

    def _is_split(self, shape: Sequence[int]) -> bool:
        return len(shape) > 1 and shape[-2] in self._lengths

    def _split(self, shape: Shape) -> Shape:
        return (*shape[:-2], shape[-2] // self._lines, self._lines, shape[-1])
