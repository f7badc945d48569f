"""Convolutions between SPACE_TO_BATCH_ND and BATCH_TO_SPACE_ND, which are dilated convolutions of one image.

Decides: which chains are exactly that.  Of every b-th row a convolution with stride 1 makes every b-th row of one that
is dilated by b; what SPACE_TO_BATCH_ND pads is its padding, less what BATCH_TO_SPACE_ND cuts off.  A changed shape may
stand on either side of the convolution, as converters write Conv1D.  Any other chain is read as it stands.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from codegen.errors import CompileError
from codegen.frontends.tflite.nodes import Spread, TfliteNode
from codegen.frontends.tflite.reader import Subgraph, Tensor
from codegen.frontends.tflite.windows import read_window, spread_window
from codegen.records import record

_CONVOLUTIONS = {"CONV_2D": "Conv2DOptions", "DEPTHWISE_CONV_2D": "DepthwiseConv2DOptions"}
_VIEWS = ("EXPAND_DIMS", "RESHAPE", "SQUEEZE")
Edges = tuple[tuple[int, ...], tuple[tuple[int, int], ...]]
"""A block, and what is added or cut before and after each of its axes."""


def joined_nodes(graph: Subgraph) -> tuple[TfliteNode, ...]:
    """The operators in their order, each such chain as one convolution in its middle."""
    chains = [chain for node in graph.nodes if (chain := _chain(graph, node)) is not None]
    middles = {id(chain.convolution): node for chain in chains if (node := _joined(graph, chain)) is not None}
    gone = {id(n) for chain in chains if id(chain.convolution) in middles for n in chain.others}
    return tuple(middles.get(id(node), node) for node in graph.nodes if id(node) not in gone)


@record
class _Chain:
    space: TfliteNode
    convolution: TfliteNode
    batch: TfliteNode
    views: tuple[TfliteNode, ...]

    @property
    def others(self) -> tuple[TfliteNode, ...]:
        return (self.space, self.batch, *self.views)


def _chain(graph: Subgraph, space: TfliteNode) -> _Chain | None:
    """The chain that begins with a SPACE_TO_BATCH_ND, each member of it the only reader of the one before."""
    if space.op_type != "SPACE_TO_BATCH_ND" or not space.inputs or space.inputs[0] < 0:
        return None
    found: list[TfliteNode] = []
    node: TfliteNode | None = space
    for wanted in (_VIEWS, tuple(_CONVOLUTIONS), _VIEWS, ("BATCH_TO_SPACE_ND",)):
        reader = _only_reader(graph, node) if node is not None else None
        if reader is not None and reader.op_type in wanted:
            found.append(reader)
            node = reader
        elif wanted is not _VIEWS:
            return None
    convolution = next(n for n in found if n.op_type in _CONVOLUTIONS)
    if len(found[-1].outputs) != 1 or len(convolution.inputs) < 2 or convolution.inputs[1] < 0:
        return None
    return _Chain(space, convolution, found[-1], tuple(n for n in found if n.op_type in _VIEWS))


def _only_reader(graph: Subgraph, node: TfliteNode) -> TfliteNode | None:
    """Who reads an operator's result as its first input, when nothing else does."""
    if len(node.outputs) != 1 or node.outputs[0] in graph.outputs:
        return None
    readers = [n for n in graph.nodes if node.outputs[0] in n.inputs]
    alone = len(readers) == 1 and Counter(readers[0].inputs)[node.outputs[0]] == 1
    return readers[0] if alone and readers[0].inputs[0] == node.outputs[0] else None


def _joined(graph: Subgraph, chain: _Chain) -> TfliteNode | None:
    """One convolution for the chain; None where its numbers are no dilated convolution's."""
    spread = _spread(graph, chain)
    if spread is None or not _fits(graph.tensors, chain, spread):
        return None
    inputs = (chain.space.inputs[0], *chain.convolution.inputs[1:])
    batch = chain.batch
    return replace(
        chain.convolution, inputs=inputs, outputs=batch.outputs, output_name=batch.output_name, spread=spread
    )


def _spread(graph: Subgraph, chain: _Chain) -> Spread | None:
    """Blocks and borders along both axes of the convolution's image."""
    x, image = (graph.tensors[n.inputs[0]] for n in (chain.space, chain.convolution))
    opened, closed = (_edges(graph.tensors, node) for node in (chain.space, chain.batch))
    if opened is None or closed is None or opened[0] != closed[0] or len(image.shape) != 4:
        return None
    axes = _axes(x.shape, image.shape, len(opened[0]))
    if axes is None:
        return None
    block, before, after, sizes = [1, 1], [0, 0], [0, 0], [1, 1]
    for place, axis in enumerate(axes):
        block[axis], sizes[axis] = opened[0][place], x.shape[1 + place]
        before[axis], after[axis] = (opened[1][place][i] - closed[1][place][i] for i in (0, 1))
    padded = [x.shape[1 + place] + sum(opened[1][place]) for place in range(len(axes))]
    if any(n != image.shape[1 + a] * block[a] for n, a in zip(padded, axes, strict=True)):
        return None
    made, result = (graph.tensors[i].shape for i in (chain.convolution.outputs[0], chain.batch.inputs[0]))
    kept = len(made) == 4 and result == (made[0], *(made[1 + a] for a in axes), made[3])
    if not kept or math.prod(made) != math.prod(result):
        return None
    whole = (x.shape[0], *sizes, x.shape[-1])
    return Spread(image.shape, whole, (block[0], block[1]), (before[0], before[1]), (after[0], after[1]))


def _axes(x: Sequence[int], image: Sequence[int], count: int) -> tuple[int, ...] | None:
    """Rows, columns or both: the axes of the image that the blocks are of."""
    if len(x) != count + 2 or x[-1] != image[3]:
        return None
    if count == 2:
        return (0, 1)
    long = [a for a in (0, 1) if image[1 + a] != 1]
    return (long[0],) if count == 1 and len(long) == 1 else None


def _edges(tensors: Sequence[Tensor], node: TfliteNode) -> Edges | None:
    """The constants of an operator that opens or closes blocks, None where they are not what they should be."""
    known = [tensors[i].data if i >= 0 else None for i in node.inputs[1:]]
    if len(known) != 2 or any(k is None or k.dtype.kind != "i" for k in known):
        return None
    block, edges = (np.asarray(k) for k in known)
    if block.ndim != 1 or edges.shape != (block.size, 2) or block.min(initial=1) < 1 or edges.min(initial=0) < 0:
        return None
    return tuple(block.tolist()), tuple((int(a), int(b)) for a, b in edges)


def _fits(tensors: Sequence[Tensor], chain: _Chain, spread: Spread) -> bool:
    """Whether numbers keep their meaning between the ends, and every border is padding."""
    space, convolution, batch = chain.space, chain.convolution, chain.batch
    pairs = ((space.inputs[0], convolution.inputs[0]), (convolution.outputs[0], batch.outputs[0]))
    if not all(_same_meaning(tensors[a], tensors[b]) for a, b in pairs):
        return False
    options = convolution.options_of(_CONVOLUTIONS[convolution.op_type])
    kernel = tensors[convolution.inputs[1]].shape
    if (options.StrideH(), options.StrideW()) != (1, 1) or len(kernel) != 4:
        return False
    dilations = (options.DilationHFactor(), options.DilationWFactor())
    return all(
        _is_padding(convolution, spread, axis, int(options.Padding()), kernel[1 + axis], dilations[axis])
        for axis in (0, 1)
    )


def _is_padding(node: TfliteNode, spread: Spread, axis: int, padding: int, size: int, dilation: int) -> bool:
    try:
        window = spread_window(spread, axis, read_window(node, padding, size, 1, dilation, spread.shape[1 + axis]))
    except CompileError:
        return False
    return window.pad_before >= 0 and window.pad_after >= 0


def _same_meaning(a: Tensor, b: Tensor) -> bool:
    return a.kind == b.kind and np.array_equal(a.scale, b.scale) and np.array_equal(a.zero_point, b.zero_point)
