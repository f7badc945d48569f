"""Cases as nodes of one graph, side by side, so that one compilation serves them all."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from codegen.ir.graph import Graph, Interface, Node, Value
from codegen.ir.quant import Array, TensorType
from codegen.ops import check_limits
from codegen.ops.case import Case

_SPECIAL = (np.inf, -np.inf, np.nan, -0.0, 1e-42, 3e38, 0.5, -0.5)
_SPECIAL_SHARE = 0.3
PATTERNS = ("low", "high", "extremes", "noise", "noise", "noise")
"""All least, all greatest, one of both at random, and noise."""


class _Grown:
    """The graph so far."""

    def __init__(self) -> None:
        self.values: dict[str, Value] = {}
        self.nodes: list[Node] = []
        self.inputs: list[Interface] = []
        self.outputs: list[Interface] = []

    def add(self, case: Case) -> None:
        """One node."""
        check_limits(case.op, case.types, case.name)
        names: list[str] = []
        for index in range(len(case.ins)):
            names.append(self._input(case, index, names))
        made = case.op.infer(case.types)
        outs = tuple(f"{case.name}{f'.next{i}' if i else ''}" for i in range(len(made)))
        self.values |= {out: Value(out, kind, source=out) for out, kind in zip(outs, made, strict=True)}
        self.nodes.append(Node(case.name, case.op, tuple(names), outs))
        self.outputs += [_face(out, kind) for out, kind in zip(outs, made, strict=True)]

    def _input(self, case: Case, index: int, names: Sequence[str]) -> str:
        given = case.ins[index]
        if isinstance(given, int):
            return names[given]
        name = f"{case.name}.{index}"
        const, kind = (given if isinstance(given, np.ndarray) else None), case.types[index]
        self.values[name] = Value(name, kind, const)
        if const is None:
            self.inputs.append(_face(name, kind))
        return name


def _face(name: str, kind: TensorType) -> Interface:
    return Interface(name, name, kind.shape, kind.dtype.numpy.name)


def graph_of(chosen: Sequence[Case]) -> Graph:
    """The cases side by side; each output is called as its case."""
    grown = _Grown()
    for case in chosen:
        grown.add(case)
    return Graph("kernels", grown.values, tuple(grown.nodes), tuple(grown.inputs), tuple(grown.outputs))


def feeds(graph: Graph) -> Iterator[dict[str, Array]]:
    """Inputs for each of PATTERNS."""
    rng = np.random.default_rng(7)
    for pattern in PATTERNS:
        yield {i.value: _values(rng, graph.type(i.value), pattern) for i in graph.inputs}


def _values(rng: np.random.Generator, kind: TensorType, pattern: str) -> Array:
    if kind.dtype.is_float:
        noise = np.float32(2) * rng.standard_normal(kind.shape).astype(np.float32)
        special = rng.random(kind.shape) < _SPECIAL_SHARE
        return np.where(special, rng.choice(np.array(_SPECIAL, np.float32), kind.shape), noise).astype(np.float32)
    low, high = kind.dtype.low, kind.dtype.high
    if pattern == "noise":
        return rng.integers(low, high, kind.shape, endpoint=True).astype(kind.dtype.numpy)
    picked = {"low": [low], "high": [high], "extremes": [low, high]}[pattern]
    return rng.choice(np.array(picked, kind.dtype.numpy), kind.shape)
