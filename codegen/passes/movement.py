"""Pure data movement, seen as the list of source positions, and the simplest operator that does the same.

Decides: what a chain of Reshape, Transpose, Slice and Gather is equal to.  Whether replacing it pays is
`fold_movement`'s affair.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Sequence
from itertools import pairwise

import numpy as np

from codegen.ir.graph import Graph, Node
from codegen.ir.op import Op
from codegen.ir.quant import Array, TensorType
from codegen.ir.shape import Shape
from codegen.ops import Gather, Reshape, Slice, Transpose
from codegen.ops.answers import is_view

MOVEMENT = (Reshape, Transpose, Slice, Gather)
LARGEST = 1 << 22
"""Elements above which chains are not run: the index array would take more than 32 MB."""


def moved_bytes(op: Op, y: TensorType) -> int:
    """Bytes that a movement operator writes; a view none."""
    return 0 if is_view(op) else y.bytes


def chain_to(graph: Graph, node: Node) -> tuple[Node, ...]:
    """The movement nodes that end with `node`, in order, as far up as they go."""
    chain = [node]
    while (above := graph.producers.get(chain[0].inputs[0])) is not None and isinstance(above.op, MOVEMENT):
        chain.insert(0, above)
    return tuple(chain)


def positions(shape: Shape, ops: Sequence[Op]) -> Array:
    """For each element of the last result, the flat position that it comes from in a tensor of `shape`."""
    index: Array = np.arange(math.prod(shape), dtype=np.int64).reshape(shape)
    for op in ops:
        (index,) = op.golden([index])
    return index


@functools.lru_cache(maxsize=1024)
def equal_to(shape: Shape, ops: tuple[Op, ...]) -> tuple[Op, ...] | None:
    """What `ops`, run one after the other on a tensor of `shape`, amount to; see `simplest`."""
    return simplest(shape, positions(shape, ops))


def simplest(shape: Shape, index: Array) -> tuple[Op, ...] | None:
    """At most one operator and a Reshape that pick `index` from a tensor of `shape`; None when there are none.

    An empty result means that nothing moves.  Of several answers the cheapest to run: none, Reshape, Slice,
    Gather, Transpose.
    """
    if index.size == math.prod(shape) and np.array_equal(index.ravel(), np.arange(index.size)):
        return _reshaped(shape, index.shape, ())
    drivers = _drivers(shape, index)
    if drivers is None:
        return None
    kept = [axis for axis in drivers if axis is not None]
    if kept == sorted(kept):
        return _picked(shape, index, drivers)
    return _transposed(shape, index, drivers)


def _reshaped(now: Shape, wanted: Shape, ops: tuple[Op, ...]) -> tuple[Op, ...]:
    return ops if now == wanted else (*ops, Reshape(wanted))


def _drivers(shape: Shape, index: Array) -> tuple[int | None, ...] | None:
    """For each source axis the one result axis that its position varies along, or None if it is constant.

    The whole is None when an axis varies along several, two along the same one, or a result axis drives nothing.
    """
    drivers: list[int | None] = []
    for position in np.unravel_index(index, shape):
        varying = [axis for axis in range(index.ndim) if _varies(position, axis)]
        if len(varying) > 1:
            return None
        drivers.append(varying[0] if varying else None)
    found = sorted(axis for axis in drivers if axis is not None)
    return tuple(drivers) if found == [axis for axis, n in enumerate(index.shape) if n > 1] else None


def _varies(position: Array, axis: int) -> bool:
    return bool((position != position.take([0], axis=axis)).any())


def _along(shape: Shape, index: Array, drivers: Sequence[int | None]) -> list[tuple[int, ...]]:
    """For each source axis the positions that are picked."""
    picks = []
    for position, axis in zip(np.unravel_index(index, shape), drivers, strict=True):
        line = position.ravel()[:1]
        if axis is not None:
            line = np.moveaxis(position, axis, 0).reshape(position.shape[axis], -1)[:, 0]
        picks.append(tuple(int(i) for i in line))
    return picks


def _picked(shape: Shape, index: Array, drivers: Sequence[int | None]) -> tuple[Op, ...] | None:
    """Slice, or Gather on one axis."""
    picks = _along(shape, index, drivers)
    sizes = tuple(len(p) for p in picks)
    steps = [_step(p) for p in picks]
    known = tuple(step for step in steps if step is not None)
    if len(known) == len(steps):
        return _reshaped(sizes, index.shape, (Slice(tuple(p[0] for p in picks), sizes, known),))
    moved = [axis for axis, (p, n) in enumerate(zip(picks, shape, strict=True)) if p != tuple(range(n))]
    if len(moved) > 1:
        return None
    return _reshaped(sizes, index.shape, (Gather(moved[0], picks[moved[0]]),))


def _step(picks: tuple[int, ...]) -> int | None:
    """The constant distance of the positions, 1 for a single one; None when it varies or is 0."""
    if len(picks) == 1:
        return 1
    step = picks[1] - picks[0]
    regular = step != 0 and all(b - a == step for a, b in pairwise(picks))
    return step if regular else None


def _transposed(shape: Shape, index: Array, drivers: Sequence[int | None]) -> tuple[Op, ...] | None:
    """Transpose, when every axis is taken whole."""
    if any(p != tuple(range(n)) for p, n in zip(_along(shape, index, drivers), shape, strict=True)):
        return None
    source = {axis: k for k, axis in enumerate(drivers) if axis is not None}
    units = [k for k, n in enumerate(shape) if n == 1]
    axes = [source[axis] if axis in source else units.pop(0) for axis in range(index.ndim) if axis in source or units]
    perm = (*axes, *units)
    return _reshaped(tuple(shape[k] for k in perm), index.shape, (Transpose(perm),))
