"""Depthwise convolution, windows that slides.py does not serve, and weights of 2 and 4 bits: a pair of rows at a time.

The sums of a few neighbouring outputs of one channel stay in registers while one pair of kernel rows after another
passes by, then the row that has no partner.  Pointers to rows wait on the stack, and weights are taken apart once for
all outputs of a block (runtime_c/isa/dsp/lam_armv7em_window_slide.h).  Outputs of weights of few bits take one product
and one sum where there are such numbers.
"""

from __future__ import annotations

from collections.abc import Iterator

from codegen.ir.form import Mix
from codegen.ir.op import NodeOf
from codegen.kernels.blocked.depthwise import Variant
from codegen.kernels.column import as_rows, fastest, is_one_block
from codegen.kernels.dsp.bounds import byte_instructions
from codegen.kernels.dsp.factors import with_line
from codegen.kernels.dsp.slides import (
    BIAS_BITS,
    FACTOR_BYTES,
    MOST_PIXELS,
    SlideContext,
    choose_blocks,
    fit_of,
    inside_of,
    limits_mix,
    row_mix,
    sums_of_bytes,
)
from codegen.kernels.dsp.words import row_pair_bytes, row_pairs
from codegen.kernels.kernel import Fit, Kernel
from codegen.kernels.weighted import few_said
from codegen.ops import Conv2D
from codegen.records import record

_MOST_ROWS, _MOST_COLUMNS = 12, 8
"""Pointers that a block moves to the stack at once, and pairs of weights that there are registers for."""
_FREE_PAIRS = 4
"""Pairs of weights beside which six sums have registers."""
_FRAME = 16
"""Bytes of the stack before the pointers to rows."""


@record
class Word:
    """A word of weights, from behind the channel's last byte, and the pairs taken from it, each with its right turn."""

    at: int
    taken: tuple[tuple[int, int], ...]


@record
class Pass:
    """Kernel rows that are summed together: two, or the last one (`alone`); where the stack has their pointers.

    `single`: the register of the weight of that row that has no partner, -1 where there is none.
    """

    row: int
    alone: bool
    at: int
    words: tuple[Word, ...]
    single: int


@record
class WindowSlides:
    """The blocks for windows of some rows and columns; `bits` are few, or 0.

    `saturate` names the type that outputs are saturated to.  `own`: each channel has a number that is added to its
    fields; `lined`: outputs take one product and one sum.
    """

    rows: int
    columns: int
    bits: int
    saturate: str
    own: bool = False
    lined: bool = False

    @property
    def most(self) -> int:
        """Outputs of the largest block."""
        return MOST_PIXELS - self.first

    @property
    def first(self) -> int:
        """The first sum: the registers of those before it have weights."""
        return max(0, self.columns - _FREE_PAIRS)

    @property
    def bytes(self) -> int:
        """Bytes of a channel."""
        return row_pair_bytes(self.rows, self.columns, self.bits) + self.own + FACTOR_BYTES

    @property
    def taken(self) -> str:
        """What the names of those that take weights apart end in, and where a channel's own number is."""
        return f"U{self.bits}({-self.bytes})" if self.own else self.kind

    @property
    def kind(self) -> str:
        """The same of a pair."""
        return f"{'U' if self.own else 'S'}{self.bits or 8}"

    @property
    def passes(self) -> tuple[Pass, ...]:
        """From the first rows to the last."""
        return tuple(self._pass(row) for row in range(0, self.rows, 2))

    def _pass(self, row: int) -> Pass:
        alone, first = row + 1 == self.rows, row // 2 * self.columns
        end = row_pairs(self.rows, self.columns) if alone else first + self.columns
        single = end - first if alone and self.columns % 2 else -1
        return Pass(row, alone, _FRAME + 4 * row, tuple(self._words(first, end)), single)

    def _words(self, first: int, end: int) -> Iterator[Word]:
        """Those of the pairs of a pass."""
        bits = self.bits or 8
        per_word = 16 // bits
        for n in range(first // per_word, -(-end // per_word)):
            pairs = range(max(first, n * per_word), min(end, (n + 1) * per_word))
            yield Word(4 * n + self.own - self.bytes, tuple((pair - first, bits * (pair % per_word)) for pair in pairs))

    def each(self, variant: Variant) -> Mix:
        """What a block takes for each channel."""
        inside, n = inside_of(variant), variant.pixels
        outside = len(variant.inputs) - inside
        pairs, alone = self.rows // 2, self.rows % 2
        parts = (_taking(p, few=self.bits > 0, own=self.own) for p in self.passes)
        two = Mix(other=inside, load=inside + outside, load_next=inside, multiply_add=self.columns * n)
        one = Mix(load=(inside + outside) / 2, load_next=(inside + outside) / 2, multiply_add=self.columns * n)
        byte = byte_instructions("lined") * n + 1 if self.lined else 3 * n
        ends = Mix(other=2 + byte, load=3, load_next=2, store=2 + n, multiple=1, moved=2, multiply_add=n, taken=1)
        return sum(parts, ends) + limits_mix(self.saturate, n) + two.times(pairs) + one.times(alone)


def _taking(part: Pass, *, few: bool, own: bool) -> Mix:
    """Rows and weights of a pass."""
    taken = sum(len(word.taken) for word in part.words)
    unpacked = Mix(other=2 + 2 * taken if few else taken, load=1, load_next=len(part.words) + (part.single >= 0) + own)
    return unpacked + (Mix(load=1, store=1) if part.alone else Mix(multiple=2, moved=4))


@record
class WindowSlideContext(SlideContext):
    """Literals of one depthwise convolution; `row_step`: how many of the call's rows further on each kernel row is."""

    blocks: WindowSlides
    row_step: int

    @property
    def passes(self) -> tuple[Pass, ...]:
        """Pairs of rows, and the row that has no partner."""
        return self.blocks.passes

    @property
    def pointers(self) -> tuple[int, ...]:
        """The rows whose pointers a block moves: an even number, so that the last one may come twice."""
        rows = self.blocks.rows
        return tuple(self.row_step * row for row in (*range(rows), *(rows - 1 for _ in range(rows % 2))))

    @property
    def frame(self) -> int:
        """Bytes of a block's stack, with a word for limits of outputs behind them."""
        return self.limits_at + (4 if self.limited else 0)

    @property
    def limits_at(self) -> int:
        """Where that word is."""
        return _FRAME + 4 * len(self.pointers)

    def sum_of(self, pixel: int) -> int:
        """The sum of a block's output."""
        return pixel + self.blocks.first

    def before(self, part: Pass, pixel: int, kept: int) -> int:
        """The sum that a product is added to: from the second pass on each its own."""
        return self.sum_of(pixel if part.row else kept)

    def others(self, variant: Variant, part: Pass) -> range:
        """The outputs whose sums have no bias when a row without a partner is the first."""
        return range(variant.pixels - 1 if part.alone and part.row == 0 else 0)


def _fit(node: NodeOf[Conv2D], row_step: int = 1) -> Fit | None:
    found, rows, columns = sums_of_bytes(node), node.op.h.size, node.op.w.size
    if found is None or rows > _MOST_ROWS or columns > _MOST_COLUMNS or rows * columns == 1:
        return None
    sums, own = found.sums, found.sums.less is not None
    rq = with_line(sums, found.rq, node.ins[0].shape[3] - 1, BIAS_BITS) if sums.bits else found.rq
    counted = WindowSlides(rows, columns, sums.bits, rq.saturate, own, rq.form == "lined")
    if not sums.bits and (rows, columns) == (3, 3) and row_step == 1:
        return None
    blocks = choose_blocks(counted, node.op.w, node.ins[0].shape, node.outs[0].shape)
    if blocks is None:
        return None
    few = f", {few_said(sums.bits, own=own)}" if sums.bits else ""
    k = WindowSlideContext(sums.x.value, node.ins[0].shape[3], node.op.w.stride, *blocks, rq, False, counted, row_step)
    return fit_of(node, found, k, row_mix(counted, blocks, k.channels), few)


def _fit_column(node: NodeOf[Conv2D], rows: int) -> Fit | None:
    """With so many rows of a map of one column in a block."""
    found = (_fit(row, row.op.w.size) for row in as_rows(node, rows))
    return fastest([fit for fit in found if fit and is_one_block(fit.context.pieces)])


WINDOW_SLIDES = Kernel(
    "dsp_window_slides",
    "dsp/window_slides.c.j2",
    "row",
    (Conv2D,),
    _fit,
    frozenset({"dsp"}),
    headers=("lam_armv7em_window_slide.h",),
    column=_fit_column,
)
