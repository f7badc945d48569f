"""What a network's numbers mean, as its model's file says: lists of labels, and which of them is an output's.

Decides: that a list belongs to an output whose last axis has as many numbers, and that of two such lists neither
counts.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from codegen.ir.shape import Shape

Labels = tuple[str, ...]


class Shaped(Protocol):
    """An output."""

    @property
    def shape(self) -> Shape:
        """Its numbers' axes."""


def numbers_of(outputs: Sequence[Shaped]) -> list[int]:
    """How many labels each output takes: the numbers along its last axis."""
    return [port.shape[-1] if port.shape else 1 for port in outputs]


def own_labels(outputs: Sequence[Shaped], carried: Sequence[Labels]) -> Labels:
    """The one list that fits an output, else none."""
    fitting = _fitting(outputs, carried)
    return fitting[0] if len(fitting) == 1 else ()


def left_out(outputs: Sequence[Shaped], carried: Sequence[Labels]) -> tuple[str, ...]:
    """A note where there are lists and none is taken."""
    fitting = _fitting(outputs, carried)
    if not carried or len(fitting) == 1:
        return ()
    none = "none is a list of as many texts as an output has numbers"
    why = f"{len(fitting)} lists fit an output" if fitting else none
    return (f"labels in the model's file are left out: {why}; --labels FILE gives them",)


def _fitting(outputs: Sequence[Shaped], carried: Sequence[Labels]) -> list[Labels]:
    sizes = numbers_of(outputs)
    return [labels for labels in dict.fromkeys(carried) if len(labels) in sizes]
