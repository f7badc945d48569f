"""What running costs, in arbitrary units near instructions: enough to compare plans of one network.

A layer's arithmetic is the same in every plan.  Plans differ in kernel calls (a run of pixels is one call when the
layer stands alone, some rows are for kernels that take several; in a group each row is one), in how often weights are
read again, and in the walk from the last node of a group to the first one that lacks rows.
"""

from __future__ import annotations

from codegen.ir.plan import NodeNeeds

CALL = 40.0
"""Units per kernel call: row pointers, the call, the kernel's own set-up."""
WALK_STEP = 14.0
"""Units per node that the walk passes on its way to the row it makes."""
ELEMENT = 6.0
"""Units per output element: requantization and store."""
WEIGHT_BYTE = 0.06
"""Units per byte of weights and reading."""
MOVED_BYTE = 0.25
"""Units per byte that is read or written in the fastest memory: words of four bytes."""
SCRATCH_READS = 8
"""Times that a call reads its scratch: kernels go through it for every few output channels."""


def alone(needs: NodeNeeds, steps: int) -> float:
    """Units for a node in a group of its own."""
    return _work(needs) + _calls(needs, calls_alone(needs, steps))


def calls_alone(needs: NodeNeeds, steps: int) -> int:
    """Kernel calls of a node in a group of its own."""
    return 1 if needs.whole or needs.one_run else -(-steps // needs.most_rows)


def grouped(needs: NodeNeeds, steps: int, depth: float) -> float:
    """Units for a node in a group; the walk to it passes `depth` nodes for each of its rows."""
    return _work(needs) + _calls(needs, steps) + steps * depth * WALK_STEP


def _work(needs: NodeNeeds) -> float:
    return needs.macs + needs.out_elements * ELEMENT + 2 * needs.copied_bytes * MOVED_BYTE


def _calls(needs: NodeNeeds, calls: int) -> float:
    return calls * (CALL + needs.weights_bytes * WEIGHT_BYTE)
