"""Quantized networks as many exporters write them: those of 16-bit tensors, and those that end in a float function.

Generated files of the shared models, read; a slow test compares each layer with ONNX Runtime.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from codegen.frontends.onnx import import_onnx
from codegen.ir.quant import MODES, DType, Mode
from tests.e2e.ort import Oracle, run_forced
from tests.support.shared import shared_dir

WORDS = (
    "grucell__ort_ts17_qdq_s16s8_ms",
    "mbv3__ort_dyn21_qdq_s16s16",
    "resnet__ort_dyn21_qdq_u16u8_pt",
    "shuffle__ort_dyn21_qdq_s16s8_pc",
    "tcn__ort_dyn21_qdq_u16u8_pt",
    "transf_noln__ort_dyn21_qdq_u16u8_pt",
    "unet__ort_dyn21_qdq_s16s16",
    "yolo__ort_dyn21_qdq_s16s8_pc",
)
TAILS = ("dscnn__fx_fbgemm", "dscnn__pt2e_xnn", "tcn__ort_ts17_onlyconv", "unet__brevitas_fx")


def dialect(name: str) -> Path:
    return shared_dir() / "models" / "dialects" / f"{name}.onnx"


@pytest.mark.one_in(2)
@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("name", WORDS)
def test_networks_of_words_are_read_in_every_mode(name: str, mode: Mode) -> None:
    graph = import_onnx(dialect(name), mode=mode)
    kinds = {v.type.dtype for v in graph.values.values() if not v.is_const}
    assert kinds == {DType.S16}


@pytest.mark.parametrize("name", TAILS)
def test_last_function_without_a_quantizer_is_read(name: str) -> None:
    graph = import_onnx(dialect(name), mode="single")
    ((output,), (kind,)) = graph.outputs, [graph.type(o.value) for o in graph.outputs]
    assert output.model_dtype == "float32"
    assert kind.quant is not None
    assert kind.quant.scale == 1 / 256


@pytest.mark.slow
@pytest.mark.parametrize("mode", ["single", "ort"])
@pytest.mark.parametrize("name", WORDS)
def test_each_layer_of_words_is_within_one_step_of_onnx_runtime(name: str, mode: Mode) -> None:
    graph = import_onnx(dialect(name), mode=mode, io_type="model", io_layout="model")
    oracle = Oracle(dialect(name), graph)
    rng = np.random.default_rng(3)
    sample = {i.name: rng.standard_normal(i.model_shape).astype(np.float32) for i in graph.inputs}
    known = {tensor: _signed(array) for tensor, array in oracle.tensors(sample).items()}
    pairs = run_forced(graph, {i.value: sample[i.name] for i in graph.inputs}, known)
    assert len(pairs) > 5
    worst = {t: int(np.abs(a.astype(np.int64) - b).max()) for t, (a, b) in pairs.items()}
    assert max(worst.values()) <= 1, worst


def _signed(array: np.ndarray) -> np.ndarray:
    """uint16 as the network holds it."""
    return (array.astype(np.int32) - 32768).astype(np.int16) if array.dtype == np.uint16 else array
