"""Kernels of more scratch where the arena has bytes to spare: at the peak they stay as they are, and none grows it."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from codegen.build import Net
from codegen.ir.form import Form
from codegen.kernels import TABLE
from codegen.options import Options
from codegen.pipeline import Reached, reach, read_model
from codegen.planning import met
from codegen.toolkit import HOUSE, Toolkit
from tests.support.real_tflite import model_path

PANELS = replace(TABLE, kernels=tuple(k for k in TABLE.kernels if not k.name.startswith("dsp_winograd")))
ROOM = replace(HOUSE, table=PANELS)
NO_ROOM = replace(HOUSE, table=replace(PANELS, kernels=tuple(replace(k, roomier=None) for k in PANELS.kernels)))


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A large map first, which is the peak, and one of many channels behind it, both with large columns."""
    net, rng = Net("room"), np.random.default_rng(3)

    def conv(x: object, outputs: int, inputs: int, stride: int) -> object:
        weights = rng.integers(-127, 128, (outputs, inputs, 3, 3)).astype(np.int8)
        held = net.weights(weights, np.full(outputs, 0.002, np.float32), axis=0)
        return net.quantized(net.onnx.Conv(x, held, pads=[1] * 4, strides=[stride] * 2), 0.1)

    x = net.quantized(net.input("image", (1, 32, 24, 24)), 0.05)
    y = conv(conv(conv(x, 32, 32, 1), 64, 32, 4), 64, 64, 1)
    net.output(y, "y")
    path = tmp_path_factory.mktemp("room") / "room.onnx"
    path.write_bytes(net.to_onnx())
    return path


def reached(model: Path, tools: Toolkit = ROOM, **asked: object) -> Reached:
    target, options = met(Options(target="cortex-m4", **asked), model)  # type: ignore[arg-type]
    return reach(read_model(model, options, target), target, options, tools)


def by_row(found: Reached) -> list[bool]:
    forms: list[Form] = [found.kernels[i] for i in sorted(found.kernels)]
    return [form.context.by_row for form in forms if form.kernel == "dsp_window_panels"]


@pytest.mark.parametrize("goal", ["balanced", "memory", "speed"])
def test_columns_are_whole_but_at_the_peak(model: Path, goal: str) -> None:
    lean, roomy = reached(model, NO_ROOM, goal=goal), reached(model, goal=goal)
    assert by_row(lean) == [True, True, True]
    assert by_row(roomy)[0]
    assert not all(by_row(roomy))
    assert lean.plan
    assert roomy.plan
    assert roomy.plan.arena_bytes <= lean.plan.arena_bytes


def test_a_limit_that_is_met_without_room_is_met(model: Path) -> None:
    """Down to the smallest arena, with whole columns or without."""
    smallest = reached(model, NO_ROOM, goal="memory").plan
    assert smallest
    for tools in (ROOM, HOUSE):
        for limit in range(smallest.arena_bytes, smallest.arena_bytes + 3000, 500):
            plan = reached(model, tools, arena_limit=limit).plan
            assert plan
            assert plan.arena_bytes <= limit


def test_a_limit_that_no_fast_kernel_meets_is_met_with_less_scratch_where_it_must_be(model: Path) -> None:
    smallest = reached(model, HOUSE, goal="memory").plan
    assert smallest
    found = reached(model, HOUSE, arena_limit=smallest.arena_bytes - 100)
    assert found.plan
    assert found.plan.arena_bytes <= smallest.arena_bytes - 100
    first, *_, last = (found.kernels[i] for i in sorted(found.kernels) if found.kernels[i].params)
    assert first.kernel == "blocked_conv"
    assert last.kernel == "dsp_window_panels", "beside which there is room"


@pytest.mark.parametrize("core", ["cortex-m4", "cortex-m55"])
def test_person_detection_runs_in_its_input_and_one_row(core: str) -> None:
    """96 x 96 x 3 bytes and 48 x 8: the kernels that these cores have for the first layer otherwise take scratch."""
    path = model_path("vww_int8")
    target, options = met(Options(target=core, arena_limit=27648 + 384), path)
    found = reach(read_model(path, options, target), target, options)
    assert found.plan
    assert found.plan.arena_bytes == 27648 + 384
    plain = [form.kernel for form in found.kernels.values() if form.kernel in ("blocked_conv", "conv2d")]
    assert plain == ["blocked_conv"], "the first layer alone"


def test_weights_that_may_not_grow_keep_their_form(model: Path) -> None:
    """Whole columns repeat nothing, but their factors lie in words: a few bytes that goal `size` may not have left."""
    lean, roomy = reached(model, NO_ROOM), reached(model)
    grown = [
        roomy.kernels[i].params_bytes - form.params_bytes for i, form in lean.kernels.items() if i in roomy.kernels
    ]
    assert 0 < sum(grown) <= max(512, sum(form.params_bytes for form in lean.kernels.values()) // 50)


def test_weights_that_come_through_a_buffer_are_left_as_they_are(model: Path) -> None:
    assert by_row(reached(model, weights_buffer=16384, weights="blob")) == [True, True, True]
