"""quantize: a float model and some samples to a quantized model, and what is known of it.

Decides: the order of the stages, and which samples set ranges and which judge.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import field, replace
from functools import cache
from pathlib import Path

import numpy as np

from codegen.errors import CalibrationConstant, CompileError, OptionBad
from codegen.frontends import REQUANT_KEY, label_entries, real_bytes
from codegen.ir.quant import Array
from codegen.ir.real import RealGraph
from codegen.options import Options
from codegen.preprocess import gathered
from codegen.quantizer.applied import applied
from codegen.quantizer.arithmetic import arithmetic_of
from codegen.quantizer.asked import Asked, Asking
from codegen.quantizer.calibrate import passes, scheme_of, watched
from codegen.quantizer.config import Mixed, QuantConfig
from codegen.quantizer.measure import Figures, compared
from codegen.quantizer.observe import Progress, observe
from codegen.quantizer.places import Places
from codegen.quantizer.ranges.storing import LEAST_SCALE
from codegen.quantizer.recipe import Given, Made, Recipe
from codegen.quantizer.rewrite.exact import rewritten
from codegen.quantizer.rewrite.moved import moved_entries
from codegen.quantizer.rewrite.states import tied_states
from codegen.quantizer.scheme import Scheme
from codegen.quantizer.statistics import Statistics
from codegen.records import record
from codegen.report.quantized import QuantReport, QuantStage
from codegen.report.views import quantized_view
from codegen.spread import spread_over
from codegen.target import load_target
from codegen.threads import both
from codegen.verbs.blindly import blindly
from codegen.verbs.calibration import Held, calibration_of
from codegen.verbs.fed_back import said_states
from codegen.verbs.float_source import given_graph, kept_real
from codegen.verbs.judge import Judge, Judgement, quick_judge
from codegen.verbs.mixing import Network, mixed, mixing_of
from codegen.verbs.ort_nodes import best_nodes
from codegen.verbs.ort_runner import best_runner
from codegen.verbs.quantized_files import check_files, model_and_report, places_of, table_of
from codegen.verbs.quantizer_files import Output, write_together
from codegen.verbs.quantizing import Quantizing, asking_of, sampled
from codegen.verbs.quantizing_report import rows_of, unlike
from codegen.verbs.scoring import Scoring
from codegen.verbs.sources import ModelSource, file_of, shown, takes_model

_MEASURED = 32
"""Samples by which tensors are measured."""
_MIXED = 16
"""Samples by which each of many networks is judged."""
_LEAST_STEPS = 128
"""Of the smallest scale that there is: what inputs reach at least."""
_NOTHING_LEFT = 1.0
"""dB of outputs that are no better than zeros."""
_LOOKED_AT = 4
"""Samples whose numbers are looked at."""
_DARK, _BYTE = 31, 255
"""Between them lies the greatest number of a picture in bytes."""
_METRIC = "top1"
"""By which labelled samples are scored where no metric is named."""
_FEW = 16
"""Of fewer samples the user is warned."""


@record(eq=False)
class Quantized:
    """`model` is an ONNX file's bytes, empty where the quantizer stopped before; `path` where it was written."""

    model: bytes = field(repr=False)
    report: QuantReport = field(repr=False)
    path: Path | None = None

    @property
    def table(self) -> Mapping[str, tuple[float, int, int]]:
        """Scale, zero point and bits of each tensor."""
        return {t.tensor: (t.scale, t.zero_point, t.bits) for t in self.report.tensors}

    def _repr_html_(self) -> str:
        """What was quantized, in a notebook."""
        return quantized_view(self.report)


@takes_model
def quantize(model: ModelSource, options: Options, how: Quantizing) -> Quantized:
    """A float model quantized by samples, written where `how.out` says."""
    check_files(file_of(model), how)
    load_target(options.target)
    mixing_of(how, Mixed())
    given_there = given_graph(file_of(model), options, how.toolkit.vocabulary)
    graph = rewritten(given_there, how.keep_float)
    graph = tied_states(graph, said_states(graph, how.config))
    how = sampled(how)
    places = Places(graph, kept_real(graph, how.keep_float))
    asking = asking_of(places, how)
    _check_shared(how, asking)
    places = Places(graph, places.kept | _kept_by(graph, asking.config))
    held, asking, means = _samples(given_there, places, asking, how)
    report = _blank(shown(file_of(model)), held, places, how)
    report = replace(report, notes=(*report.notes, *asking.config.notes))
    if how.stop_after == "inspect":
        return Quantized(b"", report)
    if how.stop_after == "rewrite":
        return _written(real_bytes(graph), report, how)
    scoring = None if how.stop_after else _scoring(how)
    real = scoring and scoring.of(model, options, "float")
    scheme_of = ranged(places, held, asking, how.progress)
    given, report = _mixed(report, Network(places, asking, scheme_of), held, options, how)
    found = _cooked(Network(places, given, scheme_of), asking, held, how, means)
    places, scheme = Places(found.graph, places.kept), found.scheme
    made = applied(found.graph, scheme).live()
    stages = tuple(QuantStage(name=s.name, sqnr=s.sqnr, kept=s.kept) for s in found.stages)
    report, pair = replace(report, stages=stages), Measured(places, found.real, made)
    if how.stop_after == "calibrate":
        report = _measured(report, pair, (scheme, found.asking), _figures(pair, held))
        write_together(table_of(how, scheme, report))
        return Quantized(b"", report)
    mode, words = arithmetic_of(made, asking.config)
    asked = replace(options, requant=options.requant or mode)
    figures, verdict = both(
        lambda: _figures(pair, held), lambda: _verdict(Judge(graph, held.judging, asked, how.toolkit), made)
    )
    report = _measured(report, pair, (scheme, found.asking), figures)
    table = table_of(how, scheme, report)
    report = _judged(replace(report, notes=(*report.notes, *words)), verdict)
    told = {**label_entries(file_of(model)), **moved_entries(found.moved, scheme.tensors)}
    data = real_bytes(made, {**told, REQUANT_KEY: mode} if mode else told)
    if scoring and real:
        quantized = scoring.of(data, options, "float" if report.refusal else "c")
        report = replace(report, scored=scoring.beside(real, quantized))
    return _written(data, report, how, table)


def _check_shared(how: Quantizing, asking: Asked) -> None:
    """Refuse a scheduler that would have nothing to share: LAM-IMPORT-030."""
    if how.scheduler is not None and how.eval_data is None and mixing_of(how, asking.config.mixed) is None:
        hint = "mixed bits and scores are shared: say --weights mixed, --activations mixed or --eval, or leave it out"
        raise OptionBad(how.scheduler, where="scheduler", hint=hint)


def _kept_by(graph: RealGraph, config: QuantConfig) -> frozenset[str]:
    """Outputs that the configuration keeps real."""
    return frozenset(graph.outputs if config.io.outputs == "float" else ())


def _mixed(
    report: QuantReport, network: Network, held: Held, options: Options, how: Quantizing
) -> tuple[Asking, QuantReport]:
    """What is asked of each layer once bits are mixed, where they are to be."""
    asking = network.asking
    mixing = mixing_of(how, asking.config.mixed) if isinstance(asking, Asked) else None
    if mixing is None or not isinstance(asking, Asked):
        return asking, report
    said = (asking.config.mixed.first, asking.config.mixed.last) != (None, None)
    ends = asking.ends if said else frozenset[str]()  # otherwise they are mixed as all are
    judge = Judge(network.places.graph, held.judging.first(_MIXED), options, how.toolkit)
    with spread_over(how.scheduler) as spread:
        given, found = mixed(
            network, quick_judge(network.places, judge), options, replace(mixing, spread=spread, ends=ends)
        )
    return given, replace(report, mixed=found)


def ranged(places: Places, held: Held, asking: Asking, progress: Progress | None = None) -> Callable[[Asking], Scheme]:
    """What gives the integers of everything as it is asked for, by the samples that set ranges, once it is needed."""

    @cache
    def seen() -> Mapping[str, Statistics]:
        found = watched(places, asking)
        observe(places.graph, held.ranging, best_runner(), found, progress, passes(places, asking))
        _check_varied(places.graph, found, held)
        return found

    return lambda given: scheme_of(places, seen(), given)


def _check_varied(graph: RealGraph, seen: Mapping[str, Statistics], held: Held) -> None:
    inputs = [seen[name] for name in graph.inputs if name in seen]
    if inputs and all(s.low == s.high for s in inputs):
        raise CalibrationConstant(f"every number is {inputs[0].low:g}", where=held.where)
    if inputs and all(s.reach < _LEAST_STEPS * LEAST_SCALE for s in inputs):
        raise CalibrationConstant(f"no number is larger than {max(s.reach for s in inputs):g}", where=held.where)


def _samples(
    given: RealGraph, places: Places, asking: Asked, how: Quantizing
) -> tuple[Held, Asked, Mapping[str, Array]]:
    """The samples, what is asked for, and means that are known besides; without samples what stands in for them."""
    count = asking.config.search.samples
    if how.calib is not None:
        return calibration_of(places.graph, how.calib, how, count), asking, {}
    blind = blindly(given, places, asking, how)
    held = calibration_of(places.graph, blind.arrays, replace(how, config=None), count)
    return held, replace(asking, config=asking.config.over(blind.config)), blind.means


def _cooked(network: Network, asked: Asked, held: Held, how: Quantizing, means: Mapping[str, Array]) -> Made:
    """What the recipe makes of the network; ranges alone where everything stops behind them."""
    if how.stop_after == "calibrate":
        graph = network.places.graph
        return Made(graph, graph, network.scheme_of(network.asking), network.asking)
    name = how.recipe or asked.config.general.recipe or "default"
    given = Given(
        ranging=held.ranging,
        judging=held.judging,
        asking=network.asking,
        asked=asked,
        runner=best_runner(),
        nodes=best_nodes(),
        kept=network.places.kept,
        means=means,
        seed=how.seed or 0,
        progress=how.progress,
    )
    recipe = Recipe(network.places.graph, given, name)
    _check_varied(network.places.graph, recipe.seen, held)
    return recipe.cooked()


def _blank(name: str, held: Held, places: Places, how: Quantizing) -> QuantReport:
    few = len(held.ranging) + len(held.judging) < _FEW
    notes: tuple[str, ...] = (f"{len(held.ranging)} samples are few: 100 or more give better ranges",) if few else ()
    notes += tuple(_unscaled(places.graph, held))
    return QuantReport(
        model=name,
        samples=len(held.ranging),
        judged=len(held.judging),
        seed=how.seed or 0,
        quick_sqnr=None,
        sqnr=None,
        engine="",
        refusal="",
        scored=None,
        tensors=(),
        weights=(),
        stay_float=tuple(sorted(how.keep_float)),
        notes=(*places.graph.notes, *notes),
    )


def _unscaled(graph: RealGraph, held: Held) -> Iterator[str]:
    """What is said of inputs that look like the bytes of pictures."""
    some = [held.ranging[i] for i in range(min(len(held.ranging), _LOOKED_AT))]
    for name in graph.inputs:
        seen = [sample[name] for sample in some if name in sample and sample[name].dtype.kind == "f"]
        if seen and all(a.size and a.min() >= 0 and _DARK < a.max() <= _BYTE and (a == np.rint(a)).all() for a in seen):
            yield f"{name} holds whole numbers of 0 to 255: what was trained on others wants a [preprocess] table"


@record(eq=False)
class Measured:
    """A network's places, and the float and the quantized one that are laid side by side."""

    places: Places
    real: RealGraph
    made: RealGraph


def _figures(pair: Measured, held: Held) -> Mapping[str, Figures]:
    return compared(pair.real, pair.made, held.judging.first(_MEASURED), best_runner())


def _measured(
    report: QuantReport, pair: Measured, decided: tuple[Scheme, Asking], figures: Mapping[str, Figures]
) -> QuantReport:
    tensors, weights = rows_of(pair.places, decided, figures)
    report = replace(report, notes=(*report.notes, *unlike(pair.real, decided[0], figures)))
    return replace(report, tensors=tensors, weights=weights)


def _verdict(judge: Judge, made: RealGraph) -> tuple[float, Judgement | CompileError]:
    """What the quick judge and the true one say; of a network that does not compile why."""
    quick = judge.quick(made)
    try:
        return quick, judge(made)
    except CompileError as error:
        return quick, error


def _judged(report: QuantReport, verdict: tuple[float, Judgement | CompileError]) -> QuantReport:
    """The report with the verdicts; a network that does not compile has one only."""
    quick, judgement = verdict
    report = replace(report, quick_sqnr=quick)
    if isinstance(judgement, CompileError):
        return replace(report, refusal=judgement.problems()[0].text())
    word = "the outputs have nothing of the float network's: are the samples what it was trained on?"
    notes = (*report.notes, word) if judgement.sqnr <= _NOTHING_LEFT else report.notes
    return replace(report, sqnr=judgement.sqnr, engine=judgement.engine, notes=notes)


def _scoring(how: Quantizing) -> Scoring | None:
    """What both networks are scored by, where there is something to score them by."""
    if how.eval_data is None:
        return None
    return Scoring(
        data=gathered(how.eval_data),
        metric=how.metric or _METRIC,
        config=how.config,
        max_drop=how.max_drop,
        toolkit=how.toolkit,
        scheduler=how.scheduler,
    )


def _written(data: bytes, report: QuantReport, how: Quantizing, more: Sequence[Output] = ()) -> Quantized:
    """The model and its report; and what else was asked for."""
    write_together([*model_and_report(data, report, how), *more])
    return Quantized(data, report, next(iter(places_of(how)), None))
