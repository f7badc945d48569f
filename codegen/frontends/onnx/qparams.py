"""Scales and zero points, checked.

Decides: what a legal scale and zero point is, along which axis a per-axis scale lies, and which element types carry
quantized numbers.
"""

from __future__ import annotations

from typing import Protocol

import numpy as np

from codegen import fixedpoint
from codegen.errors import FormUnsupported, QuantAxisBad, ScaleBad, TypeUnsupported, ZeroPointBad
from codegen.frontends.onnx.nodes import OnnxNode
from codegen.frontends.onnx.states import Int, IntConst
from codegen.ir.quant import Array, DType, Quant

DTYPES = {np.dtype(d.numpy): d for d in (DType.S8, DType.U8, DType.S16, DType.S32)} | {np.dtype(np.uint16): DType.S16}
UNSIGNED_WORD = "uint16"
WORDS_ARE_SIGNED = "uint16 tensors are int16 in the network: their numbers and zero points are 32768 less"
_HALF = 1 << 15


class Constants(Protocol):
    """What reads a node's constant inputs."""

    def const(self, node: OnnxNode, index: int) -> Array:
        """Numbers of a required one."""
        ...

    def optional_const(self, node: OnnxNode, index: int) -> Array | None:
        """Numbers of one that may be left out."""
        ...

    def note(self, text: str) -> None:
        """Tell the user, once."""
        ...


def dtype_of(array_dtype: np.dtype[np.generic], node: OnnxNode) -> DType:
    """The element type of quantized numbers."""
    if array_dtype not in DTYPES:
        raise TypeUnsupported(f"quantized numbers of type {array_dtype}", where=node.where)
    return DTYPES[array_dtype]


def read_scale(ctx: Constants, node: OnnxNode, index: int, *, constant: bool = False) -> Array:
    """Scales as float32, of rank 0 or 1: normal numbers above zero, of a `constant` any but negative ones.

    A channel whose weights are all zero often has a scale of next to nothing, and its bias one of still less.
    """
    scale = ctx.const(node, index)
    tensor = node.inputs[index]
    if scale.dtype.kind != "f":
        raise ScaleBad(f"scale '{tensor}' has type {scale.dtype}", where=node.where)
    if scale.ndim > 1:
        hint = "block-wise scales are not supported: quantize per tensor or per axis"
        raise QuantAxisBad(f"scale '{tensor}' has shape {list(scale.shape)}", where=node.where, hint=hint)
    with np.errstate(all="ignore"):
        scale = scale.astype(np.float32)
    good = np.isfinite(scale) & (scale >= (np.float32(0) if constant else np.finfo(np.float32).tiny))
    if not scale.size or not good.all():
        found = scale[~good].flat[0] if scale.size else "empty"
        raise ScaleBad(f"scale '{tensor}' is {found}", where=node.where)
    return scale


def signed(array: Array) -> Array:
    """Numbers of type uint16 as int16, 2^15 less, as the network holds them; others as they are."""
    return (array.astype(np.int32) - _HALF).astype(np.int16) if array.dtype == np.uint16 else array


def unsigned(array: Array) -> Array:
    """Numbers of type int16 as the uint16 that they stand for."""
    return (array.astype(np.int32) + _HALF).astype(np.uint16)


def whole_numbers(state: Int) -> Quant:
    """What the integers of a tensor are as whole numbers."""
    return Quant(1.0, -_HALF if state.kind == UNSIGNED_WORD else 0)


def zero_kind(ctx: Constants, node: OnnxNode, index: int) -> str:
    """The zero point's type in the model; empty when it is left out."""
    zero = ctx.optional_const(node, index)
    return "" if zero is None else zero.dtype.name


def refuse_other_word(ctx: Constants, node: OnnxNode, kind: str) -> None:
    """Refuse int16 numbers with a zero point of type uint16, and the reverse: here both are int16."""
    zero = zero_kind(ctx, node, 2)
    if zero and zero != kind and UNSIGNED_WORD in (zero, kind):
        raise ZeroPointBad(f"zero point of type {zero} for a tensor of type {kind}", where=node.where)


def read_zero_point(ctx: Constants, node: OnnxNode, index: int, scale: Array, kind: str = "") -> Array | None:
    """Zero points of the scale's shape, in the type that the network holds; None when left out.

    `kind` is the tensor's type in the model: the 0 that is implied is another number where that is uint16.
    """
    zero = ctx.optional_const(node, index)
    if zero is None:
        return np.full(scale.shape, -_HALF, np.int16) if kind == UNSIGNED_WORD else None
    dtype_of(zero.dtype, node)
    if zero.size != scale.size or zero.ndim > 1:
        found = f"zero point '{node.inputs[index]}' has shape {list(zero.shape)}, its scale {list(scale.shape)}"
        raise ZeroPointBad(found, where=node.where)
    return signed(zero).reshape(scale.shape)


def one_quant(node: OnnxNode, scale: Array, zero: Array | None) -> Quant:
    """The meaning of a computed tensor, which has one scale."""
    zeros = np.zeros(1, np.int64) if zero is None else zero.reshape(-1)
    scales = scale.reshape(-1)
    if (scales != scales[0]).any() or (zeros != zeros[0]).any():
        found = f"{scales.size} scales for a tensor that the network computes"
        raise QuantAxisBad(found, where=node.where, hint="only weights and biases may be quantized per channel")
    return Quant(float(scales[0]), int(zeros[0]))


def read_quant(ctx: Constants, node: OnnxNode, index: int, dtype: DType | None = None) -> tuple[Quant, DType]:
    """Meaning and type given by the scale at `index` and the zero point behind it, which has type `dtype`."""
    scale = read_scale(ctx, node, index)
    zero = read_zero_point(ctx, node, index + 1, scale)
    kind = DType.U8 if zero is None else dtype_of(zero.dtype, node)
    if zero is not None and dtype is not None and kind is not dtype:
        found = f"zero point '{node.inputs[index + 1]}' has type {kind.value}, its tensor {dtype.value}"
        raise ZeroPointBad(found, where=node.where)
    return one_quant(node, scale, zero), dtype or kind


def dequantized(ctx: Constants, node: OnnxNode, ints: Array, scale: Array, zero: Array | None, axis: int) -> IntConst:
    """A constant's meaning, per tensor or along `axis`."""
    dtype_of(ints.dtype, node)
    ints = signed(ints)
    if zero is not None and zero.dtype != ints.dtype:
        raise ZeroPointBad(f"zero point of type {zero.dtype} for a tensor of type {ints.dtype}", where=node.where)
    zeros = np.zeros(scale.shape, np.int64) if zero is None else zero.astype(np.int64)
    if scale.size > 1:
        along = [1] * ints.ndim
        along[fitting_axis(ctx, node, ints.shape, scale.size, axis)] = scale.size
        scale, zeros = scale.reshape(along), zeros.reshape(along)
    else:
        scale, zeros = scale.reshape(()), zeros.reshape(())
    # numbers of scale 0 are all the real number 0
    ints = np.where(scale == 0, zeros, ints).astype(ints.dtype) if (scale == 0).any() else ints
    return IntConst(ints, np.broadcast_to(scale, ints.shape), np.broadcast_to(zeros, ints.shape))


def fitting_axis(ctx: Constants, node: OnnxNode, shape: tuple[int, ...], count: int, axis: int) -> int:
    """The axis of a per-axis scale; another one is taken, with a note, when it is the only one that fits."""
    if len(shape) == 1 and axis == 1 and shape[0] == count:
        return 0  # the default axis, which some exporters leave as it is for biases
    if not -len(shape) <= axis < len(shape):
        raise QuantAxisBad(f"axis {axis} of a tensor of shape {list(shape)}", where=node.where)
    given = axis % len(shape)
    if shape[given] == count:
        return given
    others = [i for i, n in enumerate(shape) if n == count]
    if len(others) != 1:
        raise QuantAxisBad(f"{count} scales along axis {axis} of a tensor of shape {list(shape)}", where=node.where)
    taken = f"axis {others[0]} is taken, the only one that fits"
    ctx.note(f"{node.where}: axis {given} does not fit {count} scales; {taken}")
    return others[0]


def quantize_const(
    ctx: Constants, node: OnnxNode, x: Array, scale: Array, zero: Array | None, dtype: DType, axis: int
) -> Array:
    """QuantizeLinear of a constant."""
    if x.dtype.kind != "f" or not np.isfinite(x).all():
        raise TypeUnsupported("a constant that is not finite float numbers is quantized", where=node.where)
    along = fitting_axis(ctx, node, x.shape, scale.size, axis) if scale.size > 1 else None
    zeros = np.zeros(scale.shape, np.int64) if zero is None else zero.astype(np.int64)
    if along is None:
        scale, zeros = scale.reshape(()), zeros.reshape(())
    q = fixedpoint.quantize_linear(x.astype(np.float32), scale, zeros, dtype.low, dtype.high, axis=along)
    return q.astype(dtype.numpy)


def refuse_blocks(node: OnnxNode) -> None:
    """Refuse block-wise scales."""
    if node.integer("block_size", 0):
        raise FormUnsupported("block-wise quantization", where=node.where, hint="quantize per tensor or per axis")
