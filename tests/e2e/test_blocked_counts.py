"""What the cost models of kernels say of a layer is what the emulated chip counts: blocks in C within a quarter, those
of the DSP extension and of Helium within a tenth, in instructions as in cycles."""

from __future__ import annotations

import math
import re
from collections import defaultdict
from itertools import product
from pathlib import Path
from typing import Any

import pytest

import codegen
from benchmarks import layers, low_bit_layers
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
@pytest.mark.parametrize(("chip", "kernels"), [("cortex-m4", "dsp_"), ("cortex-m55", "mve_")])
@pytest.mark.parametrize("network", ["kws", "resnet8", "vww"])
def test_assembly_agrees_with_counts(network: str, chip: str, kernels: str) -> None:
    ready(chip)
    model = shared_dir() / "models" / "mlperf_tiny" / f"{network}_int8.tflite"
    assert held(model, chip, kernels, least=_LEAST_MACS) >= 7


@pytest.mark.slow
@pytest.mark.parametrize(
    ("dtype", "weighted", "requant", "count"),
    [
        ("s8", True, "single", 59),
        ("s8", True, "tflite", 59),
        ("s8", True, "ort", 59),
        ("s4", True, "single", 57),
        ("s8", False, "single", 42),
        ("s8", False, "tflite", 42),
    ],
)
def test_layers_of_many_sizes_agree_with_counts(
    dtype: str, weighted: bool, requant: Any, count: int, tmp_path: Path
) -> None:
    ready("cortex-m55")
    model = tmp_path / "layers.onnx"
    model.write_bytes(layers.model(dtype, weighted=weighted, rectified=weighted and requant == "tflite"))
    assert held(model, "cortex-m55", "mve_", requant=requant) >= count


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["s4", "u4", "s2"])
@pytest.mark.parametrize("name", ["two outputs", "dense", "3x3", "line to three", "3x3 to two"])
def test_weights_of_few_bits_agree_with_counts(name: str, kind: str, tmp_path: Path) -> None:
    ready("rv32imc")
    model = tmp_path / "layer.onnx"
    model.write_bytes(low_bit_layers.layer(name, 8, kind))
    assert held(model, "rv32imc", "blocked_") == 1


def held(model: Path, chip: str, kernels: str, least: int = 0, **words: Any) -> int:
    """Hold what kernels of these names say of layers of so many products against counts; how many layers there are."""
    compiled = compile_file(model, Options(target=chip, vectors=0, **words))
    said: dict[str, tuple[float, float]] = {}
    for index, form in compiled.kernels.items():
        view = compiled.graph.view(compiled.graph.nodes[index])
        if form.mix and form.kernel.startswith(kernels):
            rows = math.prod(view.outs[0].shape[:-2])
            said[view.name] = (rows * form.mix.instructions, rows * estimated_cycles(form.mix, compiled.target.cycles))
    found = {x.name: x for x in codegen.profile(model, chip, cycles=True, **words).layers if x.macs >= least}
    counted = {name: (found[name].instructions or 0, found[name].cycles or 0) for name in said if name in found}
    for name, (instructions, cycles) in counted.items():
        assert instructions == pytest.approx(said[name][0], rel=_CLOSE[found[name].kernel]), name
        assert cycles == pytest.approx(said[name][1], rel=_CLOSE[found[name].kernel]), name
    return len(counted)
