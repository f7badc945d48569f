"""A generated network as a Python object: arrays in, arrays out; rows pushed; every tensor."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

import codegen
from codegen.emit import write_project
from codegen.errors import FeedShapeWrong, FeedTypeWrong, NotStreamed, SeveralOutputs
from codegen.host import Network
from codegen.ir.graph import Graph
from codegen.pipeline import Options, compile_graph
from codegen.target import load_target
from tests.e2e.projects import DIGITS
from tests.support.graphs import Sketch
from tests.support.shared import ROOT
from tests.support.tools import require_tool

X = np.load(ROOT / "examples" / "digits" / "digits_test.npz")["x"][:3]


def load(folder: Path, *, stream_input: bool) -> Network:
    require_tool("cc")
    return codegen.load(codegen.compile_model(DIGITS, out=folder / "digits", stream_input=stream_input))


@pytest.fixture(scope="module")
def net(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Network]:
    with load(tmp_path_factory.mktemp("whole"), stream_input=False) as found:
        yield found


@pytest.fixture(scope="module")
def streamed(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Network]:
    with load(tmp_path_factory.mktemp("streamed"), stream_input=True) as found:
        yield found


@pytest.mark.parametrize("which", ["net", "streamed"])
def test_an_array_in_gives_an_array_out(which: str, request: pytest.FixtureRequest) -> None:
    network: Network = request.getfixturevalue(which)
    for x in X:
        y = network.run(x[None])
        assert (y == codegen.run(DIGITS, x[None], engine="golden")).all()
        assert np.array_equal(network.run({"image": x[None]})["logits"], y)
        assert np.array_equal(network.read()["logits"], y)


@pytest.mark.parametrize("which", ["net", "streamed"])
def test_trace_gives_every_tensor(which: str, request: pytest.FixtureRequest) -> None:
    network: Network = request.getfixturevalue(which)
    golden = codegen.run(DIGITS, X[:1], dump_all=True)
    found = network.trace(X[:1])
    assert len(found) >= 8
    shared = [name for name in found if name in golden]
    assert "logits" in shared
    assert len(shared) >= 6
    for name in shared:
        assert np.array_equal(found[name], golden[name]), name


def test_rows_are_pushed_as_they_come(streamed: Network) -> None:
    for x in X:
        streamed.reset()
        answers = [streamed.push_row(row) for row in streamed.rows(x[None])]
        assert answers[-1] is True
        assert answers[0] is False
        assert np.array_equal(streamed.read()["logits"], codegen.run(DIGITS, x[None]))


def test_reset_forgets_what_was_pushed(streamed: Network) -> None:
    wrong, right = streamed.rows(X[:1]), streamed.rows(X[1:2])
    streamed.reset()
    for row in wrong[:5]:
        streamed.push_row(row)
    streamed.reset()
    for row in right:
        streamed.push_row(row)
    assert np.array_equal(streamed.read()["logits"], codegen.run(DIGITS, X[1:2]))


def test_rows_beyond_the_last_change_nothing(streamed: Network) -> None:
    expected = streamed.run(X[:1])
    assert streamed.push_row(streamed.rows(X[1:2])[0]) is True
    assert np.array_equal(streamed.read()["logits"], expected)


def test_a_row_that_does_not_fit_is_refused(streamed: Network) -> None:
    row = streamed.rows(X[:1])[0]
    with pytest.raises(FeedShapeWrong, match=f"takes {row.size}"):
        streamed.push_row(row[:-1])
    with pytest.raises(FeedTypeWrong, match="takes s8"):
        streamed.push_row(row.astype(np.float32))


def test_a_network_with_a_whole_input_takes_no_rows(net: Network) -> None:
    with pytest.raises(NotStreamed):
        net.push_row(net.rows(X[:1])[0])


def several(inputs: int, outputs: int) -> Graph:
    sketch = Sketch(f"net{inputs}{outputs}")
    made = [sketch.conv(sketch.input((1, 5, 4, 2), name=f"x{i}"), 2) for i in range(inputs)]
    return sketch.graph(*made, *(sketch.conv(made[0], 2) for _ in range(outputs - inputs)))


@pytest.mark.parametrize(("inputs", "outputs"), [(1, 2), (2, 2)])
def test_one_array_needs_one_input_and_one_output(inputs: int, outputs: int, tmp_path: Path) -> None:
    require_tool("cc")
    made = compile_graph(several(inputs, outputs), load_target("host"), Options())
    write_project(tmp_path / "net", made.files)
    x = np.ones((1, 5, 4, 2), np.int8)
    with Network(tmp_path / "net") as net:
        with pytest.raises(SeveralOutputs):
            net.run(x)
        assert len(net.run({f"x{i}": x for i in range(inputs)})) == outputs
