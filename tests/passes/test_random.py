"""Random networks: every pass keeps every number, and none moves more than before."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from codegen.ir.graph import Graph
from codegen.ir.quant import DType
from codegen.ops import Clamp, Concat, Gather, Pad, Reshape, Slice, Softmax, Transpose
from codegen.passes import PASSES, simplify
from codegen.passes.movement import MOVEMENT, moved_bytes
from tests.passes.build import Net, Q, assert_same

Draw = st.DataObject
Step = Callable[[Net, str, Draw], str]


def pick_value(net: Net, data: Draw, shape: tuple[int, ...] | None = None) -> str:
    found = [n for n, v in net.values.items() if not v.is_const and (shape is None or v.type.shape == shape)]
    return data.draw(st.sampled_from(found))


def transposed(net: Net, x: str, data: Draw) -> str:
    perm = data.draw(st.permutations(range(len(net.type(x).shape))))
    return net.op(Transpose(tuple(perm)), x)


def reshaped(net: Net, x: str, data: Draw) -> str:
    shape = list(net.type(x).shape)
    axis = data.draw(st.integers(0, len(shape) - 1))
    if len(shape) > 1 and data.draw(st.booleans()):
        axis = min(axis, len(shape) - 2)
        shape[axis : axis + 2] = [shape[axis] * shape[axis + 1]]
    else:
        left = data.draw(st.sampled_from([d for d in (1, 2, 3, shape[axis]) if shape[axis] % d == 0]))
        shape[axis : axis + 1] = [left, shape[axis] // left]
    return net.op(Reshape(tuple(shape)), x) if len(shape) <= 5 else x


def sliced(net: Net, x: str, data: Draw) -> str:
    starts, sizes, steps = [], [], []
    for n in net.type(x).shape:
        start = data.draw(st.sampled_from([0, 0, n - 1]))
        step = -1 if start else data.draw(st.sampled_from([1, 1, 2]))
        starts.append(start)
        steps.append(step)
        sizes.append(data.draw(st.sampled_from([n, (n + 1) // 2])) if abs(step) == 1 and n > 1 else (n + 1) // 2)
    return net.op(Slice(tuple(starts), tuple(sizes), tuple(steps)), x)


def gathered(net: Net, x: str, data: Draw) -> str:
    shape = net.type(x).shape
    axis = data.draw(st.integers(0, len(shape) - 1))
    return net.op(Gather(axis, tuple(data.draw(st.permutations(range(shape[axis]))))), x)


def joined(net: Net, x: str, data: Draw) -> str:
    shape = net.type(x).shape
    axis = data.draw(st.integers(0, len(shape) - 1))
    return net.op(Concat(axis, (None, None), DType.S8, Q), x, pick_value(net, data, shape))


def padded(net: Net, x: str, data: Draw) -> str:
    rank = len(net.type(x).shape)
    before = tuple(data.draw(st.lists(st.integers(0, 1), min_size=rank, max_size=rank)))
    return net.op(Pad(before, before[::-1], "constant", data.draw(st.sampled_from([0, Q.zero_point]))), x)


def scaled(net: Net, x: str, data: Draw) -> str:
    shape = net.type(x).shape
    first = data.draw(st.integers(0, len(shape)))
    small = tuple(n if data.draw(st.booleans()) else 1 for n in shape[first:])
    return net.mul(x, net.const(np.arange(math.prod(small), dtype=np.int8).reshape(small)))


def convolved(net: Net, x: str, data: Draw) -> str:
    shape = net.type(x).shape
    if len(shape) != 4:
        return x
    wrap = data.draw(st.booleans())
    return net.conv_nchw(x, 4) if wrap else net.conv(x, 3)


STEPS: dict[str, Step] = {
    "transpose": transposed,
    "transpose again": transposed,
    "reshape": reshaped,
    "slice": sliced,
    "gather": gathered,
    "concat": joined,
    "pad": padded,
    "mul": scaled,
    "conv": convolved,
    "conv again": convolved,
    "relu": lambda net, x, data: net.relu(x),
    "lut": lambda net, x, data: net.lut(x, len(net.nodes)),
    "clamp": lambda net, x, data: net.op(Clamp(-50, 60), x),
    "add": lambda net, x, data: net.add(x, pick_value(net, data, net.type(x).shape)),
    "dense": lambda net, x, data: net.dense(x, 4),
    "softmax": lambda net, x, data: net.op(Softmax(Q, Q, DType.S8, "single"), x),
}


def random_net(data: Draw) -> Graph:
    net = Net()
    x = net.input(1, 4, 6, 2)
    for name in data.draw(st.lists(st.sampled_from(sorted(STEPS)), min_size=1, max_size=12)):
        x = x if data.draw(st.integers(0, 3)) else pick_value(net, data)
        if net.type(x).elements < 2000:
            x = STEPS[name](net, x, data)
    extra = pick_value(net, data)
    wanted = [n for n in dict.fromkeys((x, extra)) if n != "x"] or [net.lut("x")]
    return net.output(*wanted)


def total_moved(graph: Graph) -> int:
    return sum(moved_bytes(n.op, graph.type(n.outputs[0])) for n in graph.nodes if isinstance(n.op, MOVEMENT))


@settings(max_examples=150, deadline=None, derandomize=True, suppress_health_check=list(HealthCheck))
@given(st.data())
def test_simplify_keeps_every_number_and_moves_no_more(data: Draw) -> None:
    graph = random_net(data)
    best = simplify(graph)
    assert_same(graph, best)
    assert simplify(best) is best
    # what is given out may be moved once more, by itself
    given = sum(best.type(value).bytes for value in best.output_values)
    assert total_moved(best) <= total_moved(graph) + given
    assert len(best.output_values) == len(graph.output_values)


@settings(max_examples=100, deadline=None, suppress_health_check=list(HealthCheck))
@given(st.data())
def test_each_pass_alone_keeps_every_number(data: Draw) -> None:
    graph = random_net(data)
    for run in PASSES:
        assert_same(graph, run(graph))
