"""Sliding windows over NHWC maps, whatever the model's own axes are.

Decides: that one spatial axis becomes two with a height of 1, and which operators bring a tensor there and back; that
a pool has the images of a batch as channels of one, and goes over more than two axes two by two, the last ones first.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

from codegen.errors import ShapeMismatch
from codegen.ir.op import Op
from codegen.ir.real import RealNode
from codegen.ir.shape import Window
from codegen.ops import Reshape, Transpose
from codegen.settle.layout import TO_NCHW, TO_NHWC
from codegen.settle.states import Route


def two_windows(windows: Sequence[Window]) -> tuple[Window, Window]:
    """The windows over rows and columns."""
    return (windows[0], windows[1]) if len(windows) == 2 else (Window(1), windows[0])


def spatial_sizes(node: RealNode, shape: Sequence[int]) -> tuple[int, ...]:
    """Sizes behind batch and channels, at least one."""
    if len(shape) < 3:
        raise ShapeMismatch(f"a tensor of shape {list(shape)} has no spatial axes", where=node.where)
    return tuple(shape[2:])


def spatial_route(main: Op | None, shape: Sequence[int], channels: int, out_spatial: Sequence[int]) -> Route:
    """An NHWC operator on a model's tensor [N, C, H, W] or [N, C, L]."""
    if len(shape) == 4:
        return Route(main, (Transpose(TO_NHWC),), (Transpose(TO_NCHW),))
    n, c, length = shape
    return Route(
        main,
        (Reshape((n, c, 1, length)), Transpose(TO_NHWC)),
        (Transpose(TO_NCHW), Reshape((n, channels, out_spatial[-1]))),
    )


def pool_route(main: Op | None, shape: Sequence[int], out_spatial: Sequence[int]) -> Route:
    """A pool, which computes each channel by itself, on a model's tensor [N, C, H, W] or [N, C, L]."""
    n, c, *spatial = shape
    if n == 1:
        return spatial_route(main, shape, c, out_spatial)
    one = (1, n * c, *spatial)
    route = spatial_route(main, one, n * c, out_spatial)
    return Route(main, (Reshape(one), *route.pre), (*route.post, Reshape((n, c, *out_spatial))))


def pool_routes(make: Callable[[Sequence[int]], Op], shape: Sequence[int], windows: Sequence[Window]) -> list[Route]:
    """A pool over [N, C, spatial...], whose result over some axes is that over each of them in turn.

    `make` gives the operator on rows and columns for one or two of the spatial axes, by their numbers.
    """
    sizes, routes, last = list(shape), list[Route](), len(shape)
    while last > 2:
        axes = range(max(last - 2, 2), last)
        out = [windows[a - 2].out_len(sizes[a]) for a in axes]
        routes.append(_over(make([a - 2 for a in axes]), sizes, axes, out))
        sizes[axes.start : last] = out
        last = axes.start
    return routes


def _over(main: Op, shape: Sequence[int], axes: range, out: Sequence[int]) -> Route:
    """A pool over some axes of a tensor; all others are channels."""
    if axes.stop == len(shape) <= 4:
        return pool_route(main, shape, out)
    rows, columns = (1, *shape[axes.start : axes.stop])[-2:]
    tall, wide = (1, *out)[-2:]
    before, behind = math.prod(shape[: axes.start]), math.prod(shape[axes.stop :])
    result = (*shape[: axes.start], *out, *shape[axes.stop :])
    pre = (
        Reshape((before, rows, columns, behind)),
        Transpose((1, 2, 0, 3)),
        Reshape((1, rows, columns, before * behind)),
    )
    post = (Reshape((tall, wide, before, behind)), Transpose((2, 0, 1, 3)), Reshape(result))
    return Route(main, pre, post)
