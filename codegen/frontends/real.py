"""Grows a RealGraph: values, nodes and unique names, with every type from the operator's own `infer`.

Decides: that what depends on constants only is a constant, and what has no elements; and that moving a stored
constant moves the integers.
Knows no format of models.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Collection, Sequence
from dataclasses import replace
from typing import Protocol

import numpy as np

from codegen.errors import FoldFailed, ModelTooLarge
from codegen.frontends.folding import Budget, evaluated
from codegen.ir.element import element_name, is_bfloat16
from codegen.ir.quant import Array, Storage
from codegen.ir.real import RealNode, RealOp, RealState, RealType, RealValue, Stored
from codegen.real.engine import numbers_of
from codegen.real.movement import Concat, Expand, Gather, Reshape, Slice, Tile, Transpose
from codegen.real.storage import as_typed
from codegen.settle.builder import MAX_ELEMENTS, MAX_RANK

_MOVING = (Concat, Expand, Gather, Reshape, Slice, Tile, Transpose)
_HALVES: dict[str, Storage] = {"float16": "f16", "bfloat16": "bf16"}


class Spoken(Protocol):
    """A node of the model, as names and errors need it."""

    @property
    def name(self) -> str:
        """Its name."""
        ...

    @property
    def op_type(self) -> str:
        """Its operator, as the format calls it."""
        ...

    @property
    def where(self) -> str:
        """How errors name it."""
        ...


class RealBuilder:
    """Values and nodes so far, and what the user should know.

    `folds_stored`: whether constants with a scale are computed with as real numbers; else only moved, as integers.
    """

    def __init__(self, *, folds_stored: bool = True) -> None:
        self._folds_stored = folds_stored
        self.values: dict[str, RealValue] = {}
        self.nodes: list[RealNode] = []
        self.inputs: list[str] = []
        self.states: dict[str, RealState] = {}
        self.notes: list[str] = []
        self.bits: dict[str, int] = {}
        """Of constants whose type numpy does not know."""
        self._budget = Budget()
        self._named: Counter[str] = Counter()

    @property
    def halves(self) -> tuple[Storage, ...]:
        """The floats of 16 bits in which there are constants."""
        return halves_among({element_name(v.type.dtype) for v in self.values.values() if v.data is not None})

    def type(self, value: str) -> RealType:
        """Type of a value."""
        return self.values[value].type

    def rank(self, value: str) -> int:
        """Axes of a value."""
        return len(self.values[value].type.shape)

    def input(self, name: str, kind: RealType, stored: Stored | None = None) -> str:
        """A value that the network's user writes."""
        self.inputs.append(self._add(RealValue(self.free_name(name), kind, stored=stored)))
        return self.inputs[-1]

    def state(self, name: str, initial: Array, stored: Stored | None = None) -> str:
        """A value that a run finds as the run before left it, `initial` at first; `becomes` says what it leaves."""
        kind = RealType(initial.shape) if stored else RealType(initial.shape, initial.dtype)
        value = self._add(RealValue(self.free_name(name), kind, stored=stored))
        self.states[value] = RealState(value, value, initial)
        return value

    def becomes(self, state: str, value: str) -> None:
        """Say what a state is after the run: a value of its type."""
        self.states[state] = replace(self.states[state], next=value)

    def constant(self, name: str, array: Array, stored: Stored | None = None) -> str:
        """A new constant; integers where it is stored."""
        kind = RealType(array.shape) if stored else RealType(array.shape, array.dtype)
        return self._add(RealValue(self.free_name(name), kind, as_typed(array, array.dtype), stored))

    def write(
        self,
        op: RealOp,
        inputs: Sequence[str],
        names: Sequence[str],
        node: Spoken,
        tensor: str,
        stored: Stored | None = None,
        *,
        part: bool = False,
    ) -> tuple[str, ...]:
        """The outputs of an operator on values, computed now when all of these are constants.

        Outputs without one of `names` are called after the first; `stored` says how the first one is held, and `part`
        that the node of the model is read as several of other operators.
        """
        types = op.infer([self.type(i) for i in inputs])
        for kind in types:
            if math.prod(kind.shape) > MAX_ELEMENTS or len(kind.shape) > MAX_RANK:
                raise ModelTooLarge(f"a tensor of shape {list(kind.shape[: MAX_RANK + 1])}", where=node.where)
        if self._is_known(op, inputs, stored):
            return self._folded(op, inputs, node, names, types)
        if all(0 in kind.shape for kind in types) and stored is None:
            return tuple(self.constant(n, np.zeros(t.shape, t.dtype)) for n, t in zip(names, types, strict=False))
        names = [*names, *(f"{names[0]}:{i}" for i in range(len(names), len(types)))]
        held = [stored, *(None for _ in types[1:])]
        made = (RealValue(self.free_name(n), t, stored=s) for n, t, s in zip(names, types, held, strict=False))
        outputs = tuple(map(self._add, made))
        self.nodes.append(RealNode(outputs[0], op, tuple(inputs), outputs, node.name, node.op_type, tensor, part))
        return outputs

    def _is_known(self, op: RealOp, inputs: Sequence[str], stored: Stored | None) -> bool:
        """Whether an operator's results are constants."""
        sources = [self.values[i] for i in inputs]
        if not sources or any(v.data is None for v in sources):
            return False
        rounds = stored is not None or any(v.stored is not None for v in sources)
        return self._folds_stored or not rounds or (isinstance(op, _MOVING) and len(sources) == 1)

    def _folded(
        self, op: RealOp, inputs: Sequence[str], node: Spoken, names: Sequence[str], types: Sequence[RealType]
    ) -> tuple[str, ...]:
        sources = [self.values[i] for i in inputs]
        first = sources[0]
        if isinstance(op, _MOVING) and first.stored is not None and len(inputs) == 1:
            return (self._moved(op, first, first.stored, names[0]),)
        arrays = [numbers_of(v) for v in sources]
        results = evaluated(lambda: op.evaluate(arrays), lambda: 0, node.where)
        self._budget.charge(results, node.where)
        results = tuple(a.view(t.dtype) if is_bfloat16(t.dtype) else a for a, t in zip(results, types, strict=True))
        made = tuple(self.constant(n, a) for n, a in zip(names, results, strict=False))
        if isinstance(op, _MOVING) and inputs[0] in self.bits:
            self.bits[made[0]] = self.bits[inputs[0]]
        return made

    def _moved(self, op: RealOp, value: RealValue, stored: Stored, name: str) -> str:
        """A stored constant moved: its integers, and where each one's scale is."""
        assert value.data is not None, value.name
        if stored.block and isinstance(op, Transpose):
            data, scale, zero = (op.evaluate([part])[0] for part in (value.data, stored.scale, stored.zero_point))
            axis = op.perm.index(stored.axis) if stored.axis is not None else None
            return self.constant(name, data, replace(stored, scale=scale, zero_point=zero, axis=axis))
        shape = value.data.shape
        data, *parts = (
            op.evaluate([part])[0] for part in (value.data, *(np.broadcast_to(s, shape) for s in stored.spread(shape)))
        )
        self._budget.charge([data], value.name)
        return self.constant(name, data, _regathered(stored, *parts))

    def _add(self, value: RealValue) -> str:
        self.values[value.name] = value
        return value.name

    def free_name(self, name: str) -> str:
        """The name, or the first free variation of it."""
        if name not in self.values:
            return name
        while not self._named[name] or f"{name}.{self._named[name]}" in self.values:
            self._named[name] += 1
        return f"{name}.{self._named[name]}"

    def note(self, text: str) -> None:
        """Tell the user, once."""
        if text not in self.notes:
            self.notes.append(text)


def halves_among(kinds: Collection[str]) -> tuple[Storage, ...]:
    """The floats of 16 bits among types of constants."""
    return tuple(storage for name, storage in _HALVES.items() if name in kinds)


def _regathered(stored: Stored, scale: Array, zero: Array) -> Stored:
    """The scales of a tensor, each spread over it, as one, as one per entry of an axis, or as they are."""
    if not scale.size:  # of no numbers, which any scale says
        return Stored(stored.dtype, np.ones(1, np.float32), np.zeros(1, np.int64), bits=stored.bits)
    flat = [axis for axis in range(scale.ndim) if _varies(scale, axis) or _varies(zero, axis)]
    if len(flat) > 1:
        raise FoldFailed("scales that vary along two axes")
    kept = tuple(slice(None) if axis in flat else 0 for axis in range(scale.ndim))
    axis = flat[0] if flat else None
    return Stored(stored.dtype, scale[kept].reshape(-1), zero[kept].reshape(-1), axis, bits=stored.bits)


def _varies(array: Array, axis: int) -> bool:
    return bool(array.size) and bool((array != array.take([0], axis)).any())
