"""A model's tensors as its operators name them, with what is known of their numbers so far.

Decides: nothing about arithmetic; what is refused is an input that is missing, or not known where it must be.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import replace

from codegen.errors import InputMissing, ParameterDynamic, ShapeMismatch
from codegen.frontends.tflite.nodes import TfliteNode
from codegen.frontends.tflite.reader import Subgraph, Tensor
from codegen.frontends.tflite.variables import Variables
from codegen.ir.quant import Array


class Tensors:
    """The records of a model's tensors; `values` are what the graph being built calls those that have been read."""

    def __init__(self, graphs: Sequence[Subgraph]) -> None:
        self.graph = graphs[0]
        self.variables = Variables(graphs)
        self.values: dict[int, str] = {}
        self._known: dict[int, Tensor] = {}
        self.notes: list[str] = []

    def has(self, node: TfliteNode, index: int) -> bool:
        """Whether an optional input is given."""
        return index < len(node.inputs) and node.inputs[index] >= 0

    def tensor(self, node: TfliteNode, index: int) -> Tensor:
        """The record of a required input."""
        if not self.has(node, index):
            raise InputMissing(f"input {index} is required", where=node.where)
        return self.record(node.inputs[index])

    def record(self, place: int) -> Tensor:
        """A tensor, with its numbers where they are known by now."""
        return self._known.get(place, self.graph.tensors[place])

    def result(self, node: TfliteNode, index: int = 0) -> Tensor:
        """The record of an output."""
        if index >= len(node.outputs) or node.outputs[index] < 0:
            raise InputMissing(f"output {index} is required", where=node.where)
        return self.graph.tensors[node.outputs[index]]

    def constant(self, node: TfliteNode, index: int) -> Array:
        """Numbers of an input that must be known now."""
        tensor = self.tensor(node, index)
        if tensor.data is None:
            raise ParameterDynamic(f"input '{tensor.name}' is not a constant", where=node.where)
        return tensor.data

    def int_list(self, node: TfliteNode, index: int) -> tuple[int, ...]:
        """A constant list of integers."""
        array = self.constant(node, index)
        if array.dtype.kind not in "iu" or array.ndim > 1:
            raise ShapeMismatch(f"input '{self.tensor(node, index).name}' is not a list of integers", where=node.where)
        return tuple(int(i) for i in array.reshape(-1))

    def whole_number(self, node: TfliteNode, index: int) -> int:
        """A constant of one whole number."""
        found = self.constant(node, index)
        if found.size != 1 or found.dtype.kind not in "iub":
            raise ShapeMismatch(f"input {index} of shape {list(found.shape)} is not one whole number", where=node.where)
        return int(found.reshape(-1)[0])

    def plain_constants(self, node: TfliteNode) -> list[Array] | None:
        """The numbers of all inputs when they are constants without a scale; None when they are not."""
        records = [self.record(place) for place in node.inputs if place >= 0]
        found = [t.data for t in records if t.data is not None and not t.scale.size]
        return found if found and len(found) == len(node.inputs) else None

    def is_written(self, place: int) -> bool:
        """Whether a tensor has its numbers already."""
        return place in self.values or place in self._known

    def know(self, node: TfliteNode, array: Array, index: int = 0) -> None:
        """Say what an output's numbers are; its shape follows them, as it does when TFLite runs."""
        tensor = self.result(node, index)
        self._known[tensor.index] = replace(tensor, shape=array.shape, data=array, problem=None)

    def note(self, text: str) -> None:
        """Tell the user, once."""
        if text not in self.notes:
            self.notes.append(text)


def free_name(tensor: Tensor, names: Collection[str]) -> str:
    """A tensor that is given out twice has another name the second time."""
    return tensor.name if tensor.name not in names else f"{tensor.name}:{len(names)}"
