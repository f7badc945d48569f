"""The keys and values of a target's file by the names of today, whatever names it was written with.

Decides: which values had another name.  Leaves to `codegen.old_names` how it is told, and the checks to `read`.
"""

from __future__ import annotations

from collections.abc import Mapping

from codegen.old_names import OLD_KEYS, OLD_KINDS, OLD_MODES, current

_OLD_VALUES = {"requant_modes": OLD_MODES, "requant_default": OLD_MODES, "kind": OLD_KINDS}
"""Of these keys."""


def named_as_now(items: Mapping[str, object], where: str) -> dict[str, object]:
    """The table with what was renamed called by its new name; where it says both, the new one counts."""
    old_first = sorted(items, key=lambda key: key not in OLD_KEYS)
    return {
        current(key, OLD_KEYS, where): _renamed(items[key], _OLD_VALUES.get(key, {}), f"{where}, {key}")
        for key in old_first
    }


def _renamed(value: object, names: Mapping[str, str], where: str) -> object:
    if isinstance(value, dict):
        return named_as_now(value, where)
    if isinstance(value, list):
        return [_renamed(item, names, where) for item in value]
    return current(value, names, where)
