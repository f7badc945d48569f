"""Output-channel tiles: a node cut to some of its channels, and what the scheduler must know of parameters."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from codegen.ir.form import Form
from codegen.ir.graph import Graph
from codegen.ir.op import NodeOf, NodeView
from codegen.ir.scratchpad import ParamsNeeds
from codegen.ops import answers


def params_needs(graph: Graph, kernels: Mapping[int, Form]) -> dict[int, ParamsNeeds]:
    """Bytes of packed parameters by node index; views have no entry."""
    return {i: _needs(graph.view(graph.nodes[i]), form) for i, form in kernels.items()}


def _needs(view: NodeView, form: Form) -> ParamsNeeds:
    whole = form.params_bytes
    channels = tile_channels(view, form)
    if channels < 2:
        return ParamsNeeds(whole)
    one, two = (_tile_bytes(view, form, n) for n in (1, 2))
    each = two - one
    needs = ParamsNeeds(one - each, each, channels)
    if _shares_elements(view):
        return replace(needs, sizes=tuple(_tile_bytes(view, form, n + 1) for n in range(channels)))
    return needs if needs.bytes(channels) == whole else ParamsNeeds(whole)


def _tile_bytes(view: NodeView, form: Form, channels: int) -> int:
    return form.refit(channel_tile(view, 0, channels)).params_bytes


def _shares_elements(view: NodeView) -> bool:
    """Whether weights of several channels may lie in one element."""
    return any(kind.bits for kind in view.ins)


def tile_channels(view: NodeView, form: Form) -> int:
    """Output channels that tiles may share out; 0 when each tile would need other inputs, or the kernel runs whole."""
    channels = (view.outs[0].shape or (1,))[-1]
    alone = form.run in ("row", "pixels") and view.dynamic == (0,)
    return channels if alone and answers.channel_tile(view.op, 0, channels) is not None else 0


def channel_tile(view: NodeView, start: int, stop: int) -> NodeView:
    """The node that makes output channels [start, stop) alone."""
    op = answers.channel_tile(view.op, start, stop)
    assert op is not None, "only operators with channels to share out are tiled"
    x, *constants = view.ins
    out = view.outs[0]
    return NodeOf(
        name=view.name,
        op=op,
        ins=(x, *(replace(t, shape=(stop - start, *t.shape[1:])) for t in constants)),
        outs=(replace(out, shape=(*out.shape[:-1], stop - start)),),
        consts=tuple(None if c is None else c[start:stop] for c in view.consts),
    )
