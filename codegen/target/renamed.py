"""A chip's keys and values by the names of today, whatever names its file was written with.

Decides: which keys of a file had another name.  Leaves to `codegen.old_names` how it is told, and the
checks to `read`.
"""

from __future__ import annotations

from collections.abc import Mapping

from codegen.old_names import OLD_MODES, current


def named_as_now(items: Mapping[str, object], where: str) -> dict[str, object]:
    """The keys of a chip, with what was renamed called by its new name."""
    said = dict(items)
    for key in ("requant_modes", "requant_default"):
        if key in said:
            said[key] = _modes(said[key], f"{where}, {key}")
    return said


def _modes(given: object, where: str) -> object:
    if isinstance(given, list):
        return [current(mode, OLD_MODES, where) for mode in given]
    return current(given, OLD_MODES, where)
