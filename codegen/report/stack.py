"""What the stack takes, once it has been measured, and where records and the manifest show it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from codegen.records import record
from codegen.report.plan import PlanRecord


@record
class StackRecord:
    """The deepest stack of one inference in bytes, counted from the caller of NAME_run, on an emulated chip.

    `groups` has the same while each group of the plan runs.  `flags` is the compiler with its flags, on which all of
    this depends.
    """

    bytes: int
    flags: str
    groups: tuple[int, ...]


def plan_with_stack(plan: PlanRecord, stack: StackRecord) -> PlanRecord:
    """The plan's record with the stack of each group."""
    groups = zip(plan.groups, stack.groups, strict=True)
    return replace(plan, groups=tuple(replace(group, stack_bytes=size) for group, size in groups))


def manifest_with_stack(manifest: Mapping[str, Any], stack: StackRecord) -> dict[str, Any]:
    """The manifest with what it has no number for before: the same keys in the same order."""
    plan = dict(manifest["plan"])
    groups = zip(plan["groups"], stack.groups, strict=True)
    plan["groups"] = [{**group, "stack_bytes": size} for group, size in groups]
    return {**manifest, "stack_bytes": stack.bytes, "stack_flags": stack.flags, "plan": plan}
