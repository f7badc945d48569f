"""Arrays as C spells them: every value comes back, and lines are as full as they may be."""

from __future__ import annotations

import numpy as np
import pytest

from codegen.emit import array_lines
from codegen.ir.quant import Array

COLUMNS = 110


def values(dtype: str, count: int) -> Array:
    """Of every length that the type's literals have, its extremes among them."""
    rng = np.random.default_rng(count)
    if dtype == "float32":
        return np.asarray(rng.standard_normal(count) * 10.0 ** rng.integers(-9, 9, count), np.float32)
    limits = np.iinfo(dtype)
    drawn = rng.integers(limits.min, limits.max, count, dtype=dtype, endpoint=True)
    drawn >>= rng.integers(0, limits.bits, count).astype(dtype)
    drawn[::5] = limits.min
    return drawn


def read_back(token: str) -> float:
    """A literal's value."""
    if token == "(-2147483647 - 1)":
        return -(2**31)
    if token.startswith("0x"):
        return int(token.removesuffix("u"), 16)
    return float(token.removesuffix("f"))


@pytest.mark.parametrize("dtype", ["int8", "uint8", "int16", "int32", "uint32", "float32"])
def test_lines_of_an_array_give_it_back_and_take_what_has_room(dtype: str) -> None:
    for count in (1, 7, 8, 22, 23, 300):
        array = values(dtype, count)
        lines = [line.removesuffix(",").split(", ") for line in array_lines(array)]
        assert [np.array(read_back(t), dtype) for line in lines for t in line] == array.tolist()
        assert all(len(line) <= COLUMNS and line.endswith(",") for line in array_lines(array))
        for line, after in zip(array_lines(array), lines[1:], strict=False):
            assert len(f"{line} {after[0]},") > COLUMNS


def test_an_array_of_nothing_is_one_empty_line() -> None:
    assert array_lines(np.zeros(0, np.int8)) == ("",)
