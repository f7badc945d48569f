"""split_strides: a transposed convolution becomes a convolution to all results of a place, and what puts them in place.

With a stride of s each place of the input has s by s results, each of them a convolution with every s-th tap.  As
output channels of one convolution they have its kernels, for a fraction of the instructions; bytes are only moved then.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import replace
from fractions import Fraction

import numpy as np

from codegen.ir.graph import Graph, Node
from codegen.ir.op import Op
from codegen.ir.phases import Phases, phases_along, split
from codegen.ir.quant import Array, Requant
from codegen.ir.shape import Shape
from codegen.ops import Conv2D, ConvTranspose2D, DepthToSpace, Reshape, Slice
from codegen.passes.contract import graph_pass
from codegen.passes.draft import Draft

Phased = tuple[Phases, Phases]
"""Of rows and of columns."""
_LOOKED_UP, _SAVED = 10, Fraction(4, 5)
"""What a product takes that is looked up, over one of a convolution, and the share of it that is saved."""


@graph_pass()
def split_strides(graph: Graph) -> Graph:
    """Rewrite those of 8-bit data without groups and dilation whose results are put in place by one operator.

    Where a stride does not divide the window there are weights of 0: as far as their share of the network's constants
    is no more than the share of its products that is saved.  Convolutions of wider data look up as well, and results
    may not begin before the windows.

    Legal in integers, whose sums are exact in any order.  Weights that come apart from the network stay as they are.
    """
    draft = Draft(graph)
    for node in graph.nodes:
        axes = _axes(graph, node)
        if axes is None:
            draft.keep(node)
        else:
            _split(draft, node, axes)
    return draft.finish()


def _axes(graph: Graph, node: Node) -> Phased | None:
    op = node.op
    if not isinstance(op, ConvTranspose2D) or op.groups != 1 or max(op.h.dilation, op.w.dilation) > 1:
        return None
    weights, bias = (graph.values[name] for name in node.inputs[1:])
    x, y = graph.type(node.inputs[0]).shape, graph.type(node.outputs[0]).shape
    if weights.data is None or bias.data is None or weights.type.sent or op.h.stride == op.w.stride == 1:
        return None
    if graph.type(node.inputs[0]).dtype.bytes > 1 or min(op.h.pad_before, op.w.pad_before) < 0:
        return None
    axes = phases_along(op.h, x[1], y[1]), phases_along(op.w, x[2], y[2])
    parts = (Fraction(a.stride * a.window.size, v.size) for a, v in zip(axes, (op.h, op.w), strict=True))
    grown = math.prod(parts, start=Fraction(1)) - 1
    pays = not grown or _pays(graph, node, grown * weights.type.bytes)
    return axes if pays and next(_between(op, axes, x, y), None) is not None else None


def _pays(graph: Graph, node: Node, added: Fraction) -> bool:
    """Whether so many bytes more are no larger a share than the products that they save."""
    constants = sum(value.type.bytes for value in graph.values.values() if value.is_const)
    views = [graph.view(n) for n in graph.nodes]
    work = {v.name: v.macs * (_LOOKED_UP if isinstance(v.op, ConvTranspose2D) else 1) for v in views}
    return added * sum(work.values()) <= _SAVED * work[node.name] * constants


def _between(op: ConvTranspose2D, axes: Phased, x: Shape, y: Shape) -> Iterator[tuple[Op, Shape]]:
    """What puts results between each other, with the shape that it makes; nothing where one operator does not."""
    h, w = axes
    rows, columns = (a.window.out_len(n) for a, n in zip(axes, x[1:3], strict=True))
    whole = (x[0], rows * h.stride, columns * w.stride, y[3])
    if h.stride == 1 or (w.stride == 1 and columns == 1):
        yield Reshape(whole), whole
    elif h.stride == w.stride:
        yield DepthToSpace(h.stride, "DCR"), whole
    else:
        return
    if whole != y:
        yield Slice((0, op.h.pad_before, op.w.pad_before, 0), y, (1, 1, 1, 1)), y


def _split(draft: Draft, node: Node, axes: Phased) -> None:
    (h, w), op, (x, weights, bias), (y,) = axes, node.op, node.inputs, node.outputs
    assert isinstance(op, ConvTranspose2D), "the pass asked"
    graph, count = draft.graph, h.stride * w.stride
    kernel, added = graph.values[weights], graph.values[bias]
    assert kernel.data is not None, "the pass asked"
    assert added.data is not None, "the pass asked"
    data = _picked(kernel.data, axes)
    inputs = (
        x,
        draft.value(f"{weights}.split", replace(kernel.type, shape=data.shape), data=data),
        draft.value(
            f"{bias}.split", replace(added.type, shape=(count * len(added.data),)), data=np.tile(added.data, count)
        ),
    )
    requant = None if op.requant is None else _repeated(op.requant, count)
    conv = Conv2D(h.window, w.window, 1, op.x_zero_point, requant, op.y_dtype, op.y_quant)
    x_shape, y_type = graph.type(x).shape, graph.type(y)
    made = (x_shape[0], h.window.out_len(x_shape[1]), w.window.out_len(x_shape[2]), count * y_type.shape[3])
    now = draft.value(f"{y}.split", replace(y_type, shape=made))
    draft.rewrite(node, conv, inputs, (now,))
    for op_behind, shape in _between(op, axes, x_shape, y_type.shape):
        then = y if shape == y_type.shape else draft.value(f"{y}.whole", replace(y_type, shape=shape))
        draft.insert(op_behind, (now,), then, node.source)
        now = then


def _picked(kernel: Array, phases: Phased) -> Array:
    """[O, KH, KW, C] as [results of each place and O, taps, taps, C], 0 where a result has no tap."""
    results = split(kernel.transpose(0, 3, 1, 2), phases)  # of each output one after another
    by_output = results.reshape(len(kernel), -1, *results.shape[1:]).transpose(1, 0, 3, 4, 2)
    return np.ascontiguousarray(by_output.reshape(-1, *by_output.shape[2:]))


def _repeated(requant: Requant, count: int) -> Requant:
    """The factors of each output for each of its results."""
    if not requant.per_channel:
        return requant
    return replace(
        requant, multiplier=requant.multiplier * count, shift=requant.shift * count, scale=requant.scale * count
    )
