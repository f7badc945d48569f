"""Graph to Plan: order, layer groups that stream by rows, and addresses.

`docs/scheduler.md` tells how it decides.  Everything is computed on integers, and proved again on the finished
Program by the shadow run.
"""

from codegen.schedule.fits import check_fits, peak_node
from codegen.schedule.schedule import OPTIMIZE, Optimize, schedule

__all__ = ["OPTIMIZE", "Optimize", "check_fits", "peak_node", "schedule"]
