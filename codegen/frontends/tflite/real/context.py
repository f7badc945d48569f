"""What a translator sees: the tensors of its operator as values, and the RealGraph being built.

Decides: that every result has the shape and type that the file gives it, and is held as the file says.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

import numpy as np

from codegen.errors import FormUnsupported, InputMissing, InputsDoNotFit, ResultNotQuantized, ShapeMismatch
from codegen.frontends.real import RealBuilder
from codegen.frontends.tflite.nodes import TfliteNode
from codegen.frontends.tflite.reader import Subgraph
from codegen.frontends.tflite.records import real_type, stored_of
from codegen.frontends.tflite.tensors import Tensors
from codegen.ir.quant import Array
from codegen.ir.real import RealOp, RealType, RealValue, Stored
from codegen.ir.shape import Shape
from codegen.real.engine import numbers_of
from codegen.real.movement import Reshape
from codegen.real.storage import Dequantize, Quantize
from codegen.settle.tflite.records import dtype_of

Translator = Callable[["RealContext", TfliteNode], None]
"""Reads one operator: writes its outputs with `RealContext.write`."""
Table = Mapping[str, Translator]
"""What reads an operator, by its name."""
Versions = Mapping[str, int]
"""The newest version of an operator, where that is not 1.  Source: tensorflow/lite/core/kernels/register.cc."""

_QUANTIZED = ("int8", "uint8", "int16", "int32")


class RealContext(Tensors):
    """The values of all tensors so far, and the graph so far."""

    def __init__(self, graphs: Sequence[Subgraph], *, folds_stored: bool = True) -> None:
        super().__init__(graphs)
        self.folds_stored = folds_stored
        self.builder = RealBuilder(folds_stored=folds_stored)

    # Reading inputs

    def value(self, node: TfliteNode, index: int) -> str:
        """The graph's value for an input; a constant becomes one when it is first read."""
        self.tensor(node, index)
        return self.value_of(node.inputs[index], node.where)

    def values_of(self, node: TfliteNode) -> list[str]:
        """Those of all inputs."""
        return [self.value(node, i) for i in range(len(node.inputs))]

    def value_of(self, place: int, where: str) -> str:
        """The graph's value for a tensor."""
        if place not in self.values:
            tensor = self.record(place)
            if tensor.data is None:  # a variable tensor, which only operators that keep one read
                raise InputMissing(f"nothing has written its input '{tensor.name}'", where=where)
            real_type(tensor, where)
            self.values[place] = self.builder.constant(tensor.name, tensor.data, stored_of(tensor, where))
        return self.values[place]

    def type(self, node: TfliteNode, index: int) -> RealType:
        """Shape and element type of an input."""
        return self.builder.type(self.value(node, index))

    def shape(self, node: TfliteNode, index: int) -> Shape:
        """Shape of an input."""
        return self.type(node, index).shape

    def stored(self, value: str) -> Stored | None:
        """How a value is held."""
        return self.builder.values[value].stored

    def number(self, node: TfliteNode, index: int) -> float:
        """A constant of one element, as the real number that it is."""
        self.constant(node, index)
        array = numbers_of(self.builder.values[self.value(node, index)])
        if array.size != 1:
            raise ShapeMismatch(f"a tensor of shape {list(array.shape)} where one number is expected", where=node.where)
        return float(array.reshape(-1)[0])

    # Writing nodes

    def constant_value(self, node: TfliteNode, what: str, array: Array, stored: Stored | None = None) -> str:
        """Numbers that the translation made, as a value."""
        return self.builder.constant(f"{node.output_name}:{what}", array, stored)

    def apply(self, node: TfliteNode, op: RealOp, inputs: Sequence[str], what: str = "") -> str:
        """An operator whose result is no tensor of the model."""
        name = f"{node.output_name}:{what or type(op).__name__.lower()}"
        return self.written(node, op, inputs, [name])[0]

    def reshaped(self, node: TfliteNode, value: str, shape: Shape, what: str = "reshape") -> str:
        """The value in another shape, itself when it has it already."""
        if self.builder.type(value).shape == shape:
            return value
        return self.apply(node, Reshape(shape), [value], what)

    def write(
        self, node: TfliteNode, op: RealOp, inputs: Sequence[str], index: int = 0, *, post: Sequence[RealOp] = ()
    ) -> None:
        """An operator, and others behind it, that make an output."""
        tensor, operands = self.result(node, index), list(inputs)
        *inner, last = (op, *post)
        for one in inner:
            name = f"{tensor.name}:{type(one).__name__.lower()}"
            operands = list(self.written(node, one, operands, [name], tensor.name)[:1])
        stored = stored_of(tensor, node.where)
        self.bind(node, self.written(node, last, operands, [tensor.name], tensor.name, stored)[0], index)

    def written(
        self,
        node: TfliteNode,
        op: RealOp,
        inputs: Sequence[str],
        names: Sequence[str],
        tensor: str = "",
        stored: Stored | None = None,
    ) -> tuple[str, ...]:
        """The results of an operator; LAM-OPS-001 where its inputs do not fit.  `tensor` is the model's, if any."""
        try:
            return self.builder.write(op, inputs, names, node, tensor, stored)
        except ShapeMismatch as error:
            if error.where:
                raise
            raise InputsDoNotFit(error.found, where=node.where) from error

    def write_keeping(
        self,
        node: TfliteNode,
        op: RealOp,
        inputs: Sequence[str],
        kept: Sequence[str],
        states: Sequence[str],
        post: Sequence[RealOp] = (),
    ) -> tuple[str, ...]:
        """An operator that makes an output and what it keeps for the next run, held as `states` are: the latter."""
        tensor, stored = self.result(node), stored_of(self.result(node), node.where)
        name = f"{tensor.name}:{type(op).__name__.lower()}" if post else tensor.name
        names = (name, *(f"{tensor.name}:{what}" for what in kept))
        value, *others = self.written(node, op, inputs, names, tensor.name, stored)
        for other, state in zip(others, states, strict=True):
            self.builder.values[other] = replace(self.builder.values[other], stored=self.stored(state))
        for one in post:
            (value,) = self.written(node, one, [value], [tensor.name], tensor.name)
        self.bind(node, value)
        return tuple(others)

    def as_it_is(self, node: TfliteNode, value: str, stored: Stored | None) -> str:
        """The same integers read as `stored` says; whatever holds them."""
        held = self.stored(value)
        if held is None or stored is None or _alike(held, stored):
            return value
        whole = self.apply(node, Quantize(held), [value], "integers")
        return self.written(node, Dequantize(stored), [whole], [f"{node.output_name}:read"], "", stored)[0]

    def bind(self, node: TfliteNode, value: str, index: int = 0) -> None:
        """Say that a value is an output, when it fits the output's record; LAM-IMPORT-014 when it does not."""
        tensor, found = self.result(node, index), self.builder.type(value)
        wanted = real_type(tensor, node.where)
        if not self.folds_stored:
            dtype_of(RealValue(tensor.name, wanted, stored=stored_of(tensor, node.where)), node.where)
        if (found.shape, found.dtype) != (wanted.shape, wanted.dtype):
            kind = tensor.kind if found.dtype == wanted.dtype else found.dtype
            told = f"{tensor.kind}{list(tensor.shape)} in the file, computed is {kind}{list(found.shape)}"
            if found.shape == wanted.shape and found.is_real != wanted.is_real:
                given, own = ("without", "with") if found.is_real else ("with", "without")
                told = f"{tensor.kind} {given} a scale in the file, computed are numbers {own} one"
            raise ShapeMismatch(told, where=node.where, hint="convert the model again")
        self.values[tensor.index] = self._as_held(value, stored_of(tensor, node.where))
        made = self.builder.values[self.values[tensor.index]]
        if made.data is not None and made.stored is None:
            self.know(node, made.data, index)

    def _as_held(self, value: str, stored: Stored | None) -> str:
        """A constant that was computed in real numbers, as the integers that its record asks for."""
        known = self.builder.values[value]
        if known.data is None or known.stored is not None or stored is None:
            return value
        return self.builder.constant(value, Quantize(stored).evaluate([known.data])[0], stored)

    # What translators ask for

    def of_one_type(self, node: TfliteNode, kinds: str = "fiub") -> None:
        """LAM-IMPORT-022 unless the inputs have one element type, of one of numpy's `kinds`."""
        of_reals = kinds == "f" or any(self.type(node, i).is_real for i in range(len(node.inputs)) if self.has(node, i))
        for index in range(len(node.inputs)):
            self._with_scale(node, index, "f" if of_reals else kinds)
        found = {self.type(node, i).dtype for i in range(len(node.inputs)) if self.has(node, i)}
        if len(found) != 1 or any(d.kind not in kinds for d in found):
            spoken = " and ".join(sorted(map(str, found)))
            raise FormUnsupported(f"{node.op_type} of {spoken}", where=node.where)

    def of_one_kind(self, node: TfliteNode, index: int, kinds: str) -> None:
        """LAM-IMPORT-022 unless an input is of one of numpy's `kinds`."""
        self._with_scale(node, index, kinds)
        found = self.type(node, index).dtype
        if found.kind not in kinds:
            raise FormUnsupported(f"{node.op_type} of {found}", where=node.where)

    def not_quantized(self, node: TfliteNode, index: int) -> None:
        """LAM-IMPORT-022 for integers with a scale, of which the operator has no form here."""
        if self.stored(self.value(node, index)) is not None:
            raise FormUnsupported(f"{node.op_type} of {self.tensor(node, index).kind}", where=node.where)

    def _with_scale(self, node: TfliteNode, index: int, kinds: str) -> None:
        """LAM-IMPORT-020 for integers without a scale where real numbers are expected."""
        if kinds == "f" and self.has(node, index) and self.type(node, index).dtype.name in _QUANTIZED:
            tensor = self.tensor(node, index)
            hint = "quantize the whole model: full-integer post-training quantization"
            raise ResultNotQuantized(f"{tensor.where} ({tensor.kind}) has no scale", where=node.where, hint=hint)

    def whole_result(self, node: TfliteNode, index: int = 0) -> str:
        """The type of an output of places or counts."""
        kind = self.result(node, index).kind
        if kind not in ("int16", "int32", "int64"):
            raise FormUnsupported(f"places as {kind}", where=node.where)
        return kind


def _alike(a: Stored, b: Stored) -> bool:
    return a.dtype == b.dtype and np.array_equal(a.scale, b.scale) and np.array_equal(a.zero_point, b.zero_point)
