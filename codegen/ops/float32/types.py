"""What operators on real numbers require of their inputs."""

from __future__ import annotations

from codegen.ir.quant import DType
from codegen.ops.answers import Types
from codegen.ops.limits import require


def require_real(op: object, ins: Types) -> None:
    """Raise InputsDoNotFit (LAM-OPS-001) unless every input is f32."""
    found = ", ".join(t.dtype.value for t in ins)
    require(all(t.dtype is DType.F32 for t in ins), op, f"takes f32, got {found}")
