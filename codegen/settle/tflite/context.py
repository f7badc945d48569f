"""What a rule of TFLite's sees: its operands as integers that the graph holds, and results that wait for their records.

Decides: when a constant becomes a value of the graph, and that an operator of the model is named by the first of ours
that it becomes.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence

import numpy as np

from codegen.errors import (
    FormUnsupported,
    ParameterDynamic,
    ShapeMismatch,
    TypeUnsupported,
)
from codegen.ir.op import Op
from codegen.ir.quant import Array, DType, Mode
from codegen.ir.real import RealNode, RealValue
from codegen.ops import Reshape, Transpose
from codegen.settle.context import Context
from codegen.settle.states import Const, Float, Int, IntConst, Pending, Real, Request, Route, State, Trail
from codegen.settle.tflite.records import check_centred, dtype_of, kind_of, meaning, spoken
from codegen.settle.tflite.scales import clamp_range

_NOTES: Mapping[type, str] = {Reshape: "for the shape", Transpose: "for the layout"}
"""Of operators that prepare what another one reads."""


class TfliteContext(Context):
    """The states of all tensors so far.  A constant that is read as an operand is a value of the graph."""

    def __init__(self, mode: Mode, values: Mapping[str, RealValue]) -> None:
        super().__init__(mode, values)
        self._told: set[tuple[str, str]] = set()

    # Reading inputs

    def record(self, name: str) -> RealValue:
        """A tensor as the RealGraph has it."""
        return self._values[name]

    def state(self, node: RealNode, index: int) -> Real | Int | Float | Pending:
        """State of one required input, computed or a value all the same."""
        super().state(node, index)
        return self._computed(node.inputs[index], node.where)

    def held_value(self, name: str, where: str) -> str:
        """The graph's value for a tensor."""
        state = self._computed(name, where)
        if isinstance(state, Pending):
            meaning(self.record(name), where)
            raise FormUnsupported("a result that nothing holds", where=where)
        return state.value

    def _computed(self, name: str, where: str) -> Real | Int | Float | Pending:
        state = self.states[name]
        if isinstance(state, Const | IntConst):
            state = self.states[name] = self._as_value(self.record(name), where)
        match state:
            case Real() | Int() | Float() | Pending():
                return state
            case _:
                raise AssertionError(f"{name}: TFLite has no other states")

    def value(self, node: RealNode, index: int) -> str:
        """The graph's value for an input."""
        self.state(node, index)
        return self.held_value(node.inputs[index], node.where)

    def dtype(self, node: RealNode, index: int) -> DType:
        """Element type of an input, as the graph holds it."""
        return self.type(self.value(node, index)).dtype

    def kind_of(self, node: RealNode, index: int) -> str:
        """Element type of an input, as the file has it, or as it was before it was moved within its operator."""
        record, state = self.record(node.inputs[index]), self.states[node.inputs[index]]
        if record.stored is None and isinstance(state, Real):
            return self.type(state.value).dtype.numpy.name
        return kind_of(record)

    def quantized(self, node: RealNode, index: int, *, shifted_16: bool = False) -> Real:
        """An input that must be integers with one scale; 16-bit numbers have no zero point unless `shifted_16`."""
        record, state = self.record(node.inputs[index]), self.states[node.inputs[index]]
        if record.stored is None and isinstance(state, Real):  # moved within its operator
            check_centred(state.quant, self.type(state.value).dtype, spoken(record), node.where)
            return state
        quant, _ = meaning(record, node.where, shifted_16=shifted_16)
        return Real(self.value(node, index), quant)

    def known(self, node: RealNode, index: int) -> Array | None:
        """Numbers of an input that are known now."""
        data = self.record(node.inputs[index]).data
        state = self.states[node.inputs[index]]
        if data is None and isinstance(state, Real | Int | Float):
            data = self.builder.values[state.value].data
        return data

    def constant(self, node: RealNode, index: int) -> Array:
        """Numbers of an input that must be known now."""
        data = self.known(node, index)
        if data is None:
            raise ParameterDynamic(f"input '{node.inputs[index]}' is not a constant", where=node.where)
        return data

    def _as_value(self, record: RealValue, where: str) -> State:
        assert record.data is not None, record.name
        dtype, stored = dtype_of(record, where), record.stored
        data = record.data
        if data.dtype == np.int64 and data.size and not dtype.low <= data.min() <= data.max() <= dtype.high:
            raise TypeUnsupported(f"{spoken(record)} holds numbers of more than 32 bits", where=where)
        single = stored is not None and stored.scale.size == 1 and dtype is not DType.S32
        quant = meaning(record, where, shifted_16=True)[0] if single else None
        value = self.builder.const(record.name, data.astype(dtype.numpy, copy=False), quant)
        if quant is not None:
            return Real(value, quant)
        return Float(value) if dtype is DType.F32 else Int(value, kind_of(record))

    # Writing nodes

    def waiting(self, node: RealNode, write: Callable[[Request], str], *, shifted_16: bool = False) -> Pending:
        """A result that `write` makes once it is known how it is held."""

        def emit(request: Request) -> str:
            if not shifted_16:
                check_centred(request.quant, request.dtype, f"tensor '{request.name}'", node.where)
            return write(request)

        return Pending(self.real(node.outputs[0]).shape, emit, (node,))

    def write(
        self,
        request: Request,
        op: Op,
        inputs: Sequence[str],
        *,
        pre: Sequence[Op] = (),
        post: Sequence[Op] = (),
        note: str = "",
    ) -> str:
        """An operator, with movement before and behind it, that makes what is asked for."""
        return self.made(request.trail[0], op, inputs, request.name, pre=pre, post=post, note=note)

    def made(
        self,
        node: RealNode,
        op: Op,
        inputs: Sequence[str],
        name: str = "",
        *,
        pre: Sequence[Op] = (),
        post: Sequence[Op] = (),
        note: str = "",
    ) -> str:
        """An operator that makes an output, or the value `name`."""
        told = note or f"{node.op_type} -> {type(op).__name__}"
        route = Route(op, tuple(pre), tuple(post))
        return self.run(inputs[0], route, name or node.outputs[0], (node,), told, inputs[1:])

    def apply(self, node: RealNode, op: Op, inputs: Sequence[str], what: str = "") -> str:
        """An operator whose result is no tensor of the model."""
        name = f"{node.tensor or node.outputs[0]}:{what or type(op).__name__.lower()}"
        return self.builder.apply(op, inputs, name, note=_NOTES.get(type(op), ""))

    def reshaped(self, node: RealNode, value: str, shape: Sequence[int], what: str = "reshape") -> str:
        """The value in another shape, itself when it has it already."""
        if self.type(value).shape == tuple(shape):
            return value
        return self.apply(node, Reshape(tuple(shape)), (value,), what)

    def constant_value(self, node: RealNode, what: str, array: Array) -> str:
        """Numbers that a rule made, as a value."""
        return self.builder.const(f"{node.tensor or node.outputs[0]}:{what}", array)

    def source(self, name: str, trail: Trail) -> str:
        """The tensor of the model that a value is: none for what stands between two of our operators."""
        return name if trail and trail[-1].tensor and name in (trail[-1].tensor, *trail[-1].outputs[1:]) else ""

    def origin(self, trail: Trail, name: str) -> Trail:
        """The nodes that an operator stands for: only the first one of a tensor that the model writes."""
        if not trail or not trail[0].tensor:
            return ()
        tensor = name if name in trail[0].outputs[1:] else trail[0].tensor
        first = (trail[0].name, tensor) not in self._told
        self._told.add((trail[0].name, tensor))
        return trail if first else ()


def bounds(request: Request) -> tuple[int, int]:
    """The clamp of a fused activation."""
    low, high = (None if math.isinf(bound) else bound for bound in (request.low, request.high))
    return clamp_range(low, high, request.quant, request.dtype)


def held(ctx: TfliteContext, node: RealNode, name: str, state: State) -> State:
    """The state of an output as its record says that it is held; what waited for that is written."""
    record = ctx.record(name)
    if record.stored is None:
        if name == node.tensor and isinstance(state, Pending | Real):
            meaning(record, node.where)
        return state
    quant, dtype = meaning(record, node.where, shifted_16=True)
    match state:
        case Pending():
            value = state.emit(Request(quant, dtype, name, state.trail, state.low, state.high))
        case Real(value=value) | Int(value=value) | Float(value=value):
            pass
        case _:
            raise AssertionError(f"{name}: TFLite has no other states")
    found = ctx.type(value)
    if found.dtype is not dtype:
        made = f"{found.dtype.value}{list(found.shape)}"
        told = f"{kind_of(record)}{list(record.type.shape)} in the file, computed is {made}"
        raise ShapeMismatch(told, where=node.where, hint="convert the model again")
    return Real(value, quant)
