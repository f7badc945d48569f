"""Packing may fill channels and taps, but the weights of a model grow by 2 % at most."""

from __future__ import annotations

from pathlib import Path

import pytest

from codegen.pipeline import Options, compile_file
from tests.shared import shared_dir

CHIPS = ("cortex-m0plus", "cortex-m3", "cortex-m4", "cortex-m55", "rv32imc", "host")
PLAIN = "generic"
"""Its kernels store what was trained, and the factors and shifts that all kernels need."""
MOST = 0.02
ONE_FACTOR = {("ad", "cortex-m55"): 0.035}
"""Helium reads factors with the weights, channel by channel, also where the layer has one for all."""


def weights_bytes(model: Path, target: str) -> int:
    return compile_file(model, Options(target=target, vectors=0)).program.params_bytes


@pytest.mark.parametrize("network", ["resnet8", "kws", "vww", "ad"])
def test_packed_weights_are_hardly_larger(network: str) -> None:
    model = shared_dir() / "models" / "mlperf_tiny" / f"{network}_int8.tflite"
    plain = weights_bytes(model, PLAIN)
    grown = {chip: weights_bytes(model, chip) / plain - 1 for chip in CHIPS}
    for chip, share in grown.items():
        assert share <= ONE_FACTOR.get((network, chip), MOST), (chip, share)
