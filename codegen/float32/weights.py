"""Weights of real numbers that take fewer bits: which numbers a storage holds, and how it holds them.

float16 and bfloat16 hold each number rounded half to even.  Integers of 8 or 4 bits are steps of a scale per output
(per row of weights), or per `block` weights of it, whose 16 bits make its products with them float32 numbers, not
rounded.  Weights that already are integers times any scale stay what they are.  `u4` also has a zero point for each
scale, so that sixteen neighbouring integers are held wherever they lie, and `u8` so holds 256; what is none of them
already becomes what `s4` and `s8` hold.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from codegen.float32.arrays import BoolArray, Float32Array
from codegen.float32.storage import Uint16Array, from_bf16, from_f16, to_bf16, to_f16

MOST = {"s8": 127, "u8": 255, "s4": 7, "u4": 15}
"""The greatest integer of a storage; the least that it holds is one further from 0."""
_SPANS = {"s8": 255, "u8": 255, "s4": 15, "u4": 15}
"""By how much two integers of one scale may differ."""
_CODES = {"f16": (to_f16, from_f16), "bf16": (to_bf16, from_bf16)}
_CUT = (1.0, 0.95, 0.9, 0.85, 0.8, 0.75, 0.7, 0.65, 0.6)
_SHARES = {"s8": (1.0,), "u8": (1.0,), "s4": _CUT, "u4": _CUT}
"""What the greatest integer may stand for, of an output's greatest weight: the share of the least error is taken."""
_SCALE_BITS = 16
_LEAST_SCALE = 2.0**-100
_GLANCE = 16
"""Weights of a row that are looked at first."""
_FIRST = 4
"""Rows of which it is known first whether they are integers times a scale."""

Integers = npt.NDArray[np.int8] | npt.NDArray[np.int16]


def narrowed(weights: Float32Array, storage: str, block: int = 0) -> Float32Array | None:
    """The numbers next to weights [outputs, ...] that the storage holds; None where one is too large or too small."""
    if not np.isfinite(weights).all():
        return None
    with np.errstate(all="ignore"):
        made = _steps_next_to(_scaled_alike(weights, block), storage) if storage in MOST else _rounded(weights, storage)
    return made.reshape(weights.shape) if made is not None and np.isfinite(made).all() else None


def is_held(weights: Float32Array, storage: str, block: int = 0) -> bool:
    """Whether all weights [outputs, ...] are integers of a storage times scales, or floats of it."""
    rows = _scaled_alike(weights, block)
    if not np.isfinite(rows).all():
        return False
    if storage in _CODES:
        return np.array_equal(_rounded(rows, storage), rows)
    if not _known(rows[:_FIRST], storage)[2].all():
        return False
    _, scales, known = _known(rows, storage)
    return bool(known.all() and (scales >= _LEAST_SCALE).all())


def codes(weights: Float32Array, storage: str) -> Uint16Array:
    """The 16 bits of each number, which a float16 or bfloat16 is."""
    made = _CODES[storage][0](weights)
    assert np.array_equal(_CODES[storage][1](made), weights), "numbers that the storage holds"
    return made


def steps(weights: Float32Array, storage: str, block: int = 0) -> tuple[Integers, Float32Array]:
    """Weights [outputs, ...] as integers of their shape and scales [outputs, blocks], whose products they are."""
    integers, scales, known = _known(_scaled_alike(weights, block), storage)
    assert known.all(), "numbers that the storage holds"
    return integers.reshape(weights.shape), scales.reshape(len(weights), -1)


def _scaled_alike(weights: Float32Array, block: int) -> Float32Array:
    """Rows of weights that have one scale: those of an output, or each `block` of them."""
    return weights.reshape(-1, block) if block else weights.reshape(len(weights), -1)


def _rounded(weights: Float32Array, storage: str) -> Float32Array:
    to, back = _CODES[storage]
    return back(to(weights))


def _steps_next_to(rows: Float32Array, storage: str) -> Float32Array | None:
    integers, scales, known = _known(rows, storage)
    most = min(MOST[storage], _SPANS[storage] // 2)
    for i in np.flatnonzero(~known):
        integers[i], scales[i] = _fitted(rows[i], most, _SHARES[storage])
    expanded = integers.astype(np.float32) * scales[:, None]
    return None if (scales < _LEAST_SCALE).any() else expanded


def _fitted(row: Float32Array, most: int, shares: tuple[float, ...]) -> tuple[Integers, float]:
    """The integers and the scale of the least error, of the first where several have it."""
    exact, largest = row.astype(np.float64), float(np.abs(row).max())
    found = []
    for share in shares:
        scale = _short(share * largest / most)
        integers = np.clip(np.rint(exact / scale), -most, most)
        found.append((float(((integers * scale - exact) ** 2).sum()), scale, integers))
    _, scale, integers = min(found, key=lambda f: f[0])
    return integers.astype(np.int8), scale


def _short(scale: float) -> float:
    """The least number of few bits that is not below."""
    mantissa, exponent = np.frexp(scale)
    return float(np.ldexp(np.ceil(np.ldexp(mantissa, _SCALE_BITS)), int(exponent) - _SCALE_BITS))


def _known(rows: Float32Array, storage: str) -> tuple[Integers, Float32Array, BoolArray]:
    """Integers and scales of the rows that are such products, and which rows these are; of zeros the scale is 1."""
    most = MOST[storage]
    integers, scales = np.zeros(rows.shape, np.min_scalar_type(-most - 1)), np.ones(len(rows), np.float32)
    largest = np.abs(rows).max(axis=1, initial=0)
    known = largest == 0
    for top in (*range(most, 0, -1), most + 1):
        for scale in _near(largest / np.float32(top)):
            left = np.flatnonzero(~known)
            left = left[_are_steps(rows[left, :_GLANCE], scale[left], storage)]
            left = left[_are_steps(rows[left], scale[left], storage)]
            integers[left], scales[left] = np.rint(rows[left] / scale[left, None]), scale[left]
            known[left] = True
    return integers, scales, known


def _near(scale: Float32Array) -> tuple[Float32Array, ...]:
    """A quotient and its neighbours: one of them is the scale that the dividend is a rounded product of."""
    return scale, np.nextafter(scale, np.float32(0)), np.nextafter(scale, np.float32(np.inf))


def _are_steps(rows: Float32Array, scale: Float32Array, storage: str) -> BoolArray:
    most = MOST[storage]
    with np.errstate(all="ignore"):
        integers = np.rint(rows / scale[:, None])
        same = (integers * scale[:, None] == rows) & (integers <= most) & (integers >= -most - 1)
        near = np.ptp(integers, axis=1) <= _SPANS[storage]
    return np.asarray(same.all(axis=1) & near)
