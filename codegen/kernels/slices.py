"""Slices of a layer's output channels, for weights that come through a buffer: how large, and what they take."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from codegen.ir.form import Form
from codegen.ir.op import NodeOf, NodeView
from codegen.ir.shape import row_pixels
from codegen.ir.weights import Cut
from codegen.kernels.tiles import channel_tile
from codegen.ops import answers

_ALIGN = 8
_RUNS = ("row", "rows", "pixels")


def channel_slice(view: NodeView, start: int, stop: int) -> NodeView | None:
    """The node that makes output channels [start, stop) alone: of all of its input, or of these channels of it."""
    if view.dynamic != (0,):
        return None
    if answers.channel_tile(view.op, start, stop) is not None:
        return channel_tile(view, start, stop)
    op = answers.depthwise_tile(view.op, start, stop, view.ins)
    if op is None:
        return None
    x, *constants = view.ins
    out, width = view.outs[0], stop - start
    return NodeOf(
        name=view.name,
        op=op,
        ins=(
            replace(x, shape=(*x.shape[:-1], width)),
            *(replace(t, shape=(width, *t.shape[1:])) for t in constants),
        ),
        outs=(replace(out, shape=(*out.shape[:-1], width)),),
        consts=tuple(None if c is None else c[start:stop] for c in view.consts),
    )


def cuts(view: NodeView, form: Form) -> Iterator[Cut]:
    """Ways to cut a layer, the largest slices first; all slices of one are served by the same function."""
    total = (view.outs[0].shape or (1,))[-1]
    if form.run not in _RUNS or total < 2:
        return
    sizes = dict.fromkeys(-(-total // n) for n in range(2, total + 1))
    for channels in sizes:
        found = _cut(view, form, channels, total)
        if found is not None:
            yield found


def _cut(view: NodeView, form: Form, channels: int, total: int) -> Cut | None:
    piece = channel_slice(view, 0, channels)
    if piece is None:
        return None
    made = form.fit_again(piece)
    if made is None:
        return None
    own = -(-made.scratch_for(1) // _ALIGN) * _ALIGN
    gathered, end = None, own
    if piece.ins[0].shape != view.ins[0].shape:
        gathered, end = own, own + -(-_rows_bytes(piece) // _ALIGN) * _ALIGN
    staged = None
    if row_pixels(view.outs[0].shape) > 1:
        staged, end = end, end + row_pixels(view.outs[0].shape) * channels * view.outs[0].dtype.bytes
    return Cut(channels, total, made.params_bytes, end, gathered, staged)


def _rows_bytes(piece: NodeView) -> int:
    """Bytes of all the input rows that one output row reads."""
    rule = piece.op.rows(0, piece.ins, piece.outs)
    x = piece.ins[0]
    return rule.taps * row_pixels(x.shape) * x.shape[-1] * x.dtype.bytes


def same_function(view: NodeView, form: Form, cut: Cut) -> bool:
    """Whether one function serves all slices of a cut: their weights decide nothing but the parameters."""
    kinds = {_kind(_form(view, form, cut, index)) for index in range(cut.count)}
    return len(kinds) == 1 and None not in kinds


def _form(view: NodeView, form: Form, cut: Cut, index: int) -> Form | None:
    first = cut.first(index)
    piece = channel_slice(view, first, first + cut.channels)
    return None if piece is None else form.fit_again(piece)


def _kind(form: Form | None) -> tuple[object, ...] | None:
    if form is None:
        return None
    fields = tuple((f.name, f.ctype, f.size) for f in form.params)
    return form.kernel, form.template, form.run, form.context, fields, form.scratch_for(1)
