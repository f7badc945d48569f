"""Operators on quantized tensors of 8 and 16 bits, as plain QDQ files: what the operator lists of other compilers name.

Nothing but the QuantizeLinear and DequantizeLinear around an operator says in which integers its tensors are held.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

from codegen.ir.quant import Array
from tests.support.onnx_files import onnx_graph, port
from tests.support.outsider import ort_session

Step = tuple[str, Sequence[str], Sequence[str], Mapping[str, Any]]
"""An operator, its inputs, its outputs, its attributes."""
RNG = np.random.default_rng(5)
_KEEPS_SCALE = {"DepthToSpace", "Gather", "GatherElements", "MaxPool", "Pad", "Split", "TopK", "Transpose"}
_WEIGHTS = ("w", "r", "wq", "wk", "wv")
_WITH_BIAS = ("Conv", "ConvTranspose", "Gemm")
_NEW = ("Attention", "RMSNormalization")


@dataclass(frozen=True)
class Quantized:
    """A small network of float operators on `x`, whose real tensors a QDQ file holds in integers, but for `between`."""

    shape: tuple[int, ...]
    steps: tuple[Step, ...]
    known: Mapping[str, Array] = field(default_factory=dict)
    kind: int = TensorProto.FLOAT
    between: tuple[str, ...] = ()

    def sample(self) -> Array:
        """An input."""
        return np.random.default_rng(7).normal(0, 0.5, self.shape).astype(np.float32)

    def written(self, kind: str) -> tuple[onnx.ModelProto, float]:
        """The file with tensors of a type, and the scale of its output; scales are those of what the sample makes."""
        top = 2 ** (8 * np.dtype(kind).itemsize - 1) - 1
        seen = self._tensors()
        model = _Model(np.dtype(kind))
        scales = {"x": _scale(seen["x"], top)}
        named = {"x": model.quantized("x", scales["x"])}
        for name, array in self.known.items():
            model.known(name, array, scales["x"], self)
        for op, ins, outs, attributes in self.steps:
            model.nodes.append(helper.make_node(op, [named.get(i, i) for i in ins], list(outs), **attributes))
            for out in outs:
                if seen[out].dtype == np.float32 and out not in self.between:
                    scales[out] = scales[ins[0]] if op in _KEEPS_SCALE else _scale(seen[out], top)
                    named[out] = model.quantized(out, scales[out])
        return model.finished(self, named.get("y", "y")), scales.get("y", 1.0)

    def _tensors(self) -> dict[str, Array]:
        """Every tensor of the float network."""
        names = [out for _, _, outs, _ in self.steps for out in outs]
        nodes = [helper.make_node(op, list(ins), list(outs), **a) for op, ins, outs, a in self.steps]
        graph = onnx_graph(nodes, [port("x", self.shape)], names, self.known)
        sample = self.sample()
        return {"x": sample, **dict(zip(names, ort_session(_model(graph)).run(names, {"x": sample}), strict=True))}


class _Model:
    def __init__(self, dtype: np.dtype[Any]) -> None:
        self.dtype = dtype
        self.nodes: list[onnx.NodeProto] = []
        self.constants: list[onnx.TensorProto] = []

    def quantized(self, name: str, scale: float) -> str:
        """The tensor, through integers."""
        middle = (int(np.iinfo(self.dtype).min) + int(np.iinfo(self.dtype).max) + 1) // 2
        self._parameters(name, scale, np.array(middle, self.dtype))
        names = [f"{name}:scale", f"{name}:zero"]
        self.nodes.append(helper.make_node("QuantizeLinear", [name, *names], [f"{name}:ints"]))
        self.nodes.append(helper.make_node("DequantizeLinear", [f"{name}:ints", *names], [f"{name}:again"]))
        return f"{name}:again"

    def known(self, name: str, array: Array, x_scale: float, case: Quantized) -> None:
        """A constant: weights in 8 bits, biases of products in 32, everything else as it is."""
        if name in _WEIGHTS:
            self._held(name, array, _scale(array, 127), np.int8)
        elif name == "b" and case.steps[0][0] in _WITH_BIAS:
            self._held(name, array, float(np.float32(x_scale) * np.float32(_scale(case.known["w"], 127))), np.int32)
        else:
            self._constant(name, array)

    def finished(self, case: Quantized, output: str) -> onnx.ModelProto:
        """The file."""
        made = port(output, None, case.kind)
        return _model(onnx_graph(self.nodes, [port("x", case.shape)], [made], self.constants, "net"))

    def _held(self, name: str, array: Array, scale: float, dtype: Any) -> None:
        self._constant(f"{name}:ints", np.rint(array / np.float32(scale)).astype(dtype))
        self._parameters(name, scale, np.zeros((), dtype))
        ins = [f"{name}:ints", f"{name}:scale", f"{name}:zero"]
        self.nodes.append(helper.make_node("DequantizeLinear", ins, [name]))

    def _parameters(self, name: str, scale: float, zero: Array) -> None:
        self._constant(f"{name}:scale", np.array(scale, np.float32))
        self._constant(f"{name}:zero", zero)

    def _constant(self, name: str, array: Array) -> None:
        self.constants.append(numpy_helper.from_array(np.asarray(array), name))


def _model(graph: onnx.GraphProto) -> onnx.ModelProto:
    version = 23 if any(node.op_type in _NEW for node in graph.node) else 21
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", version)], ir_version=10)


def _scale(array: Array, top: int) -> float:
    return float(np.float32(max(float(np.abs(array).max()) / top, 1e-6)))


def _f(*shape: int) -> Array:
    return RNG.normal(0, 0.5, shape).astype(np.float32)


def _i(*numbers: int) -> Array:
    return np.array(numbers, np.int64)


def _one(op: str, shape: tuple[int, ...], known: Mapping[str, Any] | None = None, **attributes: Any) -> Quantized:
    """One operator on x and constants."""
    known = known or {}
    return Quantized(shape, ((op, ("x", *known), ("y",), attributes),), known)


def _chain(shape: tuple[int, ...], known: Mapping[str, Any], *lines: str, kind: int = TensorProto.FLOAT) -> Quantized:
    """Operators without attributes, each `out = Op in in`."""
    steps: list[Step] = []
    for line in lines:
        out, made = line.split(" = ")
        op, *ins = made.split()
        steps.append((op, ins, (out,), {}))
    return Quantized(shape, tuple(steps), known, kind)


def _recurrence(op: str, gates: int, **attributes: Any) -> Quantized:
    known = {"w": _f(1, 6 * gates, 4), "r": _f(1, 6 * gates, 6), "b": _f(1, 12 * gates)}
    return _one(op, (5, 1, 4), known, hidden_size=6, **attributes)


def _attention() -> Quantized:
    turned: Step = ("Transpose", ("k",), ("kt",), {"perm": [0, 2, 1]})
    known = {"wq": _f(8, 8), "wk": _f(8, 8), "wv": _f(8, 8), "c": np.float32(0.35)}
    first = _chain((1, 6, 8), known, "q = MatMul x wq", "k = MatMul x wk", "v = MatMul x wv")
    then = _chain((1, 6, 8), known, "s = MatMul q kt", "t = Mul s c", "p = Softmax t", "y = MatMul p v")
    return Quantized((1, 6, 8), (*first.steps, turned, *then.steps), known)


def _resized(shape: tuple[int, ...], sizes: tuple[int, ...], **attributes: Any) -> Quantized:
    step: Step = ("Resize", ("x", "", "", "sizes"), ("y",), attributes)
    return Quantized(shape, (step,), {"sizes": _i(*sizes)})


_ROW, _MAP, _TOKENS, _VOLUME = (1, 4, 9), (1, 4, 5, 6), (1, 6, 8), (1, 3, 4, 6, 6)
_GRID = RNG.uniform(-1.1, 1.1, (1, 4, 5, 2)).astype(np.float32)
_HALF, _TENTH, _MINUS = np.float32(0.5), np.float32(0.1), np.float32(-0.2)
_FUNCTIONS = (
    *("Relu", "LeakyRelu", "HardSigmoid", "HardSwish", "Sigmoid", "Tanh", "Gelu", "Elu", "Selu", "Softplus", "Mish"),
    *("Erf", "Exp", "Abs", "Sin", "Cos", "Tan", "Atan", "Asinh", "Ceil", "Floor", "Round", "Neg", "Sign"),
)
_REDUCTIONS = ("ReduceMean", "ReduceSum", "ReduceMax", "ReduceMin", "ReduceProd", "ReduceL2", "ReduceSumSquare")
_COMPARISONS = ("Equal", "Less", "Greater", "GreaterOrEqual", "LessOrEqual")

CASES: Mapping[str, Quantized] = {
    "Conv1D": _one("Conv", (1, 4, 12), {"w": _f(5, 4, 3), "b": _f(5)}, pads=[1, 1]),
    "Conv2D": _one("Conv", _MAP, {"w": _f(5, 4, 3, 3), "b": _f(5)}, dilations=[1, 2]),
    "Conv3D": _one("Conv", (1, 3, 4, 5, 6), {"w": _f(4, 3, 2, 3, 3), "b": _f(4)}),
    "DepthwiseConv2D": _one("Conv", _MAP, {"w": _f(4, 1, 3, 3), "b": _f(4)}, group=4, pads=[1] * 4),
    "ConvTranspose2D": _one("ConvTranspose", (1, 3, 5, 6), {"w": _f(3, 4, 2, 2), "b": _f(4)}, strides=[2, 2]),
    "ConvTranspose3D": _one("ConvTranspose", (1, 3, 3, 4, 4), {"w": _f(3, 4, 2, 2, 2), "b": _f(4)}, strides=[2, 2, 2]),
    "ConvTranspose3D in groups": _one(
        *("ConvTranspose", (2, 4, 3, 4, 4), {"w": _f(4, 3, 3, 2, 3), "b": _f(6)}),
        **{"strides": [2, 1, 2], "group": 2, "pads": [1, 0, 1, 0, 1, 1], "output_padding": [1, 0, 0]},
    ),
    "ConvTranspose3D, dilated": _one(
        "ConvTranspose", (1, 3, 3, 4, 4), {"w": _f(3, 4, 2, 2, 3)}, dilations=[2, 1, 2], strides=[1, 2, 3]
    ),
    "ConvTranspose3D and BatchNorm": Quantized(
        (1, 3, 3, 4, 4),
        (
            ("ConvTranspose", ("x", "w", "b"), ("c",), {"strides": [2, 2, 2]}),
            ("BatchNormalization", ("c", "s", "o", "m", "v"), ("y",), {}),
        ),
        {"w": _f(3, 4, 2, 2, 2), "b": _f(4), "s": _f(4) + 1, "o": _f(4), "m": _f(4), "v": np.abs(_f(4)) + _HALF},
        between=("c",),
    ),
    "ConvTranspose2D of two images": _one(
        "ConvTranspose", (2, 3, 4, 5), {"w": _f(3, 4, 3, 2), "b": _f(4)}, strides=[2, 2]
    ),
    "Gemm": _one("Gemm", (1, 9), {"w": _f(9, 5), "b": _f(5)}),
    "BatchNorm": _one("BatchNormalization", _MAP, {"s": _f(4) + 1, "o": _f(4), "m": _f(4), "v": np.abs(_f(4)) + _HALF}),
    "LayerNorm": _one("LayerNormalization", _TOKENS, {"s": _f(8) + 1, "o": _f(8)}),
    "InstanceNorm": _one("InstanceNormalization", _MAP, {"s": _f(4) + 1, "o": _f(4)}),
    "GroupNorm": _one("GroupNormalization", _MAP, {"s": _f(4) + 1, "o": _f(4)}, num_groups=2),
    "MeanVarianceNormalization": _one("MeanVarianceNormalization", (2, 4, 5, 6)),
    "MeanVarianceNormalization of channels": _one("MeanVarianceNormalization", (2, 4, 5, 6), axes=[1]),
    "RMSNorm": _one("RMSNormalization", _TOKENS, {"s": _f(8) + 1}),
    "LRN": _one("LRN", (1, 8, 5, 6), size=3, alpha=0.2),
    "LRN of images": _one("LRN", (2, 7, 3, 4), size=5, bias=2.0, beta=0.5),
    "L2 normalise": _one("LpNormalization", _TOKENS, axis=-1, p=2),
    "Softmax": _one("Softmax", _TOKENS),
    "LogSoftmax": _one("LogSoftmax", _TOKENS),
    **{op: _one(op, (1, 4, 3, 5), {"axes": _i(2)}, keepdims=0) for op in _REDUCTIONS},
    "ReduceLogSum": Quantized(
        (1, 4, 3, 5), (("Sigmoid", ("x",), ("s",), {}), ("ReduceLogSum", ("s", "axes"), ("y",), {})), {"axes": _i(1, 3)}
    ),
    "ReduceLogSumExp": _one("ReduceLogSumExp", (1, 4, 3, 5), {"axes": _i(2)}, keepdims=0),
    "ReduceLogSumExp over all": _one("ReduceLogSumExp", (2, 4, 3, 5)),
    **{op: Quantized(_ROW, ((op, ("x",), ("y",), {"axis": 2}),), {}, TensorProto.INT64) for op in ("ArgMax", "ArgMin")},
    **{op: _chain(_ROW, {"t": _TENTH}, f"y = {op} x t", kind=TensorProto.BOOL) for op in _COMPARISONS},
    "And, Or, Xor, Not": _chain(
        *(_ROW, {"t": _TENTH, "u": _MINUS}, "l = Less x t", "g = Greater x u", "n = Not g"),
        *("a = And l n", "o = Or a g", "y = Xor o l"),
        kind=TensorProto.BOOL,
    ),
    "Where": _chain(_ROW, {"t": _TENTH}, "l = Less x t", "n = Neg x", "y = Where l x n"),
    "Clamp by tensors": _chain(
        _ROW, {"low": -np.abs(_f(1, 4, 1)), "high": np.abs(_f(1, 4, 1))}, "m = Max x low", "y = Min m high"
    ),
    "Conv2D and bounds of channels": Quantized(
        _MAP,
        (
            ("Conv", ("x", "w", "b"), ("c",), {}),
            *_chain(_MAP, {}, "m = Max low c", "y = Min m high").steps,
        ),
        {"w": _f(5, 4, 3, 3), "b": _f(5), "low": -np.abs(_f(5, 1, 1)), "high": np.abs(_f(5, 1, 1))},
        between=("c", "m"),
    ),
    "TopK": Quantized(_ROW, (("TopK", ("x", "k"), ("y", "i"), {"axis": 2}),), {"k": _i(3)}),
    "CumSum": _one("CumSum", _ROW, {"axis": np.array(2, np.int64)}),
    "GridSample linear": _one("GridSample", (1, 3, 5, 6), {"g": _GRID}, mode="linear"),
    "GridSample cubic": _one("GridSample", (1, 3, 5, 6), {"g": _GRID}, mode="cubic"),
    "GridSample nearest": _one("GridSample", (1, 3, 5, 6), {"g": _GRID}, mode="nearest"),
    "RoIAlign": _one(
        *("RoiAlign", (1, 3, 8, 8)),
        {"at": np.array([[0, 0, 5, 5], [1, 2, 7, 6]], np.float32), "of": _i(0, 0)},
        **{"output_height": 2, "output_width": 2, "sampling_ratio": 2},
    ),
    "embedding": _one("Gather", (1, 6, 4), {"i": _i(3, 1, 0, 3)}, axis=1),
    "GatherElements": _one("GatherElements", (1, 6, 4), {"i": RNG.integers(0, 6, (1, 3, 4))}, axis=1),
    "Einsum": Quantized((1, 2, 5, 8), (("Einsum", ("x", "x"), ("y",), {"equation": "bhid,bhjd->bhij"}),)),
    "Einsum, turned": Quantized((1, 5, 2, 8), (("Einsum", ("x", "x"), ("y",), {"equation": "bqhd,bkhd->bkhq"}),)),
    "Einsum with weights": _one("Einsum", _TOKENS, {"w": _f(8, 2, 4)}, equation="bid,dhe->bhie"),
    "Einsum, weights first": Quantized(
        _TOKENS, (("Einsum", ("w", "x"), ("y",), {"equation": "od,...d->...o"}),), {"w": _f(5, 8)}
    ),
    "Einsum of one": Quantized((1, 5, 2, 8), (("Einsum", ("x",), ("y",), {"equation": "bqhd->dbq"}),)),
    "attention": _attention(),
    "Attention": Quantized(
        _TOKENS, (("Attention", ("x", "x", "x"), ("y",), {"q_num_heads": 2, "kv_num_heads": 2}),), {}
    ),
    "LSTM": _recurrence("LSTM", 4),
    "GRU": _recurrence("GRU", 3, linear_before_reset=1),
    "RNN": _recurrence("RNN", 1),
    **{op: _one(op, _ROW) for op in _FUNCTIONS},
    "Sqrt": _chain(_ROW, {}, "a = Abs x", "y = Sqrt a"),
    "PRelu": _one("PRelu", (1, 3, 4, 5), {"s": _f(3, 1, 1)}),
    "Pow": _one("Pow", _ROW, {"e": np.float32(2)}),
    "Div": _one("Div", _ROW, {"e": np.abs(_f(9)) + _HALF}),
    "Mod": _one("Mod", _ROW, {"e": np.float32(0.3)}, fmod=1),
    "Max": _one("Max", _ROW, {"e": _f(1, 4, 1)}),
    "Max of two scales": _chain(_ROW, {}, "s = Sigmoid x", "y = Max x s"),
    "Min of three scales": _chain(_ROW, {}, "s = Sigmoid x", "t = Tanh x", "y = Min x s t"),
    "Div of two": _chain(_ROW, {}, "s = Sigmoid x", "y = Div x s"),
    "Concat of two scales": Quantized(
        _ROW, (("Sigmoid", ("x",), ("s",), {}), ("Concat", ("x", "s"), ("y",), {"axis": 1}))
    ),
    "Sum of three scales": _chain(_ROW, {}, "s = Sigmoid x", "t = Tanh x", "y = Sum x s t"),
    "Mean of three scales": _chain(_ROW, {}, "s = Sigmoid x", "t = Tanh x", "y = Mean x s t"),
    "Mean of two": _chain(_ROW, {}, "s = Sigmoid x", "y = Mean x s"),
    "Add, Sub, Mul": _chain(_ROW, {}, "s = Sigmoid x", "a = Add x s", "u = Sub a x", "y = Mul u a"),
    "GLU": Quantized(
        _TOKENS,
        (
            ("Split", ("x",), ("a", "g"), {"axis": 2, "num_outputs": 2}),
            *_chain(_TOKENS, {}, "s = Sigmoid g", "y = Mul a s").steps,
        ),
    ),
    "MaxPool": _one("MaxPool", (1, 3, 6, 6), kernel_shape=[2, 2], strides=[2, 2]),
    "AveragePool": _one("AveragePool", (1, 3, 6, 6), kernel_shape=[2, 2], strides=[2, 2]),
    "AveragePool3D": _one("AveragePool", _VOLUME, kernel_shape=[2, 2, 2], strides=[2, 2, 2]),
    "AveragePool3D, padded": _one(
        "AveragePool", (2, 3, 4, 6, 6), kernel_shape=[3, 3, 3], strides=[1, 2, 2], pads=[1] * 6
    ),
    "AveragePool3D, padding counts": _one(
        *("AveragePool", _VOLUME),
        **{"kernel_shape": [3, 2, 3], "strides": [2, 2, 2], "pads": [1] * 6, "count_include_pad": 1, "ceil_mode": 1},
    ),
    "GlobalAveragePool3D": _one("GlobalAveragePool", _VOLUME),
    "GlobalAveragePool": _one("GlobalAveragePool", _MAP),
    "LpPool": _one("LpPool", (1, 3, 6, 6), kernel_shape=[2, 3], strides=[2, 3]),
    "LpPool, sizes": _one("LpPool", (1, 3, 6, 6), kernel_shape=[3, 2], strides=[3, 2], p=1),
    "LpPool, windows that overlap": _one("LpPool", (1, 3, 6, 6), kernel_shape=[3, 3], strides=[2, 2]),
    "GlobalLpPool": _one("GlobalLpPool", _MAP),
    **{f"Resize {mode}": _resized(_MAP, (1, 4, 10, 12), mode=mode) for mode in ("linear", "nearest")},
    **{f"Resize3D {mode}": _resized(_VOLUME, (1, 3, 8, 12, 12), mode=mode) for mode in ("linear", "nearest")},
    "Resize3D nearest, channels last": _resized((2, 3, 4, 5, 6), (2, 5, 7, 10, 6), mode="nearest"),
    "Resize3D linear, of one axis": _resized(_VOLUME, (1, 3, 8, 6, 6), mode="linear"),
    "Resize3D linear, smaller": _resized((1, 3, 7, 6, 5), (1, 3, 5, 9, 4), mode="linear"),
    "Resize linear, uneven": _resized(_MAP, (1, 4, 7, 9), mode="linear"),
    "Resize linear, antialias": _resized((1, 4, 10, 12), (1, 4, 5, 7), mode="linear", antialias=1),
    "Resize cubic": _resized(_MAP, (1, 4, 10, 12), mode="cubic"),
    "Resize cubic, antialias": _resized((1, 4, 10, 12), (1, 4, 5, 7), mode="cubic", antialias=1),
    "Resize cubic, inside": _resized(_MAP, (1, 4, 8, 11), mode="cubic", exclude_outside=1, cubic_coeff_a=-0.5),
    "Resize cubic of two images": _resized((2, 4, 2, 3), (2, 4, 5, 8), mode="cubic"),
    "Resize linear of two images": _resized((2, 4, 5, 6), (2, 4, 10, 12), mode="linear"),
    "Pad": _one("Pad", (1, 3, 4, 5), {"p": _i(0, 0, 1, 1, 0, 0, 1, 2)}, mode="reflect"),
    "DepthToSpace": _one("DepthToSpace", (1, 8, 3, 4), blocksize=2),
}
"""By the names of the lists: `y` of the last step is what comes out."""
