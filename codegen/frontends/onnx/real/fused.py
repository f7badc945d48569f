"""What ONNX Runtime's optimizers make one operator of, as several.  Source: onnxruntime/docs/ContribOperators.md."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

import numpy as np

from codegen.errors import FormUnsupported
from codegen.frontends.onnx.activation import DEFAULTS
from codegen.frontends.onnx.nodes import OnnxNode
from codegen.frontends.onnx.real.product import gemm
from codegen.frontends.onnx.real.reading import MICROSOFT, Reading, Table
from codegen.frontends.onnx.real.window import conv_windows
from codegen.ir.real import RealOp
from codegen.real.elementwise import Binary, Clip, Function
from codegen.real.movement import Gather, Transpose
from codegen.real.normal import LayerNorm
from codegen.real.product import Gemm, MatMul
from codegen.real.reduce import Reduce
from codegen.real.window import Conv

Step = tuple[RealOp, Sequence[str]]
"""An operator, and what it reads behind the result of the one before."""
ADD, MUL = Binary("Add"), Binary("Mul")
_FUNCTIONS = frozenset(("Elu", "HardSigmoid", "LeakyRelu", "Relu", "Selu", "Sigmoid", "Softplus", "Softsign", "Tanh"))
_SKIPPED_SUM = 3
"""The output of SkipLayerNormalization that is what it normalises."""


def fused_conv(r: Reading, node: OnnxNode) -> Sequence[str]:
    """FusedConv: a convolution, a map that is added, a function."""
    x, windows = conv_windows(r, node)
    bias, added = r.optional(node, 2), r.optional(node, 3)
    weights = [r.value(node, 1), *([] if bias is None else [bias])]
    given = node.numbers("activation_params")
    steps: list[Step] = [(Conv(windows, node.integer("group", 1, low=1)), weights)]
    steps += [] if added is None else [(ADD, [added])]
    return [in_turn(r, node, x, [*steps, *_function(node, lambda names: dict(zip(names, given, strict=False)))])]


def fused_gemm(r: Reading, node: OnnxNode) -> Sequence[str]:
    """FusedGemm: a Gemm, a function."""
    named = {key: f"activation_{key}" for key in ("alpha", "beta", "gamma")}
    found = {key: node.real(name) for key, name in named.items() if node.has(name)}
    steps = _function(node, lambda names: {key: found[key] for key in names if key in found})
    if not steps:
        return gemm(r, node)
    op = Gemm(node.real("alpha", 1.0), node.real("beta", 1.0), node.flag("transA"), node.flag("transB"))
    a, *others = r.given(node, 2)
    return [in_turn(r, node, a, [(op, others), *steps])]


def _function(node: OnnxNode, given: Callable[[Sequence[str]], dict[str, float]]) -> list[Step]:
    """The function that `activation` names; `given` are the parameters of the names that it has."""
    name = node.string("activation", "", ("", "Clip", *sorted(_FUNCTIONS)))
    if not name:
        return []
    if name == "Clip":
        bounds = given(("min", "max"))
        return [(Clip(bounds.get("min", -math.inf), bounds.get("max", math.inf)), [])]
    usual = DEFAULTS.get(name, {})
    return [(Function(name, tuple({**usual, **given(tuple(usual))}.items())), [])]


def fused_matmul(r: Reading, node: OnnxNode) -> Sequence[str]:
    """FusedMatMul, TransposeMatMul: alpha times a product, of either side transposed.

    `transBatchA` and `transBatchB` move a side's first axis behind its other ones but the last, before that.
    """
    sides = [_turned(r, node, i, node.flag(f"trans{c}"), node.flag(f"transBatch{c}")) for i, c in ((0, "A"), (1, "B"))]
    alpha = node.real("alpha", 1.0)
    steps: list[Step] = [(MatMul(), [sides[1]])]
    steps += [] if alpha == 1.0 else [(MUL, [number(r, node, "alpha", alpha)])]
    return [in_turn(r, node, sides[0], steps)]


def _turned(r: Reading, node: OnnxNode, index: int, last: bool, batch: bool) -> str:
    x = r.value(node, index)
    axes = list(range(r.rank(x)))
    if len(axes) > 1 and batch:
        axes = [*axes[1:-1], axes[0], axes[-1]]
    if len(axes) > 1 and last:
        axes[-2:] = axes[-1], axes[-2]
    return x if axes == sorted(axes) else r.apply(Transpose(tuple(axes)), [x], node, f"turned{index}")


def bias_gelu(r: Reading, node: OnnxNode) -> Sequence[str]:
    """BiasGelu, FastGelu: a bias that may be left out, and Gelu, in FastGelu by tanh."""
    op = Function("GeluTanh" if node.op_type == "FastGelu" else "Gelu")
    x, *bias = r.given(node, 1)
    return [in_turn(r, node, x, [*((ADD, [b]) for b in bias), (op, [])])]


def quick_gelu(r: Reading, node: OnnxNode) -> Sequence[str]:
    """QuickGelu: x times the sigmoid of alpha x."""
    return [r.apply(Function("Swish", (("alpha", node.real("alpha", 1.702)),)), [r.value(node, 0)], node)]


def simplified_layer_normalization(r: Reading, node: OnnxNode) -> Sequence[str]:
    """SimplifiedLayerNormalization, which ONNX has as RMSNormalization."""
    x = r.value(node, 0)
    op = LayerNorm(r.axis(node, x, -1), node.real("epsilon", 1e-5), centred=False)
    return [r.apply(op, [x, r.value(node, 1)], node)]


def skip_layer_normalization(r: Reading, node: OnnxNode) -> Sequence[str]:
    """SkipLayerNormalization, SkipSimplifiedLayerNormalization: two tensors and a bias added, and normalised.

    The sum is the fourth output; mean and deviation are refused.
    """
    centred = node.op_type == "SkipLayerNormalization"
    shift, bias = (r.optional(node, 3), r.optional(node, 4)) if centred else (None, r.optional(node, 3))
    total = r.apply(ADD, [r.value(node, 0), r.value(node, 1)], node, "skip" if bias is None else "unbiased")
    total = total if bias is None else r.apply(ADD, [total, bias], node, "skip")
    factors = [r.value(node, 2), *([] if shift is None else [shift])]
    return _normalised(r, node, total, factors, node.real("epsilon", 1e-12), _SKIPPED_SUM, centred=centred)


def embed_layer_normalization(r: Reading, node: OnnxNode) -> Sequence[str]:
    """EmbedLayerNormalization: embeddings of words, positions and segments added, and normalised.

    Its second output is how many positions the mask leaves, of each sequence; its third is the sum.
    """
    words, segments = r.value(node, 0), r.optional(node, 1)
    length = r.type(words).shape[-1]
    at = r.optional(node, 8)
    places = r.constant(f"{node.name}:places", np.arange(length, dtype=np.int32)) if at is None else at
    total = _added(r, node, r.apply(Gather(0), [r.value(node, 2), words], node, "words"), 3, places)
    total = total if segments is None else _added(r, node, total, 4, segments)
    factors = [r.value(node, 5), r.value(node, 6)]
    values = list(_normalised(r, node, total, factors, node.real("epsilon", 1e-12), 2))
    mask = r.optional(node, 7)
    if any(node.outputs[1:2]):
        left = np.zeros(r.type(words).shape[:1], np.int32)
        values[1] = (
            r.constant(f"{node.name}:no mask", left)
            if mask is None
            else r.apply(Reduce("Sum", (1,), keep=False), [mask], node, "unpadded")
        )
    return values


def _added(r: Reading, node: OnnxNode, total: str, table: int, at: str) -> str:
    rows = r.apply(Gather(0), [r.value(node, table), at], node, f"rows{table}")
    return r.apply(ADD, [total, rows], node, f"sum{table}")


def _normalised(
    r: Reading, node: OnnxNode, total: str, factors: Sequence[str], epsilon: float, place: int, *, centred: bool = True
) -> Sequence[str]:
    """The sum normalised along its last axis, first, and the sum at `place`; nothing in between."""
    if any(node.outputs[1:place]) and node.op_type != "EmbedLayerNormalization":
        raise FormUnsupported(f"{node.op_type} with mean or deviation as outputs", where=node.where)
    normal = r.apply(LayerNorm(r.rank(total) - 1, epsilon, centred=centred), [total, *factors], node)
    values = [normal, *[""] * (place - 1), total]
    return values[: max(len(node.outputs), 1)]


def number(r: Reading, node: OnnxNode, name: str, value: float) -> str:
    """A constant of a translation."""
    return r.constant(f"{node.name}:{name}", np.array(value, np.float32))


def in_turn(r: Reading, node: OnnxNode, value: str, steps: Sequence[Step], name: str = "") -> str:
    """The result of operators each of which reads that of the one before; the last has `name`, or the node's."""
    for i, (op, others) in enumerate(steps):
        inner = f"{name} {i}".strip()
        value = r.apply(op, [value, *others], node, name if i == len(steps) - 1 else f"before {inner}")
    return value


TRANSLATORS: Table = {
    ("", "SimplifiedLayerNormalization"): simplified_layer_normalization,
    (MICROSOFT, "BiasGelu"): bias_gelu,
    (MICROSOFT, "EmbedLayerNormalization"): embed_layer_normalization,
    (MICROSOFT, "FastGelu"): bias_gelu,
    (MICROSOFT, "FusedConv"): fused_conv,
    (MICROSOFT, "FusedGemm"): fused_gemm,
    (MICROSOFT, "FusedMatMul"): fused_matmul,
    (MICROSOFT, "QuickGelu"): quick_gelu,
    (MICROSOFT, "SkipLayerNormalization"): skip_layer_normalization,
    (MICROSOFT, "SkipSimplifiedLayerNormalization"): skip_layer_normalization,
    (MICROSOFT, "TransposeMatMul"): fused_matmul,
}
