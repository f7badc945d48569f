"""Shadow runs: a finished Program played on tags, which shows that its memory plan is sound."""

from codegen.ir.program import Program
from codegen.prove.arena import ShadowReport, shadow_run
from codegen.prove.banks import bank_conflicts
from codegen.prove.scratchpad import shadow_scratchpad

__all__ = ["ShadowReport", "bank_conflicts", "prove", "shadow_run", "shadow_scratchpad"]


def prove(program: Program) -> ShadowReport:
    """The shadow run; raises IrError, which is a fault of the compiler, for a program that is not sound."""
    return shadow_scratchpad(program) if program.scratchpad else shadow_run(program)
