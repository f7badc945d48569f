"""Resize: nearest and linear, every coordinate transformation but cropping.

Decides: for each output row and column which input rows and columns it reads.  Positions are computed in float32, as
ONNX Runtime does.  Source: onnx/docs/Operators.md, Resize.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
import numpy.typing as npt

from codegen.errors import FormUnsupported
from codegen.ir.op import Op
from codegen.ir.real import RealNode
from codegen.ops import Reshape, ResizeBilinear, ResizeNearest, Transpose
from codegen.real.resize import Resize as RealResize
from codegen.records import record
from codegen.settle.context import Context
from codegen.settle.layout import TO_NCHW, TO_NHWC
from codegen.settle.move import move
from codegen.settle.pool import averaging
from codegen.settle.rule import Family, Rule
from codegen.settle.states import Request, Route, State
from codegen.settle.tables import exact

Positions = npt.NDArray[np.float32]
Tap = tuple[int, int, int]
_WEIGHT_ONE = 2**11


@record
class Axis:
    """One axis: its sizes and the factor between them."""

    n_in: int
    n_out: int
    scale: float


def _half_pixel(x: Positions, a: Axis) -> Positions:
    return (x + np.float32(0.5)) / np.float32(a.scale) - np.float32(0.5)


def _symmetric(x: Positions, a: Axis) -> Positions:
    adjustment = np.float32(a.n_out) / (np.float32(a.scale) * np.float32(a.n_in))
    return np.float32(a.n_in / 2) * (1 - adjustment) + _half_pixel(x, a)


_COORDINATES: dict[str, Callable[[Positions, Axis], Positions]] = {
    "half_pixel": _half_pixel,
    "half_pixel_symmetric": _symmetric,
    "pytorch_half_pixel": lambda x, a: _half_pixel(x, a) if a.n_out > 1 else np.zeros_like(x),
    "asymmetric": lambda x, a: x / np.float32(a.scale),
    "align_corners": lambda x, a: (
        x * np.float32(a.n_in - 1) / np.float32(a.n_out - 1) if a.n_out > 1 else np.zeros_like(x)
    ),
    "tf_half_pixel_for_nn": lambda x, a: (x + np.float32(0.5)) / np.float32(a.scale),
}
_ROUNDINGS: dict[str, Callable[[Positions], Positions]] = {
    "round_prefer_floor": lambda x: np.ceil(x - np.float32(0.5)),
    "round_prefer_ceil": lambda x: np.floor(x + np.float32(0.5)),
    "floor": np.floor,
    "ceil": np.ceil,
}


def resize(ctx: Context, node: RealNode, op: RealResize) -> Sequence[State]:
    """Resize of two or fewer neighbouring axes."""
    found = {"mode cubic": op.mode == "cubic", "antialias": op.smooth}
    found["coordinate_transformation_mode tf_crop_and_resize"] = op.coordinates not in _COORDINATES
    for form, is_so in found.items():
        if is_so:
            raise FormUnsupported(f"{node.op_type} with {form}", where=node.where)
    shape = ctx.shape(ctx.state(node, 0))
    axes = [Axis(n, *((n, 1.0) if s is None else (s.size, s.scale))) for n, s in zip(shape, op.stretches, strict=True)]
    changed = [i for i, a in enumerate(axes) if a.n_in != a.n_out]
    if not changed:
        return [ctx.state(node, 0)]
    pre, post, at = _as_map(node, shape, [a.n_out for a in axes], changed)
    rows, columns = (axes[i] if i is not None else Axis(1, 1, 1.0) for i in at)
    positions = [_COORDINATES[op.coordinates](np.arange(a.n_out, dtype=np.float32), a) for a in (rows, columns)]
    if op.mode == "nearest":
        nearest = _ROUNDINGS[op.rounding]
        h, w = (_indices(nearest(p), a) for p, a in zip(positions, (rows, columns), strict=True))
        return [move(ctx, node, ctx.state(node, 0), lambda kind: Route(ResizeNearest(h, w), pre, post))]
    return [_linear(ctx, node, [_taps(p, a) for p, a in zip(positions, (rows, columns), strict=True)], pre, post)]


def _linear(
    ctx: Context, node: RealNode, taps: Sequence[tuple[Tap, ...]], pre: tuple[Op, ...], post: tuple[Op, ...]
) -> State:
    x = exact(ctx, node, 0)

    def make(request: Request, low: int, high: int) -> Op:
        return ResizeBilinear(taps[0], taps[1], x.quant, request.quant, request.dtype, low, high, ctx.mode)

    return averaging(ctx, node, x, make, pre, post)


def _as_map(
    node: RealNode, shape: Sequence[int], result: Sequence[int], changed: Sequence[int]
) -> tuple[tuple[Op, ...], tuple[Op, ...], tuple[int | None, int | None]]:
    """Operators that bring the changed axes to rows and columns and back, and which axes those are."""
    rank = len(shape)
    if rank == 4 and set(changed) <= {2, 3}:
        return (Transpose(TO_NHWC),), (Transpose(TO_NCHW),), (2, 3)
    if rank == 4 and set(changed) <= {1, 2}:
        return (), (), (1, 2)
    if rank == 3 and set(changed) == {2}:
        n, c, length = shape
        pre = (Reshape((n, c, 1, length)), Transpose(TO_NHWC))
        return pre, (Transpose(TO_NCHW), Reshape(tuple(result))), (None, 2)
    found = f"{node.op_type} of {list(shape)} to {list(result)}, along axes {list(changed)}"
    raise FormUnsupported(found, where=node.where)


def _indices(positions: Positions, axis: Axis) -> tuple[int, ...]:
    return tuple(int(p) for p in np.clip(positions, 0, axis.n_in - 1))


def _taps(positions: Positions, axis: Axis) -> tuple[Tap, ...]:
    taps: list[Tap] = []
    for position in np.clip(positions, 0, axis.n_in - 1):
        first = int(position)
        weight = int(np.rint((position - np.float32(first)) * _WEIGHT_ONE))
        if weight == _WEIGHT_ONE:
            first, weight = first + 1, 0
        taps.append((first, min(first + 1, axis.n_in - 1), weight))
    return tuple(taps)


RULES: Family = (Rule(RealResize, resize, ("Resize", "Upsample")),)
