"""Caffe networks as they are read: old spellings, phases, results, weights of old files, and every damage refused."""

from __future__ import annotations

import contextlib
from pathlib import Path

import numpy as np
import pytest

from codegen.errors import CompileError
from codegen.frontends import model_digest
from codegen.frontends.caffe.real import read_real
from codegen.frontends.caffe.schema import message_class
from tests.support.caffe import LENET, caffemodel, drawn, given, layer, lenet_blobs, run_opencv, run_ours, written
from tests.support.tools import require_module

X = {"x": (1, 3, 6, 7)}
CONV = "convolution_param { num_output: 4 kernel_size: 3 }"


def rng() -> np.random.Generator:
    return np.random.default_rng(0)


def test_the_old_spelling_means_the_same(tmp_path: Path) -> None:
    told = "convolution_param { num_output: 4 kernel_size: 3 } blobs_lr: 1 weight_decay: 0"
    text = f"""input: "x" input_dim: 1 input_dim: 3 input_dim: 6 input_dim: 7
layers {{ name: "c" type: CONVOLUTION bottom: "x" top: "c" {told} }}
layers {{ name: "r" type: RELU bottom: "c" top: "c" }}
layers {{ name: "p" type: POOLING bottom: "c" top: "p" pooling_param {{ pool: AVE kernel_size: 2 stride: 2 }} }}
layers {{ name: "f" type: INNER_PRODUCT bottom: "p" top: "f" inner_product_param {{ num_output: 5 }} }}
"""
    path = written(tmp_path, text)
    blobs = {name: [drawn(rng(), s), drawn(rng(), s[:1])] for name, s in {"c": (4, 3, 3, 3), "f": (5, 24)}.items()}
    path.with_suffix(".caffemodel").write_bytes(caffemodel(blobs, legacy=True))
    x = {"x": drawn(rng(), X["x"])}
    ours = run_ours(path, x)
    np.testing.assert_allclose(ours["f"], run_opencv(path, x, ["f"])["f"], rtol=1e-5, atol=1e-5)


def test_shapes_at_the_head_of_a_file(tmp_path: Path) -> None:
    text = 'input: "x" input_shape { dim: 2 dim: 5 }\n' + layer("y", "ReLU", "x")
    assert read_real(written(tmp_path, text)).type("x").shape == (2, 5)


def test_a_shape_that_is_given_goes_before_that_of_the_file(tmp_path: Path) -> None:
    path = written(tmp_path, given({"x": (10, 3, 6, 7)}) + layer("y", "ReLU", "x"))
    assert read_real(path, shapes={"x": (1, 3, 9, 9)}).type("y").shape == (1, 3, 9, 9)


def test_training_is_left_out(tmp_path: Path) -> None:
    text = """
layer { name: "d" type: "Data" top: "x" top: "label" include { phase: TRAIN } data_param { batch_size: 64 } }
layer { name: "d" type: "Data" top: "x" top: "label" include { phase: TEST } transform_param { scale: 0.5 } }
layer { name: "noise" type: "Threshold" bottom: "x" top: "noise" include { phase: TRAIN } }
layer { name: "drop" type: "Dropout" bottom: "x" top: "x" dropout_param { dropout_ratio: 0.5 } }
layer { name: "y" type: "ReLU" bottom: "x" top: "y" }
layer { name: "loss" type: "SoftmaxWithLoss" bottom: "y" bottom: "label" top: "loss" }
layer { name: "right" type: "Accuracy" bottom: "y" bottom: "label" top: "right" exclude { phase: TRAIN } }
layer { name: "extra" type: "ReLU" bottom: "x" top: "extra" include { stage: "deploy" } }
"""
    graph = read_real(written(tmp_path, text), shapes={"x": (1, 3, 4, 4)})
    assert (graph.inputs, graph.faces) == (("x",), ("y",))


def test_the_results_are_the_blobs_that_no_layer_reads(tmp_path: Path) -> None:
    text = (
        given(X)
        + layer("a", "ReLU", "x")
        + layer("b", "TanH", "a")
        + layer("c", "AbsVal", "a")
        + layer("d", "ReLU", "x")
    )
    assert read_real(written(tmp_path, text)).faces == ("b", "c", "d")
    silent = text + layer("s", "Silence", "d c", tops="s").replace('top: "s"', "")
    assert read_real(written(tmp_path, silent)).faces == ("b",)


def test_a_layer_in_place_gives_its_blob_another_value(tmp_path: Path) -> None:
    text = given(X) + layer("a", "AbsVal", "x") + layer("t", "TanH", "a", tops="a") + layer("r", "ReLU", "a", tops="a")
    graph, x = read_real(written(tmp_path, text)), drawn(rng(), X["x"])
    assert (graph.outputs, graph.faces) == (("r",), ("a",))
    np.testing.assert_allclose(run_ours(tmp_path / "net.prototxt", {"x": x})["a"], np.tanh(abs(x)), rtol=1e-6)


def test_an_input_that_is_a_result_is_copied(tmp_path: Path) -> None:
    path = written(tmp_path, given(X) + layer("y", "Dropout", "x") + layer("parts", "Split", "x", tops="a b"))
    x = drawn(rng(), X["x"])
    found = run_ours(path, {"x": x})
    assert list(found) == ["y", "a", "b"]
    assert all((y == x).all() for y in found.values())


def test_a_convolution_of_each_channel_by_itself_has_names_of_forks(tmp_path: Path) -> None:
    x, weights = {"x": drawn(rng(), X["x"])}, {"y": [drawn(rng(), (3, 1, 3, 3)), drawn(rng(), (3,))]}
    grouped = layer("y", "Convolution", "x", "convolution_param { num_output: 3 kernel_size: 3 group: 3 }")
    wanted = run_ours(written(tmp_path, given(X) + grouped, weights), x)["y"]
    for kind in ("DepthwiseConvolution", "ConvolutionDepthwise"):
        text = given(X) + layer("y", kind, "x", "convolution_param { num_output: 3 kernel_size: 3 }")
        assert (run_ours(written(tmp_path, text, weights), x)["y"] == wanted).all()


def test_the_bilinear_filler_makes_images_larger(tmp_path: Path) -> None:
    require_module("cv2")
    import cv2

    told = 'num_output: 2 group: 2 kernel_size: 4 stride: 2 pad: 1 bias_term: false weight_filler { type: "bilinear" }'
    text = given({"x": (1, 2, 6, 7)}) + layer("y", "Deconvolution", "x", f"convolution_param {{ {told} }}")
    x = drawn(rng(), (1, 2, 6, 7))
    found = run_ours(written(tmp_path, text, {"other": [x]}), {"x": x})["y"][0]
    for channel, image in zip(found, x[0], strict=True):
        wanted = cv2.resize(image, (14, 12), interpolation=cv2.INTER_LINEAR)
        np.testing.assert_allclose(channel[1:-1, 1:-1], wanted[1:-1, 1:-1], rtol=1e-5, atol=1e-6)


def test_a_logarithm_has_base_scale_and_shift(tmp_path: Path) -> None:
    x = abs(drawn(rng(), X["x"]))
    path = written(tmp_path, given(X) + layer("y", "Log", "x", "log_param { base: 2 scale: 3 shift: 0.5 }"))
    np.testing.assert_allclose(run_ours(path, {"x": x})["y"], np.log2(3 * x + 0.5), rtol=1e-5, atol=1e-6)


def test_pixels_are_repeated(tmp_path: Path) -> None:
    x = drawn(rng(), X["x"])
    path = written(tmp_path, given(X) + layer("y", "Upsample", "x", "upsample_param { scale: 3 }"))
    assert (run_ours(path, {"x": x})["y"] == x.repeat(3, 2).repeat(3, 3)).all()


def test_a_bias_is_added_to_channels(tmp_path: Path) -> None:
    x, bias = drawn(rng(), X["x"]), drawn(rng(), (3,))
    path = written(tmp_path, given(X) + layer("y", "Bias", "x"), {"y": [bias]})
    assert (run_ours(path, {"x": x})["y"] == x + bias[:, None, None]).all()


def test_normalize_has_one_factor_or_one_for_each_channel(tmp_path: Path) -> None:
    x, found = {"x": drawn(rng(), X["x"])}, []
    for shared, count in (("true", 1), ("false", 3)):
        text = given(X) + layer("y", "Normalize", "x", f"norm_param {{ channel_shared: {shared} }}")
        found.append(run_ours(written(tmp_path, text, {"y": [np.full(count, 20.0)]}), x)["y"])
    assert (found[0] == found[1]).all()


def test_two_blobs_are_multiplied_along_axes(tmp_path: Path) -> None:
    x, by = drawn(rng(), X["x"]), drawn(rng(), (1, 3))
    text = given({**X, "by": (1, 3)}) + layer("y", "Scale", "x by", "scale_param { axis: 0 }")
    assert (run_ours(written(tmp_path, text), {"x": x, "by": by})["y"] == x * by[:, :, None, None]).all()


def test_a_batch_norm_and_its_scale_are_one_and_what_reads_between_them_stays(tmp_path: Path) -> None:
    blobs = {"n": [drawn(rng(), (3,)), 1 + abs(drawn(rng(), (3,))), np.ones(1)], "s": [np.full(3, 2.0), np.ones(3)]}
    pair = given(X) + layer("n", "BatchNorm", "x") + layer("s", "Scale", "n", "scale_param { bias_term: true }")
    graph = read_real(written(tmp_path, pair, blobs))
    assert [type(node.op).__name__ for node in graph.nodes] == ["BatchNorm"]
    path = written(tmp_path, pair + layer("between", "ReLU", "n"), blobs)
    found = run_ours(path, {"x": drawn(rng(), X["x"])})
    np.testing.assert_allclose(found["between"], np.maximum((found["s"] - 1) / 2, 0), atol=1e-6)


def test_other_weights_are_another_model(tmp_path: Path) -> None:
    path = written(tmp_path, LENET, lenet_blobs(0))
    first = model_digest(path)
    written(tmp_path, LENET, lenet_blobs(1))
    assert model_digest(path) != first


def spoiled(told: str, kind: str = "Convolution", head: str = "") -> str:
    """A network of one layer."""
    return (head or given(X)) + layer("c", kind, "x", told)


WHOLE = {"c": [np.zeros((4, 3, 3, 3)), np.zeros(4)]}
TEXTS = {
    "unknown layer": (spoiled("", "Quux"), "LAM-IMPORT-007"),
    "no text": ("", "LAM-IMPORT-060"),
    "cut off": (spoiled(CONV)[:-20], "LAM-IMPORT-060"),
    "unknown field": (spoiled("convolution_param { kernal_size: 3 }"), "LAM-IMPORT-060"),
    "unknown word": (spoiled("pooling_param { pool: MEDIAN }", "Pooling"), "LAM-IMPORT-060"),
    "a solver's file": ('net: "train_val.prototxt"\nbase_lr: 0.01\n', "LAM-IMPORT-060"),
    "negative padding": (spoiled("convolution_param { num_output: 4 kernel_size: 3 pad: -1 }"), "LAM-IMPORT-060"),
    "both spellings": (spoiled(CONV) + 'layers { name: "r" type: RELU bottom: "c" top: "r" }', "LAM-IMPORT-060"),
    "only training": ('layer { type: "ReLU" bottom: "x" top: "y" include { phase: TRAIN } }', "LAM-IMPORT-060"),
    "only a loss": (given({**X, "label": (1,)}) + layer("loss", "SoftmaxWithLoss", "x label"), "LAM-IMPORT-060"),
    "all silent": (given(X) + layer("s", "Silence", "x"), "LAM-IMPORT-060"),
    "unknown bottom": (given(X) + layer("c", "ReLU", "z"), "LAM-IMPORT-015"),
    "a circle": (given(X) + layer("a", "ReLU", "b") + layer("b", "ReLU", "a"), "LAM-IMPORT-015"),
    "two makers": (given(X) + layer("a", "ReLU", "x") + layer("b", "ReLU", "x", tops="a"), "LAM-IMPORT-016"),
    "two tops of one name": (given(X) + layer("a", "Split", "x", tops="b b"), "LAM-IMPORT-016"),
    "an input twice": (given(X) + given(X) + layer("a", "ReLU", "x"), "LAM-IMPORT-016"),
    "no bottom": (given(X) + layer("a", "ReLU", ""), "LAM-IMPORT-015"),
    "no kernel": (spoiled("convolution_param { num_output: 4 }"), "LAM-IMPORT-064"),
    "no outputs": (spoiled("convolution_param { kernel_size: 3 }"), "LAM-IMPORT-064"),
    "stride 0": (spoiled("convolution_param { num_output: 4 kernel_size: 3 stride: 0 }"), "LAM-IMPORT-064"),
    "groups": (spoiled("convolution_param { num_output: 4 kernel_size: 3 group: 2 }"), "LAM-IMPORT-064"),
    "height alone": (spoiled("convolution_param { num_output: 4 kernel_h: 3 }"), "LAM-IMPORT-064"),
    "three axes": (spoiled("convolution_param { num_output: 4 " + "kernel_size: 3 " * 3 + "}"), "LAM-IMPORT-022"),
    "too small an image": (spoiled("convolution_param { num_output: 4 kernel_size: 9 }"), "LAM-IMPORT-063"),
    "too wide a pool": (spoiled("pooling_param { kernel_size: 12 }", "Pooling"), "LAM-IMPORT-014"),
    "padding hides the pool": (spoiled("pooling_param { kernel_size: 2 pad: 2 }", "Pooling"), "LAM-IMPORT-064"),
    "a pool at random": (spoiled("pooling_param { pool: STOCHASTIC kernel_size: 2 }", "Pooling"), "LAM-IMPORT-022"),
    "a base below zero": (spoiled("exp_param { base: -3 }", "Exp"), "LAM-IMPORT-064"),
    "a base of one": (spoiled("log_param { base: 1 }", "Log"), "LAM-IMPORT-064"),
    "an even size": (spoiled("lrn_param { local_size: 4 }", "LRN"), "LAM-IMPORT-064"),
    "statistics of the batch": (spoiled("batch_norm_param { use_global_stats: false }", "BatchNorm"), "LAM-IMPORT-022"),
    "an order with an axis twice": (spoiled("permute_param { order: 1 order: 1 }", "Permute"), "LAM-IMPORT-064"),
    "an order beyond": (spoiled("permute_param { order: 5 }", "Permute"), "LAM-IMPORT-064"),
    "another count of numbers": (spoiled("reshape_param { shape { dim: 5 } }", "Reshape"), "LAM-IMPORT-064"),
    "two sizes left open": (spoiled("reshape_param { shape { dim: -1 dim: -1 } }", "Reshape"), "LAM-IMPORT-064"),
    "nothing left": (spoiled("reshape_param { shape { dim: 100 dim: -1 } }", "Reshape"), "LAM-IMPORT-064"),
    "unequal parts": (given(X) + layer("s", "Slice", "x", tops="a b"), "LAM-IMPORT-064"),
    "points out of order": (
        given(X) + layer("s", "Slice", "x", "slice_param { slice_point: 2 slice_point: 1 }", "a b c"),
        "LAM-IMPORT-064",
    ),
    "blobs of two shapes": (
        given({**X, "z": (1, 3, 6, 1)}) + layer("e", "Eltwise", "x z"),
        "LAM-IMPORT-014",
    ),
    "a coefficient too few": (
        given(X) + layer("e", "Eltwise", "x x", "eltwise_param { coeff: 2 }"),
        "LAM-IMPORT-064",
    ),
    "a sum of one": (spoiled("", "Eltwise"), "LAM-IMPORT-015"),
    "a crop beyond": (given(X) + layer("c", "Crop", "x x", "crop_param { offset: 1 }"), "LAM-IMPORT-014"),
    "blobs that do not join": (given({**X, "z": (1, 3, 9, 7)}) + layer("j", "Concat", "x z"), "LAM-IMPORT-014"),
    "no boxes": (given(X) + layer("p", "PriorBox", "x x"), "LAM-IMPORT-064"),
    "a factor of zero": (spoiled("interp_param { zoom_factor: 0 }", "Interp"), "LAM-IMPORT-064"),
    "a huge result": (spoiled("interp_param { height: 1000000 width: 1000000 }", "Interp"), "LAM-IMPORT-064"),
    "a window behind the map": (
        spoiled("pooling_param { pool: AVE kernel_size: 1 stride: 4 }", "Pooling", given({"x": (1, 3, 4, 4)})),
        "LAM-IMPORT-064",
    ),
    "an axis beyond": (spoiled("softmax_param { axis: 4 }", "Softmax"), "LAM-IMPORT-064"),
    "a negative size": (spoiled(CONV, head=given({"x": (1, 3, -6, 7)})), "LAM-IMPORT-050"),
    "a size of zero": (spoiled(CONV, head=given({"x": (1, 3, 0, 7)})), "LAM-IMPORT-050"),
    "a huge size": (spoiled(CONV, head=given({"x": (1, 3, 1 << 40, 7)})), "LAM-IMPORT-004"),
    "a huge image": (spoiled(CONV, head=given({"x": (1, 3, 1 << 20, 1 << 20)})), "LAM-IMPORT-004"),
    "no size": (spoiled(CONV, head='input: "x"\n'), "LAM-IMPORT-009"),
    "half a size": (spoiled(CONV, head='input: "x" input_dim: 1 input_dim: 3\n'), "LAM-IMPORT-064"),
    "no image": (spoiled(CONV, head=given({"x": (1, 3)})), "LAM-IMPORT-014"),
    "as many channels": (spoiled(CONV, head=given({"x": (1, 5, 6, 7)})), "LAM-IMPORT-063"),
}


@pytest.mark.parametrize("what", TEXTS)
def test_a_damaged_text_is_refused(what: str, tmp_path: Path) -> None:
    text, code = TEXTS[what]
    with pytest.raises(CompileError) as refused:
        read_real(written(tmp_path, text, WHOLE))
    assert {problem.code for problem in refused.value.problems()} == {code}, refused.value


def cut(data: bytes) -> bytes:
    return data[: len(data) * 2 // 3]


def _resized(shape: tuple[int, ...]) -> bytes:
    """The weights with another shape for the same numbers."""
    net = message_class("NetParameter").FromString(GOOD)
    del net.layer[0].blobs[0].shape.dim[:]
    net.layer[0].blobs[0].shape.dim.extend(shape)
    return bytes(net.SerializeToString())


GOOD = caffemodel(WHOLE)
WEIGHTS: dict[str, tuple[bytes | None, str]] = {
    "none": (None, "LAM-IMPORT-061"),
    "empty": (b"", "LAM-IMPORT-003"),
    "cut off": (cut(GOOD), "LAM-IMPORT-003"),
    "noise": (bytes(range(255, 0, -1)), "LAM-IMPORT-003"),
    "text": (LENET.encode(), "LAM-IMPORT-003"),
    "a pointer": (b"version https://git-lfs.github.com/spec/v1\noid sha256:0", "LAM-IMPORT-003"),
    "no layer": (b"\x0a\x03net", "LAM-IMPORT-003"),
    "of another network": (caffemodel({"d": WHOLE["c"]}), "LAM-IMPORT-062"),
    "no bias": (caffemodel({"c": WHOLE["c"][:1]}), "LAM-IMPORT-062"),
    "a blob too many": (caffemodel({"c": [*WHOLE["c"], np.zeros(4)]}), "LAM-IMPORT-062"),
    "another kernel": (caffemodel({"c": [np.zeros((4, 3, 5, 5)), np.zeros(4)]}), "LAM-IMPORT-063"),
    "turned": (caffemodel({"c": [np.zeros((3, 4, 3, 3)), np.zeros(4)]}), "LAM-IMPORT-063"),
    "a bias of other length": (caffemodel({"c": [np.zeros((4, 3, 3, 3)), np.zeros(5)]}), "LAM-IMPORT-063"),
    "a negative size": (_resized((-4, 3, 3, 3)), "LAM-IMPORT-018"),
    "fewer numbers than the shape": (_resized((5, 3, 3, 3)), "LAM-IMPORT-018"),
    "a huge shape": (_resized((1 << 40, 1 << 40)), "LAM-IMPORT-018"),
}


@pytest.mark.parametrize("what", WEIGHTS)
def test_damaged_weights_are_refused(what: str, tmp_path: Path) -> None:
    data, code = WEIGHTS[what]
    path = written(tmp_path, spoiled(CONV))
    if data is not None:
        path.with_suffix(".caffemodel").write_bytes(data)
    with pytest.raises(CompileError) as refused:
        read_real(path)
    assert {problem.code for problem in refused.value.problems()} == {code}, refused.value


def test_no_damaged_byte_of_the_weights_is_a_fault_of_ours(tmp_path: Path) -> None:
    path = written(tmp_path, spoiled(CONV))
    for place in range(len(GOOD)):
        broken = bytearray(GOOD)
        broken[place] ^= 0xFF
        path.with_suffix(".caffemodel").write_bytes(bytes(broken))
        _read_or_refused(path)


def test_no_text_that_is_cut_off_is_a_fault_of_ours(tmp_path: Path) -> None:
    for end in range(0, len(LENET), 9):
        _read_or_refused(written(tmp_path, LENET[:end], lenet_blobs()))


def _read_or_refused(path: Path) -> None:
    with contextlib.suppress(CompileError):
        read_real(path)


def test_a_binary_file_is_no_prototxt(tmp_path: Path) -> None:
    path = tmp_path / "net.prototxt"
    path.write_bytes(GOOD)
    with pytest.raises(CompileError, match="LAM-IMPORT-003"):
        read_real(path)


def test_every_problem_is_told_at_once(tmp_path: Path) -> None:
    text = (
        given(X)
        + layer("a", "Quux", "x")
        + layer("b", "ReLU", "a")
        + layer("c", "Softmax", "x", "softmax_param { axis: 9 }")
    )
    with pytest.raises(CompileError) as refused:
        read_real(written(tmp_path, text))
    assert [problem.code for problem in refused.value.problems()] == ["LAM-IMPORT-007", "LAM-IMPORT-064"]
