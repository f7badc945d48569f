"""Every operator of the lists of other compilers on tensors of 8 and of 16 bits: ONNX Runtime's, and the same in C."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest

from codegen.frontends.onnx import import_onnx
from codegen.golden.interface import graph_ports, network_feeds
from codegen.golden.interpreter import run_graph
from codegen.host import Network
from codegen.ir.graph import Graph
from codegen.ir.quant import Array
from codegen.passes import simplify
from tests.contract.test_kernels import make_project
from tests.support.integer_operators import CASES
from tests.support.node_graphs import prefixed, side_by_side
from tests.support.outsider import ort_session
from tests.support.tools import require_tool

IN_FLOAT: tuple[str, ...] = ("Attention",)
"""What settles to real numbers between integers, of any type."""
KINDS = ("int8", "uint8", "int16", "uint16")
PAGE = Path(__file__).parents[2] / "docs" / "quantization.md"
QUICK = 12
"""Of so many operators the quick run takes one."""


def has_real_layer(graph: Graph) -> bool:
    """Whether real numbers are computed with between the integers of its borders."""
    ends = {port.value for port in (*graph.inputs, *graph.outputs)}
    return any(graph.type(o).dtype.is_float and o not in ends for node in graph.nodes for o in node.outputs)


@pytest.mark.parametrize("kind", KINDS)
def test_the_page_says_which_operators_have_integers_between_plain_quantizations(kind: str, tmp_path: Path) -> None:
    """Of every type: an operator that falls back to real numbers, or no longer does, is a line of the page."""
    found = set()
    for name, case in CASES.items():
        path = tmp_path / "model.onnx"
        path.write_bytes(case.written(kind)[0].SerializeToString())
        if has_real_layer(import_onnx(path, mode="single", io_type="model", io_layout="model")):
            found.add(name)
    assert found == set(IN_FLOAT)
    said = PAGE.read_text().split("## Operators between integers")[1]
    integers, reals = (set(re.findall("`([^`]+)`", _line(said, word))) for word in ("Integers:", "Real numbers:"))
    assert (integers, reals) == (set(CASES) - found, found)


def _line(text: str, start: str) -> str:
    return next(line for line in text.splitlines() if line.startswith(start))


def most_steps(name: str, kind: str) -> int:
    """How far results may be from ONNX Runtime's; a hidden state of 16 bits is fed back for five steps."""
    if name in ("LSTM", "GRU", "RNN"):
        return 2 if np.dtype(kind).itemsize == 2 else 1
    return 1 if len(CASES[name].steps) == 1 else 2


def wrong(names: list[str], kind: str, folder: Path) -> dict[str, str]:
    """What is wrong with each operator, by name: all of them are one network in C."""
    folder.mkdir()
    graphs, feeds, found = list[Graph](), dict[str, Array](), dict[str, str]()
    golden = list[Array]()
    for i, name in enumerate(names):
        model, scale = CASES[name].written(kind)
        path = folder / f"{i}.onnx"
        path.write_bytes(model.SerializeToString())
        (wanted,) = ort_session(model).run(None, {"x": CASES[name].sample()})
        graph = import_onnx(path, mode="single", io_type="model", io_layout="model")
        given = network_feeds(graph_ports(graph)[0], {"x": CASES[name].sample()})
        (made,) = (run_graph(graph, given)[p.value] for p in graph.outputs)
        golden.append(made)
        away = np.abs(made.reshape(wanted.shape).astype(np.float64) - wanted).max() / scale
        if away > most_steps(name, kind) + 0.01:
            found[name] = f"{away:.2f} steps from ONNX Runtime's"
        graphs.append(prefixed(simplify(graph), f"{i}/"))
        feeds.update({f"{i}/{n}": x for n, x in given.items()})
    together = side_by_side(graphs)
    with Network(make_project(together, folder / "c", "c99"), compiler="gcc", flags=["-O0"]) as network:
        actual = network.run_raw({i.value: feeds[i.value] for i in together.inputs})
    for name, graph, made in zip(names, graphs, golden, strict=True):
        if not np.array_equal(actual[graph.outputs[0].value].reshape(made.shape), made):
            found.setdefault(name, "C is not golden")
    return found


@pytest.mark.parametrize("kind", ["int8", "int16"])
def test_a_spread_is_within_a_step_of_onnxruntime_and_golden_in_c(kind: str, tmp_path: Path) -> None:
    require_tool("gcc")
    assert wrong(list(CASES)[KINDS.index(kind) :: QUICK], kind, tmp_path / "n") == {}


@pytest.mark.slow
@pytest.mark.parametrize("kind", KINDS)
def test_each_is_within_a_step_of_onnxruntime_and_golden_in_c(kind: str, tmp_path: Path) -> None:
    require_tool("gcc")
    assert wrong(list(CASES), kind, tmp_path / "n") == {}
