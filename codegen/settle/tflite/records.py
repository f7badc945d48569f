"""What a tensor of a RealGraph says of the integers that hold it, for TFLite.

Decides: which element types networks hold, and what a legal scale and zero point of a computed tensor is.
"""

from __future__ import annotations

import numpy as np

from codegen.errors import (
    FormUnsupported,
    QuantAxisBad,
    ResultNotQuantized,
    ScaleBad,
    TypeUnsupported,
    ZeroPointBad,
)
from codegen.ir.quant import DType, Quant
from codegen.ir.real import RealValue, Stored

DTYPES = {
    **{str(d.numpy): d for d in DType},
    **{"bool": DType.U8, "int64": DType.S32, "uint32": DType.S32, "uint64": DType.S32},
}
"""How tensors are held: flags as 0 and 1, what has 64 bits (indices, sizes) in 32, words of signals by their bits."""

TYPES_HINT = "networks hold int8, uint8, int16, int32 and float32: have the converter write one of these instead"
_UNQUANTIZED_HINT = "quantize the whole model: full-integer post-training quantization"
_DAMAGED_HINT = "the file is damaged, or its converter at fault: convert the model again"
_SHIFTED_HINT = "this operator takes 16-bit numbers around 0, as TFLite does: put a QUANTIZE to zero point 0 between"


def spoken(record: RealValue) -> str:
    """A tensor as errors name it."""
    return f"tensor '{record.name}'"


def kind_of(record: RealValue) -> str:
    """The element type of a tensor as the file has it."""
    stored = record.stored
    if stored is None:
        return record.type.dtype.name
    return f"int{stored.bits}" if stored.bits else stored.dtype.name


def dtype_of(record: RealValue, where: str) -> DType:
    """How a tensor's elements are held; LAM-IMPORT-019 for a type that networks do not hold."""
    kind = kind_of(record)
    if kind not in DTYPES:
        raise TypeUnsupported(f"{spoken(record)} has type {kind}", where=where, hint=TYPES_HINT)
    return DTYPES[kind]


def meaning(record: RealValue, where: str, *, shifted_16: bool = False) -> tuple[Quant, DType]:
    """Meaning and element type of a tensor with one scale; 16-bit numbers have no zero point unless `shifted_16`.

    Raises:
        TypeUnsupported: LAM-IMPORT-019; FormUnsupported: LAM-IMPORT-022 for float tensors.
        ScaleBad, ZeroPointBad, QuantAxisBad, ResultNotQuantized: LAM-IMPORT-010, -011, -012, -020.
    """
    dtype, stored = dtype_of(record, where), record.stored
    if dtype is DType.F32:
        found = f"{spoken(record)} is float where integers are expected"
        raise FormUnsupported(found, where=where, hint=_UNQUANTIZED_HINT)
    if stored is None:
        found = f"{spoken(record)} ({kind_of(record)}) has no scale"
        raise ResultNotQuantized(found, where=where, hint=_UNQUANTIZED_HINT)
    quant = one_quant(stored, spoken(record), where)
    if not dtype.low <= quant.zero_point <= dtype.high:
        found = f"zero point of {spoken(record)} is {quant.zero_point}, allowed is {dtype.low} .. {dtype.high}"
        raise ZeroPointBad(found, where=where, hint=_DAMAGED_HINT)
    if not shifted_16:
        check_centred(quant, dtype, spoken(record), where)
    return quant, dtype


def one_quant(stored: Stored, tensor: str, where: str) -> Quant:
    """The scale, a positive normal number, and the zero point of a tensor that the network computes."""
    if stored.scale.size != 1:
        raise QuantAxisBad(f"{stored.scale.size} scales for {tensor}, which the network computes", where=where)
    scale = stored.scale.reshape(-1)[0]
    if not (np.isfinite(scale) and scale >= np.finfo(np.float32).tiny):
        raise ScaleBad(f"scale of {tensor} is {scale}", where=where)
    return Quant(float(scale), int(stored.zero_point.reshape(-1)[0]))


def check_centred(quant: Quant, dtype: DType, tensor: str, where: str) -> None:
    """LAM-IMPORT-011 for 16-bit numbers around another zero point than 0."""
    if dtype is DType.S16 and quant.zero_point:
        found = f"zero point of {tensor} is {quant.zero_point}, allowed is 0"
        raise ZeroPointBad(found, where=where, hint=_SHIFTED_HINT)
