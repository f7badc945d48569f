"""ConvTranspose: weights [C, O/g, H, W] become [O, H, W, C/g].

Decides: that over rows and columns of one image, where windows cover the result but for less than a stride at its end,
it is an operator of its own, and elsewhere a convolution (settle/phases.py).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from codegen.errors import FormUnsupported
from codegen.ir.op import Op
from codegen.ir.phases import split
from codegen.ir.quant import Array, DType, Quant, Requant
from codegen.ir.real import RealNode
from codegen.ir.shape import Shape, Window
from codegen.ops import Conv2D, ConvTranspose2D
from codegen.real.window import ConvTranspose
from codegen.records import record
from codegen.settle.context import Context
from codegen.settle.conv import output_scales, refuse_empty, with_bias
from codegen.settle.linear import pending
from codegen.settle.phases import by_output, phased, phases_of
from codegen.settle.plane import kernel_of
from codegen.settle.rule import Family, Rule
from codegen.settle.states import Linear, Real, State
from codegen.settle.tables import exact
from codegen.settle.weights import read_weights
from codegen.settle.windows import spatial_route, spatial_sizes, two_windows


@record
class _Lowered:
    """The operator, what is around it, and what makes its weights of those by output."""

    make: Callable[[Requant | None, DType, Quant | None], Op]
    pre: tuple[Op, ...]
    post: tuple[Op, ...]
    weights: Callable[[Array], Array]


def conv_transpose(ctx: Context, node: RealNode, op: ConvTranspose) -> Sequence[State]:
    """ConvTranspose on dequantized tensors."""
    x = exact(ctx, node, 0)
    weights = read_weights(ctx, node, 1, lambda w: by_output(w, op.groups))
    refuse_empty(node, weights)
    ints = by_output(weights.ints.astype(np.int64) - weights.zero, op.groups)
    outputs, shape = len(ints), ctx.shape(x)
    sizes = zip(op.windows, spatial_sizes(node, shape), op.out_spatial, strict=True)
    extras = [_extra(w, n, m) for w, n, m in sizes]
    covered = all(extra < max(w.stride, w.dilation) for w, extra in zip(op.windows, extras, strict=True))
    is_plain = shape[0] == 1 and len(extras) <= 2 and covered
    how = _plain(op, x, shape, outputs, extras) if is_plain else _phased(node, op, x, shape, outputs)
    linear = Linear(
        x=x.value,
        x_scale=x.quant.scale,
        x_zero_point=x.quant.zero_point,
        weights=ints,
        scales=output_scales(node, by_output(weights.scale, op.groups).reshape(outputs, -1)),
        bias_int=np.zeros(outputs, np.int64),
        bias_real=np.zeros(outputs, np.float64),
        axis=1,
        make=how.make,
        pre=how.pre,
        post=how.post,
        split=how.weights,
        bits=weights.bits,
    )
    return [pending(ctx, node, with_bias(ctx, node, 2, linear))]


def _plain(op: ConvTranspose, x: Real, shape: Shape, outputs: int, extras: Sequence[int]) -> _Lowered:
    """Over rows and columns of one image."""
    h, w = two_windows(op.windows)
    top, left = (0, *extras)[-2:]

    def make(requant: Requant | None, dtype: DType, quant: Quant | None) -> Op:
        return ConvTranspose2D(h, w, (top, left), op.groups, x.quant.zero_point, requant, dtype, quant)

    route = spatial_route(None, shape, outputs, op.out_spatial[-1:])
    return _Lowered(make, route.pre, route.post, kernel_of)


def _phased(node: RealNode, op: ConvTranspose, x: Real, shape: Shape, outputs: int) -> _Lowered:
    """A convolution to what each place becomes."""
    if any(v.pad_before < 0 for v in op.windows):
        raise FormUnsupported("a result that begins before the windows", where=node.where)
    phases = phases_of(op, shape[2:])
    p = phased(shape, op, phases, outputs, x.quant.zero_point)

    def make(requant: Requant | None, dtype: DType, quant: Quant | None) -> Op:
        return Conv2D(p.h, p.w, op.groups, x.quant.zero_point, requant, dtype, quant)

    return _Lowered(make, p.pre, p.post, lambda weights: kernel_of(split(weights, phases)))


def _extra(window: Window, length: int, result: int) -> int:
    """Rows or columns of the result behind those that the windows cover; less than nothing is padding cut off."""
    covered = (length - 1) * window.stride + window.extent - window.pad_before - window.pad_after
    return result - covered


RULES: Family = (Rule(ConvTranspose, conv_transpose, ("ConvTranspose",)),)
