"""Functions of float32 numbers against Python's own, on numbers where definitions part."""

from __future__ import annotations

import math

import numpy as np
import pytest

from codegen.errors import InputsDoNotFit
from codegen.ir.quant import Array, DType, TensorType
from codegen.ops.float32 import FloatBinary, FloatClip, FloatUnary

EDGES = np.array(
    [0.0, -0.0, 1e-45, -1e-45, 1e-38, 0.5, -0.5, 1.5, 2.5, -2.5, 8388607.5, 3e9, -3e38, 3e38, np.inf, -np.inf, np.nan],
    np.float32,
)


def bits(x: Array) -> Array:
    """The bits of each number; one pattern for all that are none."""
    return np.where(np.isnan(x), np.uint32(0x7FC00000), np.asarray(x, np.float32).view(np.uint32))


def unary(name: str, *numbers: float) -> Array:
    return FloatUnary(name, numbers).golden([EDGES])[0]


def test_rounding_keeps_the_sign_of_zero_and_what_is_no_number() -> None:
    whole = {"floor": math.floor, "ceil": math.ceil, "round": round}
    for name, of in whole.items():
        expected = [math.copysign(of(float(v)), v) if math.isfinite(v) else v for v in EDGES.tolist()]
        assert np.array_equal(bits(unary(name)), bits(np.array(expected, np.float32))), name


def test_comparisons_let_nan_fail() -> None:
    assert np.isnan(unary("relu")[-1])
    assert np.isnan(unary("sign")[-1])
    assert unary("thresholded_relu", 1.0)[-1] == 0
    assert np.isnan(FloatClip(-1.0, 1.0).golden([EDGES])[0][-1])
    assert unary("shrink", 0.5, 0.5)[-1] == 0


@pytest.mark.parametrize("name", ["maximum", "minimum"])
def test_extremes_of_two_are_numpys_and_the_first_of_equal_ones(name: str) -> None:
    a, b = np.meshgrid(EDGES, EDGES)
    y = FloatBinary(name).golden([a, b])[0]
    assert np.array_equal(y, getattr(np, name)(a, b), equal_nan=True)
    assert np.array_equal(bits(y)[a == b], bits(a)[a == b])


def test_remainders_are_those_of_python() -> None:
    a, b = np.meshgrid(EDGES[:-3], EDGES[2:-3])
    exact = [math.fmod(float(p), float(q)) for p, q in zip(a.flat, b.flat, strict=True)]
    assert np.array_equal(bits(FloatBinary("fmod").golden([a, b])[0]).ravel(), bits(np.array(exact, np.float32)))
    y = FloatBinary("mod").golden([a, b])[0]
    assert np.array_equal(bits(y), bits(np.mod(a, b)))


def test_numbers_and_types_must_fit() -> None:
    with pytest.raises(InputsDoNotFit, match="leaky_relu takes 1 numbers, got 0"):
        FloatUnary("leaky_relu").infer([TensorType((2,), DType.F32)])
    with pytest.raises(InputsDoNotFit, match="takes f32, got s8"):
        FloatUnary("relu").infer([TensorType((2,), DType.S8)])
    with pytest.raises(InputsDoNotFit, match="takes f32"):
        FloatBinary("add").infer([TensorType((2,), DType.F32), TensorType((2,), DType.S8)])
    with pytest.raises(InputsDoNotFit, match="bound nothing"):
        FloatClip(-math.inf, math.inf).infer([TensorType((2,), DType.F32)])
