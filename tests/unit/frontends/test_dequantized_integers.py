"""DequantizeLinear of integers that no QuantizeLinear made: picked from constants, moved, or computed whole."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper
from onnx.reference import ReferenceEvaluator

from codegen.golden.interface import graph_ports, network_feeds
from codegen.golden.interpreter import run_graph
from tests.unit.frontends.models import Net, imported

LENGTH = 4
PLACES = np.array([0, 3, 1], np.int32)
Build = Callable[[Net, Any], str]


def given(net: Net, dtype: Any) -> str:
    return net.input((1, LENGTH), helper.np_dtype_to_tensor_dtype(np.dtype(dtype)))


def known(net: Net, dtype: Any, *shape: int, held: Any = None) -> str:
    info = np.iinfo(dtype)
    return net.const(net.rng.integers(info.min, info.max + 1, shape or (1, LENGTH)), held or dtype)


def cast(net: Net, x: str, dtype: Any) -> str:
    return str(net.op("Cast", x, to=helper.np_dtype_to_tensor_dtype(np.dtype(dtype))))


def places(net: Net) -> str:
    return net.input(PLACES.shape, TensorProto.INT32, "i")


FORMS: dict[str, Build] = {
    "rows of a table": lambda net, d: net.op("Gather", known(net, d, 5, LENGTH), places(net), axis=0),
    "moved rows": lambda net, d: net.op("Transpose", FORMS["rows of a table"](net, d), perm=[1, 0]),
    "elements of a table": lambda net, d: net.op(
        "GatherElements", known(net, d), net.op("Unsqueeze", places(net), net.const([0], np.int64)), axis=1
    ),
    "a cast of a table": lambda net, d: cast(
        net, net.op("Gather", known(net, d, 5, LENGTH, held=np.int32), places(net), axis=0), d
    ),
    "a cast": lambda net, d: cast(net, net.input((1, LENGTH), TensorProto.INT32), d),
    "a sum": lambda net, d: cast(
        net, net.op("Add", net.input((1, LENGTH), TensorProto.INT32), net.const(-3, np.int32)), d
    ),
    "constants beside": lambda net, d: net.op("Concat", given(net, d), known(net, d), axis=1),
    "a choice": lambda net, d: net.op(
        "Where", net.const([[True, False, True, False]], np.bool_), given(net, d), known(net, d)
    ),
    "an input moved": lambda net, d: net.op("Gather", given(net, d), places(net), axis=1),
}


def sample(net: Net, dtype: Any) -> dict[str, Any]:
    numbers = np.array([[5, 90, 17, 44]])
    wide = {i.name: i.type.tensor_type.elem_type == TensorProto.INT32 for i in net.inputs}
    return {name: PLACES if name == "i" else numbers.astype(np.int32 if w else dtype) for name, w in wide.items()}


@pytest.mark.parametrize("tail", ["", "Relu", "Sigmoid"])
@pytest.mark.parametrize("dtype", [np.int8, np.uint8, np.int16, np.uint16])
@pytest.mark.parametrize("form", FORMS)
def test_integers_mean_what_dequantizelinear_says(form: str, dtype: Any, tail: str, tmp_path: Path) -> None:
    net = Net()
    scale, zero = (0.1, 7) if np.iinfo(dtype).bits == 8 else (1e-3, 300)
    y = net.dq(FORMS[form](net, dtype), scale, zero, dtype)
    model: onnx.ModelProto = net.model(net.op(tail, y) if tail else y, opset=21, ir_version=10)
    feeds = sample(net, dtype)
    (wanted,) = ReferenceEvaluator(model).run(None, feeds)  # ONNX Runtime has no Where of 16 bits
    graph = imported(model, tmp_path, io_type="model", io_layout="model")
    ins, outs = graph_ports(graph)
    found = outs[0].to_model(run_graph(graph, network_feeds(ins, feeds))[outs[0].value])
    assert np.allclose(found, wanted, rtol=1e-5, atol=0.01 if tail == "Sigmoid" else 1e-5)
