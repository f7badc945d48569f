"""Functions, arithmetic, comparisons, logic, changes of type.  Source: onnx/docs/Operators.md."""

from __future__ import annotations

import math
from collections.abc import Mapping

import numpy as np
from onnx import TensorProto, helper

from codegen.frontends.onnx.activation import DEFAULTS
from codegen.frontends.onnx.writer.writing import Place, Table, plainly
from codegen.real.bits import BitCast, BitwiseNot, CastNarrow, IsInf, IsNaN
from codegen.real.elementwise import AddN, Binary, Cast, Clip, Function, Not, PRelu, Where

_FUNCTION_OPSETS = {"Gelu": 20, "Mish": 18, "Swish": 24}
"""First operator sets of functions that are younger than the plain one."""
_BITWISE = 18
_BIT_CAST = 26
_NARROW: Mapping[tuple[str, int], int] = {
    ("int8", 4): TensorProto.INT4,
    ("uint8", 4): TensorProto.UINT4,
    ("int8", 2): TensorProto.INT2,
    ("uint8", 2): TensorProto.UINT2,
}


def function(place: Place, op: Function) -> None:
    """The operator of that name; Gelu says which one it is."""
    name, usual = op.name, DEFAULTS.get(op.name, {})
    attributes = {key: float(value) for key, value in op.attributes if value != usual.get(key)}
    if name == "Rsqrt":
        place.write("Reciprocal", [place.inner("Sqrt", place.inputs, "root")])
        return
    if name in ("Gelu", "GeluTanh"):
        place.writing.since(_FUNCTION_OPSETS["Gelu"])
        place.write("Gelu", approximate="none" if name == "Gelu" else "tanh")
        return
    place.writing.since(_FUNCTION_OPSETS.get(name, 0))
    place.write(name, **attributes)


def clip(place: Place, op: Clip) -> None:
    """Clip: a bound that is none is left out."""
    dtype = place.type(0).dtype
    bounds = [
        "" if math.isinf(bound) else place.const(np.array(bound, dtype), what)
        for bound, what in ((op.low, "min"), (op.high, "max"))
    ]
    place.write("Clip", [place.inputs[0], *bounds])


def binary(place: Place, op: Binary) -> None:
    """Arithmetic by its name; a few are two operators."""
    match op.kind:
        case "Fmod":
            place.write("Mod", fmod=1)
        case "ShiftLeft" | "ShiftRight":
            place.write("BitShift", direction=op.kind.removeprefix("Shift").upper())
        case "FloorDiv":
            place.write("Floor", [place.inner("Div", place.inputs, "ratio")])
        case "NotEqual":
            place.write("Not", [place.inner("Equal", place.inputs, "equal")])
        case "SquaredDifference":
            difference = place.inner("Sub", place.inputs, "difference")
            place.write("Mul", [difference, difference])
        case _:
            if op.kind.startswith("Bitwise"):
                place.writing.since(_BITWISE)
            place.write(op.kind)


def cast(place: Place, op: Cast) -> None:
    """Cast; what is rounded to bfloat16 goes on as float32."""
    if op.to == "bfloat16":
        rounded = place.inner("Cast", place.inputs, "rounded", to=TensorProto.BFLOAT16)
        place.write("Cast", [rounded], to=TensorProto.FLOAT)
        return
    place.write("Cast", to=int(helper.np_dtype_to_tensor_dtype(np.dtype(op.to))))


def cast_narrow(place: Place, op: CastNarrow) -> None:
    """Cast to few bits."""
    place.writing.since(21 if op.bits == 4 else 25)
    place.write("Cast", to=_NARROW[op.to, op.bits])


def is_inf(place: Place, op: IsInf) -> None:
    """IsInf."""
    place.write("IsInf", detect_negative=int(op.negative), detect_positive=int(op.positive))


def bitwise_not(place: Place, op: BitwiseNot) -> None:
    """BitwiseNot."""
    place.writing.since(_BITWISE)
    place.write("BitwiseNot")


def bit_cast(place: Place, op: BitCast) -> None:
    """BitCast."""
    place.writing.since(_BIT_CAST)
    place.write("BitCast", to=int(helper.np_dtype_to_tensor_dtype(np.dtype(op.to))))


SPELLINGS: Table = {
    AddN: plainly("Sum"),
    Binary: binary,
    BitCast: bit_cast,
    BitwiseNot: bitwise_not,
    Cast: cast,
    CastNarrow: cast_narrow,
    Clip: clip,
    Function: function,
    IsInf: is_inf,
    IsNaN: plainly("IsNaN"),
    Not: plainly("Not"),
    PRelu: plainly("PRelu"),
    Where: plainly("Where"),
}
