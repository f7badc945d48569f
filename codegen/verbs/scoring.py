"""The score of a quantized network beside the float one's, over labelled samples.

Decides: that the integer network is scored as compiled C, and one that does not compile as its real numbers.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from codegen.options import Options
from codegen.report.quantized import Scored
from codegen.verbs.evaluate import Judging, evaluate
from codegen.verbs.sources import ModelSource


@dataclass(frozen=True, slots=True, kw_only=True)
class Scoring:
    """By which labelled samples and which metric; `max_drop` is the number of points that may be lost."""

    data: str | Path
    metric: str
    config: str | Path | None
    max_drop: float | None


def score(model: ModelSource, quantized: bytes, options: Options, how: Scoring, *, compiles: bool) -> Scored:
    """Both networks' scores."""
    engine = "c" if compiles else "float"
    made = evaluate(quantized, how.data, options, Judging(metric=how.metric, engine=engine, config=how.config))
    real = evaluate(model, how.data, options, Judging(metric=how.metric, engine="float", config=how.config))
    drop = 100 * (real.value - made.value)
    return Scored(
        metric=how.metric,
        samples=made.count,
        score=made.value,
        engine=engine,
        float_score=real.value,
        drop=drop,
        allowed=how.max_drop,
        missed=how.max_drop is not None and drop > how.max_drop,
    )
