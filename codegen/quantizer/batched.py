"""Nodes run on many samples at once, though the model has been made for one.

Decides: samples lie along a first axis of their own.  In numpy, operators that keep the model's batch axis apart run on
all of them in one go, where that axis has one entry; any other one, and those that a faster runtime takes, one sample
after the other.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Protocol

import numpy as np

from codegen.ir.quant import Array
from codegen.ir.real import RealGraph, RealNode, RealOp, Stored
from codegen.quantizer.cached import CACHED, in_parts
from codegen.quantizer.scheme import Running
from codegen.real.elementwise import Binary, Clip, Function, PRelu
from codegen.real.movement import Concat, Pad
from codegen.real.normal import BatchNorm
from codegen.real.product import Gemm, MatMul
from codegen.real.window import AveragePool, Conv, ConvTranspose, MaxPool
from codegen.threads import over

_APART = (
    AveragePool,
    BatchNorm,
    Binary,
    Clip,
    Concat,
    Conv,
    ConvTranspose,
    Function,
    Gemm,
    MatMul,
    MaxPool,
    Pad,
    PRelu,
)
"""Operators that never bring entries of the first axis together, but for what `_is_apart` looks at."""
_SINGLE = (Binary, Clip, Function, PRelu)
"""Those that go over their numbers once: large ones are best at hand, sample by sample."""


class NodeRun(Protocol):
    """What computes a node: `in_numpy`, or a runtime that does it sooner, and perhaps whole networks too."""

    def takes(self, op: RealOp) -> bool:
        """Whether such operators go to a runtime, one sample after the other."""
        ...

    def whole(self, graph: RealGraph) -> Running | None:
        """A network of which only the outputs are wanted; None where nothing is faster than its nodes one by one."""
        ...

    def __call__(self, node: RealNode, ins: Sequence[Array]) -> Sequence[Array]:
        """The outputs of a node."""
        ...


class _InNumpy:
    def takes(self, op: RealOp) -> bool:
        return False

    def whole(self, graph: RealGraph) -> Running | None:
        return None

    def __call__(self, node: RealNode, ins: Sequence[Array]) -> Sequence[Array]:
        run: Callable[[Sequence[Array]], Sequence[Array]] = getattr(node.op, "quickly", node.op.evaluate)
        with np.errstate(all="ignore"):
            return run(ins)


in_numpy = _InNumpy()
"""Runs a node, its sums in any order."""


def run_node(
    graph: RealGraph, node: RealNode, ins: Sequence[Array], known: Sequence[bool], run: NodeRun = in_numpy
) -> list[Array]:
    """The outputs of all samples, [samples, ...], or those of one where everything is `known` without them."""
    if all(known):
        return list(in_numpy(node, ins))
    large = isinstance(node.op, _SINGLE) and math.prod(graph.type(node.outputs[0]).shape) > CACHED
    if not large and not run.takes(node.op) and _is_apart(graph, node, known):
        merged = [a if k else a.reshape(-1, *a.shape[2:]) for a, k in zip(ins, known, strict=True)]
        return [y[:, None] for y in in_numpy(node, merged)]
    count = next(len(a) for a, k in zip(ins, known, strict=True) if not k)
    return _stacked(lambda i: run(node, [a if k else a[i] for a, k in zip(ins, known, strict=True)]), count)


def _stacked(run: Callable[[int], Sequence[Array]], count: int) -> list[Array]:
    """The outputs of `count` runs, each along an axis of its own; no more than one run's are kept twice."""
    first = run(0)
    found = [np.empty((count, *y.shape), y.dtype) for y in first]

    def put(at: int, made: Sequence[Array]) -> None:
        for whole, part in zip(found, made, strict=True):
            whole[at] = part

    def some(numbers: range) -> None:
        for number in numbers:
            put(number + 1, run(number + 1))

    put(0, first)
    over(some, count - 1)
    return found


def hold(array: Array, stored: Stored) -> Array:
    """The numbers as integers hold them: quantized and dequantized, in float32."""
    scale, zero = np.float32(stored.scale.reshape(-1)[0]), float(stored.zero_point.reshape(-1)[0])
    found = np.empty(array.size, np.float32)
    parts = list(zip(in_parts(array.reshape(-1)), in_parts(found), strict=True))

    def some(numbers: range) -> None:
        for part, steps in parts[numbers.start : numbers.stop]:
            with np.errstate(over="ignore"):  # of masks
                np.divide(part, scale, out=steps)
            np.rint(steps, out=steps)
            np.clip(steps, stored.low - zero, stored.high - zero, out=steps)
            steps *= scale

    over(some, len(parts))
    return found.reshape(array.shape)


def _is_apart(graph: RealGraph, node: RealNode, known: Sequence[bool]) -> bool:
    shapes = [graph.type(name).shape for name in node.inputs]
    one = all(k or s[:1] == (1,) for s, k in zip(shapes, known, strict=True))
    if not one or not isinstance(node.op, _APART) or graph.type(node.outputs[0]).shape[:1] != (1,):
        return False
    if isinstance(node.op, Gemm | MatMul):
        return known[1] and not known[0] and len(shapes[0]) > 1 and not getattr(node.op, "turn_a", False)
    if isinstance(node.op, Pad):
        return not node.op.before[0] and not node.op.after[0]
    if isinstance(node.op, Concat):
        return node.op.axis % len(shapes[0]) > 0 and not any(known)
    if isinstance(node.op, Conv | ConvTranspose | BatchNorm):
        return all(known[1:]) and not known[0]
    rank = len(graph.type(node.outputs[0]).shape)
    known_fit = all(len(s) < rank or s[0] == 1 for s, k in zip(shapes, known, strict=True) if k)
    return known_fit and all(len(s) == rank for s, k in zip(shapes, known, strict=True) if not k)
