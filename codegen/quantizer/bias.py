"""Biases that take up the mean error of their channel.

Decides: every product gets a bias of its own that may be changed, of zeros where it had none.  How large the error is
comes from samples, layer by layer, or from the mean of what a layer is given.
Source: M. Nagel and others, Data-Free Quantization Through Weight Equalization and Bias Correction (arXiv 1906.04721).
"""

from __future__ import annotations

import numpy as np

from codegen.ir.quant import Array
from codegen.ir.real import RealGraph
from codegen.quantizer.moments import Moments
from codegen.quantizer.rewrite.draft import Draft
from codegen.quantizer.rewrite.product import product_of, takes_bias, write_product


def with_biases(graph: RealGraph) -> tuple[RealGraph, dict[str, str]]:
    """The network with a bias for each product that has a place for one, and their names by the products' labels."""
    draft, names = Draft(graph), {}
    for node in draft.nodes:
        product = product_of(draft, draft.node(node.label)) if draft.has(node) else None
        if product is None or not takes_bias(draft, product):
            continue
        write_product(draft, product, biased=True)
        holder = draft.node((product.adder or product.node).label)
        names[node.label] = holder.inputs[1] if product.adder else holder.inputs[2]
    return draft.done(), names


def mean_error(wanted: Array, made: Array, axis: int) -> Array:
    """What each entry along `axis` lacks on average."""
    others = tuple(i for i in range(wanted.ndim) if i != axis % wanted.ndim)
    return np.asarray(wanted.mean(axis=others, dtype=np.float64) - made.mean(axis=others, dtype=np.float64))


def expected_error(moments: Moments, weights: Array, held: Array) -> Array:
    """What each output lacks on average, given the mean of what its layer reads: its weights' errors times that."""
    error = moments.rows(weights.astype(np.float64) - held) * moments.mean[:, None, :]
    by_part = error.sum(axis=-1).reshape(moments.product.groups, moments.parts, -1)
    return np.asarray(by_part.sum(axis=1).reshape(-1))
