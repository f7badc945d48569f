"""targets: the chips that are known."""

from __future__ import annotations

from codegen.arguments import takes_declared
from codegen.target import Target, list_targets, load_target


def targets() -> tuple[Target, ...]:
    """The shipped targets, by name."""
    return tuple(load_target(name) for name in list_targets())


@takes_declared
def describe_target(name: str) -> Target:
    """One target, shipped or the user's own .toml file; LAM-TARGET-001 for a name nobody knows."""
    return load_target(name)
