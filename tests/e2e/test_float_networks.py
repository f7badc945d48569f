"""Float networks: the C equals the golden model to the bit, and both agree with ONNX Runtime and LiteRT."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from codegen import api
from codegen.api import verify
from codegen.build import Net
from codegen.errors import CompileError, ModelRejected
from codegen.golden.interface import graph_ports, network_feeds
from codegen.golden.interpreter import run_graph
from codegen.ir.quant import Array
from codegen.pipeline import Compiled, Options, compile_file, read_model
from codegen.resources import resource_dir
from codegen.target import load_target
from codegen.verbs.samples import Sample
from tests.support.networks import NETWORKS, in_float
from tests.support.real import real_inputs
from tests.support.shared import shared_dir
from tests.support.tools import require_board

QUICK = ("tflite/hello_world_f32.tflite", "mlperf_tiny/kws_f32.tflite", "onnx/mnist_cnn_f32.onnx")
SLOW = (
    *("mlperf_tiny/ad_f32.tflite", "mlperf_tiny/resnet8_f32.tflite", "mlperf_tiny/vww_f32.tflite"),
    *(f"mlperf_tiny_onnx/{name}_f32.onnx" for name in ("ad", "kws", "resnet8", "vww")),
    *(f"onnx/{name}_f32.onnx" for name in ("espcn_x3", "dtln_1", "silero_vad_16k", "sinet_portrait")),
    *("onnx/fastestdet_352_f32.onnx", "onnx/yunet_n_320_f32.onnx", "float/resnet20_cifar10_f32.onnx"),
    *("float/mobilenet_v1_025_224_f32.onnx", "float/efficientnet_lite0_w16.onnx"),
)
ARENAS = {"resnet8": 62_000, "kws": 23_500, "vww": 113_000}
"""At most, with the goal memory on a Cortex-M4."""
ARENA_OF_MOBILENET = 850_000
"""At most, of MobileNetV2 on a Cortex-M7 with the goal memory; the float image that it reads has 602,112 B."""
LARGE = 4 << 20
"""Files from so many bytes on are built with their weights beside the C: a compiler takes minutes for such arrays."""
STORED = {"f16": (1e-3, 0.53), "bf16": (1e-2, 0.53), "s8": (4e-2, 0.3), "s4": (0.5, 0.18)}
"""What weights may be stored as: how far a result may be from the exact network's, and the share of its flash."""
LEAST_NORMAL = np.finfo(np.float32).tiny
CLOSE = 1e-4
"""Of the largest result: what runtimes that sum in another order may be away."""


@pytest.mark.one_in(2)
@pytest.mark.parametrize("name", [*QUICK, *(pytest.param(name, marks=pytest.mark.slow) for name in SLOW)])
def test_golden_and_c_are_equal_and_agree_with_the_runtime(name: str) -> None:
    path = shared_dir() / "models" / name
    sample = real(path) if path.suffix == ".onnx" else noise(path)
    result = verify(path, inputs=[sample], samples=1, weights="blob" if path.stat().st_size >= LARGE else "c")
    assert result.equal, result.first_difference and result.first_difference.text()
    expected = of_litert(path, sample) if path.suffix == ".tflite" else of_onnxruntime(path, sample)
    actual = of_golden(path, sample)
    assert len(actual) == len(expected)
    for x, y in zip(expected, actual, strict=True):
        assert x.shape == y.shape
        assert float(np.abs(x - y).max()) <= CLOSE * float(np.abs(x).max())


@pytest.mark.parametrize(
    "chip", ["cortex-m55", *(pytest.param(chip, marks=pytest.mark.slow) for chip in ("cortex-m4", "cortex-m7"))]
)
def test_denormal_numbers_count_on_emulated_chips(chip: str, tmp_path: Path) -> None:
    """Helium's vectors, which gcc would make of plain loops, flush them to zero."""
    require_board(chip)
    path = tmp_path / "denormal.onnx"
    path.write_bytes(of_least_numbers())
    sample = noise(path)["x"] * np.float32(1e-20)
    assert 0 < np.abs(np.concatenate([y.reshape(-1) for y in of_golden(path, {"x": sample})])).max() < LEAST_NORMAL
    result = verify(path, target=chip, inputs=[{"x": sample}], samples=1)
    assert result.equal, result.first_difference and result.first_difference.text()


@pytest.mark.parametrize("name", [QUICK[0], QUICK[2], pytest.param(QUICK[1], marks=pytest.mark.slow)])
def test_fused_sums_are_golden_s_too_and_round_otherwise(name: str) -> None:
    path = shared_dir() / "models" / name
    sample, fused = noise(path), Options(float_sums="fused", vectors=0)
    result = verify(path, inputs=[sample], samples=1, float_sums="fused")
    assert result.equal, result.first_difference and result.first_difference.text()
    made, separate = compile_file(path, fused), compile_file(path, Options(vectors=0))
    assert made.manifest["float_sums"] == "fused"
    assert "float_sums" not in separate.manifest
    feeds = network_feeds(graph_ports(made.imported)[0], sample)
    one, other = (run_graph(m.imported, feeds)[m.imported.outputs[0].value] for m in (made, separate))
    assert not np.array_equal(one, other)
    assert float(np.abs(one - other).max()) <= CLOSE * float(np.abs(one).max())


@pytest.mark.parametrize("name", [QUICK[0], pytest.param(QUICK[1], marks=pytest.mark.slow)])
def test_flushed_sums_are_golden_s_too(name: str) -> None:
    path = shared_dir() / "models" / name
    result = verify(path, inputs=[noise(path)], samples=1, float_sums="flushed")
    assert result.equal, result.first_difference and result.first_difference.text()
    assert compile_file(path, Options(vectors=0, float_sums="flushed")).manifest["float_sums"] == "flushed"


@pytest.mark.parametrize("chip", ["cortex-m55", "cortex-m4"])
def test_flushed_sums_know_no_numbers_below_the_least(chip: str, tmp_path: Path) -> None:
    require_board(chip)
    path = tmp_path / "denormal.onnx"
    path.write_bytes(of_least_numbers())
    sample = noise(path)["x"] * np.float32(1e-20)
    flushed = compile_file(path, Options(vectors=0, float_sums="flushed")).imported
    y = run_graph(flushed, network_feeds(graph_ports(flushed)[0], {"x": sample}))[flushed.outputs[0].value]
    assert not y.any()
    result = verify(path, target=chip, inputs=[{"x": sample}], samples=1, float_sums="flushed")
    assert result.equal, result.first_difference and result.first_difference.text()


@pytest.mark.parametrize("outputs", [3, 16])
def test_a_bias_below_the_least_is_zero_where_all_taps_are_in_the_padding(outputs: int, tmp_path: Path) -> None:
    require_board("cortex-m55")
    path = tmp_path / "least_bias.onnx"
    path.write_bytes(of_a_convolution(outputs, 1, np.full(outputs, -(2.0**-130), np.float32)))
    result = verify(path, target="cortex-m55", samples=1, float_sums="flushed")
    assert result.equal, result.first_difference and result.first_difference.text()


def notes_of(path: Path, **options: object) -> str:
    made = compile_file(path, Options(vectors=0, **options))  # type: ignore[arg-type]
    return " ".join(map(str, made.manifest["notes"]))  # type: ignore[arg-type, call-overload]


def test_helium_s_vectors_are_spoken_of_and_taken_where_they_are_asked_for(tmp_path: Path) -> None:
    path, grouped = shared_dir() / "models" / QUICK[0], tmp_path / "grouped.onnx"
    grouped.write_bytes(of_a_convolution(16, 2, np.zeros(16, np.float32)))
    assert "--float flushed" in notes_of(path, target="cortex-m55")
    assert "--float flushed" not in notes_of(path, target="cortex-m55", float_sums="separate")
    assert "--float flushed" not in notes_of(path, target="cortex-m4")
    assert "--float flushed" not in notes_of(grouped, target="cortex-m55"), "groups have no vectors"
    assert "one by one" not in notes_of(path, target="cortex-m55", float_sums="flushed")
    assert "one by one" in notes_of(grouped, target="cortex-m55", float_sums="flushed")
    assert "one by one" in notes_of(path, target="cortex-m55", float_sums="flushed", float_weights="s8")
    assert "one by one" in notes_of(path, target="cortex-m4", float_sums="flushed")
    made = compile_file(path, Options(target="cortex-m55", vectors=0, float_sums="flushed"))
    kernels = {layer["kernel"] for layer in made.manifest["layers"]}  # type: ignore[attr-defined]
    assert "mve_dense_f32" in kernels


def chip_like(tmp_path: Path, target: str, line: str) -> str:
    """A file of the user's: a shipped target with one more line."""
    (file,) = resource_dir("targets").rglob(f"{target}.toml")
    chip = tmp_path / "mine.toml"
    chip.write_text(f"{line}\n{file.read_text(encoding='utf-8')}", encoding="utf-8")
    return str(chip)


def test_a_target_says_how_sums_round_where_nothing_is_asked(tmp_path: Path) -> None:
    chip, path = chip_like(tmp_path, "generic", 'float_default = "fused"'), shared_dir() / "models" / QUICK[0]
    fused, separate = (compile_file(path, Options(target=chip, vectors=0, float_sums=s)) for s in (None, "separate"))
    assert (fused.manifest["float_sums"], "float_sums" in separate.manifest) == ("fused", False)
    assert "float fused" in fused.files["src/hello_world_f32.c"].decode()
    with pytest.raises(CompileError, match="LAM-TARGET-005"):
        compile_file(path, Options(target=chip_like(tmp_path, "generic", 'float_default = "fast"')))


def test_who_fuses_on_a_chip_without_the_instruction_is_told(tmp_path: Path) -> None:
    path = shared_dir() / "models" / QUICK[0]
    for line, told in (("has_fma = false", True), ("has_fma = true", False)):
        chip = chip_like(tmp_path, "generic", line)
        for sums in ("fused", "separate"):
            notes = compile_file(path, Options(target=chip, vectors=0, float_sums=sums)).manifest["notes"]
            assert any("no fused multiply-add" in note for note in notes) == (told and sums == "fused")  # type: ignore[attr-defined]


@pytest.mark.one_in(2)
@pytest.mark.parametrize("storage", STORED)
@pytest.mark.parametrize("name", [QUICK[2], pytest.param(QUICK[1], marks=pytest.mark.slow)])
def test_weights_stored_otherwise_are_the_network_s(name: str, storage: str) -> None:
    """Golden and C expand the same numbers, which are near those of the file."""
    path, (most, share) = shared_dir() / "models" / name, STORED[storage]
    sample = noise(path)
    for weights in ("c", "blob"):
        result = verify(path, inputs=[sample], samples=1, weights=weights, float_weights=storage)
        assert result.equal, result.first_difference and result.first_difference.text()
    made, exact = (compile_file(path, Options(float_weights=s, vectors=0)) for s in (storage, "f32"))
    assert (made.manifest["float_weights"], "float_weights" in exact.manifest) == (storage, False)
    assert bytes_of(made) <= share * bytes_of(exact)
    assert made.plan.arena_bytes == exact.plan.arena_bytes
    feeds = network_feeds(graph_ports(made.imported)[0], sample)
    one, other = (run_graph(m.imported, feeds)[m.imported.outputs[0].value] for m in (made, exact))
    assert 0 < float(np.abs(one - other).max()) <= most * float(np.abs(other).max())


@pytest.mark.slow
def test_scales_for_groups_of_inputs_are_nearer_for_few_bytes_more() -> None:
    path = shared_dir() / "models" / "mlperf_tiny" / "ad_f32.tflite"
    for target in ("host", "generic"):
        result = verify(path, target=target, samples=1, float_weights="s4g32")
        assert result.equal, result.first_difference and result.first_difference.text()
    made, single = (compile_file(path, Options(float_weights=s, vectors=0)) for s in ("s4g32", "s4"))
    assert made.manifest["float_weights"] == "s4g32"
    assert bytes_of(single) < bytes_of(made) < 1.2 * bytes_of(single)
    assert all(one >= other for one, other in zip(losses(made), losses(single), strict=True))
    assert np.mean(losses(made)) > np.mean(losses(single)) + 2


def losses(made: Compiled) -> list[float]:
    """How near the stored weights of each layer are to the model's, in dB."""
    said = [n.note.rsplit(", ", 1)[1] for n in made.imported.nodes if "stored as" in n.note]
    return [float(text.removesuffix(" dB")) for text in said]


def bytes_of(made: Compiled) -> int:
    """Those of the weights, as C has them."""
    found = made.manifest["weights_bytes"]
    assert isinstance(found, int)
    return found


def test_integers_of_a_dynamic_range_model_stay_what_they_are() -> None:
    path = shared_dir() / "models" / "mlperf_tiny" / "kws_dynrange.tflite"
    made, exact = (compile_file(path, Options(float_weights=s, vectors=0)) for s in ("s8", "f32"))
    notes = [n.note for n in made.imported.nodes if "FloatConv2D" in n.note and "DEPTHWISE" not in n.note]
    assert len(notes) == 5
    assert all("weights stored as s8, the same numbers" in note for note in notes)
    assert bytes_of(made) <= STORED["s8"][1] * bytes_of(exact)


def test_weights_that_a_storage_does_not_hold_stay_and_are_named(tmp_path: Path) -> None:
    path, net = tmp_path / "large.onnx", Net("large")
    net.output(net.onnx.MatMul(net.input("x", (1, 3)), np.array([[1e6], [2], [3]], np.float32), name="wide"))
    path.write_bytes(net.to_onnx())
    made = compile_file(path, Options(float_weights="f16", vectors=0))
    assert "float_weights" not in made.manifest
    assert [note for note in made.manifest["notes"] if "stay float32" in note and "wide" in note]  # type: ignore[attr-defined]
    assert compile_file(path, Options(float_weights="bf16", vectors=0)).manifest["float_weights"] == "bf16"


def spoilt(number: float, *, mask: float = 0.0) -> bytes:
    """Two dense layers, one of which has this number among its weights, and a mask behind."""
    net, rng = Net("spoilt"), np.random.default_rng(0)
    first, second = (rng.normal(0, 1, shape).astype(np.float32) for shape in ((4, 3), (3, 2)))
    first[1, 2] = number
    y = net.onnx.MatMul(net.onnx.MatMul(net.input("x", (1, 4)), first, name="broken"), second, name="whole")
    net.output(net.onnx.Mul(net.onnx.Relu(y), np.array([1, mask], np.float32), name="mask"))
    return net.to_onnx()


@pytest.mark.parametrize("number", [np.nan, np.inf, -np.inf])
def test_weights_that_are_no_numbers_are_named(number: float, tmp_path: Path) -> None:
    path = tmp_path / "m.onnx"
    path.write_bytes(spoilt(number))
    notes = compile_file(path, Options(vectors=0)).manifest["notes"]
    assert [n for n in notes if "NaN or infinity" in n] == [  # type: ignore[attr-defined]
        "weights of 1 layers hold NaN or infinity, and so may what is made of them: broken"
    ]
    x = np.ones((1, 4), np.float32)
    found = api.run(path, x)
    assert isinstance(found, np.ndarray)
    np.testing.assert_array_equal(np.isnan(found), np.isnan(of_onnxruntime(path, {"x": x})[0]))


def test_infinity_that_masks_is_nothing_to_tell(tmp_path: Path) -> None:
    path = tmp_path / "m.onnx"
    path.write_bytes(spoilt(1.0, mask=-np.inf))
    assert compile_file(path, Options(vectors=0)).manifest["notes"] == []


def test_a_blob_fits_code_with_the_same_sums_only() -> None:
    path = shared_dir() / "models" / QUICK[0]
    blobs = [compile_file(path, Options(weights="blob", vectors=0, float_sums=s)) for s in ("separate", "fused")]
    data = [next(v for k, v in made.files.items() if str(k).endswith("weights.bin")) for made in blobs]
    assert data[0][24:36] != data[1][24:36]


def test_there_are_no_other_sums_and_storages() -> None:
    with pytest.raises(CompileError, match="LAM-IMPORT-030 float_sums"):
        Options(float_sums="fast")
    with pytest.raises(CompileError, match="LAM-IMPORT-030 float_weights"):
        Options(float_weights="f8")


@pytest.mark.parametrize("name", ARENAS)
def test_rows_are_streamed_as_those_of_integers_are(name: str) -> None:
    path = shared_dir() / "models" / "mlperf_tiny" / f"{name}_f32.tflite"
    made = compile_file(path, Options(target="cortex-m4", goal="memory", vectors=0))
    assert made.plan.arena_bytes <= ARENAS[name]
    assert made.manifest["recomputed_macs"] == 0


@pytest.mark.slow
def test_rows_of_a_large_network_are_streamed_too() -> None:
    name = "mobilenet_v2_1.0_224"
    found = api.inspect(in_float(f"{name}_f32", NETWORKS[name]), "cortex-m7", goal="memory")
    assert found.arena_bytes is not None
    assert found.arena_bytes <= ARENA_OF_MOBILENET
    assert found.plan is not None
    assert found.plan.recomputed_macs == 0


def test_weights_of_a_dynamic_range_model_are_expanded() -> None:
    """LiteRT quantizes the activations of such a layer in each run, and so is further away."""
    path = shared_dir() / "models" / "mlperf_tiny" / "kws_dynrange.tflite"
    sample = noise(path)
    (expected,), (actual,) = of_litert(path, sample), of_golden(path, sample)
    assert float(np.abs(expected - actual).max()) < 0.02


def test_a_target_without_float_refuses_each_float_layer(tmp_path: Path) -> None:
    (file,) = resource_dir("targets").rglob("generic.toml")
    lines = [line for line in file.read_text(encoding="utf-8").splitlines() if not line.startswith("dtypes")]
    place = next(i for i, line in enumerate(lines) if line.startswith("["))
    chip = tmp_path / "whole.toml"
    chip.write_text("\n".join([*lines[:place], 'dtypes = ["s8", "u8", "s16", "s32"]', *lines[place:]]))
    with pytest.raises(ModelRejected) as caught:
        compile_file(shared_dir() / "models" / "tflite" / "hello_world_f32.tflite", Options(target=str(chip)))
    found = caught.value.problems()
    assert [error.code for error in found] == ["LAM-TARGET-008"] * 3
    assert all("FloatDense needs f32" in error.found for error in found)
    with pytest.raises(ModelRejected) as caught:
        compile_file(shared_dir() / "models" / "tflite" / "hello_world_f32.tflite", Options(target="avr"))
    assert [error.code for error in caught.value.problems()] == ["LAM-TARGET-008"] * 3, "nor is a kernel missed"


def of_a_convolution(outputs: int, groups: int, bias: Array) -> bytes:
    """A convolution whose windows at the corners see nothing, and a Relu."""
    net, rng = Net("convolution"), np.random.default_rng(2)
    weights = rng.normal(0, 1, (outputs, 4 // groups, 2, 2)).astype(np.float32)
    y = net.onnx.Conv(net.input("x", (1, 4, 5, 6)), net.const(weights), net.const(bias), pads=[3] * 4, group=groups)
    net.output(net.onnx.Relu(y))
    return net.to_onnx()


def of_least_numbers() -> bytes:
    """A network that makes denormal numbers of numbers near 1e-20, by each kind of loop."""
    net, rng = Net("denormal"), np.random.default_rng(1)

    def weights(*shape: int) -> Any:
        return net.const((rng.normal(0, 0.1, shape) * 1e-19).astype(np.float32))

    x = net.input("x", (1, 8, 6, 6))
    y = net.onnx.Conv(x, weights(8, 8, 3, 3), pads=[1] * 4)
    for found in (
        y,
        net.onnx.Conv(x, weights(16, 8, 1, 1)),
        net.onnx.Conv(x, weights(8, 1, 3, 3), pads=[1] * 4, group=8),
        net.onnx.Gemm(net.onnx.Flatten(x), weights(12, 288), transB=1),
        net.onnx.Mul(x, x),
        net.onnx.Add(y, y),
        net.onnx.Relu(y),
        net.onnx.LeakyRelu(y, alpha=0.3),
        net.onnx.AveragePool(y, kernel_shape=[2, 2], strides=[2, 2]),
        net.onnx.MaxPool(y, kernel_shape=[2, 2], strides=[2, 2]),
        net.onnx.GlobalAveragePool(y),
    ):
        net.output(found)
    return net.to_onnx()


def noise(path: Path) -> Sample:
    """One sample of normal numbers."""
    rng = np.random.default_rng(0)
    ports = graph_ports(read_model(path, Options(), load_target("host")))[0]
    return {p.name: rng.normal(0, 1, p.model_shape).astype(np.float32) for p in ports}


def real(path: Path) -> Sample:
    """One sample of what was recorded or photographed; states, and what else is given beside it, are normal numbers."""
    first, *others = noise(path).items()
    return {first[0]: real_inputs(path.stem, 1)[0], **dict(others)}


def of_golden(path: Path, sample: Sample) -> list[Array]:
    graph = read_model(path, Options(), load_target("host"))
    ins, outs = graph_ports(graph)
    values = run_graph(graph, network_feeds(ins, sample))
    return [o.to_model(values[o.value]) for o in outs]


def of_onnxruntime(path: Path, sample: Sample) -> list[Array]:
    onnxruntime = pytest.importorskip("onnxruntime")
    session = onnxruntime.InferenceSession(str(path), providers=["CPUExecutionProvider"])
    found: list[Array] = session.run(None, dict(sample))
    return found


def of_litert(path: Path, sample: Sample) -> list[Array]:
    litert = pytest.importorskip("ai_edge_litert.interpreter")
    runner = litert.Interpreter(str(path))
    runner.allocate_tensors()
    for detail, array in zip(runner.get_input_details(), sample.values(), strict=True):
        runner.set_tensor(detail["index"], array)
    runner.invoke()
    return [runner.get_tensor(detail["index"]) for detail in runner.get_output_details()]
