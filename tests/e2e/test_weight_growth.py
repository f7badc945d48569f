"""Packing may fill channels and taps, but the weights of a model grow by 2 % at most, unless the target allows more."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

import pytest

from codegen.ir.form import Form
from codegen.ir.graph import Graph
from codegen.kernels import choose_kernels, select_kernels
from codegen.passes import simplify
from codegen.pipeline import Options, compile_file, read_model
from codegen.target import Weights, list_targets, load_target
from tests.support.real import MODELS
from tests.support.shared import shared_dir

CHIPS = ("cortex-m0plus", "cortex-m3", "cortex-m4", "cortex-m55", "rv32imc", "host")
PLAIN = "generic"
"""Its kernels store what was trained, and the factors and shifts that all kernels need."""
MOST = 0.02
TFLITE = (
    *(f"mlperf_tiny/{name}_int8.tflite" for name in ("ad", "kws", "resnet8", "strww", "vww")),
    *(f"tflite/{name}.tflite" for name in ("hello_world_int8", "micro_speech_int8", "mobilenet_v2_int8")),
)
LARGE = ("mobilenet_v2", "fastestdet")


def graph_of(model: str, target: str) -> Graph:
    return simplify(read_model(shared_dir() / "models" / model, Options(target=target), load_target(target)))


def packed_bytes(forms: Mapping[int, Form]) -> int:
    return sum(f.values.nbytes for form in forms.values() for f in form.params)


@pytest.mark.parametrize(
    "model",
    [
        pytest.param(m, id=Path(m).stem, marks=pytest.mark.slow if any(n in m for n in LARGE) else ())
        for m in (*TFLITE, *MODELS.values())
    ],
)
def test_packed_weights_are_hardly_larger(model: str) -> None:
    graph = graph_of(model, PLAIN)
    plain = packed_bytes(choose_kernels(graph, load_target(PLAIN)))
    targets = (replace(load_target(chip), weights=Weights(expand=False)) for chip in CHIPS)
    grown = {t.name: packed_bytes(choose_kernels(graph, t)) / plain - 1 for t in targets}
    assert max(grown.values()) <= MOST, grown


def test_only_this_machine_lets_weights_grow() -> None:
    assert [name for name in list_targets() if load_target(name).weights.expand] == ["host"]


def test_a_compiled_network_has_the_kernels_that_fit() -> None:
    model = shared_dir() / "models" / "onnx" / "mnist_cnn_qdq.onnx"
    chips = (PLAIN, "cortex-m55")
    plain, packed = (compile_file(model, Options(target=c, vectors=0)).program.packed_bytes for c in chips)
    assert plain < packed <= plain * (1 + MOST)


@pytest.mark.parametrize(("model", "chip"), [("tflite/hello_world_int8.tflite", "cortex-m55"), (TFLITE[3], "host")])
def test_a_target_may_allow_more(model: str, chip: str) -> None:
    """There the fastest kernels take what they want, which is more than the limit."""
    target = load_target(chip)
    graph = graph_of(model, chip)
    fastest = select_kernels(graph, target.isa)
    expanded = choose_kernels(graph, replace(target, weights=Weights(expand=True)))
    assert {i: form.kernel for i, form in expanded.items()} == {i: form.kernel for i, form in fastest.items()}
    limited = choose_kernels(graph, replace(target, weights=Weights(expand=False)))
    assert packed_bytes(fastest) > (1 + MOST) * packed_bytes(limited)
