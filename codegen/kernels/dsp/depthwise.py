"""Depthwise convolution, 3x3 without dilation: rows of four channels are taken apart into pairs of columns.

A pair serves two taps of one output, and the next pair the third: per row and two outputs, four multiplications and one
load.  Weights are [C, 9].
"""

from __future__ import annotations

from codegen.ir.form import Field, Mix, Scratch
from codegen.ir.op import NodeOf
from codegen.ir.quant import Array
from codegen.kernels.conv2d import is_depthwise
from codegen.kernels.fast import FastRequant, fast_fields, fast_requant
from codegen.kernels.kernel import Fit, Kernel
from codegen.kernels.packed import Fields, filled_to
from codegen.kernels.weighted import Weighted, weighted
from codegen.ops import Conv2D
from codegen.records import record

_TAPS = 9
_MOST_PAIRS = 126
"""What the offset of a load reaches over: the third row lies twice as many words behind the first."""


@record
class Column:
    """A column of a quad, counted from the row's first, and whether the row has it."""

    at: int
    inside: bool


@record
class DepthwiseContext:
    """Literals: `stride` is 1 or 2; rows are taken apart in `quads` of columns, of which [left, right) lie inside."""

    widen: str
    y_t: str
    channels: int
    w_in: int
    w_out: int
    stride: int
    pad: int
    quads: int
    left: int
    right: int
    shifted: bool
    rq: FastRequant
    fields: Fields | None

    @property
    def record(self) -> int:
        """Elements of a channel's weights."""
        return record_of(self.fields)

    @property
    def edges(self) -> tuple[int, ...]:
        """Quads that reach outside the row."""
        return (*range(self.left), *range(self.right, self.quads))

    @property
    def last_quad(self) -> int:
        """The number of the last quad."""
        return self.quads - 1

    @property
    def rest(self) -> int:
        """Channels behind the last whole four."""
        return self.channels % 4

    @property
    def row_words(self) -> int:
        """Pairs of columns in a row of a plane."""
        return 2 * self.quads

    @property
    def plane_words(self) -> int:
        """Words of one channel's plane: three rows."""
        return 3 * self.row_words

    @property
    def outputs(self) -> int:
        """Outputs that a turn makes of one pair of columns and the next."""
        return 2 if self.stride == 1 else 1

    @property
    def turns(self) -> int:
        """Whole turns of a row."""
        return self.w_out // self.outputs

    @property
    def left_over(self) -> int:
        """Outputs behind the whole turns."""
        return self.w_out % self.outputs

    def column_at(self, column: int) -> int:
        """From the first column of a row to another."""
        return column * self.channels

    def quad_at(self, quad: int) -> int:
        """From the first column of a row to the first of a quad."""
        return self.column_at(4 * quad - self.pad)

    def columns_of(self, quad: int) -> tuple[Column, ...]:
        """The four columns of a quad."""
        first = 4 * quad - self.pad
        return tuple(Column(at, 0 <= at < self.w_in) for at in range(first, first + 4))


def _fit(node: NodeOf[Conv2D]) -> Fit | None:
    op, sums = node.op, weighted(node)
    if sums is None or not sums.of_bytes(shifted=True) or not is_depthwise(node):
        return None
    square = all(w.size == 3 and w.dilation == 1 for w in (op.h, op.w))
    if not square or op.w.stride not in (1, 2) or 2 * _quads(node) > _MOST_PAIRS:
        return None
    pairs = Scratch("pairs", 4 * 3 * 4 * 2 * _quads(node))
    few = f", weights of {sums.bits} bits" if sums.bits else ""
    why = f"4 channels at a time, taken apart into pairs of columns; 2 taps an SMLAD{few}"
    context = _context(node, sums)
    return Fit(context, _params(sums, context), (pairs,), why, headers=context.rq.headers, mix=_mix(context))


def _mix(k: DepthwiseContext) -> Mix:
    """Counted in the disassembly: four channels' quads, each channel's weights, its turns and their outputs."""
    split = Mix(other=20, load=1, load_next=3, multiple=4, moved=8, taken=1).times(3 * k.quads * -(-k.channels // 4))
    turn = Mix(other=2, multiple=3, moved=6, multiply_add=12 if k.outputs == 2 else 6, taken=1)
    turns = turn.times(k.turns + k.left_over)
    stored = Mix(other=5, store=1).times(k.w_out)
    each = Mix(other=26, load=6, taken=1) + turns + stored
    return split + each.times(k.channels)


def _quads(node: NodeOf[Conv2D]) -> int:
    """Pairs of columns that a row needs, in twos."""
    w_out = node.outs[0].shape[2]
    pairs = (w_out if node.op.w.stride == 2 else -(-w_out // 2)) + 1
    return -(-pairs // 2)


def _context(node: NodeOf[Conv2D], sums: Weighted) -> DepthwiseContext:
    op, x, y = node.op, node.ins[0], node.outs[0]
    stride, pad, w_in, w_out = op.w.stride, op.w.pad_before, x.shape[2], y.shape[2]
    quads = _quads(node)
    left = min(quads, -(-pad // 4))
    return DepthwiseContext(
        widen=x.dtype.value,
        y_t=y.dtype.ctype,
        channels=x.shape[3],
        w_in=w_in,
        w_out=w_out,
        stride=stride,
        pad=pad,
        quads=quads,
        left=left,
        right=max(left, min(quads, (w_in + pad) // 4)),
        shifted=sums.shift is not None,
        rq=fast_requant(op.requant, sums.reach),
        fields=Fields(sums.bits, 8) if sums.bits else None,
    )


def _params(sums: Weighted, k: DepthwiseContext) -> tuple[Field, ...]:
    numbers = fast_fields(sums.op.requant, sums.reach, len(sums.weights))
    return (
        sums.folded_field(),
        *sums.zero_fields(padded=bool(k.edges)),
        *numbers,
        *sums.shift_fields(),
        _weights(sums, k),
    )


def record_of(fields: Fields | None) -> int:
    """Elements of the nine weights of a channel."""
    return _TAPS if fields is None else -(-_TAPS // fields.in_turn(1))


def _weights(sums: Weighted, k: DepthwiseContext) -> Field:
    fields = k.fields
    if fields is None:
        return sums.byte_weights("[channels][rows][columns]")

    def packed() -> Array:
        rows = filled_to(sums.weights.reshape(-1, _TAPS), fields.in_turn(1), axis=1)
        return fields.packed(rows.reshape(-1, fields.in_turn(1)))

    return Field.later("weights", fields.dtype, k.channels * k.record, packed)


DEPTHWISE = Kernel(
    "dsp_depthwise3", "dsp/depthwise3.c.j2", "row", (Conv2D,), _fit, frozenset({"dsp"}), headers=("lam_armv7em.h",)
)
