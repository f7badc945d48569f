"""What an older report says otherwise: numbers and names that differ, and whether they have become better.

Decides: less memory, work and instructions are better, and more decibels; a kernel is neither.  Both reports are read
as what `--json` prints, so that one function says what is compared.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from codegen.datafiles import read_file
from codegen.errors import OptionBad
from codegen.records import record

_LARGEST = 64 << 20
"""Bytes of an older report that are read."""
_TOTALS = ("arena_bytes", "weights_bytes", "macs", "parameters", "cycles")
_OF_LAYERS = ("kernel", "macs", "weights_bytes", "scratch_bytes", "output_bytes", "cycles")
_ERRORS = "own SQNR dB"
_NAMES = ("kernel",)
_HINT = "give what `lamina report --json` printed"

Place = tuple[str, str]
"""A target (or what all targets share), and a layer or tensor; empty for the network's own."""
Facts = Mapping[Place, Mapping[str, Any]]
"""Numbers and names, by where they are of."""


@record(kw_only=True)
class Change:
    """One number or name that differs from an older report's; `layer` is empty for the network's own.

    `better` is None for what is neither better nor worse; `percent` is by how much a number has grown.
    """

    target: str
    layer: str
    what: str
    before: str
    now: str
    better: bool | None = None
    percent: float | None = None


def older(path: Path) -> Facts:
    """What `lamina report --json` printed before; LAM-IMPORT-030 for anything else."""
    data = read_file(path, _LARGEST, lambda said: OptionBad(said, where=str(path), hint=_HINT))
    try:
        return facts(json.loads(data))
    except (ValueError, TypeError, KeyError, AttributeError, RecursionError) as error:
        raise OptionBad("is no older report", where=str(path), hint=_HINT) from error


def facts(report: Mapping[str, Any]) -> Facts:
    """What is compared of a report, in the order in which it is told."""
    found: dict[Place, dict[str, Any]] = {}
    for look in report["targets"]:
        target = str(look["target"])
        found[target, ""] = {what: look[what] for what in _TOTALS if what in look}
        for row in look["layers"]:
            found[target, str(row["name"])] = {what: row[what] for what in _OF_LAYERS if what in row}
    for profile in report.get("profiles") or ():
        for row in ({"name": "", "instructions": profile["instructions"]}, *profile["layers"]):
            found.setdefault((str(profile["target"]), str(row["name"])), {})["instructions"] = row["instructions"]
    for tensor in (report.get("accuracy") or {}).get("tensors", ()):
        found["accuracy", str(tensor["tensor"])] = {_ERRORS: round(float(tensor["own_sqnr"]), 1)}
    return found


def changes(before: Facts, now: Facts) -> tuple[Change, ...]:
    """What differs on targets that both have: numbers and names, then layers that are gone, then new ones."""
    both = {target for target, _ in before} & {target for target, _ in now}
    known = [place for place in now if place in before]
    gone = [place for place in before if place not in now and place[0] in both]
    new = [place for place in now if place not in before and place[0] in both]
    return (
        *(change for place in known for change in _differing(place, before[place], now[place])),
        *(Change(target=t, layer=name, what="layer", before="there", now="gone") for t, name in gone),
        *(Change(target=t, layer=name, what="layer", before="not there", now="new") for t, name in new),
    )


def _differing(place: Place, before: Mapping[str, Any], now: Mapping[str, Any]) -> Iterator[Change]:
    for what in now:
        if what in before and before[what] != now[what]:
            yield _change(place, what, (before[what], now[what]))


def _change(place: Place, what: str, values: Sequence[Any]) -> Change:
    old, new = values
    numbers = all(isinstance(v, int | float) and not isinstance(v, bool) for v in values) and what not in _NAMES
    return Change(
        target=place[0],
        layer=place[1],
        what=what.removesuffix("_bytes").replace("_", " "),
        before=str(old),
        now=str(new),
        better=(new > old) == (what == _ERRORS) if numbers else None,
        percent=round(100 * (new - old) / abs(old), 2) if numbers and old else None,
    )
