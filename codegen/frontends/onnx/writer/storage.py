"""Quantize, Dequantize and constants held as integers.

Decides: that 16 bits and blocks need operator set 21, that integers of 4 bits are ONNX's own of 4 bits, and that those
of other widths lie in the next larger type.
"""

from __future__ import annotations

import numpy as np

from codegen.errors import FormUnsupported
from codegen.frontends.onnx.writer.writing import Place, Table, Writing, plainly
from codegen.ir.quant import Array
from codegen.ir.real import RealValue, Stored
from codegen.real.storage import Dequantize, Quantize, Restore

_OPSET_OF_WORDS = 21
"""The first with integers of 16 and of 4 bits, and with scales of blocks."""
_PACKED = (4,)


def quantize(place: Place, op: Quantize) -> None:
    """QuantizeLinear."""
    if op.stored.bits not in (0, *_PACKED):
        raise FormUnsupported(f"a tensor of {op.stored.bits} bits that the network computes", where=place.real.where)
    _linear(place.writing, "QuantizeLinear", op.stored, (place.inputs[0], place.outputs[0], place.real.name))


def dequantize(place: Place, op: Dequantize) -> None:
    """DequantizeLinear."""
    _linear(place.writing, "DequantizeLinear", op.stored, (place.inputs[0], place.outputs[0], place.real.name))


def write_stored(writing: Writing, value: RealValue) -> int:
    """A constant's integers behind a DequantizeLinear.  The bits that they have, where their type has more; else 0."""
    assert value.data is not None, value.name
    assert value.stored is not None, value.name
    integers = writing.constant(f"{value.name}:integers", value.data, value.stored.bits)
    _linear(writing, "DequantizeLinear", value.stored, (integers, writing.name(value.name), value.name))
    return 0 if value.stored.bits in _PACKED else value.stored.bits


def write_held(writing: Writing, x: str, value: RealValue) -> None:
    """Real numbers `x` as the integers that hold a value, and back."""
    assert value.stored is not None, value.name
    y = writing.name(value.name)
    held = writing.fresh(f"{y}:integers")
    _linear(writing, "QuantizeLinear", value.stored, (x, held, f"{value.name}:quantize"))
    _linear(writing, "DequantizeLinear", value.stored, (held, y, f"{value.name}:dequantize"))


def _linear(writing: Writing, op_type: str, stored: Stored, names: tuple[str, str, str]) -> None:
    x, y, called = names
    if stored.dtype.itemsize == 2 or stored.block or stored.bits in _PACKED:
        writing.since(_OPSET_OF_WORDS)
    single = stored.axis is None
    scale = writing.constant(f"{y}:scale", _shaped(stored.scale.astype(np.float32), single))
    zeros = _shaped(stored.zero_point.astype(stored.dtype), single)
    bits = stored.bits if stored.bits in _PACKED else 0
    zero = [] if stored.dtype == np.int32 else [writing.constant(f"{y}:zero_point", zeros, bits)]
    block = {"block_size": stored.block} if stored.block else {}
    writing.node(op_type, [x, scale, *zero], [y], called, axis=stored.axis, **block)


def _shaped(array: Array, single: bool) -> Array:
    return array.reshape(()) if single else array


SPELLINGS: Table = {
    Dequantize: dequantize,
    Quantize: quantize,
    Restore: plainly("Identity"),
}
