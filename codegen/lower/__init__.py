"""Plan to Program: calls of kernel functions on addressed rows.

What is for scratchpads is loaded for a chip that has one.
"""

from __future__ import annotations

from collections.abc import Mapping

from codegen.ir.form import Form
from codegen.ir.plan import Plan
from codegen.ir.program import Program
from codegen.lower.lower import lower

__all__ = ["lower", "lower_plan"]


def lower_plan(plan: Plan, kernels: Mapping[int, Form]) -> Program:
    """The plan's calls: on rows of the arena, or of the scratchpad where the chip has one."""
    if not plan.scratchpad:
        return lower(plan, kernels)
    from codegen.lower.scratchpad import lower_scratchpad

    return lower_scratchpad(plan, kernels)
