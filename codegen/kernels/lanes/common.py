"""What the kernels of sixteen lanes share: processors, which layers they take, factors, biases, blocks."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from codegen.ir.form import Field, Scratch
from codegen.ir.op import NodeOf
from codegen.ir.quant import Array, DType, Requant
from codegen.kernels.common import range_field, requant_fields
from codegen.kernels.fast import fast_fields, fast_requant
from codegen.kernels.lined import Line, line_fields, line_of
from codegen.kernels.packed import filled_to, nibbles
from codegen.kernels.real_line import RealLine, real_line_fields, real_line_of
from codegen.kernels.weighted import BYTES, EACH_STORED_LESS, FOLDED, Weighted, few_said, weighted
from codegen.ops import Conv2D, Dense
from codegen.records import record

LANES = 16
LINE = 64
"""Bytes of a vector, and of a line of a cache: a vector that lies across two takes two loads."""
_IN_FLIGHT = 10
"""Sums that AVX-512 needs to keep both multipliers busy: two a cycle, five cycles each."""
_INT32 = 1 << 31
FEW = 384
"""Weights of 4 bits that are 192 bytes."""
_SAID = {
    "LINED": "outputs by one product and one sum",
    "REAL": "outputs by one fused product",
    "MIRRORED": "outputs by one fused product",
}
_SIGN = 8
"""By how much more numbers of 4 bits are without a sign."""


@record(kw_only=True)
class Processor:
    """What kernels of sixteen lanes are made for; what is compiled for another one gives the same bits.

    Args:
        name: the feature that a chip has of it, and the first part of the kernels' names.
        signed: whether it forms products of inputs with a sign, or without.
        registers: vectors of sixteen lanes.
        pixels: that are summed together, at most.
        block: vectors of output channels that a block of weights holds; `one_pixel` where there is only one pixel.
        one_pixel: see `block`.
        places: blocks of 64 bytes that a depthwise layer sums together, at most.
        step: what four inputs of so many pixels and vectors take, in cycles or in instructions.
        few_of_squares: weights of 4 bits with own zero points that are bytes where windows have rows and columns.
    """

    name: str
    signed: bool
    registers: int
    pixels: int
    block: int
    one_pixel: int
    places: int
    step: Callable[[int, int], int]
    few_of_squares: int = FEW

    @property
    def needs(self) -> frozenset[str]:
        """The features that kernels for it need."""
        return frozenset({self.name})


X86 = Processor(
    name="x86",
    signed=False,
    registers=30,
    pixels=16,
    block=4,
    one_pixel=8,
    places=5,
    step=lambda pixels, vectors: max(pixels * vectors, pixels + vectors, _IN_FLIGHT),
    few_of_squares=1728,
)
"""AVX-512.  A product per pixel and vector, two a cycle like the loads, at least as long as one waits for another."""
NEON = Processor(
    name="neon",
    signed=True,
    registers=7,
    pixels=6,
    block=1,
    one_pixel=4,
    places=1,
    step=lambda pixels, vectors: 4 * pixels * vectors + pixels + 4 * vectors + 2,
)
"""AArch64.  Four products per pixel and vector, a load per pixel, four per vector, and the loop."""
PROCESSORS = (X86, NEON)


@record
class LanesRequant:
    """How the C requantizes: names of lam_lanes_requant.h, and the types at both ends.

    `is_signed`: params are for inputs with a sign; `few`: weights have 4 bits; `own`: and zero points of their own;
    `narrow`: no weight is -128, or -8 of 4 bits, where the processor gains by that.
    """

    mode: str
    per_channel: bool
    saturates: bool
    x_signed: bool
    type: str
    is_signed: bool
    narrow: bool
    few: bool
    own: bool


@record(kw_only=True)
class LanesRowsContext:
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
    rq: LanesRequant

    @property
    def overlap_h(self) -> int:
        """Input rows that two neighbouring output rows share; below 0 where some are read by none."""
        return self.extent_h - self.stride_h


def lanes_requant(on: Processor, sums: Weighted, *, few: bool) -> LanesRequant:
    """The template's view of the Requant of a layer's sums."""
    requant, y = sums.op.requant, sums.y
    x_signed = sums.x is DType.S8
    own = few and sums.less is not None
    narrow = on.signed and bool(sums.weights.min(initial=0) > (-8 if few and not own else -128))
    if requant is None:
        return LanesRequant("NONE", False, False, x_signed, "S32", on.signed, narrow, few, own)
    saturates = (requant.low, requant.high) == (y.low, y.high)
    mode = _mode(on, sums, requant)
    return LanesRequant(mode, requant.per_channel, saturates, x_signed, y.name, on.signed, narrow, few, own)


def _stored(sums: Weighted, rq: LanesRequant) -> Array:
    """The weights as they are stored: without a sign where they have zero points of their own."""
    return sums.shifted_weights() + np.int8(_SIGN) if rq.own else sums.weights


def takes_few(sums: Weighted, shared: int, pixels: int = 1, least: int = FEW) -> bool:
    """Whether weights are stored in 4 bits: the model has them in 4 or 2, and sums of 16 times them fit 32 bits.

    Those of zero points of their own are not multiplied: where they are few, up to `least`, what they take more in each
    of several `pixels` is most of a layer, and they are bytes.  `shared`: what could lie in a byte together; of one
    alone nothing would be saved.
    """
    own = sums.less is not None
    if sums.bits == 0 or shared == 1 or (own and pixels > 1 and sums.weights.size <= least):
        return False
    most = np.abs(sums.weights.reshape(len(sums.weights), -1).astype(np.int64)).sum(axis=1).max(initial=0)
    return own or bool(16 * 255 * most < _INT32)


def slack(rq: LanesRequant) -> Scratch:
    """Bytes behind the inputs in scratch that the last ones of a run, by fours or eights, may reach into."""
    return Scratch("slack", 8 if rq.few else 4)


def said_of(rq: LanesRequant) -> str:
    """What is said of a form beside its blocks."""
    few = f", {few_said(4, own=rq.own)}" if rq.few else ""
    return f"{few}, {_SAID[rq.mode]}" if rq.mode in _SAID else few


def byte_sums(node: NodeOf[Conv2D | Dense]) -> Weighted | None:
    """The sums of a layer of bytes by int8 weights, where its factors have the form that vectors take."""
    sums = weighted(node, apart=True)
    if sums is None or sums.x not in BYTES or sums.weights.dtype != np.int8:
        return None
    return sums if sums.reach < _INT32 and takes_factors(node.op.requant, sums.y, sums.reach) else None


def takes_factors(requant: Requant | None, y: DType, reach: int) -> bool:
    """Whether lam_lanes_rescale gives `requant` of accumulators up to +-reach, into elements of type y."""
    if requant is None:
        return y is DType.S32
    if y not in BYTES:
        return False
    return bool(mode_name(requant, reach))


def mode_name(requant: Requant, reach: int) -> str:
    """How lam_lanes_rescale calls what it does to accumulators up to +-reach; empty where it has no form for it."""
    if requant.mode == "ort":
        return "ORT"
    return {"single": "SINGLE", "raised": "RAISED", "tflite": "TFLITE", "low": "TFLITE"}.get(
        fast_requant(requant, reach).form, ""
    )


def factor_fields(requant: Requant | None, reach: int) -> tuple[Field, ...]:
    """Params `multiplier` and `shift`, or `scale`, and `range`."""
    if requant is None or requant.mode == "ort":
        return requant_fields(requant)
    return fast_fields(requant, reach, len(requant.multiplier))


def sum_fields(on: Processor, sums: Weighted) -> tuple[Field, ...]:
    """Params `bias` and the factors; weights are the kernel's own."""
    fill, line, requant = _fill(on, sums), _line(on, sums), sums.op.requant
    offset = 0 if line is None else line.offset

    def bias() -> Array:
        return wrapped_bias(sums.weights, sums.bias.astype(np.int64) + offset, fill)

    folded = Field.later("bias", np.int32, sums.bias.size, bias, FOLDED)
    if requant is None or line is None:
        return (folded, *factor_fields(requant, sums.reach))
    bounds = range_field(requant.zero_point, requant.low, requant.high)
    if isinstance(line, RealLine):
        return (folded, *real_line_fields(requant, line), bounds)
    return (folded, *line_fields(requant, line, "LAM_LANES_LINED"), bounds)


def _mode(on: Processor, sums: Weighted, requant: Requant) -> str:
    """How lam_lanes_requant.h calls what is done to a layer's sums."""
    line = _line(on, sums)
    if line is None:
        return mode_name(requant, sums.reach)
    return "LINED" if isinstance(line, Line) else "MIRRORED" if line.mirrored else "REAL"


def _line(on: Processor, sums: Weighted) -> RealLine | Line | None:
    """Numbers by which one product and one sum make the layer's outputs: real ones, else whole ones.

    Where inputs have a sign, as on AArch64, an instruction rounds TFLite's product, and nothing would be gained.  One
    layer of six has no real ones: they are not looked for where other weights have to fit the kernel.
    """
    requant = sums.op.requant
    if on.signed or requant is None or not takes_factors(requant, sums.y, sums.reach):
        return None
    reaches = sums.reaches if requant.per_channel else (sums.reach,)
    line = (None if sums.sent else real_line_of(requant, reaches)) or line_of(requant, sums.reach)
    return line if line is not None and sums.reach + int(np.abs(line.offset).max()) < _INT32 else None


def fill_field(on: Processor, sums: Weighted) -> Field:
    """Params `fill`: what padding is in the processor's form."""
    form = "signed" if on.signed else "unsigned"
    return Field("fill", np.array([_fill(on, sums)], np.int32), about=f"what padding is, in {form} form")


def _fill(on: Processor, sums: Weighted) -> int:
    return sums.op.x_zero_point + 128 * ((sums.x is DType.S8) - on.signed)


def wrapped_bias(weights: Array, bias: Array, zero_point: int) -> Array:
    """The bias for inputs with this zero point, modulo 2^32: sums wrap, and the end value is right."""
    sums = weights.reshape(weights.shape[0], -1).astype(np.int64).sum(axis=1)
    return np.asarray((bias.astype(np.int64) - zero_point * sums).astype(np.uint32).view(np.int32))


def weights_field(sums: Weighted, runs: int, block: int, rq: LanesRequant) -> Field:
    """Params `weights`: each channel as so many runs, in the order of packed_weights."""
    channels, taps = len(sums.weights), sums.weights[0].size
    size = channels * runs * -(-taps // runs // (8 if rq.few else 4)) * 4
    order = "in the order of lam_lanes_conv.h"

    def packed() -> Array:
        return packed_weights(_stored(sums, rq).reshape(channels, runs, -1), block, few=rq.few)

    return Field.later("weights", np.int8, size, packed, order, alignment=LINE)


def less_fields(sums: Weighted, rq: LanesRequant) -> tuple[Field, ...]:
    """Params `w_shift`, what weights without a sign are stored as less, where they have zero points of their own."""
    if not rq.own or sums.less is None:
        return ()
    return (Field("w_shift", (sums.less - _SIGN).astype(np.int8), about=EACH_STORED_LESS),)


def totals_scratch(rq: LanesRequant, pixels: int) -> Scratch:
    """Room for the sums of the inputs of so many pixels, where weights have zero points of their own."""
    return Scratch("totals", 4 * pixels if rq.own else 0)


def packed_weights(runs: Array, block: int, *, few: bool = False) -> Array:
    """Weights [channels, runs, elements] in the order of lam_lanes_conv.h: [block][run][quad][channel][4], flat.

    `few`: of 4 bits, two quads in the same bytes.
    """
    elements = filled_to(runs, 8 if few else 4, axis=2)
    quads = elements.reshape(*runs.shape[:2], -1, 4)
    if few:
        quads = nibbles(quads, axis=2).view(np.int8)
    parts = [quads[i : i + block] for i in range(0, len(runs), block)]
    return np.concatenate([p.reshape(len(p), -1, 4).transpose(1, 0, 2).reshape(-1) for p in parts])


def block_channels(on: Processor, pixels: int) -> int:
    """Output channels of one block of weights, the last one aside."""
    return LANES * (on.block if pixels > 1 else on.one_pixel)


def tile_pixels(on: Processor, width: int, channels: int, block: int) -> int:
    """Pixels that are summed together: the number that takes least for a row of `width`."""
    vectors = -(-min(channels, block) // LANES)
    most = min(width, on.pixels, max(1, (on.registers - vectors) // vectors))
    return min(range(1, most + 1), key=lambda p: (-(-width // p) * on.step(p, vectors), -p))
