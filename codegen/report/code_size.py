"""About how many bytes of machine code a project becomes: a rule of thumb, for before a compiler has seen it.

Operations of the generated C are counted, each worth some bytes.  Primitives of `runtime_c/` whose work is assembly,
or a long formula, hide theirs behind one call: their own sizes, measured at -Os, are added.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

from codegen.target import plain_level

_UNASKED = re.compile(rb"/\*.*?\*/|^#ifdef \w+_HOOK$.*?^#(?:else|endif)$", re.DOTALL | re.MULTILINE)
"""Comments, and what is compiled where a firmware defines NAME_HOOK alone."""
_NO_CODE = re.compile(rb"\b(?:LAM_VIEW|LAM_AT|LAM_UNUSED|lam_order|lam_split|lam_placed|lam_keep_in_memory)\(")
_OPERATION = re.compile(rb"->|<<|>>|[-+*/%&|?<>]=?|[=\[]|\w\(")
_CALL = re.compile(rb"\b(lam_\w+|LAM_SLIDE_\w+)\(")
_FORM = re.compile(rb"\b(lam_mve_\w+)\((&job, [^;]*)\);")

_PER_SCHEDULE_OPERATION = 1.6
_PER_LAYER_OPERATION = 2.7
_DENSITY = {"armv6m": 1.08, "armv7m": 0.88, "armv7em": 1.0, "armv81m_mve": 1.0, "rv32": 1.1}
_WIDE = 1.45

ONCE = {
    "lam_armv6m_sum_2x2": 182,
    "lam_dot_1x2": 110,
    "lam_dot_1x4": 190,
    "lam_dot_1x4_s8": 200,
    "lam_dot_1x4_u8": 200,
    "lam_dot_2x2": 160,
    "lam_dot_3x1": 128,
    "lam_fixed_reciprocal": 340,
    "lam_gather_taps": 70,
    "lam_mve_add": 82,
    "lam_mve_copy": 30,
    "lam_mve_depthwise": 252,
    "lam_mve_depthwise_wide": 196,
    "lam_mve_fill": 30,
    "lam_mve_interleave": 126,
    "lam_mve_max": 74,
    "lam_widen_s8": 140,
    "lam_widen_u8": 140,
}
"""Bytes of primitives that a build for size holds once, however often they are called."""

_PANELS = {1: 260, 2: 350, 3: 450}
"""Bytes of a panel of so many pixels."""
_MODES = ("lined", "tflite", "single")
ONCE |= {
    f"lam_panel_{n}{wide}_{mode}_{y}": size
    for n, size in _PANELS.items()
    for wide in ("", "w")
    for mode in _MODES
    for y in ("s8", "u8")
}
ONCE |= {f"lam_panel_{n}{wide}_sums": size // 4 + 200 for n, size in _PANELS.items() for wide in ("", "w")}
ONCE |= {f"lam_spread_shared_{x}": 500 for x in ("s8", "u8")}
ONCE |= {f"lam_spread_{n}_{x}": 90 for n in _PANELS for x in ("s8", "u8")}

FORMS = {
    "lam_mve_columns": 320,
    "lam_mve_pairs": 296,
    "lam_mve_row_pairs": 330,
    "lam_mve_vector": 160,
}
"""Bytes of primitives that a build for size holds for each choice of their constants."""

EACH = {
    "LAM_SLIDE_A": 1,
    "LAM_SLIDE_B": 1,
    "LAM_SLIDE_BLOCK": 90,
    "LAM_SLIDE_PAIR": 6,
    "LAM_SLIDE_STORE": 16,
    "LAM_SLIDE_TWO": 1,
}
"""Bytes of primitives that lie wherever they are used."""


def estimate_code_bytes(files: Mapping[str, bytes], name: str, isa: str) -> int:
    """Bytes of text of the schedule and the layers at -Os, primitives included; weights and the C library are not.

    Fitted to eleven to nineteen networks (hello_world to FastestDet) on Cortex-M0+, M3, M4, M55 and RV32IMC, built
    with GCC: all of 3 KB and more are met within a quarter, but for YuNet on a Cortex-M4 (30 % too high).  Others are
    guesses.  `lamina profile` measures, at the target's own level.
    """
    schedule, layers = (_UNASKED.sub(b"", files[f"src/{name}{part}.c"]) for part in ("", "_layers"))
    density = _DENSITY.get(plain_level(isa), _WIDE)
    counted = _PER_SCHEDULE_OPERATION * _operations(schedule) + _PER_LAYER_OPERATION * _operations(layers)
    return 100 * round((counted * density + _primitives(layers)) / 100)


def _operations(text: bytes) -> int:
    """Operators, subscripts and calls of C, those left out that emit nothing."""
    return len(_OPERATION.findall(_NO_CODE.sub(b"", text)))


def _primitives(text: bytes) -> int:
    called = [call.decode() for call in _CALL.findall(text)]
    forms = sum(FORMS.get(name.decode(), 0) for name, _ in set(_FORM.findall(text)))
    return forms + sum(ONCE.get(call, 0) for call in set(called)) + sum(EACH.get(call, 0) for call in called)
