"""ConvTranspose: weights [C, O/g, H, W] become [O, H, W, C/g].

Decides: that windows cover the result, but for less than a stride at its end.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from codegen.errors import FormUnsupported
from codegen.ir.op import Op
from codegen.ir.quant import Array, DType, Quant, Requant
from codegen.ir.real import RealNode
from codegen.ir.shape import Window
from codegen.ops import ConvTranspose2D
from codegen.real.window import ConvTranspose
from codegen.settle.context import Context
from codegen.settle.conv import output_scales, refuse_empty, with_bias
from codegen.settle.linear import pending
from codegen.settle.rule import Family, Rule
from codegen.settle.states import IntConst, Linear, Real, State
from codegen.settle.tables import exact
from codegen.settle.weights import read_weights
from codegen.settle.windows import spatial_route, spatial_sizes, two_windows


def conv_transpose(ctx: Context, node: RealNode, op: ConvTranspose) -> Sequence[State]:
    """ConvTranspose on dequantized tensors."""
    x = exact(ctx, node, 0)
    weights = read_weights(ctx, node, 1, lambda w: _by_output(w, op.groups, op.windows[-1].size))
    linear = _product(ctx, node, op, x, weights)
    return [pending(ctx, node, with_bias(ctx, node, 2, linear))]


def _product(ctx: Context, node: RealNode, op: ConvTranspose, x: Real, weights: IntConst) -> Linear:
    """The product, without bias."""
    shape = ctx.shape(x)
    spatial = spatial_sizes(node, shape)
    refuse_empty(node, weights)
    share, groups, width = weights.ints.shape[1], op.groups, op.windows[-1].size
    extras = [_extra(node, w, n, m) for w, n, m in zip(op.windows, spatial, op.out_spatial, strict=True)]
    h, w = two_windows(op.windows)
    top, left = (0, *extras)[-2:]

    def make(requant: Requant | None, dtype: DType, quant: Quant | None) -> Op:
        return ConvTranspose2D(h, w, (top, left), groups, x.quant.zero_point, requant, dtype, quant)

    outputs = share * groups
    route = spatial_route(make(None, DType.S32, None), shape, outputs, op.out_spatial[-1:])
    return Linear(
        x=x.value,
        x_scale=x.quant.scale,
        x_zero_point=x.quant.zero_point,
        weights=_by_output(weights.ints.astype(np.int64) - weights.zero, groups, width).transpose(0, 2, 3, 1),
        scales=output_scales(node, _by_output(weights.scale, groups, width).reshape(outputs, -1)),
        bias_int=np.zeros(outputs, np.int64),
        bias_real=np.zeros(outputs, np.float64),
        axis=1,
        make=make,
        pre=route.pre,
        post=route.post,
    )


def _by_output(array: Array, groups: int, width: int) -> Array:
    """[C, O/g, H, W] or [C, O/g, W] as [O, C/g, H, W]."""
    channels, share = array.shape[:2]
    split = array.reshape(groups, channels // groups, share, -1, width)
    return split.transpose(0, 2, 1, 3, 4).reshape(groups * share, channels // groups, -1, width)


def _extra(node: RealNode, window: Window, length: int, result: int) -> int:
    """Rows or columns of the result behind those that the windows cover; less than nothing is padding cut off."""
    covered = (length - 1) * window.stride + window.extent - window.pad_before - window.pad_after
    extra = result - covered
    if extra >= max(window.stride, window.dilation):
        raise FormUnsupported(f"windows that cover {extra} rows or columns less than the result has", where=node.where)
    return extra


RULES: Family = (Rule(ConvTranspose, conv_transpose, ("ConvTranspose",)),)
