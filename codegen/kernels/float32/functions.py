"""Where the runtime has the C function of a name: `lam_f32_NAME`."""

from __future__ import annotations

_BASE = frozenset(("maximum", "minimum"))


def function_headers(name: str) -> tuple[str, ...]:
    """The header that a function of float32 is in."""
    return ("lam_f32.h",) if name in _BASE else ("lam_f32_elementwise.h",)
