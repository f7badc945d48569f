"""High biases absorbed: what a channel never falls below is added behind the next product instead.

With relu(a) = relu(a - c) + c wherever a >= c >= 0, c leaves a product's bias and W c enters the next one's.  Exact on
all numbers that are not below c.  Where padding stands in for elements, there is no chain.
Source: Nagel et al., arXiv 1906.04721, with the observed minimum as c.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import numpy as np

from codegen.ir.quant import Array
from codegen.ir.real import RealGraph, RealNode
from codegen.quantizer.rewrite.chains import Chain, Terms, chains
from codegen.quantizer.rewrite.draft import Draft
from codegen.quantizer.rewrite.extremes import Seen
from codegen.quantizer.rewrite.moved import Moved, both_moved
from codegen.quantizer.rewrite.product import Product, product_of, takes_bias, write_product
from codegen.quantizer.rewrite.record import Record, Rewritten
from codegen.real.elementwise import Clip, Function, PRelu
from codegen.real.movement import Concat, Gather, Reshape, Slice, Transpose
from codegen.real.reduce import Reduce
from codegen.real.window import AveragePool, MaxPool

_KEEPING = (Clip, Concat, Gather, MaxPool, PRelu, Reshape, Slice, Transpose)


def absorb(graph: RealGraph, floors: Mapping[str, Array]) -> Rewritten:
    """Take from each channel what it never falls below.

    Args:
        graph: the network, factors and offsets folded.
        floors: by what a product of this network writes, a number per channel that it is never below.
    """
    draft = Draft(graph)
    found, broken = chains(draft, Terms(_keeps_an_offset))
    taken = [_absorbed(draft, chain, floors) for chain in found]
    moved: dict[str, Moved] = {}
    for chain, offset in zip(found, taken, strict=True):
        if offset is not None:
            moved = both_moved(moved, chain.moved(np.ones_like(offset), offset))
    most = [float(offset.max()) for offset in taken if offset is not None]
    return Rewritten(draft.done(), Record("absorb", len(most), max([1.0, *most]), tuple(broken), moved))


def seen_floors(seen: Seen) -> dict[str, Array]:
    """The observed minima."""
    return {name: extremes.low for name, extremes in seen.items()}


def _keeps_an_offset(node: RealNode) -> bool:
    """Whether f(x + c) = f(x) + c for x and c not below zero."""
    op = node.op
    if isinstance(op, Function):
        return op.name in ("Abs", "Identity", "LeakyRelu", "Relu")
    if isinstance(op, AveragePool):
        return not any(before or after for before, after in op.counted)
    if isinstance(op, Reduce):
        return op.kind in ("Max", "Mean", "Min")
    return isinstance(op, _KEEPING)


def _absorbed(draft: Draft, chain: Chain, floors: Mapping[str, Array]) -> Array | None:
    """What was taken from each channel; None where nothing could be."""
    maker = product_of(draft, draft.node(chain.maker.label))
    if maker is None or maker.y not in floors or not chain.between:
        return None
    readers = [product_of(draft, draft.node(r.product.label)) for r in chain.readers]
    if any(r is None or r.padded or not takes_bias(draft, r) for r in readers):
        return None
    offset = np.maximum(floors[maker.y], 0.0)
    if not offset.any() or not takes_bias(draft, maker):
        return None
    write_product(draft, replace(maker, bias=maker.bias - offset))
    for reader in chain.readers:
        _receive(draft, draft.node(reader.product.label), reader.channels, offset)
    return offset


def _receive(draft: Draft, node: RealNode, channels: Array, offset: Array) -> None:
    product = product_of(draft, node)
    assert isinstance(product, Product), "it was one a moment ago"
    given = np.where(channels < 0, 0.0, offset[channels])
    write_product(draft, product.inputs_times(np.ones(product.inputs), given))
