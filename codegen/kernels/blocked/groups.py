"""Dense layers whose weights have a scale per group of inputs, in plain C: two outputs in a word.

A number of few bits less its least one has no sign; those of two outputs for the same input lie 16 bits apart, so that
one product makes both theirs.  The sums of a group's inputs, or of a part of them, fit the two halves of a word: what
numbers are less is taken off where they begin (runtime_c/include/lam_halves.h).  Weights:
[blocks of outputs][groups of inputs][words][pairs of outputs].
"""

from __future__ import annotations

import numpy as np

from codegen.ir.form import Field, Scratch
from codegen.ir.op import NodeOf
from codegen.ir.quant import Array
from codegen.kernels.fast import FastRequant, fast_fields, fast_requant
from codegen.kernels.groups import Grouped, grouped
from codegen.kernels.kernel import Fit, Kernel
from codegen.kernels.packed import filled_to
from codegen.kernels.weighted import BYTES
from codegen.ops import Conv2D, Dense
from codegen.records import record

_PAIRS = 4
"""Pairs of outputs that are summed together."""
_HALF_WORD, _MOST = 16, (1 << 15) - 1
_STORED_LESS = "of each group, added to its numbers: they are stored as so much less, without a sign"


@record
class GroupPairsContext:
    """Literals of one layer: `n_in` inputs in groups of `block`, summed in parts of `part`.

    `apart`: each group has a number of its own that is added to those stored.
    """

    x_t: str
    y_t: str
    n_in: int
    n_out: int
    block: int
    part: int
    bits: int
    apart: bool
    rq: FastRequant

    @property
    def outputs(self) -> tuple[tuple[int, int, int], ...]:
        """(first output, end, outputs at a time): whole blocks, and the outputs left over."""
        size = 2 * _PAIRS
        whole = self.n_out - self.n_out % size
        return tuple(g for g in ((0, whole, size), (whole, self.n_out, self.n_out - whole)) if g[0] < g[1])

    @property
    def whole(self) -> int:
        """Groups of `block` inputs."""
        return self.n_in // self.block

    @property
    def rest(self) -> int:
        """Inputs of the last group where it is smaller."""
        return self.n_in % self.block

    @property
    def whole_parts(self) -> int:
        """Whole parts of the groups of `block` inputs."""
        return self.whole * self.parts_of(self.block)

    @property
    def in_word(self) -> int:
        """Inputs of which a word has the numbers of two outputs."""
        return _HALF_WORD // self.bits

    @property
    def mask(self) -> str:
        """The fields of an input."""
        field = (1 << self.bits) - 1
        return f"0x{field | field << _HALF_WORD:08X}u"

    @property
    def start(self) -> str:
        """What a part's inputs are multiplied by where two sums begin, of layers without numbers of groups."""
        less = -(1 << (self.bits - 1)) * ((1 << _HALF_WORD) + 1)
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

    def words_of(self, inputs: int) -> int:
        """Whole words of so many inputs."""
        return inputs // self.in_word

    def in_words(self, inputs: int) -> int:
        """Those of so many inputs that are in whole words."""
        return self.in_word * self.words_of(inputs)

    def left_over(self, inputs: int) -> int:
        """Inputs in the last word where it is not full."""
        return inputs % self.in_word

    def part_rest(self, inputs: int) -> int:
        """Inputs of the last part where it is smaller."""
        return inputs % self.part

    def shift_of(self, place: int) -> int:
        """By how much a word is shifted to have an input's fields at their place."""
        return self.bits * place


def _fit(node: NodeOf[Conv2D | Dense]) -> Fit | None:
    made = grouped(node)
    if made is None or not made.bits or made.sums.x not in BYTES:
        return None
    part = _part(made, _HALF_WORD // made.bits)
    if not part:
        return None
    k = _context(node, made, part)
    why = f"plain C99, {2 * _PAIRS} outputs, two in a word, {made.said}"
    parts = k.whole_parts + -(-k.rest // part)
    headers = ("lam_halves.h", "lam_order.h", *k.rq.headers)
    return Fit(k, _params(node, made, k), (Scratch("sums", 4 * parts),), why, headers=headers)


def _part(made: Grouped, turn: int) -> int:
    """The most inputs of a group whose sums fit half a word: all, or a half, a quarter, in whole words; or 0."""
    parts = (made.block >> halved for halved in range(made.block.bit_length()))
    whole = (n for i, n in enumerate(parts) if i == 0 or (n % turn == 0 and n << i == made.block))
    return next((n for n in whole if made.reach(n) <= _MOST), 0)


def _context(node: NodeOf[Conv2D | Dense], made: Grouped, part: int) -> GroupPairsContext:
    x, w, _ = node.ins
    return GroupPairsContext(
        x_t=x.dtype.ctype,
        y_t=node.outs[0].dtype.ctype,
        n_in=x.shape[-1],
        n_out=w.shape[0],
        block=made.block,
        part=part,
        bits=made.bits,
        apart=made.less is not None,
        rq=fast_requant(node.op.requant, made.sums.reach),
    )


def _params(node: NodeOf[Conv2D | Dense], made: Grouped, k: GroupPairsContext) -> tuple[Field, ...]:
    words = k.whole * -(-k.block // k.in_word) + -(-k.rest // k.in_word)
    pairs = sum(k.pairs_of(n) * (end - first) // n for first, end, n in k.outputs)
    return (
        Field.later("weights", np.uint32, words * pairs, lambda: _packed(made, k), "two outputs in a word"),
        made.sums.folded_field(),
        *fast_fields(node.op.requant, made.sums.reach, k.n_out),
        Field("factors", _by_blocks(made.factors, k).astype(np.int16)),
        *_less_fields(made, k),
    )


def _less_fields(made: Grouped, k: GroupPairsContext) -> tuple[Field, ...]:
    if made.less is None:
        return ()
    less = _by_blocks(made.less - (1 << (made.bits - 1)), k).astype(np.int8)
    return (Field("w_shift", less, about=_STORED_LESS),)


def _by_blocks(groups: Array, k: GroupPairsContext) -> Array:
    """What is said of each output's groups, [outputs, groups], in the order of blocks; flat."""
    return np.concatenate([_block(groups[at:][:n], k).reshape(-1) for at, n in _blocks(k)])


def _block(rows: Array, k: GroupPairsContext) -> Array:
    """The rows [outputs, ...] of a block as [..., outputs], filled to whole pairs."""
    return np.moveaxis(filled_to(rows, 2, axis=0), 0, -1)


def _blocks(k: GroupPairsContext) -> list[tuple[int, int]]:
    """First output and number of outputs of each block."""
    return [(at, n) for first, end, n in k.outputs for at in range(first, end, n)]


def _packed(made: Grouped, k: GroupPairsContext) -> Array:
    fields = made.numbers + (1 << (k.bits - 1))
    split = k.whole * k.block
    parts = (fields[:, :split].reshape(len(fields), k.whole, k.block), fields[:, None, split:])
    words = np.concatenate([_words(part, k) for part in parts if part.size], axis=1)
    return np.concatenate([_paired(_block(words[at:][:n], k)).reshape(-1) for at, n in _blocks(k)])


def _words(groups: Array, k: GroupPairsContext) -> Array:
    """Fields [outputs, groups, inputs] as half words, [outputs, half words]."""
    full = filled_to(groups, k.in_word, axis=2)
    places = k.bits * np.arange(k.in_word)
    return np.asarray((full.reshape(len(full), -1, k.in_word) << places).sum(axis=2))


def _paired(halves: Array) -> Array:
    """Half words of neighbouring outputs, the last axis, as words."""
    return np.asarray(halves[..., ::2] | halves[..., 1::2] << _HALF_WORD).astype(np.uint32)


GROUP_PAIRS: Kernel[Conv2D | Dense] = Kernel(
    "blocked_group_pairs",
    "blocked/groups.c.j2",
    "pixels",
    (Dense, Conv2D),
    _fit,
    without=frozenset({"program_memory"}),
)
