"""QUANTIZE, DEQUANTIZE and CAST.

Decides: that the first two change no number, only how one is held, and that CAST speaks of the integers themselves, as
TFLite's does.
"""

from __future__ import annotations

from codegen.errors import FormUnsupported
from codegen.frontends.tflite.nodes import TfliteNode
from codegen.frontends.tflite.real.context import RealContext, Table, Versions
from codegen.frontends.tflite.records import stored_of
from codegen.real.elementwise import Cast
from codegen.real.storage import Dequantize, Quantize, Restore


def quantize(ctx: RealContext, node: TfliteNode) -> None:
    """QUANTIZE, of real numbers or to another scale."""
    if stored_of(ctx.result(node), node.where) is None or not ctx.type(node, 0).is_real:
        raise FormUnsupported("QUANTIZE of or to numbers without a scale", where=node.where)
    ctx.write(node, Restore(), [ctx.value(node, 0)])


def dequantize(ctx: RealContext, node: TfliteNode) -> None:
    """DEQUANTIZE; of a constant, the constant stored as it is, or the float16 numbers as float32."""
    value, kind = ctx.value(node, 0), ctx.type(node, 0)
    if not kind.is_real:
        raise FormUnsupported(f"DEQUANTIZE of {kind.dtype} without a scale", where=node.where)
    if kind.dtype.name == "float16":
        ctx.write(node, Cast("float32"), [value])
    elif ctx.builder.values[value].data is not None and ctx.folds_stored:
        ctx.bind(node, value)
    else:
        ctx.write(node, Restore(), [value])


def cast(ctx: RealContext, node: TfliteNode) -> None:
    """CAST: a quantized tensor's integers, whatever its scale is."""
    value, target = ctx.value(node, 0), ctx.result(node)
    held, stored = ctx.stored(value), stored_of(target, node.where)
    if held is not None:
        value = ctx.apply(node, Quantize(held), [value])
    if target.kind not in ("float16", "float32", "int8", "uint8", "int16", "int32", "int64", "bool", "uint32"):
        raise FormUnsupported(f"a cast to {target.kind}", where=node.where)
    if stored is None:
        ctx.write(node, Cast(target.kind), [value])
    else:
        ctx.write(node, Cast(target.kind), [value], post=[Dequantize(stored)])


TRANSLATORS: Table = {
    "CAST": cast,
    "DEQUANTIZE": dequantize,
    "QUANTIZE": quantize,
}
NEWEST: Versions = {"CAST": 6, "DEQUANTIZE": 6, "QUANTIZE": 3}
