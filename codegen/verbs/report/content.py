"""What a report says: the network on each target, on all chips, against its float model, and against an older report.

Decides: that the page has the numbers of the records that `--json` prints, and no other.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from codegen.datafiles import path_given, read_file, written_file
from codegen.errors import CompileError, OptionBad, PictureNotWritable
from codegen.options import Options
from codegen.report.profile import Profile
from codegen.report.sensitive import QuantComparison
from codegen.target import load_target
from codegen.toolkit import HOUSE, Toolkit
from codegen.verbs.beside import Beside, compare_quantized
from codegen.verbs.calibration import Calibration
from codegen.verbs.fits import Fit, Fitting, fits
from codegen.verbs.inspect import inspect
from codegen.verbs.inspection import Inspection
from codegen.verbs.profile import Measuring, profile
from codegen.verbs.report.page import page
from codegen.verbs.sources import ModelSource

_LARGEST = 64 << 20
"""Bytes of an older report that are read."""
_TOTALS = ("arena_bytes", "weights_bytes", "macs", "parameters")
_OF_LAYERS = ("kernel", "macs", "weights_bytes", "scratch_bytes", "output_bytes")


@dataclass(frozen=True, slots=True, kw_only=True)
class Change:
    """One number or name that differs from an older report's; `layer` is empty for the network's own."""

    target: str
    layer: str
    what: str
    before: str
    now: str


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Looking:
    """The page that is written, where there is one, and what it is to look at beside its targets.

    `chips` ranks all chips; `measure` counts instructions where a target has a board; `float_model` and `data` compare
    with the float model on samples; `against` is what `lamina report --json` printed before.
    """

    out: str | Path | None = None
    chips: bool = True
    measure: bool = False
    float_model: ModelSource | None = None
    data: Calibration | None = None
    config: str | Path | None = None
    against: str | Path | None = None
    toolkit: Toolkit = HOUSE


@dataclass(frozen=True, slots=True, kw_only=True)
class Report:
    """Everything on the page.  `profiles` are those of the targets with a board, where they were asked for."""

    model: str
    targets: tuple[Inspection, ...]
    profiles: tuple[Profile, ...]
    chips: tuple[Fit, ...]
    accuracy: QuantComparison | None
    changes: tuple[Change, ...]
    notes: tuple[str, ...]


def report(model: ModelSource, targets: Sequence[str], options: Options, look: Looking) -> Report:
    """Look at the model on every target, and write the page, whole or not at all.

    Raises:
        OptionBad: LAM-IMPORT-030, no target, one twice, samples without a float model, or what is no older report.
        PictureNotWritable: LAM-API-013, the page.
    """
    path = _page_path(look.out)
    found = looked_at(model, targets, options, look)
    text = page(found, compared=look.against is not None)
    with written_file(path, lambda said: PictureNotWritable(said, where=str(path))) as file:
        file.write(text.encode())
    return found


def looked_at(model: ModelSource, targets: Sequence[str], options: Options, look: Looking) -> Report:
    """What the page says; errors as of `report`, but for the page's own."""
    _check(targets, look)
    before = None if look.against is None else _older(path_given(look.against, "against"))
    looks = tuple(inspect(model, replace(options, target=name), toolkit=look.toolkit) for name in targets)
    notes: list[str] = []
    return Report(
        model=looks[0].model,
        targets=looks,
        profiles=tuple(_profiles(model, options, looks, look.toolkit)) if look.measure else (),
        chips=_chips(model, options, look.toolkit, notes) if look.chips else (),
        accuracy=_accuracy(model, options, look),
        changes=() if before is None else tuple(_changes(before, looks)),
        notes=tuple(notes),
    )


def _page_path(out: str | Path | None) -> Path:
    path = path_given(out, "out")
    if path.suffix.lower() not in (".html", ".htm"):
        raise PictureNotWritable("a report is a page", where=str(path), hint="name the file NAME.html")
    return path


def _check(targets: Sequence[str], look: Looking) -> None:
    if not targets or len(set(targets)) != len(targets):
        said = "one target twice" if targets else "no target"
        raise OptionBad(said, where="targets", hint="name each target once, such as cortex-m4,cortex-m55")
    if (look.float_model is None) != (look.data is None):
        raise OptionBad(
            "a float model and samples go together",
            where="report",
            hint="give both --float-model and --data, or neither",
        )
    for name in targets:
        load_target(name)


def _profiles(model: ModelSource, options: Options, looks: Sequence[Inspection], toolkit: Toolkit) -> Iterator[Profile]:
    """What each layer takes, on the targets that have a board."""
    for look in looks:
        if look.supported and load_target(look.target).board is not None:
            yield profile(model, replace(options, target=look.target), Measuring(toolkit=toolkit))


def _chips(model: ModelSource, options: Options, toolkit: Toolkit, notes: list[str]) -> tuple[Fit, ...]:
    try:
        return fits(model, options, Fitting(toolkit=toolkit))
    except CompileError as error:
        notes.append(f"no chips are ranked: {error}")
        return ()


def _accuracy(model: ModelSource, options: Options, look: Looking) -> QuantComparison | None:
    if look.float_model is None or look.data is None:
        return None
    how = Beside(quantized=model, given=look.data, config=look.config)
    return compare_quantized(look.float_model, options, how)


def _older(path: Path) -> Mapping[str, Mapping[str, Any]]:
    """The targets of an older report, by name."""
    hint = "give what `lamina report --json` printed"
    data = read_file(path, _LARGEST, lambda said: OptionBad(said, where=str(path), hint=hint))
    try:
        found = json.loads(data)
        targets = {
            str(t["target"]): {**t, "layers": {str(r["name"]): r for r in t["layers"]}} for t in found["targets"]
        }
    except (ValueError, TypeError, KeyError, RecursionError) as error:
        raise OptionBad("is no older report", where=str(path), hint=hint) from error
    return targets


def _changes(before: Mapping[str, Mapping[str, Any]], looks: Sequence[Inspection]) -> list[Change]:
    """What differs, target by target: totals first, then layers that came, went or cost something else."""
    found: list[Change] = []
    for look in looks:
        old = before.get(look.target)
        if old is None:
            continue
        for what in _TOTALS:
            found += _change(look.target, "", what, old.get(what), getattr(look, what))
        now = {row.name: row for row in look.layers}
        for name, row in now.items():
            for what in _OF_LAYERS if name in old["layers"] else ():
                found += _change(look.target, name, what, old["layers"][name].get(what), getattr(row, what))
        found += [_known(look.target, name, "there", "gone") for name in old["layers"] if name not in now]
        found += [_known(look.target, name, "not there", "new") for name in now if name not in old["layers"]]
    return found


def _change(target: str, layer: str, what: str, before: object, now: object) -> list[Change]:
    if before == now:
        return []
    words = what.removesuffix("_bytes").replace("_", " ")
    return [Change(target=target, layer=layer, what=words, before=str(before), now=str(now))]


def _known(target: str, layer: str, before: str, now: str) -> Change:
    return Change(target=target, layer=layer, what="layer", before=before, now=now)
