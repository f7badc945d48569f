"""What rewrites made of tensors' channels, which a quantized model's file tells of in its metadata.

Decides: factors have seven digits in a file; what a file says that fits no tensor is passed over.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Iterator, Mapping
from typing import Any

import numpy as np

from codegen.ir.quant import Array
from codegen.records import record

MOVED_KEY = "lamina.channels"
"""Metadata: a JSON object, from a tensor to the axis of its channels, their factors and what was taken away then."""


@record(eq=False)
class Moved:
    """What became of a tensor's channels, which lie along `axis`: multiplied by `times`, and `less` taken away then."""

    axis: int
    times: Array
    less: Array

    def then(self, other: Moved) -> Moved:
        """Both, one after the other."""
        return Moved(self.axis, self.times * other.times, self.less * other.times + other.less)

    def of(self, array: Array) -> Array:
        """A tensor's numbers as they have become."""
        return np.asarray((array * self._along(self.times, array) - self._along(self.less, array)).astype(array.dtype))

    def back(self, array: Array) -> Array:
        """The inverse of `of`."""
        return np.asarray(
            ((array + self._along(self.less, array)) / self._along(self.times, array)).astype(array.dtype)
        )

    def fits(self, shape: tuple[int, ...]) -> bool:
        """Whether a tensor of this shape has these channels."""
        known = 0 <= self.axis < len(shape) and shape[self.axis] == len(self.times) == len(self.less)
        return known and bool(np.isfinite(self.less).all() and (self.times > 0).all() and np.isfinite(self.times).all())

    @property
    def is_nothing(self) -> bool:
        """Whether all channels are as they were."""
        return bool((self.times == 1).all() and not self.less.any())

    def _along(self, sizes: Array, array: Array) -> Array:
        return np.expand_dims(sizes, tuple(i for i in range(array.ndim) if i != self.axis))


AllMoved = Mapping[str, Moved]
"""By tensor."""


def both_moved(first: AllMoved, second: AllMoved) -> dict[str, Moved]:
    """What became of tensors that were moved once and then again; where axes differ, nobody knows."""
    found = {**first, **second}
    for name in first.keys() & second.keys():
        if first[name].axis == second[name].axis:
            found[name] = first[name].then(second[name])
        else:
            del found[name]
    return found


def moved_entries(moved: AllMoved, names: Collection[str]) -> dict[str, str]:
    """The entry of a file's metadata that tells what has become of these tensors; none where nothing has."""
    told = {n: [m.axis, *map(_digits, (m.times, m.less))] for n, m in moved.items() if n in names and not m.is_nothing}
    return {MOVED_KEY: json.dumps(told, sort_keys=True, separators=(",", ":"))} if told else {}


def _digits(sizes: Array) -> list[float]:
    return [float(f"{size:.7g}") for size in sizes]


def told_moved(metadata: Mapping[str, str], shapes: Mapping[str, tuple[int, ...]]) -> dict[str, Moved] | None:
    """What a file's metadata says of the tensors that there are; None where it says nothing."""
    if MOVED_KEY not in metadata:
        return None
    try:
        said = json.loads(metadata[MOVED_KEY])
    except (ValueError, RecursionError):
        return None
    known = said.items() if isinstance(said, dict) else ()
    return {name: moved for name, moved in _told(known) if name in shapes and moved.fits(shapes[name])}


def _told(known: Any) -> Iterator[tuple[str, Moved]]:
    for name, entry in known:
        if isinstance(entry, list) and [type(e) for e in entry] == [int, list, list]:
            axis, *sizes = entry
            if all(type(x) in (int, float) for numbers in sizes for x in numbers):
                yield name, Moved(axis, *(np.array(numbers, np.float64) for numbers in sizes))
