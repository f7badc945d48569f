"""What planning costs, counted in the work that it does: groups looked at, demand processes run, blocks moved.

Seconds are benchmarks/compile_time.py's.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from codegen.options import Options
from codegen.passes import contract
from codegen.pipeline import reach, read_model
from codegen.planning import met
from codegen.schedule.climb import Pile
from codegen.schedule.demand import Process
from codegen.schedule.groups import Grouping
from tests.support.networks import in_float, uneven
from tests.support.real_tflite import model_path

WORK: tuple[tuple[str, Any, str], ...] = (
    ("graphs checked", contract, "verify_graph"),
    ("groups", Grouping, "_candidate"),
    ("demand processes", Process, "run"),
    ("steps of them", Process, "_advance"),
    ("blocks put down", Pile, "_lowest"),
)
MOBILENET = {
    "graphs checked": 8,
    "groups": 500,
    "demand processes": 500,
    "steps of them": 300_000,
    "blocks put down": 2_000,
}
"""Of MobileNetV2 at 224 x 224, whose plan is to take no more than three seconds."""


def effort(model: Path, patch: pytest.MonkeyPatch) -> Counter[str]:
    """How often each kind of work is done for a model's plan."""
    found: Counter[str] = Counter()

    def counted(what: str, work: Callable[..., Any]) -> Callable[..., Any]:
        def call(*args: Any, **words: Any) -> Any:
            found[what] += 1
            return work(*args, **words)

        return call

    with patch.context() as patched:
        for what, where, name in WORK:
            patched.setattr(where, name, counted(what, getattr(where, name)))
        target, options = met(Options(target="generic"), model)
        assert reach(read_model(model, options, target), target, options).plan is not None
    return found


def test_the_plan_of_a_mobilenet_takes_little_work(monkeypatch: pytest.MonkeyPatch) -> None:
    found = effort(model_path("mobilenet_v2_int8"), monkeypatch)
    assert set(found) == set(MOBILENET)
    assert {what: count for what, count in found.items() if count > MOBILENET[what]} == {}


@pytest.mark.slow
def test_work_grows_with_the_operators_and_not_with_their_square(monkeypatch: pytest.MonkeyPatch) -> None:
    """Four times as many operators, hardly two alike: six times the work at most."""
    small, large = (
        effort(in_float(f"uneven_{count}_f32", lambda count=count: uneven(count)), monkeypatch)  # type: ignore[misc]
        for count in (100, 400)
    )
    assert {what: (small[what], large[what]) for what in small if large[what] > 6 * small[what]} == {}
