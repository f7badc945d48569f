"""Activations of float32 against double precision, far below 0 too, and where definitions part."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
import pytest

from codegen.float32 import swish
from codegen.ir.quant import Array
from codegen.ops.float32 import FloatUnary
from tests.support.float_activations import PLAIN, SELU, elu, selu, sigmoid
from tests.support.float_activations import swish as plain_swish

ONES = (1.0,)
CASES: dict[str, tuple[tuple[float, ...], Callable[[float], float]]] = {
    **{name: ((), of) for name, of in PLAIN.items()},
    "celu": (ONES, elu),
    "elu": (ONES, elu),
    "expm1": ((), math.expm1),
    "selu": (SELU, selu),
    "swish": (ONES, plain_swish),
}
MOST = {"selu": 2.0}
"""Units in the last place; one where nothing stands here."""
EDGES = np.float32([-np.inf, -3e38, -150.0, -1e-45, -0.0, 0.0, 1e-45, 150.0, 3e38, np.inf, np.nan])
FAR_BELOW = {"softplus": 0.0, "celu": -1.0, "elu": -1.0, "expm1": -1.0, "selu": float(np.float32(-SELU[0] * SELU[1]))}
"""What a function has below 0 where little is left of it; -0 where nothing stands here."""


def applied(name: str, x: Array) -> Array:
    return FloatUnary(name, CASES[name][0]).golden([x])[0]


def spread() -> Array:
    """All sizes below 88 in both signs, each as often, then those about 1, and what lies down to the last result."""
    rng = np.random.default_rng(21)
    sizes = 2 ** rng.uniform(-30, math.log2(88), 20_000) * rng.choice([-1, 1], 20_000)
    return np.concatenate([sizes, rng.normal(0, 3, 20_000), rng.uniform(-112, 0, 20_000)]).astype(np.float32)


def units(got: Array, wanted: Array) -> Array:
    """How far results lie from true values, in units of the last place that a true value has."""
    return np.asarray(np.abs(got - wanted) / np.spacing(np.maximum(np.abs(wanted), 2.0**-126).astype(np.float32)))


@pytest.mark.parametrize("name", CASES)
def test_results_are_within_units_of_the_true_value(name: str) -> None:
    x = spread()
    wanted = np.array([CASES[name][1](one) for one in x.tolist()])
    found = units(applied(name, x), wanted)
    assert found.max() <= MOST.get(name, 1.0), x[found.argmax()]


@pytest.mark.parametrize("alpha", [-1.0, 0.01, 0.7, 1.702, 40.0])
def test_swish_is_as_exact_with_other_numbers(alpha: float) -> None:
    x, factor = spread(), np.float32(alpha)
    x = x[np.abs(x * factor) < 112]
    wanted = np.array([one * sigmoid(one * float(factor)) for one in x.tolist()])
    assert units(swish(x, factor), wanted).max() <= 1


@pytest.mark.parametrize("name", CASES)
def test_far_from_zero_and_at_it(name: str) -> None:
    """A gated function has x * 0 far below: -0, and NaN of -infinity, as its formula in ONNX has."""
    got, below = applied(name, EDGES), FAR_BELOW.get(name)
    assert np.isnan(got[-1])
    assert got[-2] == np.inf
    if below is None:
        assert np.isnan(got[0])
        assert np.array_equal(got[1:3].view(np.uint32), np.uint32([1 << 31] * 2))
    else:
        assert np.abs(got[:3] - np.float32(below)).max() <= np.spacing(np.float32(max(1, abs(below))))
        assert not (np.signbit(got[:3]).any() and below == 0)
    at_zero = np.float32([math.log(2)] * 2 if name == "softplus" else [0, 0] if name == "celu" else [-0.0, 0.0])
    assert np.array_equal(got[4:6].view(np.uint32), at_zero.view(np.uint32))


def test_swish_of_what_is_infinite_denormal_or_no_number_is_its_formula() -> None:
    some = np.concatenate([EDGES, np.float32([1e-40, 1e20, 2.0])])
    x, alpha = np.meshgrid(some, np.float32([0, -0.0, 1e-40, -1e-40, 3e38, np.inf, np.nan]))
    with np.errstate(all="ignore"):
        shares = [math.nan if np.isnan(z) else sigmoid(float(np.clip(z, -700, 700))) for z in (alpha * x).flat]
        wanted = x * np.reshape(shares, x.shape)
        wanted = np.where(np.isinf(x) & (alpha * x == -np.inf), np.nan, wanted)
        got = swish(x, alpha)
    assert np.array_equal(np.isnan(got), np.isnan(wanted))
    assert np.array_equal(got[np.isinf(wanted)], wanted[np.isinf(wanted)])
    finite = np.isfinite(wanted)
    assert units(got[finite], wanted[finite]).max() <= 1.5
    assert np.array_equal(np.signbit(got[finite]), np.signbit(wanted[finite]))
