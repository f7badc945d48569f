"""A batch image by image: a network runs all its operators on one image, then on the next, from its inputs on.

Operators that treat images apart are written once for each image, on a slice of the inputs, with the same weights;
what anybody else reads of them is joined again.  Equal layers share their functions and weights, so that a batch takes
the memory of one image beside what comes in and goes out.  Each operator says itself whether it treats images apart
(`codegen/real/images.py`); the stretch ends at those that do not, and nothing behind these is cut.

Decides: that this is done where bytes that are live at a time, counted operator by operator, become clearly fewer, and
not where operators take row by row, of which a plan holds a few at a time whatever image they are of.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence, Set
from dataclasses import replace

from codegen.ir.images import of_batch, of_image
from codegen.ir.names import free_name
from codegen.ir.real import RealGraph, RealNode, RealOp, RealValue
from codegen.ir.shape import Shape
from codegen.real.elementwise import AddN, Binary, Cast, Clip, Function, PRelu, Where
from codegen.real.images import one_image, one_of
from codegen.real.movement import MOVING, Concat, Reshape, Slice
from codegen.real.normal import LayerNorm
from codegen.real.product import Dense, MatMul
from codegen.real.reduce import Softmax
from codegen.real.storage import Dequantize, Quantize, Restore
from codegen.records import record

_LEFT = 0.75
"""Of the bytes that are live at a time, what may be left where a batch is worth cutting."""
_CALL_BYTES = 48
"""Bytes that are to be saved for each operator more: about what its call takes of the flash."""
_MOST_NODES = 8192
"""Operators that a batch may become: plans of more are long in the making."""
_ROWS = 3
"""Axes of a tensor that has rows beside its images."""
_BY_ELEMENTS = (AddN, Binary, Cast, Clip, Dequantize, Function, PRelu, Quantize, Restore, Where)
"""Operators that make an element of elements."""
_IN_PLACE = (Clip, Dequantize, Function, Quantize, Reshape, Restore)
"""Operators that are views, or become part of others or of how a tensor is held."""


def image_by_image(graph: RealGraph) -> tuple[RealGraph, bool] | None:
    """The network with its batch cut, and whether that saves memory; None where there is none, or far too large."""
    stretch = _stretch(graph)
    if stretch is None or len(stretch.ops) * stretch.images > _MOST_NODES:
        return None
    cut = _cut(graph, stretch)
    held = element_bytes(graph)
    before, after = live_bytes(graph, held), live_bytes(cut, held)
    between = sum(not isinstance(op, _IN_PLACE + MOVING) for op in stretch.ops.values()) > 1  # else nothing to save
    pays = between and before - after >= _CALL_BYTES * (_calls(cut) - _calls(graph)) and not _flows(graph, stretch)
    return cut, pays and after <= _LEFT * before


def _calls(graph: RealGraph) -> int:
    return sum(not isinstance(node.op, _IN_PLACE) for node in graph.nodes)


@record(eq=False)
class Stretch:
    """What is done for each of so many images: values that have the batch, and operators on one image by their label.

    `behind` are values that depend on several images.
    """

    images: int
    values: frozenset[str]
    ops: Mapping[str, RealOp]
    behind: frozenset[str]


def _stretch(graph: RealGraph) -> Stretch | None:
    """The longest one at whose end every tensor has its numbers, as `_open` says; None where there is none."""
    barred = set[str]()
    while (found := _until(graph, barred)) is not None and (more := _open(graph, found)):
        barred |= more
    return found


def _open(graph: RealGraph, stretch: Stretch) -> set[str]:
    """Labels of nodes that are to be behind the end of the stretch, in a network that quantizes some tensors.

    What has no scale there gets it from what is behind it, or from a function whose result is an output, and would be
    real numbers for who joins it.  Integers are joined before they are real numbers again.
    """
    if not any(isinstance(node.op, Quantize) for node in graph.nodes):
        return set()
    makers = {name: node for node in graph.nodes for name in node.outputs}
    read = {name for node in graph.nodes if node.label in stretch.ops for name in node.inputs}
    found = set[str]()
    for name in _joints(graph, stretch):
        made, last = _origin(makers, name), makers[name]
        if made is None or isinstance(made.op, Quantize):
            continue
        before = _origin(makers, made.inputs[0])
        ends = before is not None and isinstance(before.op, Dequantize) and isinstance(made.op, Function | Softmax)
        if ends:
            found.add(made.label)
        elif name not in read if isinstance(made.op, Dequantize) else name not in graph.outputs:
            found.add(last.label)
    return found


def _origin(makers: Mapping[str, RealNode], name: str) -> RealNode | None:
    """The node that makes the numbers of a value, whatever moves them; None of what comes from outside."""
    node = makers.get(name)
    while node is not None and isinstance(node.op, MOVING):
        node = makers.get(node.inputs[0])
    return node


def _joints(graph: RealGraph, stretch: Stretch) -> list[str]:
    """Values of the stretch's operators that others read, or that are given out."""
    own = [name for node in graph.nodes if node.label in stretch.ops for name in node.outputs]
    behind = (node for node in graph.nodes if stretch.behind.intersection(node.outputs))
    needed = {*(name for node in behind for name in node.inputs), *graph.outputs, *(s.next for s in graph.states)}
    return [name for name in own if name in needed]


def _until(graph: RealGraph, barred: Set[str]) -> Stretch | None:
    """From the inputs on, up to what is barred; None where there is no batch, or nothing treats images apart."""
    images = next((n for n in (_batch(graph, name) for name in graph.inputs) if n > 1), 1)
    values = {name for name in graph.inputs if images > 1 and _batch(graph, name) == images}
    ops, behind = dict[str, RealOp](), set[str]()
    for node in graph.nodes if values else ():
        whole = node.label in barred or behind.intersection(node.inputs)
        op = None if whole else _apart(graph, node, values, images)
        if op is not None:
            ops[node.label] = op
            values.update(node.outputs)
        elif {*values, *behind}.intersection(node.inputs):
            behind.update(node.outputs)
    return Stretch(images, frozenset(values), ops, frozenset(behind)) if ops else None


def _flows(graph: RealGraph, stretch: Stretch) -> bool:
    """Whether elements, or rows, flow through all of it."""
    nodes = [node for node in graph.nodes if node.label in stretch.ops]
    rows = all(len(graph.type(name).shape) == _ROWS for node in nodes for name in node.outputs)
    return all(isinstance(node.op, _BY_ELEMENTS) or (rows and _by_rows(node, stretch)) for node in nodes)


def _by_rows(node: RealNode, stretch: Stretch) -> bool:
    """Whether a row is made of a row, and of what is the same for all."""
    match node.op:
        case MatMul():
            return node.inputs[1] not in stretch.values
        case LayerNorm(axis=axis) | Softmax(axes=(axis,)):
            return axis == _ROWS - 1
    return isinstance(node.op, Dense)


def _batch(graph: RealGraph, name: str) -> int:
    """Images of a value, which have one scale; 1 where they do not."""
    value = graph.values[name]
    stored = value.stored
    several = stored is not None and (stored.axis == 0 or stored.block > 0)
    return 1 if several or not value.type.shape else value.type.shape[0]


def _apart(graph: RealGraph, node: RealNode, values: set[str], images: int) -> RealOp | None:
    """What a node does with one image."""
    own = [name in values for name in node.inputs]
    if not any(own) or not all(node.inputs):
        return None
    op = one_image(node.op, [graph.type(name) for name in node.inputs], own)
    return op if all(_batch(graph, name) == images for name in node.outputs) else None


def _cut(graph: RealGraph, stretch: Stretch) -> RealGraph:
    """The network with the stretch image by image, what depends on no image before it, and the rest behind it."""
    values, written = dict(graph.values), list[RealNode]()
    own = [node for node in graph.nodes if node.label in stretch.ops]
    others = [node for node in graph.nodes if node.label not in stretch.ops]
    behind = [node for node in others if stretch.behind.intersection(node.outputs)]
    written += [node for node in others if node not in behind]
    read = {name for node in own for name in node.inputs}
    parts: list[dict[str, str]] = []
    for image in range(stretch.images):
        part = {name: _part(values, graph.values[name], image) for name in graph.values if name in stretch.values}
        given = (name for name in graph.inputs if name in stretch.values & read)
        written += [_slice(graph.type(name).shape, name, part[name], image) for name in given]
        written += [_for_image(node, stretch.ops[node.label], part) for node in own]
        parts.append(part)
    written += [_joined(name, [part[name] for part in parts]) for name in _joints(graph, stretch)]
    note = f"the batch of {stretch.images} is taken image by image"
    return replace(graph, values=values, nodes=tuple([*written, *behind]), notes=(*graph.notes, note)).live()


def _part(values: dict[str, RealValue], whole: RealValue, image: int) -> str:
    """A new value for what one image has of another one."""
    name = free_name(of_image(whole.name, image + 1), values)
    values[name] = replace(whole, name=name, type=one_of(whole.type))
    return name


def _slice(shape: Shape, whole: str, part: str, image: int) -> RealNode:
    starts, counts = (image, *(0,) * (len(shape) - 1)), (1, *shape[1:])
    return RealNode(part, Slice(starts, counts, (1,) * len(shape)), (whole,), (part,), part, "Slice")


def _for_image(node: RealNode, op: RealOp, part: Mapping[str, str]) -> RealNode:
    inputs, outputs = ([part.get(name, name) for name in names] for names in (node.inputs, node.outputs))
    tensor = part.get(node.tensor, node.tensor)
    return replace(node, label=outputs[0], op=op, inputs=tuple(inputs), outputs=tuple(outputs), tensor=tensor)


def _joined(whole: str, parts: Sequence[str]) -> RealNode:
    return RealNode(whole, Concat(0), tuple(parts), (whole,), whole, "Concat")


def live_bytes(graph: RealGraph, held: Mapping[str, int] | None = None) -> int:
    """The most bytes that are live at a time, each operator run alone; what may be done in place takes nothing.

    `held`: bytes of an element by value of a batch, as `element_bytes` of the whole network says.
    """
    roots, items = roots_of(graph), element_bytes(graph) if held is None else held
    kinds = {root: graph.type(root) for root in {*roots.values()}}
    sizes = {n: math.prod(t.shape) * items.get(of_batch(n), t.dtype.itemsize) for n, t in kinds.items()}
    last = {roots[n]: at for at, node in enumerate(graph.nodes) for n in (*node.inputs, *node.outputs) if n in roots}
    for name in (*graph.outputs, *(s.next for s in graph.states)):
        last.pop(roots.get(name, name), None)
    ending = Counter[int]()
    for root, at in last.items():
        ending[at] += sizes[root]
    now = most = sum(sizes[name] for name in _given(graph))
    for at, node in enumerate(graph.nodes):
        now += sum(sizes[name] for name in node.outputs if roots[name] == name)
        most = max(most, now)
        now -= ending[at]
    return most


def _given(graph: RealGraph) -> Sequence[str]:
    """What is there before a run begins."""
    return (*graph.inputs, *(state.value for state in graph.states))


def roots_of(graph: RealGraph) -> dict[str, str]:
    """By computed value the one in whose memory it lies."""
    roots = {name: name for name in _given(graph)}
    for node in graph.nodes:
        read = [name for name in node.inputs if name in roots]
        shares = isinstance(node.op, _IN_PLACE) or (isinstance(node.op, Binary) and _keeps_size(graph, node, read))
        roots.update((name, roots[read[0]] if shares and read else name) for name in node.outputs)
    return roots


def _keeps_size(graph: RealGraph, node: RealNode, read: Sequence[str]) -> bool:
    """Whether a node computes one tensor of another one's shape and of constants."""
    return len(read) == 1 and graph.type(read[0]).shape == graph.type(node.outputs[0]).shape


def element_bytes(graph: RealGraph) -> dict[str, int]:
    """By computed value, the bytes of an element: of all that share memory, as the smallest is held."""
    roots, found = roots_of(graph), dict[str, int]()
    for name, root in roots.items():
        value = graph.values[name]
        size = (value.stored.dtype if value.stored else value.type.dtype).itemsize
        found[root] = min(found.get(root, size), size)
    return {name: found[root] for name, root in roots.items()}
