"""If, Loop and Scan in networks that become C: unrolled, or both branches and a choice; beside ONNX Runtime."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import onnx
import onnxruntime
import pytest
from onnx import TensorProto, helper, numpy_helper

from codegen.errors import ModelRejected
from codegen.frontends.onnx import import_onnx
from codegen.golden.interpreter import run_graph
from codegen.host import Network
from codegen.ir.quant import Array
from codegen.passes import simplify
from tests.contract.test_kernels import make_project
from tests.support.onnx_files import onnx_graph, onnx_model, port
from tests.support.tools import require_tool

F, WHOLE, B = TensorProto.FLOAT, TensorProto.INT64, TensorProto.BOOL


def model_of(nodes: list[Any], outputs: list[str], **constants: Array) -> onnx.ModelProto:
    """A network of x [3, 4]."""
    return onnx_model(nodes, [port("x", [3, 4])], [port(o) for o in outputs], constants, sets=18, ir_version=9)


def branch(name: str, *nodes: Any) -> Any:
    return onnx_graph(nodes, [], [port(nodes[-1].output[0])], name=name)


def chosen() -> onnx.ModelProto:
    """A branch by what the network computes."""
    nodes = [
        helper.make_node("ReduceSum", ["x"], ["s"], keepdims=0),
        helper.make_node("Greater", ["s", "zero"], ["c"]),
        helper.make_node(
            "If",
            ["c"],
            ["y"],
            then_branch=branch("t", helper.make_node("Relu", ["x"], ["a"])),
            else_branch=branch("e", helper.make_node("Neg", ["x"], ["n"]), helper.make_node("Add", ["n", "n"], ["b"])),
        ),
    ]
    return model_of(nodes, ["y"], zero=np.float32(0))


def looped() -> onnx.ModelProto:
    """Five steps of a sum, each of which is gathered."""
    body = onnx_graph(
        [
            helper.make_node("Identity", ["go"], ["on"]),
            helper.make_node("Cast", ["i"], ["f"], to=F),
            helper.make_node("Mul", ["x", "f"], ["m"]),
            helper.make_node("Add", ["s", "m"], ["t"]),
            helper.make_node("Tanh", ["t"], ["u"]),
        ],
        [port("i", [], WHOLE), port("go", [], B), port("s", [3, 4])],
        [port("on", [], B), port("t", [3, 4]), port("u", [3, 4])],
    )
    node = helper.make_node("Loop", ["count", "", "x"], ["y", "all"], body=body)
    return model_of([node], ["y", "all"], count=np.array(5, np.int64))


def scanned() -> onnx.ModelProto:
    """A sum over the columns from the last to the first."""
    body = onnx_graph(
        [helper.make_node("Add", ["s", "column"], ["t"]), helper.make_node("Sigmoid", ["t"], ["u"])],
        [port("s", [3]), port("column", [3])],
        [port("t", [3]), port("u", [3])],
    )
    made = {"num_scan_inputs": 1, "scan_input_axes": [1], "scan_input_directions": [1], "scan_output_axes": [1]}
    node = helper.make_node("Scan", ["start", "x"], ["y", "all"], body=body, **made)
    return model_of([node], ["y", "all"], start=np.zeros(3, np.float32))


@pytest.mark.parametrize("build", [chosen, looped, scanned])
def test_control_flow_becomes_c(build: Any, tmp_path: Path) -> None:
    require_tool("gcc")
    model = build()
    onnx.save(model, tmp_path / "model.onnx")
    graph = simplify(import_onnx(tmp_path / "model.onnx", mode="ort", io_layout="model"))
    x = np.random.default_rng(5).standard_normal((3, 4)).astype(np.float32)
    session = onnxruntime.InferenceSession(model.SerializeToString(), providers=["CPUExecutionProvider"])
    with Network(make_project(graph, tmp_path / "project", "c99"), compiler="gcc", flags=["-O0"]) as network:
        for sign in (1, -1):
            feeds = {"x": sign * x}
            golden, actual = run_graph(graph, feeds), network.run_raw(feeds)
            for port, wanted in zip(graph.outputs, session.run(None, feeds), strict=True):
                assert np.allclose(golden[port.value], wanted, rtol=1e-5, atol=1e-6)
                assert golden[port.value].tobytes() == actual[port.value].tobytes()


def _other_shape(model: onnx.ModelProto) -> None:
    model.graph.node[2].attribute[0].g.node[0].CopyFrom(helper.make_node("ReduceSum", ["x"], ["n"], keepdims=0))


def _two_conditions(model: onnx.ModelProto) -> None:
    model.graph.node[0].CopyFrom(helper.make_node("ReduceSum", ["x", "one"], ["s"], keepdims=0))
    model.graph.initializer.append(numpy_helper.from_array(np.array([1], np.int64), "one"))


def _more_results(model: onnx.ModelProto) -> None:
    model.graph.node[2].attribute[1].g.output.add().CopyFrom(port("a"))


def _other_type(model: onnx.ModelProto) -> None:
    model.graph.node[2].attribute[1].g.node[0].CopyFrom(helper.make_node("Cast", ["x"], ["a"], to=WHOLE))


@pytest.mark.parametrize(
    ("spoil", "code"),
    [
        (_other_shape, "LAM-IMPORT-077"),
        (_other_type, "LAM-IMPORT-077"),
        (_two_conditions, "LAM-IMPORT-014"),
        (_more_results, "LAM-IMPORT-014"),
    ],
)
def test_branches_that_do_not_fit_are_refused(spoil: Any, code: str, tmp_path: Path) -> None:
    model = chosen()
    spoil(model)
    onnx.save(model, tmp_path / "model.onnx")
    with pytest.raises(ModelRejected) as caught:
        import_onnx(tmp_path / "model.onnx", mode="ort")
    assert [p.code for p in caught.value.problems()] == [code]


def test_a_loop_by_a_computed_number_of_steps_is_refused(tmp_path: Path) -> None:
    model = looped()
    del model.graph.initializer[:]
    node = helper.make_node("Cast", ["sum"], ["count"], to=WHOLE)
    steps = [helper.make_node("ReduceSum", ["x"], ["sum"], keepdims=0), node, *model.graph.node]
    nodes = [onnx.NodeProto.FromString(n.SerializeToString()) for n in steps]
    del model.graph.node[:]
    model.graph.node.extend(nodes)
    onnx.save(model, tmp_path / "model.onnx")
    with pytest.raises(ModelRejected) as caught:
        import_onnx(tmp_path / "model.onnx", mode="ort")
    assert [p.code for p in caught.value.problems()] == ["LAM-IMPORT-077"]
