"""An input that is renamed, or read as a whole, before any operator takes rows of it cannot be streamed."""

from __future__ import annotations

import pytest

from codegen.errors import StreamImpossible
from codegen.ir.graph import Graph
from codegen.ops import Reshape, Transpose
from codegen.pipeline import Options, compile_graph
from codegen.target import load_target
from tests.support.graphs import Sketch


def renamed() -> Graph:
    sketch = Sketch("renamed")
    x = sketch.apply(Reshape((1, 6, 8, 4)), sketch.input((1, 8, 6, 4)))
    return sketch.graph(sketch.conv(x, 4))


def turned() -> Graph:
    sketch = Sketch("turned")
    x = sketch.apply(Transpose((0, 2, 1, 3)), sketch.input((1, 8, 6, 4)))
    return sketch.graph(sketch.conv(x, 4))


@pytest.mark.parametrize("make", [renamed, turned])
def test_such_an_input_is_refused_when_streamed(make: object) -> None:
    assert callable(make)
    target = load_target("host")
    with pytest.raises(StreamImpossible):
        compile_graph(make(), target, Options(stream_input=True))
    assert compile_graph(make(), target, Options()).plan.arena_bytes > 0
