"""From a float model and samples to C: the file that is written means what was decided, here and on ONNX Runtime."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import onnx
import pytest
from onnx import TensorProto, numpy_helper

import codegen
from codegen import threads
from codegen.api import compile_model, quantize, run, verify
from codegen.build import Net
from codegen.cli.command_line import run_line
from codegen.errors import CompileError
from codegen.frontends import own_mode, read_real, real_bytes
from codegen.quantizer.applied import stored_of
from codegen.real.engine import RealEngine
from codegen.verbs.ort_runner import OrtRunner
from tests.support.float_models import INPUT, OUTPUT, float_model, images

ort = pytest.importorskip("onnxruntime")


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return float_model(tmp_path_factory.mktemp("float") / "small.onnx")


@pytest.fixture(scope="module")
def quantized(model: Path) -> codegen.api.Quantized:
    return quantize(model, images(40))


SETTINGS = [
    {},
    {"granularity": "tensor"},
    {"scales": "pot"},
    {"weights": 4},
    {"scales": "pot", "granularity": "tensor", "weights": 4},
]


@pytest.mark.one_in(4)
@pytest.mark.parametrize("words", SETTINGS, ids=lambda w: "-".join(map(str, w.values())) or "default")
def test_what_is_written_is_verified_to_the_bit(model: Path, words: dict[str, object]) -> None:
    made = quantize(model, images(40), **words)
    assert verify(made.model, samples=2).equal
    assert made.report.refusal == ""


ROUNDED = {
    "half_up": "pot",
    "half_even": "pot_half_even",
    "half_down": "pot_half_down",
    "half_away": "pot_half_away",
}


@pytest.mark.one_in(4)
@pytest.mark.parametrize("rounding", ROUNDED)
def test_powers_of_two_are_compiled_as_shifts_with_the_rounding_asked_for(
    model: Path, rounding: str, tmp_path: Path
) -> None:
    config, path = tmp_path / "config.toml", tmp_path / "q.onnx"
    config.write_text(f'[quantize]\nscale = "pot"\n[quantize.activation]\nrounding = "{rounding}"\n')
    made = quantize(model, images(40), config=config, out=path)
    assert made.report.refusal == ""
    assert own_mode(path) == ROUNDED[rounding]
    assert verify(path, samples=4).equal
    x = images(200, seed=11)
    ours, single = run(path, x, "c"), run(path, x, "golden", requant="single")
    assert np.array_equal(ours, run(path, x, "golden", requant=ROUNDED[rounding]))
    assert np.array_equal(ours, single) == (rounding == "half_up")


def test_scales_that_are_no_powers_of_two_are_refused_as_shifts(
    quantized: codegen.api.Quantized, tmp_path: Path
) -> None:
    path = tmp_path / "q.onnx"
    path.write_bytes(quantized.model)
    assert own_mode(path) is None
    for mode in ROUNDED.values():
        with pytest.raises(CompileError, match="LAM-FIXEDPOINT-004"):
            compile_model(path, out=tmp_path / mode, requant=mode)
        assert not (tmp_path / mode).exists()
    assert verify(path, samples=2, requant="mul8").equal


def test_the_integer_network_is_close_to_the_float_one(model: Path, quantized: codegen.api.Quantized) -> None:
    x = images(20, seed=5)
    real, made = run(model, x, "float"), run(quantized.model, x, "c")
    noise = ((real - made) ** 2).sum()
    sqnr = 10 * np.log10((real**2).sum() / noise)
    assert sqnr > 25
    assert abs(sqnr - quantized.report.sqnr) < 9  # of eight samples, by which the best was chosen


def test_fewer_bits_are_judged_worse(model: Path) -> None:
    wide, narrow = (quantize(model, images(40), weights=bits).report for bits in (8, 3))
    assert wide.sqnr > narrow.sqnr + 4


@pytest.fixture(scope="module")
def narrow(model: Path, tmp_path_factory: pytest.TempPathFactory) -> codegen.api.Quantized:
    """Weights of 4 bits in all layers."""
    config = tmp_path_factory.mktemp("narrow") / "config.toml"
    config.write_text("[quantize.weights]\nbits = 4\n[quantize.mixed]\nfirst = 0\nlast = 0\n")
    return quantize(model, images(40), config=config)


def test_weights_of_4_bits_have_zero_points_and_are_close(model: Path, narrow: codegen.api.Quantized) -> None:
    held = {i.name: i for i in onnx.load_from_string(narrow.model).graph.initializer}
    zeros = [numpy_helper.to_array(t) for t in held.values() if t.data_type == TensorProto.INT4 and len(t.dims) == 1]
    assert zeros
    assert all(z.astype(np.int8).any() for z in zeros)
    assert verify(narrow.model, samples=4).equal
    x = images(20, seed=5)
    real, made = run(model, x, "float"), run(narrow.model, x, "c")
    assert 10 * np.log10((real**2).sum() / ((real - made) ** 2).sum()) > 18


@pytest.mark.parametrize("bits", [8, 4])
def test_onnx_runtime_gives_what_golden_gives_in_its_arithmetic(bits: int, request: pytest.FixtureRequest) -> None:
    quantized = request.getfixturevalue({8: "quantized", 4: "narrow"}[bits])
    x = images(10, seed=7)
    options = ort.SessionOptions()
    options.graph_optimization_level = ort.GraphOptimizationLevel.ORT_DISABLE_ALL
    session = ort.InferenceSession(quantized.model, options, providers=["CPUExecutionProvider"])
    step = next(t for t in quantized.report.tensors if t.tensor == OUTPUT).scale
    for i in range(len(x)):
        (theirs,) = session.run(None, {INPUT: x[i : i + 1]})
        ours = run(quantized.model, x[i : i + 1], "golden", requant="ort")
        assert np.abs(theirs - ours).max() <= 1.01 * step


def test_onnx_runtime_opens_products_of_three_axes_as_it_opens_any_model(tmp_path: Path) -> None:
    rng, net = np.random.default_rng(0), Net("three")
    y = net.input("x", (1, 6, 8))
    for _ in range(4):
        weights, bias = (rng.standard_normal(shape).astype(np.float32) for shape in ((8, 8), (8,)))
        y = net.onnx.Tanh(net.onnx.Add(net.onnx.MatMul(y, weights), bias))
    net.output(y, "y")
    (tmp_path / "three.onnx").write_bytes(net.to_onnx())
    made = quantize(tmp_path / "three.onnx", rng.standard_normal((20, 6, 8)).astype(np.float32), weights=4)
    session = ort.InferenceSession(made.model, providers=["CPUExecutionProvider"])
    assert session.run(None, {"x": rng.standard_normal((1, 6, 8)).astype(np.float32)})[0].shape == (1, 6, 8)


def test_reading_what_was_written_gives_the_same_network(
    model: Path, quantized: codegen.api.Quantized, tmp_path: Path
) -> None:
    path = tmp_path / "q.onnx"
    path.write_bytes(quantized.model)
    graph = read_real(path)
    assert real_bytes(graph) == quantized.model
    assert graph.inputs == (INPUT,)
    assert graph.faces == (OUTPUT,)


def test_same_samples_same_bytes(model: Path, quantized: codegen.api.Quantized) -> None:
    assert quantize(model, images(40)).model == quantized.model


@pytest.mark.parametrize("count", [1, 2, 5])
def test_nobody_sees_how_many_threads_there_are(
    model: Path, quantized: codegen.api.Quantized, monkeypatch: pytest.MonkeyPatch, count: int
) -> None:
    monkeypatch.setattr(threads, "width", lambda: count)
    assert quantize(model, images(40)).model == quantized.model


def test_the_example_is_quantized_to_the_same_bytes_each_time() -> None:
    folder = Path(__file__).resolve().parents[2] / "examples" / "digits"
    first, again = (quantize(folder / "digits.onnx", folder / "digits_calib.npz", recipe="fast") for _ in range(2))
    assert first.model == again.model
    held_out = np.load(folder / "digits_test.npz")
    scores = run(first.model, held_out["x"][:60], "golden")
    assert np.mean(scores.argmax(axis=1) == held_out["y"][:60]) > 0.95


def test_the_seed_chooses_the_samples(model: Path) -> None:
    x = images(60)
    first, again, other = (quantize(model, x, samples=10, seed=seed, recipe="fast").model for seed in (3, 3, 4))
    assert first == again
    assert first != other


def test_a_tensor_that_is_only_moved_keeps_its_integers(quantized: codegen.api.Quantized, tmp_path: Path) -> None:
    path = tmp_path / "q.onnx"
    path.write_bytes(quantized.model)
    table = quantized.table
    assert table["pool"] == table["add"]
    assert table["flat"] == table["mean"]
    stored = stored_of(read_real(path))
    assert "first" not in stored, "Relu is a part of the convolution"
    assert table[OUTPUT][:2] == (1 / 256, -128)


def test_biases_have_the_scale_of_their_products(quantized: codegen.api.Quantized, tmp_path: Path) -> None:
    path = tmp_path / "q.onnx"
    path.write_bytes(quantized.model)
    graph = read_real(path)
    first = next(n for n in graph.nodes if n.op_type == "Conv")
    weight, bias = (graph.values[first.inputs[i]].stored for i in (1, 2))
    assert bias.dtype == np.int32
    assert np.array_equal(bias.scale, np.float32(quantized.table[INPUT][0]) * weight.scale)


def test_a_file_says_what_the_words_leave_open(model: Path, tmp_path: Path) -> None:
    path = tmp_path / "q.toml"
    path.write_text("""
[quantize.activation]
method = "mse"
[[layer]]
name = "add"
activation = { bits = 8, symmetric = true }
[[tensor]]
name = "classes"
keep_float = true
""")
    report = quantize(model, images(40), config=path, weights=6, recipe="fast").report
    rows = {t.tensor: t for t in report.tensors}
    assert rows["add"].zero_point == 0
    assert rows["relu1"].method == "mse"
    assert OUTPUT not in rows
    assert {w.bits for w in report.weights if w.role == "weights"} == {6, 8}
    assert quantize(model, images(40), config=path, recipe="fast").report.weights[0].bits == 8


def test_the_report_stands_beside_the_model(model: Path, tmp_path: Path) -> None:
    out = tmp_path / "q.onnx"
    made = quantize(model, images(20), out)
    report = json.loads(out.with_suffix(".json").read_text())
    assert out.read_bytes() == made.model
    assert report["tensors"][0]["tensor"] == INPUT
    assert report["sqnr"] == made.report.sqnr
    assert {w["bits"] for w in report["weights"] if w["role"] == "bias"} == {32}


def test_the_report_tells_what_the_recipe_tried(model: Path) -> None:
    fast, default = (quantize(model, images(20), recipe=r).report for r in ("fast", None))
    assert [s.name for s in fast.stages] == ["extremes", "biases corrected"]
    kept = [s.sqnr for s in default.stages if s.kept]
    assert len(default.stages) > len(fast.stages)
    assert kept == sorted(kept)
    assert quantize(model, images(20), stop_after="calibrate").report.stages == ()
    with pytest.raises(CompileError, match="recipe: 'slow'"):
        quantize(model, images(20), recipe="slow")  # type: ignore[typeddict-item]


def test_a_node_that_stays_float_is_not_quantized(model: Path) -> None:
    made = quantize(model, images(20), keep_float=["dense"])
    assert "dense" not in made.table
    assert "w4" not in {w.tensor for w in made.report.weights}
    assert made.report.stay_float == ("dense",)


def test_stopping_after_calibration_gives_a_report_and_no_model(model: Path) -> None:
    made = quantize(model, images(20), stop_after="calibrate")
    assert made.model == b""
    assert made.report.tensors


def test_stopping_after_rewriting_gives_the_float_network(model: Path) -> None:
    made = quantize(model, images(20), stop_after="rewrite")
    x = images(3, seed=9)
    assert np.allclose(run(made.model, x, "float"), run(model, x, "float"), atol=1e-6)
    assert made.table == {}


def test_both_runners_see_the_same_tensors(model: Path) -> None:
    graph = read_real(model)
    sample = {INPUT: images(1)}
    ours, theirs = (dict(runner(graph).tensors(sample)) for runner in (RealEngine, OrtRunner()))
    assert ours.keys() == theirs.keys()
    for name, array in ours.items():
        assert np.allclose(array, theirs[name], rtol=1e-5, atol=1e-5), name


def test_a_float_model_is_compiled_on_the_way(model: Path, quantized: codegen.api.Quantized, tmp_path: Path) -> None:
    project = compile_model(model, out=tmp_path / "one", calib=images(40))
    again = compile_model(quantized.model, out=tmp_path / "two", name="small")
    assert project.manifest["name"] == "small"
    assert project.quantized.sqnr == quantized.report.sqnr
    for file in ("src/small_weights.c", "src/small.c"):
        assert (project.path / file).read_bytes() == (again.path / file).read_bytes()
    calib = tmp_path / "calib.npz"
    np.savez(calib, x=images(40))
    assert run_line(["compile", str(model), "-o", str(tmp_path / "three"), "--calib", str(calib)]) == 0
    plain = compile_model(model, out=tmp_path / "four")
    assert {port["dtype"] for port in plain.manifest["inputs"]} == {"f32"}


def test_ends_keep_eight_bits_unless_they_are_named(model: Path, tmp_path: Path) -> None:
    """The first and the last layer have 8 bits where few are asked for of all; what is said by name holds."""

    def bits(words: str) -> dict[str, int]:
        config = tmp_path / "q.toml"
        config.write_text(words)
        report = quantize(model, images(20), config=config, recipe="fast").report
        return {row.layer: row.bits for row in report.weights if row.role == "weights"}

    few = bits("[quantize.weights]\nbits = 4\n")
    first, *inner, last = few
    assert (few[first], few[last]) == (8, 8)
    assert {few[layer] for layer in inner} == {4}
    named = bits(f'[[layer]]\nname = "{last}"\nweights = {{ bits = 4 }}\n')
    assert named == {**dict.fromkeys(few, 8), last: 4}


def _labelled(model: Path, folder: Path) -> Path:
    """Samples with the classes that the float network gives them."""
    x = images(60, seed=11)
    path = folder / "labelled.npz"
    np.savez(path, x=x, y=run(model, x, "float").argmax(axis=1))
    return path


def test_the_score_of_both_networks_is_reported_and_a_missed_one_said(model: Path, tmp_path: Path) -> None:
    labelled = _labelled(model, tmp_path)
    good = quantize(model, images(40), eval_data=labelled, max_drop=5.0).report.scored
    with np.load(labelled) as file:
        one_by_one = ({"x": x, "y": y} for x, y in zip(file["x"], file["y"], strict=True))
        bad = quantize(model, images(40), eval_data=one_by_one, max_drop=5.0, weights=2).report.scored
    assert good.float_score == bad.float_score == 1.0
    assert good.engine == "c"
    assert good.drop == pytest.approx(100 * (1 - good.score))
    assert not good.missed
    assert bad.missed
    assert bad.score < good.score


def test_the_command_ends_with_1_where_too_much_is_lost(model: Path, tmp_path: Path) -> None:
    calib, out = tmp_path / "calib.npz", tmp_path / "q.onnx"
    np.savez(calib, x=images(40))
    words = ["quantize", str(model), "--calib", str(calib), "-o", str(out), "--eval", str(_labelled(model, tmp_path))]
    assert run_line([*words, "--max-drop", "5", "-q"]) == 0
    out.unlink()
    assert run_line([*words, "--max-drop", "5", "--weights", "2", "-q"]) == 1
    assert out.is_file()
    assert run_line([*words[:6], "--max-drop", "5", "-q"]) == 2, "nothing says what is scored"


def _refusal(model: Path | bytes, calib: object, **words: object) -> str:
    with pytest.raises(CompileError) as caught:
        quantize(model, calib, **words)
    return caught.value.problems()[0].code


def test_what_cannot_be_quantized_is_refused_by_an_id(model: Path, quantized: codegen.api.Quantized) -> None:
    x = images(20)
    broken = x.copy()
    broken[3, 0, 0, 0] = np.nan
    assert _refusal(quantized.model, x) == "LAM-QUANT-020"
    assert _refusal(model, broken) == "LAM-QUANT-022"
    assert _refusal(model, np.ones_like(x)) == "LAM-QUANT-023"
    assert _refusal(model, x, keep_float=["nobody"]) == "LAM-QUANT-024"
    assert _refusal(model, x, out=model.parent / "none" / "q.onnx") == "LAM-QUANT-026"
    assert _refusal(model, x[:, :, :7]) == "LAM-PREPROCESS-004"
    assert _refusal(model, np.rint(x).astype(np.int8)) == "LAM-API-030"
    assert _refusal(model, x[:0]) == "LAM-API-005"
    assert _refusal(model, []) == "LAM-API-005"
    assert _refusal(model, x, samples=0) == "LAM-API-012"
    assert _refusal(model, x, weights=1) == "LAM-IMPORT-030"


NOTHING_WOULD_BE_DONE = [
    {"metric": "top1"},
    {"scheduler": "local:2"},
    {"out": "q.tflite"},
    {"out": "q.onnx", "stop_after": "calibrate"},
    {"out": "q.onnx", "stop_after": "inspect"},
    {"table_out": "t.toml", "stop_after": "rewrite"},
]


@pytest.mark.parametrize("words", NOTHING_WOULD_BE_DONE, ids=lambda w: "-".join(w))
def test_what_nothing_would_be_done_with_is_refused(words: dict[str, str], model: Path, tmp_path: Path) -> None:
    places = {name: str(tmp_path / word) if name in ("out", "table_out") else word for name, word in words.items()}
    with pytest.raises(CompileError, match=f"LAM-IMPORT-030 {next(iter(words))}"):
        quantize(model, images(20), **places)
    assert list(tmp_path.iterdir()) == []


def test_ranges_of_a_table_are_told_from_made_up_ones(model: Path, tmp_path: Path) -> None:
    made = quantize(model, images(20), table_out=tmp_path / "t.toml", stop_after="calibrate")
    again = quantize(model, table_in=tmp_path / "t.toml", stop_after="calibrate")
    assert any(f"{len(made.table)} of {len(made.table)} ranges are as asked for" in note for note in again.report.notes)


def test_a_tensor_differs_from_what_the_float_network_gives(tmp_path: Path) -> None:
    """Biases that take up an error are the integers' alone: the row of an output says what its summary says."""
    path = float_model(tmp_path / "m.onnx", seed=4)
    config = tmp_path / "q.toml"
    config.write_text("[quantize.weights]\nbits = 3\n")
    report = quantize(path, images(40), recipe="fast", config=config).report
    assert report.stages[-1].kept
    assert report.quick_sqnr is not None
    row = next(t for t in report.tensors if t.tensor == OUTPUT)
    assert row.sqnr == pytest.approx(report.quick_sqnr, abs=0.5)


def test_a_type_of_no_layer_is_noted(model: Path, tmp_path: Path) -> None:
    config = tmp_path / "q.toml"
    config.write_text("[[layer]]\ntype = 'Convolution'\nweights = { bits = 4 }\n\n[[layer]]\ntype = 'CONV_2D'\n")
    notes = quantize(model, images(20), recipe="fast", config=config).report.notes
    assert [n for n in notes if "is no layer's" in n] == [n for n in notes if "'Convolution'" in n] != []


def test_scores_beside_boxes_are_noted(tmp_path: Path) -> None:
    """One scale for both: probabilities have few steps of those that the boxes need."""
    rng = np.random.default_rng(0)
    of_boxes, of_scores = (rng.normal(0, 0.3, (8, 4)).astype(np.float32) for _ in range(2))
    net = Net("head")
    op, features = net.onnx, net.input("x", (1, 8))
    boxes = op.Mul(op.MatMul(features, of_boxes), np.float32(40))
    net.output(op.Concat(boxes, op.Sigmoid(op.MatMul(features, of_scores), name="scores"), axis=1), "y")
    (tmp_path / "h.onnx").write_bytes(net.to_onnx())
    x = rng.normal(0, 1, (40, 1, 8)).astype(np.float32)
    notes = quantize(tmp_path / "h.onnx", x, recipe="fast").report.notes
    (note,) = (n for n in notes if "joined with larger" in n)
    assert note.startswith("scores")


def test_pictures_in_bytes_are_noted(model: Path) -> None:
    bytes_of = np.random.default_rng(1).integers(0, 256, (20, 3, 8, 8)).astype(np.float32)
    for x, said in ((bytes_of, 1), (bytes_of / 255, 0), (bytes_of - 128, 0)):
        notes = quantize(model, x, recipe="fast").report.notes
        assert sum("[preprocess]" in note for note in notes) == said
