"""RESIZE_BILINEAR: positions in whole numbers of 2^-10, as TFLite finds them.

Source: tensorflow/lite/kernels/internal/reference/resize_bilinear.h, ResizeBilinearInteger.
"""

from __future__ import annotations

from codegen.frontends.tflite.context import Context
from codegen.frontends.tflite.nodes import TfliteNode
from codegen.frontends.tflite.windows import feature_map
from codegen.ops import ResizeBilinear
from codegen.ops.resize import Tap

_ONE = 1 << 10


def resize_bilinear(ctx: Context, node: TfliteNode) -> None:
    """RESIZE_BILINEAR: numbers are blended as they are, whatever the scales say."""
    options = node.options_of("ResizeBilinearOptions")
    _, height, width, _ = feature_map(node, ctx.type(node, 0).shape)
    _, rows, columns, _ = feature_map(node, ctx.result(node).shape)
    corners, centres = bool(options.AlignCorners()), bool(options.HalfPixelCenters())
    x, dtype = ctx.quantized(node, 0)
    h, w = _taps(height, rows, corners, centres), _taps(width, columns, corners, centres)
    ctx.write(node, ResizeBilinear(h, w, x, x, dtype, dtype.low, dtype.high, ctx.mode), (ctx.value(node, 0),))


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
