"""ONNX's own inference of shapes, in a process of its own.

Decides: that its C++ may end its process over a graph, as it does where a Split names fewer outputs than it has,
without ending this one.  What it says is a help to `inspect` alone; without it a model is looked at less far.
"""

from __future__ import annotations

import sys
from typing import Any

import onnx

from codegen.errors import CompileError
from codegen.process import run_program

TIMEOUT_S = 60.0

_PROGRAM = """
import sys, onnx.shape_inference
graph = onnx.shape_inference.infer_shapes(sys.stdin.buffer.read()).graph
for field in ("node", "initializer", "sparse_initializer"):
    graph.ClearField(field)
sys.stdout.buffer.write(graph.SerializeToString())
"""


def inferred(proto: Any) -> Any:
    """The GraphProto with what ONNX infers of its tensors in `value_info` and `output`; as it is where it cannot."""
    try:
        done = run_program([sys.executable, "-c", _PROGRAM], timeout_s=TIMEOUT_S, stdin=proto.SerializeToString())
    except (CompileError, OSError, ValueError):
        return proto.graph
    if done.returncode != 0:
        return proto.graph
    graph = onnx.GraphProto()
    graph.ParseFromString(done.stdout)
    return graph
