"""Reads the configuration from TOML, Lamina's own grammar.

Decides: which tables a file has.  What their keys take is in `keys` and `settings`; every problem of a file is told at
once.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from codegen.configuration import TABLES
from codegen.datafiles import read_toml
from codegen.errors import QuantConfigUnreadable, QuantKeyUnknown
from codegen.quantizer.config.config import QuantConfig, soundness
from codegen.quantizer.config.findings import Findings
from codegen.quantizer.config.keys import NAMED, ROLES, keys_of
from codegen.quantizer.config.kinds import TEXT
from codegen.quantizer.config.levels import ALL, LAYER_NAME, LAYER_TYPE, TENSOR, Level, in_order
from codegen.quantizer.config.settings import Correct, General, Io, Learning, Mixed, Rewrite, Search, kinds_of
from codegen.quantizer.spec import Role

SETTINGS: Mapping[str, type[Any]] = {
    "rewrite": Rewrite,
    "correct": Correct,
    "search": Search,
    "mixed": Mixed,
    "io": Io,
    "learning": Learning,
}
_GIVEN = ("range", "threshold")
"""Keys that cannot be meant for every tensor of a network."""
Values = Mapping[str, object]


def read_config(path: Path) -> QuantConfig:
    """The configuration in a TOML file.

    Raises:
        QuantConfigUnreadable: LAM-QUANT-001; the ids of `read_toml`.
        CompileError: LAM-QUANT-002 to -005, or -006 with all of them.
    """
    return parse_config(read_toml(path, lambda found: QuantConfigUnreadable(found, where=str(path))), str(path))


def parse_config(tables: Values, file: str) -> QuantConfig:
    """The configuration in tables that were read from `file`."""
    findings = Findings(file)
    for key in tables:
        if key not in TABLES:
            findings.unknown("", key, TABLES)
    top = findings.table(tables, "quantize", "")
    own = {k: v for k, v in top.items() if k not in SETTINGS}
    general = {k: own.pop(k) for k in kinds_of(General) if k in own}
    levels = [
        *_levels(own, "quantize.", findings, ALL, "", tuple(kinds_of(General)) + tuple(SETTINGS)),
        *_layers(tables, findings),
        *_tensors(tables, findings),
    ]
    settings: dict[str, Any] = {
        key: table(**findings.values(findings.table(top, key, "quantize."), kinds_of(table), f"quantize.{key}."))
        for key, table in SETTINGS.items()
    }
    config = QuantConfig(
        levels=in_order(levels),
        general=General(**findings.values(general, kinds_of(General), "quantize.")),
        **settings,
    )
    findings.add(soundness(levels))
    findings.end()
    return config


def _layers(tables: Values, findings: Findings) -> Iterator[Level]:
    """Of each `[[layer]]` those for all roles, then those of one."""
    for place, entry in findings.tables(tables, "layer"):
        chosen = findings.values({k: v for k, v in entry.items() if k in _CHOOSING}, _CHOOSING, place)
        if len(chosen) == 1:
            rank = LAYER_TYPE if "type" in chosen else LAYER_NAME
            rest = {k: v for k, v in entry.items() if k not in _CHOOSING}
            yield from _levels(rest, place, findings, rank, next(iter(chosen.values())), tuple(_CHOOSING))
        elif chosen or not _CHOOSING.keys() & entry.keys():
            findings.missing(place.rstrip("."), "a layer is chosen by `type` or by `name`: by one of them")


_CHOOSING = {"type": TEXT, "name": TEXT}


def _tensors(tables: Values, findings: Findings) -> Iterator[Level]:
    kinds = {key: NAMED[key].kind for key in keys_of(None)}
    for place, entry in findings.tables(tables, "tensor"):
        read = findings.values(entry, {"name": TEXT, **kinds}, place)
        if "name" not in entry:
            findings.missing(f"{place}name")
        if "name" in read:
            name = read.pop("name")
            yield Level(values=read, rank=TENSOR, chosen=name, place=findings.at(place.rstrip(".")), entry=place)


def _levels(
    items: Values, place: str, findings: Findings, rank: int, chosen: str, known: tuple[str, ...]
) -> Iterator[Level]:
    """The level of a table for all roles, and those of its tables for one; `known` are its other keys."""
    own = {k: v for k, v in items.items() if k not in ROLES}
    roles = [(role, findings.table(items, role, place)) for role in ROLES]
    for role, table in ((None, own), *roles):
        inner = f"{place}{role}." if role else place
        kinds = {key: NAMED[key].kind for key in keys_of(role) if role or rank != ALL or key not in _GIVEN}
        read = findings.values(_of_role(table, role, inner, findings), kinds, inner, () if role else (*known, *ROLES))
        if read:
            at = findings.at(inner.rstrip("."))
            yield Level(values=read, rank=rank, chosen=chosen, role=role, place=at, entry=place)


def _of_role(table: Values, role: Role | None, place: str, findings: Findings) -> Values:
    """A table without keys that are other roles'."""
    others = [key for key in table if role and key in NAMED and role not in NAMED[key].roles]
    for key in others:
        roles = ", ".join(NAMED[key].roles)
        findings.add([QuantKeyUnknown(f"a key of {roles}, not of {role}", where=findings.at(f"{place}{key}"))])
    return {key: value for key, value in table.items() if key not in others}
