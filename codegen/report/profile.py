"""What a profile says: counts or times per layer, and the memory of the linked image.  Records, and their text."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field

from codegen.records import record
from codegen.report.standing import Standing, high_lines
from codegen.report.table import Fixed, text_pairs, text_table


@record
class ProfiledLayer:
    """One layer: instructions on an emulated chip, microseconds on the host; None is what was not measured.

    `standing` says how far instructions, counted or else estimated, are above what the layer's products take at least.
    """

    name: str
    operator: str
    kernel: str
    macs: int
    calls: int
    instructions: int | None
    cycles: int | None
    microseconds: float | None
    estimated_instructions: int | None = None
    estimated_cycles: int | None = None
    estimated_waits: int | None = None
    standing: Standing | None = None


@record(kw_only=True)
class Profile:
    """One inference, measured.

    What is `estimated` depends on nothing but the network and the chip's file: cycles with those that the core waits
    for memory, which `estimated_waits` are alone; milliseconds at the chip's clock.  None where the file says nothing.

    `instructions` (on chips) or `microseconds` (on the host) is the whole inference, without any hook.  `schedule_...`
    is what no layer's kernel takes: the walk over rows, the pointers to them, the calls.  `hook` is what reading the
    timer once took, in instructions or nanoseconds; it has been taken off each layer.  `text_bytes`, `rodata_bytes`
    (weights included) and `ram_bytes` (arena, state) are what the network adds to a linked image, `stack_bytes` its
    deepest stack; None where the target has no such image.  `cycles` are estimates by the table that `cycles_source`
    names, None when they were not asked for; `mix` is then the share of each kind of instruction.  `notes` say what was
    asked for and not measured.  `is_real`: no integers are rounded, whatever `requant` says.
    """

    model: str
    target: str
    requant: str
    goal: str
    flags: str
    macs: int
    hook: float
    layers: tuple[ProfiledLayer, ...]
    weights_bytes: int
    arena_bytes: int
    is_real: bool = False
    instructions: int | None = None
    schedule_instructions: int | None = None
    microseconds: float | None = None
    schedule_microseconds: float | None = None
    text_bytes: int | None = None
    rodata_bytes: int | None = None
    ram_bytes: int | None = None
    stack_bytes: int | None = None
    cycles: int | None = None
    cycles_source: str | None = None
    mix: Mapping[str, float] = field(default_factory=dict)
    estimated_instructions: int | None = None
    estimated_cycles: int | None = None
    estimated_waits: int | None = None
    estimated_milliseconds: float | None = None
    notes: tuple[str, ...] = ()

    def _repr_html_(self) -> str:
        """The profile in a notebook."""
        from codegen.report.views import profile_view

        return profile_view(self)


_LABEL = ("layer", "operator", "kernel", "MACs", "calls")
_LEAST = ("limit", "estimated", "calls", "operator", "times", "kernel")
"""Columns that are left out first where a table is too wide."""


def profile_text(profile: Profile) -> str:
    """The table of layers, the totals and the memory."""
    table = _counted(profile) if profile.instructions is not None else _timed(profile)
    if profile.instructions is None and profile.microseconds is None:
        table = _estimated(profile)
    high = high_lines([(layer.name, layer.standing) for layer in profile.layers])
    said = [table, *high, f"{profile.model} on {profile.target}\n{text_pairs(_totals(profile))}"]
    return "\n\n".join([*said, *(f"note: {note}" for note in profile.notes)])


def _counted(p: Profile) -> str:
    whole = p.instructions or 0
    rows: list[list[object]] = []
    for x in p.layers:
        rows.append(
            [
                *_label(x),
                x.instructions,
                x.estimated_instructions,
                _each(x.instructions, x.macs),
                *_beside(x.standing),
                _percent(x.instructions, whole),
                x.cycles,
            ]
        )
    rest = p.schedule_instructions
    taken = None if p.cycles is None else p.cycles - sum(x.cycles or 0 for x in p.layers)
    rows.append(["(schedule)", "", "", None, None, rest, None, None, None, None, _percent(rest, whole), taken])
    sums = [whole, p.estimated_instructions, _each(whole, p.macs), None, None, _percent(whole, whole), p.cycles]
    rows.append(["(all)", "", "", p.macs, None, *sums])
    headers = [*_LABEL, "instructions", "estimated", "per MAC", "limit", "times", "%", "about cycles"]
    shown = len(headers) - (p.cycles is None)
    return text_table(headers[:shown], [row[:shown] for row in rows], least=_LEAST)


def _estimated(p: Profile) -> str:
    whole = p.estimated_cycles
    rows: list[list[object]] = [
        [
            *_label(x)[:-1],
            x.estimated_instructions,
            x.estimated_cycles,
            x.estimated_waits,
            _each(x.estimated_cycles, x.macs),
            _percent(x.estimated_cycles, whole or 0),
        ]
        for x in p.layers
    ]
    sums = [p.estimated_instructions, whole, p.estimated_waits, _each(whole, p.macs), _percent(whole, whole or 0)]
    rows.append(["(all)", "", "", p.macs, *sums])
    headers = [*_LABEL[:-1], "about instructions", "about cycles", "waiting", "cycles/MAC", "%"]
    return text_table(headers, rows, least=_LEAST)


def _timed(p: Profile) -> str:
    whole = p.microseconds or 0.0
    rows: list[list[object]] = []
    for x in p.layers:
        time = x.microseconds or 0.0
        rows.append([*_label(x), Fixed(time, 1), _each(time * 1000, x.macs), _percent(time, whole)])
    rest = p.schedule_microseconds or 0.0
    rows.append(["(schedule)", "", "", None, None, Fixed(rest, 1), None, _percent(rest, whole)])
    rows.append(["(all)", "", "", p.macs, None, Fixed(whole, 1), _each(whole * 1000, p.macs), _percent(whole, whole)])
    return text_table([*_LABEL, "us", "ns per MAC", "%"], rows, least=_LEAST)


def _label(layer: ProfiledLayer) -> tuple[object, ...]:
    return layer.name, layer.operator, layer.kernel, layer.macs, layer.calls


def _beside(standing: Standing | None) -> tuple[Fixed | None, Fixed | None]:
    """The limit of a product, or of an output where there are none, and how many times that was taken."""
    if standing is None or standing.limit is None or standing.times is None:
        return None, None
    return Fixed(standing.limit, 2), Fixed(standing.times, 2)


def _each(amount: float | None, macs: int) -> Fixed | None:
    return None if amount is None or not macs else Fixed(amount / macs, 2)


def _percent(amount: float | None, whole: float) -> Fixed | None:
    return None if amount is None or not whole else Fixed(100 * amount / whole, 1)


def _static(p: Profile) -> str:
    """The estimates of the whole, without the schedule."""
    waits = f", {p.estimated_waits} of them waiting for memory" if p.estimated_waits else ""
    time = "" if p.estimated_milliseconds is None else f", {p.estimated_milliseconds:.3g} ms at the chip's clock"
    return f"{p.estimated_instructions} instructions, {p.estimated_cycles} cycles{waits}{time}, by the chip's file"


def _totals(p: Profile) -> list[tuple[str, object]]:
    pairs: list[tuple[str, object]] = [
        ("arithmetic", "float32") if p.is_real else ("requant", p.requant),
        ("plan", p.goal),
    ]
    pairs += [("compiler", p.flags)] if p.flags else []
    if p.instructions is not None:
        read = "what a hook takes" if p.stack_bytes is None else "reading the timer"
        how = f"{read}, {p.hook:.4g} each time, is taken off"
        pairs.append(("instructions", f"{p.instructions} ({how})"))
    if p.cycles is not None and p.instructions:
        pairs.append(
            ("cycles", f"about {p.cycles}, {p.cycles / p.instructions:.2f} per instruction [{p.cycles_source}]")
        )
        pairs.append(("mix", ", ".join(f"{kind} {share:.1%}" for kind, share in p.mix.items() if share >= 0.001)))
    if p.estimated_cycles is not None:
        pairs.append(("estimated", _static(p)))
    if p.microseconds is not None:
        pairs.append(("time", f"{p.microseconds:.1f} us (reading the clock, {p.hook:.0f} ns each time, is taken off)"))
    pairs.append(("arena", f"{p.arena_bytes} B"))
    sizes = [("text", p.text_bytes), ("rodata", p.rodata_bytes), ("RAM", p.ram_bytes), ("stack", p.stack_bytes)]
    notes = {"rodata": f", of which weights {p.weights_bytes} B"}
    pairs += [(name, f"{size} B{notes.get(name, '')}") for name, size in sizes if size is not None]
    return pairs
