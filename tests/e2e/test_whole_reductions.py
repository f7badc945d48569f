"""Reductions and running sums of whole numbers: exact beyond 2^24, and wrapped around beyond 32 bits."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import onnx
import onnxruntime
from onnx import TensorProto, helper

from codegen.frontends.onnx import import_onnx
from codegen.golden.interpreter import run_graph
from codegen.ir.graph import Graph
from codegen.ir.quant import Array
from tests.support.onnx_files import onnx_model, port
from tests.support.together import check_c_is_golden
from tests.support.tools import require_tool

REDUCED = ("ReduceSum", "ReduceMean", "ReduceL1", "ReduceSumSquare", "ReduceProd", "ReduceMax", "ReduceMin")
SHAPE = (3, 4, 5)
ENDS = np.array([-(1 << 31), (1 << 31) - 1], np.int32)


def model_of(op: str, axes: list[int], *, run_over: bool = False) -> onnx.ModelProto:
    """A network of one operator on int32."""
    known = {"axes": np.array(axes[0] if run_over else axes, np.int64)}
    node = helper.make_node(op, ["x", "axes"], ["y"], "n")
    given, made = port("x", SHAPE, TensorProto.INT32), port("y", None, TensorProto.INT32)
    return onnx_model([node], [given], [made], known, sets=18)


def imported(model: onnx.ModelProto, folder: Path) -> Graph:
    onnx.save(model, folder / "model.onnx")
    return import_onnx(folder / "model.onnx", mode="ort", io_layout="model")


def test_whole_numbers_are_reduced_exactly_in_golden_and_c(tmp_path: Path) -> None:
    require_tool("gcc")
    rng = np.random.default_rng(7)
    graphs, feeds = list[Graph](), list[dict[str, Array]]()
    for size in (50, 1 << 26, 1 << 30):
        x = rng.integers(-size, size, SHAPE).astype(np.int32)
        for op in (*REDUCED, "CumSum"):
            for axes in ([1], [2]) if op == "CumSum" else ([0], [1, 2]):
                if op == "ReduceMean" and size == 1 << 30:
                    continue  # whose sum ONNX Runtime may hold in more bits
                model = model_of(op, axes, run_over=op == "CumSum")
                graph = imported(model, tmp_path)
                session = onnxruntime.InferenceSession(model.SerializeToString(), providers=["CPUExecutionProvider"])
                (wanted,) = session.run(None, {"x": x})
                found = run_graph(graph, {"x": x})[graph.outputs[0].value]
                inside = np.isin(wanted, ENDS, invert=True)  # some of its sums and products end there, others wrap
                assert np.array_equal(found.reshape(wanted.shape)[inside], wanted[inside]), (op, axes, size)
                assert all(not value.type.dtype.is_float for value in graph.values.values()), op
                graphs.append(graph)
                feeds.append({"x": x})
    flags = ["-O1", "-fsanitize=undefined", "-fno-sanitize-recover=all"]
    check_c_is_golden(graphs, feeds, tmp_path / "project", flags)
