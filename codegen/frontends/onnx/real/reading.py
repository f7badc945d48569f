"""What a translator sees: the tensors read so far, with checks, and the RealGraph being built.

Decides: that what depends on constants only is a constant, and that moving a stored constant moves the integers.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from codegen.errors import FoldFailed, InputMissing, ModelTooLarge, ParameterDynamic, ShapeMismatch
from codegen.frontends.builder import MAX_ELEMENTS, MAX_RANK
from codegen.frontends.folding import Budget, evaluated
from codegen.frontends.onnx.nodes import OnnxNode
from codegen.frontends.onnx.tensors import bits_of, decode
from codegen.ir.quant import Array
from codegen.ir.real import RealNode, RealOp, RealType, RealValue, Stored
from codegen.real.engine import numbers_of
from codegen.real.movement import Concat, Expand, Gather, Reshape, Slice, Tile, Transpose

Translator = Callable[["Reading", OnnxNode], Sequence[str]]
"""Reads one node: returns the values of its outputs."""

_MOVING = (Concat, Expand, Gather, Reshape, Slice, Tile, Transpose)


class Reading:
    """The graph so far.  `tensors` are the values that the model's names stand for."""

    def __init__(self, opset: int) -> None:
        self.opset = opset
        self.values: dict[str, RealValue] = {}
        self.nodes: list[RealNode] = []
        self.tensors: dict[str, str] = {}
        self.notes: list[str] = []
        self.bits: dict[str, int] = {}
        """Of constants whose type numpy does not know."""
        self._budget = Budget()

    # Reading inputs

    def optional(self, node: OnnxNode, index: int) -> str | None:
        """The value of one input, or None when it is left out."""
        if index >= len(node.inputs) or not node.inputs[index]:
            return None
        # a function's own optional inputs are names that nothing stands for
        return self.tensors.get(node.inputs[index])

    def value(self, node: OnnxNode, index: int) -> str:
        """The value of one required input."""
        name = self.optional(node, index)
        if name is None:
            raise InputMissing(f"input {index} is required", where=node.where)
        return name

    def given(self, node: OnnxNode, start: int = 0) -> list[str]:
        """All inputs from `start` on that are there."""
        return [self.tensors[name] for name in node.inputs[start:] if name in self.tensors]

    def type(self, value: str) -> RealType:
        """Type of a value."""
        return self.values[value].type

    def rank(self, value: str) -> int:
        """Axes of a value."""
        return len(self.values[value].type.shape)

    def optional_const(self, node: OnnxNode, index: int) -> Array | None:
        """The numbers of one input, which is constant if it is there; LAM-IMPORT-021 otherwise."""
        name = self.optional(node, index)
        if name is None:
            return None
        if self.values[name].data is None:
            raise ParameterDynamic(f"input '{node.inputs[index]}' is not a constant", where=node.where)
        return numbers_of(self.values[name])

    def const(self, node: OnnxNode, index: int) -> Array:
        """The numbers of one required input."""
        self.value(node, index)
        array = self.optional_const(node, index)
        assert array is not None, "a required input is there"
        return array

    def integers(self, node: OnnxNode, index: int, attribute: str) -> tuple[int, ...] | None:
        """A list of whole numbers that newer operator sets pass as an input and older ones as an attribute."""
        array = self.optional_const(node, index)
        if array is None:
            return node.integers(attribute) if node.has(attribute) else None
        if array.dtype.kind not in "iu" or array.ndim > 1:
            raise ShapeMismatch(f"input '{node.inputs[index]}' is not a list of integers", where=node.where)
        return tuple(int(i) for i in array.reshape(-1))

    def axis(self, node: OnnxNode, value: str, default: int | None = None, name: str = "axis") -> int:
        """The attribute `axis`, not negative; LAM-IMPORT-013 outside the tensor."""
        rank = self.rank(value)
        return node.integer(name, default, low=-rank, high=max(rank - 1, 0)) % max(rank, 1)

    def axes(self, node: OnnxNode, axes: Sequence[int], rank: int) -> tuple[int, ...]:
        """A list of different axes, made not negative; LAM-IMPORT-014 otherwise."""
        settled = tuple(a + rank if a < 0 else a for a in axes)
        if any(not 0 <= a < rank for a in settled) or len(set(settled)) != len(settled):
            raise ShapeMismatch(f"axes {list(axes)} of a tensor of {rank} axes", where=node.where)
        return settled

    # Writing

    def constant(self, name: str, array: Array, stored: Stored | None = None) -> str:
        """A new constant; integers where it is stored."""
        kind = RealType(array.shape) if stored else RealType(array.shape, array.dtype)
        return self._add(RealValue(self._unique(name), kind, array, stored))

    def initializer(self, name: str, tensor: Any) -> None:
        """A new constant from the model's file, called as there."""
        value = self.constant(name, decode(tensor, f"constant '{name}'", halves=True))
        self.tensors[name] = value
        if bits_of(tensor.data_type):
            self.bits[value] = bits_of(tensor.data_type)

    def apply(self, op: RealOp, inputs: Sequence[str], node: OnnxNode, name: str = "") -> str:
        """The first output of an operator; see `apply_all`."""
        return self.apply_all(op, inputs, node, name)[0]

    def apply_all(self, op: RealOp, inputs: Sequence[str], node: OnnxNode, name: str = "") -> tuple[str, ...]:
        """The outputs of an operator on values, computed now when all of these are constants.

        `name` calls what stands inside a translation; without it the outputs are called as the node's.
        """
        types = op.infer([self.type(i) for i in inputs])
        for kind in types:
            if math.prod(kind.shape) > MAX_ELEMENTS or len(kind.shape) > MAX_RANK:
                raise ModelTooLarge(f"a tensor of shape {list(kind.shape[: MAX_RANK + 1])}", where=node.where)
        names = [f"{node.outputs[0]}:{name}"] if name else [o or f"{node.name}:{i}" for i, o in enumerate(node.outputs)]
        if inputs and all(self.values[i].data is not None for i in inputs):
            return self._folded(op, inputs, node, names)
        names += [f"{names[0]}:{i}" for i in range(len(names), len(types))]
        outputs = tuple(self._add(RealValue(self._unique(n), t)) for n, t in zip(names, types, strict=False))
        label = outputs[0]
        self.nodes.append(RealNode(label, op, tuple(inputs), outputs, node.name, node.op_type, node.outputs[0]))
        return outputs

    def _folded(self, op: RealOp, inputs: Sequence[str], node: OnnxNode, names: Sequence[str]) -> tuple[str, ...]:
        sources = [self.values[i] for i in inputs]
        first = sources[0]
        if isinstance(op, _MOVING) and first.stored is not None and len(inputs) == 1:
            return (self._moved(op, first, first.stored, names[0]),)
        arrays = [numbers_of(v) for v in sources]
        results = evaluated(lambda: op.evaluate(arrays), lambda: 0, node.where)
        self._budget.charge(results, node.where)
        made = tuple(self.constant(n, a) for n, a in zip(names, results, strict=False))
        if isinstance(op, _MOVING) and inputs[0] in self.bits:
            self.bits[made[0]] = self.bits[inputs[0]]
        return made

    def _moved(self, op: RealOp, value: RealValue, stored: Stored, name: str) -> str:
        """A stored constant moved: its integers, and where each one's scale is."""
        assert value.data is not None, value.name
        shape = value.data.shape
        data, *parts = (
            op.evaluate([part])[0] for part in (value.data, *(np.broadcast_to(s, shape) for s in stored.spread(shape)))
        )
        self._budget.charge([data], value.name)
        return self.constant(name, data, _regathered(stored, *parts))

    def _add(self, value: RealValue) -> str:
        self.values[value.name] = value
        return value.name

    def _unique(self, name: str) -> str:
        if name not in self.values:
            return name
        count = next(i for i in range(1, len(self.values) + 2) if f"{name}.{i}" not in self.values)
        return f"{name}.{count}"

    def note(self, text: str) -> None:
        """Tell the user, once."""
        if text not in self.notes:
            self.notes.append(text)


def _regathered(stored: Stored, scale: Array, zero: Array) -> Stored:
    """The scales of a tensor, each spread over it, as one, as one per entry of an axis, or as they are."""
    flat = [axis for axis in range(scale.ndim) if _varies(scale, axis) or _varies(zero, axis)]
    if len(flat) > 1:
        raise FoldFailed("scales that vary along two axes")
    kept = tuple(slice(None) if axis in flat else 0 for axis in range(scale.ndim))
    axis = flat[0] if flat else None
    return Stored(stored.dtype, scale[kept].reshape(-1), zero[kept].reshape(-1), axis, bits=stored.bits)


def _varies(array: Array, axis: int) -> bool:
    return bool(array.size) and bool((array != array.take([0], axis)).any())
