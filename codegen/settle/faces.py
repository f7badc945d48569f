"""Whether the model's own inputs and outputs are NHWC: what it transposes to NCHW itself, or from there.

Decides: that axes stay what they are through every operator that does not care for the order of rows and columns, so
that a scale and offset of the pixels in front of the first transpose, or an activation behind the last one, hide none;
and that an input which meets what was transposed back, as in a denoiser's sum, is of the same axes.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterator

from codegen.ir.graph import Node
from codegen.ir.permutation import Perm
from codegen.ops import Transpose
from codegen.ops.answers import in_layout, layout_inputs
from codegen.settle.builder import Builder
from codegen.settle.layout import TO_NCHW, TO_NHWC

_TURNED = (0, 2, 1, 3)


def is_read_as_nhwc(builder: Builder, value: str, outputs: Collection[str]) -> bool:
    """Whether all that is made of a tensor of the model's own axes is transposed to NCHW first, or given out as NHWC.

    `outputs` are the values that the network gives out as they are.
    """
    readers: defaultdict[str, list[Node]] = defaultdict(list)
    for node in builder.nodes:
        for name in dict.fromkeys(node.inputs):
            readers[name].append(node)
    ends, seen, waiting = list[Node](), {value}, [value]
    while waiting:
        for node in readers[waiting.pop()]:
            (made,) = node.outputs[:1]
            if not _keeps_axes(builder, node):
                ends.append(node)
            elif made not in seen:
                seen.add(made)
                waiting.append(made)
    return bool(ends or seen.intersection(outputs)) and all(_transposes(n, TO_NCHW) for n in ends)


def is_made_nhwc(builder: Builder, value: str) -> bool:
    """Whether a tensor of the model's own axes is made of what it transposed from NCHW, or of that and of inputs."""
    ends, seen, waiting = list[Node | None](), {value}, [value]
    while waiting:
        node = builder.maker(waiting.pop())
        if node is None or not _keeps_axes(builder, node):
            ends.append(node)
            continue
        for name in _maps(builder, node):
            if name not in seen:
                seen.add(name)
                waiting.append(name)
    made = [n for n in ends if not _is_face(builder, n)]
    return bool(made) and all(_transposes(n, TO_NHWC) for n in made)


def _transposes(node: Node | None, perm: Perm) -> bool:
    return node is not None and isinstance(node.op, Transpose) and node.op.perm == perm


def _is_face(builder: Builder, node: Node | None) -> bool:
    """Whether this is the layout change of an input."""
    return node is not None and _transposes(node, TO_NCHW) and builder.maker(node.inputs[0]) is None


def _keeps_axes(builder: Builder, node: Node) -> bool:
    """Whether the axes of the result are those of an input, whatever rows and columns are."""
    if isinstance(node.op, Transpose) or len(builder.type(node.outputs[0]).shape) != len(_TURNED):
        return False
    return in_layout(node.op, _TURNED) is not None and any(_maps(builder, node))


def _maps(builder: Builder, node: Node) -> Iterator[str]:
    """The inputs with rows and columns, which are not constant; those of one number per channel have none."""
    for i in layout_inputs(node.op, len(node.inputs)):
        shape = builder.type(node.inputs[i]).shape
        if len(shape) == len(_TURNED) and shape[1:3] != (1, 1) and not builder.values[node.inputs[i]].is_const:
            yield node.inputs[i]
