"""Kinds of arrays that the functions of float32 work on, and how they go through large ones."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt

Float32Array = npt.NDArray[np.float32]
Int64Array = npt.NDArray[np.int64]
BoolArray = npt.NDArray[np.bool_]
Ints = int | Int64Array

BLOCK = 1 << 14
"""Numbers that a function works on at a time, so that what it keeps in between stays in the cache."""


def by_blocks(function: Callable[[Float32Array], Float32Array]) -> Callable[[npt.NDArray[Any]], Float32Array]:
    """A function of one row of numbers takes arrays of every shape and size."""

    @functools.wraps(function)
    def over_all(x: npt.NDArray[Any]) -> Float32Array:
        row = np.asarray(x, np.float32).reshape(-1)
        result = np.empty_like(row)
        for first in range(0, row.size, BLOCK):
            result[first : first + BLOCK] = function(row[first : first + BLOCK])
        return result.reshape(np.shape(x))

    return over_all


def by_pairs(function: Callable[[Float32Array, Float32Array], Float32Array]) -> Callable[..., Float32Array]:
    """A function of two rows of numbers takes arrays that are broadcast as numpy does."""

    @functools.wraps(function)
    def over_all(x: npt.NDArray[Any], y: npt.NDArray[Any]) -> Float32Array:
        first, second = np.broadcast_arrays(np.asarray(x, np.float32), np.asarray(y, np.float32))
        a, b = np.ascontiguousarray(first).reshape(-1), np.ascontiguousarray(second).reshape(-1)
        result = np.empty(a.shape, np.float32)
        for start in range(0, a.size, BLOCK):
            end = start + BLOCK
            result[start:end] = function(a[start:end], b[start:end])
        return result.reshape(first.shape)

    return over_all
