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
