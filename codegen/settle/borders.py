"""Inputs and outputs of the network: their layout and type, and the Interface records.

Decides: what the generated network's user sees.  Feature maps are NHWC there and a DequantizeLinear at an output is
left out; `io_type` and `io_layout` keep the model's own type and layout.  finish.py drops QuantizeLinear at inputs.
"""

from __future__ import annotations

from collections.abc import Collection
from typing import Literal

import numpy as np

from codegen.errors import (
    OutputConstant,
    QuantAxisBad,
    ResultNotQuantized,
    TypeUnsupported,
)
from codegen.ir.graph import Interface
from codegen.ir.quant import DType, TensorType
from codegen.ir.real import RealNode
from codegen.ops import Dequantize, Reshape, Transpose
from codegen.records import record
from codegen.settle import states
from codegen.settle.context import Context, array_of, shared_quant
from codegen.settle.faces import is_made_nhwc
from codegen.settle.layout import TO_NCHW, TO_NHWC
from codegen.settle.linear import write_accumulator
from codegen.settle.tables import settled
from codegen.settle.tails import tail
from codegen.settle.words import UNSIGNED_WORD, WORDS_ARE_SIGNED

IoType = Literal["quantized", "model"]
IoLayout = Literal["nhwc", "model"]
_TAIL_HINT = "quantize it, or leave it to the application: only a last Softmax, Sigmoid, HardSigmoid or Tanh is read so"

_TYPES = {
    "float32": DType.F32,
    "int8": DType.S8,
    "uint8": DType.U8,
    "int16": DType.S16,
    "uint16": DType.S16,
    "bool": DType.U8,
    **dict.fromkeys(("int32", "int64", "uint32", "uint64"), DType.S32),
    **dict.fromkeys(("float16", "float64"), DType.F32),
}
"""In which type the numbers of an input are given."""
_INTEGERS = tuple(d.numpy.name for d in DType if not d.is_float)
_HELD = {"bool": "uint8", "int64": "int32", "uint32": "int32", "uint64": "int32", "uint16": "int32"} | {
    name: "float32" for name in ("float16", "float32", "float64")
}
"""In which type the network gives out what has another type in the model."""


@record
class Borders:
    """How the network meets its user."""

    io_type: IoType = "quantized"
    io_layout: IoLayout = "nhwc"


def declare_input(ctx: Context, name: str, borders: Borders) -> tuple[states.State, Interface]:
    """A network input, as the state of the model's tensor and its record."""
    kind = ctx.real(name)
    dtype = _TYPES.get(kind.dtype.name)
    if dtype is None:
        raise TypeUnsupported(f"an input of type {kind.dtype.name}", where=f"input '{name}'")
    shape = kind.shape
    perm = TO_NHWC if len(shape) == 4 and borders.io_layout == "nhwc" else None
    word = UNSIGNED_WORD if kind.dtype.name == UNSIGNED_WORD else ""
    if word:
        ctx.note(WORDS_ARE_SIGNED)
    interface = Interface(name, name, shape, word or dtype.numpy.name, perm)
    if perm is None:
        value = ctx.builder.input(name, TensorType(shape, dtype), source=name)
    else:
        stored = ctx.builder.input(name, TensorType(tuple(shape[a] for a in perm), dtype))
        value = ctx.builder.apply(
            Transpose(TO_NCHW), (stored,), f"{name}:nchw", source=name, note="the network's input is NHWC"
        )
    return (states.Float(value) if dtype is DType.F32 else states.Int(value, word)), interface


def output_name(name: str, inputs: Collection[str]) -> str:
    """How an output is called: as in the model, and otherwise where that is an input's name."""
    return f"{name}:out" if name in inputs else name


def write_output(
    ctx: Context, tensor: str, name: str, borders: Borders, inputs: Collection[str], taken: set[str]
) -> Interface:
    """A network output: the value that holds it, and its record.

    `tensor` is its value in the RealGraph, `inputs` are the inputs' names, `taken` the values of inputs and of outputs
    so far.
    """
    value, model_dtype = _output_value(ctx, name, ctx.states[tensor], borders)
    name = output_name(name, inputs)
    kind, declared = ctx.type(value), ctx.real(tensor).dtype.name
    if not declared.startswith("float") and _HELD.get(declared) == model_dtype:
        model_dtype = declared
    shape = kind.shape
    if len(shape) == 4 and borders.io_layout == "nhwc" and not is_made_nhwc(ctx.builder, value):
        stored = ctx.builder.apply(Transpose(TO_NHWC), (value,), f"{name}:nhwc", note="the network's output is NHWC")
        return Interface(stored, name, shape, model_dtype, TO_NHWC)
    if value in taken or ctx.builder.values[value].is_const:
        note = "one tensor is given out twice" if value in taken else "known now, copied in each run"
        value = ctx.builder.apply(Reshape(shape), (value,), f"{name}:copy", note=note)
    return Interface(value, name, shape, model_dtype)


def _output_value(ctx: Context, name: str, state: states.State, borders: Borders) -> tuple[str, str]:
    """The value, and the type of the model's own tensor."""
    where = f"output '{name}'"
    match state:
        case states.Real():
            return _dequantized(ctx, name, state, borders), "float32"
        case states.Int(value=value):
            return value, ctx.kind(state)
        case states.Accum():
            return write_accumulator(ctx, state, name), "int32"
        case states.Pending(trail=trail):
            spanned = tail(ctx, name, state)
            if spanned is not None:
                return _dequantized(ctx, name, spanned, borders), "float32"
            raise _unquantized(name, trail[-1])
        case states.Channelled():
            hint = "only a depthwise convolution reads one"
            raise QuantAxisBad("it has a scale per channel", where=where, hint=hint)
        case states.Float(value=value):
            return value, "float32"
        case states.Const() | states.IntConst():
            return _constant(ctx, name, state, borders)
        case states.Poison():
            raise AssertionError("outputs of refused nodes are passed over")


def _constant(ctx: Context, name: str, state: states.Const | states.IntConst, borders: Borders) -> tuple[str, str]:
    """An output that depends on no input: flags as 0 and 1, integers of 64 bits in 32, other reals as float32."""
    quant = shared_quant(state) if isinstance(state, states.IntConst) and borders.io_type == "quantized" else None
    if isinstance(state, states.IntConst) and quant is not None and state.ints.dtype.name in _INTEGERS:
        return ctx.builder.const(name, np.array(state.ints), quant), "float32"
    array = array_of(state)
    assert array is not None, "a constant"
    dtype = array.dtype.name if array.dtype.name in _INTEGERS else _HELD.get(array.dtype.name, "")
    with np.errstate(all="ignore"):
        held = array.astype(dtype or array.dtype)
    if not dtype or (array.dtype.kind in "iu" and (held != array).any()):
        raise OutputConstant(f"a constant of type {array.dtype.name}", where=f"output '{name}'")
    return ctx.builder.const(name, held), array.dtype.name


def _dequantized(ctx: Context, name: str, state: states.Real, borders: Borders) -> str:
    if state.function is not None:
        state = _written(ctx, name, state)
    if borders.io_type == "quantized":
        return state.value
    note = "DequantizeLinear -> Dequantize"
    return ctx.builder.apply(Dequantize(state.quant), (state.value,), name, source=name, note=note)


def _written(ctx: Context, name: str, state: states.Real) -> states.Real:
    """A function of a tensor: in that tensor's own integers where that loses nothing, else by the function's range."""
    try:
        return settled(ctx, state, state.trail[-1], name)
    except ResultNotQuantized as error:
        spanned = tail(ctx, name, state)
        if spanned is None:
            raise _unquantized(name, state.trail[-1]) from error
        return spanned


def _unquantized(name: str, last: RealNode) -> ResultNotQuantized:
    """Why an output has no scale, as an error to raise."""
    found = f"the result of node '{last.name}' ({last.op_type}) leaves the network without a QuantizeLinear"
    return ResultNotQuantized(found, where=f"output '{name}'", hint=_TAIL_HINT)
