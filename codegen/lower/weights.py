"""Weights that come through a buffer: calls in slices of output channels, and the reads of a run."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from codegen.ir.op import NodeView
from codegen.ir.plan import Plan
from codegen.ir.program import Call, GroupProgram, Operand, RowInput
from codegen.ir.shape import row_pixels
from codegen.ir.weights import Cut, Params, Pieces, Slices, WeightsPlan, WeightsProgram, WeightsRead, WeightsUse
from codegen.kernels import channel_slice

if TYPE_CHECKING:
    from codegen.lower.lower import Lowering

_ALIGN = 16


def sliced_call(work: Lowering, index: int, cut: Cut) -> Call:
    """The call of a layer that is cut: one function for all slices, each with its own parameters."""
    node, scratch = work.graph.nodes[index], work.plan.scratch.get(index, 0)
    view = work.graph.view(node)
    params = tuple(_packed(work, index, cut, number) for number in range(cut.count))
    piece = _piece(view, cut, 0)
    form = work.forms[index].refit(piece)
    x, y = work.operand(node.inputs[0]), work.operand(node.outputs[0])
    item = RowInput(x, view.op.rows(0, view.ins, view.outs))
    work.note_padding(item, y.rows)
    pixels, across = row_pixels(view.outs[0].shape), row_pixels(view.ins[0].shape)
    return Call(
        node=view,
        fn=work.function(form, piece, params[0]),
        inputs=(item,),
        outputs=(y,),
        params=params[0],
        scratch_offset=scratch if cut.scratch_bytes else None,
        scratch_bytes=cut.scratch_bytes,
        rows_per_call=1,
        pixels_per_call=pixels if form.run == "pixels" else 0,
        steps=y.rows,
        slices=Slices(
            step=cut.channels,
            last=cut.total - cut.channels,
            params=params,
            element_bytes=y.dtype.bytes,
            gathered=_pieces(scratch, cut.gathered, cut, x, across),
            staged=_pieces(scratch, cut.staged, cut, y, pixels),
        ),
    )


def _piece(view: NodeView, cut: Cut, number: int) -> NodeView:
    first = cut.first(number)
    piece = channel_slice(view, first, first + cut.channels)
    assert piece is not None, "the cut was tried"
    return piece


def _packed(work: Lowering, index: int, cut: Cut, number: int) -> Params:
    """The parameters of a slice."""
    node, first = work.graph.nodes[index], cut.first(number)
    form = work.forms[index].refit(_piece(work.graph.view(node), cut, number))
    packed = work.pool.place(f"{node.name}, output channels {first} to {first + cut.channels - 1}", form.params)
    assert packed is not None, "what is cut has weights"
    return packed


def _pieces(scratch: int, at: int | None, cut: Cut, rows: Operand, pixels: int) -> Pieces | None:
    """A slice's channels in each pixel of a row, packed at a place of the scratch."""
    if at is None:
        return None
    return Pieces(scratch + at, cut.channels * rows.dtype.bytes, rows.row_bytes // pixels, pixels)


def in_buffer(plan: Plan, groups: Sequence[GroupProgram]) -> tuple[GroupProgram, ...]:
    """The groups with their first use of the buffer, and each call's place in what is read for it."""
    weights = plan.weights
    assert weights is not None, "weights come through a buffer"
    first = {use.group: number for number, use in reversed(list(enumerate(weights.uses)))}
    return tuple(
        replace(g, use=first.get(k), calls=tuple(_placed(g.calls, nodes.nodes, weights)))
        for k, (g, nodes) in enumerate(zip(groups, plan.groups, strict=True))
    )


def _placed(calls: Sequence[Call], nodes: Sequence[int], weights: WeightsPlan) -> Iterator[Call]:
    place = 0
    for call, node in zip(calls, nodes, strict=True):
        pinned, mapped = weights.pinned.get(node), node in weights.mapped
        yield replace(call, place=place, pinned=pinned, mapped=mapped)
        place += _rounded(call.params.bytes) if call.params and pinned is None and not mapped else 0


def weights_program(plan: Plan, groups: Sequence[GroupProgram]) -> WeightsProgram | None:
    """All reads; parameters that lie one behind the other in the weight section are one read."""
    if plan.weights is None:
        return None
    reads: list[WeightsRead] = []
    for number, use in enumerate(plan.weights.uses):
        place, found = use.offset, list[WeightsRead]()
        for params in _params(plan, groups, use):
            found.append(WeightsRead(params.offset, params.bytes, place, number, use.after))
            place += _rounded(params.bytes)
        reads += _joined(found)
    calls = zip((i for g in plan.groups for i in g.nodes), (c for g in groups for c in g.calls), strict=True)
    kept = [
        WeightsRead(call.params.offset, call.params.bytes, plan.weights.pinned[node], -1, -1)
        for node, call in calls
        if call.params is not None and node in plan.weights.pinned
    ]
    return WeightsProgram(plan.weights.offset, plan.weights.bytes, tuple(reads), tuple(_joined(kept)))


def _params(plan: Plan, groups: Sequence[GroupProgram], use: WeightsUse) -> list[Params]:
    """What a use reads: not what stays in the arena or is in the image."""
    calls, nodes = groups[use.group].calls, plan.groups[use.group].nodes
    if calls[0].slices is not None:
        return [calls[0].slices.params[use.index]]
    assert plan.weights is not None, "weights come through a buffer"
    apart = plan.weights.pinned.keys() | plan.weights.mapped
    read = (call.params for call, node in zip(calls, nodes, strict=True) if node not in apart)
    return [params for params in read if params is not None]


def _joined(reads: Sequence[WeightsRead]) -> list[WeightsRead]:
    """Neighbours in the section that are neighbours in the buffer too, as one."""
    found: list[WeightsRead] = []
    for read in reads:
        last = found[-1] if found else None
        if last and last.source - last.offset == read.source - read.offset and read.source > last.source:
            found[-1] = replace(last, bytes=read.source + read.bytes - last.source)
        else:
            found.append(read)
    return found


def _rounded(size: int) -> int:
    return -(-size // _ALIGN) * _ALIGN
