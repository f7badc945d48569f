"""The operators of RealGraph in torch, through which gradients flow.

Decides nothing: each is the operator of `codegen/real` of the same name, on tensors.  What is not here cannot be
trained (LAM-TRAIN-004).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
import torch
from torch import Tensor
from torch.nn import functional

from codegen.errors import GradientUnknown
from codegen.ir.real import RealNode
from codegen.ir.shape import Window
from codegen.real.elementwise import AddN, Binary, Cast, Clip, Function, PRelu, Where
from codegen.real.movement import (
    Concat,
    DepthToSpace,
    Expand,
    Gather,
    Pad,
    Pick,
    Reshape,
    Slice,
    SpaceToDepth,
    Tile,
    Transpose,
)
from codegen.real.normal import BatchNorm, InstanceNorm, LayerNorm
from codegen.real.product import Gemm, MatMul
from codegen.real.reduce import Reduce, Softmax
from codegen.real.resize import Resize
from codegen.real.window import AveragePool, Conv, ConvTranspose, MaxPool

Tensors = Sequence[Tensor]
_CONV = {1: functional.conv1d, 2: functional.conv2d, 3: functional.conv3d}
_TRANSPOSED = {1: functional.conv_transpose1d, 2: functional.conv_transpose2d, 3: functional.conv_transpose3d}
_MAX = {1: functional.max_pool1d, 2: functional.max_pool2d, 3: functional.max_pool3d}


def run(node: RealNode, ins: Tensors) -> Tensor:
    """The node's result; LAM-TRAIN-004 where it has no gradient here."""
    known = OPERATORS.get(type(node.op))
    result = None if known is None else known(node.op, ins)
    if result is None:
        raise GradientUnknown(f"{type(node.op).__name__} is not trained", where=node.where)
    return result


def is_known(node: RealNode) -> bool:
    """Whether the node can be trained, as far as its operator says; forms of it may be refused later."""
    kind = type(node.op)
    table = {Function: FUNCTIONS, Binary: BINARY, Reduce: REDUCTIONS}.get(kind)
    name = getattr(node.op, "name", None) or getattr(node.op, "kind", "")
    return len(node.outputs) == 1 and kind in OPERATORS and (table is None or name in table)


def _padded(x: Tensor, windows: Sequence[Window], value: float) -> Tensor:
    pads = [n for w in reversed(windows) for n in (w.pad_before, w.pad_after)]
    return functional.pad(x, pads, value=value) if any(pads) else x


def _steps(windows: Sequence[Window]) -> tuple[list[int], list[int]]:
    return [w.stride for w in windows], [w.dilation for w in windows]


def _first(x: Tensor, axis: int) -> Tensor:
    """Channels first."""
    return x if axis == 1 else x.movedim(-1, 1)


def _last(x: Tensor, axis: int) -> Tensor:
    """Channels where the operator has them."""
    return x if axis == 1 else x.movedim(1, -1)


def _conv(op: Conv, ins: Tensors) -> Tensor:
    x = _padded(_first(ins[0], op.channel_axis), op.windows, 0.0)
    bias = ins[2] if len(ins) > 2 else None
    stride, dilation = _steps(op.windows)
    return _last(_CONV[len(op.windows)](x, ins[1], bias, stride, 0, dilation, op.groups), op.channel_axis)


def _conv_transpose(op: ConvTranspose, ins: Tensors) -> Tensor:
    stride, dilation = _steps(op.windows)
    bias = ins[2] if len(ins) > 2 else None
    x = _first(ins[0], op.channel_axis)
    y = _TRANSPOSED[len(op.windows)](x, ins[1], None, stride, 0, 0, op.groups, dilation)
    y = functional.pad(y, _cut(op, y.shape[2:]))
    along = (-1, *(1 for _ in op.windows))
    return _last(y if bias is None else y + bias.reshape(along), op.channel_axis)


def _cut(op: ConvTranspose, sizes: Sequence[int]) -> list[int]:
    """What the pads take away, and what the output has beyond the windows."""
    pairs = [(-w.pad_before, n - (m - w.pad_before)) for w, n, m in zip(op.windows, op.out_spatial, sizes, strict=True)]
    return [n for pair in reversed(pairs) for n in pair]


def _max_pool(op: MaxPool, ins: Tensors) -> Tensor:
    x = _padded(_first(ins[0], op.channel_axis), op.windows, -torch.inf)
    stride, dilation = _steps(op.windows)
    y = _MAX[len(op.windows)](x, [w.size for w in op.windows], stride, 0, dilation)
    return _last(y, op.channel_axis)


def _average_pool(op: AveragePool, ins: Tensors) -> Tensor:
    """Sums by a convolution with ones, divided by the operator's own counts."""
    x = _first(ins[0], op.channel_axis)
    channels, spatial = x.shape[1], tuple(x.shape[2:])
    ones = x.new_ones((channels, 1, *(w.size for w in op.windows)))
    stride, dilation = _steps(op.windows)
    sums = _CONV[len(op.windows)](_padded(x, op.windows, 0.0), ones, None, stride, 0, dilation, channels)
    counts = op.counts(spatial, tuple(sums.shape[2:])).astype(np.float32)
    return _last(sums / torch.as_tensor(counts, device=x.device), op.channel_axis)


def _gemm(op: Gemm, ins: Tensors) -> Tensor:
    a = ins[0].mT if op.turn_a else ins[0]
    b = ins[1].mT if op.turn_b else ins[1]
    y = a @ b if op.alpha == 1 else op.alpha * (a @ b)
    return y if len(ins) == 2 else y + (ins[2] if op.beta == 1 else op.beta * ins[2])


def _batch_norm(op: BatchNorm, ins: Tensors) -> Tensor:
    x, scale, offset, mean, variance = ins
    along = [1] * x.dim()
    along[op.channel_axis if x.dim() > 1 else 0] = -1
    factor = scale / torch.sqrt(variance + op.epsilon)
    return (x - mean.reshape(along)) * factor.reshape(along) + offset.reshape(along)


def _instance_norm(op: InstanceNorm, ins: Tensors) -> Tensor:
    x = functional.instance_norm(_first(ins[0], op.channel_axis), weight=ins[1], bias=ins[2], eps=op.epsilon)
    return _last(x, op.channel_axis)


def _layer_norm(op: LayerNorm, ins: Tensors) -> Tensor:
    sizes = ins[0].shape[op.axis :]
    if op.centred:
        x = functional.layer_norm(ins[0], sizes, None, None, op.epsilon) * ins[1]
    else:
        x = functional.rms_norm(ins[0], list(sizes), None, op.epsilon) * ins[1]
    return x + ins[2] if len(ins) > 2 else x


def _reduce(op: Reduce, ins: Tensors) -> Tensor | None:
    known = REDUCTIONS.get(op.kind)
    return None if known is None or not op.axes else known(ins[0], op.axes, op.keep)


def _function(op: Function, ins: Tensors) -> Tensor | None:
    known = FUNCTIONS.get(op.name)
    return None if known is None else known(ins[0], **dict(op.attributes))


def _binary(op: Binary, ins: Tensors) -> Tensor | None:
    known = BINARY.get(op.kind)
    return None if known is None else known(ins[0], ins[1])


def _softmax(op: Softmax, ins: Tensors) -> Tensor | None:
    if len(op.axes) != 1:
        return None
    turn = functional.log_softmax if op.log else functional.softmax
    return turn(ins[0] if op.beta == 1 else op.beta * ins[0], dim=op.axes[0])


def _clip(op: Clip, ins: Tensors) -> Tensor:
    return torch.clamp(ins[0], op.low, op.high)


def _cast(op: Cast, ins: Tensors) -> Tensor:
    if op.to == "bfloat16":
        return ins[0].to(torch.bfloat16).to(torch.float32)
    return ins[0].to(torch.as_tensor(np.zeros(0, op.to)).dtype)


def _slice(op: Slice, ins: Tensors) -> Tensor:
    x = ins[0]
    for axis, (start, count, step) in enumerate(zip(op.starts, op.counts, op.steps, strict=True)):
        if (start, count, step) != (0, x.shape[axis], 1):
            x = x.index_select(axis, torch.arange(count, device=x.device) * step + start)
    return x


_PADS = {"constant": "constant", "edge": "replicate", "reflect": "reflect", "wrap": "circular"}


def _pad(op: Pad, ins: Tensors) -> Tensor | None:
    if op.mode not in _PADS:
        return None
    pairs = [n for pair in reversed(list(zip(op.before, op.after, strict=True))) for n in pair]
    while len(pairs) > 2 and pairs[-2:] == [0, 0]:
        pairs = pairs[:-2]
    value = {"value": op.value} if op.mode == "constant" else {}
    return functional.pad(ins[0], pairs, _PADS[op.mode], **value)


def _pick(op: Pick, ins: Tensors) -> Tensor:
    x = ins[0]
    for axis, places in enumerate(op.places):
        x = x if places is None else x.index_select(axis, torch.tensor(places, device=x.device))
    return x


def _gather(op: Gather, ins: Tensors) -> Tensor:
    x, at = ins
    at = at.long()
    at = torch.where(at < 0, at + x.shape[op.axis], at)
    flat = x.index_select(op.axis, at.reshape(-1))
    return flat.reshape(*x.shape[: op.axis], *at.shape, *x.shape[op.axis + 1 :])


def _blocks(op: DepthToSpace, ins: Tensors) -> Tensor:
    x, b = _first(ins[0], op.channel_axis), op.block
    n, c, h, w = x.shape
    if op.mode == "DCR":
        y = x.reshape(n, b, b, c // b**2, h, w).permute(0, 3, 4, 1, 5, 2)
    else:
        y = x.reshape(n, c // b**2, b, b, h, w).permute(0, 1, 4, 2, 5, 3)
    return _last(y.reshape(n, c // b**2, h * b, w * b), op.channel_axis)


def _unblocks(op: SpaceToDepth, ins: Tensors) -> Tensor:
    x, b = _first(ins[0], op.channel_axis), op.block
    n, c, h, w = x.shape
    order = (0, 3, 5, 1, 2, 4) if op.mode == "DCR" else (0, 1, 3, 5, 2, 4)
    y = x.reshape(n, c, h // b, b, w // b, b).permute(order).reshape(n, c * b**2, h // b, w // b)
    return _last(y, op.channel_axis)


def _resize(op: Resize, ins: Tensors) -> Tensor | None:
    """Each axis is a matrix product with the weights that the operator itself has: what it makes of unit vectors."""
    if op.coordinates == "tf_crop_and_resize":
        return None
    x = ins[0]
    for axis, stretch in enumerate(op.stretches):
        if stretch is not None:
            single = type(op)((None, stretch), op.mode, op.coordinates, op.rounding, op.cubic_a, op.inside, op.smooth)
            (taps,) = single.evaluate([np.eye(x.shape[axis], dtype=np.float32)])
            x = (x.movedim(axis, -1) @ torch.as_tensor(taps, device=x.device)).movedim(-1, axis)
    return x


def _celu(x: Tensor, alpha: float = 1.0) -> Tensor:
    return functional.celu(x, alpha)


def _gelu_tanh(x: Tensor) -> Tensor:
    return functional.gelu(x, approximate="tanh")


def _hard_sigmoid(x: Tensor, alpha: float = 0.2, beta: float = 0.5) -> Tensor:
    return torch.clamp(alpha * x + beta, 0.0, 1.0)


def _hard_swish(x: Tensor) -> Tensor:
    return x * _hard_sigmoid(x, 1.0 / 6.0, 0.5)


def _swish(x: Tensor, alpha: float = 1.0) -> Tensor:
    return x * torch.sigmoid(alpha * x)


def _leaky(x: Tensor, alpha: float = 0.01) -> Tensor:
    return functional.leaky_relu(x, alpha)


def _elu(x: Tensor, alpha: float = 1.0) -> Tensor:
    return functional.elu(x, alpha)


FUNCTIONS: Mapping[str, Callable[..., Tensor]] = {
    "Abs": torch.abs,
    "Celu": _celu,
    "Clip": lambda x, min=-torch.inf, max=torch.inf: torch.clamp(x, min, max),
    "Cos": torch.cos,
    "Elu": _elu,
    "Erf": torch.erf,
    "Exp": torch.exp,
    "Gelu": functional.gelu,
    "GeluTanh": _gelu_tanh,
    "HardSigmoid": _hard_sigmoid,
    "HardSwish": _hard_swish,
    "Identity": lambda x: x,
    "LeakyRelu": _leaky,
    "Log": torch.log,
    "Mish": functional.mish,
    "Neg": torch.neg,
    "Reciprocal": torch.reciprocal,
    "Relu": torch.relu,
    "Rsqrt": torch.rsqrt,
    "Sigmoid": torch.sigmoid,
    "Sin": torch.sin,
    "Softplus": functional.softplus,
    "Softsign": functional.softsign,
    "Sqrt": torch.sqrt,
    "Swish": _swish,
    "Tanh": torch.tanh,
}
BINARY: Mapping[str, Callable[[Tensor, Tensor], Tensor]] = {
    "Add": torch.add,
    "Div": torch.div,
    "Max": torch.maximum,
    "Min": torch.minimum,
    "Mul": torch.mul,
    "Pow": torch.pow,
    "SquaredDifference": lambda a, b: torch.square(a - b),
    "Sub": torch.sub,
}
REDUCTIONS: Mapping[str, Callable[[Tensor, tuple[int, ...], bool], Tensor]] = {
    "Max": lambda x, axes, keep: torch.amax(x, axes, keep),
    "Mean": lambda x, axes, keep: torch.mean(x, axes, keep),
    "Min": lambda x, axes, keep: torch.amin(x, axes, keep),
    "Sum": lambda x, axes, keep: torch.sum(x, axes, keep),
    "SumSquare": lambda x, axes, keep: torch.sum(x * x, axes, keep),
}
OPERATORS: Mapping[type, Callable[[Any, Tensors], Tensor | None]] = {
    AddN: lambda op, ins: torch.stack(list(ins)).sum(0),
    AveragePool: _average_pool,
    BatchNorm: _batch_norm,
    Binary: _binary,
    Cast: _cast,
    Clip: _clip,
    Concat: lambda op, ins: torch.cat(list(ins), op.axis),
    Conv: _conv,
    ConvTranspose: _conv_transpose,
    DepthToSpace: _blocks,
    Expand: lambda op, ins: ins[0].expand(torch.broadcast_shapes(ins[0].shape, op.shape)),
    Function: _function,
    Gather: _gather,
    Gemm: _gemm,
    InstanceNorm: _instance_norm,
    LayerNorm: _layer_norm,
    MatMul: lambda op, ins: torch.matmul(ins[0], ins[1]),
    MaxPool: _max_pool,
    Pad: _pad,
    Pick: _pick,
    PRelu: lambda op, ins: torch.where(ins[0] < 0, ins[1] * ins[0], ins[0]),
    Reduce: _reduce,
    Reshape: lambda op, ins: ins[0].reshape(op.shape),
    Resize: _resize,
    Slice: _slice,
    Softmax: _softmax,
    SpaceToDepth: _unblocks,
    Tile: lambda op, ins: ins[0].tile(op.counts),
    Transpose: lambda op, ins: ins[0].permute(op.perm),
    Where: lambda op, ins: torch.where(ins[0].bool(), ins[1], ins[2]),
}
"""Each operator that gradients flow through."""
