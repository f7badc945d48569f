"""What is tried on a network, in which order, and what of it is kept.

Decides: each stage starts from the best so far and replaces it where the judge finds the network better: the SQNR of
its outputs, over samples that set no range.  `fast` takes extremes and corrects biases; `default` tries several methods
for ranges, several rewrites and tensors' ranges in turn, and rounds weights for the results of their layer; `best`
tries more of each.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import field, replace
from typing import get_args

from codegen.ir.quant import Array
from codegen.ir.real import RealGraph
from codegen.quantizer.asked import Asked, Asking
from codegen.quantizer.attempts import EVENED, Attempt, RecipeName, attempts_of
from codegen.quantizer.batched import NodeRun, in_numpy
from codegen.quantizer.bias import with_biases
from codegen.quantizer.calibrate import passes, tensors_of, watched, weights_of
from codegen.quantizer.config import QuantConfig, Search
from codegen.quantizer.in_turn import GAIN, InTurn, Turns
from codegen.quantizer.live import stacked
from codegen.quantizer.masked import floors
from codegen.quantizer.measure import CEILING, Likeness, Noise
from codegen.quantizer.observe import Progress, Samples, observe
from codegen.quantizer.places import Constant, Places, natural_bounds
from codegen.quantizer.products import products
from codegen.quantizer.ranging import ByMethod, least_at_readers
from codegen.quantizer.rewrite.exact import rewritten
from codegen.quantizer.rewrite.extremes import Seen, observe_extremes
from codegen.quantizer.rewrite.moved import AllMoved, both_moved
from codegen.quantizer.room import joins, samples_at_once
from codegen.quantizer.scheme import Runner, Scheme
from codegen.quantizer.sequential import Choices, SideBySide
from codegen.quantizer.solving import Effort
from codegen.quantizer.spec import Method, Spec
from codegen.quantizer.statistics import Statistics
from codegen.quantizer.sums import added_behind
from codegen.quantizer.whole import room_for, wanted_of
from codegen.records import record
from codegen.threads import each

Outputs = list[dict[str, Array]]
"""Tensors by name, of some samples at once and then of some more."""

_METHODS: Mapping[RecipeName, tuple[Method, ...]] = {
    "fast": (),
    "default": ("mse", "percentile"),
    "best": ("mse", "percentile", "mix", "octav", "entropy"),
}
_ALL = get_args(Method)
_EACH: tuple[Method, ...] = ("minmax", "mse", "percentile", "mix", "octav", "entropy", "aciq_laplace")
"""What is tried for each tensor."""
_LOOKED_AT = 48
"""Samples by which a tensor's method is chosen, at most."""
_JUDGED = 64
"""Samples of each kind that judge, at most."""
_TOGETHER = 4
"""Samples that go through a network together, where nothing is decided on the way."""
_DECIDING = 256
"""Samples that decide weights and biases, at most."""
_FEWEST = 8
"""Samples of each kind that judge ranges in turn, at least."""
_WORK: Mapping[RecipeName, float] = {"fast": 0.0, "default": 1e11, "best": 2e12}
"""Products of weights that ranges in turn may take."""


@record(kw_only=True)
class Trials:
    """What a recipe tries, once the configuration has been heard: `methods` for all tensors, `each` for one alone."""

    methods: tuple[Method, ...] = ()
    each: tuple[Method, ...] = ()
    rewrites: tuple[Attempt, ...] = ()
    correct: bool = True
    analytic: bool = False
    effort: Effort = "nearest"
    thorough: bool = False
    results: int = 256
    turns: float = 0.0


def trials_of(name: RecipeName, config: QuantConfig) -> Trials:
    """A recipe's own trials, but for those that the configuration's tables decide."""
    together = name != "fast"
    methods = config.search.methods
    tried = _METHODS[name] if methods is None else tuple(m for m in _ALL if m in methods)
    each = config.search.each or ("layer" if name == "best" else "model")
    return Trials(
        methods=tried,
        each=(tried if methods else _EACH) if each == "layer" else (),
        rewrites=attempts_of(name, config.rewrite),
        correct=config.correct.bias != "none",
        analytic=config.correct.bias == "analytic",
        effort=config.correct.weights or ("descent" if together else "nearest"),
        thorough=name == "best",
        results=config.correct.pixels or 256,
        turns=_turns(name, config.search),
    )


def _turns(name: RecipeName, search: Search) -> float:
    """The work for ranges in turn: none where methods are said, unless these are asked for too."""
    if search.turns == "try":
        return max(_WORK[name], _WORK["default"])
    return 0.0 if search.turns == "off" or search.methods else _WORK[name]


@record
class Stage:
    """What was tried, the SQNR in dB with it, and whether it was kept."""

    name: str
    sqnr: float
    kept: bool


@record(eq=False)
class Made:
    """A float network, rewritten, its scheme, what was asked for in the end, and how it came about.

    `graph` has the biases that the integers get, `real` those of the float network.
    """

    graph: RealGraph
    real: RealGraph
    scheme: Scheme
    asking: Asking
    stages: tuple[Stage, ...] = ()
    moved: AllMoved = field(default_factory=dict)


@record(kw_only=True)
class Given:
    """Samples that set ranges, samples that judge, what is asked of each tensor, and nodes that are kept real.

    `asked` is the configuration behind `asking`, which says what is left open; `means` of tensors are known besides.
    """

    ranging: Samples
    judging: Samples
    asking: Asking
    asked: Asked
    runner: Runner
    nodes: NodeRun = in_numpy
    kept: frozenset[str] = frozenset()
    means: Mapping[str, Array] = field(default_factory=dict)
    seed: int = 0
    progress: Progress | None = None


@record(eq=False)
class Network:
    """A way to write the float network, what was seen of it, and how its channels differ from those that were given."""

    graph: RealGraph
    places: Places
    biases: Mapping[str, str]
    seen: Mapping[str, Statistics]
    moved: AllMoved

    def has_sums(self) -> bool:
        """Whether another tensor is added to the result of a layer."""
        added = added_behind(self.graph, frozenset(self.biases.values()))
        return any(p.node.outputs[0] in added for p in products(self.graph))


@record(eq=False)
class State:
    """What is decided so far."""

    network: Network
    asking: Asking
    choices: Choices
    graph: RealGraph
    scheme: Scheme


class Recipe:
    """One network and its samples, and the best that was made of them so far.

    Samples are looked at a second time where a method needs their histograms.
    """

    def __init__(self, graph: RealGraph, given: Given, name: RecipeName) -> None:
        self._given, self._trials = given, trials_of(name, given.asked.config)
        self._network = self._seen(rewritten(graph, given.kept), {}, bool(self._trials.methods or self._trials.each))
        self._verdicts, self._outs = verdicts(self._network.graph), self._network.graph.outputs
        self._wanted = self._outputs(self._network.graph, Scheme())
        self._stages: list[Stage] = []
        self._best: State | None = None
        self._looked_at: tuple[RealGraph, Seen] | None = None
        self._sqnr = self._unseen = -CEILING

    @property
    def seen(self) -> Mapping[str, Statistics]:
        """What was seen of the network as it was given."""
        return self._network.seen

    def cooked(self) -> Made:
        """The best that the recipe finds."""
        given, trials = self._given, self._trials
        plain = Choices(effort="nearest", correct=False, results=trials.results, seed=given.seed)
        best = self._tried("extremes", self._network, given.asking, plain)
        if trials.correct:
            choices = replace(plain, correct=True, analytic=trials.analytic, means=given.means)
            best = self._tried("biases corrected", best.network, best.asking, choices)
        for method in trials.methods:
            by_method = ByMethod(given.asking, given.asked, method, frozenset((*self._verdicts, *self._outs)))
            best = self._tried(f"ranges by {method}", best.network, by_method, best.choices)
        for attempt in trials.rewrites:
            if not attempt.spared or not any(s.kept and s.name in EVENED for s in self._stages):
                best = self._rewritten(best, attempt, bool(trials.each))
        if trials.each:
            best = self._by_layer(best, trials.each)
        if not trials.thorough:
            best = self._in_turn(best, trials.turns)
        if trials.effort != "nearest":
            best = self._rounded(best, trials)
        if trials.thorough:  # which has tried weights in more ways than ranges that fit them would leave
            best = self._in_turn(best, trials.turns)
        return Made(best.graph, best.network.graph, best.scheme, best.asking, tuple(self._stages), best.network.moved)

    def _rewritten(self, best: State, attempt: Attempt, counted: bool) -> State:
        """A float rewrite of the best; its numbers are `counted` where methods that nobody has chosen yet need that."""
        graph = best.network.graph
        made = attempt.rewritten(graph, lambda: self._extremes(graph))
        if not made.record.pairs:
            return best
        choices = replace(best.choices, means={})  # channels have other sizes
        network = self._seen(made.graph, both_moved(best.network.moved, made.record.moved), counted, best.asking)
        return self._tried(attempt.name, network, best.asking, choices, insisted=attempt.insisted)

    def _extremes(self, graph: RealGraph) -> Seen:
        """Those of the network's channels, looked for once in each network."""
        if self._looked_at is None or self._looked_at[0] is not graph:
            self._looked_at = graph, observe_extremes(graph, self._given.runner, self._given.ranging)
        return self._looked_at[1]

    def _by_layer(self, best: State, methods: tuple[Method, ...]) -> State:
        """Each tensor's own method."""
        network, given = best.network, self._given
        tried = {m: tensors_of(network.places, network.seen, ByMethod(given.asking, given.asked, m)) for m in methods}
        count = min(len(given.ranging), _LOOKED_AT, samples_at_once(network.graph))
        found = least_at_readers(
            network.places, tried, stacked(network.graph, given.ranging, range(count)), given.nodes
        )
        asking = ByMethod(best.asking, given.asked, found)
        return self._tried("ranges by layer", network, asking, best.choices)

    def _in_turn(self, best: State, work: float) -> State:
        """Each tensor's own range, as far as so much work goes."""
        network = best.network
        turns = Turns(network.places, network.seen, best.asking, self._given.asked)
        count = min(turns.samples_for(work), _JUDGED)
        if count < _FEWEST:
            return best
        weights = best.scheme.weights
        found = turns.ranges(lambda held: self._judged(self._outputs(best.graph, Scheme(held, weights), count)))
        if not found:
            return best
        return self._tried("ranges in turn", network, InTurn(best.asking, found), best.choices, gain=GAIN)

    def _rounded(self, best: State, trials: Trials) -> State:
        """Weights rounded for the results of their layer: the float network's, or those of what is read."""
        before, words = best, f"weights by {trials.effort}"
        choices = replace(best.choices, effort=trials.effort, correct=trials.correct, analytic=trials.analytic)
        if not trials.analytic:
            best = self._made_up(best, f"{words}, errors made up for", replace(choices, passed=True), trials.thorough)
        if best is before or trials.thorough:
            best = self._tried(words, best.network, best.asking, choices)
        if trials.thorough:
            choices = replace(choices, gated=True)
            best = self._tried("weights behind activations", best.network, best.asking, choices)
        return best

    def _made_up(self, best: State, name: str, choices: Choices, thorough: bool) -> State:
        """Weights that make up for errors of the layers before, and for those of sums behind where there are any."""
        best = self._tried(name, best.network, best.asking, choices, fitted=True)
        if not thorough or not best.network.has_sums():
            return best
        name, choices = f"{name}, those of sums too", replace(choices, summed=True)
        return self._tried(name, best.network, best.asking, choices, fitted=True)

    def _tried(
        self,
        name: str,
        network: Network,
        asking: Asking,
        choices: Choices,
        *,
        insisted: bool = False,
        fitted: bool = False,
        gain: float = 0.0,
    ) -> State:
        """The state with these choices, or the best so far unless it `gain`s more than that or somebody insists.

        What is `fitted` to the samples that set ranges must not lose on the others.
        """
        state = self._state(network, asking, choices)
        made = self._outputs(state.graph, state.scheme)
        unseen, seen = self._judged(made)
        sqnr = (unseen + seen) / 2
        better = sqnr > self._sqnr + gain and (not fitted or unseen > self._unseen)
        kept = self._best is None or insisted or better
        self._stages.append(Stage(name, sqnr, kept))
        if kept:
            self._best, self._sqnr, self._unseen = state, sqnr, unseen
        assert self._best is not None
        return self._best

    def _judged(self, made: Sequence[Outputs]) -> tuple[float, float]:
        """Of samples that set no range and of those that do: the mean over what is judged by and the outputs."""
        kind = Likeness if self._given.asked.config.search.measure == "cosine" else Noise
        names = (self._verdicts, self._outs)
        unseen, seen = (
            sum(least_sqnr(_only(w, some, m), m, kind) for some in names) / len(names)
            for w, m in zip(self._wanted, made, strict=True)
        )
        return unseen, seen

    def _state(self, network: Network, asking: Asking, choices: Choices) -> State:
        places, given = network.places, self._given
        tensors = tensors_of(places, network.seen, asking)
        least = floors(places, network.seen)
        constants = weights_of(places, tensors, asking, least=least)
        if choices.effort == "nearest" and not choices.correct:
            return State(network, asking, choices, network.graph, Scheme(tensors, constants))
        specs = {c.key: _spec(c, asking) for c in places.constants if c.role == "weights"}
        specs = {key: spec for key, spec in specs.items() if key in constants}
        operands = {c.key for c in places.constants if c.role == "activation"}
        real = Scheme(tensors, {key: constants[key] for key in operands & constants.keys()})
        graph, count = network.graph, min(len(given.ranging), _DECIDING)
        spec_of = lambda product: specs.get((product.node.label, product.place))  # noqa: E731
        sides = SideBySide(graph, network.biases, real, spec_of, choices, given.nodes)
        decided = sides.run(lambda part: stacked(graph, given.ranging, part), joins(graph, count))
        graph = decided.written(network.graph)
        weights = weights_of(Places(graph, places.kept), tensors, asking, decided.weights, least=least)
        return State(network, asking, choices, graph, Scheme(tensors, weights))

    def _seen(self, graph: RealGraph, moved: AllMoved, counted: bool, asking: Asking | None = None) -> Network:
        """A network's statistics, of all samples that set ranges; histograms too if `counted` or asked for."""
        graph, biases = with_biases(graph)
        places = Places(graph, self._given.kept)
        seen = watched(places, self._given.asking)
        looks = 2 if counted else passes(places, asking or self._given.asking)
        observe(graph, self._given.ranging, self._given.runner, seen, self._given.progress, looks)
        return Network(graph, places, biases, seen, moved)

    def _outputs(self, graph: RealGraph, scheme: Scheme, most: int = _JUDGED) -> list[Outputs]:
        """What the network is judged by: over samples that judge alone, and over others, at most so many of each."""
        given, names = self._given, tuple(dict.fromkeys((*self._verdicts, *self._outs)))
        wanted = wanted_of(graph, scheme, names, given.nodes)
        at_once = min(_TOGETHER, -(-samples_at_once(graph) // 2))

        def made(samples: Samples) -> Outputs:
            count = min(len(samples), most)
            parts = [range(at, min(at + at_once, count)) for at in range(0, count, at_once)]
            found = [room_for(graph, names, len(part)) for part in parts]
            each(lambda one: wanted(stacked(graph, samples, one[0]), one[1]), list(zip(parts, found, strict=True)))
            return found

        return [made(given.judging), made(given.ranging)]


def verdicts(graph: RealGraph) -> tuple[str, ...]:
    """The tensors that a network is judged by besides its outputs: what functions of known bounds make these of.

    Probabilities of a few doubtful samples say little about the rest; what they are made of says it for all.  It says
    little about a few numbers that are cut, of which probabilities are made.
    """
    bounded = {n.outputs[0]: n.inputs[0] for n in graph.nodes if natural_bounds(n.op) is not None}
    return tuple(dict.fromkeys(bounded.get(name, name) for name in graph.outputs))


def least_sqnr(
    wanted: Sequence[Mapping[str, Array]], made: Sequence[Mapping[str, Array]], kind: type[Noise] = Noise
) -> float:
    """Of the output that differs most, in dB."""
    noises = {name: kind() for name, array in wanted[0].items() if array.dtype.kind == "f"}
    for one, other in zip(wanted, made, strict=True):
        for name, noise in noises.items():
            noise.take(one[name], other[name])
    return min((n.sqnr for n in noises.values()), default=CEILING)


def _only(outputs: Outputs, names: Collection[str], beside: Outputs) -> Outputs:
    """Some tensors of the first samples, of as many as are `beside`."""
    pairs = zip(outputs, beside, strict=False)
    return [{name: arrays[name][: len(other[name])] for name in names} for arrays, other in pairs]


def _spec(constant: Constant, asking: Asking) -> Spec:
    return asking.spec(constant.role, layer=constant.layer, op_type=constant.op_type, tensor=constant.name)
