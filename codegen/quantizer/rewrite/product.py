"""Products with known weights, all in one form: Conv, ConvTranspose, Gemm, MatMul.

Decides: which nodes are such products.  One whose weights another node reads as well is none: it would have to get
weights of its own.  Weights are float64 [groups, outputs, inputs, taps], sizes of one group.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from codegen.ir.quant import Array
from codegen.ir.real import RealNode
from codegen.quantizer.rewrite.draft import Draft
from codegen.real.elementwise import Binary
from codegen.real.product import Gemm, MatMul
from codegen.real.window import Conv, ConvTranspose
from codegen.records import record


@record(eq=False)
class Product:
    """A product, its numbers, and where its channels lie in the tensors that it reads and writes.

    `adder` is the node that adds the bias where the product itself has no place for one; `padded`: outputs differ in
    how many of their inputs are left out, so that a constant in the input is no bias.
    """

    node: RealNode
    weights: Array
    bias: Array
    x_axis: int
    y_axis: int
    padded: bool
    adder: RealNode | None = None

    @property
    def label(self) -> str:
        """The product's node."""
        return self.node.label

    @property
    def x(self) -> str:
        """What it reads."""
        return self.node.inputs[0]

    @property
    def y(self) -> str:
        """What it writes, bias included."""
        return (self.adder or self.node).outputs[0]

    @property
    def outputs(self) -> int:
        """Output channels."""
        return int(self.weights.shape[0] * self.weights.shape[1])

    @property
    def inputs(self) -> int:
        """Input channels."""
        return int(self.weights.shape[0] * self.weights.shape[2])

    def by_output(self) -> Array:
        """The largest weight of each output."""
        return np.asarray(np.abs(self.weights).max(axis=(2, 3), initial=0).reshape(-1))

    def by_input(self) -> Array:
        """The largest weight of each input."""
        return np.asarray(np.abs(self.weights).max(axis=(1, 3), initial=0).reshape(-1))

    def outputs_times(self, factor: Array, offset: Array | float = 0.0) -> Product:
        """The product whose outputs are times `factor`, plus `offset`."""
        groups, outputs = self.weights.shape[:2]
        weights = self.weights * factor.reshape(groups, outputs, 1, 1)
        return replace(self, weights=weights, bias=self.bias * factor + offset)

    def inputs_times(self, factor: Array, offset: Array | float = 0.0) -> Product:
        """The product as if each input were times `factor` plus `offset`, which unpadded products take alone."""
        groups, _, inputs = self.weights.shape[:3]
        constant = np.broadcast_to(offset, (self.inputs,)).reshape(groups, 1, inputs, 1)
        bias = self.bias + (self.weights * constant).sum(axis=(2, 3)).reshape(-1)
        return replace(self, weights=self.weights * factor.reshape(groups, 1, inputs, 1), bias=bias)


def product_of(draft: Draft, node: RealNode) -> Product | None:
    """The product that a node is; None where it is none, or its numbers are not its own."""
    if not isinstance(node.op, Conv | ConvTranspose | Gemm | MatMul) or draft.is_shared(node.inputs[1]):
        return None
    weights = draft.constant(node.inputs[1])
    if weights is None or draft.values[node.inputs[0]].data is not None or not weights.size:
        return None
    if isinstance(node.op, MatMul):
        return _matmul(draft, node, weights)
    return _gemm(draft, node, node.op, weights) if isinstance(node.op, Gemm) else _conv(draft, node, node.op, weights)


def maker_of(draft: Draft, name: str) -> Product | None:
    """The product that writes a value, itself or by the node that adds its bias."""
    maker = draft.maker(name)
    candidates = [] if maker is None else [maker, *filter(None, map(draft.maker, maker.inputs))]
    found = (product_of(draft, candidate) for candidate in candidates)
    return next((p for p in found if p is not None and p.y == name), None)


def write_product(draft: Draft, product: Product, *, biased: bool = False) -> None:
    """Give the product's node its numbers; a bias of zeros only where it is to be `biased`."""
    node, adder = draft.node(product.label), product.adder
    weights = draft.own(node.inputs[1], _as_written(product))
    biased = biased or bool(product.bias.any())
    if isinstance(node.op, MatMul) and (adder is not None or not biased):
        draft.with_inputs(node, (node.inputs[0], weights))
        if adder is not None:
            bias = draft.own(f"{node.label}:bias", product.bias)
            draft.put(replace(adder, op=Binary("Add"), inputs=(node.outputs[0], bias)))
        return
    inputs: tuple[str, ...] = (node.inputs[0], weights)
    if len(node.inputs) > 2 or biased:
        inputs = (*inputs, draft.own(node.inputs[2] if len(node.inputs) > 2 else f"{node.label}:bias", product.bias))
    op = node.op
    if isinstance(op, Gemm | MatMul):
        op = Gemm(turn_b=op.turn_b) if isinstance(op, Gemm) else Gemm()
    draft.put(replace(node, op=op, inputs=inputs))


def takes_bias(draft: Draft, product: Product) -> bool:
    """Whether the product has a place for a bias."""
    op = product.node.op
    return not isinstance(op, MatMul) or product.adder is not None or len(draft.shape(product.x)) == 2


def _conv(draft: Draft, node: RealNode, op: Conv | ConvTranspose, weights: Array) -> Product | None:
    bias = draft.constant(node.inputs[2]) if len(node.inputs) > 2 else None
    if len(node.inputs) > 2 and bias is None:
        return None
    axis = op.channel_axis % len(draft.shape(node.inputs[0]))
    groups, turned = op.groups, isinstance(op, ConvTranspose)
    first, second = weights.shape[0] // groups, weights.shape[1]
    shaped = weights.reshape(groups, first, second, -1)
    shaped = shaped.swapaxes(1, 2) if turned else shaped
    padded = turned or any(w.pad_before or w.pad_after for w in op.windows)
    outputs = groups * shaped.shape[1]
    return Product(node, shaped, np.zeros(outputs) if bias is None else bias, axis, axis, padded)


def _gemm(draft: Draft, node: RealNode, op: Gemm, weights: Array) -> Product | None:
    if op.turn_a:
        return None
    matrix = op.alpha * (weights if op.turn_b else weights.T)
    bias = np.zeros(len(matrix))
    if len(node.inputs) > 2:
        given = draft.constant(node.inputs[2])
        if given is None or given.size not in (1, len(matrix)) or given.shape[-1:] not in ((), (1,), (len(matrix),)):
            return None
        bias = bias + op.beta * given.reshape(-1)
    return Product(node, matrix[None, :, :, None], bias, 1, 1, False)


def _matmul(draft: Draft, node: RealNode, weights: Array) -> Product | None:
    rank = len(draft.shape(node.inputs[0]))
    if weights.ndim != 2 or rank < 2:
        return None
    adder, bias = _added(draft, node, weights.shape[1])
    return Product(node, weights.T[None, :, :, None], bias, rank - 1, rank - 1, False, adder)


def _added(draft: Draft, node: RealNode, outputs: int) -> tuple[RealNode | None, Array]:
    """The node behind that adds a bias, and the bias."""
    (y,), none = node.outputs, np.zeros(outputs)
    adder = draft.only_reader(y)
    if adder is None or adder.op != Binary("Add"):
        return None, none
    bias = draft.constant(adder.inputs[1 - adder.inputs.index(y)])
    if bias is None or bias.size not in (1, outputs) or (bias.size > 1 and bias.shape[-1] != outputs):
        return None, none
    return (adder, none + bias.reshape(-1)) if draft.shape(adder.outputs[0]) == draft.shape(y) else (None, none)


def _as_written(product: Product) -> Array:
    """The weights in the node's own form."""
    node, weights = product.node, product.weights
    groups, outputs, inputs, _ = weights.shape
    if isinstance(node.op, Conv):
        return weights.reshape(groups * outputs, inputs, *(w.size for w in node.op.windows))
    if isinstance(node.op, ConvTranspose):
        turned = weights.swapaxes(1, 2)
        return turned.reshape(groups * inputs, outputs, *(w.size for w in node.op.windows))
    matrix = weights[0, :, :, 0]
    return matrix if isinstance(node.op, Gemm) and node.op.turn_b else matrix.T
