"""Permutations of axes, as numpy's transpose takes them: `y.shape[i] = x.shape[perm[i]]`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeVar

T = TypeVar("T")
Perm = tuple[int, ...]


def permute(items: Sequence[T], perm: Perm) -> tuple[T, ...]:
    """The items in the order that a transpose with `perm` gives their axes."""
    return tuple(items[i] for i in perm)


def inverse(perm: Perm) -> Perm:
    """The permutation that undoes `perm`."""
    return tuple(perm.index(i) for i in range(len(perm)))


def then(first: Perm | None, second: Perm | None) -> Perm | None:
    """The one permutation equal to `first`, then `second`; None stands for the identity."""
    if first is None or second is None:
        return _normal(first if second is None else second)
    return _normal(permute(first, second))


def moves_nothing(shape: Sequence[int], perm: Perm) -> bool:
    """Whether the transpose only moves axes of size 1, so that memory keeps its order."""
    kept = [axis for axis in perm if shape[axis] != 1]
    return kept == sorted(kept)


def as_perm(before: Sequence[int], after: Sequence[int]) -> Perm | None:
    """The permutation that a reshape from `before` to `after` is; None when it does more than move axes of size 1."""
    kept = [axis for axis, n in enumerate(before) if n != 1]
    units = [axis for axis, n in enumerate(before) if n == 1]
    if len(before) != len(after) or [before[a] for a in kept] != [n for n in after if n != 1]:
        return None
    return tuple(units.pop(0) if n == 1 else kept.pop(0) for n in after)


def _normal(perm: Perm | None) -> Perm | None:
    return None if perm is None or perm == tuple(range(len(perm))) else perm
