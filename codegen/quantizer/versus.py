"""A quantized network beside the float one that it was made from, tensor by tensor.

Decides: which tensors are the same, by their names; that a tensor whose channels were changed by a rewrite is compared
with that taken back, as the file tells it or, where it tells nothing, by factors that fit; and two errors: what has
accumulated down to a tensor, and what its own layer adds when it is given the float network's numbers.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence

import numpy as np

from codegen.ir.quant import Array
from codegen.ir.real import RealGraph, RealNode, Stored, Summing
from codegen.quantizer.measure import CEILING
from codegen.quantizer.numbers import Numbers, TensorNumbers
from codegen.quantizer.observe import Progress, Sample, Samples
from codegen.quantizer.rewrite.moved import AllMoved, Moved
from codegen.quantizer.scheme import Runner, Running
from codegen.real.engine import numbers_of
from codegen.real.storage import Dequantize, Quantize
from codegen.records import record

_RESCALED = 10.0
"""dB that factors per channel must explain."""
_OWN = 1.0
"""Steps that a layer adds at most to numbers that are its own."""


@record(kw_only=True)
class TensorError:
    """One tensor of both networks.

    `sqnr` in dB and `steps`, a root of mean squares in steps of its integers, are what has accumulated; `own_sqnr`,
    `own_steps` and `own_most`, the largest, what its layer adds to the float network's numbers.  `clipped` is the share
    of these beyond its integers, `codes` the share of the integers that occur; `rescaled`: a rewrite scaled channels.
    """

    tensor: str
    operator: str
    bits: int
    scale: float
    sqnr: float
    steps: float
    own_sqnr: float
    own_steps: float
    own_most: float
    clipped: float
    codes: float
    rescaled: bool


@record(eq=False)
class _Pair:
    """A tensor of the float network with its Quantize and Dequantize, and the operator that computes it."""

    tensor: str
    quantize: RealNode
    dequantize: RealNode
    stored: Stored
    operator: str

    @property
    def scale(self) -> float:
        return float(self.stored.scale.reshape(-1)[0])


def versus(
    graph: RealGraph,
    quantized: RealGraph,
    samples: Samples,
    runner: Runner,
    progress: Progress | None = None,
    moved: AllMoved | None = None,
    numbers: list[TensorNumbers] | None = None,
) -> tuple[TensorError, ...]:
    """Every tensor that both networks have, in the order in which it is computed; `moved` by the quantized one's.

    A list for `numbers` is given those of each tensor, in the same order.
    """
    pairs = _pairs(graph, quantized)
    sums = {p.tensor: _Sums((moved or {}).get(p.quantize.inputs[0]), guessing=moved is None) for p in pairs}
    if numbers is not None:
        for pair in pairs:
            names = (*pair.quantize.inputs[:1], *pair.quantize.outputs, *pair.dequantize.outputs)
            sums[pair.tensor].watched = Numbers(pair.tensor, names, pair.stored)
    own = {p.tensor: _Own(p.stored) for p in pairs}
    runs = 2 * len(samples)
    running, other = runner(graph), runner(quantized)
    for index in range(len(samples)):
        _accumulate(pairs, sums, _tensors(running, samples[index], sums), other.tensors(samples[index]))
        _told(progress, index + 1, runs)
    if numbers is not None:
        numbers += [s.watched.record() for s in sums.values() if s.watched is not None]
    running, alone = runner(graph), _Alone(quantized, pairs)
    _doubt(pairs, sums, alone, (samples[0], _tensors(runner(graph), samples[0], sums)))
    for index in range(len(samples)):
        alone.run(samples[index], _scaled(_tensors(running, samples[index], sums), sums), own)
        _told(progress, len(samples) + index + 1, runs)
    return tuple(_row(p, sums[p.tensor], own[p.tensor]) for p in pairs)


def _scaled(real: Mapping[str, Array], sums: Mapping[str, _Sums]) -> dict[str, Array]:
    """The float network's numbers as the quantized one has them."""
    return {name: sums[name].held(x) for name, x in real.items()}


def _doubt(
    pairs: Sequence[_Pair], sums: Mapping[str, _Sums], alone: _Alone, first: tuple[Sample, Mapping[str, Array]]
) -> None:
    """Take factors back where a layer does without them, given the plain numbers: few numbers fit anything."""
    if any(s.believed and s.rescaled for s in sums.values()):
        sample, real = first
        own = {p.tensor: _Own(p.stored) for p in pairs}
        alone.run(sample, real, own)
        for pair in pairs:
            sums[pair.tensor].believed &= own[pair.tensor].steps > _OWN


def unmatched(graph: RealGraph, quantized: RealGraph) -> tuple[str, ...]:
    """What the quantized network holds as integers and the float one has no tensor for."""
    known = {p.quantize.label for p in _pairs(graph, quantized)}
    return tuple(n.inputs[0] for n in quantized.nodes if isinstance(n.op, Quantize) and n.label not in known)


def _told(progress: Progress | None, done: int, runs: int) -> None:
    if progress is not None:
        progress(done, runs)


def _tensors(running: Running, sample: Sample, wanted: Mapping[str, object]) -> dict[str, Array]:
    return {name: array for name, array in running.tensors(sample) if name in wanted}


def _pairs(graph: RealGraph, quantized: RealGraph) -> list[_Pair]:
    """The tensors of both networks: of one name, or behind which stands the same output."""
    readers = {n.inputs[0]: n for n in quantized.nodes if isinstance(n.op, Dequantize)}
    makers = {o: n.op_type for n in quantized.nodes for o in n.outputs}
    outputs = dict(zip(graph.faces or graph.outputs, graph.outputs, strict=True))
    faces = dict(zip(quantized.outputs, quantized.faces or quantized.outputs, strict=True))
    found = []
    for node in quantized.nodes:
        if isinstance(node.op, Quantize) and node.outputs[0] in readers:
            name, dequantize = node.inputs[0], readers[node.outputs[0]]
            tensor = outputs.get(faces.get(dequantize.outputs[0], ""), name)
            if tensor in graph.values:
                found.append(_Pair(tensor, node, dequantize, node.op.stored, makers.get(name, "Input")))
    return found


def _accumulate(
    pairs: Sequence[_Pair], sums: Mapping[str, _Sums], real: Mapping[str, Array], tensors: Iterable[tuple[str, Array]]
) -> None:
    """One more sample of both networks."""
    of_real = {p.dequantize.outputs[0]: p.tensor for p in pairs}
    for name, array in tensors:
        if name in of_real:
            sums[of_real[name]].add(real[of_real[name]], array)


class _Sums:
    """Squares and products of a tensor's numbers in both networks, by channel: along axis 1, or all of one axis.

    `moved` is what is known to have become of its channels; factors are found only where one is `guessing`.
    """

    def __init__(self, moved: Moved | None, *, guessing: bool) -> None:
        self._sums: Array = np.zeros((3, 1))
        self._moved, self._away = moved, 0.0
        self.count, self.believed = 0, guessing
        self.watched: Numbers | None = None

    def add(self, real: Array, other: Array) -> None:
        """One more sample of both."""
        if self.watched is not None:
            self.watched.add(real if self._moved is None else self._moved.of(real), other)
        if self._moved is not None:
            self._away += float(np.square(self._moved.of(real) - other, dtype=np.float64).sum())
            other = self._moved.back(other)
        x, y = (_by_channel(a.astype(np.float64)) for a in (real, other))
        self._sums = self._sums + np.stack([(x * x).sum(axis=1), (x * y).sum(axis=1), (y * y).sum(axis=1)])
        self.count += real.size

    @property
    def signal(self) -> float:
        """The float numbers' power."""
        return float(self._sums[0].sum())

    @property
    def noise(self) -> float:
        """The power of the difference, factors taken back."""
        return self._fitted if self._guessed else self._plain

    @property
    def mean(self) -> float:
        """The root of the mean square of the difference, as the quantized network has the tensor."""
        return math.sqrt((self.noise if self._moved is None else self._away) / max(self.count, 1))

    @property
    def rescaled(self) -> bool:
        """Whether channels were scaled."""
        return self._moved is not None or self._guessed

    def held(self, real: Array) -> Array:
        """The float network's numbers as the quantized one has them."""
        return real * self._factor(real.ndim) if self._moved is None else self._moved.of(real)

    @property
    def _guessed(self) -> bool:
        """Whether factors per channel explain most of the difference."""
        return self.believed and decibels(self.signal, self._fitted) > decibels(self.signal, self._plain) + _RESCALED

    def _factor(self, axes: int) -> Array:
        """What the quantized network's channels have been multiplied by, in the form of a tensor of so many axes."""
        _, xy, yy = self._sums
        factor = np.divide(yy, xy, out=np.ones_like(xy), where=xy > 0) if self._guessed else np.ones(1)
        return factor.astype(np.float32).reshape((-1, *(1,) * (axes - 2)))

    @property
    def _plain(self) -> float:
        xx, xy, yy = self._sums
        return max(float((xx - 2 * xy + yy).sum()), 0.0)

    @property
    def _fitted(self) -> float:
        xx, xy, yy = self._sums
        return max(float((xx - np.divide(xy * xy, yy, out=np.zeros_like(xy), where=yy > 0)).sum()), 0.0)


def _by_channel(array: Array) -> Array:
    if array.ndim < 2:
        return array.reshape(1, -1)
    return np.moveaxis(array, 1, 0).reshape(array.shape[1], -1)


class _Own:
    """What a layer adds to the float network's numbers, and how its integers are used."""

    def __init__(self, stored: Stored) -> None:
        zero, self._scale = int(stored.zero_point.reshape(-1)[0]), float(stored.scale.reshape(-1)[0])
        self._ends = ((stored.low - 0.5 - zero) * self._scale, (stored.high + 0.5 - zero) * self._scale)
        self._base, self._used = stored.low, np.zeros(stored.high - stored.low + 1, bool)
        self.signal, self.noise, self.most, self.beyond, self.count = 0.0, 0.0, 0.0, 0, 0

    def add(self, wanted: Array, found: Array, held: Array) -> None:
        """One more sample: the float numbers, the layer's own and its integers."""
        wide = wanted.astype(np.float64)
        away = wide - found
        self.signal += float(np.vdot(wide, wide))
        self.noise += float(np.vdot(away, away))
        self.most = max(self.most, float(np.abs(away).max(initial=0)))
        self.beyond += int(np.count_nonzero((wide < self._ends[0]) | (wide > self._ends[1])))
        self.count += wanted.size
        self._used[held.reshape(-1).astype(np.int64) - self._base] = True

    @property
    def steps(self) -> float:
        """Root of the mean square of what was added, in steps."""
        return math.sqrt(self.noise / max(self.count, 1)) / self._scale

    @property
    def codes(self) -> float:
        """Share of the integers that occur."""
        return float(self._used.mean())


class _Alone:
    """The quantized network, each layer given the float network's numbers instead of what came before."""

    def __init__(self, graph: RealGraph, pairs: Sequence[_Pair]) -> None:
        self._graph = graph
        self._constants = {v.name: numbers_of(v) for v in graph.values.values() if v.data is not None}
        self._held = {p.quantize.label: p for p in pairs}
        self._given = {p.dequantize.label: p.tensor for p in pairs}

    def run(self, sample: Sample, real: Mapping[str, Array], own: Mapping[str, _Own]) -> None:
        """One more sample."""
        known = {**self._constants, **{s.value: s.initial for s in self._graph.states}}
        known |= {name: sample[name] for name in self._graph.inputs}
        for node in self._graph.nodes:
            if node.label in self._given:
                known[node.outputs[0]] = real[self._given[node.label]]
                continue
            with np.errstate(all="ignore"):
                ins = [known[i] for i in node.inputs]
                outs = node.op.quickly(ins) if isinstance(node.op, Summing) else node.op.evaluate(ins)
            known.update(zip(node.outputs, outs, strict=True))
            pair = self._held.get(node.label)
            if pair is not None:
                found = Dequantize(pair.stored).evaluate([outs[0]])[0]
                own[pair.tensor].add(real[pair.tensor], found, outs[0])


def decibels(signal: float, noise: float) -> float:
    """A ratio of powers in dB, within -CEILING .. CEILING."""
    if noise <= 0:
        return CEILING
    return max(-CEILING, min(CEILING, 10 * math.log10(signal / noise))) if signal > 0 else -CEILING


def _row(pair: _Pair, sums: _Sums, own: _Own) -> TensorError:
    step = pair.scale
    return TensorError(
        tensor=pair.tensor,
        operator=pair.operator,
        bits=pair.stored.bits or 8 * pair.stored.dtype.itemsize,
        scale=step,
        sqnr=decibels(sums.signal, sums.noise),
        steps=sums.mean / step,
        own_sqnr=decibels(own.signal, own.noise),
        own_steps=own.steps,
        own_most=own.most / step,
        clipped=own.beyond / max(own.count, 1),
        codes=own.codes,
        rescaled=sums.rescaled,
    )
