"""sensitivity: which layers a quantizer loses most in, and what would give it back."""

from __future__ import annotations

from codegen.errors import OptionBad
from codegen.options import Options
from codegen.quantizer.places import Places
from codegen.quantizer.rewrite.states import tied_states
from codegen.quantizer.sensitivity import BY, By, Looking, Sensitivity, Wide, parts_of, sensitivities
from codegen.report.sensitive import SensitivityReport, SensitivityRow
from codegen.spread import spread_over
from codegen.target import load_target
from codegen.verbs.calibration import calibration_of
from codegen.verbs.fed_back import said_states
from codegen.verbs.float_source import float_graph, kept_real
from codegen.verbs.judge import Judge, quick_judge
from codegen.verbs.quantize import ranged
from codegen.verbs.quantizing import Quantizing, asking_of, sampled
from codegen.verbs.sources import ModelSource, file_of, shown, takes_model

_JUDGED = 16
"""Samples by which each of many networks is judged."""


@takes_model
def sensitivity(model: ModelSource, options: Options, how: Quantizing, by: By = "layer") -> SensitivityReport:
    """Each layer of a float model, operator or tensor, by what quantizing it alone loses."""
    if by not in BY:
        raise OptionBad(f"{by!r}", where="by", hint=f"choose one of {', '.join(BY)}")
    load_target(options.target)
    graph = float_graph(file_of(model), options, how.toolkit.vocabulary)
    graph = tied_states(graph, said_states(graph, how.config))
    places = Places(graph, kept_real(graph, how.keep_float))
    asking = asking_of(places, how)
    held = calibration_of(graph, how.calib, sampled(how), asking.config.search.samples)
    scheme_of = ranged(places, held, asking)
    scheme, wide = scheme_of(asking), scheme_of(Wide(asking))
    chosen = held.judging.first(_JUDGED)
    judge = quick_judge(places, Judge(graph, chosen, options))
    look = Looking(scheme=scheme, judge=judge, wide=wide)
    with spread_over(how.scheduler) as spread:
        found = sensitivities(parts_of(places, scheme, by), look, spread, how.progress)
    return SensitivityReport(
        model=shown(file_of(model)),
        by=by,
        samples=len(held.ranging),
        judged=len(chosen),
        whole=judge(scheme),
        parts=tuple(map(_row, found)),
    )


def _row(found: Sensitivity) -> SensitivityRow:
    return SensitivityRow(
        name=found.part.name,
        operator=found.part.op_type,
        tensors=len(found.part.tensors),
        constants=len(found.part.weights),
        alone=found.alone,
        gains_float=found.gains_float,
        gains_16=found.gains_wide or 0.0,
    )
