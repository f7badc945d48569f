"""A float network and the same one held as integers, run side by side, weights and biases decided on the way.

Decides: that a layer is decided by what the layers before it give once they are quantized, and by what the float
network gives; all samples are at a node before any is at the next one.  Samples that join later go through what has
been decided.  What a network keeps between runs is what it is before the first one.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import accumulate

import numpy as np

from codegen.ir.quant import Array
from codegen.ir.real import RealGraph, RealNode
from codegen.quantizer.batched import NodeRun, in_numpy
from codegen.quantizer.bias import expected_error, mean_error, passing_error
from codegen.quantizer.bounds import Bounds
from codegen.quantizer.gated import Gate, GatedMoments, results_of
from codegen.quantizer.live import Held, Live, as_held, first_states, in_order, inputs_held, ran, weight_numbers
from codegen.quantizer.moments import Moments
from codegen.quantizer.passed import Passed
from codegen.quantizer.products import Product, products
from codegen.quantizer.scheme import Scheme, Weight
from codegen.quantizer.solving import Effort, solved
from codegen.quantizer.spec import Spec
from codegen.quantizer.sums import added_behind
from codegen.quantizer.weights import least_scales, quantized
from codegen.quantizer.whole import wanted_of
from codegen.real.engine import numbers_of
from codegen.records import record
from codegen.threads import each

Feeds = Callable[[Sequence[int]], dict[str, Array]]
"""Gives some samples of each input: [samples, ...]."""


@record(kw_only=True)
class Choices:
    """How weights are rounded, and whether biases take up what is lost on average.

    A bias makes up for the share `centred` of the mean error; of each sample a layer is judged by so many `results`.
    `analytic`: the error is what the weights' errors make of the mean of what the layer reads, not what is measured;
    that mean is the one in `means`, or else the samples'.  `gated`: results that an activation cuts off count less.
    `passed`: weights make up for the errors that the layers before pass on, as far as what is read tells of these, and,
    if `summed`, the last layer before a sum for those of the other operand.
    """

    effort: Effort = "descent"
    correct: bool = True
    centred: float = 0.95
    results: int = 256
    seed: int = 0
    gated: bool = False
    passed: bool = False
    summed: bool = False
    analytic: bool = False
    means: Mapping[str, Array] = field(default_factory=dict)


@dataclass(slots=True)
class Decided:
    """Weights by node and place, biases by the name of their constant."""

    weights: dict[tuple[str, int], Weight] = field(default_factory=dict)
    biases: dict[str, Array] = field(default_factory=dict)

    def written(self, graph: RealGraph) -> RealGraph:
        """The network with these biases."""
        values = dict(graph.values)
        for name, numbers in self.biases.items():
            values[name] = replace(values[name], data=numbers.astype(np.float32))
        return replace(graph, values=values)


class SideBySide:
    """One network, of whose scheme the tensors are decided; `run` decides the weights that `spec_of` has a Spec for."""

    def __init__(
        self,
        graph: RealGraph,
        biases: Mapping[str, str],
        scheme: Scheme,
        spec_of: Callable[[Product], Spec | None],
        choices: Choices,
        run: NodeRun = in_numpy,
    ) -> None:
        self._graph, self._biases, self._scheme = graph, biases, scheme
        self._spec_of, self._choices, self._run = spec_of, choices, run
        self._products = {p.node.label: p for p in products(graph)}
        self._constants: Live = {v.name: (True, numbers_of(v)) for v in graph.values.values() if v.data is not None}
        self._decided = Decided()
        self._bounds = Bounds(graph, scheme, frozenset(biases.values()))
        self._added = added_behind(graph, frozenset(biases.values())) if choices.summed else {}

    def run(self, feeds: Feeds, joins: Mapping[int, Sequence[int]]) -> Decided:
        """Everything decided, by the samples that are at a node; `joins` are those that come to each, by its number."""
        real, held = self._begun(feeds(joins[0]))
        for number, (node, forgotten) in enumerate(in_order(self._graph)):
            if number and number in joins:
                self._join(real, held, feeds, _parts(joins[number], -(-len(joins[0]) // 2)), number)
            self._pass(node, forgotten, real, held)
        return self._decided

    def _begun(self, feeds: dict[str, Array]) -> tuple[Live, Live]:
        """Both networks before their first node."""
        real, held = dict(self._constants), dict(self._constants)
        for name, array in (feeds | first_states(self._graph, feeds)).items():
            real[name], held[name] = (False, array), (False, self._held(name, array))
        return real, held

    def _join(self, real: Live, held: Live, feeds: Feeds, parts: Sequence[Sequence[int]], number: int) -> None:
        """More samples, taken through the nodes before this one, which are decided, some at a time."""
        before = replace(self._graph, nodes=self._graph.nodes[:number])
        scheme = Scheme(self._scheme.tensors, {**self._scheme.weights, **self._decided.weights})
        wider = [_widened(live, sum(map(len, parts))) for live in (real, held)]
        networks = (before, Scheme()), (self._decided.written(before), scheme)
        through = [wanted_of(*network, tuple(more), self._run) for network, more in zip(networks, wider, strict=True)]

        def take(part: Sequence[int], at: int) -> None:
            given = feeds(part)
            for wanted, more in zip(through, wider, strict=True):
                wanted(given, {name: array[at : at + len(part)] for name, array in more.items()})

        ends = accumulate(map(len, parts))
        each(lambda one: take(*one), [(p, end - len(p)) for p, end in zip(parts, ends, strict=True)])

    def _pass(self, node: RealNode, forgotten: Sequence[str], real: Live, held: Live) -> None:
        """Both networks' samples at one node."""
        wanted = self._ran(node, [real[i] for i in node.inputs])
        made = self._made(node, real, held, wanted)
        for name, (known, array), (_, other) in zip(node.outputs, wanted, made, strict=True):
            real[name], held[name] = (known, array), (known, other if known else self._held(name, other))
        for name in forgotten:
            del real[name], held[name]

    def _ran(self, node: RealNode, ins: Sequence[Held]) -> list[Held]:
        return ran(self._graph, node, ins, self._run)

    def _held(self, name: str, array: Array) -> Array:
        return as_held(self._scheme, name, array)

    def _made(
        self, node: RealNode, real: Mapping[str, Held], held: dict[str, Held], wanted: Sequence[Held]
    ) -> list[Held]:
        """The node's results in the held network, its weights and its bias decided if it is a product."""
        product = self._products.get(node.label)
        if product is None:
            return self._ran(node, inputs_held(self._scheme, node, held))
        ins = [held[i] for i in node.inputs]
        weight = self._weight(product, real, held)
        if weight is not None:
            ins[product.place] = (True, weight_numbers(weight))
        ((known, made),) = self._ran(node, ins)
        bias = self._biases.get(node.label)
        if self._choices.correct and bias is not None:
            lacking = self._lacking(product, real, held)
            aim = wanted[0][1] if lacking is None else wanted[0][1] + lacking
            error = self._error(product, weight, (real, held), (aim, made))
            made = self._corrected(product, bias, error, made, held)
        return [(known, made)]

    def _error(
        self,
        product: Product,
        weight: Weight | None,
        live: tuple[Mapping[str, Held], Mapping[str, Held]],
        results: tuple[Array, Array],
    ) -> Array:
        """What each output lacks on average, as far as its bias is to make up for it."""
        if not self._choices.analytic:
            return self._seen_error(product, live, results)
        held = live[1]
        real = held[product.node.inputs[product.place]][1]
        moments = Moments(product, self._choices.results, self._choices.seed)
        known = self._choices.means.get(product.reads)
        moments.take([held[product.reads][1].mean(axis=0) if known is None else known])
        return expected_error(moments, real, real if weight is None else weight_numbers(weight))

    def _weight(self, product: Product, real: Mapping[str, Held], held: Mapping[str, Held]) -> Weight | None:
        spec, reads = self._spec_of(product), self._scheme.tensors.get(product.reads)
        if spec is None or reads is None:
            return None
        name = self._biases.get(product.node.label)
        floor = 0.0 if name is None else _floor(product, held[name][1], reads.scale.item())
        if self._choices.effort == "nearest":
            weight = quantized(held[product.node.inputs[product.place]][1], spec, product.axis, floor=floor)
        else:
            wanted, moments = self._asked(product, real, held)
            centred = self._centred(product)
            weight = solved(wanted, spec, moments, effort=self._choices.effort, centred=centred, floor=floor)
        self._decided.weights[product.node.label, product.place] = weight
        return weight

    def _asked(self, product: Product, real: Mapping[str, Held], held: Mapping[str, Held]) -> tuple[Array, Moments]:
        """The weights that integers are to come close to, and what the layer reads."""
        weights = held[product.node.inputs[product.place]][1]
        if self._choices.passed:
            passed = Passed(product, self._choices.results, self._choices.seed)
            lacking = self._lacking(product, real, held)
            passed.take_pairs(real[product.reads][1], held[product.reads][1], lacking)
            return passed.stood_in(weights, self._centred(product)), passed
        moments = self._moments(product, weights, held)
        moments.take(held[product.reads][1])
        return weights, moments

    def _lacking(self, product: Product, real: Mapping[str, Held], held: Mapping[str, Held]) -> Array | None:
        """The error of what is added to the layer's results, where that is known before they are."""
        name = self._added.get(product.node.outputs[0], "")
        return real[name][1] - held[name][1] if name in real and name in held else None

    def _moments(self, product: Product, real: Array, held: Mapping[str, Held]) -> Moments:
        """Of all results alike, or as far as what is behind the layer lets them through."""
        choices, name = self._choices, self._biases.get(product.node.label)
        low, high = self._bounds.of(product.node.outputs[0])
        results = results_of(product, len(held[product.reads][1]), choices.results)
        if not choices.gated or not results or (low == -np.inf and high == np.inf):
            return Moments(product, choices.results, choices.seed)
        bias = np.zeros(1) if name is None else held[name][1]
        return GatedMoments(product, Gate(real, bias, low, high), results, choices.seed)

    def _centred(self, product: Product) -> float:
        """The share of the mean error that a bias makes up for."""
        return self._choices.centred * (self._choices.correct and product.node.label in self._biases)

    def _seen_error(
        self, product: Product, live: tuple[Mapping[str, Held], Mapping[str, Held]], results: tuple[Array, Array]
    ) -> Array:
        """The mean error of what is seen of the results: not beyond an activation's bounds, nor beyond the integers."""
        low, high = self._bounds.of(product.node.outputs[0])
        if low == -np.inf and high == np.inf:
            return mean_error(*results, _axis(product))
        wanted, made = results
        if product.bias is None:  # the node behind adds it
            real, held = (values[self._biases[product.node.label]][1] for values in live)
            wanted, made = wanted + _along(product, real, wanted), made + _along(product, held, made)
        return passing_error(wanted, made, _axis(product), low, high)

    def _corrected(self, product: Product, name: str, error: Array, made: Array, held: dict[str, Held]) -> Array:
        """The results, their mean error in the bias from now on."""
        before = held[name][1]
        bias = (before + error.reshape(before.shape)).astype(np.float32)
        self._decided.biases[name] = bias
        held[name] = (True, bias)
        if product.bias is not None:
            made += _along(product, bias - before, made)
        return made


def _axis(product: Product) -> int:
    """The axis of a layer's results, samples first, that runs over outputs."""
    return product.out_axis if product.out_axis < 0 else product.out_axis + 1


def _along(product: Product, sizes: Array, made: Array) -> Array:
    """One number per output, in the shape of the results."""
    shape = [1] * made.ndim
    shape[_axis(product)] = -1
    return sizes.reshape(shape)


def _widened(live: Live, count: int) -> dict[str, Array]:
    """Room for `count` more samples behind those of each value, which is now wider by them."""
    more: dict[str, Array] = {}
    for name, (known, array) in live.items():
        if not known:
            wide = np.empty((len(array) + count, *array.shape[1:]), array.dtype)
            wide[: len(array)] = array
            live[name], more[name] = (False, wide), wide[len(array) :]
    return more


def _parts(samples: Sequence[int], most: int) -> list[Sequence[int]]:
    return [samples[at : at + most] for at in range(0, len(samples), most)]


def _floor(product: Product, bias: Array, reads: float) -> Array | float:
    floor = least_scales(bias.reshape(-1), reads, None, bias.size)
    return floor if floor.size == product.shape[product.axis] else float(floor.max(initial=0.0))
