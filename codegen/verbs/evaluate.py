"""evaluate: accuracy of a model over a labelled set, on one engine or several side by side."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from codegen.errors import DataDoesNotFit, EngineUnknown, MetricUnknown
from codegen.ir.quant import Array
from codegen.options import Options
from codegen.preprocess import need, read_npz
from codegen.toolkit import HOUSE, Toolkit
from codegen.verbs.engines import Engine, Opening, check_engine, open_engine
from codegen.verbs.samples import Progress, Samples, check_count, open_samples
from codegen.verbs.sources import ModelSource, file_of, takes_model

Metric = Callable[[Array, int], bool]


@dataclass(frozen=True, slots=True)
class EngineScore:
    """One engine's result: `value` is the share of right answers, 0 .. 1, `images_per_s` counts the engine's time."""

    engine: str
    value: float
    right: int
    count: int
    images_per_s: float
    note: str = ""


@dataclass(frozen=True, slots=True)
class Evaluation:
    """The first engine's result, and every engine's in `engines`."""

    metric: str
    value: float
    count: int
    images_per_s: float
    engine: str
    engines: tuple[EngineScore, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Judging:
    """By which metric which engines are judged, made with what, and how the data file becomes samples."""

    metric: str = "top1"
    engine: str | Sequence[str] = "c"
    config: str | Path | None = None
    limit: int | None = None
    progress: Progress | None = None
    toolkit: Toolkit = HOUSE


@takes_model
def evaluate(model: ModelSource, data: str | Path, options: Options, judging: Judging) -> Evaluation:
    """Run the labelled samples of `data` and count the right answers; of a network with state they are steps, in order.

    `data` has samples and `y`, the class numbers; the model's first output has one number per class.
    """
    names = _engines(judging)
    check_count(judging.limit)
    judge = _metric(judging.metric)
    options = replace(options, vectors=0)
    config = None if judging.config is None else Path(judging.config)
    labels = _labels(Path(data))
    scores: list[EngineScore] = []
    for place, name in enumerate(names):
        with open_engine(name, file_of(model), options, Opening(toolkit=judging.toolkit)) as opened:
            samples = open_samples(Path(data), opened.inputs, config, judging.limit)
            told = _told(judging.progress, place, len(names))
            scores.append(_score(opened, samples, _fitting(labels, samples, judging.limit), (name, judge, told)))
    first = scores[0]
    return Evaluation(judging.metric, first.value, first.count, first.images_per_s, first.engine, tuple(scores))


def _engines(judging: Judging) -> list[str]:
    """The engines by name; LAM-API-001 for a name nobody knows."""
    names = judging.engine.split(",") if isinstance(judging.engine, str) else list(judging.engine)
    if not names:
        raise EngineUnknown("none is named", where="engine")
    for name in names:
        check_engine(name)
    return names


def _score(engine: Engine, samples: Samples, labels: Array, how: tuple[str, Metric, Progress | None]) -> EngineScore:
    """What an engine of a name gets by a metric."""
    name, judge, progress = how
    right, seconds = 0, 0.0
    for index in range(samples.count):
        sample = samples[index]
        start = time.perf_counter()
        outputs = engine.run(sample)
        seconds += time.perf_counter() - start
        right += judge(_first(outputs), int(labels[index]))
        if progress is not None:
            progress(index + 1, samples.count)
    rate = samples.count / max(seconds, 1e-9)
    return EngineScore(name, right / samples.count, right, samples.count, rate, engine.note)


def _told(progress: Progress | None, place: int, engines: int) -> Progress | None:
    """Progress over all engines."""
    if progress is None:
        return None
    return lambda done, count: progress(place * count + done, engines * count)


def _first(outputs: Mapping[str, Array]) -> Array:
    return next(iter(outputs.values())).reshape(-1)


def _metric(name: str) -> Metric:
    places = {"top1": 1, "top5": 5}
    if name not in places:
        raise MetricUnknown(f"no metric {name!r}")

    def judge(scores: Array, label: int) -> bool:
        if not 0 <= label < scores.size:
            raise DataDoesNotFit(f"label {label}, the model's first output has {scores.size} numbers", where="y")
        if places[name] == 1:
            return int(np.argmax(scores)) == label
        return label in np.argsort(-scores.astype(np.float64), kind="stable")[: places[name]]

    return judge


def _labels(data: Path) -> Array:
    y = need(read_npz(data, ("y",)), "y", str(data))
    if y.ndim != 1 or y.dtype.kind not in "iu":
        raise DataDoesNotFit(f"y is {y.dtype}{list(y.shape)}, not one whole number per sample", where=str(data))
    return y


def _fitting(labels: Array, samples: Samples, limit: int | None) -> Array:
    """The labels, when there are as many as samples."""
    if len(labels) < samples.count or (limit is None and len(labels) != samples.count):
        raise DataDoesNotFit(f"{len(labels)} labels for {samples.count} samples", where=samples.where)
    return labels
