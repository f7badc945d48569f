"""About how many bytes of machine code a project becomes: a rule of thumb, for before a compiler has seen it."""

from __future__ import annotations

import re
from collections.abc import Mapping

_STATEMENT = re.compile(rb"[;{}]")
_START, _PER_SCHEDULE_LINE, _PER_LAYER_LINE = 300, 3.0, 6.5
_DENSITY = {"armv6m": 1.05, "armv7em": 1.0, "armv7em_wide": 1.0, "armv81m_mve": 1.0, "rv32": 1.35}
_WIDE = 1.45


def estimate_code_bytes(files: Mapping[str, bytes], name: str, isa: str) -> int:
    """Bytes of the schedule and the layers at -Os, weights not counted.

    Fitted to ten networks (tiny to FastestDet) built with arm-none-eabi-gcc and riscv64-unknown-elf-gcc: those are met
    within a quarter.  `lamina profile` measures.
    """
    schedule, layers = (_lines(files[f"src/{name}{part}.c"]) for part in ("", "_layers"))
    thumb = _START + _PER_SCHEDULE_LINE * schedule + _PER_LAYER_LINE * layers
    return 100 * round(thumb * _DENSITY.get(isa, _WIDE) / 100)


def _lines(text: bytes) -> int:
    """Lines that hold a statement."""
    return sum(1 for line in text.splitlines() if _STATEMENT.search(line))
