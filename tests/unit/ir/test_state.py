"""States of a Graph: what a run reads of the one before, what keeps them alive, and what is refused."""

from dataclasses import replace

import numpy as np
import pytest

from codegen.golden.interpreter import Stepper, run_graph
from codegen.ir.graph import Graph
from codegen.ir.quant import Array, DType
from codegen.ir.text import graph_text
from codegen.ir.verify import IrError, verify_graph
from codegen.ops import Broadcast, Concat, Reshape, Slice
from codegen.passes import simplify
from codegen.passes.drop_dead import drop_dead
from tests.support.graphs import HALF, Sketch

FRAME = (1, 1, 1, 3)
START = np.arange(9, dtype=np.int8).reshape(1, 3, 1, 3)


def window(initial: Array = START) -> Graph:
    """The last four frames: what is kept of earlier ones, and the one that comes in."""
    s = Sketch("window")
    kept, x = s.state(initial), s.input(FRAME)
    frames = s.apply(Concat(1, (None, None), DType.S8, HALF), kept, x)
    s.becomes(kept, s.apply(Slice((0, 1, 0, 0), (1, 3, 1, 3), (1, 1, 1, 1)), frames))
    return s.graph(s.apply(Slice((0, 0, 0, 0), (1, 4, 1, 3), (1, 1, 1, 1)), frames))


def frames(count: int) -> Array:
    return np.random.default_rng(count).integers(-128, 128, (count, *FRAME)).astype(np.int8)


@pytest.mark.parametrize("passes", [False, True])
def test_steps_see_what_came_before(passes: bool) -> None:
    graph = simplify(window()) if passes else window()
    (out,) = graph.outputs
    stepper, x = Stepper(graph), frames(6)
    for _ in range(2):
        seen = START
        for frame in x:
            seen = np.concatenate([seen, frame], axis=1)
            assert np.array_equal(stepper.run({"x": frame})[out.value], seen[:, -4:])
        stepper.reset()


def test_one_run_begins_as_after_a_reset() -> None:
    graph, x = window(), frames(1)[0]
    (out,) = graph.outputs
    for _ in range(2):
        assert np.array_equal(run_graph(graph, {"x": x})[out.value], np.concatenate([START, x], axis=1))


def test_a_state_that_no_output_feels_goes_with_what_feeds_it() -> None:
    s = Sketch()
    idle, used, x = s.state(START, name="idle"), s.state(START, name="used"), s.input((1, 3, 1, 3))
    s.becomes(idle, s.apply(Broadcast((1, 3, 1, 3)), s.apply(Reshape((1, 3, 1, 3)), idle)))
    s.becomes(used, s.apply(Broadcast((1, 3, 1, 3)), x))
    graph = drop_dead(s.graph(s.apply(Broadcast((1, 3, 1, 3)), used)))
    assert [state.name for state in graph.states] == ["used"]
    assert len(graph.nodes) == 2
    assert "idle" not in graph.values


def test_a_state_that_only_another_one_reads_stays() -> None:
    s = Sketch()
    first, second, x = s.state(START, name="first"), s.state(START, name="second"), s.input((1, 3, 1, 3))
    s.becomes(first, s.apply(Broadcast((1, 3, 1, 3)), x))
    s.becomes(second, s.apply(Broadcast((1, 3, 1, 3)), first))
    graph = simplify(s.graph(s.apply(Broadcast((1, 3, 1, 3)), second)))
    assert [state.name for state in graph.states] == ["first", "second"]


def test_what_a_reshape_would_hand_out_of_a_state_is_copied() -> None:
    s = Sketch()
    first, second, x = s.state(START, name="first"), s.state(START, name="second"), s.input((1, 3, 1, 3))
    s.becomes(first, s.apply(Broadcast((1, 3, 1, 3)), x))
    s.becomes(second, s.apply(Reshape((1, 3, 1, 3)), s.apply(Reshape((9,)), first)))
    graph = simplify(s.graph(s.apply(Reshape((3, 3)), second), s.apply(Reshape((9,)), x)))
    assert sum(isinstance(node.op, Broadcast) for node in graph.nodes) == 3
    assert simplify(graph) is graph


def test_the_text_says_what_is_kept() -> None:
    assert "  state s: s8[1, 3, 1, 3] 0.5 @ 0 becomes slice1, initial crc" in graph_text(window())


def broken() -> dict[str, Graph]:
    """Graphs whose states break a rule, by what is said of them."""
    graph = window()
    (state,) = graph.states
    out = graph.outputs[0]
    alike = replace(graph, states=(state, replace(state, value="x")), inputs=())
    twice = replace(alike, states=(state, replace(state, name="again", value="x")))
    return {
        "state names used twice": alike,
        "which no node writes": replace(graph, states=(replace(state, next="x"),)),
        r"becomes s8\[1, 4, 1, 3\]": replace(graph, states=(replace(state, next=out.value),)),
        "begins as int16": replace(graph, states=(replace(state, initial=START.astype(np.int16)),)),
        "is a constant, or an input twice": replace(graph, states=(replace(state, value="x"),)),
        "which its new content would overwrite": replace(graph, outputs=(replace(out, value=state.value),)),
        "what states become: names used twice": twice,
    }


@pytest.mark.parametrize("message", broken())
def test_broken_states_are_found(message: str) -> None:
    with pytest.raises(IrError, match=message):
        verify_graph(broken()[message])
