"""Parts that several kernels share: requantization parameters, bounds of sums, accumulator width, folded bias.

A kernel's context holds shapes, types and modes only, so that layers of equal shape share one function; every number
that training made goes into the parameters.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from codegen import fixedpoint
from codegen.ir.form import Field
from codegen.ir.op import NodeView
from codegen.ir.quant import Array, DType, Requant, Rounding, TensorType
from codegen.ir.shape import Shape
from codegen.ops.accumulator import channel_ends, folded_bias, needs_int64
from codegen.records import record

_INT32 = (-(1 << 31), (1 << 31) - 1)
_ACC_BITS = fixedpoint.ACC_BITS_64


@record
class RequantContext:
    """How a template requantizes: mode, whether factors are per channel, the type of the accumulator.

    A `wide` accumulator is summed in 64 bits; its multipliers have at most 30 bits, or (`narrowed`) its end value is
    proved to fit 32 bits and goes on as such.  `rounding` is that of mode single.
    """

    mode: str
    per_channel: bool
    wide: bool
    narrowed: bool = False
    rounding: Rounding = "half_up"

    @property
    def headers(self) -> tuple[str, ...]:
        """What the template's requantization calls."""
        if self.mode == "none":
            return ()
        if self.rounding != "half_up":
            return ("lam_requant_rounded.h",)
        return ("lam_requant_ort.h",) if self.mode == "ort" else ("lam_requant.h",)


def requant_context(requant: Requant | None, *, wide: bool = False) -> RequantContext:
    """The template's view of a Requant; mode `none` stores the accumulator itself."""
    if requant is None:
        return RequantContext("none", per_channel=False, wide=wide)
    narrowed = wide and not _takes_64_bits(requant)
    return RequantContext(requant.mode, requant.per_channel, wide, narrowed, requant.rounding)


def requant_fields(requant: Requant | None) -> tuple[Field, ...]:
    """Params `multiplier` and `shift` (or `scale`), and `range` = [zero_point, low, high]."""
    if requant is None:
        return ()
    bounds = range_field(requant.zero_point, requant.low, requant.high)
    whose = whose_factors(requant)
    if requant.mode == "ort":
        return (Field("scale", np.array(requant.scale, np.float32), about=f"{whose}, of lam_requant_ort.h"), bounds)
    taken = f"of lam_requant_{requant.mode}_q"
    return (
        Field("multiplier", np.array(requant.multiplier, np.int32), about=f"{whose}, {taken}"),
        bounds,
        Field("shift", np.array(requant.shift, np.int8), about=f"{whose}, {taken}"),
    )


def whose_factors(requant: Requant) -> str:
    """Of which outputs one entry of a requantization's factors is."""
    return "of each output channel" if requant.per_channel else "of all channels"


def range_field(zero_point: int, low: int, high: int, *, saturates: bool = False) -> Field:
    """Params `range` = [zero_point, low, high]; a kernel that `saturates` reads the first alone."""
    about = "of the output; zero_point alone is read" if saturates else "of the output"
    return Field("range", np.array([zero_point, low, high], np.int32), record="lam_range", about=about)


def zero_field(a: int, b: int) -> Field:
    """Params `zero`, of an operator on two tensors."""
    return Field("zero", np.array([a, b], np.int32), about="zero points of the inputs")


def _takes_64_bits(requant: Requant) -> bool:
    """Whether the golden model takes accumulators of more than 32 bits (ops/requantize.py: scaled)."""
    if requant.mode == "ort":
        return True
    return requant.mode == "single" and max(requant.multiplier).bit_length() <= fixedpoint.WIDE_MULTIPLIER_BITS


def requant_takes(requant: Requant | None, low: int, high: int, *, wide: bool = False) -> bool:
    """Whether accumulators low .. high can be requantized; all other ones the golden model refuses.

    `low` and `high` are bounds of the end value; `wide` says that the kernel's sums have 64 bits where they need them.
    Without a Requant the value wraps to 32 bits, as in the golden model.
    """
    if requant is None:
        return True
    least, most = _INT32
    if _takes_64_bits(requant) and (wide or requant.mode != "ort"):
        bits = max(requant.multiplier, default=0).bit_length()
        most = (1 << (min(_ACC_BITS, 63 - bits) - 1)) - 1
        least = -most - 1
    left = max(0, *requant.shift) if requant.mode == "tflite" else 0
    return least <= low << left and high << left <= most


def is_wide(weights: Array, bias: Array, x_zero_point: int, x_dtype: DType) -> bool:
    """Whether any partial sum of the folded form, in any order, could leave int32.

    The bound is `|b'| + sum |w| * max|x|` per output channel.
    """
    return needs_int64(weights, bias, x_dtype.low, x_dtype.high, x_zero_point)


def weight_shift(weights: Array, bias: Array, x_zero_point: int, x_dtype: DType) -> int | None:
    """What is taken off every weight so that each fits a byte, the least such number; None where nothing does.

    Weights of uint8 less their zero point span 256 numbers wherever they lie.  A kernel multiplies the bytes and adds
    the shift times the sum of a window's inputs, once for all outputs; None also where that could leave 32 bits.
    """
    low, high = int(weights.min()), int(weights.max())
    if high - low > 255:
        return None
    shift = max(high - 127, 0) + min(low + 128, 0)
    reach = np.abs(weights.reshape(weights.shape[0], -1).astype(np.int64) - shift).sum(axis=1)
    most = max(abs(x_dtype.low), x_dtype.high) * (reach + abs(shift) * (weights.size // weights.shape[0]))
    return shift if int((np.abs(folded_bias(weights, bias, x_zero_point)) + most).max()) < 2**31 else None


def end_values(weights: Array, bias: Array, x_zero_point: int, x_dtype: DType) -> tuple[int, int]:
    """Bounds of the accumulator `b + sum w * (x - zx)` over all inputs and output channels."""
    low, high = channel_ends(weights, bias, x_zero_point, x_dtype)
    return int(low.min()), int(high.max())


def constant_fields(node: NodeView, names: Sequence[str]) -> tuple[Field, ...]:
    """The constant inputs as they are, each under the name of its place."""
    known = zip(names, node.consts, strict=True)
    return tuple(Field(name, np.ascontiguousarray(c).reshape(-1)) for name, c in known if c is not None)


def sides(node: NodeView, names: Sequence[str]) -> tuple[tuple[str, str], ...]:
    """C type and expression of each input: rows have the type of the first computed one."""
    first = node.ins[node.dynamic[0]].dtype.ctype
    found = []
    for index, (kind, name) in enumerate(zip(node.ins, names, strict=True)):
        ctype = kind.dtype.ctype
        row = f"rows[{node.dynamic.index(index)}]" if index in node.dynamic else name
        found.append((ctype, f"LAM_VIEW({ctype}, {row})" if row != name and ctype != first else row))
    return tuple(found)


def channels(shape: Shape) -> int:
    """Elements of one pixel: the last axis; 1 for a scalar."""
    return shape[-1] if shape else 1


def only_dynamic(node: NodeView) -> bool:
    """Whether the node has one input, which is computed."""
    return node.dynamic == (0,) and len(node.ins) == 1


def row_shape(kind: TensorType) -> tuple[int, int]:
    """Pixels and channels of one row."""
    return (kind.shape[-2] if len(kind.shape) > 1 else 1), channels(kind.shape)
