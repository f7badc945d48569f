"""What the cost models of kernels say of a layer is what the emulated chip counts: blocks in C within a quarter, those
of the DSP extension within a tenth, in instructions as in cycles."""

from __future__ import annotations

import math
import re
from collections import defaultdict
from itertools import product

import pytest

import codegen
from codegen.kernels.choose import estimated_cycles
from codegen.options import Goal
from codegen.pipeline import Options, compile_file
from tests.e2e.test_profile import ready
from tests.support.shared import shared_dir

_LEAST_MACS = 10_000
"""Of smaller layers the call is a large part, which the model leaves out."""
_CLOSE = defaultdict(lambda: 0.1, dsp_window_panels=0.15)
"""How far off counts may be: columns of a window are made in many ways."""


@pytest.mark.slow
@pytest.mark.parametrize(
    ("chip", "goal"),
    [*product(("cortex-m3", "rv32imc"), ("balanced", "speed")), ("cortex-m0plus", "balanced")],
)
@pytest.mark.parametrize("network", ["kws", "resnet8"])
def test_the_model_agrees_with_counts(chip: str, goal: Goal, network: str) -> None:
    ready(chip)
    model = shared_dir() / "models" / "mlperf_tiny_onnx" / f"{network}_qdq.onnx"
    compiled = compile_file(model, Options(target=chip, goal=goal, vectors=0))
    said: dict[str, float] = {}
    for index, form in compiled.kernels.items():
        view = compiled.graph.view(compiled.graph.nodes[index])
        found = re.search(r"([\d.]+) instructions per product", form.why)
        if found:
            said[view.name] = float(found[1])
    layers = codegen.profile(model, chip, goal=goal).layers
    counted = {x.name: (x.instructions or 0) / x.macs for x in layers if x.macs > _LEAST_MACS}
    assert len(counted) >= 9
    ratios = {name: counted[name] / said[name] for name in counted}
    assert all(0.8 < ratio < 1.25 for ratio in ratios.values()), ratios


@pytest.mark.slow
@pytest.mark.parametrize("network", ["kws", "resnet8", "vww"])
def test_blocks_of_the_dsp_extension_agree_with_counts(network: str) -> None:
    ready("cortex-m4")
    model = shared_dir() / "models" / "mlperf_tiny" / f"{network}_int8.tflite"
    compiled = compile_file(model, Options(target="cortex-m4", vectors=0))
    said: dict[str, tuple[float, float]] = {}
    for index, form in compiled.kernels.items():
        view = compiled.graph.view(compiled.graph.nodes[index])
        if form.mix and form.kernel.startswith("dsp_"):
            rows = math.prod(view.outs[0].shape[:-2])
            said[view.name] = (rows * form.mix.instructions, rows * estimated_cycles(form.mix, compiled.target.cycles))
    layers = {x.name: x for x in codegen.profile(model, "cortex-m4", cycles=True).layers if x.macs > _LEAST_MACS}
    counted = {name: (layers[name].instructions or 0, layers[name].cycles or 0) for name in said if name in layers}
    assert len(counted) >= 7
    for name, (instructions, cycles) in counted.items():
        assert instructions == pytest.approx(said[name][0], rel=_CLOSE[layers[name].kernel]), name
        assert cycles == pytest.approx(said[name][1], rel=_CLOSE[layers[name].kernel]), name
