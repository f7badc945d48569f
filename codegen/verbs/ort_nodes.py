"""Single operators on ONNX Runtime, where it is installed: as numpy computes them, and sooner; networks as a whole.

Decides: which operators are worth it, and that one which cannot be written as ONNX, or that the runtime refuses, at
once or when it runs, is computed in numpy.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from codegen.errors import CompileError, EngineFailed
from codegen.frontends import real_bytes
from codegen.ir.quant import Array
from codegen.ir.real import RealGraph, RealNode, RealOp, RealType, RealValue
from codegen.quantizer.batched import NodeRun, in_numpy
from codegen.quantizer.scheme import Running
from codegen.real.product import Gemm, MatMul
from codegen.real.resize import Resize
from codegen.real.window import AveragePool, Conv, ConvTranspose, MaxPool
from codegen.verbs.float_engine import RunsModel, has_runtime, session_of
from codegen.verbs.ort_runner import whole_run

_WORTH = (AveragePool, Conv, ConvTranspose, Gemm, MatMul, MaxPool, Resize)
_Key = tuple[RealOp, tuple[tuple[int, ...], ...]]


class OrtNodes:
    """Runs nodes; sessions are kept by operator and shapes."""

    def __init__(self) -> None:
        self._sessions: dict[_Key, RunsModel | None] = {}

    def takes(self, op: RealOp) -> bool:
        """Whether an operator is worth it."""
        return isinstance(op, _WORTH)

    def whole(self, graph: RealGraph) -> Running | None:
        """A network of which only the outputs are wanted, where the runtime takes it."""
        return whole_run(graph)

    def __call__(self, node: RealNode, ins: Sequence[Array]) -> Sequence[Array]:
        """The outputs of a node."""
        if not self.takes(node.op) or any(a.dtype != np.float32 for a in ins):
            return in_numpy(node, ins)
        key = node.op, tuple(a.shape for a in ins)
        if key not in self._sessions:
            self._sessions[key] = _session(node, ins)
        session = self._sessions[key]
        if session is not None:
            try:
                return session({f"x{i}": a for i, a in enumerate(ins)})
            except EngineFailed:
                self._sessions[key] = None
        return in_numpy(node, ins)


def best_nodes() -> NodeRun:
    """ONNX Runtime where it is installed, numpy otherwise."""
    return OrtNodes() if has_runtime() else in_numpy


def _session(node: RealNode, ins: Sequence[Array]) -> RunsModel | None:
    """The runtime, ready for the operator; None where it does not take it."""
    try:
        return session_of(real_bytes(_alone(node, [RealType(a.shape) for a in ins])), lean=True)
    except CompileError:
        return None


def _alone(node: RealNode, types: Sequence[RealType]) -> RealGraph:
    """A network of this node, which reads inputs of these types."""
    given, made = tuple(f"x{i}" for i in range(len(types))), tuple(f"y{i}" for i in range(len(node.outputs)))
    values = dict(zip(given + made, (*types, *node.op.infer(types)), strict=True))
    only = RealNode("n", node.op, given, made, "n", node.op_type)
    return RealGraph("n", {n: RealValue(n, t) for n, t in values.items()}, (only,), given, made, "onnx", made)
