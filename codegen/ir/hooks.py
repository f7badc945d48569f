"""Hooks: functions that the firmware provides, which layers of a network call."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from codegen.records import record

if TYPE_CHECKING:
    from codegen.ir.program import Call, KernelFn, Program

HOOK_TEMPLATE = "plugin/hook.c.j2"


@record
class HookCall:
    """What a layer's function calls: `function`, behind the network's name, with numbers by name.

    `about` says in a sentence what it computes; `reference` is a header with the function `answer`, which computes it.
    """

    function: str
    pairs: tuple[tuple[str, int], ...]
    about: str
    reference: str = ""
    answer: str = ""


def hook_functions(program: Program) -> list[KernelFn]:
    """A function for each hook that a network calls, in order."""
    found: dict[str, KernelFn] = {}
    for fn in program.functions:
        if isinstance(fn.context, HookCall):
            found.setdefault(fn.context.function, fn)
    return list(found.values())


def hook_records(program: Program) -> list[dict[str, Any]]:
    """Each hook as the manifest has it."""
    return [
        {
            "name": f"{program.name}_{fn.context.function}",
            "about": fn.context.about,
            "in": fn.in_dtype.value,
            "out": fn.out_dtype.value,
            "params": {name: fn.dtypes[name] for name in fn.offsets},
            "numbers": [name for name, _ in fn.context.pairs],
            "reference": fn.context.reference or None,
        }
        for fn in hook_functions(program)
    ]


def hook_calls(program: Program) -> Iterator[Call]:
    """The calls of layers that are hooks."""
    groups = program.scratchpad.calls if program.scratchpad else [c for g in program.groups for c in g.calls]
    return (call for call in groups if isinstance(call.fn.context, HookCall))
