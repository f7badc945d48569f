"""Groups of calls as the schedule spells them: what is pulled, in which order."""

from __future__ import annotations

from codegen.emit.reads import UseView, use_view
from codegen.emit.steps import Steps, StepView
from codegen.ir.program import Program
from codegen.records import record


@record
class GroupView:
    """Steps that run together; a pulled group keeps each step's progress in the network's struct.

    `pulls` are (place of the step, steps it has made afterwards), `single` when they are just the last one's.
    """

    index: int
    steps: tuple[StepView, ...]
    pulled: bool
    single: bool
    pulls: tuple[tuple[int, int], ...]
    pull_t: str
    pull_lines: tuple[str, ...]
    streams: bool
    use: UseView | None = None

    @property
    def first_layer(self) -> str:
        """What is added to a step's place for its number, as it is spelled in front of it."""
        return f"{self.steps[0].index} + " if self.steps[0].index else ""


def group_views(program: Program, spelled: Steps) -> tuple[GroupView, ...]:
    """The groups in their order; the scratchpad regime has one, of all calls."""
    if program.scratchpad:
        steps = tuple(spelled.step(call, i, 0, pulled=False) for i, call in enumerate(program.scratchpad.calls))
        return (GroupView(0, steps, False, False, (), "", (), False),)
    groups: list[GroupView] = []
    index = 0
    for group in program.groups:
        how = {"pulled": group.pulled, "backwards": group.backwards}
        steps = tuple(spelled.step(c, index + k, index, **how) for k, c in enumerate(group.calls))
        index += len(steps)
        last = len(steps) - 1
        single = all(place == last for place, _ in group.pulls)
        pulls = _merged(group.pulls)
        pull_t, pull_lines = _pull_table(pulls)
        form = (group.pulled, single, pulls, pull_t, pull_lines, group.streams)
        groups.append(GroupView(len(groups), steps, *form, use_view(group)))
    return tuple(groups)


def _merged(pulls: tuple[tuple[int, int], ...]) -> tuple[tuple[int, int], ...]:
    """Pulls of one call that follow each other as one."""
    kept = [pull for pull, after in zip(pulls, (*pulls[1:], (-1, 0)), strict=True) if pull[0] != after[0]]
    return tuple(kept)


def _pull_table(pulls: tuple[tuple[int, int], ...]) -> tuple[str, tuple[str, ...]]:
    """The smallest unsigned type that holds the numbers, and the pairs spelled."""
    largest = max(max(pull) for pull in pulls)
    ctype = "uint8_t" if largest < 1 << 8 else "uint16_t" if largest < 1 << 16 else "int32_t"
    return ctype, tuple(f"{{{place}, {steps}}}," for place, steps in pulls)
