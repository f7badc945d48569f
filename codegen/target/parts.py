"""Facts of a chip that its generated C does not depend on: who makes it, how fast it is clocked.

Decides: what is known beside memories and instructions.  Leaves to `read` how it is spelled in a file.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Clock:
    """The highest clock of the core that runs the network; `source` says where it stands."""

    hz: int
    source: str


@dataclass(frozen=True, slots=True)
class Speed:
    """About how many cycles a core takes for a hundred products, by kind of layer; `source` says how that was found.

    `grouped` are convolutions of few channels each, `dense` layers that use each weight once, `element` a hundred
    elements of a layer that has no products.
    """

    convolution: int
    grouped: int
    dense: int
    element: int
    source: str
