"""A chip's file with the core and the board that it names: one set of keys.

Decides: where the files of chips, cores and boards lie, and that a chip's own keys go before its core's, within a
table key by key.
"""

from __future__ import annotations

import difflib
from collections.abc import Mapping
from dataclasses import fields
from functools import cache
from pathlib import Path

from codegen.datafiles import read_toml
from codegen.errors import TargetFileBroken, TargetUnknown, TargetValueBad
from codegen.resources import resource_dir
from codegen.target.chip import Board, Target
from codegen.target.parts import Accelerator
from codegen.target.renamed import named_as_now
from codegen.target.table import refuse_unknown

Items = dict[str, object]
_MOST_NAMED = 8
_CHIP_ONLY = ("name", "description", "maker", "core", "clock", "memories", "accelerator")


@cache
def shipped(kind: str) -> Mapping[str, Path]:
    """The shipped files of a kind (`chips`, `cores` or `boards`) by name, sorted."""
    folder = resource_dir("targets") / kind
    return {p.stem: p for p in sorted(folder.rglob("*.toml"), key=lambda p: p.stem)}


def find_chip(name: str) -> Path:
    """The file of a shipped chip; LAM-TARGET-001 with the nearest name for one that nobody knows."""
    known = shipped("chips")
    if name not in known:
        listed = f"`lamina targets` lists all {len(known)}"
        hint = f"{_guess(name, known)}{listed}; or give the path of a .toml file of your own"
        raise TargetUnknown(f"unknown target {name!r}", hint=hint)
    return known[name]


def parse(path: Path, where: str) -> Mapping[str, object]:
    """The keys of one file, as they are called now; LAM-TARGET-002 when it is no TOML, and the ids of `read_toml`."""
    return named_as_now(read_toml(path, lambda found: TargetFileBroken(found, where=where)), where)


@cache
def _parsed_once(path: Path, where: str) -> Mapping[str, object]:
    """Those of a shipped file, which does not change while the package runs."""
    return parse(path, where)


def composed(items: Mapping[str, object], where: str) -> Items:
    """The keys of a chip, of its core and of its board as one table."""
    core = _part("core", "cores", items, where)
    refuse_unknown(core, [f.name for f in fields(Target) if f.name not in _CHIP_ONLY], f"core {items.get('core')}, ")
    merged = _over(core, items)
    for key, shape in (("board", Board), ("accelerator", Accelerator)):
        if isinstance(merged.get(key), str):
            part = _part(key, f"{key}s", merged, where)
            refuse_unknown(part, [f.name for f in fields(shape)], f"{key} {merged[key]}, ")
            merged[key] = part
    return merged


def _part(key: str, kind: str, items: Mapping[str, object], where: str) -> Mapping[str, object]:
    """The keys of the core or board that a file names; none where it names none."""
    if key not in items:
        return {}
    known, name = shipped(kind), items[key]
    if not isinstance(name, str) or name not in known:
        hint = f"{_guess(str(name), known)}known: {', '.join(known)}"
        raise TargetValueBad(f"no {key} is called {name!r}", where=f"{where}, {key}", hint=hint)
    return _parsed_once(known[name], f"{key} {name}")


def _over(below: Mapping[str, object], above: Mapping[str, object]) -> Items:
    """Both, where `above` goes before `below`; tables key by key."""
    merged = {**below, **above}
    for key, value in above.items():
        under = below.get(key)
        if isinstance(value, dict) and isinstance(under, dict):
            merged[key] = _over(under, value)
    return merged


def _guess(name: str, known: Mapping[str, Path]) -> str:
    """The names that begin as this one does, and the nearest ones."""
    begin = [other for other in known if name and other.startswith(name.lower())]
    close = list(dict.fromkeys([*begin, *difflib.get_close_matches(name.lower(), known, n=3)]))[:_MOST_NAMED]
    return f"did you mean {', '.join(close[:-1])}{' or ' if close[1:] else ''}{close[-1]}? " if close else ""
