"""What a translator sees: the tensors read so far, with checks, and the RealGraph being built.

Decides: how the names of a node's inputs are found, and what is refused of them.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from codegen.errors import InputMissing, ModelTooLarge, NotATensor, ParameterDynamic, ShapeMismatch, TypeUnsupported
from codegen.frontends.onnx.nodes import OnnxNode
from codegen.frontends.onnx.real.left_over import axis_behind, is_whole, rows_filled
from codegen.frontends.onnx.tensors import bits_of, decode
from codegen.frontends.real import RealBuilder
from codegen.ir.quant import Array
from codegen.ir.real import RealOp
from codegen.real.engine import numbers_of

Translator = Callable[["Reading", OnnxNode], Sequence[str]]
"""Reads one node: returns the values of its outputs."""
Table = Mapping[tuple[str, str], Translator]
"""What reads an operator, by its domain and name."""
MICROSOFT = "com.microsoft"

_DEEPEST = 8
"""Bodies and functions within each other."""


class Reading(RealBuilder):
    """The graph so far.

    `translators` read its operators; `tensors` are the values that the model's names stand for; `whole` is the model's
    node while its function's body is read.
    """

    def __init__(self, opset: int, translate: Translator, translators: Table) -> None:
        super().__init__()
        self.opset = opset
        self.translators = translators
        self.inlined = 0
        """Nodes of bodies read so far."""
        self._translate = translate
        self._depth = 0
        self.tensors: dict[str, str] = {}
        self.said_bits: Mapping[str, int] = {}
        """Of integers, by the tensor that they mean, as the file's metadata has them."""
        self.scales: Mapping[str, tuple[str, ...]] = {}
        """Of weights of products that are read as those of real numbers, by the result (`dynamic.py`)."""
        self.aligns_by_size = False
        """Whether corners that a Resize aligns are those of the tensors, whatever its factors are."""
        self.whole: OnnxNode | None = None
        self.left_over: dict[str, int] = {}
        """Axes along which rows may be left over, by values that have one."""
        self.filled: dict[str, int] = {}
        """How many rows are there in any case, by values that are selected rows, perhaps filled up."""
        self.sequences: dict[str, tuple[str, ...]] = {}
        """The tensors of sequences, by the constants without elements that stand for these."""

    # Reading inputs

    def optional(self, node: OnnxNode, index: int) -> str | None:
        """The value of one input, or None when it is left out."""
        if index >= len(node.inputs) or not node.inputs[index]:
            return None
        # a function's own optional inputs are names that nothing stands for
        name = self.tensors.get(node.inputs[index])
        if name in self.sequences:
            raise NotATensor.of(f"input '{node.inputs[index]}' is a sequence", node.where)
        return name

    def value(self, node: OnnxNode, index: int) -> str:
        """The value of one required input."""
        name = self.optional(node, index)
        if name is None:
            raise InputMissing(f"input {index} is required", where=node.where)
        return name

    def any_value(self, node: OnnxNode, index: int) -> str:
        """The value of one required input, or what stands for the sequence that it is."""
        name = self.tensors.get(node.inputs[index], "")
        return name if name in self.sequences else self.value(node, index)

    def sequence(self, node: OnnxNode, index: int) -> tuple[str, ...]:
        """The tensors of one required input, which is a sequence."""
        name = self.any_value(node, index)
        if name not in self.sequences:
            raise ShapeMismatch(f"input '{node.inputs[index]}' is a tensor and no sequence", where=node.where)
        return self.sequences[name]

    def new_sequence(self, node: OnnxNode, parts: Sequence[str]) -> str:
        """What stands for a sequence of tensors."""
        name = self.constant(f"{node.outputs[0]}:sequence", np.zeros(0, np.float32))
        self.sequences[name] = tuple(parts)
        return name

    def given(self, node: OnnxNode, required: int | None = None) -> list[str]:
        """The values of all inputs; those behind the first `required` may be left out."""
        first = len(node.inputs) if required is None else required
        rest = (self.optional(node, i) for i in range(first, len(node.inputs)))
        return [*(self.value(node, i) for i in range(first)), *(name for name in rest if name is not None)]

    def kind(self, node: OnnxNode, index: int) -> str:
        """Element type of one input as a word: "float" for every float type, empty for one left out."""
        name = self.tensors.get(node.inputs[index])
        if name is None or name in self.sequences:
            return "" if name is None else "a sequence"
        return "float" if self.type(name).is_real else self.type(name).dtype.name

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
        return self.int_list(node, index)

    def int_list(self, node: OnnxNode, index: int) -> tuple[int, ...]:
        """A list of whole numbers that a required input has."""
        array = self.const(node, index)
        if array.dtype.kind not in "iu" or array.ndim > 1:
            raise ShapeMismatch(f"input '{node.inputs[index]}' is not a list of integers", where=node.where)
        return tuple(int(i) for i in array.reshape(-1))

    def number(self, node: OnnxNode, index: int) -> Any:
        """The one number of a required input, in its own type."""
        array = self.const(node, index)
        if array.size != 1:
            raise ShapeMismatch(f"input '{node.inputs[index]}' has shape {list(array.shape)}", where=node.where)
        return array.reshape(-1)[0]

    def whole_number(self, node: OnnxNode, index: int) -> int:
        """The one number of a required input, which is whole."""
        number = self.number(node, index)
        if not float(number).is_integer():
            raise TypeUnsupported(f"input '{node.inputs[index]}' is not a whole number", where=node.where)
        return int(number)

    def axis(self, node: OnnxNode, value: str, default: int | None = None, name: str = "axis") -> int:
        """The attribute `axis`, not negative; LAM-IMPORT-013 outside the tensor, -014 of a single number."""
        rank = self.rank(value)
        if not rank:
            raise ShapeMismatch("a single number has no axes", where=node.where)
        return node.integer(name, default, low=-rank, high=rank - 1) % rank

    def axes(self, node: OnnxNode, axes: Sequence[int], rank: int) -> tuple[int, ...]:
        """A list of different axes, made not negative; LAM-IMPORT-014 otherwise."""
        settled = tuple(a + rank if a < 0 else a for a in axes)
        if any(not 0 <= a < rank for a in settled) or len(set(settled)) != len(settled):
            raise ShapeMismatch(f"axes {list(axes)} of a tensor of {rank} axes", where=node.where)
        return settled

    def read(self, node: OnnxNode) -> Sequence[str]:
        """The values of the outputs of a node inside another one."""
        self._depth += 1
        try:
            if self._depth > _DEEPEST:
                raise ModelTooLarge(f"bodies within bodies, more than {_DEEPEST} deep", where=node.where)
            return self._translate(self, node)
        finally:
            self._depth -= 1

    # Writing

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
        """The outputs of an operator on values.

        `name` calls what stands inside a translation; without it the outputs are called as the node's.
        """
        names = [f"{node.outputs[0]}:{name}"] if name else [o or f"{node.name}:{i}" for i, o in enumerate(node.outputs)]
        shown = self.whole or node
        tensor = next((o for o in shown.outputs if o), "")
        made = self.write(op, inputs, names, shown, tensor, part=self.whole is not None)
        self._follow(op, inputs, made)
        return made

    def _follow(self, op: RealOp, inputs: Sequence[str], made: Sequence[str]) -> None:
        """Know along which axis of a result rows may be left over; LAM-IMPORT-057 where they do not stay apart."""
        if inputs and inputs[0] in self.filled and self._is_filled(op, inputs[0], made[0]):
            return
        if not self.left_over.keys().isdisjoint(inputs):
            shapes = [self.type(i).shape for i in inputs]
            axis = axis_behind(op, [self.left_over.get(i) for i in inputs], shapes, self.type(made[0]).shape)
            self.left_over[made[0]] = axis

    def _is_filled(self, op: RealOp, rows: str, made: str) -> bool:
        """Whether selected rows are filled up, or cut where they were: then none is left over."""
        axis, known = self.left_over[rows], self.filled[rows]
        count = rows_filled(op, axis)
        if count:
            self.left_over[made], self.filled[made] = axis, count
        return count > 0 or is_whole(op, axis, known)
