"""What ONNX Runtime's optimizers make of a graph, as that runtime has it: each operator, and networks that it saved."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pytest
from onnx import TensorProto

import codegen
from codegen.errors import (
    AttributeBad,
    CompileError,
    FormUnsupported,
    ModelRejected,
    OperatorUnknown,
    ShapeMismatch,
)
from codegen.frontends import read_real
from codegen.ir.quant import Array
from tests.support.outsider import ort_session

from .models import MICROSOFT, Net, agrees, saved

ort = pytest.importorskip("onnxruntime")

Sample = Mapping[str, Array]


class Made(Net):
    """A network with random inputs."""

    def __init__(self) -> None:
        super().__init__(3)
        self.feeds: dict[str, Array] = {}

    def x(self, *shape: int, name: str = "x") -> str:
        self.feeds[name] = self.real(*shape)
        return self.input(shape, name=name)

    def whole(self, array: Array, name: str) -> str:
        self.feeds[name] = array
        return self.input(array.shape, onnx.helper.np_dtype_to_tensor_dtype(array.dtype), name)

    def real(self, *shape: int) -> Array:
        return self.rng.standard_normal(shape).astype(np.float32)

    def w(self, *shape: int) -> str:
        return self.const(self.real(*shape))

    def fused(self, op_type: str, *inputs: str, outputs: int = 1, **attributes: Any) -> Any:
        return self.op(op_type, *inputs, domain=MICROSOFT, outputs=outputs, **attributes)


def fused_conv(net: Made, activation: str, params: list[float], *, added: bool = False, bias: bool = True) -> Any:
    x, w = net.x(1, 4, 6, 5), net.w(6, 2, 3, 3)
    rest = [net.w(6) if bias else "", *([net.x(1, 6, 6, 5, name="z")] if added else [])]
    given = {"activation_params": params} if params else {}
    return net.fused("FusedConv", x, w, *rest, activation=activation, group=2, pads=[1, 1, 1, 1], **given)


def packed(net: Made, rows: int, blocks: int, *, zeros: bool, bits: int = 4, dtype: Any = np.uint8) -> list[str]:
    count = rows * blocks * 16 * bits // 8
    data = net.rng.integers(0, 256, count).astype(dtype).reshape(rows, -1)
    inputs = [net.const(data), "at", net.const(np.abs(net.real(rows, blocks)) / 16)]
    if zeros:
        inputs.append(net.const(net.rng.integers(0, 256, rows * blocks * bits // 8).astype(dtype).reshape(rows, -1)))
    net.whole(np.array([[3, 0], [5, 1]], np.int64), "at")
    return inputs


def masked(net: Made, mask: Array, **attributes: Any) -> Any:
    inputs = [net.x(2, 5, 8), net.w(8, 24), net.w(24), net.whole(mask.astype(np.int32), "mask")]
    return net.fused("Attention", *inputs, num_heads=2, **attributes)


def many_heads(net: Made, *, bias: bool = False, added: bool = False, mask: Array | None = None, **words: Any) -> Any:
    inputs = [net.x(2, 5, 8), net.x(2, 4, 8, name="k"), net.x(2, 4, 12, name="v")]
    inputs.append(net.w(28) if bias else "")
    inputs.append("" if mask is None else net.whole(mask.astype(np.int32), "mask"))
    inputs.append(net.x(1, 2, 5, 4, name="added") if added else "")
    return net.fused("MultiHeadAttention", *inputs, num_heads=2, **words)


def embedded(net: Made, *, segments: bool, mask: bool, outputs: int = 2) -> Any:
    words = net.whole(np.array([[1, 2, 0, 4], [3, 3, 1, 0]], np.int32), "words")
    second = net.whole(np.array([[0, 0, 1, 1], [0, 1, 1, 1]], np.int32), "segments") if segments else ""
    inputs = [words, second, net.w(5, 8), net.w(6, 8), net.w(2, 8) if segments else "", net.w(8), net.w(8)]
    inputs += [net.whole(np.array([[1, 1, 1, 0], [1, 1, 0, 0]], np.int32), "mask")] if mask else []
    return net.fused("EmbedLayerNormalization", *inputs, outputs=outputs, epsilon=1e-5)


_KEPT = np.array([[1, 1, 1, 0, 0], [1, 1, 1, 1, 1]])
OPERATORS: dict[str, Callable[[Made], Any]] = {
    "conv_relu": lambda n: fused_conv(n, "Relu", []),
    "conv_leaky": lambda n: fused_conv(n, "LeakyRelu", [0.3], bias=False),
    "conv_clip": lambda n: fused_conv(n, "Clip", [-0.5, 1.5]),
    "conv_hard_sigmoid": lambda n: fused_conv(n, "HardSigmoid", [0.3, 0.4]),
    "conv_added": lambda n: fused_conv(n, "Relu", [], added=True),
    "gemm_leaky": lambda n: n.fused(
        "FusedGemm", n.x(3, 4), n.w(5, 4), n.w(5), activation="LeakyRelu", activation_alpha=0.2, alpha=0.5, transB=1
    ),
    "gemm_relu": lambda n: n.fused("FusedGemm", n.x(3, 4), n.w(4, 5), activation="Relu"),
    "matmul_scaled": lambda n: n.fused("FusedMatMul", n.x(2, 3, 4), n.x(2, 5, 4, name="b"), alpha=0.3, transB=1),
    "matmul_turned": lambda n: n.fused("FusedMatMul", n.x(2, 4, 3), n.x(2, 4, 5, name="b"), transA=1),
    "matmul_batches": lambda n: n.fused("FusedMatMul", n.x(3, 2, 4), n.x(2, 4, 5, name="b"), transBatchA=1),
    "matmul_batches_turned": lambda n: n.fused(
        "FusedMatMul", n.x(2, 4, 3), n.x(5, 2, 4, name="b"), transA=1, transBatchB=1, transB=1
    ),
    "transpose_matmul": lambda n: n.fused("TransposeMatMul", n.x(4, 3), n.w(4, 5), transA=1, alpha=2.0),
    "bias_gelu": lambda n: n.fused("BiasGelu", n.x(2, 3, 8), n.w(8)),
    "fast_gelu": lambda n: n.fused("FastGelu", n.x(2, 3, 8), n.w(8)),
    "fast_gelu_alone": lambda n: n.fused("FastGelu", n.x(2, 3, 8)),
    "quick_gelu": lambda n: n.fused("QuickGelu", n.x(2, 8), alpha=1.3),
    "rms": lambda n: n.op("SimplifiedLayerNormalization", n.x(2, 3, 8), n.w(8), epsilon=1e-3),
    "skip": lambda n: n.fused("SkipLayerNormalization", n.x(2, 3, 8), n.x(2, 3, 8, name="s"), n.w(8), n.w(8), n.w(8)),
    "skip_no_shift": lambda n: n.fused("SkipLayerNormalization", n.x(2, 3, 8), n.x(3, 8, name="s"), n.w(8)),
    "skip_rms": lambda n: n.fused(
        "SkipSimplifiedLayerNormalization", n.x(2, 3, 8), n.x(2, 3, 8, name="s"), n.w(8), n.w(8), epsilon=0.1
    ),
    "embedded": lambda n: embedded(n, segments=True, mask=True),
    "embedded_words": lambda n: embedded(n, segments=False, mask=False),
    "embedded_sum": lambda n: embedded(n, segments=True, mask=True, outputs=3),
    "attention": lambda n: n.fused("Attention", n.x(1, 5, 8), n.w(8, 24), n.w(24), num_heads=2),
    "attention_causal": lambda n: n.fused(
        "Attention", n.x(1, 5, 8), n.w(8, 24), n.w(24), num_heads=4, unidirectional=1
    ),
    "attention_sizes": lambda n: n.fused(
        "Attention", n.x(1, 5, 8), n.w(8, 20), n.w(20), num_heads=2, qkv_hidden_sizes=[4, 4, 12], scale=0.4
    ),
    "attention_added": lambda n: n.fused(
        "Attention", n.x(1, 5, 8), n.w(8, 24), n.w(24), "", "", n.x(1, 2, 5, 5, name="added"), num_heads=2
    ),
    "attention_mask": lambda n: masked(n, _KEPT),
    "attention_lengths": lambda n: masked(n, np.array([3, 5])),
    "attention_mask_of_pairs": lambda n: masked(n, np.tril(np.ones((2, 5, 5))), mask_filter_value=-50.0),
    "heads": many_heads,
    "heads_bias": lambda n: many_heads(n, bias=True, scale=0.7),
    "heads_added": lambda n: many_heads(n, added=True),
    "heads_mask": lambda n: many_heads(n, mask=_KEPT[:, :4]),
    "gather_4_bits": lambda n: n.fused("GatherBlockQuantized", *packed(n, 6, 2, zeros=False), block_size=16),
    "gather_4_bits_zeros": lambda n: n.fused("GatherBlockQuantized", *packed(n, 6, 2, zeros=True), block_size=16),
    "gather_8_bits": lambda n: n.fused(
        "GatherBlockQuantized", *packed(n, 6, 2, zeros=True, bits=8), block_size=16, bits=8
    ),
    "trilu": lambda n: n.fused("Trilu", n.x(3, 4), upper=0),
    "grid_sample": lambda n: n.fused("GridSample", n.x(1, 2, 4, 5), n.x(1, 3, 3, 2, name="g"), padding_mode="border"),
    "gather_nd": lambda n: n.fused("GatherND", n.x(3, 4), n.const(np.array([[0, 1], [2, 3]], np.int64))),
    "pad": lambda n: n.fused("Pad", n.x(2, 3), n.const(np.array([0, 1, 1, 2], np.int64)), n.const(np.float32(0.5))),
}


@pytest.mark.parametrize("name", OPERATORS)
def test_an_operator_gives_what_onnx_runtime_gives(name: str) -> None:
    net = Made()
    made = OPERATORS[name](net)
    names = [made] if isinstance(made, str) else made
    names = [n for n in names if n]
    model = net.model(*names)
    for i, info in enumerate(model.graph.output):
        info.type.tensor_type.elem_type = TensorProto.INT32 if i == 1 else TensorProto.FLOAT
    theirs = ort_session(model).run(None, net.feeds)
    ours = codegen.run(model.SerializeToString(), net.feeds)
    for tensor, wanted in zip(names, theirs, strict=True):
        assert np.abs(ours[tensor] - wanted).max() <= 1e-5 * max(1, np.abs(wanted).max()), tensor


REFUSED: dict[str, tuple[Callable[[Made], Any], type[CompileError], str]] = {
    "past": (
        lambda n: n.fused(
            "Attention", n.x(1, 5, 8), n.w(8, 24), n.w(24), "", n.x(2, 1, 2, 3, 4, name="p"), num_heads=2
        ),
        FormUnsupported,
        "Attention with past keys",
    ),
    "packed": (
        lambda n: n.fused("MultiHeadAttention", n.x(1, 5, 2, 3, 4), num_heads=2),
        FormUnsupported,
        "MultiHeadAttention with packed or past keys",
    ),
    "heads": (
        lambda n: n.fused("Attention", n.x(1, 5, 8), n.w(8, 24), n.w(24), num_heads=3),
        ShapeMismatch,
        "in 3 heads",
    ),
    "sizes": (
        lambda n: n.fused("Attention", n.x(1, 5, 8), n.w(8, 24), num_heads=2, qkv_hidden_sizes=[8, 8, 9]),
        ShapeMismatch,
        "queries, keys and values [8, 8, 9]",
    ),
    "mask": (lambda n: masked(n, np.ones((2, 7))), ShapeMismatch, "a mask [2, 7]"),
    "bias": (
        lambda n: n.fused("MultiHeadAttention", *(n.x(1, 5, 8, name=i) for i in "qkv"), n.w(23), num_heads=2),
        ShapeMismatch,
        "a bias [23]",
    ),
    "mean": (
        lambda n: n.fused("SkipLayerNormalization", n.x(2, 8), n.x(2, 8, name="s"), n.w(8), outputs=2),
        FormUnsupported,
        "with mean or deviation",
    ),
    "function": (lambda n: fused_conv(n, "Mish", []), AttributeBad, "activation is 'Mish'"),
    "blocks": (
        lambda n: n.fused("GatherBlockQuantized", *packed(n, 6, 2, zeros=True), block_size=32),
        ShapeMismatch,
        "blocks of 32",
    ),
    "axes": (
        lambda n: n.fused("GatherBlockQuantized", *packed(n, 6, 2, zeros=False), block_size=16, gather_axis=1),
        AttributeBad,
        "gather_axis and quantize_axis are both 1",
    ),
    "processor": (
        lambda n: n.op("Conv", n.x(1, 8, 4, 4), n.w(8, 8, 1, 1), domain="com.microsoft.nchwc"),
        OperatorUnknown,
        "ORT_ENABLE_EXTENDED",
    ),
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_cannot_be_read_is_refused(name: str, tmp_path: Path) -> None:
    make, kind, words = REFUSED[name]
    net = Made()
    made = make(net)
    with pytest.raises(ModelRejected) as caught:
        read_real(saved(net.model(made if isinstance(made, str) else made[0]), tmp_path))
    (problem,) = caught.value.problems()
    assert isinstance(problem, kind)
    assert words in f"{problem}"


def optimized(model: onnx.ModelProto, folder: Path, level: str) -> onnx.ModelProto:
    """The model as ONNX Runtime saves it."""
    options = ort.SessionOptions()
    options.graph_optimization_level = getattr(ort.GraphOptimizationLevel, f"ORT_ENABLE_{level}")
    options.optimized_model_filepath = str(folder / "optimized.onnx")
    options.log_severity_level = 3
    ort.InferenceSession(model.SerializeToString(), options, ["CPUExecutionProvider"])
    return onnx.load(folder / "optimized.onnx")


def test_a_network_that_onnx_runtime_optimized_is_the_same_in_c(tmp_path: Path) -> None:
    net = Made()
    y = net.op("Relu", net.op("Conv", net.x(1, 3, 4, 6), net.w(8, 3, 3, 3), net.w(8), pads=[1, 1, 1, 1]))
    y = net.op("Transpose", net.op("Reshape", y, net.const(np.array([1, 8, 24], np.int64))), perm=[0, 2, 1])
    y = net.op("LayerNormalization", net.op("Add", y, net.op("MatMul", y, net.w(8, 8))), net.w(8), net.w(8))
    y = net.op("Mul", net.op("MatMul", y, net.op("Transpose", y, perm=[0, 2, 1])), net.const(np.float32(0.25)))
    model = net.model(net.op("Mul", y, net.op("Sigmoid", y)))
    made = optimized(model, tmp_path, "EXTENDED")
    found = {n.op_type for n in made.graph.node}
    assert {"FusedConv", "SkipLayerNormalization", "FusedMatMul", "QuickGelu"} <= found
    output = made.graph.output[0].name
    wanted = ort_session(model).run(None, net.feeds)[0]
    ours = codegen.run(made.SerializeToString(), net.feeds)[output]
    assert np.abs(ours - wanted).max() <= 1e-5 * np.abs(wanted).max()
    assert codegen.verify(made.SerializeToString(), samples=1).equal


@pytest.mark.parametrize("level", ["EXTENDED", "ALL"])
def test_a_quantized_network_that_onnx_runtime_optimized_gives_the_same_bytes(level: str, tmp_path: Path) -> None:
    net = Net(5)
    x = net.qdq(net.input((1, 3, 9, 8)), 0.05, 3, np.uint8)
    y = net.op("Conv", x, net.weights(net.ints(8, 3, 3, 3), 0.01), net.bias(net.ints(8), 0.0005), pads=[1, 1, 1, 1])
    y = net.qdq(y, 0.1, 128, np.uint8)
    y = net.qdq(net.op("MaxPool", y, kernel_shape=[2, 2], strides=[2, 2]), 0.1, 128, np.uint8)
    y = net.op("Conv", y, net.weights(net.ints(8, 1, 3, 3), 0.02), net.bias(net.ints(8), 0.002), group=8)
    y = net.qdq(y, 0.1, 120, np.uint8)
    model = net.model(net.qdq(net.op("AveragePool", y, kernel_shape=[2, 2]), 0.1, 120, np.uint8))
    made = optimized(model, tmp_path, level)
    found = {(n.op_type, any(a.name == "channels_last" and a.i for a in n.attribute)) for n in made.graph.node}
    assert level != "ALL" or {("QLinearConv", True), ("QLinearAveragePool", True)} <= found
    sample = {"x": np.random.default_rng(0).normal(0, 3, (1, 3, 9, 8)).astype(np.float32)}
    (ours, before) = (codegen.run(m.SerializeToString(), sample) for m in (made, model))
    assert np.array_equal(*(next(iter(r.values())) for r in (ours, before)))


def test_where_of_integers_equals_onnx_runtime(tmp_path: Path) -> None:
    net = Net(6)
    a, b = (net.q(net.input((2, 7), name=name), scale, zero) for name, scale, zero in (("x", 0.05, 3), ("z", 0.07, -5)))
    sides = [part for side, scale, zero in ((a, 0.05, 3), (b, 0.07, -5)) for part in (side, *net.params(scale, zero))]
    which = net.const(np.arange(14).reshape(2, 7) % 3 == 0)
    y = net.op("QLinearWhere", which, *sides, *net.params(0.06, 1), domain=MICROSOFT)
    agrees(net.model(net.op("DequantizeLinear", y, *net.params(0.06, 1))), tmp_path, mode="ort")
