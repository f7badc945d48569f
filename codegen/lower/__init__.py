"""Plan to Program: calls of kernel functions on addressed rows."""

from __future__ import annotations

from collections.abc import Mapping

from codegen.ir.form import Form
from codegen.ir.plan import Plan
from codegen.ir.program import Program
from codegen.lower.local import lower_local
from codegen.lower.lower import lower

__all__ = ["lower", "lower_local", "lower_plan"]


def lower_plan(plan: Plan, kernels: Mapping[int, Form]) -> Program:
    """The plan's calls: on rows of the arena, or of local memory where the chip has one."""
    return lower_local(plan, kernels) if plan.local else lower(plan, kernels)
