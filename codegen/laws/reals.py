"""The laws of an operator of a plug-in on real numbers: that integers mean what `evaluate` says.

Decides: that an operator without a rule of quantization is tried with a zero point that is not zero, for it says that
it keeps any.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from codegen.ir.quant import Array, Quant, TensorType
from codegen.laws.law import Law, must
from codegen.ops.case import Case, Input
from codegen.ops.limits import EIGHT_BIT

_KEPT = Quant(0.0625, 37)
"""What tensors without a scale are tried with."""
_MOST_STEPS = 2.5
"""Steps of the output between golden and the definition on real numbers: two, and half a one of rounding."""


def real_cases(cases: Sequence[Case], *, keeps: bool) -> list[Case]:
    """The cases that say something of real numbers; `keeps`: of an operator that keeps the scale of its inputs."""
    if keeps:
        return [replace(case, ins=tuple(_with_scale(x) for x in case.ins)) for case in cases]
    return [case for case in cases if hasattr(case.op, "evaluate")]


def _with_scale(given: Input) -> Input:
    """A computed input of bytes without a scale gets one."""
    plain = isinstance(given, TensorType) and given.quant is None and given.dtype in EIGHT_BIT
    return replace(given, quant=_KEPT) if plain else given  # type: ignore[type-var]


def _is_quantized(case: Case) -> bool:
    """Whether all that is computed has a scale, and nothing else hides one."""
    computed = [case.types[i] for i in case.dynamic]
    out = case.op.infer(case.types)[0]
    hidden = any(case.types[i].dtype in EIGHT_BIT for i in case.consts)
    return bool(computed) and not hidden and all(kind.quant and not kind.dtype.is_float for kind in (*computed, out))


def _evaluated(case: Case, ins: Sequence[Array]) -> Array:
    found: Array = getattr(case.op, "evaluate", case.op.golden)(ins)[0]
    must(found.dtype == np.float32, f"`evaluate` gives {found.dtype}, not float32")
    return found


def _means_what_it_says(case: Case) -> None:
    """Golden, as real numbers, beside the definition on real numbers within the range of the output."""
    kind = case.op.infer(case.types)[0]
    assert kind.quant is not None
    made = case.op.golden(case.arrays)[0].astype(np.int64)
    wanted = _evaluated(case, [_real(x, t) for x, t in zip(case.arrays, case.types, strict=True)])
    must(wanted.shape == made.shape, f"`evaluate` gives {wanted.shape}, `golden` {made.shape}")
    held = np.clip(wanted / kind.quant.scale + kind.quant.zero_point, kind.dtype.low, kind.dtype.high)
    steps = np.nan_to_num(np.abs(made - held)).max(initial=0)
    must(steps <= _MOST_STEPS, f"`golden` is {steps:.1f} steps of the output away from `evaluate`")


def _real(x: Array, kind: TensorType) -> Array:
    if kind.quant is None:
        return x
    return ((x.astype(np.float32) - kind.quant.zero_point) * np.float32(kind.quant.scale)).astype(np.float32)


def _is_real(case: Case) -> bool:
    return hasattr(case.op, "evaluate") and all(kind.dtype.is_float for kind in case.types)


def _stays_real(case: Case) -> None:
    _evaluated(case, case.arrays)


REAL_LAWS = (
    Law("real", "`golden` on integers is within 2 steps of `evaluate`", _means_what_it_says, _is_quantized),
    Law("float32", "`evaluate` returns float32", _stays_real, _is_real),
)
