"""Einsum, Det and the transforms of Fourier.  Source: onnx/docs/Operators.md."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from codegen.errors import AttributeBad, ShapeMismatch
from codegen.frontends.onnx.nodes import OnnxNode, text_of
from codegen.frontends.onnx.real.named_axes import as_product
from codegen.frontends.onnx.real.reading import Reading, Table
from codegen.real.algebra import Determinant, Einsum
from codegen.real.elementwise import Binary
from codegen.real.movement import Gather, Reshape
from codegen.real.spectrum import DFT
from codegen.settle.builder import MAX_ELEMENTS


def einsum(r: Reading, node: OnnxNode) -> Sequence[str]:
    """Einsum: letters, and dots for axes that are not named."""
    inputs = r.given(node)
    equation = "".join(text_of(node.attributes["equation"].s).split()) if node.has("equation") else ""
    left, arrow, right = equation.partition("->")
    terms = left.split(",")
    letters = equation.replace("->", "").replace("...", "").replace(",", "")
    if len(terms) != len(inputs) or (letters and not (letters.isascii() and letters.isalpha())):
        raise AttributeBad(f"attribute equation is '{equation}' for {len(inputs)} inputs", where=node.where)
    unnamed = [r.rank(x) - len(t.replace("...", "")) if "..." in t else 0 for x, t in zip(inputs, terms, strict=True)]
    if min(unnamed) < 0 or any(t.count(s) > 2 for t in terms for s in t if s != "."):
        raise ShapeMismatch(f"attribute equation is '{equation}'", where=node.where)
    most = max(unnamed)
    if not arrow:
        single = "".join(sorted(s for s in set(letters) if letters.count(s) == 1))
        right = ("..." if most else "") + single
    op = Einsum(tuple(_axes(t, n, most) for t, n in zip(terms, unnamed, strict=True)), _axes(right, most, most))
    op.infer([r.type(x) for x in inputs])
    return [as_product(r, node, op, inputs) or r.apply(op, inputs, node)]


def _axes(term: str, unnamed: int, most: int) -> tuple[str, ...]:
    """A term's letters; unnamed axes are numbered, the last ones in common."""
    before, dots, after = term.partition("...")
    middle = tuple(f".{i}" for i in range(most - unnamed, most)) if dots else ()
    return (*before, *middle, *after)


def det(r: Reading, node: OnnxNode) -> Sequence[str]:
    """Det."""
    return [r.apply(Determinant(), [r.value(node, 0)], node)]


def dft(r: Reading, node: OnnxNode) -> Sequence[str]:
    """DFT: the axis is an attribute before operator set 20."""
    x = r.value(node, 0)
    rank = r.rank(x)
    default = node.integer("axis", 1 if r.opset < 20 else -2)
    (axis,) = r.axes(node, (_optional(r, node, 2, default),), rank)
    inverse, onesided = node.flag("inverse"), node.flag("onesided")
    size = r.type(x).shape[axis]
    length = _optional(r, node, 1, 2 * (size - 1) if inverse and onesided else size)
    _check_length(node, length)
    return [r.apply(DFT(axis, length, inverse, onesided), [x], node)]


def _optional(r: Reading, node: OnnxNode, index: int, default: int) -> int:
    return default if r.optional(node, index) is None else r.whole_number(node, index)


def _check_length(node: OnnxNode, length: int) -> None:
    if not 1 <= length <= 1 << 13:
        raise AttributeBad(f"a transform of {length} elements, at most {1 << 13} are read", where=node.where)


def stft(r: Reading, node: OnnxNode) -> Sequence[str]:
    """STFT: frames of the signal, times a window, transformed."""
    x = r.value(node, 0)
    shape = r.type(x).shape
    if len(shape) not in (2, 3):
        raise ShapeMismatch(f"a signal of shape {list(shape)}", where=node.where)
    if len(shape) == 2:
        x = r.apply(Reshape((*shape, 1)), [x], node, "signal")
    step = r.whole_number(node, 1)
    window = r.optional(node, 2)
    length = _optional(r, node, 3, math.prod(r.type(window).shape) if window else shape[1])
    _check_length(node, length)
    if not 1 <= step <= MAX_ELEMENTS or length > shape[1]:
        raise ShapeMismatch(f"frames of {length} every {step} of a signal {list(shape)}", where=node.where)
    starts = np.arange(0, shape[1] - length + 1, step)[:, None]
    if starts.size * length > MAX_ELEMENTS:
        raise ShapeMismatch(f"{starts.size} frames of {length}", where=node.where)
    at = r.constant(f"{node.outputs[0]}:frames", starts + np.arange(length))
    frames = r.apply(Gather(1), [x, at], node, "framed")
    if window is not None:
        weights = r.apply(Reshape((length, 1)), [window], node, "window")
        frames = r.apply(Binary("Mul"), [frames, weights], node, "windowed")
    return [r.apply(DFT(2, length, onesided=node.flag("onesided", True)), [frames], node)]


TRANSLATORS: Table = {
    ("", "DFT"): dft,
    ("", "Det"): det,
    ("", "Einsum"): einsum,
    ("", "STFT"): stft,
}
