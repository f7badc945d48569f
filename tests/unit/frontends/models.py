"""Small ONNX models for tests, and the comparison of what they import as with ONNX Runtime."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

from codegen.frontends.onnx import import_onnx
from codegen.golden.interface import graph_ports, network_feeds
from codegen.golden.interpreter import run_graph
from codegen.ir.graph import Graph
from codegen.ir.quant import Array, Mode
from codegen.ir.verify import verify_graph
from tests.support.onnx_files import onnx_model
from tests.support.outsider import ort_session

MICROSOFT = "com.microsoft"


class Net:
    """Collects nodes and constants; every method returns the name of the tensor it makes."""

    def __init__(self, seed: int = 0) -> None:
        self.rng = np.random.default_rng(seed)
        self.nodes: list[onnx.NodeProto] = []
        self.constants: list[onnx.TensorProto] = []
        self.inputs: list[onnx.ValueInfoProto] = []
        self.functions: list[onnx.FunctionProto] = []
        self._count = 0

    def fresh(self, stem: str = "t") -> str:
        """A new name."""
        self._count += 1
        return f"{stem}{self._count}"

    def input(self, shape: Sequence[int | str], kind: int = TensorProto.FLOAT, name: str = "x") -> str:
        self.inputs.append(helper.make_tensor_value_info(name, kind, list(shape)))
        return name

    def const(self, array: Any, dtype: Any = None, name: str = "") -> str:
        name = name or self.fresh("c")
        self.constants.append(numpy_helper.from_array(np.asarray(array, dtype=dtype), name))
        return name

    def op(self, op_type: str, *inputs: str, domain: str = "", outputs: int = 1, **attributes: Any) -> Any:
        names = [self.fresh("t") for _ in range(outputs)]
        self.nodes.append(
            helper.make_node(op_type, list(inputs), names, name=self.fresh("n_"), domain=domain, **attributes)
        )
        return names[0] if outputs == 1 else names

    def params(self, scale: float = 0.05, zero: int = 0, dtype: Any = np.int8) -> tuple[str, str]:
        return self.const(np.float32(scale)), self.const(zero, dtype)

    def q(self, x: str, scale: float = 0.05, zero: int = 0, dtype: Any = np.int8) -> str:
        return str(self.op("QuantizeLinear", x, *self.params(scale, zero, dtype)))

    def dq(self, x: str, scale: float = 0.05, zero: int = 0, dtype: Any = np.int8) -> str:
        return str(self.op("DequantizeLinear", x, *self.params(scale, zero, dtype)))

    def qdq(self, x: str, scale: float = 0.05, zero: int = 0, dtype: Any = np.int8) -> str:
        """QuantizeLinear and DequantizeLinear of one meaning."""
        params = self.params(scale, zero, dtype)
        return str(self.op("DequantizeLinear", str(self.op("QuantizeLinear", x, *params)), *params))

    def ints(self, *shape: int, low: int = -127, high: int = 127, dtype: Any = np.int8) -> Array:
        return self.rng.integers(low, high + 1, shape).astype(dtype)

    def weights(self, array: Array, scale: Any = 0.01, axis: int = 0, zero: Any = None) -> str:
        """DequantizeLinear of constant integers, per tensor or per axis."""
        scales = np.asarray(scale, np.float32)
        zeros = np.zeros(scales.shape, array.dtype) if zero is None else np.asarray(zero, array.dtype)
        attributes = {"axis": axis} if scales.ndim else {}
        return str(self.op("DequantizeLinear", self.const(array), self.const(scales), self.const(zeros), **attributes))

    def bias(self, array: Array, scale: Any) -> str:
        """DequantizeLinear of int32 numbers at the accumulator's scale."""
        return self.weights(np.asarray(array, np.int32), scale, 0)

    def model(self, *outputs: str, opset: int = 17, ir_version: int = 8) -> onnx.ModelProto:
        words = {"ir_version": ir_version, "functions": self.functions, "name": "net"}
        return onnx_model(self.nodes, self.inputs, outputs, self.constants, sets={"": opset, MICROSOFT: 1}, **words)


def saved(model: onnx.ModelProto, folder: Path) -> Path:
    path = folder / "model.onnx"
    path.write_bytes(model.SerializeToString())
    return path


def imported(model: onnx.ModelProto, folder: Path, mode: Mode = "single", **options: Any) -> Graph:
    graph = import_onnx(saved(model, folder), mode=mode, **options)
    verify_graph(graph)
    return graph


def oracle(model: onnx.ModelProto, sample: Mapping[str, Array]) -> list[Array]:
    """ONNX Runtime, without graph optimisation where no node multiplies integers itself."""
    typed = onnx.ModelProto()
    typed.CopyFrom(model)
    session = ort_session(_with_types(typed), optimized=_multiplies_bytes(model))
    return list(session.run(None, dict(sample)))


def _multiplies_bytes(model: onnx.ModelProto) -> bool:
    """Whether a node multiplies u8 and s8 itself."""
    kinds = {t.name: t.data_type for t in model.graph.initializer}
    nodes = [n for n in model.graph.node if n.op_type in ("QLinearConv", "QLinearMatMul", "QGemm")]
    return any(kinds.get(n.input[2]) == TensorProto.UINT8 for n in nodes)


def _with_types(model: onnx.ModelProto) -> onnx.ModelProto:
    """Outputs need an element type for ONNX Runtime; it infers everything else itself."""
    made = {o: n for n in model.graph.node for o in n.output}
    kinds = {t.name: t.data_type for t in model.graph.initializer}
    for info in model.graph.output:
        node = made[info.name]
        kind = TensorProto.FLOAT
        if node.op_type == "QuantizeLinear":
            kind = kinds[node.input[2]] if len(node.input) > 2 else TensorProto.UINT8
        elif node.op_type in ("ArgMax", "ArgMin"):
            kind = TensorProto.INT64
        elif node.op_type == "Cast":
            kind = next(a.i for a in node.attribute if a.name == "to")
        elif node.op_type.endswith("Integer"):
            kind = TensorProto.INT32
        elif node.op_type.startswith("QLinear") or node.op_type == "QGemm":
            kind = kinds[node.input[0]] if kinds.get(node.input[0]) == TensorProto.UINT8 else _result_type(node, kinds)
        info.type.tensor_type.elem_type = kind
    return model


def _result_type(node: onnx.NodeProto, kinds: Mapping[str, int]) -> int:
    index = {"QLinearConv": 7, "QLinearConcat": 1}.get(node.op_type, -1)
    return int(kinds[node.input[index]])


@dataclass(frozen=True)
class Compared:
    """How far the imported graph is from ONNX Runtime, in steps of the output's scale."""

    graph: Graph
    largest: float
    differing: int
    count: int


def compare(
    model: onnx.ModelProto, folder: Path, mode: Mode = "ort", spread: float = 3.0, runs: int = 2, **options: Any
) -> Compared:
    """Run both on random inputs."""
    graph = imported(model, folder, mode, **options)
    ins, outs = graph_ports(graph)
    rng = np.random.default_rng(7)
    largest, differing, count = 0.0, 0, 0
    for _ in range(runs):
        sample = {p.name: _random(rng, p.model_shape, p.model_dtype, spread) for p in ins}
        values = run_graph(graph, network_feeds(ins, sample))
        for port, theirs in zip(outs, oracle(model, sample), strict=True):
            ours = port.to_model(values[port.value])
            assert ours.shape == theirs.shape
            assert ours.dtype == theirs.dtype
            step = port.quant.scale if port.quant is not None and port.model_dtype == "float32" else 1.0
            gap = np.abs(ours.astype(np.float64) - theirs.astype(np.float64)) / step
            largest = max(largest, float(gap.max()))
            differing += int((gap > 1e-3).sum())
            count += gap.size
    return Compared(graph, largest, differing, count)


def agrees(model: onnx.ModelProto, folder: Path, share: float = 0.02, **options: Any) -> Graph:
    """The imported graph, equal to ONNX Runtime but for a few elements that are one step off."""
    found = compare(model, folder, **options)
    assert found.largest <= 1.001, f"differs by {found.largest} steps"
    assert found.differing <= max(2, share * found.count), f"{found.differing} of {found.count} elements differ"
    return found.graph


def _random(rng: np.random.Generator, shape: Sequence[int], dtype: str, spread: float) -> Array:
    if dtype == "float32":
        return rng.normal(0, spread, shape).astype(np.float32)
    info = np.iinfo(dtype)
    return rng.integers(info.min, info.max + 1, shape).astype(dtype)


def kinds(graph: Graph) -> list[str]:
    """The operators in order, layout changes left out."""
    return [type(n.op).__name__ for n in graph.nodes if type(n.op).__name__ != "Transpose"]
