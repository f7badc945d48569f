"""Turns a Plan into calls of kernel functions on addressed rows."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from codegen.ir.form import Form
from codegen.ir.graph import Graph, Interface, Node, State
from codegen.ir.op import WHOLE, NodeView, RowRule
from codegen.ir.plan import Group, Plan
from codegen.ir.producer import READY, STREAMED, Producer, Step
from codegen.ir.program import (
    Call,
    ConstRow,
    GroupProgram,
    KeptState,
    KernelFn,
    Operand,
    Port,
    Program,
    RowInput,
    TracedTensor,
)
from codegen.ir.quant import DType
from codegen.ir.shape import row_elements, row_pixels
from codegen.ir.weights import Params
from codegen.lower.pack import ParamsPool
from codegen.lower.weights import in_buffer, sliced_call, weights_program


def lower(plan: Plan, forms: Mapping[int, Form]) -> Program:
    """Resolve the plan to C-level calls.  `forms` is by node index."""
    work = Lowering(plan, forms)
    groups = tuple(work.group(g) for g in plan.groups)
    graph = plan.graph
    return Program(
        name=graph.name,
        arena_bytes=plan.arena_bytes,
        arena_align=plan.arena_align,
        inputs=tuple(work.port(i) for i in graph.inputs),
        outputs=tuple(work.port(o) for o in graph.outputs),
        functions=tuple(work.functions.values()),
        groups=groups if plan.weights is None else in_buffer(plan, groups),
        const_rows=tuple(ConstRow(*key, elements) for key, elements in sorted(work.const_rows.items(), key=_row_order)),
        params=tuple(work.pool.placed),
        params_bytes=work.pool.bytes,
        weights=weights_program(plan, groups),
        mapped=tuple(work.image.placed),
        tensors=traced(plan),
        states=tuple(work.state(s) for s in graph.states),
        streamed=bool(plan.streamed),
        regions=plan.regions,
        labels=graph.labels,
    )


def _row_order(item: tuple[tuple[DType, float], int]) -> tuple[str, float]:
    return item[0][0].value, item[0][1]


@dataclass
class Lowering:
    """What grows while calls are made: functions by content, parameters, padding rows.

    `image` has the parameters that are part of the image where the others are read.
    """

    plan: Plan
    forms: Mapping[int, Form]
    functions: dict[Any, KernelFn] = field(default_factory=dict)
    pool: ParamsPool = field(default_factory=ParamsPool)
    image: ParamsPool = field(default_factory=ParamsPool)
    const_rows: dict[tuple[DType, float], int] = field(default_factory=dict)

    @property
    def graph(self) -> Graph:
        """The network."""
        return self.plan.graph

    @property
    def makers(self) -> dict[str, int]:
        """The view that makes each renamed tensor."""
        return {self.graph.nodes[i].outputs[0]: i for i in self.plan.views}

    def group(self, group: Group) -> GroupProgram:
        """The group's calls; a tensor made earlier in the group names its producer."""
        cut = self.plan.weights.cuts.get(group.nodes[0]) if self.plan.weights else None
        if cut is not None:
            call = sliced_call(self, group.nodes[0], cut)
            return GroupProgram((call,), ((0, call.steps),))
        streams = bool(self.plan.streamed) and group is self.plan.groups[0]
        producers: dict[str, Producer] = {self.plan.streamed: STREAMED} if streams else {}
        calls: list[Call] = []
        plain = len(group.nodes) == 1 and group.block == 0 and not streams
        for index in group.nodes:
            node = self.graph.nodes[index]
            calls.append(self.call(index, node, producers, plain=plain))
            producers.update({name: Step(len(calls) - 1) for name in node.outputs})
        place = {index: k for k, index in enumerate(group.nodes)}
        pulls = tuple((place[node], upto) for node, upto in group.pulls)
        pulls = pulls or ((len(calls) - 1, calls[-1].steps),)
        backwards = group.backwards and calls[0].steps > 1  # a call that makes all rows has read all before
        return GroupProgram(tuple(calls), pulls, streams, backwards=backwards)

    def call(self, index: int, node: Node, producers: Mapping[str, Producer], *, plain: bool) -> Call:
        """One layer; `plain` when nothing else runs between its rows."""
        view = self.graph.view(node)
        form = self.forms[index]
        inputs = tuple(self.input(node, view, form, i, producers.get(node.inputs[i], READY)) for i in view.dynamic)
        outputs = tuple(self.operand(name) for name in node.outputs)
        mapped = self.plan.weights is not None and index in self.plan.weights.mapped
        params = (self.image if mapped else self.pool).place(node.name, form.params)
        rows = _rows_per_call(form, inputs, outputs, plain=plain)
        for item in inputs:
            self.note_padding(item, outputs[0].rows)
        return Call(
            node=view,
            fn=self.function(form, view, params),
            inputs=inputs,
            outputs=outputs,
            params=params,
            scratch_offset=self.plan.scratch.get(index),
            scratch_bytes=form.scratch_for(rows),
            rows_per_call=rows,
            pixels_per_call=rows * row_pixels(view.outs[0].shape) if form.run == "pixels" else 0,
            steps=inputs[0].operand.rows if form.run == "accumulate" else -(-outputs[0].rows // rows),
        )

    def input(self, node: Node, view: NodeView, form: Form, index: int, producer: Producer) -> RowInput:
        """How input `index` is read, and who makes it."""
        in_place = form.in_place or view.op.in_place(index, view.ins, view.outs)
        operand, rule = self.operand(node.inputs[index]), self.rule(view, form, index)
        return RowInput(operand, rule, producer, in_place=in_place, by_channels=form.by_channels)

    def rule(self, view: NodeView, form: Form, index: int) -> RowRule:
        """How the kernel reads input `index`; a kernel that runs whole gets the first row of whole tensors."""
        return WHOLE if form.run == "whole" else view.op.rows(index, view.ins, view.outs)

    def operand(self, name: str) -> Operand:
        """The tensor in the arena."""
        place = self.plan.storage[name]
        dtype = self.graph.type(name).dtype
        return Operand(name, place.offset, place.rows, place.ring, place.row_bytes, dtype, self.memory(name))

    def memory(self, name: str) -> str:
        """The tensor whose memory this one uses."""
        maker = self.makers.get(name)
        return self.memory(self.graph.nodes[maker].inputs[0]) if maker is not None else name

    def function(self, form: Form, view: NodeView, params: Params | None) -> KernelFn:
        """The function for this content, made once."""
        made = kernel_function(f"k{len(self.functions)}_{form.kernel}", form, view, params)
        fields = tuple((name, offset, made.sizes[name]) for name, offset in made.offsets.items())
        key = (form.kernel, made.context, fields, made.in_dtype, made.out_dtype, made.outputs)
        return self.functions.setdefault(key, made)

    def note_padding(self, item: RowInput, out_rows: int) -> None:
        """Ask for a padding row as long as this input's rows, when the rule reaches outside with a value."""
        if item.rule.fill is None or not item.rule.leaves(item.operand.rows, out_rows):
            return
        key = (item.operand.dtype, item.rule.fill)
        elements = item.operand.row_bytes // item.operand.dtype.bytes
        self.const_rows[key] = max(self.const_rows.get(key, 0), elements)

    def state(self, state: State) -> KeptState:
        """What the network keeps, and where its new content is when a run ends."""
        shape = self.graph.type(state.value).shape
        return KeptState(state.name, self.operand(state.value), self.operand(state.next), shape, state.initial)

    def port(self, face: Interface) -> Port:
        """One input or output at the C interface."""
        kind, maker = self.graph.type(face.value), self.graph.producers.get(face.value)
        quant = face.meaning(kind)
        return Port(
            name=face.name,
            operand=self.operand(face.value),
            shape=kind.shape,
            dtype=kind.dtype,
            scale=quant.scale if quant else None,
            zero_point=quant.zero_point if quant else None,
            model_shape=face.model_shape,
            model_dtype=face.model_dtype,
            perm=face.perm,
            constant=maker is not None and all(self.graph.values[i].is_const for i in maker.inputs),
        )


def kernel_function(symbol: str, form: Form, view: NodeView, params: Params | None) -> KernelFn:
    """The function of a form."""
    return KernelFn(
        symbol=symbol,
        kernel=form.kernel,
        template=form.template,
        run=form.run,
        context=form.context,
        in_dtype=(view.ins[view.dynamic[0]] if view.dynamic else view.outs[0]).dtype,
        out_dtype=view.outs[0].dtype,
        outputs=len(view.outs),
        offsets=params.offsets if params else {},
        dtypes={f.name: f.ctype for f in params.fields} if params else {},
        sizes={f.name: f.size for f in params.fields} if params else {},
        abouts={f.name: f.about for f in params.fields} if params else {},
        headers=form.headers,
    )


def _rows_per_call(form: Form, inputs: tuple[RowInput, ...], outputs: tuple[Operand, ...], *, plain: bool) -> int:
    """Output rows that one call makes: in a plain layer as many as the kernel takes where memory is one run."""
    rows = outputs[0].rows
    if form.by_channels:
        assert plain, "nothing runs between the rows of a call"
        assert rows % form.rows == 0, "calls make equal numbers of rows"
        return form.rows
    if form.run in ("whole", "accumulate"):
        return rows
    held = plain and outputs[0].ring == rows and all(i.operand.ring == i.operand.rows for i in inputs)
    if form.run == "rows":
        return even_blocks(rows, form.rows) if held else 1
    in_one_run = held and all(i.rule.is_same and i.operand.rows == rows for i in inputs)
    alone = len(inputs) == 1 and inputs[0].in_place  # else a block of pixels of several rows reads what it wrote over
    in_one_run = in_one_run and (alone or not any(_overlap(i.operand, outputs[0]) for i in inputs))
    return rows if form.run == "pixels" and in_one_run else 1


def even_blocks(rows: int, most: int) -> int:
    """The height of equal blocks of at most `most` rows, as few as can be."""
    return -(-rows // -(-rows // max(1, min(rows, most))))


def _overlap(a: Operand, b: Operand) -> bool:
    """Whether two tensors share bytes."""
    return a.offset < b.offset + b.ring * b.row_bytes and b.offset < a.offset + a.ring * a.row_bytes


def traced(plan: Plan) -> tuple[TracedTensor, ...]:
    """The tensors that code writes, in the order they are written."""
    graph = plan.graph
    found: list[TracedTensor] = []
    for group in plan.groups:
        for index in group.nodes:
            for name in graph.nodes[index].outputs:
                value = graph.values[name]
                kind = value.type
                row_bytes = row_elements(kind.shape) * kind.dtype.bytes
                found.append(
                    TracedTensor(len(found), name, value.source, value.perm, kind.shape, kind.dtype, row_bytes)
                )
    return tuple(found)
