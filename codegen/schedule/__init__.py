"""Graph to Plan: order, layer groups that stream by rows, and addresses.

`docs/scheduler.md` tells how it decides.  Everything is computed on integers, and proved again on the finished
Program by the shadow run.
"""

from codegen.schedule.demand import made_shares
from codegen.schedule.fits import limit_unreachable, misfits, weights_notes
from codegen.schedule.live import find_peak, group_title, residents, used_bytes
from codegen.schedule.order import order_nodes
from codegen.schedule.schedule import Scheduler, schedule

__all__ = [
    "Scheduler",
    "find_peak",
    "group_title",
    "limit_unreachable",
    "made_shares",
    "misfits",
    "order_nodes",
    "residents",
    "schedule",
    "used_bytes",
    "weights_notes",
]
