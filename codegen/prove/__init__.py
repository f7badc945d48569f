"""Shadow runs: a finished Program played on tags, which shows that its memory plan is sound."""

from codegen.prove.arena import ShadowReport, shadow_run
from codegen.prove.banks import bank_conflicts
from codegen.prove.local import shadow_local

__all__ = ["ShadowReport", "bank_conflicts", "shadow_local", "shadow_run"]
