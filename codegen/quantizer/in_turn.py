"""Ranges of one tensor after the other, narrower and wider, by what the whole network gives then.

Decides: weights stay as they are meanwhile; samples that set ranges and samples that judge alone must both not lose,
and a range must gain more than another throw of roundings does.  How many samples look is what a network's work leaves.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace

from codegen.ir.real import RealGraph, Stored
from codegen.quantizer.asked import Asked, Asking
from codegen.quantizer.calibrate import tensors_of
from codegen.quantizer.places import PRODUCTS, Places, Tensor
from codegen.quantizer.spec import Role, Spec
from codegen.quantizer.statistics import Statistics
from codegen.records import record

Range = tuple[float, float]
Look = Callable[[Mapping[str, Stored]], tuple[float, float]]
"""The dB of a network with these tensors, by samples that set no range and by those that do."""

_TIMES = (0.8, 0.9, 1.1)
"""A range by what is tried in its place."""
_POWERS = (0.5, 2.0)
"""The same, where steps are powers of two."""
GAIN = 0.3
"""dB that a range must gain, and all of them together: roundings that fall otherwise move outputs by as much."""
_BYTE = 8
_PER_NUMBER = 16
"""Products of weights that take as long as one number of a tensor."""


@record
class InTurn:
    """As asked, but for activations whose ranges have been found one after the other."""

    asking: Asking
    ranges: Mapping[str, Range]

    def spec(self, role: Role, *, layer: str = "", op_type: str = "", tensor: str = "") -> Spec:
        """How one tensor is to be quantized."""
        spec = self.asking.spec(role, layer=layer, op_type=op_type, tensor=tensor)
        if role != "activation" or tensor not in self.ranges:
            return spec
        low, high = self.ranges[tensor]
        return replace(spec, method="fixed", low=low, high=high)


@record(eq=False)
class Turns:
    """The tensors of one network whose ranges are open, as they are asked for and have been seen."""

    places: Places
    seen: Mapping[str, Statistics]
    asking: Asking
    asked: Asked

    def samples_for(self, work: float) -> int:
        """With how many samples of each kind all looks take so much work, of which a product of a weight is one."""
        looks = 1 + sum(len(_tried(spec)) for _, spec in self._open())
        return int(work / (2 * looks * max(work_of(self.places.graph), 1)))

    def ranges(self, look: Look) -> dict[str, Range]:
        """The ranges that the network is better with, by tensor."""
        found: dict[str, Range] = {}
        held = tensors_of(self.places, self.seen, self.asking)
        best = look(held)
        for tensor, spec in self._open():
            if tensor.name not in held:
                continue
            low, high = _ends(held[tensor.name], spec)
            for times in _tried(spec):
                tried = {**found, tensor.name: (times * low, times * high)}
                given = tensors_of(self.places, self.seen, InTurn(self.asking, tried))
                judged = look(given)
                if _is_better(judged, best):
                    found, held, best = tried, given, judged
        return found

    def _open(self) -> Iterator[tuple[Tensor, Spec]]:
        """What has 8 bits or fewer and no bounds, and of which neither a method nor a range was asked for."""
        for tensor in self.places.tensors:
            where = {"layer": tensor.layer, "op_type": tensor.op_type, "tensor": tensor.name}
            spec = self.asking.spec(tensor.role, **where)
            said = self.asked.says("method", tensor.role, **where) or spec.low is not None
            free = tensor.role == "activation" and not tensor.like and tensor.bounds is None
            if free and not said and not spec.keep_float and spec.bits <= _BYTE:
                yield tensor, spec


def work_of(graph: RealGraph) -> int:
    """About what one sample takes: products of weights, and numbers that are computed."""
    return sum(map(math.prod, _shapes(graph))) * _PER_NUMBER + sum(_products(graph))


def _shapes(graph: RealGraph) -> Iterator[tuple[int, ...]]:
    return (graph.type(name).shape for node in graph.nodes for name in node.outputs)


def _products(graph: RealGraph) -> Iterator[int]:
    for node in graph.nodes:
        if isinstance(node.op, PRODUCTS) and (weights := graph.values[node.inputs[1]].data) is not None:
            channels = next((c for c in (weights.shape[0], weights.shape[-1]) if c), 1)
            yield math.prod(graph.type(node.outputs[0]).shape) * weights.size // channels


def _tried(spec: Spec) -> tuple[float, ...]:
    return _POWERS if spec.pot else _TIMES


def _ends(stored: Stored, spec: Spec) -> Range:
    """The numbers that its integers hold; of symmetric ones the least is left out, which is one further than others."""
    scale, zero = stored.scale.item(), stored.zero_point.item()
    low, high = (stored.low - zero) * scale, (stored.high - zero) * scale
    return (max(low, -high), high) if spec.symmetric else (low, high)


def _is_better(judged: tuple[float, float], best: tuple[float, float]) -> bool:
    gains = [new - old for new, old in zip(judged, best, strict=True)]
    return min(gains) >= 0 and sum(gains) / 2 > GAIN
