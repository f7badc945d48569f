"""A scheduler that groups as much as it can, for no reason: groups that no cost model chooses must be sound too."""

from __future__ import annotations

import random
import sys
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from unittest.mock import patch

import codegen.schedule.scratchpad
from codegen.schedule import arena, exact, planner
from codegen.schedule.groups import Grouping

assert codegen.schedule.scratchpad
TRIES = 40
"""Moves that the packer may try."""
_SCHEDULE = sys.modules["codegen.schedule.schedule"]
_SCRATCHPAD = sys.modules["codegen.schedule.scratchpad.schedule"]


class Eager(Grouping):
    """Every group is worth its memory, and its time is drawn: groups of many nodes tend to take less."""

    @property
    def useless(self) -> int:  # type: ignore[override]
        return 1 << 60

    def _may_gain(self, start: int, stop: int) -> bool:
        return True

    def _most(self, start: int, stop: int) -> int:
        return self.useless

    def _time(self, members: range) -> float:
        return 1.0 + random.Random(f"{len(self.graph.nodes)} {members.start} {members.stop}").random() * len(members)


@contextmanager
def scheduling(*, eager: bool) -> Iterator[None]:
    """Schedules made meanwhile: packed in little time, for soundness is the question and not the last byte."""
    with ExitStack() as stack:
        for room in (planner, _SCRATCHPAD):
            stack.enter_context(patch.object(room, "pack", lambda *given, **_: arena.pack(*given, tries=TRIES)))
        stack.enter_context(patch.object(exact, "NODE_LIMIT", 100))
        if eager:
            stack.enter_context(patch.object(_SCHEDULE, "Grouping", Eager))
        yield
