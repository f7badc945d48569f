"""Factors and offsets per channel made part of the product before or behind them.

Legal behind a product that nothing else reads, and before one: an offset only where no padding hides it.
"""

from __future__ import annotations

import numpy as np

from codegen.ir.real import RealGraph, RealNode
from codegen.quantizer.rewrite.affine import Affine, affine_of
from codegen.quantizer.rewrite.draft import Draft
from codegen.quantizer.rewrite.product import maker_of, product_of, takes_bias, write_product
from codegen.quantizer.rewrite.record import Record, Rewritten
from codegen.real.normal import BatchNorm


def fold_affine(graph: RealGraph) -> Rewritten:
    """BatchNorm, and chains of factors and offsets, inside the products that they stand beside."""
    draft, factors = Draft(graph), [1.0]
    while found := _folded_once(draft):
        factors += found
    left = tuple(f"{n.where}: no product takes it" for n in draft.nodes if isinstance(n.op, BatchNorm))
    return Rewritten(draft.done(), Record("fold", len(factors) - 1, max(factors), left))


def _folded_once(draft: Draft) -> list[float]:
    """The largest factor of each node that went into a product; what stood behind one may now stand beside it."""
    found = []
    for node in draft.nodes:
        node = draft.node(node.label)
        affine = affine_of(draft, node)
        if affine is not None and (_behind(draft, node, affine) or _before(draft, node, affine)):
            found.append(float(np.abs(affine.factor).max(initial=0)))
    return found


def _behind(draft: Draft, node: RealNode, affine: Affine) -> bool:
    product = maker_of(draft, affine.x)
    if product is None or not affine.is_along(product.y_axis) or draft.only_reader(product.y) is not node:
        return False
    if affine.offset.any() and not takes_bias(draft, product):
        return False
    write_product(draft, product.outputs_times(*affine.spread(product.outputs)))
    draft.take_over(draft.node((product.adder or product.node).label), node)
    return True


def _before(draft: Draft, node: RealNode, affine: Affine) -> bool:
    reader = draft.only_reader(node.outputs[0])
    product = None if reader is None else product_of(draft, reader)
    if product is None or product.x != node.outputs[0] or not affine.is_along(product.x_axis):
        return False
    if affine.offset.any() and (product.padded or not takes_bias(draft, product)):
        return False
    write_product(draft, product.inputs_times(*affine.spread(product.inputs)))
    draft.bypass(node, affine.x)
    return True
