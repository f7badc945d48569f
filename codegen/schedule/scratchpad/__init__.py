"""The scratchpad regime: kernels touch only the scratchpad, and everything else is moved behind computation."""

from codegen.schedule.scratchpad.schedule import schedule_cores, schedule_scratchpad

__all__ = ["schedule_cores", "schedule_scratchpad"]
