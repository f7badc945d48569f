"""What the cost model of blocked kernels says of a layer is what the emulated chip counts, within a quarter."""

from __future__ import annotations

import re
from itertools import product

import pytest

import codegen
from codegen.options import Goal
from codegen.pipeline import Options, compile_file
from tests.e2e.test_profile import ready
from tests.support.shared import shared_dir

_LEAST_MACS = 10_000
"""Of smaller layers the call is a large part, which the model leaves out."""


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
