"""Graph to Plan: order, layer groups that stream by rows, and addresses.

`docs/scheduler.md` tells how it decides.  Everything is computed on integers, and proved again on the finished
Program by the shadow run.
"""

from codegen.schedule.blocks import round_up
from codegen.schedule.demand import Flows, Process, Rows, made_shares
from codegen.schedule.fits import limit_unreachable, misfits, weights_notes
from codegen.schedule.live import Resident, find_peak, group_title, residents, used_bytes
from codegen.schedule.order import order_nodes
from codegen.schedule.planner import BALANCED
from codegen.schedule.schedule import Scheduler, grouping_of, schedule

__all__ = [
    "BALANCED",
    "Flows",
    "Process",
    "Resident",
    "Rows",
    "Scheduler",
    "find_peak",
    "group_title",
    "grouping_of",
    "limit_unreachable",
    "made_shares",
    "misfits",
    "order_nodes",
    "residents",
    "round_up",
    "schedule",
    "used_bytes",
    "weights_notes",
]
