"""Operators on plain numbers, written one after the other for one node: real numbers, whole ones and truth values.

Decides: how a tensor of the model is held: real numbers as f32, truth values as u8 of 0 and 1, whole numbers of 8 and
16 bits as they are where the graph has their type, and all others as s32.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from codegen.errors import FormUnsupported
from codegen.ir.op import Op
from codegen.ir.quant import Array, DType, TensorType
from codegen.ir.real import RealNode
from codegen.ops import Broadcast, Cast, Gather, Reshape, Transpose, WholeArithmetic
from codegen.settle.context import Context, array_of
from codegen.settle.float32.inputs import is_known, real_numbers, real_value
from codegen.settle.linear import write_accumulator
from codegen.settle.states import Accum, Float, Int, State
from codegen.settle.words import UNSIGNED_WORD

WORD_SHIFT = 1 << 15
"""By which unsigned words are held lower, as signed ones."""
_HELD = {"bool": DType.U8, "uint8": DType.U8, "int8": DType.S8, "int16": DType.S16}


def held_type(dtype: np.dtype[Any]) -> DType:
    """In which type numbers of the model's type are held."""
    return DType.F32 if dtype.kind == "f" else _HELD.get(dtype.name, DType.S32)


class Writer:
    """What a rule reads and writes for one node."""

    def __init__(self, ctx: Context, node: RealNode) -> None:
        self.ctx = ctx
        self.node = node
        self._note = f"{node.op_type} -> plain numbers"

    # Reading

    def is_real(self, index: int) -> bool:
        """Whether an input is real numbers."""
        return self.ctx.real(self.node.inputs[index]).is_real

    def model_type(self, index: int) -> np.dtype[Any]:
        """The model's type of an input's elements."""
        return self.ctx.real(self.node.inputs[index]).dtype

    def input(self, index: int) -> str:
        """The value that holds an input."""
        if self.is_real(index):
            return real_value(self.ctx, self.node, index)
        state = self.ctx.state(self.node, index)
        if isinstance(state, Int) and state.kind == UNSIGNED_WORD:
            return self.apply(WholeArithmetic("+"), self.cast(state.value, DType.S32), self.whole(WORD_SHIFT))
        if isinstance(state, Accum):
            state = Int(write_accumulator(self.ctx, state, self.node.inputs[index]))
            self.ctx.states[self.node.inputs[index]] = state
        if isinstance(state, Int):
            return state.value
        known = array_of(state)
        if known is None:
            raise FormUnsupported(f"input '{self.node.inputs[index]}' is not plain numbers", where=self.node.where)
        return self.const(whole_const(known, held_type(self.model_type(index))))

    def inputs(self) -> list[str]:
        """The values that hold all inputs."""
        return [self.input(i) for i in range(len(self.node.inputs))]

    def known(self, index: int) -> Array | None:
        """The numbers of an input, where they are known now."""
        if self.is_real(index):
            return real_numbers(self.ctx, self.node, index) if is_known(self.ctx, self.node, index) else None
        return array_of(self.ctx.state(self.node, index))

    def type(self, value: str) -> TensorType:
        """Type of a value of the graph."""
        return self.ctx.type(value)

    def shape(self, value: str) -> tuple[int, ...]:
        """Its shape."""
        return self.ctx.type(value).shape

    # Writing

    def const(self, array: Array) -> str:
        """A constant."""
        return self.ctx.builder.const(f"{self.node.outputs[0]}:const", np.asarray(array, order="C"))

    def real(self, number: float) -> str:
        """A real number."""
        return self.const(np.array(number, np.float32))

    def whole(self, number: int) -> str:
        """A whole number."""
        return self.const(np.array(number, np.int32))

    def apply(self, op: Op, *values: str) -> str:
        """The value that an operator makes."""
        name = f"{self.node.outputs[0]}:{type(op).__name__.lower()}"
        return self.ctx.builder.apply(op, values, name, trail=(self.node,), note=self._note)

    def reshaped(self, x: str, shape: Sequence[int]) -> str:
        """The same elements in another shape."""
        return x if self.shape(x) == tuple(shape) else self.apply(Reshape(tuple(shape)), x)

    def transposed(self, x: str, perm: Sequence[int]) -> str:
        """Axes in another order."""
        return x if list(perm) == sorted(perm) else self.apply(Transpose(tuple(perm)), x)

    def moved(self, x: str, axis: int, to: int) -> str:
        """One axis at another place, the others in order."""
        perm = [i for i in range(len(self.shape(x))) if i != axis]
        perm.insert(to, axis)
        return self.transposed(x, perm)

    def repeated(self, x: str, shape: Sequence[int]) -> str:
        """The tensor stretched to a shape."""
        return x if self.shape(x) == tuple(shape) else self.apply(Broadcast(tuple(shape)), x)

    def picked(self, x: str, axis: int, places: Sequence[int]) -> str:
        """Known places of one axis."""
        return self.apply(Gather(axis, tuple(places)), x)

    def cast(self, x: str, to: DType) -> str:
        """The numbers in another type."""
        return x if self.type(x).dtype is to else self.apply(Cast(to), x)

    def done(self, *values: str) -> list[State]:
        """The states of the node's outputs."""
        return [self._state(name, value) for name, value in zip(self.node.outputs, values, strict=True)]

    def _state(self, name: str, value: str) -> State:
        kind = self.ctx.real(name).dtype
        if kind.name == UNSIGNED_WORD:
            shifted = self.apply(WholeArithmetic("-"), self.cast(value, DType.S32), self.whole(WORD_SHIFT))
            return Int(self.cast(shifted, DType.S16), UNSIGNED_WORD)
        value = self.cast(value, held_type(kind))
        self.ctx.builder.rename_source(value, name)
        return Float(value, made=True) if kind.kind == "f" else Int(value)


def whole_const(array: Array, dtype: DType) -> Array:
    """Whole numbers and truth values in the type that holds them, what is beyond 32 bits at their ends."""
    if dtype is DType.S32:
        array = np.clip(array.astype(object) if array.dtype == np.uint64 else array, dtype.low, dtype.high)
    return np.asarray(array).astype(dtype.numpy)
