"""How good the network's answers are over labelled samples, beside the float network's where there is one."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from codegen.metrics import points_lost
from codegen.options import Options
from codegen.preprocess import gathered
from codegen.records import record
from codegen.verbs.evaluate import EngineScore, Judging, evaluate
from codegen.verbs.kinds import DataGiven, Sample
from codegen.verbs.sources import ModelSource


@record(kw_only=True)
class Grade:
    """What the metric says of the network's answers on an engine; of the float one's where there is one.

    `right` and `float_right` of `samples`, where the metric calls a sample right or wrong; `lost` are points.
    """

    metric: str
    unit: str
    samples: int
    engine: str
    score: float
    right: int | None
    float_score: float | None = None
    float_right: int | None = None
    lost: float | None = None


def graded(
    models: tuple[ModelSource, ModelSource | None],
    given: DataGiven | Iterable[Sample],
    options: Options,
    judging: Judging,
) -> Grade:
    """The scores of the network and, where there is one, of the float one by the engine `float`."""
    (model, float_model), data = models, gathered(given)
    made = _first(model, data, options, judging)
    found = Grade(
        metric=judging.metric,
        unit=made.unit,
        samples=made.count,
        engine=made.engine,
        score=made.value,
        right=made.right,
    )
    if float_model is None:
        return found
    real = _first(float_model, data, options, replace(judging, engine="float"))
    lost = points_lost(made.unit, real.value, made.value)
    return replace(found, float_score=real.value, float_right=real.right, lost=lost)


def _first(model: ModelSource, data: DataGiven, options: Options, judging: Judging) -> EngineScore:
    return evaluate(model, data, options, judging).engines[0]
