"""Grows an ONNX graph: nodes, constants, and the names that values and nodes have there.

Decides: names.  An output has the name that the model's user knows, everything else its value's where that is free.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

import numpy as np
from onnx import AttributeProto, NodeProto, TensorProto, helper, numpy_helper

from codegen.ir.quant import Array
from codegen.ir.real import RealGraph, RealNode, RealType, Spelled

_NARROW = {("i", 4): TensorProto.INT4, ("u", 4): TensorProto.UINT4}
"""Types of two numbers in a byte, by kind and bits."""


class Names:
    """Names of one kind, each given out once."""

    def __init__(self, taken: Iterable[str] = ()) -> None:
        self._taken = set(taken)

    def new(self, wanted: str) -> str:
        """The name, or the first free variation of it."""
        name, number = wanted, 0
        while name in self._taken or not name:
            number += 1
            name = f"{wanted}_{number}"
        self._taken.add(name)
        return name


class Writing:
    """The graph so far.  `opset` is the least operator set that has everything written."""

    def __init__(self, graph: RealGraph, opset: int) -> None:
        self.graph = graph
        self.opset = opset
        self.nodes: list[NodeProto] = []
        self.initializers: list[TensorProto] = []
        self._tensors = Names((*graph.inputs, *(graph.faces or graph.outputs)))
        self._named = {name: name for name in graph.inputs}
        self._operators = Names()
        self.domains: set[str] = set()

    def name(self, value: str) -> str:
        """What a value of the RealGraph is called."""
        if value not in self._named:
            self._named[value] = self._tensors.new(value)
        return self._named[value]

    def rename(self, value: str, name: str) -> None:
        """Call a value by a name that is its own already."""
        self._named[value] = name

    def fresh(self, wanted: str) -> str:
        """A name for a tensor that no value stands for."""
        return self._tensors.new(wanted)

    def type(self, value: str) -> RealType:
        """Type of a value of the RealGraph."""
        return self.graph.type(value)

    def node(
        self, op_type: str, inputs: Sequence[str], outputs: Sequence[str], like: str = "", /, **attributes: Any
    ) -> None:
        """Write a node, called `like` or as its first output; an attribute that is None is left out."""
        node = helper.make_node(op_type, list(inputs), list(outputs), name=self._operators.new(like or outputs[0]))
        given = ((key, value) for key, value in sorted(attributes.items()) if value is not None)
        node.attribute.extend(helper.make_attribute(key, value) for key, value in given)
        self.nodes.append(node)

    def foreign(self, spelled: Spelled, inputs: Sequence[str], outputs: Sequence[str], like: str) -> None:
        """Write a node of another domain; attributes that are protobuf already stay as they are."""
        node = helper.make_node(spelled.name, list(inputs), list(outputs), name=self._operators.new(like))
        node.domain = spelled.domain
        for key, value in sorted(spelled.attributes.items()):
            node.attribute.append(value if isinstance(value, AttributeProto) else helper.make_attribute(key, value))
        self.domains.add(spelled.domain)
        self.nodes.append(node)

    def constant(self, wanted: str, array: Array, bits: int = 0) -> str:
        """The name of a new constant."""
        name = self.fresh(wanted)
        narrow = _NARROW.get((array.dtype.kind, bits))
        made = numpy_helper.from_array(np.ascontiguousarray(array).reshape(array.shape), name)
        self.initializers.append(made if narrow is None else _packed(array, narrow, name))
        return name

    def since(self, opset: int) -> None:
        """Say that something needs an operator set."""
        self.opset = max(self.opset, opset)


def _packed(array: Array, kind: int, name: str) -> TensorProto:
    """Two numbers of four bits in a byte, the first one below."""
    flat = np.append(array.reshape(-1), np.zeros(array.size % 2, array.dtype)).view(np.uint8) & 15
    raw = (flat[::2] | (flat[1::2] << 4)).astype(np.uint8).tobytes()
    return TensorProto(name=name, data_type=kind, dims=array.shape, raw_data=raw)


class Place:
    """One node being written: what it reads and writes by name, and helpers for what stands around its operator."""

    def __init__(self, writing: Writing, node: RealNode) -> None:
        self.writing, self.real = writing, node
        self.inputs = [writing.name(i) for i in node.inputs]
        self.outputs = [writing.name(o) for o in node.outputs]
        self.shape = self.type(0).shape if node.inputs else ()
        """Of the first input, with the channels first where the operator has them so."""

    def type(self, index: int) -> RealType:
        """Type of an input."""
        return self.writing.type(self.real.inputs[index])

    def const(self, array: Array | Sequence[int], what: str) -> str:
        """A constant of this node; a sequence are whole numbers of 64 bits."""
        given = array if isinstance(array, np.ndarray) else np.array(array, np.int64)
        return self.writing.constant(f"{self.outputs[0]}:{what}", given)

    def inner(self, op_type: str, inputs: Sequence[str], what: str, /, **attributes: Any) -> str:
        """The output of a node inside this one."""
        name = self.writing.fresh(f"{self.outputs[0]}:{what}")
        self.writing.node(op_type, inputs, [name], f"{self.real.name}:{what}", **attributes)
        return name

    def write(self, op_type: str, inputs: Sequence[str] | None = None, /, **attributes: Any) -> None:
        """The node itself."""
        given = self.inputs if inputs is None else inputs
        self.writing.node(op_type, given, self.outputs, self.real.name, **attributes)


Spelling = Callable[[Place, Any], None]
"""Writes the nodes of one operator."""
Table = Mapping[type, Spelling]
"""A family's spellings."""


def plainly(op_type: str) -> Spelling:
    """The operator of a name, without attributes."""
    return lambda place, op: place.write(op_type)
