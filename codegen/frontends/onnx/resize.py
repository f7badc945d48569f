"""Resize and Upsample: nearest and linear, every coordinate transformation but cropping.

Decides: for each output row and column which input rows and columns it reads.  Positions are computed in float32, as
ONNX Runtime does.  Source: onnx/docs/Operators.md, Resize.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from codegen.errors import FormUnsupported, ModelTooLarge, ShapeMismatch
from codegen.frontends.builder import MAX_ELEMENTS
from codegen.frontends.layout import TO_NCHW, TO_NHWC
from codegen.frontends.onnx.context import Context
from codegen.frontends.onnx.move import move
from codegen.frontends.onnx.nodes import OnnxNode
from codegen.frontends.onnx.pool import averaging
from codegen.frontends.onnx.states import Request, Route, State
from codegen.frontends.onnx.tables import exact
from codegen.ir.op import Op
from codegen.ir.quant import Array
from codegen.ops import Reshape, ResizeBilinear, ResizeNearest, Transpose

Positions = npt.NDArray[np.float32]
Tap = tuple[int, int, int]
_WEIGHT_ONE = 2**11


@dataclass(frozen=True, slots=True)
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


def resize(ctx: Context, node: OnnxNode) -> Sequence[State]:
    """Resize of two or fewer neighbouring axes."""
    axes = _axes(ctx, node)
    mode = node.string("mode", "nearest", ("nearest", "linear", "cubic"))
    coordinates = node.string("coordinate_transformation_mode", _default(ctx), (*_COORDINATES, "tf_crop_and_resize"))
    found = {"mode cubic": mode == "cubic", "antialias": node.integer("antialias", 0)}
    found["coordinate_transformation_mode tf_crop_and_resize"] = coordinates == "tf_crop_and_resize"
    for form, is_so in found.items():
        if is_so:
            raise FormUnsupported(f"{node.op_type} with {form}", where=node.where)
    shape = ctx.shape(ctx.state(node, 0))
    changed = [i for i, a in enumerate(axes) if a.n_in != a.n_out]
    if not changed:
        return [ctx.state(node, 0)]
    pre, post, at = _as_map(node, shape, [a.n_out for a in axes], changed)
    rows, columns = (axes[i] if i is not None else Axis(1, 1, 1.0) for i in at)
    positions = [_COORDINATES[coordinates](np.arange(a.n_out, dtype=np.float32), a) for a in (rows, columns)]
    if mode == "nearest":
        nearest = _ROUNDINGS[_nearest_mode(ctx, node)]
        h, w = (_indices(nearest(p), a) for p, a in zip(positions, (rows, columns), strict=True))
        return [move(ctx, node, ctx.state(node, 0), lambda kind: Route(ResizeNearest(h, w), pre, post))]
    x = exact(ctx, node, 0)
    u, v = (_taps(p, a) for p, a in zip(positions, (rows, columns), strict=True))

    def make(request: Request, low: int, high: int) -> Op:
        return ResizeBilinear(u, v, x.quant, request.quant, request.dtype, low, high, ctx.mode)

    return [averaging(ctx, node, x, make, pre, post)]


def _default(ctx: Context) -> str:
    return "half_pixel" if ctx.opset >= 11 else "asymmetric"


def _nearest_mode(ctx: Context, node: OnnxNode) -> str:
    return node.string("nearest_mode", "round_prefer_floor" if ctx.opset >= 11 else "floor", tuple(_ROUNDINGS))


def _axes(ctx: Context, node: OnnxNode) -> list[Axis]:
    """Sizes before and after of every axis."""
    shape = ctx.shape(ctx.state(node, 0))
    axes = node.integers("axes", tuple(range(len(shape))))
    if any(not -len(shape) <= a < len(shape) for a in axes):
        raise ShapeMismatch(f"axes {list(axes)} of {len(shape)} axes", where=node.where)
    if node.string("keep_aspect_ratio_policy", "stretch", ("stretch", "not_larger", "not_smaller")) != "stretch":
        raise FormUnsupported(f"{node.op_type} to sizes that keep the aspect ratio", where=node.where)
    scales, sizes = _scales(ctx, node), _sizes(ctx, node)
    given = sizes if sizes is not None else scales
    if given is None or given.size != len(axes):
        raise ShapeMismatch("neither scales nor sizes for the resized axes", where=node.where)
    result = [Axis(n, n, 1.0) for n in shape]
    for axis, number in zip(axes, given.tolist(), strict=True):
        n = shape[axis]
        if sizes is None and not (np.isfinite(number) and 0 < number * n < MAX_ELEMENTS):
            raise ShapeMismatch(f"a scale of {number}", where=node.where)
        n_out = int(number) if sizes is not None else int(np.floor(np.float32(n) * np.float32(number)))
        if n_out <= 0:
            raise ShapeMismatch(f"an axis of {n} becomes {n_out}", where=node.where)
        if n_out > MAX_ELEMENTS:
            raise ModelTooLarge(f"an axis of {n} becomes {n_out}", where=node.where)
        result[axis] = Axis(n, n_out, n_out / n if sizes is not None else number)
    return result


def _scales(ctx: Context, node: OnnxNode) -> Array | None:
    """Scales: input 2, or input 1 of older operator sets."""
    if node.op_type == "Upsample" or ctx.opset < 11:
        return ctx.const(node, 1).reshape(-1)
    array = ctx.optional_const(node, 2)
    return array.reshape(-1) if array is not None and array.size else None


def _sizes(ctx: Context, node: OnnxNode) -> Array | None:
    sizes = ctx.int_list(node, 3, "sizes")
    return np.array(sizes, np.int64) if sizes else None


def _as_map(
    node: OnnxNode, shape: Sequence[int], result: Sequence[int], changed: Sequence[int]
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
