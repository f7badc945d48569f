"""Weights of few bits, those of two outputs in a word: what kernels share that sum both by one product.

A number of few bits less its least one has no sign; those of two outputs for the same input lie 16 bits apart, so that
one product makes both theirs.  The sums of some inputs, a part of a group, fit the two halves of a word: what numbers
are less is taken off where they begin (runtime_c/include/lam_halves.h).  Weights:
[blocks of outputs][groups of inputs][words][pairs of outputs].
"""

from __future__ import annotations

import numpy as np

from codegen.ir.form import Field, Scratch
from codegen.ir.op import NodeOf
from codegen.ir.quant import Array
from codegen.kernels.blocked.conv import Piece
from codegen.kernels.fast import FastRequant, fast_fields, fast_requant
from codegen.kernels.gather import Columns
from codegen.kernels.groups import Grouped, InGroups
from codegen.kernels.packed import filled_to
from codegen.ops import Conv2D, Dense
from codegen.records import record

HALF_WORD, MOST_HALF = 16, (1 << 15) - 1
PAIRS = 4
"""Pairs of outputs that are summed together."""
_FOUR = 4
_FEW_TURNS = 4
"""Words that compilers write out one after another, of several pairs: then a block's sums have too few registers."""
_STORED_LESS = "of each group, added to its numbers: they are stored as so much less, without a sign"


@record(kw_only=True)
class HalvesContext(InGroups):
    """Literals of one layer: `n_in` inputs in groups of `size`, summed in parts of `part`.

    `scaled`: each group has a factor; without, all inputs are one group.  `apart`: each group has a number of its own
    that is added to those stored.  `held`: how many inputs of a word are in registers at a time.
    `copied`: a pixel is read from scratch, so that its outputs may be stored over it.
    `windows`: what the first pixel of each piece of a row reads of each of `window_rows` kernel rows, in bytes, where
    the inputs of a pixel are a window, which is copied.
    `runs`: a group is what a window has in one kernel row, and is read there; only windows over an edge are copied.
    `summing`: each block makes the sums of inputs beside its products; else they are made before, for all blocks.
    """

    x_t: str
    y_t: str
    n_out: int
    part: int
    bits: int
    scaled: bool
    apart: bool
    rq: FastRequant
    held: int
    copied: bool = False
    pieces: tuple[Piece, ...] = ()
    windows: tuple[tuple[Columns, ...], ...] = ()
    window_rows: int = 1
    runs: bool = False
    summing: bool = False

    @property
    def outputs(self) -> tuple[tuple[int, int, int], ...]:
        """(first output, end, outputs at a time): whole blocks, and the outputs left over."""
        size = 2 * PAIRS
        whole = self.n_out - self.n_out % size
        return tuple(g for g in ((0, whole, size), (whole, self.n_out, self.n_out - whole)) if g[0] < g[1])

    @property
    def parts(self) -> int:
        """Parts of all inputs."""
        return self.whole * -(-self.size // self.part) + -(-self.rest // self.part)

    @property
    def whole_parts(self) -> int:
        """Whole parts of the groups of `size` inputs."""
        return self.whole * self.parts_of(self.size)

    @property
    def whole_rests(self) -> tuple[int, ...]:
        """Inputs of the part that is left over of one group of `size`: several groups have whole parts alone."""
        rest = self.part_rest(self.size) if self.whole else 0
        return (rest,) if rest else ()

    @property
    def near_at(self) -> int:
        """Where in scratch the copy of a pixel's inputs lies: behind what sums begin with."""
        return 0 if self.summing else 4 * self.parts

    @property
    def window_run(self) -> int:
        """Bytes of a window in one kernel row."""
        return self.n_in // self.window_rows

    @property
    def gathers(self) -> bool:
        """Whether any window holds padding."""
        if self.runs:
            return any(not piece.columns.inside for piece in self.pieces)
        return any(not columns.inside for piece in self.windows for columns in piece)

    @property
    def in_word(self) -> int:
        """Inputs of which a word has the numbers of two outputs."""
        return HALF_WORD // self.bits

    @property
    def mask(self) -> str:
        """The fields of an input."""
        field = (1 << self.bits) - 1
        return f"0x{field | field << HALF_WORD:08X}u"

    @property
    def start(self) -> str:
        """What a part's inputs are multiplied by where two sums begin, of layers without numbers of groups."""
        less = -(1 << (self.bits - 1)) * ((1 << HALF_WORD) + 1)
        return f"0x{less & 0xFFFFFFFF:08X}u"

    def pairs_of(self, outputs: int) -> int:
        """Pairs that so many outputs make."""
        return -(-outputs // 2)

    def filled(self, pairs: int) -> int:
        """Outputs that so many pairs have room for."""
        return 2 * pairs

    def outputs_of(self, pairs: int) -> tuple[tuple[int, int, int], ...]:
        """(pair, its lower output, its upper one) of so many pairs."""
        return tuple((p, 2 * p, 2 * p + 1) for p in range(pairs))

    def repeats(self, first: int, end: int, outputs: int) -> bool:
        """Whether there are several blocks of so many outputs from the first one to the end."""
        return end - first > outputs

    def parts_of(self, inputs: int) -> int:
        """Parts of so many inputs of a group that are whole."""
        return inputs // self.part

    def in_parts(self, inputs: int) -> int:
        """Those of so many inputs that are in whole parts."""
        return self.part * self.parts_of(inputs)

    def part_rest(self, inputs: int) -> int:
        """Inputs of the last part where it is smaller."""
        return inputs % self.part

    def words_of(self, inputs: int) -> int:
        """Whole words of so many inputs."""
        return inputs // self.in_word

    def in_fours(self, inputs: int) -> int:
        """Those of so many inputs whose sum is made four at a time."""
        return inputs - self.beyond_fours(inputs)

    def beyond_fours(self, inputs: int) -> int:
        """The inputs behind them."""
        return inputs % _FOUR

    def kept_rolled(self, pairs: int, inputs: int) -> bool:
        """Whether the turns of so many inputs are kept from being written out: few of them, and then spilled."""
        return self.words_of(inputs) <= _FEW_TURNS or pairs == 1

    def in_words(self, inputs: int) -> int:
        """Those of so many inputs that are in whole words."""
        return self.in_word * self.words_of(inputs)

    def left_over(self, inputs: int) -> int:
        """Inputs in the last word where it is not full."""
        return inputs % self.in_word

    def turns_of(self, inputs: int) -> tuple[tuple[int, ...], ...]:
        """So many inputs of a word, as many at a time as are held."""
        every = range(inputs)
        return tuple(tuple(every[at:][: self.held]) for at in every[:: self.held])

    def copy_at(self, pixel: int, behind: int = 0) -> int:
        """Where the copy of a window has what is so many bytes behind its begin."""
        return pixel * self.n_in + behind

    def shift_of(self, place: int) -> int:
        """By how much a word is shifted to have an input's fields at their place."""
        return self.bits * place


def halves_context(
    node: NodeOf[Conv2D | Dense], made: Grouped, part: int, *, scaled: bool, held: int = HALF_WORD
) -> HalvesContext:
    """The context of a layer whose parts are so large, of a core that holds so many inputs."""
    return HalvesContext(
        x_t=node.ins[0].dtype.ctype,
        y_t=node.outs[0].dtype.ctype,
        n_in=made.numbers.shape[1],
        n_out=len(made.numbers),
        size=made.block,
        part=part,
        bits=made.bits,
        scaled=scaled,
        held=held,
        apart=made.less is not None,
        rq=fast_requant(node.op.requant, made.sums.reach),
    )


def halves_headers(k: HalvesContext) -> tuple[str, ...]:
    """What its C calls."""
    return ("lam_halves.h", "lam_order.h", *k.rq.headers)


def halves_scratch(k: HalvesContext) -> tuple[Scratch, ...]:
    """What sums of parts begin with, and the copy of a pixel."""
    return (Scratch("sums", k.near_at), Scratch("copy", k.n_in if k.copied or k.windows else 0))


def halves_params(node: NodeOf[Conv2D | Dense], made: Grouped, k: HalvesContext) -> tuple[Field, ...]:
    """The layer's constants."""
    words = k.whole * -(-k.size // k.in_word) + -(-k.rest // k.in_word)
    pairs = sum(k.pairs_of(n) * (end - first) // n for first, end, n in k.outputs)
    factors = (Field("factors", _by_blocks(made.factors, k).astype(np.int16)),) if k.scaled else ()
    return (
        Field.later("weights", np.uint32, words * pairs, lambda: _packed(made, k), "two outputs in a word"),
        made.sums.folded_field(),
        *made.sums.zero_fields(padded=k.gathers),
        *fast_fields(node.op.requant, made.sums.reach, k.n_out),
        *factors,
        *_less_fields(made, k),
    )


def _less_fields(made: Grouped, k: HalvesContext) -> tuple[Field, ...]:
    if made.less is None:
        return ()
    own = made.less if k.scaled else made.less[:, :1]
    less = _by_blocks(own - (1 << (made.bits - 1)), k).astype(np.int8)
    return (Field("w_shift", less, about=_STORED_LESS),)


def _by_blocks(groups: Array, k: HalvesContext) -> Array:
    """What is said of each output's groups, [outputs, groups], in the order of blocks; flat."""
    return np.concatenate([_block(groups[at:][:n]).reshape(-1) for at, n in _blocks(k)])


def _block(rows: Array) -> Array:
    """The rows [outputs, ...] of a block as [..., outputs], filled to whole pairs."""
    return np.moveaxis(filled_to(rows, 2, axis=0), 0, -1)


def _blocks(k: HalvesContext) -> list[tuple[int, int]]:
    """First output and number of outputs of each block."""
    return [(at, n) for first, end, n in k.outputs for at in range(first, end, n)]


def _packed(made: Grouped, k: HalvesContext) -> Array:
    fields = made.numbers + (1 << (k.bits - 1))
    split = k.rest_at
    parts = (fields[:, :split].reshape(len(fields), k.whole, k.size), fields[:, None, split:])
    words = np.concatenate([_words(part, k) for part in parts if part.size], axis=1)
    return np.concatenate([_paired(_block(words[at:][:n])).reshape(-1) for at, n in _blocks(k)])


def _words(groups: Array, k: HalvesContext) -> Array:
    """Fields [outputs, groups, inputs] as half words, [outputs, half words]."""
    full = filled_to(groups, k.in_word, axis=2)
    places = k.bits * np.arange(k.in_word)
    return np.asarray((full.reshape(len(full), -1, k.in_word) << places).sum(axis=2))


def _paired(halves: Array) -> Array:
    """Half words of neighbouring outputs, the last axis, as words."""
    return np.asarray(halves[..., ::2] | halves[..., 1::2] << HALF_WORD).astype(np.uint32)
