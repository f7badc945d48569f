"""What a tensor's record says of its real numbers: shape, element type, and the integers that hold them.

Decides: that a whole-number tensor with a scale holds real numbers, and one without is what it is.
"""

from __future__ import annotations

import numpy as np

from codegen.errors import QuantAxisBad, TypeUnsupported, ZeroPointBad
from codegen.frontends.tflite.context import read_quant, read_scales
from codegen.frontends.tflite.reader import Tensor
from codegen.ir.real import RealType, Stored

_HELD = {"int8": "int8", "uint8": "uint8", "int16": "int16", "int32": "int32", "int64": "int64", "int4": "int8"}
"""Types that hold real numbers where there is a scale, and the numpy type of each."""
_PLAIN = frozenset(("float32", "float16", "int8", "uint8", "int16", "int32", "int64", "bool"))


def stored_of(tensor: Tensor, where: str) -> Stored | None:
    """How a tensor's real numbers are held; None for one that is not quantized.

    Raises:
        ScaleBad, ZeroPointBad, QuantAxisBad: LAM-IMPORT-010, -011, -012.
    """
    if tensor.kind not in _HELD or not tensor.scale.size:
        return None
    if tensor.data is None:
        read_quant(tensor, where, shifted_16=True)
    scale, zero = read_scales(tensor, where, weights=True), tensor.zero_point
    if zero.size not in (1, scale.size):
        raise ZeroPointBad(f"{zero.size} zero points for {scale.size} scales of {tensor.where}", where=where)
    axis = None
    if scale.size > 1:
        axis = tensor.axis
        if not 0 <= axis < len(tensor.shape) or tensor.shape[axis] != scale.size:
            found = f"{scale.size} scales along axis {axis} of {tensor.where}, which has shape {list(tensor.shape)}"
            raise QuantAxisBad(found, where=where)
    dtype, bits = np.dtype(_HELD[tensor.kind]), 4 if tensor.kind == "int4" else 0
    stored = Stored(dtype, scale, np.broadcast_to(zero, scale.shape), axis, bits=bits)
    if zero.min() < stored.low or zero.max() > stored.high:
        raise ZeroPointBad(f"a zero point of {tensor.where} is outside {stored.low} .. {stored.high}", where=where)
    return stored


def real_type(tensor: Tensor, where: str) -> RealType:
    """Shape and element type of a tensor's numbers; LAM-IMPORT-019 for a type that RealGraph has not."""
    if stored_of(tensor, where) is not None:
        return RealType(tensor.shape)
    if tensor.kind not in _PLAIN:
        raise TypeUnsupported(f"{tensor.where} has type {tensor.kind}", where=where)
    return RealType(tensor.shape, np.dtype(tensor.kind))
