"""ONNX's own tests of its operators as Graphs: read, made of plain numbers, and many of them as one network."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path

import numpy as np

from codegen.errors import CompileError
from codegen.frontends.onnx.importer import import_onnx
from codegen.ir.graph import Graph, Interface, Node, Value
from codegen.ir.quant import Array, DType
from codegen.settle.float32.writer import WORD_SHIFT
from codegen.settle.words import UNSIGNED_WORD
from tests.support.node_tests import NodeTest, as_said, forms, node_tests


@dataclass(frozen=True, slots=True, eq=False)
class Compilable:
    """A test's Graph, of the first of `node_tests.forms` that is read."""

    case: NodeTest
    graph: Graph


@dataclass(frozen=True, slots=True)
class Refused:
    """Why a test has no Graph."""

    reason: str


@cache
def compilable(name: str) -> Compilable | Refused:
    """The Graph of the first form that is read."""
    with tempfile.TemporaryDirectory(prefix="lamina-") as folder:
        return _compilable(node_tests()[name], Path(folder) / "model.onnx")


def _compilable(case: NodeTest, path: Path) -> Compilable | Refused:
    reason = ""
    for model in forms(case):
        path.write_bytes(model.SerializeToString())
        known = {t.name for t in model.graph.initializer}
        shapes = {n: a.shape for n, a in case.feeds.items() if n not in known and a.ndim}
        try:
            graph = import_onnx(path, mode="ort", io_type="model", io_layout="model", shapes=shapes)
        except CompileError as error:
            reason = error.problems()[0].found
        else:
            return Compilable(case, graph)
    return Refused(reason)


def fed(made: Compilable) -> dict[str, Array]:
    """The test's inputs as the Graph holds them; what is beyond 32 bits at their ends."""
    found = {}
    for port in made.graph.inputs:
        given, kind = np.asarray(made.case.feeds[port.name]), made.graph.type(port.value)
        if port.model_dtype == UNSIGNED_WORD:
            given = given.astype(np.int32) - WORD_SHIFT
        if kind.dtype is DType.S32:
            given = np.clip(given.astype(object), DType.S32.low, DType.S32.high)
        found[port.value] = np.asarray(given.astype(kind.dtype.numpy), order="C").reshape(kind.shape)
    return found


def disagreement(made: Compilable, results: Mapping[str, Array]) -> str:
    """Where results are not what the test says, at its own tolerance; empty where they are."""
    for port, wanted in zip(made.graph.outputs, (y for y in made.case.expected if y.size), strict=True):
        found = as_said(results[port.value], wanted, made.case).astype(np.float64)
        if port.model_dtype == UNSIGNED_WORD:
            found += WORD_SHIFT
        if found.shape != wanted.shape:
            return f"a result of shape {list(found.shape)}, not {list(wanted.shape)}"
        half = 2e-2 if wanted.dtype == np.float16 else 1e-5
        near = np.isclose(
            found,
            wanted.astype(np.float64),
            rtol=made.case.rtol,
            atol=max(made.case.atol, half),
            equal_nan=True,
        )
        if not near.all():
            at = int((~near).argmax())
            return f"{found.reshape(-1)[at]} where {wanted.reshape(-1)[at]} is said"
    return ""


def prefixed(graph: Graph, prefix: str) -> Graph:
    """The Graph with another name for everything."""

    def port(face: Interface) -> Interface:
        return replace(face, value=prefix + face.value, name=prefix + face.name)

    values = {prefix + n: _renamed(v, prefix) for n, v in graph.values.items()}
    nodes = tuple(_moved(node, prefix) for node in graph.nodes)
    return Graph(graph.name, values, nodes, tuple(map(port, graph.inputs)), tuple(map(port, graph.outputs)))


def _renamed(value: Value, prefix: str) -> Value:
    return replace(value, name=prefix + value.name, source=prefix + value.source if value.source else "")


def _moved(node: Node, prefix: str) -> Node:
    parts = (tuple(prefix + v for v in side) for side in (node.inputs, node.outputs))
    inputs, outputs = parts
    return replace(node, name=prefix + node.name, inputs=inputs, outputs=outputs)


def side_by_side(graphs: Sequence[Graph]) -> Graph:
    """Graphs whose names differ, as one network."""
    values = {n: v for g in graphs for n, v in g.values.items()}
    nodes = tuple(n for g in graphs for n in g.nodes)
    ports: Iterator[tuple[Interface, ...]] = (
        tuple(p for g in graphs for p in side(g)) for side in (lambda g: g.inputs, lambda g: g.outputs)
    )
    inputs, outputs = ports
    return Graph("nodes", values, nodes, inputs, outputs)
