"""Real topologies of up to hundreds of layers: every plan is sound, and the C equals the golden model."""

from __future__ import annotations

import pytest

from codegen.api import verify
from codegen.options import Goal
from codegen.pipeline import Options, compile_file
from tests.support.light import LIGHT, light_path

pytestmark = pytest.mark.slow

RUN = ("densenet121", "shufflenet", "squeezenet", "inception_v1", "inception_v2", "resnet50")
"""Those that are run; the weights of vgg19 are too many."""


@pytest.mark.parametrize("streamed", [False, True], ids=["resident", "streamed"])
@pytest.mark.parametrize("goal", ["memory", "balanced", "speed"])
@pytest.mark.parametrize("name", LIGHT)
def test_every_plan_is_sound(name: str, goal: Goal, streamed: bool) -> None:
    """The shadow run is part of compiling; what it saw agrees with the plan."""
    options = Options(weights="blob", vectors=0, goal=goal, stream_input=streamed)
    made = compile_file(light_path(name), options)
    assert made.shadow.touched_bytes <= made.plan.arena_bytes
    assert made.plan.lower_bound_bytes <= made.plan.arena_bytes
    assert made.manifest["recomputed_macs"] == 0


@pytest.mark.parametrize("streamed", [False, True], ids=["resident", "streamed"])
@pytest.mark.parametrize("name", RUN)
def test_golden_and_c_are_equal_at_the_smallest_arena(name: str, streamed: bool) -> None:
    result = verify(light_path(name), weights="blob", goal="memory", stream_input=streamed, samples=1)
    assert result.equal, result.first_difference and result.first_difference.text()
    assert result.tensors_checked > 30
