"""Names that have changed: what was said before is still understood, and one line says what it is called now.

Decides: which old names there are, and how their use is told: as the warning `OldName`, which the command line prints.
Leaves to whoever reads options or a target's file to ask.
"""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from typing import TypeVar

OLD_MODES = {"double": "tflite", "float": "ort"}
"""Requantization modes."""
OLD_WORDS = {"optimize": "goal", "level": "opt_level"}
"""What functions take."""
OLD_FLAGS = {"--optimize": "--goal", "--level": "--opt-level"}
OLD_KEYS = {"optimize_default": "goal_default", "optimize": "opt_level"}
"""Of a target's file."""
OLD_KINDS = {"lmem": "scratchpad"}
"""Kinds of memory, in a target's file."""
_T = TypeVar("_T")


class OldName(FutureWarning):
    """Something was called by the name that it had before."""


def current(given: _T, names: Mapping[str, str], where: str) -> _T | str:
    """What `given` is called now; an old name is told with its place."""
    new = names.get(given) if isinstance(given, str) else None
    if new is None:
        return given
    warnings.warn(f"{where}: '{given}' is called '{new}' now", OldName, stacklevel=3)
    return new
