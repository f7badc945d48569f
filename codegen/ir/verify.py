"""The invariants of Graph, Plan and Program.  Breaking one is the compiler's own bug, hence IrError and no id.

What a user's model may break (types that do not fit, limits of operators) is refused earlier, with an id.  Whether a
plan's rings are high enough, and rows shared at a safe distance, is proved by the shadow run of the Program.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field
from itertools import combinations

from codegen.errors import CompileError
from codegen.ir.graph import Graph, Node, State
from codegen.ir.plan import Plan, Storage, is_given, region_at
from codegen.ir.producer import Step
from codegen.ir.program import Call, GroupProgram, Operand, Program
from codegen.ir.shape import row_count, row_elements
from codegen.ir.text import type_text
from codegen.ir.weights import Params


class IrError(AssertionError):
    """An invariant of an intermediate form does not hold."""


def _hold(condition: bool, message: str) -> None:
    if not condition:
        raise IrError(message)


# Graph


def verify_graph(graph: Graph) -> None:
    """Return when names are unique, each value has one maker before its users, and declared types are inferred ones.

    Raises:
        IrError: otherwise.
    """
    for name, value in graph.values.items():
        _hold(value.name == name, f"value {value.name!r} is stored as {name!r}")
        if value.data is not None:
            fits = value.data.shape == value.type.shape and value.data.dtype == value.type.dtype.numpy
            _hold(fits, f"constant {name!r} is {value.data.dtype}{value.data.shape}, declared {type_text(value.type)}")
    _unique("node", (node.name for node in graph.nodes))
    _unique("input", (face.name for face in graph.inputs))
    _unique("output", (face.name for face in graph.outputs))
    known = _sources(graph)
    for node in graph.nodes:
        for name in node.inputs:
            _hold(name in known, f"node {node.name!r} reads {name!r} before it is made")
        for name in node.outputs:
            _hold(name in graph.values, f"node {node.name!r} writes {name!r}, which is no value")
            _hold(name not in known, f"value {name!r} is made twice")
            known.add(name)
        _verify_types(graph, node)
    unmade = [name for name in graph.values if name not in known]
    _hold(not unmade, f"values that nothing makes: {unmade}")
    for face in graph.outputs:
        _hold(face.value in known, f"output {face.name!r} is {face.value!r}, which is no value")
    _verify_states(graph)


def _unique(what: str, names: Iterable[str]) -> None:
    twice = [name for name, count in Counter(names).items() if count > 1]
    _hold(not twice, f"{what} names used twice: {twice}")


def _sources(graph: Graph) -> set[str]:
    """Constants, inputs and states."""
    known = {name for name, value in graph.values.items() if value.is_const}
    named = [("input", face.name, face.value) for face in graph.inputs]
    named += [("state", state.name, state.value) for state in graph.states]
    for what, name, value in named:
        _hold(value in graph.values, f"{what} {name!r} is {value!r}, which is no value")
        _hold(value not in known, f"{what} {name!r} is a constant, or an input twice")
        known.add(value)
    return known


def _verify_states(graph: Graph) -> None:
    """What states become is written by nodes, each value for one of them, and fits; no state is an output itself."""
    given_out = {face.value for face in graph.outputs}
    _unique("state", (state.name for state in graph.states))
    _unique("what states become:", (state.next for state in graph.states))
    for state in graph.states:
        name = state.name
        _hold(state.value not in given_out, f"state {name!r} is an output, which its new content would overwrite")
        _hold(state.next in graph.producers, f"state {name!r} becomes {state.next!r}, which no node writes")
        now, then = graph.type(state.value), graph.type(state.next)
        fits = (now.shape, now.dtype) == (then.shape, then.dtype)
        _hold(fits, f"state {name!r} is {type_text(now)} and becomes {type_text(then)}")
        fits = (state.initial.shape, state.initial.dtype) == (now.shape, now.dtype.numpy)
        _hold(fits, f"state {name!r} begins as {state.initial.dtype}{state.initial.shape}")


def _verify_types(graph: Graph, node: Node) -> None:
    declared = tuple(graph.type(name) for name in node.outputs)
    try:
        inferred = node.op.infer(tuple(graph.type(name) for name in node.inputs))
    except CompileError as error:
        raise IrError(f"node {node.name!r}: {error}") from error
    made, said = (", ".join(map(type_text, kinds)) for kinds in (inferred, declared))
    _hold(inferred == declared, f"node {node.name!r} makes {made}, declared {said}")


# Plan


def verify_plan(plan: Plan) -> None:
    """Return when every node runs once and in order, every tensor has a place, and no two live ones share bytes.

    Sharing is allowed between a view and its source, between the input and the output of an operator that runs in
    place, between a state and what it becomes once all have read it, and between a tensor that dies in a group and one
    that the group leaves behind.  Addresses of the scratchpad regime are proved by the shadow run alone.

    Raises:
        IrError: otherwise.
    """
    verify_graph(plan.graph)
    _verify_order(plan)
    computed = {name for name, value in plan.graph.values.items() if not value.is_const}
    _hold(set(plan.storage) == computed, f"places without tensors, or tensors without: {set(plan.storage) ^ computed}")
    _verify_regions(plan)
    if plan.scratchpad is not None:
        return
    live = _Liveness.of(plan)
    for name, place in plan.storage.items():
        _verify_place(plan, name, place)
        if live.first[name] != live.last[name] and name != plan.streamed:
            _hold(place.ring == place.rows, f"{name!r} outlives its group but is a ring of {place.ring} rows")
    _verify_whole_reads(plan)
    _verify_scratch(plan, live)
    extents = {name: _extent(plan.storage[name]) for name in sorted(plan.storage)}
    for (a, one), (b, other) in combinations(extents.items(), 2):
        if _overlap(one, other) and live.together(a, b):
            _hold(live.may_share(a, b), f"{a!r} and {b!r} are live together and share bytes")


def _verify_order(plan: Plan) -> None:
    graph = plan.graph
    order = [index for group in plan.groups for index in group.nodes]
    expected = [index for index in range(len(graph.nodes)) if index not in plan.views]
    _hold(sorted(order) == expected, "each node that is no view belongs to one group")
    _hold(all(group.nodes for group in plan.groups), "a group has at least one node")
    step = {index: position for position, index in enumerate(order)}
    makers = {name: index for index, node in enumerate(graph.nodes) for name in node.outputs}
    ready = {index: step[index] for index in order}
    for index, node in enumerate(graph.nodes):
        before = max((ready[makers[name]] for name in node.inputs if name in makers), default=-1)
        ready.setdefault(index, before)
        _hold(index in plan.views or before < step[index], f"node {node.name!r} runs before its inputs are made")


def _verify_place(plan: Plan, name: str, place: Storage) -> None:
    kind = plan.graph.type(name)
    _hold(place.rows == row_count(kind.shape), f"{name!r} is stored with {place.rows} rows")
    _hold(place.row_bytes == row_elements(kind.shape) * kind.dtype.bytes, f"{name!r} has rows of {place.row_bytes} B")
    _hold(1 <= place.ring <= place.rows, f"{name!r} has a ring of {place.ring} of {place.rows} rows")
    _hold(place.offset % kind.dtype.bytes == 0, f"{name!r} lies unaligned at {place.offset}")
    inside = _inside(plan, *_extent(place))
    _hold(inside, f"{name!r} at {place.offset} leaves the arena of {plan.arena_bytes} B")


def _verify_whole_reads(plan: Plan) -> None:
    """Views, and inputs of which every row is read at once, are held whole."""
    for index, node in enumerate(plan.graph.nodes):
        view = plan.graph.view(node)
        for i in view.dynamic:
            place = plan.storage[node.inputs[i]]
            whole = index in plan.views or node.op.rows(i, view.ins, view.outs).whole
            _hold(not whole or place.ring == place.rows, f"{node.name!r} reads all of {node.inputs[i]!r}, a ring")
        if index in plan.views:
            source, made = plan.storage[node.inputs[0]], plan.storage[node.outputs[0]]
            _hold(_extent(source) == _extent(made), f"view {node.name!r} is not where its source is")


def _verify_scratch(plan: Plan, live: _Liveness) -> None:
    group_of = {index: g for g, group in enumerate(plan.groups) for index in group.nodes}
    in_use: list[list[str]] = [[] for _ in plan.groups]
    for name in plan.storage:
        for group in range(max(live.first[name], 0), min(live.last[name], len(plan.groups) - 1) + 1):
            in_use[group].append(name)
    for index, offset in plan.scratch.items():
        extent = (offset, offset + plan.scratch_bytes[index])
        _hold(_inside(plan, *extent), f"scratch of node {index} leaves the arena")
        for name in in_use[group_of[index]]:
            _hold(not _overlap(extent, _extent(plan.storage[name])), f"scratch of node {index} lies in {name!r}")


def _inside(form: Plan | Program, start: int, stop: int) -> bool:
    """Whether the offsets lie in the arena, or in one region beside it."""
    region = region_at(form.regions, start)
    return start >= 0 and stop <= (region.stop if region else form.arena_bytes)


def _verify_regions(form: Plan | Program) -> None:
    """Regions come one behind the other, each where the arena could begin too."""
    end = form.arena_bytes
    for region in form.regions:
        aligned = region.start % form.arena_align == 0
        _hold(region.start >= end and aligned, f"region {region.memory!r} begins at {region.start}")
        end = region.stop
    _unique("region", (region.memory for region in form.regions))


def _verify_given(program: Program) -> None:
    """Memory that is the caller's is only read."""
    calls = [call for group in program.groups for call in group.calls]
    written = {out.value: out.offset for call in calls for out in call.outputs}
    written |= {f"scratch of {c.node.name}": c.scratch_offset for c in calls if c.scratch_offset is not None}
    written |= {f"state {s.name}": s.operand.offset for s in program.states}
    for what, offset in written.items():
        _hold(not is_given(program.regions, offset), f"{what} is written into memory that is the caller's")


def _extent(place: Storage) -> tuple[int, int]:
    return place.offset, place.offset + place.bytes


def _overlap(a: tuple[int, int], b: tuple[int, int]) -> bool:
    return a[0] < b[1] and b[0] < a[1]


@dataclass(slots=True)
class _Liveness:
    """Groups from first write to last read of each value (-1 before the first group), and who may share memory.

    `first` and `last` of a value cover its views; `owner` is the set of values that hold one memory in turn.
    """

    plan: Plan
    first: dict[str, int] = field(default_factory=dict)
    last: dict[str, int] = field(default_factory=dict)
    alias: dict[str, str] = field(default_factory=dict)
    owner: dict[str, str] = field(default_factory=dict)

    @staticmethod
    def of(plan: Plan) -> _Liveness:
        live = _Liveness(plan)
        for name in plan.storage:
            live.alias[name] = name
        for index in sorted(plan.views):
            node = plan.graph.nodes[index]
            live.alias[node.outputs[0]] = live.alias[node.inputs[0]]
        live._measure()
        live.owner.update(live.alias)
        for g, group in enumerate(plan.groups):
            for index in group.nodes:
                live._join_in_place(g, index)
        for state in plan.graph.states:
            live._join_state(state)
        return live

    def _measure(self) -> None:
        graph = self.plan.graph
        roots_first = {self.alias[name]: -1 for name in graph.source_values}
        roots_last = dict(roots_first)
        for g, group in enumerate(self.plan.groups):
            for index in group.nodes:
                node = graph.nodes[index]
                for name in node.outputs:
                    roots_first.setdefault(self.alias[name], g)
                for name in (*node.inputs, *node.outputs):
                    if name in self.alias:
                        roots_last[self.alias[name]] = g
        for name in (*graph.output_values, *(state.value for state in graph.states)):
            if name in self.alias:
                roots_last[self.alias[name]] = len(self.plan.groups)
        self.first.update({name: roots_first[root] for name, root in self.alias.items()})
        self.last.update({name: roots_last[root] for name, root in self.alias.items()})

    def _join_in_place(self, g: int, index: int) -> None:
        """Give the output the owner of the input that it overwrites, when that input is read by nothing else then."""
        node = self.plan.graph.nodes[index]
        view = self.plan.graph.view(node)
        for i in view.dynamic:
            x, y = node.inputs[i], node.outputs[0]
            place = self.plan.storage[x]
            if place.offset != self.plan.storage[y].offset or place.bytes != self.plan.storage[y].bytes:
                continue
            alone = len(node.outputs) == 1 and self._sole_reader(x, g, index)
            in_place = index in self.plan.in_place or node.op.in_place(i, view.ins, view.outs)
            if in_place and self.last[x] == g and alone:
                self.owner[self.alias[y]] = self._owner(x)

    def _join_state(self, state: State) -> None:
        """Give the new content the old one's owner when it lies there and nothing reads the old one from then on."""
        old, new = self.plan.storage[state.value], self.plan.storage[state.next]
        home, made = self.alias[state.value], self.alias[state.next]
        if (old.offset, old.bytes) != (new.offset, new.bytes) or self._outlives(home):
            return
        born = self.first[state.next]
        readers = [(g, i) for g, group in enumerate(self.plan.groups) for i in group.nodes if self._reads(i, home)]
        if all(self._renews(i, home, made) for g, i in readers if g >= born):
            self.owner[self._owner(made)] = self._owner(home)

    def _renews(self, index: int, home: str, made: str) -> bool:
        """Whether the node makes the new content, and reads each element of the old one before it writes it."""
        node = self.plan.graph.nodes[index]
        view = self.plan.graph.view(node)
        places = [i for i in view.dynamic if self.alias[node.inputs[i]] == home]
        in_place = all(node.op.in_place(i, view.ins, view.outs) for i in places)
        return in_place and made in map(self.alias.get, node.outputs)

    def _outlives(self, root: str) -> bool:
        """Whether the memory is read when the run has ended."""
        return any(self.alias.get(name) == root for name in self.plan.graph.output_values)

    def _reads(self, index: int, root: str) -> bool:
        return root in map(self.alias.get, self.plan.graph.nodes[index].inputs)

    def _sole_reader(self, x: str, g: int, index: int) -> bool:
        """Whether no other node of the group reads x or a view of it, and the node reads it once."""
        reads = [
            other
            for other in self.plan.groups[g].nodes
            for name in self.plan.graph.nodes[other].inputs
            if self.alias.get(name) == self.alias[x]
        ]
        return reads == [index]

    def _owner(self, name: str) -> str:
        root = self.alias[name]
        while self.owner[root] != root:
            root = self.owner[root]
        return root

    def together(self, a: str, b: str) -> bool:
        """Whether both hold their numbers in one group."""
        return self.first[a] <= self.last[b] and self.first[b] <= self.last[a]

    def may_share(self, a: str, b: str) -> bool:
        """Whether both may share bytes although they are live together."""
        return self._owner(a) == self._owner(b) or self._hands_over(a, b) or self._hands_over(b, a)

    def _hands_over(self, a: str, b: str) -> bool:
        """Whether a comes into the group in which it dies, and b is made there and left behind, or becomes what is."""
        left = max(last for name, last in self.last.items() if self._owner(name) == self._owner(b))
        return self.first[a] < self.last[a] == self.first[b] < left


# Program


def _may_run_backwards(group: GroupProgram) -> bool:
    """Whether it is one layer that makes its rows in several calls."""
    (call, *others) = group.calls
    return not others and not group.pulled and call.fn.run in ("row", "rows") and call.steps > 1 and not call.slices


def verify_program(program: Program) -> None:
    """Return when every operand, parameter and scratch block lies inside its memory, aligned, and makers come first.

    Raises:
        IrError: otherwise.
    """
    _unique("function", (fn.symbol for fn in program.functions))
    _unique("port", (port.name for port in (*program.inputs, *program.outputs)))
    _verify_regions(program)
    for port in (*program.inputs, *program.outputs):
        _verify_operand(program, port.operand)
    _verify_given(program)
    for state in program.states:
        _verify_operand(program, state.operand)
        _verify_operand(program, state.renewed)
        whole = all(o.ring == o.rows for o in (state.operand, state.renewed))
        _hold(whole, f"state {state.name!r} is a ring")
    known = {id(fn) for fn in program.functions}
    if program.scratchpad is not None:
        _verify_params(program)
        return
    for group in program.groups:
        _hold(len(group.calls) > 0, "a group has at least one call")
        _hold(not group.backwards or _may_run_backwards(group), f"{group.calls[0].node.name!r} cannot run backwards")
        for position, call in enumerate(group.calls):
            _hold(id(call.fn) in known, f"call {call.node.name!r} uses a function that is not emitted")
            _verify_call(program, group.calls[:position], call)
    _verify_params(program)
    for position, tensor in enumerate(program.tensors):
        _hold(tensor.index == position, f"traced tensor {tensor.value!r} is number {tensor.index} at {position}")


def _verify_call(program: Program, before: tuple[Call, ...], call: Call) -> None:
    name = call.node.name
    for item in call.inputs:
        _verify_operand(program, item.operand)
        if isinstance(item.producer, Step):
            at, value = item.producer.call, item.operand.value
            _hold(0 <= at < len(before), f"call {name!r} is made before its input {value!r}")
            made = [operand.value for operand in before[at].outputs]
            _hold(value in made, f"call {name!r} names a producer that does not make {value!r}")
    _hold(len(call.outputs) == len(call.node.outs), f"call {name!r} has {len(call.outputs)} outputs")
    for operand in call.outputs:
        _verify_operand(program, operand)
    _hold(1 <= call.rows_per_call <= call.outputs[0].rows, f"call {name!r} makes {call.rows_per_call} rows at a time")
    scratch = call.scratch_offset
    _hold(scratch is None or _inside(program, scratch, scratch), f"scratch of call {name!r} leaves the arena")


def _verify_operand(program: Program, operand: Operand) -> None:
    inside = _inside(program, operand.offset, operand.offset + operand.ring * operand.row_bytes)
    _hold(inside, f"operand {operand.value!r} leaves the arena")
    _hold(1 <= operand.ring <= operand.rows, f"operand {operand.value!r} has a ring of {operand.ring} rows")
    aligned = operand.offset % operand.dtype.bytes == 0 == operand.row_bytes % operand.dtype.bytes
    _hold(aligned, f"operand {operand.value!r} lies unaligned at {operand.offset}")


def _verify_params(program: Program) -> None:
    end = 0
    for params in sorted(program.params, key=lambda p: p.offset):
        _hold(params.offset >= end, f"parameters of {params.name!r} overlap those before them")
        end = params.offset + params.bytes
        _verify_fields(params)
    for params in program.mapped:
        _verify_fields(params)
    _hold(end <= program.params_bytes, f"parameters end at {end}, the section at {program.params_bytes}")


def _verify_fields(params: Params) -> None:
    for item in params.fields:
        offset, size = params.offsets[item.name], item.values.itemsize
        _hold((params.offset + offset) % size == 0, f"field {item.name!r} of {params.name!r} lies unaligned")
        _hold(0 <= offset <= offset + item.values.nbytes <= params.bytes, f"field {item.name!r} leaves {params.name!r}")
