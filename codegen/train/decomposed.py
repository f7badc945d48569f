"""What PyTorch's PT2E quantization writes into a graph, `quantized_decomposed`, as QuantizeLinear and DequantizeLinear.

Decides: that integers of fewer values than their type has are those of real numbers that were clipped before.
Source: torch.ao.quantization.fx._decomposed; torchao.quantization.pt2e writes the same operators.
"""

from __future__ import annotations

import contextlib
import importlib
from collections.abc import Callable, Iterator
from typing import Any

import torch
from torch.onnx import register_custom_op_symbolic, symbolic_helper, unregister_custom_op_symbolic

_SPACE = "quantized_decomposed"
_LIBRARIES = ("torch.ao.quantization.fx._decomposed", "torchao.quantization.pt2e")
"""What makes them operators of torch."""
_OPSET = 13
_TYPES = {0: torch.uint8, 1: torch.int8, 2: torch.int16, 3: torch.int32}
"""By torch's numbers of types."""


def declare() -> None:
    """Make them operators of torch, for programs that are read from files: where none has them they stay unknown."""
    for library in _LIBRARIES:
        if hasattr(getattr(torch.ops, _SPACE), "quantize_per_tensor"):
            return
        with contextlib.suppress(ImportError):
            importlib.import_module(library)


@contextlib.contextmanager
def decomposed() -> Iterator[None]:
    """With these operators known to torch.onnx, as long as it lasts."""
    for name, symbolic in _SYMBOLIC.items():
        register_custom_op_symbolic(f"{_SPACE}::{name}", symbolic, _OPSET)
    try:
        yield
    finally:
        for name in _SYMBOLIC:
            unregister_custom_op_symbolic(f"{_SPACE}::{name}", _OPSET)


def _quantize(g: Any, x: Any, scale: Any, zero: Any, low: Any, high: Any, kind: Any) -> Any:
    step, middle = _scale(g, scale), _zero(g, zero, kind)
    return g.op("QuantizeLinear", _clipped(g, x, (scale, zero), (low, high), kind), step, middle)


def _dequantize(g: Any, x: Any, scale: Any, zero: Any, low: Any, high: Any, kind: Any, out: Any = None) -> Any:
    return g.op("DequantizeLinear", x, _scale(g, scale), _zero(g, zero, kind))


def _quantize_channels(g: Any, x: Any, scale: Any, zero: Any, axis: Any, low: Any, high: Any, kind: Any) -> Any:
    return g.op("QuantizeLinear", x, _scale(g, scale), _zero(g, zero, kind), axis_i=_number(axis))


def _dequantize_channels(
    g: Any, x: Any, scale: Any, zero: Any, axis: Any, low: Any, high: Any, kind: Any, out: Any = None
) -> Any:
    return g.op("DequantizeLinear", x, _scale(g, scale), _zero(g, zero, kind), axis_i=_number(axis))


_SYMBOLIC: dict[str, Callable[..., Any]] = {
    "quantize_per_tensor": _quantize,
    "dequantize_per_tensor": _dequantize,
    "quantize_per_channel": _quantize_channels,
    "dequantize_per_channel": _dequantize_channels,
}


def _number(value: Any) -> Any:
    """A number that the graph has; None for a tensor."""
    found = symbolic_helper._maybe_get_const(value, "t") if symbolic_helper._is_constant(value) else None
    return found.item() if isinstance(found, torch.Tensor) and not found.dim() else found


def _scale(g: Any, value: Any) -> Any:
    number = _number(value)
    if number is None or isinstance(number, torch.Tensor):
        return g.op("Cast", value, to_i=torch.onnx.TensorProtoDataType.FLOAT)
    return g.op("Constant", value_t=torch.tensor(number, dtype=torch.float32))


def _zero(g: Any, value: Any, kind: Any) -> Any:
    number, held = _number(value), _TYPES[_number(kind)]
    if number is None or isinstance(number, torch.Tensor):
        return g.op("Cast", value, to_i=getattr(torch.onnx.TensorProtoDataType, str(held).partition(".")[2].upper()))
    return g.op("Constant", value_t=torch.tensor(number, dtype=held))


def _clipped(g: Any, x: Any, how: tuple[Any, Any], ends: tuple[Any, Any], kind: Any) -> Any:
    """The real numbers within those of the integers that are meant, where these are not all of their type."""
    step, middle, low, high = (_number(value) for value in (*how, *ends))
    info = torch.iinfo(_TYPES[_number(kind)])
    if (low, high) == (info.min, info.max) or not isinstance(step, float):
        return x
    bounds = (torch.tensor((end - middle) * step, dtype=torch.float32) for end in (low, high))
    return g.op("Clip", x, *(g.op("Constant", value_t=bound) for bound in bounds))
