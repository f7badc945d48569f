"""Sessions of ONNX Runtime, the same on every processor."""

from __future__ import annotations

from pathlib import Path

import onnx
import onnxruntime


def ort_session(model: onnx.ModelProto | Path, *, optimized: bool = False) -> onnxruntime.InferenceSession:
    """One thread, quiet; not `optimized`, a model of QDQ form is computed in float.

    Products u8 * s8 do not saturate, as they would on an x86 processor without VNNI: the runtime avoids that by a
    rewrite among its optimisations, so a model whose own nodes multiply u8 * s8 needs `optimized`.
    """
    options = onnxruntime.SessionOptions()
    levels = onnxruntime.GraphOptimizationLevel
    options.graph_optimization_level = levels.ORT_ENABLE_ALL if optimized else levels.ORT_DISABLE_ALL
    options.add_session_config_entry("session.x64quantprecision", "1")
    options.intra_op_num_threads = 1
    options.log_severity_level = 3
    source = str(model) if isinstance(model, Path) else model.SerializeToString()
    return onnxruntime.InferenceSession(source, options, ["CPUExecutionProvider"])
