"""What the x86 kernels share: which layers they take, requantization, the folded bias, blocks of registers."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from codegen.ir.form import Field
from codegen.ir.op import NodeOf
from codegen.ir.quant import Array, DType, Requant
from codegen.kernels.common import requant_fields
from codegen.kernels.fast import fast_fields, takes_one_product
from codegen.kernels.weighted import BYTES, FOLDED, Weighted, weighted
from codegen.ops import Conv2D, Dense

LANES = 16
BLOCK_VECTORS = 4
"""Vectors of output channels that a block of weights holds; `ONE_PIXEL_VECTORS` where there is only one pixel."""
ONE_PIXEL_VECTORS = 8
_REGISTERS = 30
_MOST_PIXELS = 12
_IN_FLIGHT = 10
"""Sums needed to keep both multipliers busy: two a cycle, five cycles each."""

X86 = frozenset({"x86"})
_INT32 = 1 << 31


@dataclass(frozen=True, slots=True)
class X86Requant:
    """How the C requantizes: names of lam_x86_requant.h, and the types at both ends."""

    mode: str
    per_channel: bool
    saturates: bool
    flip: bool
    type: str


@dataclass(frozen=True, slots=True, kw_only=True)
class X86RowsContext:
    """Rows in scratch that several output rows of a call share: `line_bytes` each, padding `left` and `right`."""

    kernel_h: int
    line_step: int
    row_step: int
    channels: int
    left: int
    inner: int
    right: int
    line_bytes: int
    stride_h: int
    extent_h: int
    rq: X86Requant

    @property
    def overlap_h(self) -> int:
        """Input rows that two neighbouring output rows share; below 0 where some are read by none."""
        return self.extent_h - self.stride_h


def x86_requant(requant: Requant | None, x: DType, y: DType) -> X86Requant:
    """The template's view of a Requant, from bytes of type x to elements of type y."""
    if requant is None:
        return X86Requant("NONE", False, False, x is DType.S8, "S32")
    saturates = (requant.low, requant.high) == (y.low, y.high)
    return X86Requant(requant.mode.upper(), requant.per_channel, saturates, x is DType.S8, y.name)


def byte_sums(node: NodeOf[Conv2D | Dense]) -> Weighted | None:
    """The sums of a layer of bytes by int8 weights, where its factors have the form that vectors take."""
    sums = weighted(node)
    if sums is None or sums.x not in BYTES or sums.weights.dtype != np.int8:
        return None
    return sums if sums.reach < _INT32 and takes_factors(node.op.requant, sums.y, sums.reach) else None


def takes_factors(requant: Requant | None, y: DType, reach: int) -> bool:
    """Whether lam_x86_rescale gives `requant` of accumulators up to +-reach, into elements of type y."""
    if requant is None:
        return y is DType.S32
    if y not in BYTES:
        return False
    return requant.mode == "ort" or takes_one_product(requant, reach)


def factor_fields(requant: Requant | None, reach: int) -> tuple[Field, ...]:
    """Params `multiplier` and `shift`, or `scale`, and `range`."""
    if requant is None or requant.mode == "ort":
        return requant_fields(requant)
    return fast_fields(requant, reach, len(requant.multiplier))


def sum_fields(sums: Weighted) -> tuple[Field, ...]:
    """Params `bias` and the factors; weights are the kernel's own."""
    fill = _fill(sums)
    bias = Field.later("bias", np.int32, sums.bias.size, lambda: unsigned_bias(sums.weights, sums.bias, fill), FOLDED)
    return (bias, *factor_fields(sums.op.requant, sums.reach))


def fill_field(sums: Weighted) -> Field:
    """Params `fill`: what padding is in unsigned form."""
    return Field("fill", np.array([_fill(sums)], np.int32), about="what padding is, in unsigned form")


def _fill(sums: Weighted) -> int:
    return sums.op.x_zero_point + (128 if sums.x is DType.S8 else 0)


def unsigned_bias(weights: Array, bias: Array, zero_point: int) -> Array:
    """The bias for unsigned inputs with this zero point, modulo 2^32: sums wrap, and the end value is right."""
    sums = weights.reshape(weights.shape[0], -1).astype(np.int64).sum(axis=1)
    return np.asarray((bias.astype(np.int64) - zero_point * sums).astype(np.uint32).view(np.int32))


def weights_field(weights: Array, runs: int, block: int) -> Field:
    """Params `weights`: each channel as so many runs, in the order of packed_weights."""
    channels, taps = len(weights), weights[0].size
    size = channels * runs * -(-taps // runs // 4) * 4
    split, order = weights.reshape(channels, runs, -1), "in the order of lam_x86_conv.h"
    return Field.later("weights", np.int8, size, lambda: packed_weights(split, block), order)


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
