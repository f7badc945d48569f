"""Mixed precision: how many bits each layer gets, so that the network loses least within what the chip has.

Decides: that what layers lose adds up, each measured alone; that what they cost adds up where it does, and that
whatever does not (working memory, what a layer costs beside another) is asked of the compiler for each candidate:
layers that it blames get fewer bits until the candidate fits, and then whatever fits besides.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from codegen.quantizer.asked import Asking
from codegen.quantizer.knapsack import Choice, Options, front, least_loss
from codegen.quantizer.sensitivity import Part
from codegen.quantizer.spec import Role, Spec
from codegen.records import record

_BYTE = 8
_TRIES = 32
"""Candidates that are asked about once one fits."""


@dataclass(frozen=True, slots=True, order=True)
class Bits:
    """Of a layer's results and of its weights; 0 is as it was asked for."""

    activations: int
    weights: int


@record(eq=False)
class Layer:
    """A part, the bits that it may have, and what each of these loses and costs."""

    part: Part
    bits: tuple[Bits, ...]
    options: Options


@record
class Verdict:
    """What the compiler says of a candidate.

    `costs` by name; `over`: by how much some are above their limits; `blamed`: the bytes that each layer would return
    with half the bits, where memory is short; `refusal`: why it does not compile at all.
    """

    costs: Mapping[str, int]
    over: Mapping[str, int] = field(default_factory=dict)
    blamed: Mapping[str, int] = field(default_factory=dict)
    refusal: str = ""

    @property
    def fits(self) -> bool:
        """Whether the candidate may be taken."""
        return not self.over and not self.refusal


Ask = Callable[[Mapping[str, Bits]], Verdict]
"""The compiler on a candidate: bits by layer."""


@record
class Found:
    """The candidate that was taken, its noise over the signal, added up, and how many candidates were asked about."""

    bits: Mapping[str, Bits]
    loss: float
    verdict: Verdict
    asked: int


@record
class Limits:
    """What the costs may be, by name; `kinds` are the names of those that add up, as the layers' options have them."""

    most: Mapping[str, int]
    kinds: tuple[str, ...]


def best_within(layers: Sequence[Layer], limits: Limits, ask: Ask) -> tuple[Found | None, Verdict]:
    """The best candidate that the compiler finds within the limits, and its last word.

    None where neither the fewest bits fit nor the cheapest of any kind: then the verdict is of whatever lacks least.
    """
    asking = _Counted(ask)
    open_layers, room = list(layers), _room(layers, limits)
    while (choice := least_loss([layer.options for layer in open_layers], room)) is not None:
        verdict = asking(chosen(open_layers, choice))
        if verdict.fits:
            return _raised(layers, choice.options, asking), verdict
        beyond = [verdict.over.get(kind, 0) for kind in limits.kinds]
        room = [r - b for r, b in zip(room, beyond, strict=True)]
        if not any(beyond):
            open_layers = _lowered(open_layers, choice, verdict)
    fewest = [min(range(len(layer.bits)), key=lambda i: layer.bits[i]) for layer in layers]
    cheap = [[int(layer.options.costs[:, k].argmin()) for layer in layers] for k in range(len(limits.kinds))]
    for options in (fewest, *cheap):
        if (verdict := asking(_bits(layers, options))).fits:
            return _raised(layers, options, asking), verdict
    return None, asking.nearest


class _Counted:
    """The compiler, asked once about each candidate."""

    def __init__(self, ask: Ask) -> None:
        self._ask, self._known = ask, dict[tuple[tuple[str, Bits], ...], Verdict]()

    def __call__(self, bits: Mapping[str, Bits]) -> Verdict:
        key = tuple(bits.items())
        if key not in self._known:
            self._known[key] = self._ask(bits)
        return self._known[key]

    @property
    def count(self) -> int:
        return len(self._known)

    @property
    def nearest(self) -> Verdict:
        """Of what was asked about, what is least above the limits."""
        return min(self._known.values(), key=_lacking)


def _lacking(verdict: Verdict) -> tuple[bool, float]:
    """Whether it does not compile, and the shares of its costs that are too many."""
    return bool(verdict.refusal), sum(n / max(verdict.costs.get(kind, n), 1) for kind, n in verdict.over.items())


def _room(layers: Sequence[Layer], limits: Limits) -> list[int]:
    """What the costs that add up may be; everything where there is no limit."""
    every = (sum(int(layer.options.costs[:, k].max()) for layer in layers) for k in range(len(limits.kinds)))
    return [limits.most.get(kind, plenty) for kind, plenty in zip(limits.kinds, every, strict=True)]


def chosen(layers: Sequence[Layer], choice: Choice) -> dict[str, Bits]:
    """The bits of each layer."""
    return {layer.part.name: layer.bits[i] for layer, i in zip(layers, choice.options, strict=True)}


def _lowered(layers: list[Layer], choice: Choice, verdict: Verdict) -> list[Layer]:
    """The layers without what those took that are to blame, as many as return what is missing; one at least.

    Those go first that lose least by each byte.  Where nobody is blamed, it is whoever loses least.
    """
    lower = [_below(layer, taken) for layer, taken in zip(layers, choice.options, strict=True)]
    candidates = [i for i, below in enumerate(lower) if below is not None]
    blamed = [i for i in candidates if layers[i].part.name in verdict.blamed]
    prices = {i: lower[i][1] / max(verdict.blamed.get(layers[i].part.name, 1), 1) for i in candidates}  # type: ignore[index]
    missing, found = max(verdict.over.values(), default=0), list(layers)
    for index in sorted(blamed or candidates, key=lambda i: (prices[i], i)):
        found[index] = _without(layers[index], choice.options[index])
        missing -= verdict.blamed.get(layers[index].part.name, 0)
        if missing <= 0 or not blamed:
            return found
    return found if candidates else [_without(layer, *range(len(layer.bits))) for layer in layers]


def _below(layer: Layer, taken: int) -> tuple[int, float] | None:
    """The best option with fewer bits, and what it loses more."""
    losses = layer.options.losses
    fewer = [i for i, bits in enumerate(layer.bits) if bits < layer.bits[taken] and np.isfinite(losses[i])]
    if not fewer:
        return None
    best = min(fewer, key=lambda i: (losses[i], i))
    return best, float(losses[best] - losses[taken])


def _without(layer: Layer, *options: int) -> Layer:
    losses = layer.options.losses.copy()
    losses[list(options)] = np.inf
    return replace(layer, options=Options(losses, layer.options.costs))


def _raised(layers: Sequence[Layer], options: Sequence[int], asking: _Counted) -> Found:
    """A candidate that fits, with more bits wherever these fit too, what gains most first."""
    now = list(options)
    verdict = asking(_bits(layers, now))
    gains = [float(e.options.losses[o] - e.options.losses.min()) for e, o in zip(layers, now, strict=True)]
    for index in sorted(range(len(now)), key=lambda i: (-gains[i], i))[:_TRIES]:
        if gains[index] > 0:
            tried = [*now[:index], int(np.argmin(layers[index].options.losses)), *now[index + 1 :]]
            found = asking(_bits(layers, tried))
            now, verdict = (tried, found) if found.fits else (now, verdict)
    loss = sum(float(layer.options.losses[i]) for layer, i in zip(layers, now, strict=True))
    return Found(_bits(layers, now), loss, verdict, asking.count)


def _bits(layers: Sequence[Layer], options: Sequence[int]) -> dict[str, Bits]:
    return {layer.part.name: layer.bits[i] for layer, i in zip(layers, options, strict=True)}


def front_of(layers: Sequence[Layer], kind: int, points: int) -> tuple[dict[str, Bits], ...]:
    """Candidates along the front of loss and one kind of cost, the cheapest and the best among them."""
    every = front([layer.options for layer in layers], kind)
    picked = sorted({round(i * (len(every) - 1) / max(points - 1, 1)) for i in range(min(points, len(every)))})
    return tuple(chosen(layers, every[i]) for i in picked)


@record
class MixedAsking:
    """A configuration with the bits of some layers exchanged: of tensors by their names, of weights by their layer."""

    base: Asking
    tensors: Mapping[str, int]
    weights: Mapping[str, int]

    def spec(self, role: Role, *, layer: str = "", op_type: str = "", tensor: str = "") -> Spec:
        """How one tensor is to be quantized."""
        spec = self.base.spec(role, layer=layer, op_type=op_type, tensor=tensor)
        if role == "bias":
            return spec
        if role == "weights":
            return spec.in_bits(self.weights.get(layer, spec.bits))
        bits = self.tensors.get(tensor, spec.bits)
        return spec if bits == spec.bits else replace(spec, bits=bits, symmetric=bits > _BYTE or spec.centred)


def mixed_asking(base: Asking, parts: Sequence[Part], bits: Mapping[str, Bits]) -> MixedAsking:
    """The configuration that gives each layer its bits."""
    tensors = {n: bits[p.name].activations for p in parts for n in p.tensors if bits[p.name].activations}
    return MixedAsking(base, tensors, {name: b.weights for name, b in bits.items() if b.weights})
