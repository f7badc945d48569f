"""How far a quantized network's tensors are from those of the float one.

Decides: the figures.  SQNR is the power of the float numbers over that of the differences, in dB, over all samples.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping

import numpy as np

from codegen.ir.quant import Array
from codegen.ir.real import RealGraph, Stored
from codegen.quantizer.observe import Progress, Samples
from codegen.quantizer.scheme import Runner
from codegen.real.storage import Dequantize, Quantize
from codegen.records import record

CEILING = 200.0
"""dB of what does not differ at all."""


class Noise:
    """Powers of a signal and of what was added to it."""

    def __init__(self) -> None:
        self.signal, self.noise, self.count = 0.0, 0.0, 0

    def take(self, real: Array, other: Array) -> None:
        """One more sample."""
        wide = real.astype(np.float64)
        away = wide - other
        self.signal += float(np.vdot(wide, wide))
        self.noise += float(np.vdot(away, away))
        self.count += real.size

    @property
    def sqnr(self) -> float:
        """In dB."""
        if self.noise <= 0 or not math.isfinite(self.noise):
            return CEILING if self.noise <= 0 else -CEILING
        return max(-CEILING, 10 * math.log10(self.signal / self.noise)) if self.signal > 0 else -CEILING

    @property
    def rms(self) -> float:
        """Root of the mean square of what was added."""
        return math.sqrt(self.noise / max(self.count, 1))

    @property
    def size(self) -> float:
        """Root of the mean square of the signal."""
        return math.sqrt(self.signal / max(self.count, 1))


class Likeness(Noise):
    """As `Noise`, but for a common factor: the cosine in place of the difference."""

    def __init__(self) -> None:
        super().__init__()
        self._other = 0.0

    def take(self, real: Array, other: Array) -> None:
        """One more sample."""
        super().take(real, other)
        wide = other.astype(np.float64)
        self._other += float(np.vdot(wide, wide))

    @property
    def sqnr(self) -> float:
        """In dB: -10 log10(1 - cosine ** 2), where the cosine is above zero."""
        along = (self.signal + self._other - self.noise) / 2
        if along <= 0 or not math.isfinite(along):
            return -CEILING
        apart = 1 - along * along / (self.signal * self._other)
        return min(CEILING, -10 * math.log10(apart)) if apart > 0 else CEILING


class Figures(Noise):
    """One tensor: as `Noise`, and how its integers are used."""

    def __init__(self, stored: Stored) -> None:
        super().__init__()
        scale, zero = float(stored.scale.reshape(-1)[0]), int(stored.zero_point.reshape(-1)[0])
        self._low, self._high = ((q + half - zero) * scale for q, half in ((stored.low, -0.5), (stored.high, 0.5)))
        self._base, self._clipped = stored.low, 0
        self._used = np.zeros(stored.high - stored.low + 1, bool)

    def numbers(self, real: Array) -> None:
        """The float numbers of one more sample."""
        self._clipped += int(np.count_nonzero((real < self._low) | (real > self._high)))

    def integers(self, held: Array) -> None:
        """The integers of one more sample."""
        self._used[held.reshape(-1).astype(np.int64) - self._base] = True

    @property
    def clipped(self) -> float:
        """Share of the float numbers that lie beyond the integers."""
        return self._clipped / max(self.count, 1)

    @property
    def codes(self) -> float:
        """Share of the integers that occur."""
        return float(self._used.mean())


@record
class _Pair:
    """A tensor of the float graph, and what its integers and their meaning are called in the quantized one."""

    tensor: str
    stored: Stored
    held: str
    real: str


def compared(
    graph: RealGraph, quantized: RealGraph, samples: Samples, runner: Runner, progress: Progress | None = None
) -> dict[str, Figures]:
    """Each quantized tensor's figures, by its name in the float graph."""
    pairs = [p for p in _pairs(quantized) if p.tensor in graph.values]
    figures = {p.tensor: Figures(p.stored) for p in pairs}
    of_real, of_held = {p.real: p.tensor for p in pairs}, {p.held: p.tensor for p in pairs}
    one, other = runner(graph), runner(quantized)
    for index in range(len(samples)):
        sample = samples[index]
        real = {name: array for name, array in one.tensors(sample) if name in figures}
        for name, array in real.items():
            figures[name].numbers(array)
        for name, array in other.tensors(sample):
            if name in of_real:
                figures[of_real[name]].take(real[of_real[name]], array)
            elif name in of_held:
                figures[of_held[name]].integers(array)
        if progress is not None:
            progress(index + 1, len(samples))
    return figures


def _pairs(graph: RealGraph) -> Iterator[_Pair]:
    real = {n.inputs[0]: n.outputs[0] for n in graph.nodes if isinstance(n.op, Dequantize)}
    for node in graph.nodes:
        if isinstance(node.op, Quantize) and node.outputs[0] in real:
            yield _Pair(node.inputs[0], node.op.stored, node.outputs[0], real[node.outputs[0]])


def outputs_of(graph: RealGraph, samples: Samples, runner: Runner) -> list[dict[str, Array]]:
    """The outputs of each sample, by the names that the model's file gives them."""
    running = runner(graph)
    faces = dict(zip(graph.faces or graph.outputs, graph.outputs, strict=True))
    found = []
    for index in range(len(samples)):
        made = {name: array for name, array in running.tensors(samples[index]) if name in graph.outputs}
        found.append({face: made[value] for face, value in faces.items() if value in made})
    return found


def output_sqnr(wanted: list[dict[str, Array]], made: list[dict[str, Array]]) -> float:
    """Of the output that differs most; outputs that are no real numbers are left out."""
    noises: Mapping[str, Noise] = {name: Noise() for name, a in wanted[0].items() if a.dtype.kind == "f"}
    for one, other in zip(wanted, made, strict=True):
        for name, noise in noises.items():
            noise.take(one[name], other[name])
    return min((n.sqnr for n in noises.values()), default=CEILING)
