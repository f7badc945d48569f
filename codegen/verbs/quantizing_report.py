"""The rows of a quantizer's report: from places, schemes and figures to records."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from codegen.ir.real import RealGraph, Stored
from codegen.quantizer.asked import Asking
from codegen.quantizer.measure import Figures, Noise
from codegen.quantizer.places import Constant, Places, Tensor
from codegen.quantizer.scheme import Scheme, Weight
from codegen.real.movement import Concat
from codegen.real.storage import Dequantize
from codegen.report.quantized import QuantizedTensor, QuantizedWeight

_FEW_STEPS = 16
_UNLIKE = 4
"""Times that others are larger where a tensor has so few steps because of them."""
Rows = tuple[tuple[QuantizedTensor, ...], tuple[QuantizedWeight, ...]]


def rows_of(places: Places, decided: tuple[Scheme, Asking], figures: Mapping[str, Figures]) -> Rows:
    """A row per tensor and one per constant that was given integers, in the network's order."""
    scheme, asking = decided
    tensors = [_tensor(t, scheme.tensors[t.name], figures[t.name], asking) for t in places.tensors if t.name in figures]
    weights = [_weight(places, c, scheme.weights[c.key], asking) for c in places.constants if c.key in scheme.weights]
    return tuple(tensors), tuple(weights)


def unlike(graph: RealGraph, scheme: Scheme, figures: Mapping[str, Figures]) -> Iterator[str]:
    """What is said of numbers that are joined with much larger ones, whose scale leaves them few steps.

    As in the head of a detector, whose probabilities lie beside its boxes.
    """
    for node in graph.nodes:
        stored = scheme.tensors.get(node.outputs[0])
        if stored is None or not isinstance(node.op, Concat):
            continue
        sizes = {name: figures[name].size for name in node.inputs if name in figures}
        for name, size in sizes.items():
            steps = size / float(stored.scale.reshape(-1)[0])
            if 0 < steps < _FEW_STEPS and size * _UNLIKE < max(sizes.values()):
                yield (
                    f"{name} is joined with larger numbers and is {steps:.1f} steps of their scale on average: "
                    "read it before it is joined, or give the result 16 bits"
                )


def _bits(stored: Stored) -> int:
    return stored.bits or 8 * stored.dtype.itemsize


def _tensor(tensor: Tensor, stored: Stored, figures: Figures, asking: Asking) -> QuantizedTensor:
    scale, zero = float(stored.scale.reshape(-1)[0]), int(stored.zero_point.reshape(-1)[0])
    return QuantizedTensor(
        tensor=tensor.name,
        layer=tensor.layer,
        operator=tensor.op_type,
        bits=_bits(stored),
        scale=scale,
        zero_point=zero,
        low=scale * (stored.low - zero),
        high=scale * (stored.high - zero),
        method=_method(tensor, asking),
        clipped=figures.clipped,
        codes=figures.codes,
        sqnr=figures.sqnr,
        error=figures.rms,
    )


def _method(tensor: Tensor, asking: Asking) -> str:
    if tensor.like:
        return f"as {tensor.like}"
    if tensor.bounds is not None:
        return "known"
    return asking.spec(tensor.role, layer=tensor.layer, op_type=tensor.op_type, tensor=tensor.name).method


def _weight(places: Places, constant: Constant, weight: Weight, asking: Asking) -> QuantizedWeight:
    noise, data = Noise(), places.value(constant).data
    assert data is not None, constant.name
    noise.take(data, Dequantize(weight.stored).evaluate([weight.data])[0])
    spec = asking.spec(constant.role, layer=constant.layer, op_type=constant.op_type, tensor=constant.name)
    return QuantizedWeight(
        tensor=constant.name,
        layer=constant.layer,
        operator=constant.op_type,
        role=constant.role,
        bits=_bits(weight.stored),
        scales=weight.stored.scale.size,
        method="product" if constant.role == "bias" else spec.method,
        sqnr=noise.sqnr,
    )
