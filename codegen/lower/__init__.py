"""Plan to Program: calls of kernel functions on addressed rows."""

from __future__ import annotations

from collections.abc import Mapping

from codegen.ir.form import Form
from codegen.ir.plan import Plan
from codegen.ir.program import Program
from codegen.lower.lower import lower
from codegen.lower.scratchpad import lower_scratchpad

__all__ = ["lower", "lower_plan", "lower_scratchpad"]


def lower_plan(plan: Plan, kernels: Mapping[int, Form]) -> Program:
    """The plan's calls: on rows of the arena, or of the scratchpad where the chip has one."""
    return lower_scratchpad(plan, kernels) if plan.scratchpad else lower(plan, kernels)
