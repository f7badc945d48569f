"""What every operator answers (`Op`), and the vocabulary of the answers.

Here, and not beside the operators, so that Graph needs nothing above it.  An operator knows its attributes and
the types of its tensors; it never sees a Graph, a Target, an address or C.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, ClassVar, Generic, Protocol, TypeAlias, TypeVar, runtime_checkable

from codegen.ir.quant import Array, TensorType
from codegen.ir.shape import Span
from codegen.records import record


@record
class Limit:
    """A condition the operator must meet: the sentence the user reads, its id, and the test on the operator."""

    code: str
    sentence: str
    holds: Callable[[Any, Sequence[TensorType]], bool]


@record
class RowRule:
    """Which rows of one input the output row r reads.

    `whole`: all of them (a barrier).  Otherwise `taps` rows, tap i being row `first(r) + i * dilation`, where
    `first(r) = (r * mul) // div - pad`, or `table[r]` when a table is given.  Rows outside the input are
    padding: `fill` is the value they hold, or None when they are absent (the kernel gets a null pointer).

    `accumulate`: the operator takes every input row once, in order, and has its whole output after the last one.  Its
    kernel is called once per input row.
    """

    taps: int = 1
    mul: int = 1
    div: int = 1
    pad: int = 0
    dilation: int = 1
    fill: float | None = None
    whole: bool = False
    table: tuple[int, ...] | None = None
    accumulate: bool = False

    def first(self, row: int) -> int:
        """Row of the first tap for output row `row`; negative in the padding."""
        return self.table[row] if self.table is not None else (row * self.mul) // self.div - self.pad

    @property
    def is_same(self) -> bool:
        """Whether output row r reads just input row r."""
        plain = self.table is None and not self.whole and not self.accumulate
        return plain and (self.taps, self.mul, self.div, self.pad) == (1, 1, 1, 0)

    def leaves(self, in_rows: int, out_rows: int) -> bool:
        """Whether some output row reads outside the input."""
        if self.whole or self.accumulate:
            return False
        reach = (self.taps - 1) * self.dilation
        firsts = [self.first(r) for r in range(out_rows)]
        return min(firsts) < 0 or max(firsts) + reach >= in_rows

    def in_span(self, y: Span, in_rows: int) -> Span:
        """Input rows that output rows `y` need, clipped to the input."""
        if len(y) == 0:
            return Span(0, 0)
        if self.whole or self.accumulate:
            return Span(0, in_rows)
        firsts = [self.first(r) for r in range(y.start, y.stop)]
        reach = (self.taps - 1) * self.dilation + 1
        return Span(min(firsts), max(firsts) + reach).clipped(in_rows)


SAME_ROW = RowRule()
WHOLE = RowRule(whole=True)
ACCUMULATE = RowRule(accumulate=True)


@runtime_checkable
class Op(Protocol):
    """The questions.  Implementations are frozen dataclasses whose fields are the attributes.

    Inputs that are constants (weights, biases) are tensors like any other: the operator receives their types and
    arrays in the order of the node's inputs.
    """

    limits: ClassVar[tuple[Limit, ...]]

    def infer(self, ins: Sequence[TensorType]) -> tuple[TensorType, ...]:
        """Types of the outputs; raises CompileError when the inputs do not fit the attributes."""
        ...

    def golden(self, ins: Sequence[Array]) -> tuple[Array, ...]:
        """The outputs, to the bit: the specification of every kernel."""
        ...

    def rows(self, index: int, ins: Sequence[TensorType], outs: Sequence[TensorType]) -> RowRule:
        """The rows of input `index` that one output row reads (not asked for constants)."""
        ...

    def macs(self, ins: Sequence[TensorType], outs: Sequence[TensorType]) -> int:
        """Multiply-accumulates of one inference."""
        ...

    def in_place(self, index: int, ins: Sequence[TensorType], outs: Sequence[TensorType]) -> bool:
        """Whether all elements up to i of input `index` are read before the output's i is written, and sizes agree.

        The output may begin before the input.  Or sizes do not agree, row r of the output is made of row r of the
        input, and may lie over it where it neither begins nor ends behind it.
        Of several outputs, all but the first are what states become: it is then the one that takes the input's place.
        """
        ...


O_co = TypeVar("O_co", bound=Op, covariant=True)


@record(eq=False)
class NodeOf(Generic[O_co]):
    """One node with the types of its tensors and the arrays of its constants: all that a kernel is chosen by."""

    name: str
    op: O_co
    ins: tuple[TensorType, ...]
    outs: tuple[TensorType, ...]
    consts: tuple[Array | None, ...]

    @property
    def dynamic(self) -> tuple[int, ...]:
        """Indices of the inputs that are not constants."""
        return tuple(i for i, c in enumerate(self.consts) if c is None)

    @property
    def macs(self) -> int:
        """Multiply-accumulates of one inference."""
        return self.op.macs(self.ins, self.outs)


NodeView: TypeAlias = NodeOf[Op]
"""A node of any operator."""
