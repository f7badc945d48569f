"""evaluate: how good a model's answers are over labelled samples, on one engine or several side by side."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Sequence
from dataclasses import replace
from pathlib import Path

from codegen.errors import EngineUnknown
from codegen.metrics import find_metric
from codegen.options import Options
from codegen.preprocess import gathered
from codegen.records import record
from codegen.spread import Spread, ranges_of, spread_over
from codegen.toolkit import HOUSE, Toolkit
from codegen.verbs.answering import Answering, Answers, Question, answer_there, has_state
from codegen.verbs.engines import check_engine
from codegen.verbs.kinds import DataGiven, Progress, Sample
from codegen.verbs.samples import check_count
from codegen.verbs.sources import ModelSource, file_of, takes_model


@record
class EngineScore:
    """One engine's result: `value` in `unit`s, a `share` is 0 .. 1; `images_per_s` counts the engine's time.

    `right`: how many samples are right, where the metric calls each right or wrong.  `outputs_sha256` is that of all
    outputs in the order of the samples: the same wherever they were run.
    """

    engine: str
    value: float
    unit: str
    right: int | None
    count: int
    images_per_s: float
    outputs_sha256: str
    note: str = ""


@record
class Evaluation:
    """The first engine's result, and every engine's in `engines`."""

    metric: str
    value: float
    unit: str
    count: int
    images_per_s: float
    engine: str
    engines: tuple[EngineScore, ...]


@record(kw_only=True)
class Judging:
    """By which metric which engines are judged, made with what, how data becomes samples, and who runs them."""

    metric: str = "top1"
    engine: str | Sequence[str] = "c"
    config: str | Path | None = None
    limit: int | None = None
    scheduler: str | None = None
    progress: Progress | None = None
    toolkit: Toolkit = HOUSE


@takes_model
def evaluate(model: ModelSource, data: DataGiven | Iterable[Sample], options: Options, judging: Judging) -> Evaluation:
    """Run the labelled samples of `data` and judge the answers; of a network with state they are steps, in order."""
    names = _engines(judging)
    check_count(judging.limit)
    metric = find_metric(judging.metric)
    data = gathered(data)
    questions = [
        Question(
            model=file_of(model).absolute(),
            options=replace(options, vectors=0),
            engine=name,
            metric=metric,
            data=Path(data).absolute() if isinstance(data, str) else data,
            config=None if judging.config is None else Path(judging.config).absolute(),
            limit=judging.limit,
            toolkit=judging.toolkit,
        )
        for name in names
    ]
    with spread_over(judging.scheduler) as spread:
        scores = tuple(
            _score(question, _asked(question, spread, _told(judging.progress, place, len(names))))
            for place, question in enumerate(questions)
        )
    first = scores[0]
    return Evaluation(judging.metric, first.value, first.unit, first.count, first.images_per_s, first.engine, scores)


def _engines(judging: Judging) -> list[str]:
    """The engines by name; LAM-API-001 for a name nobody knows."""
    names = judging.engine.split(",") if isinstance(judging.engine, str) else list(judging.engine)
    if not names:
        raise EngineUnknown("none is named", where="engine")
    for name in names:
        check_engine(name)
    return names


def _asked(question: Question, spread: Spread, progress: Progress | None) -> Sequence[Answers]:
    """The answers to all samples, run by run, whoever ran them."""
    opened = Answering(question)
    try:
        count = opened.count
        if spread.width == 1 or has_state(question):
            return [opened.run(range(count), progress)]
    finally:
        opened.close()
    runs = ranges_of(count, spread)
    ends = [run.stop for run in runs]
    told = None if progress is None else lambda done: progress(ends[done - 1], count)
    return spread.each(answer_there, [(question, run) for run in runs], told)


def _score(question: Question, runs: Sequence[Answers]) -> EngineScore:
    """What the metric says of all runs."""
    verdicts = [verdict for run in runs for verdict in run.verdicts]
    score = question.metric.total(verdicts)
    return EngineScore(
        engine=question.engine,
        value=score.value,
        unit=score.unit,
        right=score.right,
        count=len(verdicts),
        images_per_s=len(verdicts) / max(sum(run.seconds for run in runs), 1e-9),
        outputs_sha256=hashlib.sha256(b"".join(d for run in runs for d in run.digests)).hexdigest(),
        note=runs[0].note,
    )


def _told(progress: Progress | None, place: int, engines: int) -> Progress | None:
    """Progress over all engines."""
    if progress is None:
        return None
    return lambda done, count: progress(place * count + done, engines * count)
