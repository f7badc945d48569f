"""A factor behind tensors that are only moved, made part of the product whose channels they are.

Decides: that it goes through a product of two computed tensors by the first operand that leads to a product.  Attention
divides its scores so, and q, k and v are often slices of one product's result, each with channels of its own.  Legal
where nothing else reads the channels that the factor reaches.
"""

from __future__ import annotations

import numpy as np

from codegen.ir.quant import Array
from codegen.ir.real import RealGraph, RealNode
from codegen.quantizer.rewrite.affine import affine_of
from codegen.quantizer.rewrite.draft import Draft
from codegen.quantizer.rewrite.product import Product, maker_of, write_product
from codegen.quantizer.rewrite.record import Record, Rewritten
from codegen.real.movement import Expand, Gather, Pick, Reshape, Slice, Tile, Transpose
from codegen.real.product import MatMul
from codegen.records import record

_MOVES = (Expand, Gather, Pick, Reshape, Slice, Tile, Transpose)


@record
class _Step:
    """A value on the way, and the node on that way which reads it."""

    value: str
    reader: RealNode


def carry_factors(graph: RealGraph) -> Rewritten:
    """Each factor of a whole tensor as part of the product that it comes from."""
    draft, factors = Draft(graph), [1.0]
    for label in [node.label for node in draft.nodes]:
        node = draft.node(label)
        affine = affine_of(draft, node)
        if affine is None or affine.axis is not None or affine.offset.any() or not draft.is_inner(node.outputs[0]):
            continue
        if _carried(draft, node, affine.x, float(affine.factor)):
            factors.append(abs(float(affine.factor)))
    return Rewritten(draft.done(), Record("carry", len(factors) - 1, max(factors)))


def _carried(draft: Draft, node: RealNode, x: str, factor: float) -> bool:
    found = _way(draft, [_Step(x, node)])
    if found is None:
        return False
    product, way = found
    reached = _reached(draft, product, way)
    if reached is None:
        return False
    factors = np.ones(product.outputs)
    factors[reached] = factor
    write_product(draft, product.outputs_times(factors))
    draft.bypass(draft.node(node.label), x)
    return True


def _way(draft: Draft, below: list[_Step]) -> tuple[Product, list[_Step]] | None:
    """The product that the first of these values comes from, and the values from its result on."""
    first = below[0].value
    product, maker = maker_of(draft, first), draft.maker(first)
    if product is not None:
        return product, below
    if maker is None:
        return None
    computed = [i for i in maker.inputs if draft.values[i].data is None]
    if isinstance(maker.op, _MOVES) and computed == [maker.inputs[0]]:
        return _way(draft, [_Step(computed[0], maker), *below])
    if isinstance(maker.op, MatMul) and len(computed) == 2:
        ways = (_way(draft, [_Step(name, maker), *below]) for name in computed)
        return next((way for way in ways if way is not None), None)
    return None


def _reached(draft: Draft, product: Product, way: list[_Step]) -> Array | None:
    """The product's channels that the factor reaches; None where something beside the way reads one of them."""
    shape, axis = draft.shape(product.y), product.y_axis
    along = np.arange(shape[axis]).reshape([-1 if i == axis else 1 for i in range(len(shape))])
    channels: Array | None = np.broadcast_to(along, shape)  # of each element, until sums are made of them
    reached, beside = np.array([], int), [np.array([], int)]
    for value, reader in ((step.value, step.reader) for step in way):
        others = [other for other in draft.readers(value) if other.label != reader.label]
        if not draft.is_inner(value) or reader.inputs.count(value) > 1 or (others and channels is None):
            return None
        if channels is not None:
            beside += [_read(draft, other, value, channels).reshape(-1) for other in others]
            if isinstance(reader.op, _MOVES):
                channels = _read(draft, reader, value, channels)
            else:
                reached, channels = np.unique(channels), None
    return None if np.isin(reached, np.concatenate(beside)).any() else reached


def _read(draft: Draft, reader: RealNode, value: str, channels: Array) -> Array:
    """Which channels a node reads of a value: those that it moves on, or all."""
    if not isinstance(reader.op, _MOVES) or reader.inputs[0] != value:
        return channels
    known = [draft.values[i].data for i in reader.inputs[1:]]
    return (
        channels
        if any(d is None for d in known)
        else reader.op.evaluate([channels, *(np.asarray(d) for d in known)])[0]
    )
