"""RealGraph: a network as operators on real numbers, before anything is settled in integers.

A tensor keeps the axes of the model's file.  A value may carry a `Stored`: the integers that hold it, and their scale.
Whole numbers and truth values (positions, shapes, masks) are tensors as well; `RealType.dtype` says which.
What the operators compute is theirs (`codegen/real`); how they become integer arithmetic is not decided here.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, Literal, Protocol, runtime_checkable

import numpy as np

from codegen.ir.quant import Array, Storage
from codegen.ir.shape import Shape
from codegen.records import record

Definition = Literal["onnx", "tflite", "lamina"]
"""Whose integer arithmetic a graph asks for where it is quantized: that of the format it came in, or our own."""

FLOAT32 = np.dtype(np.float32)


@record
class RealType:
    """Shape and element type of one tensor, as the model has them."""

    shape: Shape
    dtype: np.dtype[Any] = FLOAT32

    @property
    def is_real(self) -> bool:
        """Whether elements are real numbers, rather than whole ones or truth values."""
        return self.dtype.kind == "f"

    def shaped(self, shape: Sequence[int]) -> RealType:
        """The same elements in another shape."""
        return replace(self, shape=tuple(int(n) for n in shape))


@record(eq=False)
class Stored:
    """How real numbers are held as integers: real = scale * (q - zero_point).

    `scale` is float32 and `zero_point` int64, of one element, or of one per entry along `axis`, or, where `block` is
    not 0, of one per `block` entries along it (then both have the tensor's rank).  `bits` are those of a type that
    numpy does not know, kept in the next larger one.
    """

    dtype: np.dtype[Any]
    scale: Array
    zero_point: Array
    axis: int | None = None
    block: int = 0
    bits: int = 0

    @property
    def low(self) -> int:
        """The least integer."""
        bits = self.bits or 8 * self.dtype.itemsize
        return -(1 << (bits - 1)) if self.dtype.kind == "i" else 0

    @property
    def high(self) -> int:
        """The greatest integer."""
        bits = self.bits or 8 * self.dtype.itemsize
        return (1 << (bits - 1 if self.dtype.kind == "i" else bits)) - 1

    def spread(self, shape: Shape) -> tuple[Array, Array]:
        """Scale and zero point in a form that broadcasts against a tensor of `shape`."""
        if self.axis is None:
            return self.scale.reshape(()), self.zero_point.reshape(())
        if self.block:
            whole = [np.repeat(part, self.block, self.axis) for part in (self.scale, self.zero_point)]
            index = (slice(None),) * self.axis + (slice(shape[self.axis]),)
            return whole[0][index], whole[1][index]
        along = [1] * len(shape)
        along[self.axis] = -1
        return self.scale.reshape(along), self.zero_point.reshape(along)


@record(eq=False)
class RealValue:
    """One tensor.  `data` are the numbers of a constant: integers where it is `stored`, its own otherwise."""

    name: str
    type: RealType
    data: Array | None = None
    stored: Stored | None = None


@runtime_checkable
class RealOp(Protocol):
    """An operator on real numbers.  Implementations are frozen dataclasses whose fields are the attributes."""

    def infer(self, ins: Sequence[RealType]) -> tuple[RealType, ...]:
        """Types of the outputs; raises CompileError when the inputs do not fit the attributes."""
        ...

    def evaluate(self, ins: Sequence[Array]) -> tuple[Array, ...]:
        """The outputs in the elements' own arithmetic, sums in the order that the operator states."""
        ...


@runtime_checkable
class Summing(Protocol):
    """An operator with sums, which can be had sooner in any order."""

    def quickly(self, ins: Sequence[Array]) -> tuple[Array, ...]:
        """The outputs as `evaluate` gives them, but for the rounding of sums."""
        ...


@runtime_checkable
class Multiplying(Protocol):
    """An operator that sums products."""

    def macs(self, ins: Sequence[RealType]) -> int:
        """Multiplications of one run, as `inspect` counts them."""
        ...


@record(eq=False)
class Spelled:
    """What a file calls an operator that is none of its format's own: a domain, a name, and attributes as they stand.

    `channels_last`: here the operator has them so, and the file has them first.
    """

    domain: str
    name: str
    attributes: Mapping[str, Any]
    channels_last: bool = False


HeldBy = Literal["itself", "inputs", "real"]
"""Whose integers hold a result: its own, or those of the inputs, which it keeps; its own too of one that computes with
real numbers."""


@runtime_checkable
class Joined(Protocol):
    """An operator that joins the house's own: what neither a writer of files nor a quantizer can know of it."""

    @property
    def spelled(self) -> Spelled | None:
        """What ONNX files call it; None where they do not have it."""
        ...

    @property
    def operands(self) -> Sequence[int]:
        """Inputs whose constants are held as integers."""
        ...

    def held_by(self, ins: Sequence[RealType], known: Sequence[int]) -> HeldBy:
        """Whose integers hold its result; the inputs that are `known` are constants."""
        ...


@record(eq=False)
class RealNode:
    """One operator.  `name` and `op_type` are the model's own node and operator, as messages name them.

    A node of the model may have become several of ours; `tensor` is what it writes, and `label` is unique.  `part` says
    that the model's operator was read as the function of others that its format gives.
    """

    label: str
    op: RealOp
    inputs: tuple[str, ...]
    outputs: tuple[str, ...]
    name: str
    op_type: str
    tensor: str = ""
    part: bool = False

    @property
    def where(self) -> str:
        """The node and the tensor that it writes, as errors name them."""
        return f"node '{self.name}' ({self.op_type}), tensor '{self.tensor or self.outputs[0]}'"


@record(eq=False)
class RealState:
    """What a run leaves for the next one: it reads `value`, `initial` at first, and the next run finds `next` there.

    `initial` are integers where the value is stored.
    """

    value: str
    next: str
    initial: Array


@record
class Tie:
    """Values that want the same integers, of so many `bits` where nobody says another number.

    Wide integers reach from -`reach` to `reach` at least, and `headroom` times as far as samples say.
    """

    names: frozenset[str]
    bits: int = 16
    reach: float = 0.0
    headroom: float = 1.0


@record(eq=False)
class RealGraph:
    """A network: nodes in a runnable order, each value written once.

    Inputs and outputs are value names; `faces` are the names that the model's file gives to the outputs, in order.
    `ties` are what a rewrite asks of whoever quantizes the network; `halves` are the floats of 16 bits in which it came
    with constants, which may be float32 by now.
    """

    name: str
    values: Mapping[str, RealValue]
    nodes: tuple[RealNode, ...]
    inputs: tuple[str, ...]
    outputs: tuple[str, ...]
    definition: Definition
    faces: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    states: tuple[RealState, ...] = ()
    ties: tuple[Tie, ...] = ()
    halves: tuple[Storage, ...] = ()

    def type(self, name: str) -> RealType:
        """Type of one value."""
        return self.values[name].type

    def readers(self, name: str) -> tuple[RealNode, ...]:
        """The nodes that read a value."""
        return tuple(n for n in self.nodes if name in n.inputs)

    def live(self) -> RealGraph:
        """The graph without nodes and constants that neither an output nor a state needs; its inputs stay."""
        needed = {*self.outputs, *(name for s in self.states for name in (s.value, s.next))}
        kept = []
        for node in reversed(self.nodes):
            if needed.intersection(node.outputs):
                needed.update(node.inputs)
                kept.append(node)
        written = {o for node in kept for o in node.outputs}
        values = {n: v for n, v in self.values.items() if n in needed or n in written or n in self.inputs}
        return replace(self, values=values, nodes=tuple(reversed(kept)))
