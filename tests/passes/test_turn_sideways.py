"""A network turned sideways gives the same numbers, and its Transposes are at its border."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from codegen.golden.interpreter import Stepper, run_graph
from codegen.ir.graph import Graph
from codegen.ir.quant import DType, Quant
from codegen.ir.shape import Window
from codegen.ops import (
    AveragePool2D,
    Conv2D,
    ConvTranspose2D,
    GlobalAveragePool,
    GlobalSum,
    MaxPool2D,
    Reshape,
    ResizeNearest,
    Transpose,
    make_requant,
)
from codegen.passes import is_wide, simplify, turn_sideways
from tests.random_networks.cases import draw_graph
from tests.support.graphs import Sketch, conv_chain, random_array, residual, spread_requant

SEEDS = range(900, 925)


def uneven(op: str) -> Graph:
    """One operator with another window along each axis, behind a convolution."""
    s = Sketch(op, seed=4)
    x = s.conv(s.input((1, 7, 23, 3)), 4)
    q = s.values[x].type.quant
    assert q is not None
    down, across = Window(3, 2, 1, 1, 0), Window(2, 3, 2, 0, 2)
    w = random_array(s.rng, (6, 3, 2, 4), DType.S8)
    b = s.rng.integers(-500, 500, 6).astype(np.int32)
    requant = spread_requant("single", w, DType.S8, q.zero_point)
    one = make_requant("single", 0.004, [1.0], Quant(1.0, 0), DType.S8)
    forms = {
        "conv": lambda: s.apply(Conv2D(down, across, 1, 0, requant, DType.S8, q), x, s.const(w), s.const(b)),
        "conv_transpose": lambda: s.apply(
            ConvTranspose2D(down, across, (1, 0), 1, 0, requant, DType.S8, q), x, s.const(w), s.const(b)
        ),
        "max": lambda: s.apply(MaxPool2D(down, replace(across, dilation=1)), x),
        "average": lambda: s.apply(
            AveragePool2D(down, replace(across, dilation=1), False, q, q, DType.S8, -128, 127, "single"), x
        ),
        "padded average": lambda: s.apply(
            AveragePool2D(down, replace(across, dilation=1), True, q, q, DType.S8, -128, 127, "tflite"), x
        ),
        "mean": lambda: s.apply(GlobalAveragePool(q, q, DType.S8, -128, 127, "single"), x),
        "sum": lambda: s.apply(GlobalSum(0, one, DType.S8, q), x),
        "resize": lambda: s.apply(ResizeNearest((0, 2, 2, 5), tuple(range(0, 23, 2))), x),
    }
    return s.graph(forms[op]())


OPERATORS = ("conv", "conv_transpose", "max", "average", "padded average", "mean", "sum", "resize")


def same(graph: Graph, turned: Graph, seed: int) -> bool:
    """Outputs of two runs, one after the other."""
    return all(a == b for a, b in zip(outputs(graph, seed), outputs(turned, seed), strict=True))


def outputs(graph: Graph, seed: int) -> list[bytes]:
    rng, stepper, found = np.random.default_rng(seed), Stepper(graph), []
    for _ in range(2):
        feeds = {f.value: random_array(rng, graph.type(f.value).shape, graph.type(f.value).dtype) for f in graph.inputs}
        values = stepper.run(feeds)
        found += [values[face.value].tobytes() for face in graph.outputs]
    return found


@pytest.mark.parametrize("op", OPERATORS)
def test_an_operator_gives_the_same_on_columns(op: str) -> None:
    graph = uneven(op)
    turned = turn_sideways(graph)
    assert len(turned.nodes) == 3 * len(graph.nodes)
    assert all(len(set(data)) > 1 for data in outputs(graph, 1))
    assert same(graph, turned, 1)
    done = simplify(turned)
    assert same(graph, done, 2)
    assert sum(isinstance(node.op, Transpose) for node in done.nodes) <= 2


@pytest.mark.parametrize("seed", SEEDS)
def test_random_networks_give_the_same_on_columns(seed: int) -> None:
    """With every other operator between those that turn."""
    graph = draw_graph(seed).finished()
    assert same(graph, simplify(turn_sideways(graph)), seed)


def signal(steps: int, channels: int = 8) -> Graph:
    """An image of one row."""
    s = Sketch("signal", seed=6)
    x = s.input((1, 1, steps, channels))
    for _ in range(3):
        x = s.conv(x, 16, 3)
    q = s.values[x].type.quant
    assert q is not None
    x = s.apply(GlobalAveragePool(q, q, DType.S8, -128, 127, "single"), x)
    return s.graph(s.dense(s.apply(Reshape((1, 16)), x), 4))


def test_a_signal_is_turned_without_moving_a_byte() -> None:
    turned = simplify(turn_sideways(signal(60)))
    assert not any(isinstance(node.op, Transpose) for node in turned.nodes)
    assert [turned.type(n.outputs[0]).shape[1] for n in turned.nodes if isinstance(n.op, Conv2D)] == [60] * 3
    assert same(signal(60), turned, 3)


def test_tensors_keep_the_models_names() -> None:
    """Each convolution's result is found under its name, in the layout that `perm` tells."""
    graph = signal(20)
    turned = simplify(turn_sideways(graph))
    rng = np.random.default_rng(0)
    feeds = {"x": random_array(rng, (1, 1, 20, 8), DType.S8)}
    before, after = run_graph(graph, feeds), run_graph(turned, feeds)
    named = {v.source: v for v in turned.values.values() if v.source and not v.is_const}
    for node in graph.nodes:
        value = named[node.outputs[0]]
        stored = before[node.outputs[0]]
        assert np.array_equal(after[value.name], stored if value.perm is None else stored.transpose(value.perm))


def test_only_wide_images_are_worth_a_try() -> None:
    assert is_wide(signal(60))
    assert is_wide(uneven("conv"))
    assert not is_wide(simplify(turn_sideways(signal(60))))
    assert not is_wide(conv_chain())
    assert not is_wide(residual())
    s = Sketch("flat")
    flat = s.graph(s.dense(s.input((1, 8)), 4))
    assert not is_wide(flat)
    assert turn_sideways(flat) is flat
