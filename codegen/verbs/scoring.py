"""The score of a quantized network beside the float one's, over labelled samples.

Decides: that both see the same samples, and that the float one sees them first: samples that are wrong are refused
before anything is quantized.  Which engine runs the quantized one is the caller's.
"""

from __future__ import annotations

from pathlib import Path

from codegen.metrics import points_lost
from codegen.options import Options
from codegen.records import record
from codegen.report.quantized import Scored
from codegen.toolkit import HOUSE, Toolkit
from codegen.verbs.evaluate import Evaluation, Judging, evaluate
from codegen.verbs.kinds import DataGiven
from codegen.verbs.sources import ModelSource


@record(kw_only=True)
class Scoring:
    """By which labelled samples and which metric, shared by whom; `max_drop` points may be lost."""

    data: DataGiven
    metric: str
    config: str | Path | None
    max_drop: float | None
    toolkit: Toolkit = HOUSE
    scheduler: str | None = None

    def of(self, model: ModelSource, options: Options, engine: str) -> Evaluation:
        """The score of one network."""
        judging = Judging(
            metric=self.metric, engine=engine, config=self.config, toolkit=self.toolkit, scheduler=self.scheduler
        )
        return evaluate(model, self.data, options, judging)

    def beside(self, real: Evaluation, made: Evaluation) -> Scored:
        """The score of the quantized network beside `real`, the float one's."""
        drop = points_lost(made.unit, real.value, made.value)
        return Scored(
            metric=self.metric,
            samples=made.count,
            score=made.value,
            unit=made.unit,
            engine=made.engine,
            float_score=real.value,
            drop=drop,
            allowed=self.max_drop,
            missed=self.max_drop is not None and drop > self.max_drop,
        )
