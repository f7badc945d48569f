"""Weights of few bits for kernels in plain C.

Where outputs have the same inputs, each byte holds the weights of several (Planes): one input is read for all of them.
Where that is not so weights become bytes for the row made, a filter or a block of channels at a time (Unpacked).
"""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import Protocol

import numpy as np

from codegen.ir.form import Field
from codegen.ir.quant import Array, DType, TensorType, taken_off
from codegen.kernels.packed import Fields, filled_to
from codegen.kernels.weighted import EACH_STORED_LESS, Weighted, few_said
from codegen.records import record

UNPACKS = frozenset({"x86"})
"""Features of chips whose compilers make vectors of sums over bytes, or write them out, better than of fewer bits."""
_VECTOR, _FOUR = 16, 4
"""Weights of a vector there, and turns that compilers write out otherwise."""

_LEAST_OUTPUTS = 4
"""So many have use of the sum of the inputs."""
_MANY_OUTPUTS = 16
"""So many have use of it on `SHORT` chips where runs are short."""
SHORT = tuple((frozenset({core}), frozenset({"mve"})) for core in ("armv7m", "rv32"))
"""Features that such chips need, and lack: cores that sum one product at a time."""
_WRITTEN_OUT = 16
"""Loops of no more turns compilers write out, output by output: there a sum of the inputs is in the way."""
_ELEMENT = 8


def filled(run: int) -> int:
    """Inputs that vectors there sum for so many."""
    return -(-run // _VECTOR) * _VECTOR


@record
class Span:
    """Filters [first, end) of bytes, of which each has `planes` outputs, or so many filters together: `turn`."""

    first: int
    end: int
    planes: int
    turn: int = 1


class Filters(Protocol):
    """How weights lie that are summed for several outputs at a time: what templates/macros/planes.c.j2 reads.

    A turn sums inputs for one filter or more, the first of which has the number `o`.  Where C does, these are Planes;
    where functions of a chip do, they are of called.py.
    """

    @property
    def prefix(self) -> str:
        """What names of functions begin with that sum what C would in loops; nothing where C does."""
        ...

    @property
    def w_t(self) -> str:
        """The C type of what a filter is made of."""
        ...

    @property
    def step(self) -> int:
        """From the output of a filter to that of the next."""
        ...

    @property
    def totals(self) -> bool:
        """Whether outputs add the sum of the inputs to their own, times what is taken off weights."""
        ...

    @property
    def spans(self) -> tuple[Span, ...]:
        """All filters, by how many outputs a turn has."""
        ...

    def behind(self, plane: int) -> int:
        """The output of one of the sums of a turn, from that of the first on."""
        ...

    def size(self, inputs: int) -> int:
        """Elements of a filter of so many inputs."""
        ...

    def taken(self, span: Span, inputs: int) -> int:
        """Those that a turn takes."""
        ...


@record
class Planes:
    """Literals: byte filter n holds the weights of outputs n * step + p * apart, p a field of `fields`.

    `own`: weights have zero points of their own, one for each output; `totals`: an output adds its own times the sum of
    the inputs, and not to each weight.  `vectors`: loops are left to compilers that make vectors of them.
    """

    fields: Fields
    outputs: int
    step: int
    apart: int
    own: bool
    totals: bool = False
    vectors: bool = False

    @property
    def prefix(self) -> str:
        """C sums."""
        return ""

    @property
    def less(self) -> int:
        """What all numbers are stored more than they are."""
        return 0

    @property
    def turn(self) -> int:
        """Filters that are summed together, where there are as many."""
        return 1

    @property
    def w_t(self) -> str:
        """The C type of what a filter is made of."""
        return "uint8_t"

    def size(self, inputs: int) -> int:
        """Bytes of a filter of so many inputs."""
        return inputs

    def taken(self, span: Span, inputs: int) -> int:
        """Those that a turn takes."""
        return span.turn * self.size(inputs)

    def loop(self, turns: int) -> str:
        """What stands before one of so many turns (lam_rolled.h)."""
        if turns % _FOUR or (self.vectors and turns > _WRITTEN_OUT):
            return "LAM_UNEVEN"
        return "LAM_FOURS" if turns % _VECTOR else "LAM_ROLLED"

    def input_of(self, plane: int) -> str:
        """What tells the pointer to an output's inputs from others': nothing where all have the same."""
        return "" if self.step > 1 else str(plane)

    def inputs(self, planes: int) -> tuple[str, ...]:
        """The same of each pointer that so many outputs of a filter take."""
        return tuple(dict.fromkeys(map(self.input_of, range(planes))))

    @property
    def filters(self) -> int:
        """Filters of bytes."""
        return -(-self.outputs // self.fields.in_turn(1))

    @property
    def spans(self) -> tuple[Span, ...]:
        """Filters by how many outputs they have together."""
        turn = self.turn
        whole, found = self.filters // turn * turn, list[Span]()
        for n in (*range(0, whole, turn), *range(whole, self.filters)):
            own = turn if n < whole else 1
            planes = sum(at < self.outputs for m in range(n, n + own) for at in self.outputs_of(m))
            if found and (found[-1].planes, found[-1].turn) == (planes, own):
                found[-1] = replace(found[-1], end=n + own)
            else:
                found.append(Span(n, n + own, planes, own))
        return tuple(found)

    def behind(self, plane: int) -> int:
        """The output of a plane, from that of the first on."""
        return plane * self.apart

    def outputs_of(self, filter_: int) -> list[int]:
        """The outputs of a filter of bytes; those that there are not are beyond all others."""
        return [filter_ * self.step + self.behind(p) for p in range(self.fields.in_turn(1))]

    def packed(self, numbers: Array) -> Array:
        """Numbers [outputs, ...] in bytes, filter by filter."""
        flat = numbers.reshape(len(numbers), -1)
        order = np.array([self.outputs_of(n) for n in range(self.filters)])
        full = filled_to(flat.astype(np.int64) + self.less, int(order.max()) + 1, axis=0)
        return self.fields.packed(full[order].transpose(0, 2, 1)).reshape(-1)


@record
class Unpacked:
    """Literals of weights of few bits that become bytes before they are used; `own`: they have own zero points.

    `word`: so many bytes at a time, whose numbers have no sign and lie as many apart as there are bytes.
    """

    fields: Fields
    own: bool
    word: int = 0

    @property
    def in_turn(self) -> int:
        """Numbers in a byte."""
        return self.fields.in_turn(1)

    @property
    def word_t(self) -> str:
        """The C type of a word."""
        return f"uint{_ELEMENT * self.word}_t"

    @property
    def mask(self) -> str:
        """The lowest fields of the bytes of a word, in C."""
        return self.each(self.fields.mask)

    def each(self, byte: int) -> str:
        """A word of the same bytes, in C."""
        return f"0x{f'{byte:02X}' * self.word}u"

    def in_words(self, size: int) -> int:
        """Those of so many bytes that are in whole words."""
        return size - size % self.word

    def last_word(self, size: int) -> int | None:
        """Where a last one begins, some bytes of which are in the one before; None where no more than one is left."""
        return size - self.word if size % self.word > 1 else None

    def last_byte(self, size: int) -> int | None:
        """Where the byte lies that is left alone, if one is."""
        return size - 1 if size % self.word == 1 else None

    def field_at(self, field: int, size: int, byte: int = 0) -> int:
        """Where the number of a field of a byte goes, of so many bytes."""
        return field * size + byte

    def more(self, bits: int) -> str:
        """So many bits of each byte of what is added to the numbers of a word, in C."""
        if self.own:
            return f"(({self.word_t})off & 0x{bits:02X}u) * {self.each(1)}"
        return self.each(-self.fields.sign & bits)

    def elements(self, count: int) -> int:
        """Bytes that so many numbers take."""
        return -(-count // self.in_turn)

    def filled(self, count: int) -> int:
        """The numbers of those."""
        return self.elements(count) * self.in_turn

    def runs(self, numbers: Array) -> Array:
        """Numbers [..., n] in bytes of neighbours, or of which a word's are taken apart at once."""
        if self.word:
            return self.halves(numbers if self.own else numbers.astype(np.int64) + self.fields.sign)
        full = filled_to(numbers, self.in_turn, axis=-1)
        return self.fields.packed(full.reshape(*full.shape[:-1], -1, self.in_turn))

    def halves(self, numbers: Array) -> Array:
        """Numbers [..., n] in bytes whose numbers lie as many apart as there are bytes."""
        full = filled_to(numbers, self.in_turn, axis=-1)
        return self.fields.packed(full.reshape(*full.shape[:-1], self.in_turn, -1).swapaxes(-1, -2))


@record(eq=False)
class Laid:
    """Weights as a form stores them: params, how these lie if not as they are, and what else the form says of them."""

    stored: tuple[Field, ...]
    planes: Filters | None = None
    why: str = "plain C99"
    headers: tuple[str, ...] = ()


@record(eq=False)
class FewWeights:
    """Constant weights [outputs, ...] that are stored in `bits`.

    Where something is taken off each output's, `less`, what is left has no sign.
    """

    numbers: Array
    bits: int
    less: Array | None

    @property
    def fields(self) -> Fields:
        """How many a byte has."""
        return Fields(self.bits, _ELEMENT)

    def planes(self, outputs: int, *, groups: int = 1) -> Planes:
        """How they lie for a layer of so many outputs in groups."""
        turn, own = self.fields.in_turn(1), self.less is not None
        if groups == 1 or outputs // groups % turn == 0:
            return Planes(self.fields, outputs, turn, 1, own)
        return Planes(self.fields, outputs, 1, -(-outputs // turn), own)

    def shared_planes(self, sums: Weighted, run: int, *, short: bool = False) -> Planes:
        """The same of outputs that have the same inputs, which are taken in runs, and whose sum they may share.

        `short`: many outputs share it of short runs, too.
        """
        least = _LEAST_OUTPUTS if run > _WRITTEN_OUT else _MANY_OUTPUTS if short else len(self.numbers) + 1
        shares = self.less is not None and len(self.numbers) >= least
        fits = sums.wide or (sums.less is not None and sums.fits_unsigned(self.bits))
        return replace(self.planes(len(self.numbers)), totals=shares and fits)

    def vector_planes(self, sums: Weighted) -> Planes:
        """The same where vectors sum all inputs of an output."""
        return replace(self.shared_planes(sums, _WRITTEN_OUT + 1), vectors=True)

    @property
    def unpacked(self) -> Unpacked:
        """What is known of them where they become bytes."""
        return Unpacked(self.fields, self.less is not None)

    def laid(self, planes: Planes, behind: int = 0) -> Laid:
        """Params `w_shift`, where each output has one, and `weights`, with so many bytes behind them."""
        size = planes.filters * planes.size(self.numbers.size // len(self.numbers)) + behind
        about = f"bytes of {planes.fields.in_turn(1)} outputs each"
        weights = Field.later("weights", np.uint8, size, partial(self._packed, planes, size), about)
        return Laid((*self.less_fields(), weights), planes, plain(self), few_headers(self))

    def _packed(self, planes: Planes, size: int) -> Array:
        packed = planes.packed(self.numbers)
        return np.pad(packed, (0, size - len(packed)))

    def less_fields(self) -> tuple[Field, ...]:
        """Params `w_shift`, where each output has one."""
        return () if self.less is None else (less_field(self.less),)

    def in_runs(self, unpacked: Unpacked) -> Field:
        """Params `weights`, those of each output one after another."""
        flat, pack = self.numbers.reshape(len(self.numbers), -1), unpacked.runs
        size = len(flat) * unpacked.elements(flat.shape[1])
        return Field.later("weights", np.uint8, size, lambda: pack(flat).reshape(-1), "output by output")


def less_field(less: Array) -> Field:
    """Params `w_shift`."""
    return Field("w_shift", less.astype(np.int8), about=EACH_STORED_LESS)


def few_weights(kind: TensorType, weights: Array) -> FewWeights | None:
    """Weights that are to be stored in few bits, and can be; None of others."""
    if kind.dtype is not DType.S8 or kind.block or not kind.bits:
        return None
    if not kind.apart:
        return FewWeights(weights, kind.bits, None)
    taken = taken_off(weights.reshape(len(weights), -1), kind.bits)
    if taken is None:
        return None
    less = taken - (1 << (kind.bits - 1))
    numbers = weights.astype(np.int64) - less.reshape(-1, *(1,) * (weights.ndim - 1))
    return FewWeights(numbers.astype(np.int8), kind.bits, less)


def plain(few: FewWeights | None) -> str:
    """What is said of a form in plain C."""
    return f"plain C99, {few_said(few.bits, own=few.less is not None)}" if few else "plain C99"


def few_headers(few: FewWeights | None) -> tuple[str, ...]:
    """Files of the runtime that sums of them take in plain C."""
    return ("lam_rolled.h",) if few else ()
