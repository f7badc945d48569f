"""What an importer sees: the tensors of its operator, and the graph being built.

Decides: which element types the network computes with, what a legal scale and zero point is, and that every result
has the shape and type that the file gives it.  A TFLite tensor is an integer tensor with its own scale already, so
that each operator is written as soon as it is met.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from codegen.errors import (
    FormUnsupported,
    InputMissing,
    QuantAxisBad,
    ResultNotQuantized,
    ScaleBad,
    ShapeMismatch,
    TypeUnsupported,
    ZeroPointBad,
)
from codegen.frontends.tflite.nodes import TfliteNode
from codegen.frontends.tflite.reader import Subgraph, Tensor
from codegen.frontends.tflite.tensors import Tensors
from codegen.ir.op import Op
from codegen.ir.quant import Array, DType, Mode, Quant, TensorType
from codegen.ops import Reshape
from codegen.settle.builder import Builder

ImportFn = Callable[["Context", TfliteNode], None]
"""Reads one operator: writes its outputs with `Context.write`."""

DTYPES = {**{str(d.numpy): d for d in DType}, "bool": DType.U8, "int64": DType.S32}
"""How tensors are held: flags as 0 and 1, and what has 64 bits (indices, sizes) in 32."""

_TYPES_HINT = "networks hold int8, uint8, int16, int32 and float32: have the converter write one of these instead"
_QUANTIZED = (DType.S8, DType.U8, DType.S16)


class Context(Tensors):
    """The values of all tensors so far, the graph so far, and what the user should know."""

    def __init__(self, mode: Mode, graphs: Sequence[Subgraph]) -> None:
        super().__init__(graphs)
        self.mode: Mode = mode
        self.builder = Builder()

    # Reading inputs

    def value(self, node: TfliteNode, index: int) -> str:
        """The graph's value for an input; a constant becomes one when it is first read."""
        self.tensor(node, index)
        return self.value_of(node.inputs[index], node.where)

    def value_of(self, place: int, where: str) -> str:
        """The graph's value for a tensor."""
        if place not in self.values:
            tensor = self.record(place)
            if tensor.data is None:  # a variable tensor, which only operators that keep one read
                raise InputMissing(f"nothing has written its input '{tensor.name}'", where=where)
            self.values[place] = self.builder.const(tensor.name, _held(tensor, where), self._meaning(tensor))
        return self.values[place]

    def type(self, node: TfliteNode, index: int) -> TensorType:
        """Shape, element type and, where it has one, meaning of an input."""
        return self.builder.type(self.value(node, index))

    def quantized(self, node: TfliteNode, index: int, *, shifted_16: bool = False) -> tuple[Quant, DType]:
        """Meaning and type of an input that must be quantized."""
        return read_quant(self.tensor(node, index), node.where, shifted_16=shifted_16)

    def quantized_result(self, node: TfliteNode, index: int = 0, *, shifted_16: bool = False) -> tuple[Quant, DType]:
        """Meaning and type of an output that must be quantized."""
        return read_quant(self.result(node, index), node.where, shifted_16=shifted_16)

    def _meaning(self, tensor: Tensor) -> Quant | None:
        return tensor_quant(tensor) if tensor.scale.size == 1 else None

    # Writing nodes

    def apply(self, node: TfliteNode, op: Op, inputs: Sequence[str], *, name: str = "", note: str = "") -> str:
        """An operator whose result is no tensor of the model."""
        label = name or f"{node.output_name}:{type(op).__name__.lower()}"
        return self.builder.apply(op, inputs, label, note=note)

    def constant_value(self, node: TfliteNode, what: str, array: Array) -> str:
        """Numbers the importer made, as a value."""
        return self.builder.const(f"{node.output_name}:{what}", array)

    def write(
        self,
        node: TfliteNode,
        op: Op,
        inputs: Sequence[str],
        index: int = 0,
        *,
        post: Sequence[Op] = (),
        note: str = "",
    ) -> None:
        """An operator, and others behind it, that make an output; LAM-IMPORT-014 when they do not fit its record."""
        tensor = self.result(node, index)
        told = note or f"{node.op_type} -> {type(op).__name__}"
        ops = (op, *post)
        value, operands = "", tuple(inputs)
        for place, one in enumerate(ops):
            last = place == len(ops) - 1
            value = self.builder.apply(
                one,
                operands,
                tensor.name if last else f"{tensor.name}:{type(one).__name__.lower()}",
                source=tensor.name if last else "",
                trail=(node,) if place == 0 else (),
                note=told if place == 0 else "for the shape",
            )
            operands = (value,)
        self.bind(node, value, index)

    def write_keeping(self, node: TfliteNode, op: Op, inputs: Sequence[str], kept: Sequence[str]) -> tuple[str, ...]:
        """An operator that makes an output and what it keeps for the next run; returns the values of the latter."""
        name = self.result(node).name
        names = (name, *(f"{name}:{what}" for what in kept))
        sources = (name, *("" for _ in kept))
        note = f"{node.op_type} -> {type(op).__name__}"
        value, *others = self.builder.apply_all(op, inputs, names, sources=sources, trail=(node,), note=note)
        self.bind(node, value)
        return tuple(others)

    def fold_since(self, node: TfliteNode, count: int) -> None:
        """Compute now what the nodes behind the first `count` make of constants alone."""
        self.builder.fold_since(count)
        for index, place in enumerate(node.outputs):
            data = self.builder.values[self.values[place]].data if place in self.values else None
            if data is not None:
                self.know(node, data.astype(self.graph.tensors[place].kind), index)

    def bind(self, node: TfliteNode, value: str, index: int = 0) -> None:
        """Say that a value is an output, when it fits the output's record."""
        tensor, kind = self.result(node, index), self.builder.type(value)
        if kind.shape != tensor.shape or kind.dtype is not dtype_of(tensor, node.where):
            found = f"{tensor.kind}{list(tensor.shape)} in the file, computed is {kind.dtype.value}{list(kind.shape)}"
            raise ShapeMismatch(found, where=node.where, hint="convert the model again")
        self.values[tensor.index] = value

    def reshaped(self, node: TfliteNode, value: str, shape: Sequence[int], what: str = "reshape") -> str:
        """The value in another shape, itself when it has it already."""
        if self.builder.type(value).shape == tuple(shape):
            return value
        return self.builder.apply(Reshape(tuple(shape)), (value,), f"{node.output_name}:{what}", note="for the shape")


def dtype_of(tensor: Tensor, where: str) -> DType:
    """The element type of a tensor that the network computes or reads; LAM-IMPORT-019 for one it has not."""
    if tensor.kind not in DTYPES:
        raise TypeUnsupported(f"{tensor.where} has type {tensor.kind}", where=where, hint=_TYPES_HINT)
    return DTYPES[tensor.kind]


def element_type(tensor: Tensor, where: str) -> str:
    """The name of a type of which plain numbers can be; LAM-IMPORT-019 for another one."""
    if tensor.kind not in (*DTYPES, "float16"):
        raise TypeUnsupported(f"{tensor.where} has type {tensor.kind}", where=where)
    return tensor.kind


def _held(tensor: Tensor, where: str) -> Array:
    """A constant's numbers in the type in which the network holds them; LAM-IMPORT-019 when they do not fit."""
    dtype, data = dtype_of(tensor, where), tensor.data
    assert data is not None
    if tensor.kind == "int64" and data.size and not dtype.low <= data.min() <= data.max() <= dtype.high:
        raise TypeUnsupported(f"{tensor.where} holds numbers of more than 32 bits", where=where)
    return data.astype(dtype.numpy, copy=False)


def read_scales(tensor: Tensor, where: str, *, weights: bool = False) -> Array:
    """Scales, float32, each a positive normal number; those of weights, which only make factors, any but negative ones.

    Raises:
        ResultNotQuantized: LAM-IMPORT-020, there are none.
        ScaleBad: LAM-IMPORT-010.
    """
    if not tensor.scale.size:
        hint = "quantize the whole model: full-integer post-training quantization"
        raise ResultNotQuantized(f"{tensor.where} ({tensor.kind}) has no scale", where=where, hint=hint)
    least = np.float32(0) if weights else np.finfo(np.float32).tiny
    good = np.isfinite(tensor.scale) & (tensor.scale >= least)
    if not good.all():
        raise ScaleBad(f"scale of {tensor.where} is {tensor.scale[~good].flat[0]}", where=where)
    return tensor.scale


def read_quant(tensor: Tensor, where: str, *, shifted_16: bool = False) -> tuple[Quant, DType]:
    """Meaning and element type of a tensor with one scale; 16-bit numbers have no zero point unless `shifted_16`.

    Raises:
        TypeUnsupported: LAM-IMPORT-019; FormUnsupported: LAM-IMPORT-022 for float tensors.
        ScaleBad, ZeroPointBad, QuantAxisBad, ResultNotQuantized: LAM-IMPORT-010, -011, -012, -020.
    """
    dtype = dtype_of(tensor, where)
    if dtype is DType.F32:
        hint = "quantize the whole model: full-integer post-training quantization"
        raise FormUnsupported(f"{tensor.where} is float where integers are expected", where=where, hint=hint)
    scales = read_scales(tensor, where)
    if scales.size != 1:
        raise QuantAxisBad(f"{scales.size} scales for {tensor.where}, which the network computes", where=where)
    if tensor.zero_point.size != 1:
        raise ZeroPointBad(f"{tensor.zero_point.size} zero points for one scale of {tensor.where}", where=where)
    quant = Quant(float(scales[0]), int(tensor.zero_point[0]))
    found = f"zero point of {tensor.where} is {quant.zero_point}, allowed is"
    if not dtype.low <= quant.zero_point <= dtype.high:
        hint = "the file is damaged, or its converter at fault: convert the model again"
        raise ZeroPointBad(f"{found} {dtype.low} .. {dtype.high}", where=where, hint=hint)
    if dtype is DType.S16 and quant.zero_point and not shifted_16:
        hint = "this operator takes 16-bit numbers around 0, as TFLite does: put a QUANTIZE to zero point 0 between"
        raise ZeroPointBad(f"{found} 0", where=where, hint=hint)
    return quant, dtype


def tensor_quant(tensor: Tensor) -> Quant | None:
    """Meaning of an integer tensor, None for one without; checked.  Its readers say whether 16 bits may be shifted."""
    if DTYPES.get(tensor.kind) not in _QUANTIZED or not tensor.scale.size:
        return None
    return read_quant(tensor, tensor.where, shifted_16=True)[0]
