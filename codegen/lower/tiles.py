"""Output-channel tiles: a node cut to some of its channels, and what the scheduler must know of parameters."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from codegen.ir.graph import Graph
from codegen.ir.local import ParamsNeeds
from codegen.ir.op import NodeView
from codegen.ir.program import Kernel
from codegen.ir.quant import Requant
from codegen.lower.pack import field_offsets
from codegen.ops import Conv2D, Dense


def params_needs(graph: Graph, kernels: Mapping[int, Kernel]) -> dict[int, ParamsNeeds]:
    """Bytes of packed parameters by node index; views have no entry."""
    return {i: _needs(graph.view(graph.nodes[i]), kernel) for i, kernel in kernels.items()}


def _needs(view: NodeView, kernel: Kernel) -> ParamsNeeds:
    whole = _packed(view, kernel)
    channels = tile_channels(view, kernel)
    if channels < 2:
        return ParamsNeeds(whole)
    one, two = (_packed(channel_tile(view, 0, n), kernel) for n in (1, 2))
    each = two - one
    if one + (channels - 1) * each != whole:
        return ParamsNeeds(whole)
    return ParamsNeeds(one - each, each, channels)


def _packed(view: NodeView, kernel: Kernel) -> int:
    return field_offsets(kernel.params(view))[2]


def tile_channels(view: NodeView, kernel: Kernel) -> int:
    """Output channels that tiles may share out; 0 when each tile would need other inputs, or the kernel runs whole."""
    op = view.op
    tiled = isinstance(op, Dense) or (isinstance(op, Conv2D) and op.groups == 1)
    return view.outs[0].shape[-1] if tiled and kernel.run in ("row", "pixels") and view.dynamic == (0,) else 0


def channel_tile(view: NodeView, start: int, stop: int) -> NodeView:
    """The node that makes output channels [start, stop) alone."""
    op = view.op
    assert isinstance(op, Conv2D | Dense)
    x, *constants = view.ins
    consts = [None if c is None else c[start:stop] for c in view.consts]
    types = [replace(t, shape=(stop - start, *t.shape[1:])) for t in constants]
    out = view.outs[0]
    requant = _cut(op.requant, start, stop) if op.requant else None
    return NodeView(
        name=view.name,
        op=replace(op, requant=requant),
        ins=(x, *types),
        outs=(replace(out, shape=(*out.shape[:-1], stop - start)),),
        consts=tuple(consts),
    )


def _cut(requant: Requant, start: int, stop: int) -> Requant:
    """The factors of some channels; one that serves all channels stays."""
    if not requant.per_channel:
        return requant
    return replace(
        requant,
        multiplier=requant.multiplier[start:stop],
        shift=requant.shift[start:stop],
        scale=requant.scale[start:stop],
    )
