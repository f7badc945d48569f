import numpy as np
import pytest

from codegen.errors import FeedShapeWrong, FeedTypeWrong, FeedUnknown
from codegen.golden.interpreter import run_graph
from codegen.ir.quant import MODES, Mode
from tests.support.graphs import conv_chain, residual


@pytest.mark.parametrize("mode", MODES)
def test_all_values_are_returned_by_name(mode: Mode) -> None:
    graph = conv_chain(mode)
    x = np.random.default_rng(0).integers(-128, 128, (1, 12, 10, 3)).astype(np.int8)
    values = run_graph(graph, {"x": x})
    assert set(values) == set(graph.values)
    for name, value in graph.values.items():
        assert values[name].shape == value.type.shape
        assert values[name].dtype == value.type.dtype.numpy


def test_nodes_run_in_order_on_what_was_made() -> None:
    graph = residual()
    x = np.random.default_rng(0).integers(-128, 128, (1, 9, 7, 4)).astype(np.int8)
    values = run_graph(graph, {"x": x})
    for node in graph.nodes:
        (expected,) = node.op.golden([values[name] for name in node.inputs])
        assert np.array_equal(values[node.outputs[0]], expected)


def test_wrong_feeds_are_refused() -> None:
    graph = residual()
    x = np.zeros((1, 9, 7, 4), np.int8)
    with pytest.raises(FeedUnknown, match=r"LAM-GOLDEN-001 x: got no data"):
        run_graph(graph, {})
    with pytest.raises(FeedUnknown, match=r"LAM-GOLDEN-001 z: is not an input; the inputs are x"):
        run_graph(graph, {"x": x, "z": x})
    with pytest.raises(FeedShapeWrong, match=r"LAM-GOLDEN-002 x: has shape \[1, 9, 4, 7\]"):
        run_graph(graph, {"x": x.transpose(0, 1, 3, 2)})
    with pytest.raises(FeedTypeWrong, match=r"LAM-GOLDEN-003 x: is float32, the input is int8"):
        run_graph(graph, {"x": x.astype(np.float32)})
