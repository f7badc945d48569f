"""The model's graph as nodes in a runnable order, with every structural mistake named.

Decides: what a well-formed graph is: every tensor has one writer, every read tensor has a writer, no loops, and
no node with several graphs of its own.  Unsorted graphs are sorted.  What the nodes mean is left to the importers.
"""

from __future__ import annotations

import heapq
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from onnx import AttributeProto

from codegen.errors import CompileError, GraphCyclic, InputMissing, NameTwice, SubgraphUnsupported
from codegen.frontends.onnx.nodes import OnnxNode, names_read, read_node, text_of
from codegen.records import record


@record(eq=False)
class Structure:
    """A model's graph in order.  `inputs` are the ValueInfo records of inputs that are not initializers."""

    name: str
    nodes: tuple[OnnxNode, ...]
    initializers: Mapping[str, Any]
    inputs: tuple[Any, ...]
    outputs: tuple[str, ...]
    problems: tuple[CompileError, ...]


def read_structure(graph: Any) -> Structure:
    """The graph's nodes in order, and what is wrong with it as a graph."""
    problems: list[CompileError] = []
    initializers = {text_of(t.name): t for t in graph.initializer}
    inputs = tuple(i for i in graph.input if text_of(i.name) not in initializers)
    nodes = _unique_names(read_node(proto, index) for index, proto in enumerate(graph.node))
    outputs = tuple(text_of(o.name) for o in graph.output)
    fixed = [text_of(i.name) for i in inputs] + [text_of(t.name) for t in graph.initializer]
    writers = _writers(fixed, nodes, problems)
    problems += [_sparse(text_of(t.values.name)) for t in graph.sparse_initializer]
    problems += [e for node in nodes for e in _node_problems(node, writers)]
    problems += [
        InputMissing(f"no node writes the network output '{o}'", where=f"tensor '{o}'")
        for o in outputs
        if o not in writers
    ]
    problems += [NameTwice("two network outputs of this name", where=f"tensor '{o}'") for o in _repeated(outputs)]
    if not outputs:
        problems.append(InputMissing("the model has no output", where="model"))
    ordered = _sorted([n for n in nodes if any(n.outputs)], writers, problems)
    return Structure(text_of(graph.name), ordered, initializers, inputs, outputs, tuple(problems))


def _unique_names(nodes: Iterable[OnnxNode]) -> tuple[OnnxNode, ...]:
    """Nodes with different names; ONNX lets them repeat."""
    seen: dict[str, int] = {}
    result = []
    for node in nodes:
        count = seen.get(node.name, 0)
        seen[node.name] = count + 1
        if count:
            node = replace(node, name=f"{node.name}.{count}")
        result.append(node)
    return tuple(result)


def _repeated(names: Sequence[str]) -> list[str]:
    return [name for name, count in Counter(names).items() if count > 1]


def _writers(
    fixed: Sequence[str], nodes: Sequence[OnnxNode], problems: list[CompileError]
) -> dict[str, OnnxNode | None]:
    """Who writes each tensor: a node, or None for inputs and initializers.  The first writer counts."""
    writers: dict[str, OnnxNode | None] = {}
    for name in fixed:
        if name in writers:
            problems.append(NameTwice("two inputs or initializers of this name", where=f"tensor '{name}'"))
        writers[name] = None
    for node in nodes:
        for name in filter(None, node.outputs):
            if name in writers:
                other = writers[name]
                by = f"node '{other.name}'" if other else "an input or initializer"
                problems.append(NameTwice(f"'{name}' is already written by {by}", where=node.where))
            else:
                writers[name] = node
    return writers


def _sparse(name: str) -> CompileError:
    return SubgraphUnsupported(
        "a sparse initializer", where=f"tensor '{name}'", hint="store the initializer as a dense tensor"
    )


def _node_problems(node: OnnxNode, writers: Mapping[str, OnnxNode | None]) -> list[CompileError]:
    found: list[CompileError] = []
    if any(a.type == AttributeProto.GRAPHS for a in node.attributes.values()):
        found.append(SubgraphUnsupported(f"{node.op_type} holds a graph of its own", where=node.where))
    if not any(node.outputs):
        found.append(InputMissing("the node has no output", where=node.where))
    missing = [i for i in node.inputs if i and i not in writers]
    found += [InputMissing(f"nothing writes its input '{i}'", where=node.where) for i in missing]
    return found


def _sorted(
    nodes: Sequence[OnnxNode], writers: Mapping[str, OnnxNode | None], problems: list[CompileError]
) -> tuple[OnnxNode, ...]:
    """Nodes in a runnable order, the model's own where it is one; nodes on a loop or behind one are left out."""
    index = {id(node): i for i, node in enumerate(nodes)}
    needs: list[set[int]] = []
    followers: list[list[int]] = [[] for _ in nodes]
    for i, node in enumerate(nodes):
        found = (writers.get(name) for name in names_read(node))
        needs.append({index[id(writer)] for writer in found if writer is not None})
        for j in needs[-1]:
            followers[j].append(i)
    ready = [i for i, need in enumerate(needs) if not need]
    ordered: list[int] = []
    while ready:
        i = heapq.heappop(ready)
        ordered.append(i)
        for j in followers[i]:
            needs[j].discard(i)
            if not needs[j]:
                heapq.heappush(ready, j)
    if len(ordered) < len(nodes):
        left = [n.name for n, need in zip(nodes, needs, strict=True) if need]
        names = ", ".join(f"'{n}'" for n in left[:8])
        problems.append(GraphCyclic(f"{len(left)} node(s) on a loop or behind it: {names}", where="model"))
    return tuple(nodes[i] for i in ordered)
