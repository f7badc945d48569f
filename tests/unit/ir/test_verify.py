from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pytest

from codegen.ir.form import Field
from codegen.ir.graph import Graph, Interface, Node, Value
from codegen.ir.op import RowRule
from codegen.ir.plan import Group, Plan, Storage
from codegen.ir.producer import READY, Producer, Step
from codegen.ir.program import Call, GroupProgram, KernelFn, Operand, Port, Program, RowInput
from codegen.ir.quant import DType, Quant, TensorType
from codegen.ir.verify import IrError, verify_graph, verify_plan, verify_program
from codegen.ir.weights import Params
from codegen.kernels import kernel_needs, select_kernels
from codegen.ops import Clamp, Reshape
from codegen.schedule import schedule
from tests.support.graphs import Sketch, apart, conv_chain, residual


def renamed(graph: Graph, position: int, **changes: object) -> Graph:
    """The graph with one node changed."""
    nodes = list(graph.nodes)
    nodes[position] = replace(nodes[position], **changes)  # type: ignore[arg-type]
    return replace(graph, nodes=tuple(nodes))


def revalued(graph: Graph, name: str, value: Value | None) -> Graph:
    """The graph with one value changed or taken away."""
    values = {n: v for n, v in graph.values.items() if n != name}
    if value is not None:
        values[name] = value
    return replace(graph, values=values)


def clamps(count: int = 3) -> Graph:
    """A chain of clamps, each of which may run in place."""
    s = Sketch("clamps")
    x = s.input((1, 4, 4, 2))
    for i in range(count):
        x = s.apply(Clamp(-100 + i, 100), x)
    return s.graph(x)


# Graph


def test_whole_graphs_pass() -> None:
    for graph in (conv_chain(), residual(), clamps()):
        verify_graph(graph)


G = residual()
BROKEN_GRAPHS: dict[str, Callable[[], Graph]] = {
    "node names used twice": lambda: renamed(G, 1, name=G.nodes[0].name),
    "before it is made": lambda: replace(G, nodes=G.nodes[::-1]),
    "is made twice": lambda: renamed(G, 1, outputs=G.nodes[0].outputs),
    "which is no value": lambda: replace(G, outputs=(Interface("nothing", "y", (1,), "int8"),)),
    "is a constant, or an input twice": lambda: replace(
        G, inputs=(*G.inputs, Interface(G.nodes[0].inputs[1], "w", (1,), "int8"))
    ),
    r"declared s8\[1, 9, 7, 5\]": lambda: revalued(
        G, G.nodes[-1].outputs[0], Value(G.nodes[-1].outputs[0], TensorType((1, 9, 7, 5), DType.S8, Quant(0.5)))
    ),
    "is stored as": lambda: revalued(G, "x", Value("z", G.type("x"))),
    "values that nothing makes": lambda: revalued(G, "stray", Value("stray", TensorType((1,), DType.S8))),
    "input names used twice": lambda: replace(G, inputs=(*G.inputs, *G.inputs)),
}


@pytest.mark.parametrize("message", BROKEN_GRAPHS)
def test_broken_graphs_are_found(message: str) -> None:
    with pytest.raises(IrError, match=message):
        verify_graph(BROKEN_GRAPHS[message]())


def test_constants_are_what_they_declare() -> None:
    name = G.nodes[0].inputs[1]
    value = G.values[name]
    assert value.data is not None
    with pytest.raises(IrError, match="constant"):
        verify_graph(revalued(G, name, replace(value, data=value.data.astype(np.int16))))


def test_inputs_that_do_not_fit_are_our_own_bug_by_then() -> None:
    with pytest.raises(IrError, match="LAM-OPS-001"):
        verify_graph(renamed(G, 0, inputs=(G.nodes[0].inputs[0], *G.nodes[1].inputs[:0:-1])))


# Plan


def placed(plan: Plan, **places: Storage) -> Plan:
    return replace(plan, storage={**plan.storage, **places})


def moved(plan: Plan, name: str, **changes: int) -> Plan:
    return placed(plan, **{name: replace(plan.storage[name], **changes)})


def test_plans_with_bytes_of_their_own_pass() -> None:
    for graph in (conv_chain(), residual(), clamps()):
        verify_plan(apart(graph))


def test_plans_of_the_scheduler_pass() -> None:
    for graph in (conv_chain(), residual(), clamps()):
        verify_plan(schedule(graph, kernel_needs(graph, select_kernels(graph, "c99")), arena_align=16))


def plan() -> Plan:
    return apart(G)


FIRST, SECOND, TOTAL, LAST = (node.outputs[0] for node in G.nodes)

BROKEN_PLANS: dict[str, Callable[[], Plan]] = {
    "belongs to one group": lambda: replace(plan(), groups=plan().groups[:-1]),
    "belongs to one group ": lambda: replace(plan(), groups=(*plan().groups, Group((0,)))),
    "has at least one node": lambda: replace(plan(), groups=(Group(()), *plan().groups)),
    "runs before its inputs": lambda: replace(plan(), groups=plan().groups[::-1]),
    "places without tensors": lambda: placed(plan(), stray=Storage(0, 1, 1, 1)),
    "is stored with": lambda: moved(plan(), FIRST, rows=8, ring=8),
    "has rows of": lambda: moved(plan(), FIRST, row_bytes=3),
    "outlives its group": lambda: moved(plan(), FIRST, ring=3),
    "leaves the arena": lambda: moved(plan(), FIRST, offset=plan().arena_bytes - 8),
    "leaves the arena ": lambda: moved(plan(), FIRST, offset=-8),
    "live together and share": lambda: moved(plan(), SECOND, offset=plan().storage[FIRST].offset),
    "live together and share ": lambda: moved(plan(), FIRST, offset=plan().storage[SECOND].offset + 7),
    "scratch of node 0 leaves": lambda: replace(plan(), scratch={0: plan().arena_bytes}, scratch_bytes={0: 1}),
    "scratch of node 0 lies in": lambda: replace(plan(), scratch={0: 4}, scratch_bytes={0: 8}),
}


@pytest.mark.parametrize("message", BROKEN_PLANS)
def test_broken_plans_are_found(message: str) -> None:
    with pytest.raises(IrError, match=message.strip()):
        verify_plan(BROKEN_PLANS[message]())


def test_unaligned_tensors_are_found() -> None:
    s = Sketch()
    graph = s.graph(s.apply(Clamp(0, 5), s.input((2, 3), DType.S32, None)))
    whole = apart(graph)
    with pytest.raises(IrError, match="unaligned"):
        verify_plan(replace(moved(whole, "x", offset=2), arena_bytes=100))


def test_a_tensor_may_follow_one_that_died() -> None:
    chain = clamps(4)
    whole = apart(chain)
    reused = moved(whole, chain.nodes[2].outputs[0], offset=whole.storage["x"].offset)
    verify_plan(reused)


def test_input_and_output_of_a_group_may_share() -> None:
    x, first = plan().storage["x"], plan().storage[FIRST]
    verify_plan(placed(plan(), **{FIRST: replace(first, offset=x.offset + 28)}))


def test_an_operator_in_place_may_share_within_its_group() -> None:
    chain = clamps(3)
    names = ["x", *(node.outputs[0] for node in chain.nodes)]
    one_group = replace(apart(chain), groups=(Group((0, 1, 2)),))
    stacked = placed(one_group, **{name: replace(one_group.storage[name], offset=0) for name in names})
    verify_plan(stacked)
    with pytest.raises(IrError, match="share bytes"):
        verify_plan(moved(stacked, names[1], offset=8))


def test_a_ring_is_enough_inside_a_group() -> None:
    grouped = replace(plan(), groups=(Group((0, 1, 2, 3)),))
    verify_plan(moved(grouped, SECOND, ring=1))
    with pytest.raises(IrError, match="ring of 0"):
        verify_plan(moved(grouped, SECOND, ring=0))


def test_an_overwritten_tensor_with_another_reader_is_found() -> None:
    """The sum reads FIRST again, so the second convolution may not take its place."""
    grouped = replace(plan(), groups=(Group((0, 1, 2, 3)),))
    with pytest.raises(IrError, match="share bytes"):
        verify_plan(moved(grouped, SECOND, offset=grouped.storage[FIRST].offset))


def test_an_operator_may_not_overwrite_what_is_read_again() -> None:
    s = Sketch()
    x = s.apply(Clamp(-100, 100), s.input((1, 4, 4, 2)))
    y = s.apply(Clamp(-50, 50), x)
    z = s.apply(Clamp(-20, 20), x)
    whole = apart(s.graph(y, z))
    with pytest.raises(IrError, match="share bytes"):
        verify_plan(moved(whole, y, offset=whole.storage[x].offset))
    verify_plan(moved(whole, z, offset=whole.storage[x].offset))
    grouped = replace(whole, groups=(Group((0,)), Group((1, 2))))
    with pytest.raises(IrError, match="share bytes"):
        verify_plan(moved(replace(grouped, graph=s.graph(z)), y, offset=whole.storage[x].offset))


def test_views_lie_where_their_source_lies() -> None:
    s = Sketch()
    graph = s.graph(s.apply(Reshape((1, 32)), s.apply(Clamp(0, 9), s.input((1, 4, 4, 2)))))
    source, view = graph.nodes[0].outputs[0], graph.nodes[1].outputs[0]
    whole = apart(graph)
    viewed = replace(whole, groups=whole.groups[:1], views=frozenset((1,)))
    with pytest.raises(IrError, match="is not where its source is"):
        verify_plan(viewed)
    verify_plan(moved(viewed, view, offset=whole.storage[source].offset))


# Program


def program() -> Program:
    """Two clamps, one function, parameters of 6 bytes."""
    graph = clamps(2)
    storage = apart(graph).storage
    operands = {n: Operand(n, p.offset, p.rows, p.ring, p.row_bytes, DType.S8, n) for n, p in storage.items()}
    fn = KernelFn("k0_clamp", "clamp", "clamp.c.j2", "pixels", None, DType.S8, DType.S8, 1, {}, {}, {}, {}, ())
    fields = (Field("b", np.zeros(1, np.int32)), Field("w", np.zeros(2, np.int8)))
    params = Params("clamp", 0, 6, fields, {"b": 0, "w": 4})

    def call(node: Node, producer: Producer) -> Call:
        ins = (RowInput(operands[node.inputs[0]], RowRule(), producer),)
        out = operands[node.outputs[0]]
        return Call(graph.view(node), fn, ins, (out,), params, None, 0, 1, 4, out.rows)

    def port(face: Interface) -> Port:
        shape = graph.type(face.value).shape
        return Port(face.name, operands[face.value], shape, DType.S8, 0.5, 0, shape, "int8", None)

    return Program(
        name="clamps",
        arena_bytes=96,
        arena_align=8,
        inputs=tuple(port(i) for i in graph.inputs),
        outputs=tuple(port(o) for o in graph.outputs),
        functions=(fn,),
        groups=(GroupProgram((call(graph.nodes[0], READY), call(graph.nodes[1], Step(0)))),),
        const_rows=(),
        params=(params,),
        params_bytes=6,
        tensors=(),
    )


def recalled(**changes: object) -> Program:
    """The program with its last call changed."""
    whole = program()
    first, last = whole.groups[0].calls
    return replace(whole, groups=(GroupProgram((first, replace(last, **changes))),))  # type: ignore[arg-type]


def reparams(**changes: object) -> Program:
    """The program with its parameters changed."""
    whole = program()
    return replace(whole, params=(replace(whole.params[0], **changes),))  # type: ignore[arg-type]


def last_input() -> RowInput:
    return program().groups[0].calls[1].inputs[0]


BROKEN_PROGRAMS: dict[str, Callable[[], Program]] = {
    "operand .* leaves the arena": lambda: replace(program(), arena_bytes=95),
    "uses a function that is not emitted": lambda: replace(program(), functions=()),
    "function names used twice": lambda: replace(program(), functions=program().functions * 2),
    "is made before its input": lambda: recalled(inputs=(replace(last_input(), producer=Step(1)),)),
    "does not make": lambda: recalled(inputs=(RowInput(program().inputs[0].operand, RowRule(), Step(0)),)),
    "has 0 outputs": lambda: recalled(outputs=()),
    "makes 5 rows": lambda: recalled(rows_per_call=5),
    "scratch of call": lambda: recalled(scratch_offset=97),
    "at least one call": lambda: replace(program(), groups=(GroupProgram(()),)),
    "field 'b' of 'clamp' lies unaligned": lambda: reparams(offset=2),
    "field 'w' leaves": lambda: reparams(bytes=5),
    "the section at 5": lambda: replace(program(), params_bytes=5),
    "overlap": lambda: replace(program(), params=program().params * 2),
}


def test_whole_programs_pass() -> None:
    verify_program(program())


@pytest.mark.parametrize("message", BROKEN_PROGRAMS)
def test_broken_programs_are_found(message: str) -> None:
    with pytest.raises(IrError, match=message):
        verify_program(BROKEN_PROGRAMS[message]())
