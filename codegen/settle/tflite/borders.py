"""Inputs and outputs of a TFLite network: the file's own axes, types and names.

Decides: that a DEQUANTIZE at an output is left out unless `io_type` is "model"; finish.py drops QUANTIZE at inputs.
"""

from __future__ import annotations

from collections.abc import Collection

from codegen.errors import TypeUnsupported
from codegen.ir.graph import Interface
from codegen.ir.quant import DType, TensorType
from codegen.ir.real import RealState, RealValue
from codegen.ops import Dequantize, Reshape
from codegen.settle.borders import Borders
from codegen.settle.states import POISON, Float, Int, Poison, Real, State
from codegen.settle.tflite.context import TfliteContext
from codegen.settle.tflite.records import dtype_of, kind_of, meaning, spoken


def declare_input(ctx: TfliteContext, name: str, borders: Borders) -> tuple[State, Interface]:
    """A network input, as the state of the model's tensor and its record."""
    record = ctx.record(name)
    if kind_of(record) in ("int64", "uint32", "uint64"):
        hint = "convert the model with inputs of type int32"
        raise TypeUnsupported(f"an input of type {kind_of(record)}", where=spoken(record), hint=hint)
    kind = tensor_type(record)
    value = ctx.builder.input(name, kind, source=name)
    return of_record(record, value), Interface(value, name, kind.shape, kind_of(record))


def tensor_type(record: RealValue) -> TensorType:
    """What the graph holds for a tensor that is there before any node: an input, or what the run before left."""
    where = spoken(record)
    dtype = dtype_of(record, where)
    has_meaning = record.stored is not None and dtype is not DType.S32
    quant = meaning(record, where, shifted_16=True)[0] if has_meaning else None
    return TensorType(record.type.shape, dtype, quant)


def of_record(record: RealValue, value: str) -> State:
    """The state of such a tensor."""
    where = spoken(record)
    if record.stored is not None:
        return Real(value, meaning(record, where, shifted_16=True)[0])
    return Float(value) if dtype_of(record, where).is_float else Int(value)


def declare_state(ctx: TfliteContext, state: RealState) -> None:
    """What a run finds as the run before left it."""
    record = ctx.record(state.value)
    kind = tensor_type(record)
    value = ctx.builder.state(state.value, state.initial.astype(kind.dtype.numpy), kind.quant)
    ctx.states[state.value] = of_record(record, value)


def renew_state(ctx: TfliteContext, state: RealState) -> None:
    """What the next run finds."""
    if isinstance(ctx.states.get(state.next, POISON), Poison):
        return
    now, kept = (ctx.held_value(name, spoken(ctx.record(name))) for name in (state.value, state.next))
    if now != kept:
        ctx.builder.becomes(now, kept)


def write_output(
    ctx: TfliteContext, tensor: str, name: str, borders: Borders, names: Collection[str], taken: set[str]
) -> Interface:
    """A network output: the value that holds it, and its record."""
    record = ctx.record(tensor)
    dtype_of(record, spoken(record))
    if kind_of(record) == "uint64":
        hint = "give out what SignalFilterBankSquareRoot makes of it"
        raise TypeUnsupported("an output of type uint64", where=spoken(record), hint=hint)
    value, builder = ctx.held_value(tensor, spoken(record)), ctx.builder
    maker = builder.maker(value)
    if borders.io_type == "quantized" and maker is not None and isinstance(maker.op, Dequantize):
        value = maker.inputs[0]
    if value in taken or builder.values[value].is_const:
        note = "given out twice" if value in taken else "known now, copied in each run"
        value = builder.apply(Reshape(record.type.shape), (value,), f"{name}:copy", note=note)
    return Interface(value, name, record.type.shape, kind_of(record))
