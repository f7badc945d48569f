"""Shadow runs: a finished Program played on tags, which shows that its memory plan is sound.

What is for scratchpads is loaded for a Program that has one.
"""

from codegen.ir.program import Program
from codegen.prove.arena import ShadowReport, shadow_run
from codegen.prove.banks import bank_conflicts

__all__ = ["ShadowReport", "bank_conflicts", "prove", "shadow_run"]


def prove(program: Program) -> ShadowReport:
    """The shadow run; raises IrError, which is a fault of the compiler, for a program that is not sound."""
    if not program.scratchpad:
        return shadow_run(program)
    from codegen.prove.scratchpad import shadow_scratchpad

    return shadow_scratchpad(program)
