"""Mixed precision of a network: what each layer loses and costs, and the bits with which it loses least in a budget.

Decides: that losses are measured layer by layer on real numbers, weights and results apart, and added; that the front
runs along what is mixed, flash for weights and memory for results; and that the judge takes the best that fits.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import field, replace
from functools import partial
from typing import Protocol

import numpy as np

from codegen.errors import BudgetUnreachable, OptionBad
from codegen.options import Options
from codegen.quantizer.asked import Asking
from codegen.quantizer.config import Mixed
from codegen.quantizer.config.kinds import BYTES, COUNT
from codegen.quantizer.knapsack import Options as Choices
from codegen.quantizer.mixed import Bits, Layer, Limits, Verdict, best_within, front_of, mixed_asking
from codegen.quantizer.observe import Progress
from codegen.quantizer.places import Places
from codegen.quantizer.scheme import Scheme
from codegen.quantizer.sensitivity import Part, only, parts_of
from codegen.quantizer.versus import decibels
from codegen.records import record
from codegen.report.mixed import MixedLayer, MixedPoint, MixedReport
from codegen.spread import HERE, Spread
from codegen.toolkit import HOUSE, Toolkit
from codegen.verbs.candidates import ARENA, FLASH, INSTRUCTIONS, KINDS, Candidates

MIXED = "mixed"
"""In place of a number of bits: as many for each layer as serve."""
_TENSORS = "tensors"
"""The cost of which the compiler knows nothing: what results take while they are held whole."""
_READ = {ARENA: BYTES, FLASH: BYTES, INSTRUCTIONS: COUNT}
_POINTS = 8
_BYTE = 8
SchemeOf = Callable[[Asking], Scheme]
"""The integers of everything as it is asked for, from ranges that are known."""
Judge = Callable[[Scheme], float]
"""SQNR of the outputs with a scheme, in dB."""


@record(kw_only=True)
class Mixing:
    """Bits that a layer may have, none where it has those that were asked for; and limits by the name of the cost.

    Weights of the layers in `ends` keep 8 bits at least.  `spread` shares what layers lose, and judging candidates.
    """

    weights: tuple[int, ...] = ()
    activations: tuple[int, ...] = ()
    budget: Mapping[str, int] = field(default_factory=dict)
    progress: Progress | None = None
    toolkit: Toolkit = HOUSE
    spread: Spread = HERE
    ends: frozenset[str] = frozenset()

    @property
    def bits(self) -> tuple[Bits, ...]:
        """What may be chosen, the fewest first."""
        return tuple(Bits(a, w) for a in sorted(self.activations) or (0,) for w in sorted(self.weights) or (0,))


@record(eq=False)
class Network:
    """A float network, what was asked for of it, and what makes schemes."""

    places: Places
    asking: Asking
    scheme_of: SchemeOf


class Worded(Protocol):
    """What a command line says of mixing."""

    @property
    def weights(self) -> int | str | None:
        """Bits, or `mixed`."""
        ...

    @property
    def activations(self) -> int | str | None:
        """Bits, or `mixed`."""
        ...

    @property
    def budget(self) -> str | Mapping[str, int] | None:
        """Limits by the name of the cost."""
        ...

    @property
    def progress(self) -> Progress | None:
        """Called with the layers done and all of them."""
        ...

    @property
    def toolkit(self) -> Toolkit:
        """With what candidates are compiled."""
        ...


def mixing_of(words: Worded, config: Mixed) -> Mixing | None:
    """What is to be mixed, by words over a configuration; None where nothing is.

    A budget alone mixes the bits of results.

    Raises:
        OptionBad: LAM-IMPORT-030 for a budget that is none, or of a network of which nothing is mixed.
    """
    said = {kind: getattr(config, kind) for kind in KINDS if getattr(config, kind) is not None}
    budget = {**said, **_budget(words.budget)}
    weights = _choices(words.weights, config.weights, (4, 8))
    results = _choices(words.activations, config.activations, (8, 16))
    if budget and not weights and words.activations is None:
        results = results or (8, 16)
    if not weights and not results:
        if budget:
            hint = "say --activations mixed or --weights mixed, or leave out the bits"
            raise OptionBad("nothing is mixed", where="budget", hint=hint)
        return None
    return Mixing(weights=weights, activations=results, budget=budget, progress=words.progress, toolkit=words.toolkit)


def _choices(word: int | str | None, given: tuple[int, ...] | None, usual: tuple[int, ...]) -> tuple[int, ...]:
    if word is not None and word != MIXED:
        return ()
    return given or usual if word == MIXED else given or ()


def _budget(given: str | Mapping[str, int] | None) -> dict[str, int]:
    """`flash=512K,arena=64K,instructions=20M` as numbers."""
    if given is None:
        return {}
    pairs = (
        given.items()
        if isinstance(given, Mapping)
        else (p.partition("=")[::2] for p in given.split(",") if p or not given)
    )
    found: dict[str, int] = {}
    for name, value in pairs:
        kind = name.strip()
        if kind in found:
            raise OptionBad(f"{kind} twice", where="budget", hint=f"say one {kind}")
        try:
            found[kind] = int(_READ[kind].read(value))
        except (KeyError, ValueError) as error:
            hint = "write flash=512K, arena=64K or instructions=20M, or several with commas between"
            raise OptionBad(f"{kind}={value}", where="budget", hint=hint) from error
    return found


def mixed(network: Network, judge: Judge, options: Options, how: Mixing) -> tuple[Asking, MixedReport]:
    """What is asked of each layer so that the network loses least within the budget, and the choice there was.

    Raises:
        BudgetUnreachable: LAM-QUANT-028.
    """
    parts = parts_of(network.places, network.scheme_of(network.asking))

    def alike(bits: Bits) -> dict[str, Bits]:
        return {part.name: _own(bits, part, how.ends) for part in parts}

    def scheme(bits: Mapping[str, Bits]) -> Scheme:
        return network.scheme_of(mixed_asking(network.asking, parts, bits))

    compiler = Candidates(network.places, parts, scheme, (options, how.budget, how.toolkit))
    kinds = (FLASH, *((INSTRUCTIONS,) if INSTRUCTIONS in compiler.most else ()), _TENSORS)
    costs = {bits: compiler.by_part(alike(bits)) for bits in how.bits}
    schemes = {bits: scheme(alike(bits)) for bits in how.bits}
    told = None if how.progress is None else partial(_told, how.progress, len(parts))
    layers = how.spread.each(_Losing(network.places, judge, (schemes, costs, kinds), how.ends), parts, told)
    found, verdict = best_within(layers, Limits(compiler.most, kinds), compiler)
    if found is None:
        raise BudgetUnreachable(_refusal(verdict), where=options.target)
    fronts = [kinds.index(kind) for kind, given in ((FLASH, how.weights), (_TENSORS, how.activations)) if given]
    along = [bits for kind in fronts for bits in front_of(layers, kind, _POINTS // len(fronts))]
    candidates = [bits for at, bits in enumerate((*along, dict(found.bits))) if bits not in along[:at]]
    sqnrs = how.spread.each(judge, [scheme(bits) for bits in candidates])
    points = [_point(bits, compiler(bits), sqnr, layers) for bits, sqnr in zip(candidates, sqnrs, strict=True)]
    best = max((i for i, p in enumerate(points) if p.fits), key=lambda i: (points[i].sqnr, -points[i].wide))
    rows = [MixedLayer(name=n, activations=b.activations, weights=b.weights) for n, b in candidates[best].items()]
    report = MixedReport(points=_in_order(points), chosen=points[best], layers=tuple(rows), limits=dict(compiler.most))
    return mixed_asking(network.asking, parts, candidates[best]), report


def _told(progress: Progress, count: int, done: int) -> None:
    progress(done, count)


@record(eq=False)
class _Losing:
    """What one layer after another loses and costs with each of the bits."""

    places: Places
    judge: Judge
    known: tuple[Mapping[Bits, Scheme], Mapping[Bits, Mapping[str, Mapping[str, int]]], Sequence[str]]
    ends: frozenset[str]

    def __call__(self, part: Part) -> Layer:
        schemes, costs, kinds = self.known
        every = {_own(bits, part, self.ends): bits for bits in schemes}
        losses = _losses(self.judge, part, {own: schemes[bits] for own, bits in every.items()})
        rows = []
        for bits in every.values():
            own = {**costs[bits].get(part.name, {}), _TENSORS: _bytes(self.places, part, schemes[bits])}
            rows.append([own.get(kind, 0) for kind in kinds])
        return Layer(part, tuple(every), Choices(np.array(losses), np.array(rows, np.int64)))


def _own(bits: Bits, part: Part, ends: frozenset[str]) -> Bits:
    """The bits of what the layer has."""
    weights = max(bits.weights, _BYTE) if bits.weights and part.name in ends else bits.weights
    return Bits(bits.activations if part.tensors else 0, weights if part.weights else 0)


def _losses(judge: Judge, part: Part, schemes: Mapping[Bits, Scheme]) -> list[float]:
    """Noise over signal with the layer's results alone quantized, and with its weights alone, added."""
    results, weights = replace(part, weights=frozenset()), replace(part, tensors=frozenset())
    of_results: dict[int, float] = {}
    of_weights: dict[int, float] = {}
    for bits, scheme in schemes.items():
        for known, own, number in ((of_results, results, bits.activations), (of_weights, weights, bits.weights)):
            if number not in known:
                known[number] = _noise(judge(only(scheme, own))) if own.tensors or own.weights else 0.0
    return [of_results[bits.activations] + of_weights[bits.weights] for bits in schemes]


def _noise(sqnr: float) -> float:
    return float(10 ** (-sqnr / 10))


def _bytes(places: Places, part: Part, scheme: Scheme) -> int:
    """What a layer's results take while they are held whole."""
    sizes = ((math.prod(places.graph.type(n).shape), scheme.tensors[n]) for n in part.tensors)
    return sum(count * stored.dtype.itemsize for count, stored in sizes)


def _point(bits: Mapping[str, Bits], verdict: Verdict, sqnr: float, layers: Sequence[Layer]) -> MixedPoint:
    loss = sum(float(x.options.losses[x.bits.index(bits[x.part.name])]) for x in layers)
    return MixedPoint(
        wide=sum(b.activations > 8 for b in bits.values()),
        narrow=sum(0 < b.weights < 8 for b in bits.values()),
        expected=decibels(1.0, loss),
        sqnr=sqnr,
        arena_bytes=verdict.costs.get(ARENA),
        flash_bytes=verdict.costs.get(FLASH),
        instructions=verdict.costs.get(INSTRUCTIONS),
        fits=verdict.fits,
    )


def _in_order(points: Sequence[MixedPoint]) -> tuple[MixedPoint, ...]:
    """Each once, those that are expected to lose most first."""
    return tuple(sorted(dict.fromkeys(points), key=lambda p: p.expected))


def _refusal(verdict: Verdict) -> str:
    if verdict.refusal:
        return f"with the fewest bits it does not compile: {verdict.refusal}"
    needs = ", ".join(f"{_amount(kind, verdict.costs[kind])}, {n} too many" for kind, n in verdict.over.items())
    return f"the least that was found takes {needs}"


def _amount(kind: str, count: int) -> str:
    return f"{count} {kind}" if kind == INSTRUCTIONS else f"{count} bytes of {kind}"
