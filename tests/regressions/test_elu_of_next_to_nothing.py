"""ELU near zero has TFLite's steps: an exponential in float32, less 1."""

from __future__ import annotations

import numpy as np

from codegen.ops.tflite_tables import elu


def test_elu_near_zero_has_the_steps_of_a_float32_exponential() -> None:
    x = np.array([-5.4389e-7, -1.0431e-7, 0.0, 3e-7, -2.0], np.float32)
    y = elu(x)
    assert (y[:2] * 2.0**24).tolist() == [-9.0, -2.0]
    assert y[2:4].tolist() == x[2:4].tolist()
    assert abs(y[4] - np.expm1(-2.0)) < 1e-7
