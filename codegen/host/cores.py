"""One inference on several cores, each a thread of its own."""

from __future__ import annotations

import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any


def run_cores(run_core: Callable[[Any, int, int], int], net: object, stages: int, cores: int) -> int:
    """Every core's part of every stage, all of which end one before any begins the next; the worst status.

    `run_core(net, stage, core)` is called through cffi, which lets threads run side by side meanwhile.
    """
    barrier = threading.Barrier(cores)

    def run(core: int) -> int:
        status = 0
        for stage in range(stages):
            status = status or run_core(net, stage, core)
            barrier.wait()
        return status

    with ThreadPoolExecutor(cores) as pool:
        return max(pool.map(run, range(cores)))
