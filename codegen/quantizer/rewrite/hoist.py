"""Factors and offsets per channel moved in front of what only stretches or joins tensors, where a product takes them.

Legal through Resize, whose weights add up to one, and through Concat along the channels, each part with its share; only
where nothing else reads what lies between, and where every part then goes into a product.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from codegen.ir.real import RealGraph, RealNode, RealOp
from codegen.quantizer.rewrite.affine import Affine, affine_of
from codegen.quantizer.rewrite.draft import Draft
from codegen.quantizer.rewrite.product import Product, maker_of, takes_bias, write_product
from codegen.quantizer.rewrite.record import Record, Rewritten
from codegen.real.movement import Concat
from codegen.real.resize import Resize


def hoist_affine(graph: RealGraph) -> Rewritten:
    """Each factor and offset behind a Resize or a Concat as part of the products in front."""
    draft, count = Draft(graph), 0
    for node in draft.nodes:
        affine = affine_of(draft, node)
        if affine is not None:
            count += _hoisted(draft, node, affine)
    return Rewritten(draft.done(), Record("hoist", count))


def _hoisted(draft: Draft, node: RealNode, affine: Affine) -> bool:
    between = draft.maker(affine.x)
    if between is None or draft.only_reader(affine.x) is not node:
        return False
    makers = _makers(draft, between, affine)
    if makers is None or not all(takes_bias(draft, m) or not affine.offset.any() for m in makers):
        return False
    channels = draft.shape(affine.x)[makers[0].y_axis]
    start, (factor, offset) = 0, affine.spread(channels)
    for maker in makers:
        share = slice(start, start + maker.outputs)
        write_product(draft, maker.outputs_times(factor[share], np.asarray(offset[share])))
        start += maker.outputs
    draft.take_over(between, node)
    return True


def _makers(draft: Draft, between: RealNode, affine: Affine) -> Sequence[Product] | None:
    """The products that write what a Resize or a Concat reads, if they are its only business."""
    op = between.op
    joins = isinstance(op, Concat) and affine.is_along(op.axis)
    if not joins and not (isinstance(op, Resize) and op.outside == 0 and op.coordinates != "tf_crop_and_resize"):
        return None
    found = [maker_of(draft, name) for name in between.inputs]
    makers = [m for m in found if m is not None and affine.is_along(m.y_axis)]
    single = all(draft.only_reader(name) is between for name in between.inputs)
    if len(makers) != len(found) or not single or any(_changes(op, m.y_axis) for m in makers):
        return None
    return makers


def _changes(op: RealOp, axis: int) -> bool:
    """Whether the operator does anything to the channels but join them."""
    return op.stretches[axis] is not None if isinstance(op, Resize) else op != Concat(axis)
