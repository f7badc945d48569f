"""Where the runtime has the C function of a name: `lam_f32_NAME`."""

from __future__ import annotations

from codegen.float32 import FUNCTIONS
from codegen.ops.float32.activations import ACTIVATIONS

_BASE = frozenset(("maximum", "minimum", "product"))
_OWN = {"erf": "lam_f32_erf.h", "log": "lam_f32_log.h", "sqrt": "lam_f32_sqrt.h"}
_EXPONENTIAL = "lam_f32_exp.h"


def function_headers(name: str) -> tuple[str, ...]:
    """The header that a function of float32 is in."""
    if name in _BASE:
        return ("lam_f32.h",)
    if name in FUNCTIONS or name in _OWN:
        return (_OWN.get(name, _EXPONENTIAL),)
    return ("lam_f32_activations.h",) if name in ACTIVATIONS else ("lam_f32_elementwise.h",)
