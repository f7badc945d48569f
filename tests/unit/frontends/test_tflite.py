"""What the TFLite reader refuses, and how; what becomes of names, borders and options."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from codegen.errors import CompileError, ModelRejected
from codegen.frontends import import_model, own_mode
from codegen.frontends.tflite import fold, import_tflite
from codegen.frontends.tflite.flat import Flat
from codegen.frontends.tflite.real.translators import NEWEST, TRANSLATORS
from codegen.ir.graph import Graph
from codegen.ir.quant import DERIVED_MODES, Mode, Requant, is_pot, rounding_of
from codegen.ops import Conv2D, Dense, Dequantize, Lut, Quantize
from codegen.ops.float32 import FloatClip, FloatDense
from tests.support.shared import shared_dir
from tests.support.tflite_models import Model, Scales

BIAS = np.zeros(3, np.int32)


def written(model: Model, folder: Path) -> Path:
    path = folder / "m.tflite"
    path.write_bytes(model.bytes())
    return path


def ids(model: Model | bytes, folder: Path) -> list[str]:
    path = folder / "m.tflite"
    path.write_bytes(model if isinstance(model, bytes) else model.bytes())
    with pytest.raises(CompileError) as caught:
        import_tflite(path, mode="tflite")
    return [p.code for p in caught.value.problems()]


def relu(kind: str = "int8", scale: float = 0.5, zero: int = 0, **fields: int) -> Model:
    model = Model()
    x = model.input((1, 4), kind, scale, zero)
    model.op("RELU", [x], [model.output((1, 4), kind, 0.5)], **fields)
    return model


def dense(kind: str = "int8", weights_scale: float = 0.1, zero: int = 0, x_kind: str = "int8") -> Model:
    model = Model()
    x = model.input((1, 4), x_kind, () if x_kind == "float32" else 0.5)
    w = model.const(np.ones((3, 4), kind), weights_scale, zero)
    y = model.output((1, 3), x_kind, () if x_kind == "float32" else 0.5)
    model.op("FULLY_CONNECTED", [x, w, model.const(BIAS, 0.05)], [y], "FullyConnectedOptions")
    return model


def convolution(name: str, bias_kind: str, x_kind: str = "int16", depth: int = 1) -> Model:
    """A 1x1 convolution whose bias has this type."""
    model = Model()
    shape = model.const(np.array([1, 2, 2, 1], np.int32)) if name == "TRANSPOSE_CONV" else -1
    x = model.input((1, 2, 2, depth), x_kind, 0.01)
    w, b = model.const(np.full((1, 1, 1, depth), 127, np.int8), 0.1), model.const(np.zeros(1, bias_kind), 0.001)
    y = model.output((1, 2, 2, 1), x_kind, 0.5)
    options = {"CONV_2D": "Conv2DOptions", "DEPTHWISE_CONV_2D": "DepthwiseConv2DOptions"}
    strides = {"StrideH": 1, "StrideW": 1}
    model.op(
        name, [shape, w, x, b] if shape >= 0 else [x, w, b], [y], options.get(name, "TransposeConvOptions"), **strides
    )
    return model


@pytest.mark.parametrize(
    ("name", "bias_kind", "x_kind"),
    [
        ("DEPTHWISE_CONV_2D", "int32", "int16"),
        ("TRANSPOSE_CONV", "int32", "int16"),
        ("CONV_2D", "int64", "int8"),
        ("TRANSPOSE_CONV", "int64", "int8"),
    ],
)
def test_a_bias_that_would_be_read_as_another_type_is_refused(
    name: str, bias_kind: str, x_kind: str, tmp_path: Path
) -> None:
    fitting = {"int64": "int32", "int32": "int64"}[bias_kind]
    path = written(convolution(name, bias_kind, x_kind), tmp_path)
    with pytest.raises(ModelRejected, match=rf"LAM-IMPORT-019 .*bias of type {bias_kind}.*write it as {fitting}"):
        import_tflite(path, mode="tflite")
    assert import_tflite(written(convolution(name, fitting, x_kind), tmp_path), mode="tflite").nodes


def test_sums_that_leave_the_32_bits_of_their_bias_are_refused(tmp_path: Path) -> None:
    path = written(convolution("CONV_2D", "int32", depth=520), tmp_path)
    with pytest.raises(ModelRejected, match=r"LAM-IMPORT-022 .*a bias of 32 bits.*write the bias as int64"):
        import_tflite(path, mode="tflite")
    for bias_kind, depth in (("int32", 500), ("int64", 520)):
        assert import_tflite(written(convolution("CONV_2D", bias_kind, depth=depth), tmp_path), mode="tflite").nodes


@pytest.mark.parametrize(
    ("name", "version"), [("RELU", 99), ("RELU", 4), ("FULLY_CONNECTED", -3), ("FULLY_CONNECTED", 0)]
)
def test_an_unknown_version_of_an_operator_is_refused(name: str, version: int, tmp_path: Path) -> None:
    model = relu() if name == "RELU" else dense()
    model.codes = [(code, version, told) for code, _, told in model.codes]
    with pytest.raises(ModelRejected, match=rf"LAM-IMPORT-032 .*version {version} of {name}, known are 1 \.\. \d+"):
        import_tflite(written(model, tmp_path), mode="tflite")


def test_every_known_version_is_of_an_operator_that_is_read() -> None:
    assert set(NEWEST) <= set(TRANSLATORS)
    assert set(fold.NEWEST) <= set(fold.FOLDS) - set(TRANSLATORS)
    assert min(*NEWEST.values(), *fold.NEWEST.values()) > 1


def test_formats_are_told_apart_by_their_mark(tmp_path: Path) -> None:
    path = tmp_path / "model.bin"
    path.write_bytes(relu().bytes())
    assert own_mode(path) == "tflite"
    assert import_model(path, mode="tflite", io_type="quantized", io_layout="nhwc").nodes
    assert own_mode(tmp_path / "model.onnx") is None


def test_a_float_model_is_real_numbers(tmp_path: Path) -> None:
    model = Model()
    model.op("RELU", [model.input((1, 4), "float32")], [model.output((1, 4), "float32")])
    (node,) = import_tflite(written(model, tmp_path), mode="tflite").nodes
    assert isinstance(node.op, FloatClip)


def test_a_hybrid_layer_has_its_weights_expanded(tmp_path: Path) -> None:
    graph = import_tflite(written(dense(x_kind="float32"), tmp_path), mode="tflite")
    (node,) = (node for node in graph.nodes if isinstance(node.op, FloatDense))
    assert graph.values[node.inputs[1]].data is not None


def test_all_problems_are_reported_together(tmp_path: Path) -> None:
    model = Model()
    x = model.input((1, 4), "int8", 0.5)
    a, b = (model.tensor((1, 4), "int8", 0.5) for _ in range(2))
    model.op("RNN", [x], [a])
    model.op("RELU", [a], [b])
    model.op("TANH", [x], [model.output((1, 5), "int8", 1 / 128)])
    model.graph.outputs.append(b)
    assert ids(model, tmp_path) == ["LAM-IMPORT-007", "LAM-IMPORT-014"]


@pytest.mark.parametrize(
    ("model", "code"),
    [
        (relu(scale=0.0), "LAM-IMPORT-010"),
        (relu(scale=float("nan")), "LAM-IMPORT-010"),
        (relu(zero=300), "LAM-IMPORT-011"),
        (relu("int16", zero=1), "LAM-IMPORT-011"),
        (relu("int32"), "LAM-OPS-ACTIVATION-06"),
        (dense(zero=3), "LAM-IMPORT-011"),
        (dense("int16"), "LAM-IMPORT-019"),
        (dense("uint8"), "LAM-IMPORT-019"),
    ],
)
def test_bad_meanings_are_refused(model: Model, code: str, tmp_path: Path) -> None:
    assert code in ids(model, tmp_path)


def test_per_channel_activations_are_refused(tmp_path: Path) -> None:
    model = Model()
    x = model.input((1, 2), "int8")
    model.graph.tensors[x].scale = np.array([0.5, 0.25], np.float32)
    model.graph.tensors[x].zero = np.zeros(2, np.int64)
    model.op("RELU", [x], [model.output((1, 2), "int8", 0.5)])
    assert ids(model, tmp_path) == ["LAM-IMPORT-012"]


def test_an_operator_out_of_order_is_refused(tmp_path: Path) -> None:
    model = Model()
    x, a = model.input((1, 4), "int8", 0.5), model.tensor((1, 4), "int8", 0.5)
    model.op("RELU", [a], [model.output((1, 4), "int8", 0.5)])
    model.op("RELU", [x], [a])
    assert ids(model, tmp_path) == ["LAM-IMPORT-015"]


def test_a_variable_tensor_that_nothing_writes_is_refused(tmp_path: Path) -> None:
    model = Model()
    x = model.tensor((1, 4), "int8", 0.5, variable=True)
    model.op("RELU", [x], [model.output((1, 4), "int8", 0.5)])
    assert ids(model, tmp_path) == ["LAM-IMPORT-015"]


def test_a_tensor_written_twice_is_refused(tmp_path: Path) -> None:
    model = Model()
    x, y = model.input((1, 4), "int8", 0.5), model.output((1, 4), "int8", 0.5)
    model.op("RELU", [x], [y])
    model.op("RELU", [x], [y])
    assert ids(model, tmp_path) == ["LAM-IMPORT-017"]


def test_a_constant_of_the_wrong_size_is_refused(tmp_path: Path) -> None:
    model = dense()
    spec = next(t for t in model.graph.tensors if t.kind == "int8" and t.data)
    spec.data = spec.data[:-1]
    assert ids(model, tmp_path) == ["LAM-IMPORT-018"]


def test_options_of_another_operator_are_refused(tmp_path: Path) -> None:
    model = Model()
    x = model.input((1, 4), "int8", 0.5)
    model.op("SOFTMAX", [x], [model.output((1, 4), "int8", 1 / 256, -128)], "AddOptions")
    assert ids(model, tmp_path) == ["LAM-IMPORT-013"]


@pytest.mark.parametrize("length", [0, 4, 8, 16, 100, 300])
def test_a_truncated_file_is_refused(length: int, tmp_path: Path) -> None:
    assert ids(relu().bytes()[:length], tmp_path) == ["LAM-IMPORT-003"]


def test_lists_without_end_are_refused(tmp_path: Path) -> None:
    """A short file may name one long list again and again."""
    flat = Flat(relu().bytes(), "here")
    graph = flat.root().tables(2)[0]
    flat.left = 3
    assert len(graph.tables(0)) == 2
    with pytest.raises(CompileError, match="LAM-IMPORT-004"):
        graph.tables(0)


def test_borders_lose_quantize_and_dequantize_unless_asked(tmp_path: Path) -> None:
    model = Model()
    x, q = model.input((1, 4), "float32"), model.tensor((1, 4), "int8", 0.5, 3)
    r = model.tensor((1, 4), "int8", 0.25)
    model.op("QUANTIZE", [x], [q])
    model.op("LOGISTIC", [q], [r])
    model.op("DEQUANTIZE", [r], [model.output((1, 4), "float32")])
    path = written(model, tmp_path)
    dropped = import_tflite(path, mode="tflite")
    assert [type(n.op) for n in dropped.nodes] == [Lut]
    assert [i.model_dtype for i in (*dropped.inputs, *dropped.outputs)] == ["float32", "float32"]
    kept = import_tflite(path, mode="tflite", io_type="model")
    assert [type(n.op) for n in kept.nodes] == [Quantize, Lut, Dequantize]


def test_weights_of_four_bits_are_unpacked(tmp_path: Path) -> None:
    model = Model()
    x = model.input((1, 5), "int8", 0.5)
    w = model.tensor((3, 5), "int4", 0.1)
    values = np.arange(15) - 8
    nibbles = np.append(values, 0) & 15
    model.graph.tensors[w].data = (nibbles[::2] | nibbles[1::2] << 4).astype(np.uint8).tobytes()
    model.op("FULLY_CONNECTED", [x, w], [model.output((1, 3), "int8", 0.5)], "FullyConnectedOptions")
    graph = import_tflite(written(model, tmp_path), mode="tflite")
    (node,) = graph.nodes
    assert isinstance(node.op, Dense)
    data = graph.values[node.inputs[1]].data
    assert data is not None
    assert np.array_equal(data, values.reshape(3, 5))


def test_groups_come_from_the_weights(tmp_path: Path) -> None:
    model = Model()
    x = model.input((1, 3, 3, 4), "int8", 0.5)
    w = model.const(np.ones((2, 1, 1, 2), np.int8), [0.1, 0.2], 0, axis=0)
    y = model.output((1, 3, 3, 2), "int8", 0.5)
    model.op("CONV_2D", [x, w], [y], "Conv2DOptions", Padding=1, StrideH=1, StrideW=1)
    (node,) = import_tflite(written(model, tmp_path), mode="tflite").nodes
    assert isinstance(node.op, Conv2D)
    assert node.op.groups == 2


def test_neg_is_a_table_of_exact_values(tmp_path: Path) -> None:
    model = Model()
    model.op("NEG", [model.input((1, 4), "int8", 0.5, 3)], [model.output((1, 4), "int8", 0.25, -1)])
    (node,) = import_tflite(written(model, tmp_path), mode="tflite").nodes
    assert isinstance(node.op, Lut)
    exact = np.clip(-2 * (np.arange(-128, 128) - 3) - 1, -128, 127)
    assert np.array_equal(node.op.table, exact)


def pair(
    name: str, kinds: tuple[str, str], scales: tuple[Scales, Scales], y_kind: str = "int8", rows: int = 1
) -> Model:
    model = Model()
    sides = zip((1, rows), kinds, scales, strict=True)
    terms = [model.input((n, 4), kind, scale, 0) for n, kind, scale in sides]
    model.op(name, terms, [model.output((1, 4), y_kind, () if y_kind == "bool" else 0.1, 0)])
    return model


def cumsum(axes: list[float], kind: str) -> Model:
    model = Model()
    axis = model.const(np.array(axes, kind))
    model.op("CUMSUM", [model.input((1, 4), "int8", 0.1, 0), axis], [model.output((1, 4), "int8", 0.1, 0)])
    return model


def sum_of_positions() -> Model:
    model = Model()
    place = model.tensor((1,), "int64")
    axis = model.const(np.array([1], np.int32))
    model.op("ARG_MAX", [model.input((1, 4), "int8", 0.1), axis], [place], "ArgMaxOptions", OutputType=4)
    model.op("ADD", [place, place], [model.output((1,), "int64")], "AddOptions")
    return model


def computed_counts() -> Model:
    """Counts that come in as an input."""
    model = Model()
    model.op(
        "TILE", [model.input((2, 4), "int8", 0.1), model.input((2,), "int32")], [model.output((2, 4), "int8", 0.1)]
    )
    return model


def update(box: tuple[int, ...], kind: str = "int8", start: tuple[int, ...] = (2,), words: str = "int32") -> Model:
    """A box of a type, put at a place that comes in as an input."""
    model = Model()
    inputs = [model.input((2, 4), "int8", 0.1), model.input(box, kind, 0.1), model.input(start, words)]
    model.op("DYNAMIC_UPDATE_SLICE", inputs, [model.output((2, 4), "int8", 0.1)], "DynamicUpdateSliceOptions")
    return model


def one_hot(kind: str, depth: int) -> Model:
    model = Model()
    scale = () if kind in ("int64", "float32") else 0.1
    ends = [model.tensor((), kind, scale, data=np.array(v, kind)) for v in (1, 0)]
    inputs = [model.input((2,), "int32"), model.const(np.array(depth, np.int32)), *ends]
    model.op("ONE_HOT", inputs, [model.output((2, 4), kind, scale)], "OneHotOptions", Axis=-1)
    return model


def top_k(count: int) -> Model:
    model = Model()
    outputs = [model.output((1, 4), kind, scale) for kind, scale in (("int8", 0.1), ("int32", ()))]
    model.op("TOPK_V2", [model.input((1, 4), "int8", 0.1), model.const(np.array(count, np.int32))], outputs)
    return model


FORMS = {
    "computed counts": (computed_counts(), "LAM-IMPORT-023"),
    "a box that is too large": (update((3, 4)), "LAM-OPS-001"),
    "a box of fewer axes": (update((4,)), "LAM-OPS-001"),
    "a box of another type": (update((1, 4), "int16"), "LAM-OPS-001"),
    "a place of one number": (update((1, 4), start=(1,)), "LAM-OPS-001"),
    "a place of 8 bits": (update((1, 4), words="int8"), "LAM-IMPORT-022"),
    "more numbers than there are": (top_k(5), "LAM-OPS-001"),
    "flags of 16 bits": (one_hot("int16", 4), "LAM-IMPORT-022"),
    "flags of 64 bits": (one_hot("int64", 4), "LAM-IMPORT-022"),
    "another depth": (one_hot("int8", 3), "LAM-IMPORT-014"),
    "sums of two scales": (pair("ADD_N", ("int8", "int8"), (0.1, 0.2)), "LAM-IMPORT-022"),
    "sums of 16 bits": (pair("ADD_N", ("int16", "int16"), (0.1, 0.1), "int16"), "LAM-OPS-REDUCTION-09"),
    "a quotient of 16 bits": (pair("DIV", ("int16", "int16"), (0.1, 0.1), "int16"), "LAM-IMPORT-022"),
    "a comparison of two types": (pair("LESS", ("int8", "uint8"), (0.1, 0.1), "bool"), "LAM-IMPORT-022"),
    "a comparison of 16 bits by 8": (pair("EQUAL", ("int16", "int8"), (0.1, 0.1), "bool"), "LAM-IMPORT-022"),
    "a product of 8 bits by 16": (pair("BATCH_MATMUL", ("int8", "int16"), (0.1, 0.1), rows=4), "LAM-IMPORT-022"),
    "a sum of 64 bits": (sum_of_positions(), "LAM-IMPORT-022"),
    "a remainder of 8 bits": (pair("FLOOR_MOD", ("int8", "int8"), (0.1, 0.1)), "LAM-IMPORT-022"),
    "two axes": (cumsum([0, 1], "int32"), "LAM-IMPORT-014"),
    "an axis that is not there": (cumsum([2], "int32"), "LAM-IMPORT-014"),
    "an axis that is no number": (cumsum([np.nan], "float32"), "LAM-IMPORT-014"),
}


@pytest.mark.parametrize("what", FORMS)
def test_sums_quotients_and_comparisons_of_other_forms_are_refused(what: str, tmp_path: Path) -> None:
    model, code = FORMS[what]
    assert ids(model, tmp_path) == [code]


SHIFTING = [mode for mode in DERIVED_MODES if is_pot(mode)]


@pytest.mark.parametrize("mode", SHIFTING)
def test_scales_that_are_no_powers_of_two_are_refused_as_shifts(mode: Mode, tmp_path: Path) -> None:
    with pytest.raises(CompileError, match=r"LAM-FIXEDPOINT-004 node 'FULLY_CONNECTED_0'"):
        import_tflite(written(dense(), tmp_path), mode=mode)


@pytest.mark.parametrize("mode", SHIFTING)
def test_powers_of_two_are_shifts_with_their_rounding(mode: Mode, tmp_path: Path) -> None:
    step = only_requant(import_tflite(written(dense(weights_scale=0.125), tmp_path), mode=mode))
    assert np.ldexp(step.multiplier, [-s for s in step.shift]).tolist() == [0.125]
    assert (step.mode, step.rounding) == ("single", rounding_of(mode))


def test_multipliers_of_8_bits_are_taken_for_any_scale(tmp_path: Path) -> None:
    step = only_requant(import_tflite(written(dense(), tmp_path), mode="mul8"))
    (multiplier,), (shift,) = step.multiplier, step.shift
    assert 64 <= multiplier >> 24 < 128
    assert multiplier % (1 << 24) == 0
    assert multiplier / 2.0**shift == pytest.approx(0.1, rel=1 / 128)


def only_requant(graph: Graph) -> Requant:
    (op,) = [node.op for node in graph.nodes if isinstance(node.op, Dense)]
    assert op.requant is not None
    return op.requant


@pytest.mark.parametrize("mode", DERIVED_MODES)
@pytest.mark.parametrize("name", ["tflite/hello_world_f32", "mlperf_tiny/kws_dynrange"])
def test_of_real_numbers_any_arithmetic_is_the_same(name: str, mode: Mode) -> None:
    path = shared_dir() / "models" / f"{name}.tflite"
    asked, plain = (import_tflite(path, mode=m) for m in (mode, "tflite"))
    assert [node.op for node in asked.nodes] == [node.op for node in plain.nodes]
