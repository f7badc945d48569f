"""Shadow runs: a finished Program played on tags, which shows that its memory plan is sound."""

from codegen.ir.program import Program
from codegen.prove.arena import ShadowReport, shadow_run
from codegen.prove.banks import bank_conflicts
from codegen.prove.local import shadow_local

__all__ = ["ShadowReport", "bank_conflicts", "prove", "shadow_local", "shadow_run"]


def prove(program: Program) -> ShadowReport:
    """The shadow run; raises IrError, which is a fault of the compiler, for a program that is not sound."""
    return shadow_local(program) if program.local else shadow_run(program)
