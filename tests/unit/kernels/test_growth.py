"""What packing adds to the weights, which layers it is given to, and what `inspect` says of it."""

from __future__ import annotations

import codegen
from codegen.kernels import choose_kernels, packing_growth, select_kernels
from codegen.passes import simplify
from codegen.pipeline import Options, compile_file, read_model
from codegen.target import load_target
from tests.support.shared import shared_dir

MODELS = shared_dir() / "models"
MODEL = MODELS / "mlperf_tiny" / "resnet8_int8.tflite"
SMALL = MODELS / "onnx" / "mnist_cnn_qdq.onnx"


def test_inspect_shows_what_packing_adds() -> None:
    plain = compile_file(MODEL, Options(target="generic", vectors=0)).program.packed_bytes
    packed = compile_file(MODEL, Options(target="cortex-m4", vectors=0)).program.packed_bytes
    added = [layer.added_bytes for layer in codegen.inspect(MODEL, "cortex-m4").layers]
    assert sum(added) == packed - plain > 0


def test_packing_as_trained_adds_nothing() -> None:
    assert not any(layer.added_bytes for layer in codegen.inspect(MODEL, "generic").layers)


def test_layers_of_much_work_per_added_byte_keep_their_fast_kernels() -> None:
    target = load_target("cortex-m4")
    graph = simplify(read_model(SMALL, Options(target=target.name), target))
    fastest, chosen = select_kernels(graph, target.isa), choose_kernels(graph, target)
    worth: dict[bool, list[float]] = {True: [], False: []}
    for i, form in fastest.items():
        view = graph.view(graph.nodes[i])
        if added := packing_growth(form, view):
            worth[chosen[i].kernel == form.kernel].append(view.op.macs(view.ins, view.outs) / added)
        else:
            assert chosen[i].kernel == form.kernel
    assert min(worth[True]) > max(worth[False])


def test_inspect_says_which_kernel_would_take_too_much() -> None:
    layers = codegen.inspect(SMALL, "cortex-m4").layers
    left = [layer for layer in layers if "would add" in layer.form]
    assert [layer.operator for layer in left] == ["Dense"]
    assert "not dsp_dense_direct, which would add 530 B to the weights" in left[0].form
    assert not left[0].added_bytes
