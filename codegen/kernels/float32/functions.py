"""Where the runtime has the C function of a name: `lam_f32_NAME`."""

from __future__ import annotations

from codegen.ops.float32.activations import ACTIVATIONS

_BASE = frozenset(("maximum", "minimum", "product"))
_HEADERS = {
    "lam_f32_arc.h": ("acos", "asin", "atan"),
    "lam_f32_area.h": ("acosh", "asinh", "atanh"),
    "lam_f32_circle.h": ("cos", "sin", "tan"),
    "lam_f32_erf.h": ("erf",),
    "lam_f32_exp.h": ("cosh", "exp", "expm1", "sigmoid", "sinh", "tanh"),
    "lam_f32_gated.h": ("gelu", "gelu_tanh", "mish", "swish"),
    "lam_f32_log.h": ("log",),
    "lam_f32_power.h": ("power",),
    "lam_f32_root.h": ("sqrt",),
    "lam_f32_soft.h": ("softplus",),
    "lam_f32_storage.h": ("as_bfloat16", "as_float16"),
}
_OWN = {name: header for header, names in _HEADERS.items() for name in names}


def function_headers(name: str) -> tuple[str, ...]:
    """The header that a function of float32 is in."""
    if name in _BASE:
        return ("lam_f32.h",)
    if name in _OWN:
        return (_OWN[name],)
    return ("lam_f32_activations.h",) if name in ACTIVATIONS else ("lam_f32_elementwise.h",)
