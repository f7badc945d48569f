"""RESIZE_BILINEAR and RESIZE_NEAREST_NEIGHBOR, at the positions that TFLite finds.

Decides: that bilinear positions are whole numbers of 2^-10.
Source: tensorflow/lite/kernels/internal/reference/resize_bilinear.h, ResizeBilinearInteger.
"""

from __future__ import annotations

from collections.abc import Sequence

from codegen.ir.real import RealNode
from codegen.ops import ResizeBilinear, ResizeNearest
from codegen.ops.resize import Tap
from codegen.real import movement as real_movement
from codegen.real import resize as real
from codegen.real import taps
from codegen.settle.rule import Family, Rule
from codegen.settle.states import Request, State
from codegen.settle.tflite.context import TfliteContext
from codegen.settle.tflite.movement import with_value

_ONE = 1 << 10


def pick(ctx: TfliteContext, node: RealNode, op: real_movement.Pick) -> Sequence[State]:
    """RESIZE_NEAREST_NEIGHBOR where TFLite takes other elements than a Resize does."""
    image, rows, columns, channel = op.places
    if rows is None or columns is None or image is not None or channel is not None:
        raise ctx.real_only(node)
    return [_nearest(ctx, node, rows, columns)]


def resize(ctx: TfliteContext, node: RealNode, op: real.Resize) -> Sequence[State]:
    """RESIZE_BILINEAR, or RESIZE_NEAREST_NEIGHBOR, of rows and columns."""
    if op.mode == "linear":
        return [_bilinear(ctx, node, op)]
    shape = ctx.real(node.inputs[0]).shape
    rows, columns = (
        tuple(taps.nearest(taps.places(stretch, n, op.coordinates), n, op.rounding).tolist())
        for n, stretch in zip(shape[1:3], op.stretches[1:3], strict=True)
        if stretch is not None
    )
    return [_nearest(ctx, node, rows, columns)]


def _nearest(ctx: TfliteContext, node: RealNode, rows: tuple[int, ...], columns: tuple[int, ...]) -> State:
    made = ctx.made(node, ResizeNearest(rows, columns), (ctx.value(node, 0),))
    return with_value(ctx.state(node, 0), made)


def _bilinear(ctx: TfliteContext, node: RealNode, op: real.Resize) -> State:
    """Numbers are blended as they are, whatever the scales say."""
    x, dtype = ctx.quantized(node, 0), ctx.dtype(node, 0)
    corners, centres = op.coordinates == "align_corners", op.coordinates == "half_pixel"
    sizes = zip(ctx.type(x.value).shape[1:3], ctx.real(node.outputs[0]).shape[1:3], strict=True)
    h, w = (_taps(n, m, corners, centres) for n, m in sizes)

    def write(request: Request) -> str:
        made = ResizeBilinear(h, w, x.quant, x.quant, dtype, dtype.low, dtype.high, ctx.mode)
        return ctx.write(request, made, (x.value,))

    return ctx.waiting(node, write, shifted_16=True)


def _taps(n_in: int, n_out: int, corners: bool, centres: bool) -> tuple[Tap, ...]:
    """Two source positions of each output position and the second one's weight, in units of 2^-11 (always even)."""
    if corners and n_out > 1:
        step = (_ONE * (n_in - 1) + (n_out - 1) // 2) // (n_out - 1)
    else:
        step = (_ONE * n_in + n_out // 2) // n_out
    taps = []
    for i in range(n_out):
        at = i * step + (step // 2 - _ONE // 2 if centres else 0)
        low = min(max(int(at / _ONE), 0), n_in - 1)
        high = min(int((at + _ONE - 1) / _ONE), n_in - 1)
        weight = at - _ONE * low if high > low else 0
        taps.append((low, max(high, low), 2 * weight))
    return tuple(taps)


RULES: Family = (
    Rule(real_movement.Pick, pick, ("ONE_HOT",)),
    Rule(real.Resize, resize, ("RESIZE_BILINEAR", "RESIZE_NEAREST_NEIGHBOR")),
)
