"""Functions of a chip that sum 16-bit inputs for several outputs at a time, by weights of 8 bits or of few.

Of few bits each byte has the weights of several outputs, as in plain C (CalledPlanes); of 8 bits the functions take
several outputs' own (Rows).
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Protocol

import numpy as np

from codegen.ir.form import Field
from codegen.ir.op import NodeOf
from codegen.ir.quant import Array, DType
from codegen.kernels.packed import filled_to
from codegen.kernels.planes import FewWeights, Filters, Laid, Planes, Span, few_weights
from codegen.kernels.weighted import Weighted, few_said, weighted
from codegen.ops import Conv2D, Dense
from codegen.records import record

_FOUR = 4
_IN_PAIRS = (0, 2, 1, 3)
"""Four inputs as bytes of a word have them whose fields a mask makes pairs."""
_TOGETHER = 4
"""Sums that registers have, of inputs that are read once; of 64 bits they have half as many."""
_WORTH_CALLING = 32
"""Weights of a convolution that are worth a copy of each window."""


@record
class Called:
    """Functions: `prefix` of their names, `header` that has them.

    `fours`: inputs come in fours, whose bytes are those of the first, the third, the second and the fourth.
    """

    prefix: str
    header: str
    fours: bool

    def summed(self, inputs: int) -> int:
        """Inputs, with those that fill them."""
        return -(-inputs // _FOUR) * _FOUR if self.fours else inputs

    def in_turns(self, rows: Array, spans: Sequence[Span]) -> Array:
        """Bytes [filters, inputs] as these are summed: fours of the filters of a turn lie beside each other."""
        if not self.fours:
            return rows
        fours = filled_to(rows, _FOUR, axis=1).reshape(len(rows), -1, _FOUR)[..., _IN_PAIRS]
        turns = [fours[s.first : s.end].reshape(-1, s.turn, *fours.shape[1:]).swapaxes(1, 2) for s in spans]
        return np.concatenate([turn.reshape(-1, _FOUR) for turn in turns])


@record
class Functions:
    """Those of a chip: for weights of few bits, and of 8."""

    few: Called
    bytes: Called


CALLED = (
    (
        frozenset({"dsp"}),
        Functions(
            few=Called("lam_few_s16", "lam_armv7em_few_s16.h", fours=True),
            bytes=Called("lam_s16", "lam_armv7em_s16.h", fours=True),
        ),
    ),
    (
        frozenset({"mve"}),
        Functions(
            few=Called("lam_mve_few_s16", "lam_mve_few_s16.h", fours=False),
            bytes=Called("lam_mve_s16", "lam_mve_s16.h", fours=False),
        ),
    ),
)
"""Features of chips, and the functions that they have."""


class CalledFilters(Filters, Protocol):
    """Filters whose inputs functions sum: what the macros also read of them."""

    @property
    def called(self) -> Called:
        """The functions."""
        ...

    def function(self, span: Span) -> str:
        """The function that sums inputs for the filters of a turn."""
        ...

    def sums(self, span: Span) -> int:
        """How many it makes."""
        ...


@record(kw_only=True)
class CalledPlanes(Planes):
    """Planes of numbers without a sign, of which functions sum as many filters together as make four sums."""

    called: Called

    @property
    def prefix(self) -> str:
        """What names of functions begin with."""
        return self.called.prefix

    @property
    def less(self) -> int:
        """What all numbers are stored more than they are."""
        return 0 if self.own else self.fields.sign

    @property
    def turn(self) -> int:
        """Filters that are summed together, where there are as many."""
        return _TOGETHER // self.fields.in_turn(1)

    def function(self, span: Span) -> str:
        """The function that sums inputs for the filters of a turn."""
        return f"{self.prefix}_{self.fields.bits}{'_two' if span.turn > 1 else ''}"

    def sums(self, span: Span) -> int:
        """How many it makes."""
        return span.turn * self.fields.in_turn(1)

    def size(self, inputs: int) -> int:
        """Bytes of a filter of so many inputs."""
        return self.called.summed(inputs)

    def packed(self, numbers: Array) -> Array:
        """Numbers [outputs, ...] in bytes, turn by turn."""
        filters = Planes.packed(self, numbers).reshape(self.filters, -1)
        return self.called.in_turns(filters, self.spans).reshape(-1)


@record
class Rows:
    """Literals of weights of 8 bits: filters are outputs.

    `wide`: sums have 64 bits.  Where inputs come in fours these are a word, and the words of the outputs lie in turn.
    """

    called: Called
    outputs: int
    wide: bool

    @property
    def prefix(self) -> str:
        """What names of functions begin with."""
        return self.called.prefix

    @property
    def w_t(self) -> str:
        """The C type of what a filter is made of."""
        return "uint32_t" if self.called.fours else "int8_t"

    @property
    def step(self) -> int:
        """From the output of a filter to that of the next."""
        return 1

    @property
    def totals(self) -> bool:
        """Nothing is taken off weights, of which a sum of the inputs would be made."""
        return False

    @property
    def spans(self) -> tuple[Span, ...]:
        """Outputs by how many are summed at a time: as many as registers have the sums of, then what is left."""
        found, first = [], 0
        for turn in (2, 1) if self.wide else (4, 2, 1):
            end = first + (self.outputs - first) // turn * turn
            found += [Span(first, end, turn, turn)] if end > first else []
            first = end
        return tuple(found)

    def behind(self, plane: int) -> int:
        """The output of one of the filters of a turn, from the first on."""
        return plane

    def function(self, span: Span) -> str:
        """The function that sums inputs for the outputs of a turn."""
        return f"{self.prefix}_{'long_' if self.wide else ''}{span.turn}"

    def sums(self, span: Span) -> int:
        """How many it makes."""
        return span.turn

    def size(self, inputs: int) -> int:
        """Elements of a filter of so many inputs."""
        return self.called.summed(inputs) // (_FOUR if self.called.fours else 1)

    def taken(self, span: Span, inputs: int) -> int:
        """Those that a turn takes."""
        return span.turn * self.size(inputs)

    def packed(self, weights: Array) -> Array:
        """Weights [outputs, ...] as functions read them."""
        rows = self.called.in_turns(weights.reshape(len(weights), -1), self.spans)
        if not self.called.fours:
            return rows.reshape(-1)
        return np.ascontiguousarray(rows).view("<u4").astype(np.uint32).reshape(-1)


@record(eq=False)
class CalledSums:
    """Sums of a node that functions make, of so many inputs: `summed`."""

    sums: Weighted
    laid: Laid
    summed: int


def called_sums(node: NodeOf[Conv2D | Dense], functions: Functions) -> CalledSums | None:
    """Those of all inputs of an output, or None."""
    sums = weighted(node, apart=True)
    if sums is None or sums.x is not DType.S16:
        return None
    few = few_weights(node.ins[1], sums.weights)
    called = functions.few if few else functions.bytes
    laid = _few(sums, few, called) if few else _bytes(sums, called)
    return CalledSums(sums, laid, called.summed(sums.weights[0].size)) if laid else None


def _few(sums: Weighted, few: FewWeights, called: Called) -> Laid | None:
    """Weights of few bits."""
    if sums.wide or not sums.fits_unsigned(few.bits):
        return None
    turn, own = few.fields.in_turn(1), few.less is not None
    planes = CalledPlanes(few.fields, len(few.numbers), turn, 1, own, totals=True, called=called)
    return _laid(planes, few.laid(planes).stored, f", {few_said(few.bits, own=own)}")


def _bytes(sums: Weighted, called: Called) -> Laid | None:
    """Weights of 8 bits, where sums of 64 bits have no zero point of the inputs, which would not be in their bias."""
    weights = sums.weights
    if weights.dtype != np.int8 or (sums.wide and sums.op.x_zero_point):
        return None
    if weights[0].size < _FOUR or (weights.ndim > 2 and weights.size < _WORTH_CALLING):
        return None  # plain C takes less than a copy and a call
    rows = Rows(called, len(weights), sums.wide)
    dtype, size = np.uint32 if called.fours else np.int8, rows.outputs * rows.size(weights[0].size)
    stored = Field.later("weights", dtype, size, partial(rows.packed, weights), f"in the order of {called.header}")
    return _laid(rows, (stored,))


def _laid(filters: CalledFilters, stored: tuple[Field, ...], said: str = "") -> Laid:
    why = f"several products of 16 bits at a time{said}"
    return Laid(stored, filters, why, (filters.called.header,))
