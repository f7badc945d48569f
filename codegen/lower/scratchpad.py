"""A Plan of the scratchpad regime to calls on the scratchpad and numbered commands."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from codegen.ir.form import Form
from codegen.ir.op import NodeView, RowRule
from codegen.ir.plan import Plan
from codegen.ir.program import (
    Call,
    GroupProgram,
    Operand,
    Program,
    RowInput,
    ScratchpadParams,
    ScratchpadProgram,
)
from codegen.ir.scratchpad import ScratchpadLayer, ScratchpadPlan
from codegen.ir.shape import row_elements, row_pixels
from codegen.ir.weights import Params
from codegen.kernels.tiles import channel_tile
from codegen.lower.lower import Lowering, traced


def lower_scratchpad(plan: Plan, forms: Mapping[int, Form]) -> Program:
    """Resolve the plan's layers, parameters and streams.  `forms` is by node index."""
    assert plan.scratchpad is not None
    work = _ScratchpadLowering(plan, plan.scratchpad, forms)
    made = [work.call(layer) for layer in plan.scratchpad.layers]
    scratchpad = work.program(made)
    graph = plan.graph
    return Program(
        name=graph.name,
        arena_bytes=plan.arena_bytes,
        arena_align=plan.arena_align,
        inputs=tuple(work.base.port(i) for i in graph.inputs),
        outputs=tuple(work.base.port(o) for o in graph.outputs),
        functions=tuple(work.base.functions.values()),
        groups=work.groups(made),
        const_rows=(),
        params=tuple(work.base.pool.placed),
        params_bytes=work.base.pool.bytes,
        tensors=traced(plan),
        scratchpad=scratchpad,
        labels=graph.labels,
    )


class _ScratchpadLowering:
    def __init__(self, plan: Plan, scratchpad: ScratchpadPlan, forms: Mapping[int, Form]) -> None:
        self.plan, self.scratchpad, self.forms = plan, scratchpad, forms
        self.base = Lowering(plan, forms)
        self.tiles: dict[tuple[int, int, int], Form] = {}
        self.known: dict[tuple[object, ...], int] = {}
        self.calls: list[Call] = []

    def view(self, node: int, start: int, stop: int) -> NodeView:
        view = self.plan.graph.view(self.plan.graph.nodes[node])
        return channel_tile(view, start, stop) if stop else view

    def params(self, node: int, start: int, stop: int) -> Params | None:
        name = self.plan.graph.nodes[node].name
        title = f"{name}, output channels {start} to {stop - 1}" if stop else name
        return self.base.pool.place(title, self.form(node, start, stop).params)

    def form(self, node: int, start: int, stop: int) -> Form:
        """The form of a node, or of one of its tiles."""
        if not stop:
            return self.forms[node]
        if (node, start, stop) not in self.tiles:
            self.tiles[node, start, stop] = self.forms[node].refit(self.view(node, start, stop))
        return self.tiles[node, start, stop]

    def call(self, layer: ScratchpadLayer) -> int:
        """The number of the layer's call; layers that differ only in what is loaded for them share one."""
        call = self._call(layer)
        operands = tuple((i.operand, i.padding_offset) for i in call.inputs)
        key = (layer.node, call.fn.symbol, operands, call.outputs, layer.params_offset, call.scratch_offset)
        if key not in self.known:
            self.known[key] = len(self.calls)
            self.calls.append(call)
        return self.known[key]

    def _call(self, layer: ScratchpadLayer) -> Call:
        node = self.plan.graph.nodes[layer.node]
        view = self.view(layer.node, layer.start, layer.stop)
        form = self.form(layer.node, layer.start, layer.stop)
        params = self.params(layer.node, layer.start, layer.stop)
        inputs = tuple(self._input(layer, view, form, node.inputs[i], i) for i in view.dynamic)
        outputs = tuple(
            self._operand(layer, name, row_elements(kind.shape) * kind.dtype.bytes)
            for name, kind in zip(node.outputs, view.outs, strict=True)
        )
        whole = form.run == "whole"
        return Call(
            node=view,
            fn=self.base.function(form, view, params),
            inputs=inputs,
            outputs=outputs,
            params=params,
            scratch_offset=layer.scratch_offset,
            scratch_bytes=form.scratch_bytes,
            rows_per_call=outputs[0].rows if form.run in ("whole", "accumulate") else 1,
            pixels_per_call=row_pixels(view.outs[0].shape) if form.run == "pixels" else 0,
            steps=1 if whole else inputs[0].operand.rows if form.run == "accumulate" else outputs[0].rows,
            params_offset=layer.params_offset if params else None,
            partial=layer.stop > 0,
        )

    def _input(self, layer: ScratchpadLayer, view: NodeView, form: Form, name: str, index: int) -> RowInput:
        rule = self.base.rule(view, form, index)
        operand = self._operand(layer, name, self.plan.storage[name].row_bytes)
        return RowInput(operand, rule, padding_offset=_padding(layer, rule, operand))

    def _operand(self, layer: ScratchpadLayer, name: str, row_bytes: int) -> Operand:
        offset, ring = layer.rows[name]
        dtype = self.plan.graph.type(name).dtype
        return Operand(name, offset, self.plan.storage[name].rows, ring, row_bytes, dtype, self.base.memory(name))

    def program(self, made: list[int]) -> ScratchpadProgram:
        """The commands on numbered calls."""
        graph, loads = self.plan.graph, []
        for load in self.scratchpad.params:
            params = self.params(load.node, load.start, load.stop)
            assert params is not None
            assert params.bytes == load.bytes
            loads.append(ScratchpadParams(graph.nodes[load.node].name, load.start, params, load.offset))
        commands = tuple(
            replace(c, index=made[c.index]) if c.act in ("run", "again") else c for c in self.scratchpad.commands
        )
        return ScratchpadProgram(
            bytes=self.scratchpad.bytes,
            align=self.scratchpad.align,
            bank_bytes=self.scratchpad.bank_bytes,
            calls=tuple(self.calls),
            streams=self.scratchpad.streams,
            global_offsets=tuple(self.plan.storage[s.value].offset for s in self.scratchpad.streams),
            params=tuple(loads),
            fills=self.scratchpad.fills,
            commands=commands,
            steps=self.scratchpad.steps,
            bounds=self.scratchpad.bounds,
            slots=self.scratchpad.slots,
        )

    def groups(self, made: list[int]) -> tuple[GroupProgram, ...]:
        """One call per node, for the account of layers; parameters of tiles counted together.

        A node of which no row is needed has none.
        """
        by_node: dict[int, Call] = {}
        for layer, number in zip(self.scratchpad.layers, made, strict=True):
            call = self.calls[number]
            if layer.stop and call.params is not None:
                before = by_node[layer.node].params.bytes if layer.node in by_node else 0  # type: ignore[union-attr]
                size = self.params(layer.node, layer.start, layer.stop)
                assert size is not None
                call = replace(call, node=self.view(layer.node, 0, 0), params=replace(size, bytes=before + size.bytes))
            by_node[layer.node] = call
        return tuple(GroupProgram(tuple(by_node[i] for i in group.nodes if i in by_node)) for group in self.plan.groups)


def _padding(layer: ScratchpadLayer, rule: RowRule, operand: Operand) -> int | None:
    return None if rule.fill is None else layer.pads.get((operand.dtype.value, rule.fill))
