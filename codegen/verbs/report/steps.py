"""What to do next: a short list, the most pressing first, of what the records of a report say.

Decides: what keeps the network off a chip stands before accuracy, accuracy before speed, and what is well comes last.
No step is guessed: an option that is told was tried, a chip was asked, a layer was compared or counted.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence

from codegen.options import Options
from codegen.records import record
from codegen.report.columns import size_text
from codegen.target import load_target
from codegen.verbs.fits import Fit
from codegen.verbs.inspection import Inspection, LayerRow, Violation
from codegen.verbs.report.costs import LayerCost, Roof
from codegen.verbs.report.grade import Grade
from codegen.verbs.report.guilt import Guilty
from codegen.verbs.report.spelled import spelled
from codegen.verbs.report.tries import Try

_SHARE = 0.25
"""Of all that is spent: a layer that takes more is told."""
_FAR = 2.0
"""Times the least that a core could: a layer beyond is told."""
_LOST = 0.5
"""Points of a score, or decibels, beyond which the layers are told that lose most."""
_TIGHT = 0.9
"""Of a memory: beyond, little is left for the firmware."""
_NAMED = 3
_WHOLE_MS = 10
_OUTSIDE = "; the file of weights has to lie where the core can read it, such as external flash"
_LEAST_GAIN_DB = 0.1


@record(kw_only=True)
class Step:
    """One thing to do; `target` is empty where it holds for all, `command` where there is none.

    `kind`: what it is about, of `fit`, `accuracy`, `speed`, `ready`.  `tab`: where the page has the facts.
    """

    target: str
    kind: str
    what: str
    why: str
    tab: str
    command: str = ""


@record(kw_only=True)
class Known:
    """What steps are made of; `file` is how the user calls the model's file, `options` what the page was asked with."""

    file: str
    options: Options
    looks: Sequence[Inspection]
    tries: Sequence[Try]
    chips: Sequence[Fit]
    roofs: Sequence[Roof]
    grade: Grade | None
    guilty: Sequence[Guilty]


def steps(known: Known) -> Iterator[Step]:
    """All of them, target by target within what is as pressing."""
    refused = [look for look in known.looks if not look.supported]
    running = [look for look in known.looks if look.supported]
    for look in refused:
        yield from _of_fit(look, known)
    yield from _of_accuracy(known)
    for look in running:
        yield from _of_speed(look, known)
    for look in running:
        yield _ready(look, known)


def _of_fit(look: Inspection, known: Known) -> Iterator[Step]:
    """What would bring it onto the chip: options that were tried, 8 bits, rewrites, another chip."""
    tried = [found for found in known.tries if found.target == look.target]
    for found in tried:
        if found.supported:
            fits = f"tried: it fits, with an arena of {size_text(found.arena_bytes or 0)}"
            fits += _OUTSIDE if "blob" in found.flags else ""
            command = _compile(look, known, found.flags)
            yield _fit(look, f"compile with {' '.join(found.flags)}", fits, "memory", command)
    if look.quantizing is not None and look.arena_at_8_bits is not None:
        took = f"arena {_size(look.arena_bytes)} and weights {_size(look.weights_bytes)} now"
        then = f"{size_text(look.arena_at_8_bits)} and about {_size(look.bytes_at_8_bits)} then"
        yield _fit(look, "quantize it to 8 bits", f"{took}, {then}", "rules", look.quantizing.command[0])
    yield from _broken(look)
    for found in tried:
        if not found.supported:
            left = "; ".join(dict.fromkeys(map(_short, found.violations)))
            yield _fit(look, f"{' '.join(found.flags)} is not enough", f"tried: {left}", "rules")
    yield from _other_chip(look, known.chips)


def _broken(look: Inspection) -> Iterator[Step]:
    """What is in the way, and the way out; layers of one rule together."""
    layers: defaultdict[tuple[str, str], list[Violation]] = defaultdict(list)
    for broken in look.violations:
        layers[broken.id, broken.hint].append(broken)
    for (id, hint), found in layers.items():
        where = ", ".join(dict.fromkeys(v.where for v in found[:_NAMED] if v.where))
        more = f" and {len(found) - _NAMED} more" if len(found) > _NAMED else ""
        yield _fit(look, f"{where}{more}: {_short(found[0])}", f"way out: {hint} ({id})" if hint else id, "rules")


def _short(broken: Violation) -> str:
    """The message without its particulars, which the rules have."""
    return broken.message.partition(";")[0]


def _other_chip(look: Inspection, chips: Sequence[Fit]) -> Iterator[Step]:
    """The smallest chip that it fits, of the same maker where there is one, and the fastest of all."""
    fitting = [chip for chip in chips if chip.fits]
    maker = load_target(look.target).maker
    near = [chip for chip in fitting if maker and chip.maker == maker]
    if not fitting:
        return
    small = min(near or fitting, key=lambda c: (c.ram_bytes or 1 << 60, c.flash_bytes or 1 << 60, c.target))
    said = f"the smallest{' of ' + maker if near else ''} that it fits: {_chip(small)}"
    if fitting[0].target != small.target:
        said += f"; the fastest of all: {_chip(fitting[0])}"
    yield _fit(look, f"take another chip, such as {small.target}", said, "chips")


def _chip(chip: Fit) -> str:
    memories = [f"{size_text(n)} {name}" for n, name in ((chip.ram_bytes, "RAM"), (chip.flash_bytes, "flash")) if n]
    time = chip.milliseconds
    about = [] if time is None else [f"about {time:,.0f} ms" if time >= _WHOLE_MS else f"about {time:.2g} ms"]
    return f"{chip.target} ({', '.join([*memories, *about])})" if memories or about else chip.target


def _of_accuracy(known: Known) -> Iterator[Step]:
    """The layers that lose most, where anything is lost; how to know it, where it is not known."""
    grade, guilty = known.grade, [g for g in known.guilty if not g.fine]
    if grade is not None and grade.lost is not None and grade.lost <= _LOST:
        return
    apart = {(one.advice, _loss(one)): one for one in reversed(guilty)}  # what is passed on as it is loses the same
    for one in sorted(apart.values(), key=lambda g: g.own_sqnr)[:_NAMED]:
        yield _accuracy(f"look at {one.tensor} ({one.operator})", f"{one.advice} ({_loss(one)})", "accuracy")
    if grade is None and not known.guilty and not all(look.is_real for look in known.looks):
        why = "no labelled samples were given: --eval and --metric put the score here, --float-model and --data rank "
        command = f"lamina eval {known.file} --data DATA --metric METRIC"
        yield _accuracy("measure its accuracy", f"{why}the layers that lose most", "summary", command)
    elif grade is not None and grade.lost is not None and not known.guilty:
        why = f"{grade.metric} loses {grade.lost:.2f} points; --data beside --float-model ranks the layers"
        yield _accuracy("find the layers that lose it", why, "summary")


def _loss(one: Guilty) -> str:
    gain = max(one.gains_float or 0.0, one.gains_16 or 0.0)
    gains = f"; with more bits all outputs gain {gain:.1f} dB" if gain > _LEAST_GAIN_DB else ""
    return f"{one.own_sqnr:.1f} dB by itself, {one.own_steps:.2f} steps{gains}"


def _accuracy(what: str, why: str, tab: str, command: str = "") -> Step:
    return Step(target="", kind="accuracy", what=what, why=why, tab=tab, command=command)


def _of_speed(look: Inspection, known: Known) -> Iterator[Step]:
    """The layer that takes most, where it takes much, and one that is far from what the core could."""
    roof = next((r for r in known.roofs if r.target == look.target), None)
    rows = {row.name: row for row in look.layers}
    spent = {c.layer: c for c in roof.layers if c.spent and c.layer in rows} if roof else {}
    whole = sum(cost.spent or 0 for cost in spent.values())
    told = [c for c in spent.values() if "; not " in rows[c.layer].form and _share(c, whole) > _SHARE / 5]
    most = max(spent.values(), key=lambda c: c.spent or 0, default=None)
    if most is not None and _share(most, whole) > _SHARE and most not in told:
        told.append(most)
    for cost in sorted(told, key=lambda c: -(c.spent or 0))[:_NAMED]:
        assert roof is not None
        yield _slow(look, rows[cost.layer], cost, roof, whole)
    yield from _faster_plan(look, known)


def _share(cost: LayerCost, whole: int) -> float:
    return (cost.spent or 0) / max(whole, 1)


def _slow(look: Inspection, row: LayerRow, cost: LayerCost, roof: Roof, whole: int) -> Step:
    unit = "counted instructions" if roof.counted else "estimated cycles"
    why = f"{_share(cost, whole):.0%} of the {unit}"
    if cost.least and cost.spent and cost.spent > _FAR * cost.least:
        why += f", {cost.spent / cost.least:.1f} times the least that the core could"
    what = f"look at {row.name} ({row.operator}) first"
    if "; not " in row.form:
        what = f"give {row.name} ({row.operator}) its fastest kernel"
    return Step(target=look.target, kind="speed", what=what, why=f"{why}; {row.kernel}: {row.form}", tab="cost")


def _faster_plan(look: Inspection, known: Known) -> Iterator[Step]:
    """A plan of less time, where the chip has the memory for it."""
    front = look.plan.front if look.plan else ()
    taken = next((p for p in front if p.chosen), None)
    if taken is None or look.ram_bytes is None:
        return
    room = [p for p in front if p.time < taken.time and p.peak_bytes <= _TIGHT * look.ram_bytes]
    if room:
        best = min(room, key=lambda p: p.time)
        less = 100 * (taken.time - best.time) / taken.time
        if less >= 1:
            memory = f"{size_text(best.peak_bytes)} in place of {size_text(taken.peak_bytes)}"
            why = f"{memory}, {less:.0f} % less by the cost model"
            yield Step(
                target=look.target,
                kind="speed",
                what="take a faster plan",
                why=why,
                tab="memory",
                command=_compile(look, known, ("--goal", "speed")),
            )


def _ready(look: Inspection, known: Known) -> Step:
    """It runs: what is left, and the commands."""
    left = []
    for name, used, whole in (
        ("RAM are left for stack and firmware", look.arena_bytes, look.ram_bytes),
        ("flash for code", look.weights_bytes, look.flash_bytes),
    ):
        if used is not None and whole:
            tight = ", which is tight" if used > _TIGHT * whole else ""
            left.append(f"{size_text(max(0, whole - used))} of {size_text(whole)} {name}{tight}")
    return Step(
        target=look.target,
        kind="ready",
        what=f"compile it for {look.target}",
        why="; ".join(left) or "no limits of memory are known",
        tab="memory",
        command=_compile(look, known),
    )


def _fit(look: Inspection, what: str, why: str, tab: str, command: str = "") -> Step:
    return Step(target=look.target, kind="fit", what=what, why=why, tab=tab, command=command)


def _compile(look: Inspection, known: Known, flags: Sequence[str] = ()) -> str:
    return " ".join(
        ("lamina compile", known.file, "-t", look.target, *spelled(known.options, flags), "-o", f"build/{look.model}")
    )


def _size(count: int | None) -> str:
    return "no limit" if count is None else size_text(count)
