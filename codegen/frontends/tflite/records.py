"""What a tensor's record says of its real numbers: shape, element type, and the integers that hold them.

Decides: that a whole-number tensor with a scale holds real numbers, and one without is what it is.
"""

from __future__ import annotations

import numpy as np

from codegen.errors import QuantAxisBad, ScaleBad, TypeUnsupported, ZeroPointBad
from codegen.frontends.tflite.reader import Tensor
from codegen.ir.quant import Quant
from codegen.ir.real import RealType, RealValue, Stored
from codegen.settle.tflite.records import TYPES_HINT, meaning

_HELD = {"int8": "int8", "uint8": "uint8", "int16": "int16", "int32": "int32", "int64": "int64", "int4": "int8"}
"""Types that hold real numbers where there is a scale, and the numpy type of each."""
_PLAIN = frozenset(("float32", "float16", "int8", "uint8", "int16", "int32", "int64", "bool", "uint32", "uint64"))
_QUANTIZED = ("int8", "uint8", "int16")


def stored_of(tensor: Tensor, where: str) -> Stored | None:
    """How a tensor's real numbers are held; None for one that is not quantized.

    Raises:
        ScaleBad, ZeroPointBad, QuantAxisBad: LAM-IMPORT-010, -011, -012.
    """
    if tensor.kind not in _HELD or not tensor.scale.size:
        return None
    scale, zero = tensor.scale, tensor.zero_point
    # those of weights only make factors
    least = np.float32(0) if tensor.data is not None else np.finfo(np.float32).tiny
    good = np.isfinite(scale) & (scale >= least)
    if not good.all():
        raise ScaleBad(f"scale of {tensor.where} is {scale[~good].flat[0]}", where=where)
    if tensor.data is None and scale.size > 1:
        raise QuantAxisBad(f"{scale.size} scales for {tensor.where}, which the network computes", where=where)
    if zero.size not in (1, scale.size):
        raise ZeroPointBad(f"{zero.size} zero points for {scale.size} scales of {tensor.where}", where=where)
    bits = 4 if tensor.kind == "int4" else 0
    axis = _axis(tensor, where) if scale.size > 1 else None
    stored = Stored(np.dtype(_HELD[tensor.kind]), scale, np.broadcast_to(zero, scale.shape), axis, bits=bits)
    if tensor.data is None:
        meaning(RealValue(tensor.name, RealType(tensor.shape), stored=stored), where, shifted_16=True)
    elif zero.min() < stored.low or zero.max() > stored.high:
        raise ZeroPointBad(f"a zero point of {tensor.where} is outside {stored.low} .. {stored.high}", where=where)
    return stored


def _axis(tensor: Tensor, where: str) -> int:
    """The axis along which scales vary."""
    axis, count = tensor.axis, tensor.scale.size
    if not 0 <= axis < len(tensor.shape) or tensor.shape[axis] != count:
        found = f"{count} scales along axis {axis} of {tensor.where}, which has shape {list(tensor.shape)}"
        raise QuantAxisBad(found, where=where)
    return axis


def real_type(tensor: Tensor, where: str) -> RealType:
    """Shape and element type of a tensor's numbers; LAM-IMPORT-019 for a type that RealGraph has not."""
    if stored_of(tensor, where) is not None:
        return RealType(tensor.shape)
    return RealType(tensor.shape, np.dtype(element_type(tensor, where)))


def element_type(tensor: Tensor, where: str) -> str:
    """The name of a type of which plain numbers can be; LAM-IMPORT-019 for another one."""
    if tensor.kind not in _PLAIN:
        raise TypeUnsupported(f"{tensor.where} has type {tensor.kind}", where=where, hint=TYPES_HINT)
    return tensor.kind


def tensor_quant(tensor: Tensor) -> Quant | None:
    """Meaning of an integer tensor, None for one without; checked.  Its readers say whether 16 bits may be shifted."""
    if tensor.kind not in _QUANTIZED or (stored := stored_of(tensor, tensor.where)) is None:
        return None
    value = RealValue(tensor.name, RealType(tensor.shape), stored=stored)
    return meaning(value, tensor.where, shifted_16=True)[0]
