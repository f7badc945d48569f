"""Ranges that are learned: the size of a step, where zero lies, and how gradients get to both.

Decides: the gradients.  With u = x / step within the integers and q the integer, both less the zero point, y =
step * q, rounding and the network's own requantization let gradients through as if they were nothing, so that

    LSQ    dy/dstep = q - u inside, q outside; times 1 / sqrt(elements * greatest integer)   (arXiv 1902.08153)
    LSQ+   the same, and dy/dzero = 0 inside, -step outside                                  (arXiv 2004.09576)
    TQT    step = 2^ceil(log2 t) / 2^(bits - 1), and log2 t is learned as if ceil were nothing (arXiv 1903.08066)
    PACT   y = clip(x, low, reach): dy/dreach = 0 inside, 1 beyond                            (arXiv 1805.06085)
    none   steps of the range that was found; of weights, of the range that they have now

Leaves to `codegen.quantizer` which range training begins with.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn

from codegen.ir.quant import Array
from codegen.ir.real import Stored
from codegen.ir.shape import Shape
from codegen.quantizer.ranges.storing import LEAST_SCALE, bits_of, dtype_of
from codegen.quantizer.scheme import Weight
from codegen.quantizer.spec import Learn, Rounding, Spec
from codegen.quantizer.weights import stored_weights

_ROUNDED: Mapping[Rounding, Callable[[Tensor], Tensor]] = {
    "half_even": torch.round,
    "half_up": lambda x: torch.floor(x + 0.5),
    "half_away": lambda x: torch.copysign(torch.floor(x.abs() + 0.5), x),
    "half_down": lambda x: torch.copysign(torch.ceil(x.abs() - 0.5), x),
}
"""As of `codegen.quantizer.weights`, on tensors."""
_MIDDLE = 0.5
"""Below a power of two: as far from the next one as from the one before."""


def way_of(spec: Spec, *, fixed: bool = False) -> Learn:
    """How a range is learned; one that is `fixed` stays as it is, unless its configuration says otherwise."""
    if spec.learn != "auto":
        return spec.learn
    return "none" if fixed else "tqt" if spec.pot else "lsq"


def through(value: Tensor, like: Tensor) -> Tensor:
    """`value`, whose gradient is that of `like`."""
    return like + (value - like).detach()


def damped(parameter: Tensor, factor: float) -> Tensor:
    """The parameter, whose gradient is `factor` times as large."""
    return through(parameter, parameter * factor)


class Step(nn.Module):  # type: ignore[misc]
    """The size of a step: one number, or one for each output or group.  A parameter where it is learned."""

    def __init__(self, shape: Shape, spec: Spec, way: Learn) -> None:
        """Steps of 1 until `begin`."""
        super().__init__()
        self._way, self._levels = way, 1 << (spec.bits - spec.signed)
        if way == "tqt":
            self.log2_range = nn.Parameter(torch.zeros(shape))
        elif way == "none":
            self.register_buffer("size", torch.ones(shape))
        else:
            self.size = nn.Parameter(torch.ones(shape))

    def begin(self, step: Array) -> None:
        """Begin with these steps."""
        given = torch.as_tensor(np.asarray(step, np.float32))
        if self._way == "tqt":
            parameter, given = self.log2_range, torch.log2(given * self._levels) - _MIDDLE
        else:
            parameter = self.size
        parameter.data.copy_(given.reshape(parameter.shape))

    def forward(self) -> Tensor:
        """The steps, above zero."""
        if self._way == "tqt":
            power = through(torch.ceil(self.log2_range), self.log2_range)
            return torch.exp2(power) / self._levels
        return torch.clamp(self.size.abs(), min=LEAST_SCALE)


class Grid(nn.Module):  # type: ignore[misc]
    """The integers of one tensor that the network is given or computes."""

    def __init__(self, spec: Spec, way: Learn) -> None:
        """Know nothing of the range yet."""
        super().__init__()
        self.spec, self._way = spec, way
        self.step = Step((), spec, way)
        if way == "lsq+":
            self.zero = nn.Parameter(torch.zeros(()))
        else:
            self.register_buffer("zero", torch.zeros(()))

    def begin(self, stored: Stored) -> None:
        """Begin with a range that was found."""
        self.step.begin(stored.scale.reshape(()))
        self.zero.data.fill_(float(stored.zero_point.reshape(())))

    def zero_point(self) -> Tensor:
        """The integer that stands for zero, as a number that gradients get through."""
        return through(torch.clamp(torch.round(self.zero), self.spec.least, self.spec.greatest), self.zero)

    def stored(self) -> Stored:
        """How the tensor is held now."""
        scale = self.step().detach().cpu().numpy().astype(np.float32)
        zero = self.zero_point().detach().cpu().numpy().astype(np.int64)
        return Stored(dtype_of(self.spec), scale, zero, bits=bits_of(self.spec))

    def hold(self, x: Tensor, given: Tensor | None = None) -> Tensor:
        """Real numbers as the integers hold them; `given` are those integers less the zero point, where known."""
        step, zero = self.step(), self.zero_point()
        low, high = self.spec.least - zero, self.spec.greatest - zero
        if self._way == "pact":
            cut = torch.clamp(x, low * step, high * step)
            known = torch.round(cut / step) if given is None else given
            return through(step * known, cut)
        if self._way == "lsq":
            step = damped(step, _lsq_factor(x.numel() // max(len(x), 1), self.spec))
        within = torch.clamp(x / step, low, high)
        return step * through(torch.round(within) if given is None else given, within)


def _lsq_factor(elements: int, spec: Spec) -> float:
    return 1.0 / math.sqrt(max(elements, 1) * max(spec.greatest, 1))


class WeightGrid(nn.Module):  # type: ignore[misc]
    """The integers of one constant: weights, whose steps run along `axis` or through groups, or an operand."""

    def __init__(self, spec: Spec, data: Array, axis: int | None) -> None:
        """Begin with the steps that the configuration's method finds."""
        super().__init__()
        self.spec, self._axis, self._way = spec, axis, way_of(spec, fixed=bool(spec.scales))
        self._held = stored_weights(data, spec, axis or 0)
        self.step = Step(self._held.scale.shape, spec, self._way)
        self.step.begin(self._held.scale)
        self.register_buffer("zero", torch.as_tensor(self._held.zero_point))
        self.chosen: Callable[[], Tensor] | None = None
        """How far above its lower neighbour each number is held, from 0 to 1, while that is being chosen."""
        self.register_buffer("kept", torch.tensor(False))

    def keep(self) -> None:
        """Leave the steps as they are, whatever becomes of the numbers."""
        self.kept.fill_(True)

    def forward(self, numbers: Tensor, floor: Array | float = 0.0) -> tuple[Tensor, Weight]:
        """The numbers as their integers hold them, and the integers; no step is below its floor."""
        if self._way == "none" and not self.spec.scales and not self.kept:
            found = stored_weights(array_of(numbers), self.spec, self._axis or 0, floor=floor)
            self.step.begin(found.scale)
            self.zero.copy_(torch.as_tensor(found.zero_point))
        step = self._raised(self.step(), floor)
        if self._way == "lsq":
            step = damped(step, _lsq_factor(numbers.numel() // max(step.numel(), 1), self.spec))
        wide, zero = (self._spread(part, tuple(numbers.shape)) for part in (step, self.zero))
        low, high = self.spec.least - zero, self.spec.greatest - zero
        if self.chosen is not None:
            between = torch.clamp(torch.floor(numbers / wide) + self.chosen(), low, high)
            return wide * between, self._weight(torch.round(between) + zero, step)
        within = torch.clamp(numbers / wide, low, high)
        integers = _ROUNDED[self.spec.rounding](within.detach())
        return wide * through(integers, within), self._weight(integers + zero, step)

    def _weight(self, integers: Tensor, step: Tensor) -> Weight:
        """The constant of these integers."""
        stored = replace(self._held, scale=array_of(step), zero_point=array_of(self.zero))
        return Weight(array_of(integers).astype(stored.dtype), stored)

    def _raised(self, step: Tensor, floor: Array | float) -> Tensor:
        least = torch.as_tensor(np.asarray(floor, np.float32), device=step.device)
        if self.spec.group or not least.any():
            return step
        if self.spec.pot:
            least = torch.where(least > 0, torch.exp2(torch.ceil(torch.log2(least))), least)
        return torch.maximum(step, least if step.dim() else least.max())

    def _spread(self, step: Tensor, shape: Shape) -> Tensor:
        """The steps, or zero points, in a form that broadcasts against the numbers."""
        held = self._held
        if held.axis is None:
            return step
        if held.block:
            wide = step.repeat_interleave(held.block, held.axis)
            return wide.narrow(held.axis, 0, shape[held.axis])
        along = [1] * len(shape)
        along[held.axis] = -1
        return step.reshape(along)


def array_of(tensor: Tensor) -> Any:
    """The numbers of a tensor, wherever it is."""
    return tensor.detach().cpu().numpy()


def biased(numbers: Tensor, scale: Array, axis: int | None, rounding: Rounding) -> tuple[Tensor, Weight]:
    """A bias as integers of 32 bits at the scales of its product, and what they hold."""
    stored = Stored(np.dtype(np.int32), scale, np.zeros(scale.size, np.int64), axis if scale.size > 1 else None)
    wide, _ = stored.spread(tuple(numbers.shape))
    steps = torch.as_tensor(np.ascontiguousarray(wide, np.float64), device=numbers.device)
    integers = torch.clamp(_ROUNDED[rounding](numbers.detach().double() / steps), stored.low, stored.high)
    held = (integers * steps).to(numbers.dtype)
    return through(held, numbers), Weight(array_of(integers).astype(np.int32), stored)
