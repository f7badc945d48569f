"""The scratchpad regime: kernels touch only local memory, and everything else is moved behind computation."""

from codegen.schedule.local.schedule import schedule_cores, schedule_local

__all__ = ["schedule_cores", "schedule_local"]
