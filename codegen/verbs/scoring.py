"""The score of a quantized network beside the float one's, over labelled samples.

Decides: that both see the same samples.  Which engine runs the quantized one is the caller's.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path

from codegen.metrics import points_lost
from codegen.options import Options
from codegen.preprocess import gathered
from codegen.records import record
from codegen.report.quantized import Scored
from codegen.toolkit import HOUSE, Toolkit
from codegen.verbs.evaluate import Judging, evaluate
from codegen.verbs.kinds import DataGiven, Sample
from codegen.verbs.sources import ModelSource


@record(kw_only=True)
class Scoring:
    """By which labelled samples and which metric, on which engine, shared by whom; `max_drop` points may be lost."""

    data: DataGiven | Iterable[Sample]
    metric: str
    config: str | Path | None
    max_drop: float | None
    engine: str
    toolkit: Toolkit = HOUSE
    scheduler: str | None = None


def score(model: ModelSource, quantized: bytes, options: Options, how: Scoring) -> Scored:
    """Both networks' scores."""
    engine, data = how.engine, gathered(how.data)
    judging = Judging(metric=how.metric, engine=engine, config=how.config, toolkit=how.toolkit, scheduler=how.scheduler)
    made = evaluate(quantized, data, options, judging)
    real = evaluate(model, data, options, replace(judging, engine="float"))
    drop = points_lost(made.unit, real.value, made.value)
    return Scored(
        metric=how.metric,
        samples=made.count,
        score=made.value,
        unit=made.unit,
        engine=engine,
        float_score=real.value,
        drop=drop,
        allowed=how.max_drop,
        missed=how.max_drop is not None and drop > how.max_drop,
    )
