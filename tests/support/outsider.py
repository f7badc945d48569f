"""Sessions of ONNX Runtime, the same on every processor."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import onnx
import onnxruntime
from onnx import numpy_helper

_PRODUCTS = {name: (2, (3, 5)) for name in ("QGemm", "QLinearConv", "QLinearMatMul")}
"""Where a product has the zero point of its first side, and the numbers and zero point of its weights."""


def ort_session(model: onnx.ModelProto | Path, *, optimized: bool = False) -> onnxruntime.InferenceSession:
    """One thread, quiet; not `optimized`, a model of QDQ form is computed in float.

    Products u8 * s8 do not saturate, as they would on an x86 processor without VNNI: the runtime avoids that by a
    rewrite among its optimisations, and where these are off the weights are moved to u8, which means the same.
    """
    options = onnxruntime.SessionOptions()
    levels = onnxruntime.GraphOptimizationLevel
    options.graph_optimization_level = levels.ORT_ENABLE_ALL if optimized else levels.ORT_DISABLE_ALL
    options.add_session_config_entry("session.x64quantprecision", "1")
    options.intra_op_num_threads = 1
    options.log_severity_level = 3
    if not optimized:
        model = _of_unsigned_weights(onnx.load(model) if isinstance(model, Path) else model)
    source = str(model) if isinstance(model, Path) else model.SerializeToString()
    return onnxruntime.InferenceSession(source, options, ["CPUExecutionProvider"])


def _of_unsigned_weights(model: onnx.ModelProto) -> onnx.ModelProto:
    """The model with constant s8 weights of its own products u8 * s8 as u8: numbers and zero points are 128 more."""
    made = onnx.ModelProto()
    made.CopyFrom(model)
    known = {i.name: i for i in made.graph.initializer}
    for node in made.graph.node:
        x_zero, places = _PRODUCTS.get(node.op_type, (0, ()))
        names = [node.input[at] for at in (x_zero, *places) if at < len(node.input)]
        if not places or len(names) <= len(places) or any(name not in known for name in names):
            continue
        arrays = [numpy_helper.to_array(known[name]) for name in names]
        if arrays[0].dtype != np.uint8 or any(a.dtype != np.int8 for a in arrays[1:]):
            continue
        for at, array in zip(places, arrays[1:], strict=True):
            moved = f"{node.input[at]}:unsigned"
            if moved not in known:
                known[moved] = numpy_helper.from_array((array.astype(np.int16) + 128).astype(np.uint8), moved)
                made.graph.initializer.append(known[moved])
            node.input[at] = moved
    return made
