"""Variables of TFLite models: which states they become, and what is refused."""

from __future__ import annotations

import tracemalloc
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from codegen.errors import ModelRejected
from codegen.frontends.tflite import import_tflite
from codegen.ir.graph import Graph
from codegen.ir.quant import Array
from tests.support.tflite_models import Model

KIND, MEANING = "int8", (0.5, 4)


class Net(Model):
    """A model of one input and one variable `v`, whose operators each test writes."""

    def __init__(self, shape: tuple[int, ...] = (1, 3), kind: str = KIND) -> None:
        super().__init__()
        self.shape, self.kind = shape, kind
        self.x = self.input((1, 3), KIND, *MEANING)
        self.v = self.handle()

    def handle(self, name: str = "v", container: str = "") -> int:
        found = self.tensor((1,), "resource")
        self.op("VAR_HANDLE", [], [found], "VarHandleOptions", Container=container, SharedName=name)
        return found

    def read(self, variable: int | None = None, **other: object) -> int:
        shape, kind = other.get("shape", self.shape), other.get("kind", self.kind)
        meaning = () if kind == "bool" else MEANING
        found = self.tensor(shape, kind, *meaning)  # type: ignore[arg-type]
        self.op("READ_VARIABLE", [self.v if variable is None else variable], [found])
        return found

    def assign(self, value: int, variable: int | None = None) -> None:
        self.op("ASSIGN_VARIABLE", [self.v if variable is None else variable, value], [])

    def give(self, *values: int) -> None:
        """Outputs: each the ReLU of a value."""
        for value in values:
            spec = self.graph.tensors[value]
            self.op("RELU", [value], [self.output(spec.shape, spec.kind, spec.scale, int(spec.zero[0]))])

    def once(self, *constants: Array) -> None:
        """The subgraph that CALL_ONCE runs."""
        self.subgraph("begin")
        for data in constants:
            self.assign(self.const(data, *MEANING), self.handle())

    def graph_in(self, folder: Path) -> Graph:
        path = folder / "m.tflite"
        path.write_bytes(self.bytes())
        return import_tflite(path, mode="tflite")


def call_once(net: Net, index: int = 1) -> None:
    net.op("CALL_ONCE", [], [], "CallOnceOptions", InitSubgraphIndex=index)


def test_a_variable_begins_with_its_zero_point(tmp_path: Path) -> None:
    net = Net()
    net.give(net.read())
    net.assign(net.x)
    (state,) = net.graph_in(tmp_path).states
    assert state.name == "v"
    assert np.array_equal(state.initial, np.full((1, 3), 4, np.int8))


def test_a_variable_begins_as_the_constants_of_call_once(tmp_path: Path) -> None:
    net, start = Net(), np.array([[5, 6, 7]], np.int8)
    call_once(net)
    net.give(net.read())
    net.assign(net.x)
    net.once(start)
    (state,) = net.graph_in(tmp_path).states
    assert np.array_equal(state.initial, start)


def test_a_variable_that_nothing_assigns_in_the_network_is_a_constant(tmp_path: Path) -> None:
    net, start = Net(), np.array([[5, 6, 7]], np.int8)
    call_once(net)
    y = net.tensor((1, 3), KIND, *MEANING)
    net.op("ADD", [net.x, net.read()], [y], "AddOptions")
    net.give(y)
    net.once(start)
    graph = net.graph_in(tmp_path)
    assert graph.states == ()
    assert any(v.data is not None and np.array_equal(v.data, start) for v in graph.values.values())


def test_a_variable_that_is_assigned_before_it_is_read_keeps_nothing(tmp_path: Path) -> None:
    net = Net()
    net.assign(net.x)
    net.give(net.read())
    assert net.graph_in(tmp_path).states == ()


def test_variables_of_one_name_in_two_containers_are_two(tmp_path: Path) -> None:
    net = Net()
    other = net.handle(container="box")
    net.give(net.read(), net.read(other))
    net.assign(net.x)
    net.assign(net.x, other)
    states = net.graph_in(tmp_path).states
    assert len({state.name for state in states}) == len({state.next for state in states}) == 2


def test_what_is_read_and_given_out_as_it_is_has_memory_of_its_own(tmp_path: Path) -> None:
    net = Net()
    net.graph.outputs.append(net.read())
    net.assign(net.x)
    graph = net.graph_in(tmp_path)
    assert graph.outputs[0].value not in graph.source_values


def variable_of_flags(net: Net) -> None:
    flags = net.tensor((1, 3), "bool")
    net.op("GREATER", [net.x, net.x], [flags])
    net.give(net.x)
    net.read(kind="bool")
    net.assign(flags)


def read_in_another_shape(net: Net) -> None:
    net.give(net.read(shape=(3, 1)))
    net.assign(net.x)


def assigned_in_another_shape(net: Net) -> None:
    net.give(net.read())
    net.assign(net.x)
    turned = net.tensor((3,), KIND, *MEANING)
    net.op("RESHAPE", [net.x, net.const(np.array([3], np.int32))], [turned])
    net.assign(turned)


def never_assigned(net: Net) -> None:
    net.give(net.read())


def no_such_subgraph(net: Net) -> None:
    call_once(net, 7)
    net.give(net.x)


def once_computes(net: Net) -> None:
    call_once(net)
    net.give(net.x)
    net.subgraph("begin")
    start = net.const(np.zeros((1, 3), np.int8), *MEANING)
    made = net.tensor((1, 3), KIND, *MEANING)
    net.op("RELU", [start], [made])
    net.assign(made, net.handle())


def once_too_late(net: Net) -> None:
    net.give(net.read())
    net.assign(net.x)
    call_once(net)
    net.once(np.zeros((1, 3), np.int8))


def svdf_without_a_variable(net: Net) -> None:
    y = net.output((1, 2), KIND, *MEANING)
    weights = (net.const(np.ones((2, n), kind), 0.1) for n, kind in ((3, np.int8), (4, np.int16)))
    state = net.const(np.zeros((1, 8), np.int16), 0.1)
    net.op("SVDF", [net.x, *weights, -1, state], [y], "SVDFOptions", Rank=1)


REFUSED: tuple[tuple[Callable[[Net], None], str], ...] = (
    (variable_of_flags, "a variable of type bool"),
    (read_in_another_shape, r"begins as int8\[1, 3\] and is read as int8\[3, 1\]"),
    (assigned_in_another_shape, r"'v' is s8\[1, 3\], assigned is s8\[3\]"),
    (never_assigned, "nothing assigns the variable 'v'"),
    (no_such_subgraph, "runs subgraph 7 of 1"),
    (once_computes, "has RELU"),
    (once_too_late, "is used before it"),
    (svdf_without_a_variable, "is no variable tensor"),
)


@pytest.mark.parametrize(("write", "found"), REFUSED, ids=[write.__name__ for write, _ in REFUSED])
def test_what_variables_may_not_do_is_refused(write: Callable[[Net], None], found: str, tmp_path: Path) -> None:
    net = Net()
    write(net)
    with pytest.raises(ModelRejected, match=rf"LAM-IMPORT-031 .*{found}"):
        net.graph_in(tmp_path)


@pytest.mark.parametrize(("shape", "code"), [((46000, 46000), "004"), ((-1, 3), "014"), ((1, 0), "014")])
def test_a_variable_of_no_possible_size_takes_no_memory(shape: tuple[int, ...], code: str, tmp_path: Path) -> None:
    net = Net()
    net.give(net.read())
    net.assign(net.tensor(shape, KIND, *MEANING))
    tracemalloc.start()
    with pytest.raises(ModelRejected) as caught:
        net.graph_in(tmp_path)
    most = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert caught.value.problems()[0].code == f"LAM-IMPORT-{code}"
    assert most < 1 << 30


def test_an_assignment_without_a_handle_is_refused(tmp_path: Path) -> None:
    net = Net()
    net.op("ASSIGN_VARIABLE", [net.x, net.x], [])
    net.give(net.x)
    with pytest.raises(ModelRejected, match=r"LAM-IMPORT-015 .*not the result of VAR_HANDLE"):
        net.graph_in(tmp_path)
