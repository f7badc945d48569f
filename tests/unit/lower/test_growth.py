"""What packing adds to the weights, as `inspect` shows it."""

from __future__ import annotations

import codegen
from codegen.pipeline import Options, compile_file
from tests.shared import shared_dir

MODEL = shared_dir() / "models" / "mlperf_tiny" / "ad_int8.tflite"


def test_inspect_shows_what_packing_adds() -> None:
    plain = compile_file(MODEL, Options(target="generic", vectors=0)).program.params_bytes
    packed = compile_file(MODEL, Options(target="cortex-m55", vectors=0)).program.params_bytes
    added = [layer.added_bytes for layer in codegen.inspect(MODEL, "cortex-m55").layers]
    assert min(added) > 0
    assert abs(sum(added) - (packed - plain)) < 16 * len(added)  # the start of each layer's weights is aligned


def test_packing_as_trained_adds_nothing() -> None:
    assert not any(layer.added_bytes for layer in codegen.inspect(MODEL, "generic").layers)
