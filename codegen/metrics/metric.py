"""What a metric is: it says which labels it reads, judges one sample, and totals the verdicts of all."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Protocol

from codegen.errors import DataDoesNotFit
from codegen.ir.quant import Array
from codegen.records import record


@record(eq=False)
class Seen:
    """One sample as the network took it and what it answered, by the model's names.

    Integers are the reals that they mean, where the metric wants these.
    """

    inputs: Mapping[str, Array]
    outputs: Mapping[str, Array]

    @property
    def first(self) -> Array:
        """The first output."""
        return next(iter(self.outputs.values()))

    @property
    def given(self) -> Array:
        """The first input."""
        return next(iter(self.inputs.values()))


@record
class Score:
    """A number and its unit: `share` is 0 .. 1 and shown in percent, others are shown as they are.

    More is better, but of a `rate` (of errors).

    `right`: how many samples are right, where a sample is right or wrong.
    """

    value: float
    unit: str = "share"
    right: int | None = None


_POINTS = {"share": 100, "area": 100, "rate": -100}


def points_lost(unit: str, before: float, after: float) -> float:
    """How much worse a score is: a point is a hundredth of a share, an area or a rate, and one of any other unit."""
    return _POINTS.get(unit, 1) * (before - after)


class Metric(Protocol):
    """How good a network's answers are; it and its verdicts travel between processes."""

    @property
    def keys(self) -> tuple[str, ...]:
        """The arrays that it reads from the data beside the samples; the first must be there."""
        ...

    @property
    def real(self) -> bool:
        """Whether it wants the reals that a network's integers mean, or their order is enough."""
        ...

    def truths(self, arrays: Mapping[str, Array], where: str) -> Sequence[Any]:
        """What is true of each sample, in their order; LAM-API-005 for arrays that are something else."""
        ...

    def judge(self, seen: Seen, truth: Any) -> Any:
        """What is to be known of one sample."""
        ...

    def total(self, verdicts: Sequence[Any]) -> Score:
        """The score of all samples, whose verdicts stand in their order."""
        ...


def unfit(found: str, where: str) -> DataDoesNotFit:
    """The refusal of labels that a metric cannot read, or that do not fit what the network answers."""
    return DataDoesNotFit(found, where=where, hint="docs/metrics.md says what each metric reads")


def whole_numbers(arrays: Mapping[str, Array], where: str) -> Array:
    """`y`, one whole number per sample; LAM-API-005 for anything else."""
    y = arrays["y"]
    if y.ndim != 1 or y.dtype.kind not in "iu":
        raise unfit(f"y is {y.dtype}{list(y.shape)}, not one whole number per sample", where=where)
    return y


def class_scores(seen: Seen, label: int) -> Array:
    """The first output as one number per class; LAM-API-005 for a label that is no class."""
    scores = seen.first.reshape(-1)
    if not 0 <= label < scores.size:
        raise unfit(f"label {label}, the model's first output has {scores.size} numbers", where="y")
    return scores
