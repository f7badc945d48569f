"""What a float TFLite file would be once quantized, where a layer reads what cannot be."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from codegen.frontends.tflite.survey import survey_tflite
from tests.support.tflite_models import Model


def test_a_product_with_whole_numbers_has_no_scale(tmp_path: Path) -> None:
    model = Model()
    x, y = model.input((1, 2, 2, 3), "int32"), model.output((1, 2, 2, 2), "float32")
    weights, bias = model.const(np.ones((2, 1, 1, 3), np.float32)), model.const(np.ones(2, np.float32))
    model.op("CONV_2D", [x, weights, bias], [y], "Conv2DOptions", StrideH=1, StrideW=1)
    path = tmp_path / "m.tflite"
    path.write_bytes(model.bytes())
    assert survey_tflite(path, mode="tflite").problems
