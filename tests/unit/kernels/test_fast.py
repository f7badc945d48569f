"""Which form a requantization has, and that form `raised` is mode `single` to the bit."""

from __future__ import annotations

import numpy as np
import pytest

from codegen import fixedpoint
from codegen.ir.quant import Requant
from codegen.kernels.fast import RAISED, fast_fields, fast_requant

REACH = (1 << 31 - RAISED) - 1
"""The largest sum that form `raised` takes."""
SHIFTS = (27, 29, 32, 33, 40, 58, 62)


def single(*shifts: int, multiplier: int = 1 << 30) -> Requant:
    return Requant("single", 3, -128, 127, (multiplier,) * len(shifts), shifts)


@pytest.mark.parametrize(
    ("shifts", "reach", "form"),
    [
        ((33, 40), REACH + 1, "single"),
        ((32, 40), REACH, "raised"),
        ((32, 40), REACH + 1, ""),
        ((27, 62), 1000, "raised"),
        ((26, 62), 1000, ""),
    ],
)
def test_large_factors_raise_sums_that_have_room(shifts: tuple[int, ...], reach: int, form: str) -> None:
    assert fast_requant(single(*shifts), reach).form == form


def test_channels_of_factor_zero_do_not_ask_for_raised_sums() -> None:
    assert fast_requant(Requant("single", 3, -128, 127, (0, 1 << 30), (1, 33)), 1000).form == "single"


@pytest.mark.parametrize("multiplier", [1 << 30, 1_234_567_891, (1 << 31) - 1])
def test_raised_sums_give_what_the_mode_gives(multiplier: int) -> None:
    """What lam_twice_raised and lam_halved_s8 compute, with the factors that kernels store."""
    requant = single(*SHIFTS, multiplier=multiplier)
    found = {field.name: field.values for field in fast_fields(requant, REACH, len(SHIFTS))}
    near = np.arange(-3000, 3000)
    acc = np.concatenate([near, np.random.default_rng(0).integers(-REACH, REACH, 20_000), [-REACH, REACH]])
    for i, shift in enumerate(SHIFTS):
        high = (acc << RAISED) * int(found["multiplier"][i]) >> 32
        made = np.clip(((high >> int(found["shift"][i])) + 2 * 3 + 1) >> 1, -128, 127)
        assert found["shift"][i] <= 31
        assert (made == fixedpoint.requantize_single(acc, multiplier, shift, 3, -128, 127)).all()
