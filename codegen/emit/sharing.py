"""Which shapes of a kernel one function serves, told their numbers at each call.

Shapes whose C is the same but for the numbers that their kernel may be told (ir/form.py Told) can have one function.
They get it where that saves code, those first that save most for an instruction, as long as all of them together add
less than a hundredth of the network's instructions.  Nothing but the program decides, so that every build of it has the
same functions.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace

from codegen.emit.functions import PLACE, told_view
from codegen.emit.render import render_kernel
from codegen.ir.form import Told
from codegen.ir.program import Call, KernelFn, OneShape, Program
from codegen.records import record
from codegen.target import FEATURES

_SPARE = 0.01
"""Of the network's instructions, what calls that tell numbers may add."""
_CALL, _NUMBER = 5.0, 1.5
"""Instructions that a call adds, and each number that it is told."""
_BYTES_OF_CHARACTER = 0.3
"""Machine code that a character of C without comments becomes, about, at -O3."""
_BYTES_OF_SHAPE, _BYTES_OF_NUMBER = 8, 6
"""What a shape takes: its call, and to hold, to load and to use each number of it."""
_WORTH = 150
"""Bytes for which functions are shared at all."""


@record
class _Candidate:
    """Shapes that one function could serve: what they have of their own, the bytes saved, the instructions added."""

    shapes: tuple[KernelFn, ...]
    names: tuple[str, ...]
    saved: float
    added: float


def shared(program: Program, isa: str, instructions: float) -> Program:
    """The program with the functions that are worth sharing; `instructions` are about those of the network.

    Calls on a scratchpad stay as they are, and those that read constants from a memory of their own.
    """
    if program.scratchpad is not None or "program_memory" in FEATURES.get(isa, frozenset()):
        return program
    calls = [call for group in program.groups for call in group.calls]
    found = [c for alike in _alike(program) if (c := _candidate(alike, calls)).saved >= _WORTH]
    left, taken = _SPARE * instructions, []
    for one in sorted(found, key=lambda c: (-c.saved / c.added, c.shapes[0].symbol)):
        fitting = _within(one, left, calls)
        if fitting is not None:
            left -= fitting.added
            taken.append(fitting)
    return _with_shapes(program, taken) if taken else program


def _within(one: _Candidate, left: float, calls: Sequence[Call]) -> _Candidate | None:
    """The candidate without the shapes that add most, so that it adds no more than is left; None if none is."""
    while one.added > left and len(one.shapes) > 2:
        most = max(one.shapes, key=lambda fn: _added(fn, len(one.names), calls))
        one = _candidate([fn for fn in one.shapes if fn is not most], calls)
    return one if one.added <= left and one.saved >= _WORTH else None


def _alike(program: Program) -> Iterable[Sequence[KernelFn]]:
    """Shapes whose functions are spelled alike."""
    found: dict[str, list[KernelFn]] = {}
    for fn in program.functions:
        told = told_of(fn)
        if told is not None:
            found.setdefault(_text(fn, (*told.names, *(PLACE + name for name in fn.offsets))), []).append(fn)
    return (alike for alike in found.values() if len(alike) > 1)


def told_of(fn: KernelFn) -> Told | None:
    """What a function may be told, if its kernel says."""
    told = getattr(fn.context, "told", None)
    return told if isinstance(told, Told) and told.names else None


def _text(fn: KernelFn, names: Sequence[str]) -> str:
    """The function as it would be spelled, whatever it is called."""
    view = told_view(replace(fn, symbol="shared"), "net", dict.fromkeys(names, "int32_t"))
    return render_kernel(view)


def _candidate(alike: Sequence[KernelFn], calls: Sequence[Call]) -> _Candidate:
    rows = [numbers(fn) for fn in alike]
    names = tuple(name for name in rows[0] if len({row[name] for row in rows}) > 1)
    text = _BYTES_OF_CHARACTER * len(_text(alike[0], names))
    saved = text * (len(alike) - 1) - len(alike) * (_BYTES_OF_SHAPE + _BYTES_OF_NUMBER * len(names))
    saved = saved if names else 0.0  # nothing to tell them: a struct without members is no C
    return _Candidate(tuple(alike), names, saved, sum(_added(fn, len(names), calls) for fn in alike))


def _added(fn: KernelFn, names: int, calls: Sequence[Call]) -> float:
    """The instructions that a shape adds whose function is told so many numbers."""
    told = told_of(fn)
    row = told.row if told else 0.0
    made = [(call.steps, call.rows_per_call) for call in calls if call.fn is fn]
    return sum(steps * (_CALL + _NUMBER * names + rows * row) for steps, rows in made)


def numbers(fn: KernelFn) -> dict[str, int]:
    """All that a function may be told of a shape: of its context, and where its parameters lie."""
    told = told_of(fn)
    assert told is not None, "its kernel says what it may be told"
    own = {name: int(getattr(fn.context, name)) for name in told.names}
    return own | {PLACE + name: offset for name, offset in fn.offsets.items()}


def _with_shapes(program: Program, taken: Sequence[_Candidate]) -> Program:
    made: dict[int, KernelFn] = {}
    for one in taken:
        for fn in one.shapes:
            known = numbers(fn)
            shape = OneShape(one.shapes[0].symbol, {name: known[name] for name in one.names})
            made[id(fn)] = replace(fn, shape=shape)
    groups = tuple(
        replace(group, calls=tuple(replace(call, fn=made.get(id(call.fn), call.fn)) for call in group.calls))
        for group in program.groups
    )
    return replace(program, functions=tuple(made.get(id(fn), fn) for fn in program.functions), groups=groups)
