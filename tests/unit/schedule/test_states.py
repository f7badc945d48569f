"""Where states live: renewed in place when nothing reads the old content any more, and never under anything else."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pytest

from codegen.ir.graph import Graph
from codegen.ir.plan import Plan
from codegen.ir.quant import DType
from codegen.ir.shape import Window
from codegen.ir.verify import IrError, verify_plan, verify_program
from codegen.kernels import select_kernels
from codegen.lower import lower
from codegen.ops import Add, Broadcast, Clamp, Concat, MaxPool2D, Slice
from codegen.options import GOALS
from codegen.pipeline import Options, compile_graph
from codegen.planning import make_plan
from codegen.prove import shadow_run
from codegen.target import load_target
from tests.support.graphs import HALF, Sketch, keeping

SHAPE = (1, 8, 4, 2)
ZEROS = np.zeros(SHAPE, np.int8)
HOST = load_target("host")
ADD = Add(HALF, HALF, HALF, DType.S8, -128, 127, "single")


def sketch() -> tuple[Sketch, str, str]:
    s = Sketch("states")
    return s, s.input(SHAPE), s.state(ZEROS)


def running_sum() -> Graph:
    """The only reader adds to it, element by element."""
    s, x, kept = sketch()
    y = s.apply(ADD, kept, x)
    s.becomes(kept, y)
    return s.graph(s.apply(Clamp(-9, 9), y))


def read_before() -> Graph:
    """Somebody reads it before its new content is made."""
    s, x, kept = sketch()
    y = s.apply(ADD, s.apply(Clamp(-50, 50), kept), x)
    s.becomes(kept, s.apply(Clamp(-9, 9), y))
    return s.graph(s.apply(MaxPool2D(Window(2, 2), Window(2, 2)), y))


def read_afterwards() -> Graph:
    """Its new content is there before the old one is read."""
    s, x, kept = sketch()
    y = s.apply(Clamp(-9, 9), x)
    s.becomes(kept, y)
    return s.graph(s.apply(ADD, y, kept))


def turned_over() -> Graph:
    """Its maker reads it in another order than it writes."""
    s, x, kept = sketch()
    y = s.apply(ADD, s.apply(Slice((0, 7, 0, 0), SHAPE, (1, -1, 1, 1)), kept), x)
    s.becomes(kept, s.apply(Slice((0, 7, 0, 0), SHAPE, (1, -1, 1, 1)), kept))
    return s.graph(y)


def seen_at_the_end() -> Graph:
    """Two states trade places."""
    s, x, kept = sketch()
    other = s.state(ZEROS, name="other")
    s.becomes(kept, s.apply(Broadcast(SHAPE), other))
    s.becomes(other, s.apply(ADD, kept, x))
    return s.graph(s.apply(ADD, kept, other))


def made_over_rows() -> Graph:
    """Its maker's input lies in the rows that are made of it, which are the old content's."""
    s = Sketch("rows")
    x, kept = s.input((1, 24, 8, 4)), s.state(np.zeros((1, 24, 8, 16), np.int8))
    y = s.apply(MaxPool2D(Window(2, 2), Window(2, 2)), kept)
    s.becomes(kept, s.conv(s.conv(s.conv(x, 32), 16), 16, 1))
    return s.graph(y)


def test_rows_that_lie_in_a_renewed_state_s_are_its_own() -> None:
    target = load_target("cortex-m4")
    made = compile_graph(made_over_rows(), target, Options(goal="memory")).plan
    before, after = made.graph.nodes[-1].inputs[0], made.graph.states[0]
    assert made.storage[after.value].offset == made.storage[after.next].offset == made.storage[before].offset


def plan_of(graph: Graph, **options: object) -> Plan:
    return make_plan(graph, select_kernels(graph, HOST.isa), HOST, Options(**options))  # type: ignore[arg-type]


def in_place(plan: Plan) -> list[bool]:
    return [plan.storage[s.value].offset == plan.storage[s.next].offset for s in plan.graph.states]


@pytest.mark.parametrize(
    ("make", "expected"),
    [
        (running_sum, [True]),
        (read_before, [True]),
        (read_afterwards, [False]),
        (turned_over, [False]),
        (seen_at_the_end, [False, False]),
        (keeping, [True, False, True]),
    ],
)
def test_a_state_is_renewed_in_place_where_that_is_safe(make: Callable[[], Graph], expected: list[bool]) -> None:
    assert in_place(plan_of(make())) == expected


@pytest.mark.parametrize("make", [running_sum, read_before, read_afterwards, turned_over, seen_at_the_end, keeping])
@pytest.mark.parametrize("goal", GOALS)
def test_every_plan_is_sound_and_no_state_shares_its_bytes(make: Callable[[], Graph], goal: str) -> None:
    plan = plan_of(make(), goal=goal)
    assert refusal(plan) is None
    for state in plan.graph.states:
        home = plan.storage[state.value]
        others = [p for n, p in plan.storage.items() if n not in (state.value, state.next)]
        assert all(p.offset + p.bytes <= home.offset or home.offset + home.bytes <= p.offset for p in others)


def refusal(plan: Plan) -> str | None:
    """Why the verifiers or the shadow run refuse a plan."""
    program = None
    try:
        verify_plan(plan)
        program = lower(plan, select_kernels(plan.graph, HOST.isa))
        verify_program(program)
        shadow_run(program)
    except IrError as error:
        return f"{'the plan' if program is None else 'the program'}: {error}"
    return None


def shadow_refuses(plan: Plan) -> bool:
    """Whether the shadow run alone finds it."""
    try:
        shadow_run(lower(plan, select_kernels(plan.graph, HOST.isa)))
    except IrError:
        return True
    return False


def moved(plan: Plan, name: str, offset: int) -> Plan:
    return replace(plan, storage={**plan.storage, name: replace(plan.storage[name], offset=offset)})


@pytest.mark.parametrize("make", [running_sum, read_afterwards, turned_over, seen_at_the_end])
def test_nothing_may_lie_in_a_state(make: Callable[[], Graph]) -> None:
    """Wherever a tensor is put over a state, both the verifier and the shadow run say so."""
    plan = plan_of(make(), goal="speed")
    for state in plan.graph.states:
        home = plan.storage[state.value].offset
        for name, place in plan.storage.items():
            if place.offset != home and name != state.next and place.bytes + home <= plan.arena_bytes:
                changed = moved(plan, name, home)
                assert refusal(changed) is not None, name
                assert shadow_refuses(changed), name


@pytest.mark.parametrize("make", [read_afterwards, turned_over, seen_at_the_end])
def test_new_content_may_not_be_written_over_what_is_still_read(make: Callable[[], Graph]) -> None:
    plan = plan_of(make(), goal="speed")
    for state in plan.graph.states:
        changed = moved(plan, state.next, plan.storage[state.value].offset)
        found = refusal(changed)
        assert found is not None
        assert found.startswith("the plan: ")
        assert shadow_refuses(changed)


def test_a_reader_and_what_overwrites_it_run_in_different_groups() -> None:
    """Rows of the concatenation would be read after rows of the state were written."""
    s = Sketch("rows")
    x, kept = s.input((1, 2, 16, 8)), s.state(np.zeros((1, 30, 16, 8), np.int8))
    rows = s.apply(Concat(1, (None, None), DType.S8, HALF), kept, x)
    small = s.apply(Clamp(-100, 100), rows)
    s.becomes(kept, s.apply(Slice((0, 2, 0, 0), (1, 30, 16, 8), (1, 1, 1, 1)), small))
    graph = s.graph(s.apply(MaxPool2D(Window(8, 8), Window(4, 4)), small))
    for goal in GOALS:
        plan = plan_of(graph, goal=goal)
        assert refusal(plan) is None
        for group in plan.groups:
            reads = {name for i in group.nodes for name in graph.nodes[i].inputs}
            writes = {name for i in group.nodes for name in graph.nodes[i].outputs}
            (state,) = graph.states
            assert not (in_place(plan) == [True] and state.value in reads and state.next in writes)
