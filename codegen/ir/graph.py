"""Graph: tensors and operators, protobuf-free.  What is computed, not when or where.

Nodes stand in an order in which they can run.  A Graph is immutable; rewrites make a new one.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import field, replace
from functools import cached_property
from types import MappingProxyType

from codegen.ir.labels import Labels
from codegen.ir.op import NodeOf, NodeView, Op
from codegen.ir.quant import Array, Quant, Storage, TensorType
from codegen.records import record


@record(eq=False)
class Value:
    """One tensor.  `data` is set for constants.

    `source` names the tensor of the model that holds the same numbers; when `perm` is set they are stored
    transposed: `stored = transpose(model's tensor, perm)`.  `source` is empty for tensors the compiler made up.
    """

    name: str
    type: TensorType
    data: Array | None = None
    source: str = ""
    perm: tuple[int, ...] | None = None

    @property
    def is_const(self) -> bool:
        """Whether the numbers are known at compile time."""
        return self.data is not None


@record(eq=False)
class Node:
    """One operator applied.  `source` lists the model's nodes it stands for; `note` says how they were read."""

    name: str
    op: Op
    inputs: tuple[str, ...]
    outputs: tuple[str, ...]
    source: tuple[str, ...] = ()
    note: str = ""


@record
class Interface:
    """How one input or output of the network relates to the model's own.

    `name` is the model's tensor.  `model_shape` and `model_dtype` ("float32", "int8", ...) are the model's; `perm`
    is set when the network's tensor is the model's transposed (NHWC from NCHW); a quantized tensor where the
    model has float32 means that the model's QuantizeLinear or DequantizeLinear was dropped at the border.
    """

    value: str
    name: str
    model_shape: tuple[int, ...]
    model_dtype: str
    perm: tuple[int, ...] | None = None

    def meaning(self, kind: TensorType) -> Quant | None:
        """What its integers stand for: themselves where the model has real numbers and no scale is said."""
        plain = kind.quant is None and not kind.dtype.is_float and self.model_dtype == "float32"
        return Quant(1.0) if plain else kind.quant


@record(eq=False)
class State:
    """What a network keeps from one run to the next.

    A run reads `value`: `initial` in the first run after a reset, afterwards what `next` was when the run before ended.
    `next` is written by a node and has the shape and element type of `value`; every reader of `value`, wherever it
    stands, sees the old numbers.  `name` is the model's own.
    """

    name: str
    value: str
    next: str
    initial: Array


@record(eq=False, slots=False)
class Graph:
    """A network: values by name, nodes in a runnable order, its interface, and what it keeps between runs.

    `labels` are the lists that its file carries, whether they fit an output or not; `held` is in which integers, and in
    blocks of how many, its file holds constants, and in which floats of 16 bits.
    """

    name: str
    values: Mapping[str, Value]
    nodes: tuple[Node, ...]
    inputs: tuple[Interface, ...]
    outputs: tuple[Interface, ...]
    notes: tuple[str, ...] = field(default=())
    states: tuple[State, ...] = field(default=())
    labels: tuple[Labels, ...] = field(default=())
    held: tuple[tuple[Storage, int], ...] = field(default=())

    def __post_init__(self) -> None:
        """Freeze the mapping."""
        object.__setattr__(self, "values", MappingProxyType(dict(self.values)))

    @cached_property
    def producers(self) -> Mapping[str, Node]:
        """Node that writes each computed value."""
        return {out: node for node in self.nodes for out in node.outputs}

    @cached_property
    def users(self) -> Mapping[str, tuple[Node, ...]]:
        """Nodes that read each value, each node once, in order."""
        found: dict[str, list[Node]] = {name: [] for name in self.values}
        for node in self.nodes:
            for name in dict.fromkeys(node.inputs):
                found[name].append(node)
        return {name: tuple(nodes) for name, nodes in found.items()}

    @cached_property
    def output_values(self) -> frozenset[str]:
        """Values that must be there when a run ends: what the network's user reads, and what states become."""
        return frozenset((*(o.value for o in self.outputs), *(s.next for s in self.states)))

    @cached_property
    def is_real(self) -> bool:
        """Whether it computes with real numbers, and nothing of it is quantized."""
        kinds = [value.type for value in self.values.values()]
        return any(kind.dtype.is_float for kind in kinds) and all(kind.quant is None for kind in kinds)

    @cached_property
    def source_values(self) -> tuple[str, ...]:
        """Values that are there before a run begins: inputs, then states."""
        return (*(i.value for i in self.inputs), *(s.value for s in self.states))

    def type(self, name: str) -> TensorType:
        """Type of one value."""
        return self.values[name].type

    def view(self, node: Node) -> NodeView:
        """The node with its types and constants."""
        return NodeOf(
            name=node.name,
            op=node.op,
            ins=tuple(self.type(i) for i in node.inputs),
            outs=tuple(self.type(o) for o in node.outputs),
            consts=tuple(self.values[i].data for i in node.inputs),
        )

    def sole_user(self, name: str) -> Node | None:
        """The only reader of a value, or None when there are several, none, or it is an output."""
        users = self.users[name]
        return users[0] if len(users) == 1 and name not in self.output_values else None

    def with_nodes(self, nodes: Iterable[Node], values: Mapping[str, Value] | None = None) -> Graph:
        """The graph with other nodes (and values), values that nothing reads or writes dropped."""
        nodes = tuple(nodes)
        pool = self.values if values is None else values
        used = {n for node in nodes for n in (*node.inputs, *node.outputs)}
        used |= {*self.source_values, *self.output_values}
        return replace(self, nodes=nodes, values={n: v for n, v in pool.items() if n in used})


def live_part(
    nodes: Sequence[Node], outputs: Iterable[str], states: Sequence[State]
) -> tuple[tuple[Node, ...], tuple[State, ...]]:
    """The nodes and states that `outputs` depend on, in this run or through states in later ones, in order."""
    wanted = set(outputs)
    live: list[Node] = []
    kept: tuple[State, ...] = ()
    while True:
        live = []
        for node in reversed(nodes):
            if wanted.intersection(node.outputs):
                live.append(node)
                wanted.update(node.inputs)
        found = tuple(s for s in states if s.value in wanted)
        if len(found) == len(kept):
            return tuple(reversed(live)), found
        kept = found
        wanted.update(s.next for s in kept)
