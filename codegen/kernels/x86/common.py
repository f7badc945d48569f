"""What the x86 kernels share: which layers they take, requantization, the folded bias, blocks of registers."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from codegen.ir.form import Field
from codegen.ir.op import NodeView
from codegen.ir.quant import Array, DType, Requant
from codegen.kernels.common import end_values, requant_fields
from codegen.kernels.conv2d import conv_constants
from codegen.kernels.fast import fast_fields, fast_requant
from codegen.ops import Conv2D, Dense

LANES = 16
BLOCK_VECTORS = 4
"""Vectors of output channels that a block of weights holds; `ONE_PIXEL_VECTORS` where there is only one pixel."""
ONE_PIXEL_VECTORS = 8
_REGISTERS = 30
_MOST_PIXELS = 12
_IN_FLIGHT = 10
"""Sums needed to keep both multipliers busy: two a cycle, five cycles each."""

ISAS = ("host", "avx2", "avx512_vnni")
BYTES = (DType.S8, DType.U8)
_INT32 = 1 << 31


@dataclass(frozen=True, slots=True)
class X86Requant:
    """How the C requantizes: names of lam_x86_requant.h, and the types at both ends."""

    mode: str
    per_channel: bool
    saturates: bool
    flip: bool
    type: str


def x86_requant(requant: Requant | None, x: DType, y: DType) -> X86Requant:
    """The template's view of a Requant, from bytes of type x to elements of type y."""
    if requant is None:
        return X86Requant("NONE", False, False, x is DType.S8, "S32")
    saturates = (requant.low, requant.high) == (y.low, y.high)
    return X86Requant(requant.mode.upper(), requant.per_channel, saturates, x is DType.S8, y.name)


def accepts_sums(node: NodeView, isa: str) -> bool:
    """Whether a Conv2D or Dense sums bytes by int8 weights, and its factors have the form that vectors take."""
    op = node.op
    if isa not in ISAS or not isinstance(op, Conv2D | Dense) or node.dynamic != (0,):
        return False
    if node.ins[0].dtype not in BYTES or node.ins[1].dtype is not DType.S8:
        return False
    reach = _reach(node)
    return reach < _INT32 and takes_factors(op.requant, node.outs[0].dtype, reach)


def _reach(node: NodeView) -> int:
    """The largest end value, in size."""
    op = node.op
    assert isinstance(op, Conv2D | Dense)
    low, high = end_values(*conv_constants(node), op.x_zero_point, node.ins[0].dtype)
    return max(-low, high)


def takes_factors(requant: Requant | None, y: DType, reach: int) -> bool:
    """Whether lam_x86_rescale gives `requant` of accumulators up to +-reach, into elements of type y."""
    if requant is None:
        return y is DType.S32
    if y not in BYTES:
        return False
    return requant.mode == "ort" or fast_requant(requant, reach).form != ""


def factor_fields(requant: Requant | None, reach: int) -> tuple[Field, ...]:
    """Params `multiplier` and `shift`, or `scale`, and `range`."""
    if requant is None or requant.mode == "ort":
        return requant_fields(requant)
    return fast_fields(requant, reach, len(requant.multiplier))


def sum_fields(node: NodeView) -> tuple[Field, ...]:
    """Params `bias`, `fill` (what padding is in unsigned form) and the factors; weights are the kernel's own."""
    op = node.op
    assert isinstance(op, Conv2D | Dense)
    weights, bias = conv_constants(node)
    fill = op.x_zero_point + (128 if node.ins[0].dtype is DType.S8 else 0)
    return (
        Field("bias", unsigned_bias(weights, bias, fill)),
        Field("fill", np.array([fill], np.int32)),
        *factor_fields(op.requant, _reach(node)),
    )


def unsigned_bias(weights: Array, bias: Array, zero_point: int) -> Array:
    """The bias for unsigned inputs with this zero point, modulo 2^32: sums wrap, and the end value is right."""
    sums = weights.reshape(weights.shape[0], -1).astype(np.int64).sum(axis=1)
    return np.asarray((bias.astype(np.int64) - zero_point * sums).astype(np.uint32).view(np.int32))


def packed_weights(runs: Array, block: int) -> Array:
    """Weights [channels, runs, elements] in the order of lam_x86_conv.h: [block][run][quad][channel][4], flat."""
    channels, _, elements = runs.shape
    quads = -(-elements // 4)
    padded = np.zeros((channels, runs.shape[1], quads * 4), np.int8)
    padded[:, :, :elements] = runs
    parts = [padded[i : i + block] for i in range(0, channels, block)]
    ordered = [p.reshape(len(p), -1, 4).transpose(1, 0, 2).reshape(-1) for p in parts]
    return np.concatenate(ordered)


def block_channels(channels: int, pixels: int) -> int:
    """Output channels of one block of weights, the last one aside."""
    return LANES * (BLOCK_VECTORS if pixels > 1 else ONE_PIXEL_VECTORS)


def tile_pixels(width: int, channels: int, block: int) -> int:
    """Pixels that are summed together: the number with the least cycles for a row of `width`.

    A step over four inputs takes a multiplication per pixel and vector, two a cycle like the loads, and at least as
    long as one multiplication waits for the one before.
    """
    vectors = -(-min(channels, block) // LANES)
    most = min(width, _MOST_PIXELS, max(1, (_REGISTERS - vectors) // vectors))

    def cycles(pixels: int) -> int:
        return -(-width // pixels) * max(pixels * vectors, pixels + vectors, _IN_FLIGHT)

    return min(range(1, most + 1), key=lambda p: (cycles(p), -p))
