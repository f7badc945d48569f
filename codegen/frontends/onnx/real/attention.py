"""Attention as ONNX Runtime's optimizers write it, as the products and the Softmax that it is.

Decides: what does not count: positions whose mask is 0, where `mask_filter_value` is added.
Source: onnxruntime/docs/ContribOperators.md.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from codegen.errors import FormUnsupported, ShapeMismatch
from codegen.frontends.onnx.nodes import OnnxNode
from codegen.frontends.onnx.real.fused import ADD, MUL, Step, in_turn, number
from codegen.frontends.onnx.real.movement import parts_of
from codegen.frontends.onnx.real.reading import MICROSOFT, Reading, Table
from codegen.ir.shape import Shape
from codegen.real.elementwise import Binary, Cast, Where
from codegen.real.movement import Reshape, Transpose
from codegen.real.product import MatMul
from codegen.real.reduce import Softmax

_SIDES = ("queries", "keys", "values")


def attention(r: Reading, node: OnnxNode) -> Sequence[str]:
    """Attention: queries, keys and values by one product of the input; no past ones."""
    if r.optional(node, 4) is not None or r.optional(node, 6) is not None or node.flag("do_rotary"):
        raise FormUnsupported("Attention with past keys, or that rotates", where=node.where)
    x, weights, bias = r.value(node, 0), r.value(node, 1), r.optional(node, 2)
    steps: list[Step] = [(MatMul(), [weights]), *([] if bias is None else [(ADD, [bias])])]
    product = in_turn(r, node, x, steps, "queries, keys, values")
    shape = r.type(product).shape
    third = (shape[-1] // 3,) * 3
    sizes = node.integers("qkv_hidden_sizes", third, count=3, low=1) if node.has("qkv_hidden_sizes") else third
    if len(shape) != 3 or sum(sizes) != shape[-1]:
        raise ShapeMismatch(f"queries, keys and values {list(sizes)} of a product {list(shape)}", where=node.where)
    return [_attended(r, node, parts_of(r, _naming(node, "of all"), product, 2, sizes), (3, 5))]


def multi_head_attention(r: Reading, node: OnnxNode) -> Sequence[str]:
    """MultiHeadAttention: queries, keys and values apart, with a bias for all; no past ones, nor several in one."""
    sides = [side for i in range(len(_SIDES)) if (side := r.optional(node, i)) is not None]
    if len(sides) < len(_SIDES) or any(r.optional(node, i) is not None for i in range(6, len(node.inputs))):
        raise FormUnsupported("MultiHeadAttention with packed or past keys", where=node.where)
    bias = r.optional(node, 3)
    if bias is not None:
        sizes = [r.type(side).shape[-1] for side in sides]
        if r.type(bias).shape != (sum(sizes),) or any(r.rank(side) != 3 for side in sides):
            raise ShapeMismatch(f"a bias {list(r.type(bias).shape)} for {sizes} numbers", where=node.where)
        pairs = zip(sides, parts_of(r, _naming(node, "bias"), bias, 0, sizes), _SIDES, strict=True)
        sides = [r.apply(ADD, [side, part], node, name) for side, part, name in pairs]
    return [_attended(r, node, sides, (4, 5))]


def _attended(r: Reading, node: OnnxNode, sides: Sequence[str], masks: tuple[int, int]) -> str:
    """Attention of queries, keys and values [batch, length, heads * size]; keys and values may be by head already.

    `masks` are the inputs of what is padding, and of what is added to the scores.
    """
    if any(node.outputs[1:]):
        raise FormUnsupported(f"{node.op_type} with keys and values as outputs", where=node.where)
    heads = node.integer("num_heads", low=1, high=1 << 16)
    queries, keys, values = (_by_head(r, node, x, heads, word) for x, word in zip(sides, _SIDES, strict=True))
    size, width = r.type(queries).shape[-1], r.type(values).shape[-1]
    factor = node.real("scale", 0.0) or 1 / math.sqrt(size)
    turned = r.apply(Transpose((0, 1, 3, 2)), [keys], node, "keys turned")
    steps: list[Step] = [(MatMul(), [turned]), (MUL, [number(r, node, "scale", factor)])]
    added = r.optional(node, masks[1])
    steps += [] if added is None else [(ADD, [added])]
    batch, _, length, _ = r.type(queries).shape
    reach = r.type(keys).shape[2]
    filler = node.real("mask_filter_value", -10000.0)
    steps += [(ADD, [mask]) for mask in _masks(r, node, masks[0], (batch, length, reach), filler)]
    scores = in_turn(r, node, queries, [*steps, (Softmax((3,)), [])], "attention")
    mixed: list[Step] = [(MatMul(), [values]), (Transpose((0, 2, 1, 3)), [])]
    return in_turn(r, node, scores, [*mixed, (Reshape((batch, length, heads * width)), [])])


def _by_head(r: Reading, node: OnnxNode, x: str, heads: int, word: str) -> str:
    """A tensor as [batch, heads, length, size]."""
    shape = r.type(x).shape
    if len(shape) == 4 and word != _SIDES[0] and shape[1] == heads:
        return x
    if len(shape) != 3 or shape[-1] % heads:
        raise ShapeMismatch(f"a tensor {list(shape)} in {heads} heads", where=node.where)
    split = r.apply(Reshape((*shape[:2], heads, shape[-1] // heads)), [x], node, f"{word} split")
    return r.apply(Transpose((0, 2, 1, 3)), [split], node, f"{word} by head")


def _masks(r: Reading, node: OnnxNode, index: int, sizes: Shape, filler: float) -> list[str]:
    """What is added to scores [batch, heads, length, reach] where they are not to count."""
    batch, length, reach = sizes
    masks = []
    if node.flag("unidirectional"):
        later = np.triu(np.full((length, reach), np.finfo(np.float32).min, np.float32), 1 + reach - length)
        masks.append(r.constant(f"{node.name}:later", later))
    given = r.optional(node, index)
    if given is None:
        return masks
    shape = r.type(given).shape
    known: dict[Shape, Shape] = {
        (batch,): (batch, 1, 1, 1),
        (batch, reach): (batch, 1, 1, reach),
        (batch, length, reach): (batch, 1, length, reach),
    }
    if shape not in known or r.type(given).is_real:
        raise ShapeMismatch(f"a mask {list(shape)} for scores {list(sizes)}", where=node.where)
    seen = r.apply(Reshape(known[shape]), [r.apply(Cast("int32"), [given], node, "mask")], node, "mask of scores")
    # of a list how many count, else of each whether it does
    least = np.arange(reach, dtype=np.int32) if len(shape) == 1 else np.zeros((), np.int32)
    kept = r.apply(Binary("Greater"), [seen, r.constant(f"{node.name}:least", least)], node, "kept")
    choices = [number(r, node, "unmasked", 0.0), number(r, node, "masked", filler)]
    return [*masks, r.apply(Where(), [kept, *choices], node, "padding")]


def _naming(node: OnnxNode, what: str) -> OnnxNode:
    """The node as if queries, keys and values were its outputs."""
    return replace(node, outputs=tuple(f"{node.outputs[0]}:{side} {what}" for side in _SIDES))


TRANSLATORS: Table = {
    (MICROSOFT, "Attention"): attention,
    (MICROSOFT, "MultiHeadAttention"): multi_head_attention,
}
