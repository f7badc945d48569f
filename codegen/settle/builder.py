"""Grows the Graph: values, nodes and unique names, with every type from the operator's own `infer`.

Decides: names, and the largest tensors and the most work that are accepted.  Knows no format of models.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Protocol

import numpy as np

from codegen.errors import FormUnsupported, ModelTooLarge, ShapeMismatch
from codegen.ir.graph import Node, State, Value
from codegen.ir.op import Op
from codegen.ir.quant import Array, DType, Quant, TensorType
from codegen.ops import check_limits
from codegen.ops.answers import work

MAX_ELEMENTS = 2**25
MAX_RANK = 8
"""Of one tensor."""

MAX_NODES = 16384
MAX_TOTAL_ELEMENTS = 2**28
MAX_STEPS = 2**35
"""Operators, elements of all tensors, multiplications and comparisons: the compiler runs a network a few times."""


class Origin(Protocol):
    """A node of the model, as names and errors need it."""

    @property
    def name(self) -> str:
        """Its name, unique in the model."""
        ...

    @property
    def where(self) -> str:
        """How errors name it."""
        ...


class Builder:
    """Values and nodes so far.  Shapes are the model's own; layout operators are inserted by the importers."""

    def __init__(self) -> None:
        self.values: dict[str, Value] = {}
        self.nodes: list[Node] = []
        self.folded: dict[str, Node] = {}
        self.states: Sequence[State] = ()
        self._node_names = _Names()
        self._value_names = _Names()
        self._elements = 0
        self._steps = 0

    def type(self, name: str) -> TensorType:
        """Type of one value."""
        return self.values[name].type

    def input(self, name: str, kind: TensorType, source: str = "") -> str:
        """A value that the network's user writes."""
        return self._add(Value(self._value_names.take(name), kind, source=source))

    def const(
        self, name: str, array: Array, quant: Quant | None = None, bits: int = 0, block: int = 0, *, apart: bool = False
    ) -> str:
        """A constant of one of the graph's element types, to be stored as TensorType has it."""
        data = np.asarray(array, order="C")
        kind = TensorType(data.shape, DType.of(data), quant, bits, block, apart)
        self._elements += kind.elements
        return self._add(Value(self._value_names.take(name), kind, data=data))

    def apply(
        self,
        op: Op,
        inputs: Sequence[str],
        name: str,
        *,
        source: str = "",
        trail: Sequence[Origin] = (),
        note: str = "",
    ) -> str:
        """The value that `op` writes, called `name` (or a variation of it)."""
        (out,) = self.apply_all(op, inputs, (name,), sources=(source,), trail=trail, note=note)
        return out

    def apply_all(
        self,
        op: Op,
        inputs: Sequence[str],
        names: Sequence[str],
        *,
        sources: Sequence[str] = (),
        trail: Sequence[Origin] = (),
        note: str = "",
    ) -> tuple[str, ...]:
        """The values that an operator of several outputs writes, one for each of `names`."""
        types = [self.type(i) for i in inputs]
        kinds = op.infer(types)
        for kind in kinds:
            check_size(kind)
        check_limits(op, types, where=trail[0].where if trail else "")
        self._count(op, types, kinds)
        outs = tuple(
            self._add(Value(self._value_names.take(name), kind, source=source))
            for name, kind, source in zip(names, kinds, sources or ("",) * len(names), strict=True)
        )
        label = trail[0].name if trail else f"{outs[0]}:{type(op).__name__.lower()}"
        origins = tuple(dict.fromkeys(n.name for n in trail))
        self.nodes.append(Node(self._node_names.take(label), op, tuple(inputs), outs, origins, note))
        return outs

    def fold_since(self, count: int) -> None:
        """Compute what the nodes behind the first `count` make of constants alone: `folded` keeps them by result."""
        nodes, self.nodes = self.nodes, self.nodes[:count]
        for node in nodes[count:]:
            known = [d for d in (self.values[i].data for i in node.inputs) if d is not None]
            if len(known) < len(node.inputs):
                self.nodes.append(node)
                continue
            for name, result in zip(node.outputs, node.op.golden(known), strict=True):
                self.values[name] = replace(self.values[name], data=np.asarray(result, order="C"))
                self.folded[name] = node

    def maker(self, value: str) -> Node | None:
        """The node that makes a value, or made it before it became a constant."""
        return next((n for n in self.nodes if value in n.outputs), self.folded.get(value))

    def state(self, name: str, initial: Array, quant: Quant | None = None, source: str = "") -> str:
        """A value that a run reads and the network keeps; `becomes` says what the next run finds there."""
        kind = TensorType(initial.shape, DType.of(initial), quant)
        self._elements += kind.elements
        value = self._add(Value(self._value_names.take(name), kind, source=source))
        self.states = (*self.states, State(value, value, value, np.asarray(initial, order="C")))
        return value

    def becomes(self, state: str, value: str) -> None:
        """Say what a state is after the run: a value of its shape and element type."""
        self.states = tuple(replace(s, next=value) if s.value == state else s for s in self.states)

    def rename_source(self, name: str, source: str) -> None:
        """Say that the value holds the numbers of another tensor of the model as well."""
        self.values[name] = replace(self.values[name], source=source)

    def _count(self, op: Op, types: Sequence[TensorType], kinds: Sequence[TensorType]) -> None:
        """Refuse networks that would keep the compiler busy for minutes (LAM-IMPORT-004)."""
        self._elements += sum(kind.elements for kind in kinds)
        self._steps += work(op, types, kinds)
        if len(self.nodes) >= MAX_NODES:
            raise ModelTooLarge(f"more than {MAX_NODES} operators")
        if self._elements > MAX_TOTAL_ELEMENTS:
            raise ModelTooLarge(f"the tensors up to here have more than {MAX_TOTAL_ELEMENTS} elements")
        if self._steps > MAX_STEPS:
            raise ModelTooLarge(f"the layers up to here take {self._steps} multiplications, at most {MAX_STEPS}")

    def _add(self, value: Value) -> str:
        check_size(value.type)
        self.values[value.name] = value
        return value.name


def check_size(kind: TensorType) -> None:
    """Refuse tensors that no chip could hold (LAM-IMPORT-004), are empty (-014), or have too many axes (-022)."""
    if len(kind.shape) > MAX_RANK:
        found = f"it takes a tensor of {len(kind.shape)} axes, at most {MAX_RANK} are supported"
        raise FormUnsupported(found, hint="the limit is this compiler's, not the model's: have it work over fewer axes")
    if kind.elements > MAX_ELEMENTS:
        raise ModelTooLarge(f"a tensor of shape {list(kind.shape)}, at most {MAX_ELEMENTS} elements are supported")
    if kind.elements <= 0:
        raise ShapeMismatch(f"an empty tensor of shape {list(kind.shape)}")


class _Names:
    """Hands out names, each once: "name", "name.1", "name.2"."""

    def __init__(self) -> None:
        self._next: dict[str, int] = {}

    def take(self, name: str) -> str:
        """The name, or the first free variation of it."""
        number = self._next.get(name, 0)
        free = f"{name}.{number}" if number else name
        while free in self._next:
            number += 1
            free = f"{name}.{number}"
        self._next[name] = number + 1
        self._next.setdefault(free, 1)
        return free
